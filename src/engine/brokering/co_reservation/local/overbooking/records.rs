//! What became of jobs and parts.

use super::{Open, OverbookingMachine};
use crate::brokering::co_reservation::local::{LostPart, PartOrder, PartOutcome, Refusal};
use crate::scheduling::{JobOutcome, Verdict};
use crate::units::Seconds;
use crate::workload::JobId;

impl OverbookingMachine {
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
                }
                Some(Open::Part(_)) => {
                    self.totals.part_work += counted;
                    self.totals.drained = self.totals.drained.max(allocation.end);
                }
                None => {}
            }
        }
        for outcome in self.machine.take_outcomes() {
            match self.open.remove(&outcome.job.id) {
                Some(Open::Job(id)) => self.job_ended(id, outcome),
                Some(Open::Part(order)) => self.part_ended(order, &outcome),
                None => {}
            }
        }
        self.machine.forget_stale_events();
    }

    fn job_ended(&mut self, id: JobId, mut outcome: JobOutcome) {
        outcome.job.id = id;
        self.metrics.count(&outcome);
        let first = self.first_submit.get_or_insert(outcome.job.submit);
        *first = (*first).min(outcome.job.submit);
        if let Some(end) = outcome.end {
            self.last_job_end = self.last_job_end.max(end);
            self.totals.drained = self.totals.drained.max(end);
        }
        self.totals.restarts += u64::from(outcome.restarts);
        if outcome.verdict.is_successful() && outcome.job.estimate > Seconds::ZERO {
            self.accuracy.learn(&outcome.job);
        }
        self.job_outcomes.push(outcome);
    }

    fn part_ended(&mut self, order: PartOrder, outcome: &JobOutcome) {
        self.granted.insert((order.request, order.order), None);
        let lost = !outcome.verdict.is_successful();
        let at = outcome.end.unwrap_or(self.now);
        if lost {
            self.void
                .insert((order.request, order.order), Refusal::Occupied);
            self.totals.lost_parts += 1;
            self.lost.push(LostPart {
                at,
                request: order.request,
                order: order.order,
                running: outcome.verdict == Verdict::FailedNodes,
            });
        }
        self.part_outcomes.push(PartOutcome {
            order,
            gone: lost.then_some(at),
            lost,
        });
    }
}
