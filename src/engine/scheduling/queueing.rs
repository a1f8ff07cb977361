//! First come, first served and EASY backfilling: queues that promise nothing, as baselines.
//!
//! Every job is accepted. Jobs wait in order of (release, id); all events of an instant come first, then one scheduling
//! pass. A job that can no longer finish its estimate before its deadline leaves the queue and its penalty is due.
//!
//! # Fixed reservations
//!
//! A queue plans nothing but its running jobs and the reservations that it has accepted, and only these can be in the way of a
//! new one: waiting jobs have been promised nothing, and a reservation passes them. It is accepted if enough nodes are free
//! in its whole window when every running job takes its estimate. A node that is down now is counted as there again by the
//! start of a later reservation, as in the node-mapped plans; a reservation that starts at once needs idle nodes.
//!
//! From then on its nodes are blocked: no job starts whose estimate would run into a reservation and leave it too few of
//! the nodes that are up now. (Nobody knows when a node comes back, so a start does not count on it.) First come, first served
//! stays strict: when the head of the queue may not start because of a reservation, everybody waits behind it. With
//! backfilling the head's start ("shadow") is the earliest time at which it has its nodes for its whole estimate beside
//! running jobs and reservations, which may lie between or behind these; the others may start if they leave both the head's
//! place and the reservations alone. Without reservations that is the usual rule of the shadow and the extra nodes.

use super::cluster::Cluster;
use super::outcome::Verdict;
use super::policy::Policy;
use crate::plan::{Fit, Profile};
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::JobId;

/// A queue, with or without aggressive (EASY) backfilling.
pub struct Queueing {
    backfills: bool,
    queue: Vec<Waiting>,
    running: Vec<Running>,
    /// Accepted reservations that have not started yet, in order of their acceptance.
    reserved: Vec<Reserved>,
    changed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Waiting {
    release: Seconds,
    job: JobId,
    nodes: Nodes,
    estimate: Seconds,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    job: JobId,
    nodes: Nodes,
    expected_end: Seconds,
}

#[derive(Clone, Copy, Debug)]
struct Reserved {
    job: JobId,
    nodes: Nodes,
    start: Seconds,
    end: Seconds,
}

impl Queueing {
    /// FCFS, or EASY with `backfills`.
    #[must_use]
    pub fn new(backfills: bool) -> Self {
        Self {
            backfills,
            queue: Vec::new(),
            running: Vec::new(),
            reserved: Vec::new(),
            changed: false,
        }
    }

    fn enqueue(&mut self, cluster: &mut Cluster, id: JobId) {
        let job = cluster.job(id);
        let waiting = Waiting {
            release: job.release,
            job: id,
            nodes: job.nodes,
            estimate: job.estimate,
        };
        let give_up = job.deadline - job.estimate + Seconds(1);
        cluster.disable(id, give_up);
        let place = self.queue.partition_point(|other| *other < waiting);
        self.queue.insert(place, waiting);
        self.changed = true;
    }

    fn start(&mut self, cluster: &mut Cluster, waiting: Waiting) {
        // Callers have compared the idle nodes with what the job needs.
        let Some(nodes) = cluster.idle().lowest(waiting.nodes) else {
            return;
        };
        let expected_end = cluster.now() + waiting.estimate;
        cluster.start(waiting.job, nodes, expected_end);
        self.running.push(Running {
            job: waiting.job,
            nodes: waiting.nodes,
            expected_end,
        });
    }

    /// When the head of the queue can start if nobody ends early, and how many nodes it leaves free then.
    fn reservation_of(&mut self, head: Waiting, idle: Nodes) -> (Seconds, u32) {
        self.running
            .sort_unstable_by_key(|running| (running.expected_end, running.job));
        let mut free = idle.0;
        let mut index = 0;
        while index < self.running.len() {
            let time = self.running[index].expected_end;
            while index < self.running.len() && self.running[index].expected_end == time {
                free += self.running[index].nodes.0;
                index += 1;
            }
            if free >= head.nodes.0 {
                return (time, free - head.nodes.0);
            }
        }
        // Too many nodes are down: nobody can delay the head.
        (Seconds::FAR, 0)
    }

    /// How many of `capacity` nodes are free from now on if nobody ends early and nobody else starts.
    fn outlook(&self, now: Seconds, capacity: Nodes) -> Profile {
        let mut free = Profile::new(capacity.0, now);
        for running in &self.running {
            free.reserve(now, running.expected_end, running.nodes.0);
        }
        for reserved in &self.reserved {
            free.reserve(reserved.start, reserved.end, reserved.nodes.0);
        }
        free
    }

    /// Accepts a fixed reservation if enough nodes are free in its whole window.
    fn reserve(&mut self, cluster: &mut Cluster, id: JobId, (start, end): (Seconds, Seconds)) {
        let now = cluster.now();
        let nodes = cluster.job(id).nodes;
        let is_there = start > now || cluster.idle().count() >= nodes;
        let free = self.outlook(now, cluster.nodes());
        if !is_there || free.min_free(start, end) < nodes.0 as i32 {
            cluster.drop(id, Verdict::DroppedNoSlot);
            return;
        }
        self.reserved.push(Reserved {
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
            self.running.push(Running {
                job: reserved.job,
                nodes: reserved.nodes,
                expected_end: reserved.end,
            });
        } else {
            cluster.fail(reserved.job);
            self.changed = true;
        }
    }

    /// One scheduling pass that leaves accepted reservations their nodes.
    fn pass_beside_reservations(&mut self, cluster: &mut Cluster) {
        let now = cluster.now();
        let mut free = self.outlook(now, cluster.up().count());
        let mut index = 0;
        let mut behind_head = false;
        while let Some(&waiting) = self.queue.get(index) {
            let end = now + waiting.estimate;
            if free.min_free(now, end) >= waiting.nodes.0 as i32 {
                free.reserve(now, end, waiting.nodes.0);
                self.queue.remove(index);
                self.start(cluster, waiting);
                continue;
            }
            if !self.backfills {
                return;
            }
            if !behind_head {
                behind_head = true;
                let shadow = free.earliest_fit(Fit {
                    from: now,
                    latest: Seconds::FAR,
                    nodes: waiting.nodes.0,
                    duration: waiting.estimate,
                    own_start: None,
                });
                // Where too many nodes are down for the head, nobody can delay it.
                if let Some(shadow) = shadow {
                    free.reserve(shadow, shadow + waiting.estimate, waiting.nodes.0);
                }
            }
            index += 1;
        }
    }

    fn pass(&mut self, cluster: &mut Cluster) {
        if !self.reserved.is_empty() {
            self.pass_beside_reservations(cluster);
            return;
        }
        while let Some(&head) = self.queue.first() {
            if head.nodes > cluster.idle().count() {
                break;
            }
            self.queue.remove(0);
            self.start(cluster, head);
        }
        let Some(&head) = self.queue.first() else {
            return;
        };
        if !self.backfills {
            return;
        }
        let mut idle = cluster.idle().count();
        let (shadow, mut extra) = self.reservation_of(head, idle);
        let mut index = 1;
        while index < self.queue.len() && idle.0 > 0 {
            let candidate = self.queue[index];
            let ends_before = cluster.now() + candidate.estimate <= shadow;
            if candidate.nodes <= idle && (ends_before || candidate.nodes.0 <= extra) {
                if !ends_before {
                    extra -= candidate.nodes.0;
                }
                idle = Nodes(idle.0 - candidate.nodes.0);
                self.queue.remove(index);
                self.start(cluster, candidate);
            } else {
                index += 1;
            }
        }
    }
}

impl Policy for Queueing {
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
            .reserved
            .iter()
            .position(|reserved| reserved.job == job);
        match reserved {
            Some(place) => {
                let reserved = self.reserved.remove(place);
                self.start_reservation(cluster, reserved);
            }
            None => self.enqueue(cluster, job),
        }
    }

    fn ended(&mut self, _cluster: &mut Cluster, job: JobId) {
        self.running.retain(|running| running.job != job);
        self.changed = true;
    }

    fn node_failed(&mut self, cluster: &mut Cluster, _node: NodeIndex, victim: Option<JobId>) {
        if let Some(job) = victim {
            self.running.retain(|running| running.job != job);
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
        self.queue.retain(|waiting| waiting.job != job);
        cluster.fail(job);
        self.changed = true;
    }

    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        self.queue.retain(|waiting| waiting.job != job);
        cluster.withdraw(job);
        self.changed = true;
    }

    fn settled(&mut self, cluster: &mut Cluster) {
        if std::mem::take(&mut self.changed) {
            self.pass(cluster);
        }
    }
}
