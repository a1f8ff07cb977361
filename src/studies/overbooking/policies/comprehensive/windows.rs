//! Windows that are sold beside jobs bound to nodes, and windows of jobs that are lengthened: only
//! free ones.

use bookahead_core::plan::Reservation;
use bookahead_core::scheduling::{Cluster, WindowQuote};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::JobId;

use super::Comprehensive;

impl Comprehensive {
    /// What can be promised of a window that does not lie in the past: what a fixed reservation
    /// would get.
    pub(super) fn quote(
        &self,
        cluster: &Cluster,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
    ) -> Option<WindowQuote> {
        let usable = Some((cluster.now(), cluster.up()));
        let (_, nodes) = (self.plan).first_full(&[start], nodes, end - start, usable)?;
        let success = self.window_on(&nodes, (start, end), 1.0);
        Some(WindowQuote::free(success, self.settings.test_full_length))
    }

    /// Lengthens the window of a running job beyond its estimate, up to the next reservation on its
    /// nodes. They may be held for a job that is planned later.
    pub(super) fn lengthen(&mut self, cluster: &mut Cluster, job: JobId, until: Seconds) {
        let Some(own) = self.plan.reservation(job).cloned() else {
            return;
        };
        let next = self.plan.next_start_on(&own.nodes, cluster.now(), job);
        let end = until.min(next);
        let free = self.plan.free_throughout(own.end, end, None);
        if end <= own.start + cluster.longest_run(job) || !own.nodes.is_subset_of(&free) {
            return;
        }
        self.plan.remove(job);
        self.plan.insert(Reservation { end, ..own });
        if self.overbooks {
            self.expect_at(job, end);
        }
        cluster.lengthen(job, end);
    }
}
