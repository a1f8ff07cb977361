//! The trait that one file implements for each policy.

use super::cluster::Cluster;
use crate::units::NodeIndex;
use crate::workload::JobId;

/// A scheduling policy: it plans, the [`Cluster`] carries out.
///
/// A policy is called once for each event, in the order of events (see [`crate::scheduling::ClusterMachine`]), with the cluster
/// already updated: at [`Policy::ended`] the job's outcome is final and its nodes are idle, at [`Policy::node_failed`] the node
/// is down and its job lost all progress and holds no node any more. It never sees a job's real runtime.
///
/// # Fixed reservations
///
/// A job with a [`crate::workload::Job::fixed_window`] is accepted or rejected for exactly that window (spec
/// `grid-reservations.md` §3.3, option *reject*; spec `overbooking.md` §3.1.3 and §14.1: neither moved nor overbooked). Every
/// policy keeps these rules:
///
/// * It is accepted if its nodes are free in the whole window in the current plan, and otherwise dropped
///   ([`crate::scheduling::Verdict::DroppedNoSlot`]). Nobody is moved or shortened for it, there is no counter-offer, and no
///   probability is asked for: whatever the acceptance test and the statistics say, it gets its nodes for its estimate.
///   Acceptance is [`Cluster::promise_reservation`].
/// * Its window belongs to it: whoever is planned or started in front of it has left its nodes at its start, killed there if
///   need be, and nobody is placed on top of it in the hope of its early end. When it does end early, its nodes are free like
///   those of any job.
/// * It is not moved, not even forward: it starts exactly at its release or never. Where nodes are down it starts at that instant
///   on others if enough are idle and not planned for somebody else in its window; else it fails at once
///   ([`crate::scheduling::Verdict::FailedUnstartable`]), whatever the restart rule.
/// * A node failure under it ends it ([`crate::scheduling::Verdict::FailedNodes`]): its window is fixed, so there is no restart.
/// * It earns its fee and owes its penalty as any job.
///
/// A reservation that is submitted after its start never reaches a policy: it is dropped.
pub trait Policy: Send {
    /// A job that fits the machine is submitted: plan it ([`Cluster::promise`] and [`Cluster::plan`]) or drop it.
    fn arrived(&mut self, cluster: &mut Cluster, job: JobId);

    /// A planned start is due: start the job, or disable it when its nodes are not there (fail it, if it is a reservation).
    fn start_due(&mut self, cluster: &mut Cluster, job: JobId);

    /// A job ended: by itself, at its estimate, or killed at the end of its window.
    fn ended(&mut self, cluster: &mut Cluster, job: JobId);

    /// A node went down, with the job that ran on it. The victim must be planned again, disabled or failed.
    fn node_failed(&mut self, cluster: &mut Cluster, node: NodeIndex, victim: Option<JobId>);

    /// A node came back.
    fn node_repaired(&mut self, cluster: &mut Cluster, node: NodeIndex);

    /// A disabled job reached the time that was set for giving it up.
    fn give_up_due(&mut self, cluster: &mut Cluster, job: JobId) {
        cluster.fail(job);
    }

    /// All events of this instant are done (queueing policies schedule here).
    fn settled(&mut self, _cluster: &mut Cluster) {}
}
