//! Jobs that save their work, hold no nodes, and wait for a gap in a plan of nodes.

use std::collections::BTreeMap;

use bookahead_core::scheduling::{Cluster, Recovery};
use bookahead_core::workload::JobId;

/// Accepted jobs whose rest has no place, with what each needs to go on.
#[derive(Debug, Default)]
pub(super) struct DisplacedJobs(BTreeMap<JobId, Recovery>);

impl DisplacedJobs {
    /// A job found no gap for its rest: it is disabled until there is one, or until there can be
    /// none any more.
    pub(super) fn wait(&mut self, cluster: &mut Cluster, job: JobId, recovery: Recovery) {
        let rest = cluster.to_plan(job);
        let give_up = recovery.give_up(cluster.now(), rest.estimate, rest.deadline);
        cluster.disable(job, give_up);
        self.0.insert(job, recovery);
    }

    /// The waiting jobs, in order of job id.
    pub(super) fn waiting(&self) -> Vec<(JobId, Recovery)> {
        let each = self.0.iter();
        each.map(|(&job, &recovery)| (job, recovery)).collect()
    }

    /// A job has a place again, or is given up.
    pub(super) fn remove(&mut self, job: JobId) {
        self.0.remove(&job);
    }
}
