//! Jobs with a second run on other nodes, in the window of the first (Birkenheuer 2012, §2.2.4).
//!
//! Each run has a reservation of its own, which starts early like any other. A run that loses its
//! nodes, or cannot have them, is given up while there is the other one; what ends first ends the
//! job.

use bookahead_core::estimates::probability_executable;
use bookahead_core::plan::NodeSet;
use bookahead_core::scheduling::{Cluster, SuccessFactors};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

use super::placing::Candidate;
use super::{Comprehensive, OwnRuntime};
use crate::policies::disabled::Occasion;

impl Comprehensive {
    /// The nodes of a second run in the same window beside `nodes`, and what the probability of
    /// success becomes with it, where the plan has such nodes and it pays. `done_by` is when the
    /// job must have ended. The second run counts from the start of the window on: that its
    /// predecessors may end early is not counted on.
    pub(super) fn second_run(
        &self,
        cluster: &Cluster,
        job: &Job,
        own: Option<&OwnRuntime>,
        (nodes, start, end): (&NodeSet, Seconds, Seconds),
        done_by: Seconds,
        first: &SuccessFactors,
    ) -> Option<(NodeSet, SuccessFactors)> {
        let rule = self.settings.double_execution?;
        let usable = Some((cluster.now(), cluster.up()));
        let mut others = self.plan.free_throughout(start, end, usable);
        others.subtract(nodes);
        let others = others.lowest(job.nodes)?;
        // Both runs need the same time, and the first begins no later.
        let executable = match own.filter(|_| end - start < job.estimate) {
            Some(own) => probability_executable(&[], &own.steps, start, start, done_by),
            None => first.executable,
        };
        let executable = executable.min(first.executable);
        let second = self.window_on(&others, (start, end), executable);
        let both = first.beside(&second);
        let share = (end - start).0 as f64 / job.estimate.0 as f64;
        rule.pays(first.pos(), both.pos(), share)
            .then_some((others, both))
    }

    /// The most that the probability of success can be, where one run has this one and the time is
    /// enough with at most the probability `executable`: a second run may be as good as sure of its
    /// nodes.
    pub(super) fn surest(&self, single: f64, executable: f64, share: f64) -> f64 {
        let rule = self.settings.double_execution;
        if rule.is_some_and(|rule| rule.pays(single, executable, share)) {
            executable
        } else {
            single
        }
    }

    /// A slot of full length, with a second run beside it where that pays.
    pub(super) fn with_second_run(
        &self,
        cluster: &Cluster,
        job: &Job,
        slot: Candidate,
    ) -> Candidate {
        if self.settings.double_execution.is_none() {
            return slot;
        }
        let window = (&slot.nodes, slot.start, slot.end);
        let single = self.window_on(&slot.nodes, (slot.start, slot.end), 1.0);
        match self.second_run(cluster, job, None, window, slot.end, &single) {
            Some((nodes, both)) => Candidate {
                success: Some(both),
                second: Some(nodes),
                ..slot
            },
            None => slot,
        }
    }

    /// Gives up a run that has lost its nodes or cannot have them, where the job has another one;
    /// says whether it has.
    pub(super) fn goes_on_elsewhere(&mut self, cluster: &mut Cluster, run: JobId) -> bool {
        let freed = if let Some(job) = run.original() {
            cluster.drop_copy(job);
            self.forget(run)
        } else if cluster.has_copy(run) {
            let freed = self.forget(run);
            self.take_place_of_copy(cluster, run);
            freed
        } else {
            // It may have lost its nodes in this instant, too.
            self.drop_copy(cluster, run);
            return false;
        };
        self.retry_disabled(cluster, Occasion::NodesFreed);
        if let Some(nodes) = freed {
            self.start_early(cluster, &nodes);
        }
        true
    }

    /// A job has ended in this run: takes its other one off the cluster, and out of a plan whose
    /// reservations end with their jobs. Returns its nodes if they are free now.
    pub(super) fn end_other_run(&mut self, cluster: &mut Cluster, run: JobId) -> Option<NodeSet> {
        self.settings.double_execution?;
        let job = run.original().unwrap_or(run);
        cluster.drop_copy(job);
        let other = if run == job { job.copy()? } else { job };
        self.releases_early.then(|| self.forget(other)).flatten()
    }

    /// Takes the copy of a job out of the plan and off the cluster, if there is one; returns the
    /// nodes that it had.
    pub(super) fn drop_copy(&mut self, cluster: &mut Cluster, job: JobId) -> Option<NodeSet> {
        self.settings.double_execution?;
        cluster.drop_copy(job);
        self.forget(job.copy()?)
    }

    /// Takes the reservation of a run out of the plan; returns the nodes that it had.
    fn forget(&mut self, run: JobId) -> Option<NodeSet> {
        self.completions.remove(run);
        self.plan.remove(run).map(|reservation| reservation.nodes)
    }

    /// The job, which has lost its own run, goes on as its copy.
    fn take_place_of_copy(&mut self, cluster: &mut Cluster, job: JobId) {
        let Some(copy) = job.copy() else { return };
        self.completions.rename(copy, job);
        if let Some(window) = self.plan.hand_over(copy, job) {
            cluster.go_on_as_copy(job, window);
        }
    }
}
