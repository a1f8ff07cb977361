//! Outcomes of jobs and parts.

use bookahead_core::scheduling::{JobOutcome, Policy, Verdict};
use bookahead_core::units::Seconds;
use bookahead_core::workload::JobId;

use super::{Open, OrderKey, ReservationService, booked};
use crate::co_reservation::local::job_mix::Run;
use crate::co_reservation::local::{LostPart, PartOutcome, Refusal};

impl<P: Policy + ?Sized> ReservationService<P> {
    /// Writes down what the machine brought about.
    pub(super) fn collect(&mut self) {
        for allocation in self.machine.take_allocations() {
            let held = |from: Seconds, to: Seconds| {
                allocation
                    .nodes
                    .count()
                    .for_span((to - from).max(Seconds::ZERO))
            };
            let counted = held(allocation.start, allocation.end.min(self.stop));
            match self.open.get(&allocation.job) {
                Some(Open::Job(_)) => {
                    self.metrics.busy += held(allocation.start, allocation.end);
                    self.totals.job_work += counted;
                    let nodes = allocation.nodes.count();
                    let run = Run::new(nodes, allocation.start, allocation.end);
                    self.job_mix.ended(run, self.settings.job_mix);
                }
                Some(Open::Part(_)) => {
                    self.totals.part_work += counted;
                    self.totals.drained = self.totals.drained.max(allocation.end);
                }
                None => {}
            }
        }
        let mut outcomes = self.machine.take_outcomes();
        // Of an instant ends of jobs come before those of parts, then parts that cannot start, each
        // in their own order; jobs that begin and end in it come last (Q49).
        outcomes.sort_by_cached_key(|outcome| {
            let began = outcome.end.is_some() && outcome.start == outcome.end;
            let kept = outcome.verdict.is_successful();
            let place = match self.open.get(&outcome.job.id) {
                Some(Open::Part(key)) => (if kept { 1 } else { 2 }, key.0.0, key.1),
                Some(Open::Job(id)) if !began => (0, id.0, 0),
                _ => (3, 0, 0),
            };
            (outcome.end.unwrap_or(outcome.job.submit), place)
        });
        for outcome in outcomes {
            match self.open.remove(&outcome.job.id) {
                Some(Open::Job(id)) => self.job_ended(id, outcome),
                Some(Open::Part(key)) => self.part_ended(key, &outcome),
                None => {}
            }
        }
        self.machine.forget_stale_events();
        self.notice_begun();
    }

    fn job_ended(&mut self, id: JobId, mut outcome: JobOutcome) {
        outcome.job.id = id;
        self.booked -= booked(&outcome.job);
        self.metrics.count(&outcome);
        let first = self.first_submit.get_or_insert(outcome.job.submit);
        *first = (*first).min(outcome.job.submit);
        if let Some(end) = outcome.end {
            self.last_job_end = self.last_job_end.max(end);
            self.totals.drained = self.totals.drained.max(end);
        }
        self.totals.restarts += u64::from(outcome.restarts);
        if outcome.verdict.is_successful() {
            self.accuracy.learn(&outcome.job);
        }
        self.job_outcomes.push(outcome);
    }

    fn part_ended(&mut self, key: OrderKey, outcome: &JobOutcome) {
        let Some(part) = self.parts.remove(&key) else {
            return;
        };
        self.waiting.remove(&key);
        let lost = !outcome.verdict.is_successful();
        let at = outcome.end.unwrap_or(self.now());
        let refusal = if lost {
            Refusal::Occupied
        } else {
            Refusal::Past
        };
        self.void.insert(key, refusal);
        if lost {
            self.totals.lost_parts += 1;
            self.lost.push(LostPart {
                at,
                request: key.0,
                order: key.1,
                running: outcome.verdict == Verdict::FailedNodes,
                displaced: false,
            });
        }
        self.part_outcomes.push(PartOutcome {
            order: part.order,
            gone: lost.then_some(at),
            lost,
        });
    }
}
