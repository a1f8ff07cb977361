//! Accepted jobs that lost a node or could not start on time, under a policy that binds jobs to
//! nodes.

use std::collections::BTreeMap;

use bookahead_core::plan::{NodePlan, NodeSet, Reservation};
use bookahead_core::scheduling::{Cluster, Recovery, RecoverySettings, Retry};
use bookahead_core::units::Seconds;
use bookahead_core::workload::JobId;

/// Why an accepted job does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// A node failed under it.
    Crash,
    /// Its nodes were not available at its start.
    FailedStart,
}

/// When disabled jobs may be tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occasion {
    /// Nodes were freed by anything but a repair.
    NodesFreed,
    /// A node came back.
    Repair,
}

/// The disabled jobs of a policy, each with the nodes that it is bound to, and the rules for them.
pub(super) struct DisabledJobs {
    after_crash: Recovery,
    after_failed_start: Recovery,
    retry: Retry,
    jobs: BTreeMap<JobId, Disabled>,
    /// When the policy is woken next for a job that is never given up.
    wakes: Option<Seconds>,
}

struct Disabled {
    nodes: NodeSet,
    recovery: Recovery,
    /// It has no deadline, so it is never given up.
    has_no_deadline: bool,
}

impl DisabledJobs {
    /// No job yet, under the rules of `settings`, which may depend on whether the policy overbooks.
    pub(super) fn new(settings: &RecoverySettings, overbooks: bool) -> Self {
        Self {
            after_crash: settings.after_crash(overbooks),
            after_failed_start: settings.after_failed_start(overbooks),
            retry: settings.retry,
            jobs: BTreeMap::new(),
            wakes: None,
        }
    }

    pub(super) fn contains(&self, job: JobId) -> bool {
        self.jobs.contains_key(&job)
    }

    /// Lets a job wait for its nodes until another start in time is impossible. Where the rules
    /// give it no other start, its nodes come back as the error.
    pub(super) fn wait(
        &mut self,
        cluster: &mut Cluster,
        job: JobId,
        nodes: NodeSet,
        cause: Cause,
    ) -> Result<(), NodeSet> {
        let recovery = match cause {
            Cause::Crash => self.after_crash,
            Cause::FailedStart => self.after_failed_start,
        };
        if recovery == Recovery::None {
            return Err(nodes);
        }
        let asked = cluster.to_plan(job);
        let give_up = recovery.give_up(cluster.now(), asked.estimate, asked.deadline);
        cluster.disable(job, give_up);
        let has_no_deadline = asked.deadline >= Seconds::FAR;
        let disabled = Disabled {
            nodes,
            recovery,
            has_no_deadline,
        };
        self.jobs.insert(job, disabled);
        Ok(())
    }

    /// Whether a job without a deadline is waiting: it is never given up.
    pub(super) fn have_one_without_deadline(&self) -> bool {
        self.jobs.values().any(|disabled| disabled.has_no_deadline)
    }

    /// Wakes the policy when the next reservation ends on the nodes of a job that is never given
    /// up. The holder of that reservation may have ended long before, or be disabled as well, so
    /// there may be no other event then.
    pub(super) fn wake_at_release(&mut self, cluster: &mut Cluster, plan: &NodePlan) {
        let now = cluster.now();
        let of_others = plan.reservations().iter().filter(|it| it.end > now);
        let holds = |it: &&Reservation| {
            let mut has_no_deadline = self
                .jobs
                .iter()
                .filter(|(_, disabled)| disabled.has_no_deadline);
            has_no_deadline
                .any(|(job, disabled)| *job != it.job && disabled.nodes.intersects(&it.nodes))
        };
        let release = of_others.filter(holds).map(|it| it.end).min();
        if release != self.wakes {
            self.wakes = release;
            if let Some(release) = release {
                cluster.wake_at(release);
            }
        }
    }

    /// The jobs to try again now, in order of job id.
    pub(super) fn due(&self, occasion: Occasion) -> Vec<JobId> {
        if occasion == Occasion::NodesFreed && self.retry == Retry::Repairs {
            return Vec::new();
        }
        self.jobs.keys().copied().collect()
    }

    /// Takes a job out if it can start now, and returns its nodes: they are idle, no other job
    /// holds them now, and they stay free for long enough.
    pub(super) fn take_startable(
        &mut self,
        cluster: &Cluster,
        plan: &NodePlan,
        job: JobId,
    ) -> Option<NodeSet> {
        let Disabled {
            nodes, recovery, ..
        } = self.jobs.get(&job)?;
        if !nodes.is_subset_of(cluster.idle()) || plan.is_held(nodes, cluster.now(), job) {
            return None;
        }
        let needed = match recovery {
            Recovery::Short => Seconds(1),
            Recovery::None | Recovery::Full => cluster.to_plan(job).estimate,
        };
        if latest_end(cluster, plan, job, nodes) - cluster.now() < needed {
            return None;
        }
        self.remove(job)
    }

    /// Takes a job out, and returns its nodes if it was there.
    pub(super) fn remove(&mut self, job: JobId) -> Option<NodeSet> {
        self.jobs.remove(&job).map(|disabled| disabled.nodes)
    }
}

/// Until when `job` may run if it starts now on `nodes`: as long as its promise, its deadline and
/// the next reservation on these nodes allow.
pub(super) fn latest_end(
    cluster: &Cluster,
    plan: &NodePlan,
    job: JobId,
    nodes: &NodeSet,
) -> Seconds {
    (cluster.now() + cluster.longest_run(job))
        .min(cluster.latest_end(job))
        .min(plan.next_start_on(nodes, cluster.now(), job))
}

#[cfg(test)]
mod tests;
