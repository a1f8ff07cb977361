//! The trait that one file implements for each policy.

use super::cluster::Cluster;
use crate::units::NodeIndex;
use crate::workload::JobId;

/// A scheduling policy: it plans, the [`Cluster`] carries out.
///
/// A policy is called once for each event, in the order of events (see [`crate::scheduling::ClusterMachine`]), with the cluster
/// already updated: at [`Policy::ended`] the job's outcome is final and its nodes are idle, at [`Policy::node_failed`] the node
/// is down and its job lost all progress and holds no node any more. It never sees a job's real runtime.
pub trait Policy: Send {
    /// A job that fits the machine is submitted: plan it ([`Cluster::promise`] and [`Cluster::plan`]) or drop it.
    fn arrived(&mut self, cluster: &mut Cluster, job: JobId);

    /// A planned start is due: start the job, or disable it when its nodes are not there.
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
