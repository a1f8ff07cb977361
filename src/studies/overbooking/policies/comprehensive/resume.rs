//! Jobs that wait for their nodes, and jobs that save their work and go on elsewhere.

use bookahead_core::plan::NodeSet;
use bookahead_core::scheduling::{Cluster, JobQuote, Recovery, ResumeRule, Retry, SuccessFactors};
use bookahead_core::units::Nodes;
use bookahead_core::workload::{Job, JobId};

use super::completions::Question;
use super::placing::Gap;
use super::{Candidate, Comprehensive};
use crate::policies::disabled::Occasion;

impl Comprehensive {
    /// Starts disabled jobs whose nodes are all there again.
    pub(super) fn retry_disabled(&mut self, cluster: &mut Cluster, occasion: Occasion) {
        for job in self.disabled.due(occasion) {
            if let Some(nodes) = self.disabled.take_startable(cluster, &self.plan, job) {
                self.run(cluster, job, nodes);
                self.begin_anew(cluster, job);
            }
        }
        if occasion == Occasion::Repair || self.settings.recovery.retry == Retry::Events {
            self.retry_displaced(cluster);
        }
    }

    /// A node failed under a job that saves its work.
    pub(super) fn displace(&mut self, cluster: &mut Cluster, job: JobId, nodes: &NodeSet) {
        let recovery = self.settings.recovery.after_crash(self.overbooks);
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
        self.refresh(cluster.now());
        if !self.plan_rest(cluster, job, recovery) {
            self.displaced.wait(cluster, job, recovery);
        }
    }

    /// Looks again for gaps for those that wait for any, in order of job id.
    pub(super) fn retry_displaced(&mut self, cluster: &mut Cluster) {
        let waiting = self.displaced.waiting();
        if !waiting.is_empty() {
            self.refresh(cluster.now());
        }
        for (job, recovery) in waiting {
            if self.plan_rest(cluster, job, recovery) {
                self.displaced.remove(job);
            }
        }
    }

    fn plan_rest(&mut self, cluster: &mut Cluster, id: JobId, recovery: Recovery) -> bool {
        let job = cluster.to_plan(id);
        let Some(slot) = self.slot_for_rest(cluster, &job, recovery) else {
            return false;
        };
        let own = self.own_runtime(cluster, &job);
        self.enter(cluster, &job, own, slot);
        true
    }

    /// Where a job goes on: where all of its rest fits, else, if there is a gap that saves more
    /// than it costs, in the first that passes the test for the rest, or unless the rule is another
    /// one in the longest.
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
            second: None,
        })
    }

    /// A restarted job runs from now, from scratch or from what it saved: what was expected of it
    /// at acceptance is void.
    pub(super) fn begin_anew(&mut self, cluster: &mut Cluster, id: JobId) {
        let Some(own) = self.own_runtime(cluster, cluster.job(id)) else {
            return;
        };
        let Some(end) = self.plan.reservation(id).map(|reservation| reservation.end) else {
            return;
        };
        if self.learned.longer(cluster.job(id)).is_some() {
            self.expect_at(id, end);
            return;
        }
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

    /// The slot of an interrupted job that has one, with the probability that its rest fails in it.
    pub(super) fn promised_rest(&self, cluster: &Cluster, id: JobId) -> Option<JobQuote> {
        let slot = self.plan.reservation(id)?;
        let job = cluster.to_plan(id);
        let (start, end) = (slot.start, slot.end);
        let is_short = end - start < job.estimate;
        let from = cluster.now().max(job.release);
        let executable = match self.own_runtime(cluster, &job) {
            _ if !is_short => 1.0,
            Some(own) => {
                let predecessors = self.plan.predecessors(&slot.nodes, from, start);
                let gap = Gap {
                    nodes: slot.nodes.clone(),
                    from,
                    start,
                    end,
                };
                let done_by = cluster.done_by(id, start, end);
                self.executable(cluster, &job, &own, &predecessors, &gap, done_by)
            }
            None => 0.0,
        };
        let success = SuccessFactors {
            available: self.hardware.available_on(&slot.nodes),
            executable,
            survives: (self.hardware)
                .survives_on(&slot.nodes, &self.exposure(Nodes(0), (start, end))),
        };
        Some(self.learned.quote(start, end, is_short, &success))
    }
}
