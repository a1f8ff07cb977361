//! One pass over the waiting jobs: it starts jobs, makes reservations, and keeps the other jobs
//! from delaying these.
//!
//! Jobs are looked at in order of priority. A job that a limit stops is passed over. A job that
//! finds no nodes makes all classes that could hold it *awaited*: on these, jobs behind it start by
//! backfilling only, beside the reservations.

use bookahead_core::scheduling::queue::{Rule, pass};
use bookahead_core::units::Seconds;

use super::Announcement;
use super::nodes::NodeRequest;
use super::queue::{Candidate, Details, Queue};
use super::shapes::Shape;
use super::site::Site;

/// The limits of backfilling in a pass.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BackfillLimits {
    /// The number of jobs of each partition that get a reservation.
    pub(super) depth: u32,
    /// The number of jobs that may be tried for backfilling; `None`: all.
    pub(super) tested: Option<u32>,
    /// How far ahead reservations may begin; `None`: however far.
    pub(super) window: Option<Seconds>,
}

/// The state of a pass, kept from one to the next to save allocations.
#[derive(Debug, Default)]
pub(super) struct Pass {
    now: Seconds,
    number: u64,
    limits: BackfillLimits,
    /// Of each class: whether a job waits for it.
    awaited: Vec<bool>,
    /// Of each partition: how many jobs have a reservation.
    reserved: Vec<u32>,
    /// Of each kind of jobs: the shortest request that found no nodes in a pass, and the number of
    /// the pass.
    failed: Vec<(u64, Seconds)>,
    /// The shapes that the limits allow to the current job.
    allowed: Vec<Shape>,
    /// Whether any of the remaining jobs may find nodes.
    may_start: bool,
    /// Jobs whose reservations matter only to reservations behind them: no job may start any more,
    /// and their starts have been announced.
    postponed: Vec<Details>,
}

/// The rule of a pass over jobs in order of priority.
struct Priority<'a> {
    pass: &'a mut Pass,
    site: &'a mut Site,
    details: &'a [Details],
}

impl Rule<Candidate> for Priority<'_> {
    fn next(&self, queue: &[Candidate], from: usize) -> Option<usize> {
        let is_open = || !self.pass.awaited.iter().all(|awaited| *awaited);
        let goes_on = from < queue.len()
            && self.pass.may_matter(self.site)
            && (self.pass.backfills() || is_open());
        goes_on.then_some(from)
    }

    fn starts(&mut self, candidate: &Candidate, _behind: &[Candidate]) -> bool {
        let starts = self.pass.starts(self.site, self.details, candidate);
        if starts {
            self.pass.may_start = self.site.may_start_any();
        }
        starts
    }
}

impl Pass {
    /// Before the first pass.
    pub(super) fn new(classes: usize, partitions: usize) -> Self {
        Self {
            awaited: vec![false; classes],
            reserved: vec![0; partitions],
            ..Self::default()
        }
    }

    /// Holds one pass. Without `limits`, jobs start in order only.
    pub(super) fn hold(
        &mut self,
        site: &mut Site,
        queue: &mut Queue,
        limits: Option<BackfillLimits>,
        now: Seconds,
    ) {
        self.limits = limits.unwrap_or(BackfillLimits {
            depth: 0,
            tested: Some(0),
            window: None,
        });
        self.reserved.fill(0);
        self.may_start = site.may_start_any();
        if !self.may_matter(site) {
            return;
        }
        queue.sort(&mut site.priorities, now);
        self.now = now;
        self.number += 1;
        self.awaited.fill(false);
        self.postponed.clear();
        self.failed.resize(site.kinds.len(), (0, Seconds::ZERO));
        let mut rule = Priority {
            pass: self,
            site,
            details: &queue.details,
        };
        let mut due = Vec::new();
        pass(&queue.waiting, &mut rule, &mut due);
        queue.remove(&due);
        site.pool.forget_reservations();
    }

    /// Whether a job may start or get its first reservation: a pass has no other lasting effect.
    fn may_matter(&self, site: &Site) -> bool {
        let announces = |(unannounced, reserved): (&usize, &u32)| {
            *unannounced > 0 && *reserved < self.limits.depth
        };
        let mut partitions = site.unannounced().iter().zip(&self.reserved);
        self.may_start || (self.backfills() && partitions.any(announces))
    }

    /// Whether jobs may start that are not the first.
    fn backfills(&self) -> bool {
        self.limits.tested != Some(0)
    }

    fn count_one(&mut self) {
        if let Some(tested) = &mut self.limits.tested {
            *tested = tested.saturating_sub(1);
        }
    }

    /// Whether the job starts now.
    fn starts(&mut self, site: &mut Site, details: &[Details], candidate: &Candidate) -> bool {
        let backfills = self.backfills();
        let reserved = self.reserved[candidate.partition as usize];
        let reserves = backfills && reserved < self.limits.depth;
        // Nodes only become fewer in a pass. So a job that asks for the same as a failed one, for
        // at least as long, fails too.
        let (number, shortest) = self.failed[candidate.kind as usize];
        let is_hopeless = number == self.number
            && shortest <= candidate.waiting.estimate
            && !candidate.has_windows;
        if is_hopeless && !reserves && self.limits.tested.is_none() {
            return false;
        }
        let details = candidate.details(details);
        let all = site.kinds.get(details.kind).shapes.len();
        self.allowed.clear();
        self.allowed.extend(within_limits(site, details));
        if self.allowed.is_empty() {
            return false;
        }
        for &shape in &self.allowed {
            let is_awaited = self.awaited[shape.class];
            if is_hopeless || (is_awaited && !backfills) {
                continue;
            }
            if let Some(nodes) = site.pool.choose(&node_request(details, shape), self.now) {
                if is_awaited {
                    self.count_one();
                }
                site.start(details, shape, nodes, self.now);
                return true;
            }
        }
        for shape in &self.allowed {
            self.awaited[shape.class] = true;
        }
        if backfills {
            if self.allowed.len() == all && !candidate.has_windows {
                let failed = &mut self.failed[candidate.kind as usize];
                *failed = if number == self.number {
                    (number, shortest.min(candidate.waiting.estimate))
                } else {
                    (self.number, candidate.waiting.estimate)
                };
            }
            if reserves {
                self.reserved[details.partition] += 1;
                self.reserve(site, details);
            }
            self.count_one();
        }
        false
    }

    /// Reserves nodes for the job in the class that has them first, and announces the start. This
    /// is postponed until a job behind it needs to know.
    fn reserve(&mut self, site: &mut Site, details: &Details) {
        self.postponed.push(*details);
        // With a window, the number of reservations within it counts, so they have to be made.
        if !self.may_start && self.limits.window.is_none() && site.is_announced(details.job) {
            return;
        }
        let latest = (self.limits.window).map_or(Seconds::FAR, |window| self.now + window);
        for details in self.postponed.drain(..) {
            self.allowed.clear();
            self.allowed.extend(within_limits(site, &details));
            let requests = self
                .allowed
                .iter()
                .map(|shape| node_request(&details, *shape));
            if let Some(start) = site.pool.reserve(requests, self.now, latest) {
                let at = self.now;
                site.announce(&details, Announcement { at, start });
            } else {
                self.reserved[details.partition] -= 1;
            }
        }
    }
}

/// The shapes that its limits allow to a job, in the order in which its partition tries classes.
fn within_limits<'a>(site: &'a Site, details: &'a Details) -> impl Iterator<Item = Shape> + 'a {
    let shapes = site.kinds.get(details.kind).shapes.iter();
    let allowed = shapes.filter(|shape| site.limits.allow(&details.scopes, shape));
    allowed.copied()
}

fn node_request(details: &Details, shape: Shape) -> NodeRequest {
    NodeRequest {
        shape,
        duration: details.request,
        user: details.user,
    }
}
