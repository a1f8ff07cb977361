//! Jobs that wait for their nodes, and jobs that save their work and go on elsewhere.

use bookahead_core::plan::{NodeSet, Reservation};
use bookahead_core::scheduling::{Cluster, Recovery, ResumeRule, Retry};
use bookahead_core::workload::JobId;

use super::{Booking, Shortening};
use crate::policies::disabled::Occasion;

impl Shortening {
    /// Starts disabled jobs whose nodes are all there again.
    pub(super) fn retry_disabled(&mut self, cluster: &mut Cluster, occasion: Occasion) {
        for job in self.disabled.due(occasion) {
            if let Some(nodes) = self.disabled.take_startable(cluster, &self.plan, job) {
                self.run(cluster, job, nodes);
            }
        }
        if occasion == Occasion::Repair || self.settings.recovery.retry == Retry::Events {
            self.retry_displaced(cluster);
        }
    }

    /// A node failed under a job that saves its work.
    pub(super) fn displace(&mut self, cluster: &mut Cluster, job: JobId, nodes: NodeSet) {
        let recovery = self.settings.recovery.after_crash(true);
        if recovery == Recovery::None {
            self.lose(cluster, job, Some(nodes));
            return;
        }
        self.release(cluster, job);
        self.wait_for_gap(cluster, job, recovery);
        self.start_waiting(cluster, &nodes);
    }

    /// Plans the rest of a job that holds nothing, now or as soon as there is a gap.
    pub(super) fn wait_for_gap(&mut self, cluster: &mut Cluster, job: JobId, recovery: Recovery) {
        if !self.plan_rest(cluster, job, recovery) {
            self.displaced.wait(cluster, job, recovery);
        }
    }

    /// Looks again for gaps for those that wait for any, in order of job id.
    pub(super) fn retry_displaced(&mut self, cluster: &mut Cluster) {
        for (job, recovery) in self.displaced.waiting() {
            if self.plan_rest(cluster, job, recovery) {
                self.displaced.remove(job);
            }
        }
    }

    /// All of the rest at once, or as much of it as any gap holds: what is usual for a new job says
    /// nothing of a rest.
    fn plan_rest(&mut self, cluster: &mut Cluster, id: JobId, recovery: Recovery) -> bool {
        self.forget_before(cluster.now());
        let job = cluster.to_plan(id);
        let whole = self
            .place_full(cluster, &job, job.estimate)
            .map(|slot| Reservation {
                job: id,
                nodes: slot.nodes,
                start: slot.anchor,
                end: slot.end,
            });
        let found = whole.or_else(|| {
            let settings = *cluster.checkpoints_of(id)?.settings();
            if recovery != Recovery::Short || settings.resume == ResumeRule::Tested {
                return None;
            }
            let gap = self.plan.longest_gap(&job, cluster.now(), cluster.up())?;
            cluster.is_worth(id, gap.end - gap.start).then_some(gap)
        });
        let Some(found) = found else {
            return false;
        };
        let booking = Booking {
            nodes: found.nodes,
            nominal: found.start,
            start: found.start,
            end: found.end,
            estimate: job.estimate,
            shortened: job.estimate,
        };
        self.bookings.insert(id, booking);
        self.enter(id, cluster.now());
        cluster.plan(id, found.start);
        true
    }
}
