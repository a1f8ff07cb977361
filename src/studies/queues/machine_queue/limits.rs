//! Limits: how much users, accounts and qualities of service hold, and whether they may hold more.

use std::collections::HashMap;

use super::description::{Limits, MachineQueueJob, QueueMachine};
use super::shapes::Shape;

/// The subjects of limits: one for each pair of a limit and the limited user, account or quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Scope {
    Quality(usize),
    QualityUser(usize, i64),
    Account(usize),
    AccountUser(usize, i64),
}

#[derive(Clone, Copy, Debug)]
struct Usage {
    limits: Limits,
    running_jobs: u32,
    nodes: u64,
    cores: u64,
    submitted: u32,
}

/// The limits that a job must keep: at most four, the others are [`NOBODY`].
pub(super) type Scopes = [u32; 4];

const NOBODY: u32 = u32::MAX;

/// The use of all subjects that have a limit.
#[derive(Debug, Default)]
pub(super) struct LimitBook {
    known: HashMap<Scope, u32>,
    usage: Vec<Usage>,
}

impl LimitBook {
    /// The limits that a job must keep.
    pub(super) fn scopes(&mut self, machine: &QueueMachine, job: &MachineQueueJob) -> Scopes {
        let quality = &machine.qualities[job.quality.0];
        let account = &machine.accounts[job.account.0];
        [
            (Scope::Quality(job.quality.0), quality.in_all),
            (
                Scope::QualityUser(job.quality.0, job.user),
                quality.per_user,
            ),
            (Scope::Account(job.account.0), account.in_all),
            (
                Scope::AccountUser(job.account.0, job.user),
                account.per_user,
            ),
        ]
        .map(|(scope, limits)| {
            if limits == Limits::default() {
                NOBODY
            } else {
                self.place_of(scope, limits)
            }
        })
    }

    fn place_of(&mut self, scope: Scope, limits: Limits) -> u32 {
        *self.known.entry(scope).or_insert_with(|| {
            self.usage.push(Usage {
                limits,
                running_jobs: 0,
                nodes: 0,
                cores: 0,
                submitted: 0,
            });
            self.usage.len() as u32 - 1
        })
    }

    fn all<'a>(&'a self, scopes: &'a Scopes) -> impl Iterator<Item = &'a Usage> {
        // Nobody is behind the last one.
        scopes
            .iter()
            .filter_map(|&scope| self.usage.get(scope as usize))
    }

    fn change(&mut self, scopes: &Scopes, change: impl Fn(&mut Usage)) {
        for &scope in scopes {
            if let Some(usage) = self.usage.get_mut(scope as usize) {
                change(usage);
            }
        }
    }

    /// Whether a job of this shape would be within all limits if no other job ran.
    pub(super) fn ever_allow(&self, scopes: &Scopes, shape: &Shape) -> bool {
        self.all(scopes).all(|usage| {
            usage.limits.running_jobs != Some(0)
                && within(usage.limits.nodes, 0, u64::from(shape.nodes))
                && within(usage.limits.cores, 0, shape.cores())
        })
    }

    /// Whether a job of this shape may start now.
    pub(super) fn allow(&self, scopes: &Scopes, shape: &Shape) -> bool {
        self.all(scopes).all(|usage| {
            within(usage.limits.running_jobs, u64::from(usage.running_jobs), 1)
                && within(usage.limits.nodes, usage.nodes, u64::from(shape.nodes))
                && within(usage.limits.cores, usage.cores, shape.cores())
        })
    }

    /// Whether one more job may be submitted.
    pub(super) fn allow_submission(&self, scopes: &Scopes) -> bool {
        self.all(scopes)
            .all(|usage| within(usage.limits.submitted_jobs, u64::from(usage.submitted), 1))
    }

    pub(super) fn submitted(&mut self, scopes: &Scopes) {
        self.change(scopes, |usage| usage.submitted += 1);
    }

    pub(super) fn started(&mut self, scopes: &Scopes, shape: &Shape) {
        self.change(scopes, |usage| {
            usage.running_jobs += 1;
            usage.nodes += u64::from(shape.nodes);
            usage.cores += shape.cores();
        });
    }

    pub(super) fn ended(&mut self, scopes: &Scopes, shape: &Shape) {
        self.change(scopes, |usage| {
            usage.submitted -= 1;
            usage.running_jobs -= 1;
            usage.nodes -= u64::from(shape.nodes);
            usage.cores -= shape.cores();
        });
    }
}

fn within(limit: Option<u32>, usage: u64, more: u64) -> bool {
    limit.is_none_or(|limit| usage + more <= u64::from(limit))
}
