//! Queues: the base of policies that only choose which jobs start now.
//!
//! Every job is accepted and promised nothing. Jobs wait in order of (release, id). All events of
//! an instant come first, then the policy is asked once ([`QueuePolicy::pass`]). A job that can no
//! longer finish its estimate before its deadline leaves the queue, and its penalty is due. A job
//! that loses a node waits again. `docs/policy.md` writes a policy in fifty lines.
//!
//! # Fixed reservations
//!
//! A queue plans only its running jobs and accepted reservations, and only these can keep a new
//! reservation out: waiting jobs have been promised nothing, and a reservation passes them. It is
//! accepted if enough nodes are free in its whole window when every running job takes its estimate.
//! A node that is down now counts as repaired by the start of a later reservation, as in the
//! node-mapped plans; a reservation that starts at once needs idle nodes.
//!
//! From then on its nodes are blocked: no job starts whose estimate would run into a reservation
//! and leave it too few of the nodes that are up now. (The time of a repair is unknown, so a start
//! does not count on it.)

use super::{Backfilling, PlannedEnds, Room, View, Waiting, backfill, remove_due};
use crate::plan::{Fit, Profile};
use crate::scheduling::cluster::Cluster;
use crate::scheduling::hardware::Hardware;
use crate::scheduling::outcome::Verdict;
use crate::scheduling::policy::{Policy, WindowQuote, WindowSeller};
use crate::scheduling::settings::{Exposure, Reliability};
use crate::scheduling::spec::PolicySpec;
use crate::scheduling::work::WorkCounters;
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::{Job, JobId};

/// A policy that only picks which of the waiting jobs start now.
pub trait QueuePolicy: Send {
    /// Something happened: starts the jobs that should start at this instant ([`QueuePass::fits`],
    /// [`QueuePass::start`]).
    fn pass(&mut self, pass: &mut QueuePass<'_>);
}

#[derive(Clone, Copy, Debug)]
struct Reserved {
    job: JobId,
    nodes: Nodes,
    start: Seconds,
    end: Seconds,
}

/// What a queue reads to say what the windows that it sells are worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QueueSettings {
    /// The assumed reliability of its nodes.
    pub reliability: Reliability,
    /// Whether windows must pass the acceptance test of their buyer (A-03; default no).
    pub test_full_length: bool,
}

impl From<&PolicySpec> for QueueSettings {
    fn from(spec: &PolicySpec) -> Self {
        Self {
            reliability: spec.reliability.clone(),
            test_full_length: spec.test_full_length,
        }
    }
}

/// A queue with its policy.
pub struct Queue<P> {
    policy: P,
    jobs: Jobs,
    changed: bool,
    hardware: Hardware,
    test_full_length: bool,
}

/// A running job, and until when it may have its nodes.
#[derive(Clone, Copy, Debug)]
struct Running {
    job: JobId,
    until: Seconds,
    nodes: Nodes,
}

/// The waiting jobs, the running jobs, and the promised windows.
#[derive(Debug, Default)]
struct Jobs {
    /// In order of release, then job.
    waiting: Vec<Waiting>,
    /// In order of their ids.
    running: Vec<Running>,
    ends: PlannedEnds,
    /// Accepted reservations that have not started yet, in order of their acceptance.
    reserved: Vec<Reserved>,
    /// Used by a pass, like `due`; kept to save allocations.
    view: View,
    due: Vec<usize>,
}

impl Jobs {
    fn run(&mut self, job: JobId, nodes: Nodes, until: Seconds) {
        let place = self.running.partition_point(|other| other.job < job);
        self.running.insert(place, Running { job, until, nodes });
        self.ends.insert(until, nodes.0);
    }

    fn place_of_running(&self, job: JobId) -> Result<usize, usize> {
        self.running.binary_search_by_key(&job, |other| other.job)
    }

    fn stop(&mut self, job: JobId) {
        if let Ok(place) = self.place_of_running(job) {
            let Running { until, nodes, .. } = self.running.remove(place);
            self.ends.remove(until, nodes.0);
        }
    }

    /// The number of `capacity` nodes that are free from now on if no job ends early and no other
    /// job starts.
    fn free_ahead(&self, now: Seconds, capacity: Nodes) -> Profile {
        let mut free = Profile::new(capacity.0, now);
        for (until, nodes) in self.ends.iter() {
            free.reserve(now, until, nodes);
        }
        for reserved in &self.reserved {
            free.reserve(reserved.start, reserved.end, reserved.nodes.0);
        }
        free
    }
}

/// One instant, as a policy sees it.
pub struct QueuePass<'a> {
    cluster: &'a mut Cluster,
    jobs: &'a mut Jobs,
    /// The nodes that are up and free from now on, if more than this instant was asked for.
    free: Option<Profile>,
}

impl QueuePass<'_> {
    /// The time.
    #[must_use]
    pub fn now(&self) -> Seconds {
        self.cluster.now()
    }

    /// The waiting jobs, in order of release, then job.
    #[must_use]
    pub fn waiting(&self) -> &[Waiting] {
        &self.jobs.waiting
    }

    /// Nodes that are up and that no job holds.
    #[must_use]
    pub fn idle(&self) -> Nodes {
        self.cluster.idle().count()
    }

    /// A waiting job as it was submitted. A policy must not read its `runtime`.
    #[must_use]
    pub fn job(&self, waiting: &Waiting) -> &Job {
        self.cluster.job(waiting.job)
    }

    /// Whether a job runs.
    #[must_use]
    pub fn runs(&self, job: JobId) -> bool {
        self.jobs.place_of_running(job).is_ok()
    }

    /// What the policy did to get there.
    pub fn work(&mut self) -> &mut WorkCounters {
        &mut self.cluster.work
    }

    /// Whether a job may start now: its nodes are idle, and for its whole estimate it leaves alone
    /// all promised windows and all nodes that are held for other jobs.
    pub fn fits(&mut self, waiting: &Waiting) -> bool {
        if self.free.is_none() && !self.has_reservations() {
            return waiting.nodes <= self.idle();
        }
        let (now, end) = (self.now(), self.now() + waiting.estimate);
        self.free().min_free(now, end) >= waiting.nodes.0 as i32
    }

    /// Starts a job that fits. Nothing happens where it does not wait or finds too few idle nodes.
    pub fn start(&mut self, waiting: &Waiting) {
        if let Ok(place) = self.jobs.waiting.binary_search(waiting)
            && self.begin(waiting)
        {
            self.jobs.waiting.remove(place);
        }
    }

    /// Gives a job idle nodes; whether there are enough.
    fn begin(&mut self, waiting: &Waiting) -> bool {
        let Some(nodes) = self.cluster.idle().lowest(waiting.nodes) else {
            return false;
        };
        let now = self.now();
        let expected_end = now + waiting.estimate;
        if let Some(free) = &mut self.free {
            free.reserve(now, expected_end, waiting.nodes.0);
        }
        self.cluster.start(waiting.job, nodes, expected_end);
        self.jobs.run(waiting.job, waiting.nodes, expected_end);
        true
    }

    /// Starts all jobs that may start by a rule, in the order of [`QueuePass::waiting`].
    pub fn start_due(&mut self, backfilling: Backfilling) {
        if self.jobs.waiting.is_empty() {
            return;
        }
        let backfills = match backfilling {
            Backfilling::Conservative => return self.start_beside_all(),
            Backfilling::Aggressive => true,
            Backfilling::None => false,
        };
        let now = self.now();
        let mut view = std::mem::take(&mut self.jobs.view);
        if self.free.is_some() || self.has_reservations() {
            view.look_at(self.free(), now);
        } else {
            // Running jobs only end. Without a profile, which would cost more than everything else.
            view.look(now, self.idle().0, (Seconds::FAR, 0));
        }
        let mut waiting = std::mem::take(&mut self.jobs.waiting);
        let mut due = std::mem::take(&mut self.jobs.due);
        backfill(&waiting, backfills, None, &mut view, self, &mut due);
        remove_due(&mut waiting, &due);
        (self.jobs.waiting, self.jobs.view, self.jobs.due) = (waiting, view, due);
    }

    /// Holds for every job the earliest place that the jobs in front leave.
    fn start_beside_all(&mut self) {
        let now = self.now();
        let mut waiting = std::mem::take(&mut self.jobs.waiting);
        waiting.retain(|waiting| match self.earliest_start(waiting) {
            Some(start) if start == now => !self.begin(waiting),
            Some(start) => {
                self.hold(waiting, start);
                true
            }
            None => true,
        });
        self.jobs.waiting = waiting;
    }

    /// The earliest start of a job if no job ends early; `None` if too many nodes are down for it.
    pub fn earliest_start(&mut self, waiting: &Waiting) -> Option<Seconds> {
        let from = self.now();
        self.free().earliest_fit(Fit {
            from,
            latest: Seconds::FAR,
            nodes: waiting.nodes.0,
            duration: waiting.estimate,
            own_start: None,
        })
    }

    /// Holds a job's nodes for its estimate from `start` on, until the end of this pass: jobs that
    /// fit from now on leave them alone.
    pub fn hold(&mut self, waiting: &Waiting, start: Seconds) {
        let end = start + waiting.estimate;
        let nodes = waiting.nodes.0;
        self.free().reserve(start, end, nodes);
    }

    /// The nodes that are up and free from now on if these running jobs end at these times, and all
    /// others take their estimates.
    #[must_use]
    pub fn free_if(&mut self, ends: &[(JobId, Seconds)]) -> Profile {
        let now = self.now();
        let mut free = self.free().clone();
        for &(job, end) in ends {
            if let Ok(place) = self.jobs.place_of_running(job) {
                let Running { until, nodes, .. } = self.jobs.running[place];
                free.release(end.max(now).min(until), until, nodes.0);
            }
        }
        free
    }

    /// Whether there is a promised window that has not begun.
    fn has_reservations(&self) -> bool {
        !self.jobs.reserved.is_empty()
    }

    fn free(&mut self) -> &mut Profile {
        let (now, up) = (self.cluster.now(), self.cluster.up().count());
        self.free
            .get_or_insert_with(|| self.jobs.free_ahead(now, up))
    }
}

impl Room for QueuePass<'_> {
    fn start(&mut self, waiting: &Waiting) {
        let starts = self.begin(waiting);
        debug_assert!(starts, "who fits finds idle nodes");
    }

    /// If too many nodes are down for the job, no other job can delay it.
    fn hold(&mut self, waiting: &Waiting, view: &mut View) {
        let now = self.now();
        if self.free.is_none() {
            let idle = self.idle().0;
            let place = self.jobs.ends.room_for(waiting.nodes.0, idle, now);
            view.look(now, idle, place.unwrap_or((Seconds::FAR, 0)));
        } else if let Some(start) = self.earliest_start(waiting) {
            QueuePass::hold(self, waiting, start);
            view.look_at(self.free(), now);
        }
    }
}

/// First come, first served without backfilling; a queue that replans at every event otherwise.
///
/// First come, first served is strict: when the first of the queue may not start because of a
/// reservation, all others wait behind it. With backfilling its start ("shadow") is the earliest
/// time at which it has its nodes for its whole estimate beside running jobs and reservations,
/// which may lie between or behind these. The other jobs may start if they leave both its place and
/// the reservations alone. Without reservations that is the usual rule of the shadow and the extra
/// nodes.
impl QueuePolicy for Backfilling {
    fn pass(&mut self, pass: &mut QueuePass<'_>) {
        pass.start_due(*self);
    }
}

impl<P: QueuePolicy> Queue<P> {
    /// An empty queue.
    pub fn of(policy: P, settings: QueueSettings) -> Self {
        Self {
            policy,
            jobs: Jobs::default(),
            changed: false,
            hardware: Hardware::new(settings.reliability),
            test_full_length: settings.test_full_length,
        }
    }

    fn enqueue(&mut self, cluster: &mut Cluster, id: JobId) {
        let job = cluster.job(id);
        let waiting = Waiting {
            since: job.release,
            ..Waiting::from(job)
        };
        let give_up = job.deadline - job.estimate + Seconds(1);
        cluster.disable(id, give_up);
        let queue = &mut self.jobs.waiting;
        if queue.last().is_none_or(|last| *last < waiting) {
            queue.push(waiting);
        } else {
            let place = queue.partition_point(|other| *other < waiting);
            queue.insert(place, waiting);
        }
        self.changed = true;
    }

    /// Whether a window is free of running jobs and reservations.
    fn has_room(&self, cluster: &Cluster, nodes: Nodes, start: Seconds, end: Seconds) -> bool {
        let now = cluster.now();
        let is_there = start > now || cluster.idle().count() >= nodes;
        let free = || self.jobs.free_ahead(now, cluster.nodes());
        is_there && free().min_free(start, end) >= nodes.0 as i32
    }

    /// Accepts a fixed reservation if enough nodes are free in its whole window.
    fn reserve(&mut self, cluster: &mut Cluster, id: JobId, (start, end): (Seconds, Seconds)) {
        let nodes = cluster.job(id).nodes;
        if !self.has_room(cluster, nodes, start, end) {
            cluster.drop(id, Verdict::DroppedNoSlot);
            return;
        }
        self.jobs.reserved.push(Reserved {
            job: id,
            nodes,
            start,
            end,
        });
        cluster.promise_reservation(id);
    }

    /// Starts a fixed reservation at its time, or lets it fail when too many nodes are down.
    fn start_reservation(&mut self, cluster: &mut Cluster, reserved: Reserved) {
        if let Some(nodes) = cluster.idle().lowest(reserved.nodes) {
            cluster.start(reserved.job, nodes, reserved.end);
            self.jobs.run(reserved.job, reserved.nodes, reserved.end);
        } else {
            cluster.fail(reserved.job);
            self.changed = true;
        }
    }
}

impl<P: QueuePolicy> Policy for Queue<P> {
    fn arrived(&mut self, cluster: &mut Cluster, job: JobId) {
        if let Some(window) = cluster.job(job).fixed_window() {
            self.reserve(cluster, job, window);
            return;
        }
        let release = cluster.job(job).release;
        if release > cluster.now() {
            cluster.plan(job, release);
        } else {
            self.enqueue(cluster, job);
        }
    }

    fn start_due(&mut self, cluster: &mut Cluster, job: JobId) {
        let reserved = self
            .jobs
            .reserved
            .iter()
            .position(|reserved| reserved.job == job);
        match reserved {
            Some(place) => {
                let reserved = self.jobs.reserved.remove(place);
                self.start_reservation(cluster, reserved);
            }
            None => self.enqueue(cluster, job),
        }
    }

    fn ended(&mut self, _cluster: &mut Cluster, job: JobId) {
        self.jobs.stop(job);
        self.changed = true;
    }

    fn node_failed(&mut self, cluster: &mut Cluster, _node: NodeIndex, victim: Option<JobId>) {
        if let Some(job) = victim {
            self.jobs.stop(job);
            if cluster.is_reservation(job) {
                cluster.fail(job);
            } else {
                self.enqueue(cluster, job);
            }
        }
        self.changed = true;
    }

    fn node_repaired(&mut self, _cluster: &mut Cluster, _node: NodeIndex) {
        self.changed = true;
    }

    fn give_up_due(&mut self, cluster: &mut Cluster, job: JobId) {
        self.jobs.waiting.retain(|waiting| waiting.job != job);
        cluster.fail(job);
        self.changed = true;
    }

    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        self.jobs.waiting.retain(|waiting| waiting.job != job);
        self.jobs.stop(job);
        self.jobs.reserved.retain(|reserved| reserved.job != job);
        cluster.withdraw(job);
        self.changed = true;
    }

    fn settled(&mut self, cluster: &mut Cluster) {
        if std::mem::take(&mut self.changed) {
            self.policy.pass(&mut QueuePass {
                cluster,
                jobs: &mut self.jobs,
                free: None,
            });
        }
    }

    fn window_seller(&mut self) -> Option<&mut dyn WindowSeller> {
        Some(self)
    }
}

impl<P: QueuePolicy> WindowSeller for Queue<P> {
    fn quote_window(
        &mut self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        let success = (self.hardware).window(nodes, &Exposure::within(start, end), 1.0);
        (self.has_room(cluster, nodes, start, end))
            .then(|| WindowQuote::free(success, self.test_full_length))
    }
}

#[cfg(test)]
mod tests;
