//! Fixed reservations in a plan whose jobs are bound to nodes.

use bookahead_core::plan::{NodeSet, Reservation};
use bookahead_core::scheduling::{Cluster, Verdict};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

use super::Comprehensive;
use crate::policies::disabled::Occasion;

impl Comprehensive {
    /// Accepts a fixed reservation if enough nodes are free in its whole window.
    pub(super) fn reserve(
        &mut self,
        cluster: &mut Cluster,
        job: &Job,
        (start, end): (Seconds, Seconds),
    ) {
        let usable = Some((cluster.now(), cluster.up()));
        let slot = self
            .plan
            .first_full(&[start], job.nodes, end - start, usable);
        let Some((_, nodes)) = slot else {
            cluster.drop(job.id, Verdict::DroppedNoSlot);
            return;
        };
        if self.overbooks {
            self.expect_at(job.id, end);
        }
        self.plan.insert(Reservation {
            job: job.id,
            nodes,
            start,
            end,
        });
        cluster.promise_reservation(job.id);
    }

    /// Starts a fixed reservation whose nodes are not all there on others, or lets it fail.
    pub(super) fn start_elsewhere(&mut self, cluster: &mut Cluster, reservation: Reservation) {
        let Reservation {
            job, nodes, end, ..
        } = reservation;
        let now = cluster.now();
        self.plan.remove(job);
        let free = self
            .plan
            .free_throughout(now, end, Some((now, cluster.idle())));
        let Some(others) = free.lowest(cluster.job(job).nodes) else {
            self.lose(cluster, job, &nodes);
            return;
        };
        self.plan.insert(Reservation {
            job,
            nodes: others.clone(),
            start: now,
            end,
        });
        cluster.start(job, others, end);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        self.start_early(cluster, &nodes);
    }

    /// Lets an accepted job fail and gives its nodes to the jobs that wait for them.
    pub(super) fn lose(&mut self, cluster: &mut Cluster, job: JobId, nodes: &NodeSet) {
        cluster.fail(job);
        self.completions.remove(job);
        self.plan.remove(job);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        self.start_early(cluster, nodes);
    }
}
