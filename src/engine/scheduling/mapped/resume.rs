//! Jobs that save their work, lost their nodes and go on elsewhere.

use super::completions::Question;
use super::{Candidate, Mapped};
use crate::plan::NodeSet;
use crate::scheduling::checkpoint::ResumeRule;
use crate::scheduling::cluster::Cluster;
use crate::scheduling::settings::Recovery;
use crate::workload::{Job, JobId};

impl Mapped {
    /// A node failed under a job that saves its work.
    pub(super) fn displace(&mut self, cluster: &mut Cluster, job: JobId, nodes: &NodeSet) {
        let recovery = self.settings.after_crash(self.overbooks);
        if recovery == Recovery::None {
            self.lose(cluster, job, nodes);
            return;
        }
        self.plan.remove(job);
        self.completions.remove(job);
        self.wait_for_gap(cluster, job, recovery);
        self.start_early(cluster, nodes);
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

    fn plan_rest(&mut self, cluster: &mut Cluster, id: JobId, recovery: Recovery) -> bool {
        self.refresh(cluster.now());
        let job = cluster.to_plan(id);
        let Some(slot) = self.slot_for_rest(cluster, &job, recovery) else {
            return false;
        };
        let own = self.own_runtime(cluster, &job);
        self.enter(cluster, &job, own, slot);
        true
    }

    /// Where a job goes on: where all of its rest fits, else, if there is a gap that saves more than it costs, in the first that
    /// passes the test for the rest, or unless the rule is another one in the longest.
    fn slot_for_rest(
        &self,
        cluster: &mut Cluster,
        job: &Job,
        recovery: Recovery,
    ) -> Option<Candidate> {
        let from = cluster.now().max(job.release);
        let whole = self.first_full(cluster, job, from);
        if whole.is_some() {
            return whole;
        }
        if recovery != Recovery::Short {
            return None;
        }
        let settings = *cluster.checkpoints_of(job.id)?.settings();
        let gap = self.plan.longest_gap(job, cluster.now(), cluster.up())?;
        if !cluster.is_worth(job.id, gap.end - gap.start) {
            return None;
        }
        let own = self.own_runtime(cluster, job);
        let tested = self
            .acceptable(cluster, job, own.as_ref(), from, false)
            .find(|slot| slot.overbooked);
        if tested.is_some() || settings.resume == ResumeRule::Tested {
            return tested;
        }
        Some(Candidate {
            predecessors: self.plan.predecessors(&gap.nodes, from, gap.start),
            nodes: gap.nodes,
            start: gap.start,
            end: gap.end,
            overbooked: true,
            success: None,
        })
    }

    /// A restarted job runs from now, from scratch or from what it saved: what was expected of it at acceptance is void.
    pub(super) fn begin_anew(&mut self, cluster: &mut Cluster, id: JobId) {
        let Some(own) = self.own_runtime(cluster, cluster.job(id)) else {
            return;
        };
        let Some(end) = self.plan.reservation(id).map(|reservation| reservation.end) else {
            return;
        };
        cluster.work.convolutions += 1;
        let question = Question {
            predecessors: Vec::new(),
            from: cluster.now(),
            start: cluster.now(),
            end,
            steps: own.steps,
        };
        self.completions.ask(id, question);
    }
}
