//! Jobs with a second run on other nodes, in the window of the first (Birkenheuer 2012, §2.2.4).
//!
//! Each run has a slot of its own in the plan, which is put back earlier like any other. A run that
//! loses its nodes, or cannot have them, is given up while there is the other one; what ends first
//! ends the job.

use bookahead_core::scheduling::{Cluster, SuccessFactors};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

use super::{Heuristic, Slot};

impl Heuristic {
    /// What the probability of success becomes with a second run in the same window, where the plan
    /// has the nodes for it and it pays.
    pub(super) fn doubled(
        &self,
        job: &Job,
        (start, end): (Seconds, Seconds),
        single: &SuccessFactors,
    ) -> Option<SuccessFactors> {
        let rule = self.settings.double_execution?;
        let double = single.doubled();
        let share = (end - start).0 as f64 / job.estimate.0 as f64;
        let pays = rule.pays(single.pos(), double.pos(), share);
        let both = i64::from(job.nodes.0) * 2;
        let has_nodes = || i64::from(self.profile.min_free(start, end)) >= both;
        (pays && has_nodes()).then_some(double)
    }

    /// Plans the second run of a job beside the first, which has this slot.
    pub(super) fn enter_copy(&mut self, cluster: &mut Cluster, first: Slot) {
        if let Some(copy) = cluster.add_copy(first.job) {
            self.enter(cluster, Slot { job: copy, ..first });
        }
    }

    /// Gives up a run that has lost its nodes or cannot have them, where the job has another one;
    /// says whether it has.
    pub(super) fn goes_on_elsewhere(&mut self, cluster: &mut Cluster, run: JobId) -> bool {
        if let Some(job) = run.original() {
            self.free(cluster, run);
            cluster.drop_copy(job);
            return true;
        }
        if !cluster.has_copy(run) {
            // It may have lost its nodes in this instant, too.
            self.drop_copy(cluster, run);
            return false;
        }
        self.free(cluster, run);
        let mut runs = self.planned.iter_mut().chain(&mut self.running);
        let Some(slot) = runs.find(|slot| Some(slot.job) == run.copy()) else {
            return false;
        };
        slot.job = run;
        let window = (slot.start, slot.end);
        self.planned
            .sort_unstable_by_key(|slot| (slot.start, slot.job));
        cluster.go_on_as_copy(run, window);
        true
    }

    /// A job has ended in this run: takes its runs out of the plan, and drops the one that goes on.
    pub(super) fn free_all(&mut self, cluster: &mut Cluster, run: JobId) {
        self.free(cluster, run);
        if self.settings.double_execution.is_none() {
            return;
        }
        match run.original() {
            Some(original) => {
                self.free(cluster, original);
            }
            None => self.drop_copy(cluster, run),
        }
    }

    /// Takes the copy of a job out of the plan and off the cluster, if there is one.
    pub(super) fn drop_copy(&mut self, cluster: &mut Cluster, job: JobId) {
        if let Some(copy) = job.copy()
            && self.free(cluster, copy)
        {
            cluster.drop_copy(job);
        }
    }

    /// Takes the slot of a run out of the plan; says whether it had one.
    pub(super) fn free(&mut self, cluster: &Cluster, run: JobId) -> bool {
        for slots in [&mut self.running, &mut self.planned] {
            if let Some(place) = slots.iter().position(|slot| slot.job == run) {
                let slot = slots.remove(place);
                let from = slot.start.max(cluster.now());
                self.profile.release(from, slot.end, slot.nodes);
                return true;
            }
        }
        false
    }
}
