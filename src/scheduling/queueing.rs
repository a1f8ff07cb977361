//! First come, first served and EASY backfilling: queues that promise nothing, as baselines.
//!
//! Every job is accepted. Jobs wait in order of (release, id); all events of an instant come first, then one scheduling
//! pass. A job that can no longer finish its estimate before its deadline leaves the queue and its penalty is due.

use super::cluster::Cluster;
use super::policy::Policy;
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::JobId;

/// A queue, with or without aggressive (EASY) backfilling.
pub struct Queueing {
    backfills: bool,
    queue: Vec<Waiting>,
    running: Vec<Running>,
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

impl Queueing {
    /// FCFS, or EASY with `backfills`.
    #[must_use]
    pub fn new(backfills: bool) -> Self {
        Self {
            backfills,
            queue: Vec::new(),
            running: Vec::new(),
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

    fn pass(&mut self, cluster: &mut Cluster) {
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
        let release = cluster.job(job).release;
        if release > cluster.now() {
            cluster.plan(job, release);
        } else {
            self.enqueue(cluster, job);
        }
    }

    fn start_due(&mut self, cluster: &mut Cluster, job: JobId) {
        self.enqueue(cluster, job);
    }

    fn ended(&mut self, _cluster: &mut Cluster, job: JobId) {
        self.running.retain(|running| running.job != job);
        self.changed = true;
    }

    fn node_failed(&mut self, cluster: &mut Cluster, _node: NodeIndex, victim: Option<JobId>) {
        if let Some(job) = victim {
            self.running.retain(|running| running.job != job);
            self.enqueue(cluster, job);
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

    fn settled(&mut self, cluster: &mut Cluster) {
        if std::mem::take(&mut self.changed) {
            self.pass(cluster);
        }
    }
}
