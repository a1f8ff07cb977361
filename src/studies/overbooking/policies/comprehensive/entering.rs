//! New jobs in the plan, and what is expected of their ends.

use std::sync::Arc;

use bookahead_core::estimates::{CompletionDistribution, RuntimeSteps};
use bookahead_core::plan::Reservation;
use bookahead_core::scheduling::Cluster;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

use super::completions::{Expected, Question};
use super::{Candidate, Comprehensive, OwnRuntime};

impl Comprehensive {
    /// Enters a job into the plan, with its second run if it has one.
    pub(super) fn enter(
        &mut self,
        cluster: &mut Cluster,
        job: &Job,
        own: Option<OwnRuntime>,
        slot: Candidate,
    ) {
        let run = |job, nodes| Reservation {
            job,
            nodes,
            start: slot.start,
            end: slot.end,
        };
        let second = slot.second.map(|nodes| (nodes, own.clone()));
        let known = slot.overbooked.then_some(slot.predecessors);
        let first = run(job.id, slot.nodes);
        self.enter_run(cluster, job, own, first, slot.overbooked, known);
        if let Some((nodes, own)) = second
            && let Some(copy) = cluster.add_copy(job.id)
        {
            self.enter_run(cluster, job, own, run(copy, nodes), slot.overbooked, None);
        }
    }

    /// Nothing is counted on that this job leaves of its time: it ends at `end`.
    pub(super) fn expect_at(&mut self, job: JobId, end: Seconds) {
        let certain = CompletionDistribution::certain(end, self.settings.time_step);
        self.completions
            .insert(job, Expected::from(Arc::new(certain)));
    }

    /// Enters one run of a job; `known` are its predecessors where they have been looked for.
    fn enter_run(
        &mut self,
        cluster: &mut Cluster,
        job: &Job,
        own: Option<OwnRuntime>,
        run: Reservation,
        overbooked: bool,
        known: Option<Vec<JobId>>,
    ) {
        let Reservation {
            job: id,
            start,
            end,
            ..
        } = run;
        match own {
            Some(_) if self.learned.longer(job).is_some() => self.expect_at(id, end),
            Some(own) => {
                let from = cluster.now().max(job.release);
                let before =
                    known.unwrap_or_else(|| self.plan.predecessors(&run.nodes, from, start));
                self.remember_completion(cluster, id, own.steps, &before, (from, start, end));
            }
            None => {}
        }
        self.plan.insert(run);
        if overbooked && self.settings.hold_for_overbooked {
            self.plan.hold(id);
        }
        cluster.plan(id, start);
    }

    /// Stores the completion-time distribution of a newly planned run behind these, for its
    /// successors.
    fn remember_completion(
        &mut self,
        cluster: &mut Cluster,
        run: JobId,
        steps: RuntimeSteps,
        predecessors: &[JobId],
        (from, start, end): (Seconds, Seconds, Seconds),
    ) {
        let predecessors = if self.settings.condition_on_elapsed {
            // What is known now would be another thing later.
            let conditioned = self.distributions(cluster, predecessors);
            conditioned.into_iter().map(Expected::from).collect()
        } else {
            self.completions.of(predecessors)
        };
        cluster.work.convolutions += 1;
        let question = Question {
            predecessors,
            from,
            start,
            end,
            steps,
        };
        self.completions.ask(run, question);
    }
}
