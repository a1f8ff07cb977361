//! Fixed reservations beside jobs of shortened durations, and windows that are lengthened.

use bookahead_core::plan::NodeSet;
use bookahead_core::scheduling::{Cluster, Verdict};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

use super::{Booking, Shortening};
use crate::policies::disabled::Occasion;

impl Shortening {
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
        let booking = Booking {
            nodes,
            nominal: start,
            start,
            end,
            estimate: job.estimate,
            shortened: job.estimate,
        };
        self.bookings.insert(job.id, booking);
        self.enter(job.id, cluster.now());
        cluster.promise_reservation(job.id);
    }

    /// Starts a fixed reservation, on other nodes if its own are not all there, or lets it fail.
    pub(super) fn start_reservation(
        &mut self,
        cluster: &mut Cluster,
        job: JobId,
        booking: Booking,
    ) {
        if booking.nodes.is_subset_of(cluster.idle()) {
            cluster.start(job, booking.nodes, booking.end);
            return;
        }
        let now = cluster.now();
        while self.plan.remove(job).is_some() {}
        let usable = Some((now, cluster.idle()));
        let free = self.plan.free_throughout(now, booking.end, usable);
        let Some(nodes) = free.lowest(cluster.job(job).nodes) else {
            self.lose(cluster, job, Some(booking.nodes));
            return;
        };
        let (left, end) = (booking.nodes.clone(), booking.end);
        let moved = Booking {
            nodes: nodes.clone(),
            ..booking
        };
        self.bookings.insert(job, moved);
        self.enter(job, now);
        cluster.start(job, nodes, end);
        self.hold_lead_ins(cluster, &left);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        self.start_waiting(cluster, &left);
    }

    /// Lets an accepted job fail and gives its nodes to the jobs that wait for them.
    pub(super) fn lose(&mut self, cluster: &mut Cluster, job: JobId, bound: Option<NodeSet>) {
        cluster.fail(job);
        let held = self.release(cluster, job);
        self.retry_disabled(cluster, Occasion::NodesFreed);
        if let Some(nodes) = held.or(bound) {
            self.start_waiting(cluster, &nodes);
        }
    }

    /// Lengthens the window of a running job beyond its estimate, up to the next reservation on its
    /// nodes. Nobody is placed on top of it any more.
    pub(super) fn lengthen(&mut self, cluster: &mut Cluster, job: JobId, until: Seconds) {
        let now = cluster.now();
        let (Some(booking), Some(start)) = (self.bookings.get(&job), cluster.running_since(job))
        else {
            return;
        };
        let end = until.min(self.plan.next_start_on(&booking.nodes, now, job));
        if end <= start + cluster.longest_run(job) {
            return;
        }
        let length = end - start;
        let lengthened = Booking {
            nominal: start,
            start,
            end,
            estimate: length,
            shortened: length,
            ..booking.clone()
        };
        self.bookings.insert(job, lengthened);
        self.enter(job, now);
        cluster.lengthen(job, end);
    }
}
