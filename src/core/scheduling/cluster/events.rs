//! The events of a cluster, and their order in one instant.

use super::ClusterMachine;
use crate::kernel::Decision;
use crate::scheduling::outcome::Verdict;
use crate::scheduling::policy::Policy;
use crate::units::{NodeIndex, Seconds};
use crate::workload::{JobId, SameInstant};

/// What can happen; the numbers are the versions that [`super::jobs::JobRecord::version`] makes
/// stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// A checkpoint is written that shared its bandwidth; the number is that of
    /// [`crate::scheduling::bandwidth::SharedBandwidth::version`].
    Written(u32),
    End(JobId, u32),
    Repair(NodeIndex),
    /// A node comes, if a loan of it begins or ends.
    Comes(NodeIndex),
    Failure(NodeIndex),
    /// A node goes, in the same way.
    Goes(NodeIndex),
    /// A failure that follows the load is possible: its place in the list of them.
    MayFail(u32),
    Start(JobId, u32),
    /// A job begins to write with shared bandwidth.
    Write(JobId, u32),
    GiveUp(JobId, u32),
    /// The user of a run that began then asks for more time.
    Wish(JobId, Seconds),
    Cancellation(JobId),
    Arrival(JobId),
    /// The policy wants to be asked again.
    WakeUp,
}

impl Event {
    /// The order of events at equal times (docs/model.md, "Events at equal times"; A-34: an end
    /// comes before a failure).
    pub(super) fn class(self) -> u8 {
        match self {
            Self::Written(_) => 0,
            Self::End(..) => 1,
            Self::Repair(_) | Self::Comes(_) => 2,
            Self::Failure(_) | Self::Goes(_) | Self::MayFail(_) => 3,
            Self::Start(..) | Self::WakeUp => 4,
            Self::Write(..) => 5,
            Self::GiveUp(..) => 6,
            Self::Wish(..) | Self::Cancellation(_) => 7,
            Self::Arrival(_) => 9,
        }
    }

    /// The same of the arrival of a request, beside those of jobs (A4 of docs/decisions.md).
    pub(super) fn request_class(order: SameInstant) -> u8 {
        match order {
            SameInstant::RequestFirst => 8,
            SameInstant::JobFirst => 10,
        }
    }
}

impl<P: Policy + ?Sized> ClusterMachine<P> {
    fn admit(&mut self, job: JobId) {
        let (policy, cluster) = (&mut self.policy, &mut self.cluster);
        (self.stopwatch).time(Decision::Admission, || policy.arrived(cluster, job));
    }

    pub(super) fn fail(&mut self, node: NodeIndex) {
        let victim = self.cluster.node_down(node);
        self.policy.node_failed(&mut self.cluster, node, victim);
    }

    pub(super) fn repair(&mut self, node: NodeIndex) {
        self.cluster.node_up(node);
        self.policy.node_repaired(&mut self.cluster, node);
    }

    /// Lets it happen.
    pub(super) fn handle(&mut self, event: Event) {
        let cluster = &mut self.cluster;
        match event {
            Event::Arrival(job) => {
                if job.request().is_some() {
                    // Every request is answered with a reason.
                    self.admit(job);
                } else if cluster.job(job).nodes > cluster.nodes {
                    cluster.drop(job, Verdict::DroppedTooWide);
                } else if cluster.is_reservation(job) && cluster.job(job).release < cluster.now {
                    // No policy can start it in the past.
                    cluster.drop(job, Verdict::DroppedNoSlot);
                } else {
                    self.admit(job);
                }
            }
            Event::Start(job, _) => self.policy.start_due(cluster, job),
            Event::WakeUp => self.policy.woken(),
            Event::Write(job, _) => cluster.begin_writing(job),
            Event::Written(_) => cluster.finish_writing(),
            Event::End(job, _) => {
                if cluster.end(job) {
                    self.policy.ended(cluster, job);
                } else {
                    self.policy.stopped(cluster, job);
                }
            }
            Event::Wish(job, _) => {
                let until = cluster.wished(job);
                self.policy.longer_wished(cluster, job, until);
            }
            Event::GiveUp(job, _) => self.policy.give_up_due(cluster, job),
            Event::Cancellation(job) => {
                if cluster.may_be_cancelled(job) {
                    cluster.cancelled.push((cluster.now, job));
                    self.policy.cancelled(cluster, job);
                }
            }
            Event::Failure(node) => {
                if !cluster.is_away(node, false) {
                    self.fail(node);
                }
            }
            Event::MayFail(place) => {
                if let Some(node) = cluster.fails_at_this_load(place) {
                    self.fail(node);
                }
            }
            Event::Repair(node) => {
                if !cluster.is_away(node, true) {
                    self.repair(node);
                }
            }
            Event::Comes(node) | Event::Goes(node) => self.come_or_go(node),
        }
    }
}
