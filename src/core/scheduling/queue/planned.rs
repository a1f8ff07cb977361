//! The queue of a cluster behind a broker of co-reservations: first come, first served with
//! backfilling around fixed entries (docs/model.md, "A cluster behind its reservation service").
//!
//! The *fixed* entries are one profile: running jobs until start + limit, windows, and nodes that
//! are down. After every event [`due_now`] finds the jobs that start now. Waiting jobs hold
//! nothing, but the place reserved for the first of them (for all of them under conservative
//! backfilling) may keep windows out.
//!
//! It is not one of the queues of the registry, because the thesis (Meltzer 2005) decides otherwise
//! in these points:
//!
//! * Deadlines are not read: a waiting job waits until it starts.
//! * The time of a repair is unknown, so a node that is down is missing in every later window, too
//!   (Meltzer 2005, §7.4).
//! * Windows that start in one instant do so after all ends and before any job, in the order of
//!   their requests ([`Job::trace_number`]) and of their admission (Q49).
//! * A running job is planned to hold its nodes for at least a second.
//!
//! Nor is it `Replanning` (crate `bookahead-reservations`), whose plans the same core makes around
//! a profile of the same kind. There a window competes with a plan of the whole queue, which may
//! have to move for it (A2 of docs/decisions.md), and starts when its event comes. Here it competes
//! with the place of the first job only, unless backfilling is conservative (Q12), and starts after
//! the other events of its instant, in the order of requests (Q49).

use std::collections::BTreeMap;

use super::projection::Projection;
use super::{Backfilling, Waiting, due_now, plan_queue, remove_due};
use crate::plan::Profile;
use crate::scheduling::cluster::Cluster;
use crate::scheduling::outcome::{SuccessFactors, Verdict};
use crate::scheduling::policy::{Policy, QueueForecast, WindowQuote, WindowSeller};
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::{Job, JobId};

/// A queue that plans around windows.
pub struct PlannedQueue {
    backfilling: Backfilling,
    /// Whether what was reserved for waiting jobs is in the way of windows (Q12).
    planned_visible: bool,
    fixed: Profile,
    /// What windows may take, and when that was found.
    visible: Option<(Seconds, Profile)>,
    /// The window that was asked for last, when it was, and what it may take: it is asked for
    /// several parts of a request.
    asked: Option<([Seconds; 3], i32)>,
    /// By submission, equals by id, also those that start anew.
    queue: Vec<Waiting>,
    /// What running jobs and windows hold of `fixed`.
    places: BTreeMap<JobId, Place>,
    /// Windows that start at this instant.
    due: Vec<JobId>,
    /// Something happened at this instant that may let a job start.
    changed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: Seconds,
    end: Seconds,
    nodes: Nodes,
}

impl PlannedQueue {
    /// An empty queue for a cluster of `nodes` nodes.
    #[must_use]
    pub fn new(nodes: Nodes, backfilling: Backfilling, planned_visible: bool) -> Self {
        Self {
            backfilling,
            planned_visible,
            fixed: Profile::new(nodes.0, Seconds::ZERO),
            visible: None,
            asked: None,
            queue: Vec::new(),
            places: BTreeMap::new(),
            due: Vec::new(),
            changed: false,
        }
    }

    fn changed(&mut self) {
        self.forget_visible();
        self.changed = true;
    }

    fn forget_visible(&mut self) {
        self.visible = None;
        self.asked = None;
    }

    fn enqueue(&mut self, cluster: &mut Cluster, id: JobId) {
        let waiting = waiting(cluster.job(id));
        let place = self.queue.partition_point(|other| *other < waiting);
        self.queue.insert(place, waiting);
        cluster.wait(id);
        self.changed();
    }

    fn hold(&mut self, job: JobId, place: Place) {
        self.fixed.reserve(place.start, place.end, place.nodes.0);
        self.places.insert(job, place);
        self.forget_visible();
    }

    fn let_go(&mut self, now: Seconds, job: JobId) {
        if let Some(Place { start, end, nodes }) = self.places.remove(&job) {
            self.fixed.release(start.max(now), end, nodes.0);
            self.changed();
        }
    }

    /// What windows may take: what is fixed and, if they see it, what is reserved for waiting jobs.
    /// Without backfilling that is the first one's, as under EASY.
    fn visible(&mut self, now: Seconds) -> &Profile {
        if !self.planned_visible || self.queue.is_empty() {
            return &self.fixed;
        }
        if self.visible.as_ref().is_some_and(|(at, _)| *at != now) {
            self.visible = None;
        }
        if self.visible.is_none() {
            self.visible = Some((now, self.with_reserved(now, self.fixed.clone())));
        }
        self.visible.as_ref().map_or(&self.fixed, |found| &found.1)
    }

    /// What is fixed, and what is reserved for waiting jobs beside it, if windows see it.
    fn with_reserved(&self, now: Seconds, mut fixed: Profile) -> Profile {
        if self.planned_visible && !self.queue.is_empty() {
            let reserved = match self.backfilling {
                Backfilling::Conservative => &self.queue[..],
                Backfilling::Aggressive | Backfilling::None => &self.queue[..1],
            };
            plan_queue(&mut fixed, now, reserved, Backfilling::Conservative);
        }
        fixed
    }

    /// The fewest nodes that windows may take at any time in `[start, end)`.
    fn free(&mut self, now: Seconds, start: Seconds, end: Seconds) -> i32 {
        let window = [now, start, end];
        if let Some((asked, free)) = self.asked
            && asked == window
        {
            return free;
        }
        let free = self.visible(now).min_free(start, end);
        self.asked = Some((window, free));
        free
    }

    /// Starts a window, or gives it up where too few nodes are idle: running jobs are never
    /// displaced.
    fn start_window(&mut self, cluster: &mut Cluster, job: JobId) {
        let Some(place) = self.places.get(&job) else {
            return;
        };
        match cluster.idle().lowest(place.nodes) {
            Some(nodes) => cluster.start(job, nodes, place.end),
            None => {
                self.let_go(cluster.now(), job);
                cluster.fail(job);
            }
        }
        self.changed = true;
    }

    /// Starts every job whose place in a plan made now is now.
    fn start_due_jobs(&mut self, cluster: &mut Cluster) {
        let now = cluster.now();
        let due = due_now(&self.fixed, now, &self.queue, 0, self.backfilling);
        if due.is_empty() {
            return;
        }
        for &index in &due {
            let Waiting {
                job,
                nodes,
                estimate,
                ..
            } = self.queue[index];
            let idle = cluster.idle().lowest(nodes);
            debug_assert!(idle.is_some(), "a job finds its nodes free");
            let Some(idle) = idle else {
                continue;
            };
            let end = now + cluster.job(job).estimate;
            cluster.start(job, idle, end);
            let place = Place {
                start: now,
                end: now + estimate,
                nodes,
            };
            self.hold(job, place);
        }
        remove_due(&mut self.queue, &due);
    }
}

fn waiting(job: &Job) -> Waiting {
    Waiting {
        estimate: job.estimate.max(Seconds(1)),
        ..Waiting::from(job)
    }
}

impl Policy for PlannedQueue {
    fn arrived(&mut self, cluster: &mut Cluster, id: JobId) {
        let nodes = cluster.job(id).nodes;
        let Some((start, end)) = cluster.job(id).fixed_window() else {
            self.enqueue(cluster, id);
            return;
        };
        if self.quote_window(cluster, nodes, start, end).is_none() {
            cluster.drop(id, Verdict::DroppedNoSlot);
            return;
        }
        cluster.promise_reservation(id);
        self.hold(id, Place { start, end, nodes });
        self.changed();
    }

    fn start_due(&mut self, _cluster: &mut Cluster, job: JobId) {
        self.due.push(job);
    }

    fn ended(&mut self, cluster: &mut Cluster, job: JobId) {
        self.let_go(cluster.now(), job);
    }

    fn node_failed(&mut self, cluster: &mut Cluster, node: NodeIndex, victim: Option<JobId>) {
        self.nodes_failed(cluster, &[(node, victim)]);
    }

    fn node_repaired(&mut self, cluster: &mut Cluster, node: NodeIndex) {
        self.nodes_repaired(cluster, &[node]);
    }

    fn nodes_failed(&mut self, cluster: &mut Cluster, failed: &[(NodeIndex, Option<JobId>)]) {
        let now = cluster.now();
        for job in failed.iter().filter_map(|&(_, victim)| victim) {
            self.let_go(now, job);
            if cluster.is_reservation(job) {
                cluster.fail(job);
            } else {
                self.enqueue(cluster, job);
            }
        }
        self.fixed.reserve(now, Seconds::FAR, failed.len() as u32);
        self.changed();
    }

    fn nodes_repaired(&mut self, cluster: &mut Cluster, repaired: &[NodeIndex]) {
        let now = cluster.now();
        self.fixed.release(now, Seconds::FAR, repaired.len() as u32);
        self.changed();
    }

    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        self.queue.retain(|waiting| waiting.job != job);
        self.due.retain(|due| *due != job);
        self.let_go(cluster.now(), job);
        cluster.withdraw(job);
        self.changed();
    }

    fn settled(&mut self, cluster: &mut Cluster) {
        self.fixed.forget_before(cluster.now());
        let mut due = std::mem::take(&mut self.due);
        due.sort_unstable_by_key(|&window| (cluster.job(window).trace_number, window));
        for window in due {
            self.start_window(cluster, window);
        }
        if std::mem::take(&mut self.changed) && !self.queue.is_empty() {
            self.start_due_jobs(cluster);
        }
    }

    fn window_seller(&mut self) -> Option<&mut dyn WindowSeller> {
        Some(self)
    }
}

impl WindowSeller for PlannedQueue {
    fn quote_window(
        &mut self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        let free = self.free(cluster.now(), start, end);
        // Who plans so has no picture of what his nodes do.
        let certain = SuccessFactors {
            available: 1.0,
            executable: 1.0,
            survives: 1.0,
        };
        (free >= nodes.0 as i32).then(|| WindowQuote::free(certain, false))
    }

    fn room_without(&self, cluster: &Cluster, windows: &[JobId]) -> Option<Profile> {
        let now = cluster.now();
        let mut fixed = self.fixed.clone();
        for place in windows.iter().filter_map(|window| self.places.get(window)) {
            fixed.release(place.start.max(now), place.end, place.nodes.0);
        }
        Some(self.with_reserved(now, fixed))
    }

    fn forecast(&self, cluster: &Cluster) -> Option<Box<dyn QueueForecast>> {
        Some(Box::new(Projection::new(
            cluster.now(),
            &self.fixed,
            &self.queue,
            self.backfilling,
            self.places.values().map(|place| place.end),
        )))
    }
}

impl PlannedQueue {
    /// The waiting jobs in their order.
    #[must_use]
    pub fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    /// What running jobs (until their limits), windows and nodes that are down leave free.
    #[must_use]
    pub fn fixed(&self) -> &Profile {
        &self.fixed
    }
}
