//! What each event does to the machine: arrivals, ends, requests, and what is granted.

use super::{Event, Holder, OpenReservation, ReplanningMachine, SubmissionWindow};
use crate::scheduling::outcome::Verdict;
use crate::scheduling::queue::{Backfilling, Waiting, place};
use crate::scheduling::replanning::admission::{Decision, decide};
use crate::scheduling::replanning::outcome::ReservationOutcome;
use crate::scheduling::replanning::settings::{DisplacedJobs, Displacement, EarlyEnd};
use crate::units::Seconds;
use crate::workload::{JobId, RequestId};

impl ReplanningMachine {
    pub(super) fn job_arrives(&mut self, id: JobId) {
        let Some(open) = self.jobs.get(&id) else {
            return;
        };
        let submission = (self.now, self.used);
        let window = self.window.get_or_insert(SubmissionWindow {
            first: submission.0,
            used_at_first: submission.1,
            last: submission.0,
            used_at_last: submission.1,
        });
        (window.last, window.used_at_last) = submission;
        if open.job.nodes > self.nodes {
            self.finish(id, Verdict::DroppedTooWide);
            return;
        }
        self.enqueue(Waiting::from(&open.job));
    }

    /// Puts a job into the queue, at its place in the order of planning.
    pub(super) fn enqueue(&mut self, mut waiting: Waiting) {
        waiting.rank = self.settings.order.rank(waiting.estimate);
        let place_in_queue = self.queue.partition_point(|other| *other <= waiting);
        let last = place_in_queue == self.queue.len();
        self.queue.insert(place_in_queue, waiting);
        self.unsettled = true;
        match (&mut self.plan, self.settings.backfilling) {
            // Whoever comes last in a conservative plan moves nobody.
            (Some(plan), Backfilling::Conservative) if last => {
                let start = place(&mut plan.profile, &waiting, self.now);
                plan.starts.push(start);
            }
            _ => self.plan = None,
        }
    }

    pub(super) fn end_job(&mut self, id: JobId, version: u32) {
        let Some(open) = self.jobs.get(&id).filter(|open| open.version == version) else {
            return;
        };
        let (job, start) = (&open.job, open.start.unwrap_or(self.now));
        if self.now < start + job.runtime.min(job.estimate) {
            self.preempt(id);
            return;
        }
        let (nodes, expected) = (job.nodes, open.planned_end(start));
        let verdict = if job.runtime <= job.estimate {
            Verdict::SuccessfulFinished
        } else {
            Verdict::SuccessfulFullGrant
        };
        self.in_use -= nodes.0;
        self.give_back(Holder::Job(id));
        self.totals.busy += nodes.for_span(self.now - start);
        self.unsettled = true;
        if self.now < expected {
            self.fixed.release(self.now, expected, nodes.0);
            self.forget_plan();
        }
        self.finish(id, verdict);
    }

    /// Starts a reservation at its time, or loses it where nodes are down.
    pub(super) fn start_reservation(&mut self, id: RequestId) {
        let Some(open) = self.reservations.get(&id) else {
            return;
        };
        let nodes = open.outcome.request.nodes;
        if !self.take(Holder::Reservation(id), nodes) {
            self.lose_reservation(id);
            return;
        }
        if let Some(open) = self.reservations.get_mut(&id) {
            open.running = true;
            self.in_use += nodes.0;
            debug_assert!(
                self.in_use <= self.nodes.0,
                "a reservation finds its nodes free"
            );
        }
    }

    pub(super) fn end_reservation(&mut self, id: RequestId) {
        let Some(open) = self.reservations.get_mut(&id) else {
            return;
        };
        let asked = &open.outcome.request;
        let expected = open.start + asked.duration;
        self.in_use -= asked.nodes.0;
        self.totals.busy += asked.nodes.for_span(self.now - open.start);
        if self.now < expected {
            match self.settings.early_end {
                EarlyEnd::Release => {
                    self.fixed.release(self.now, expected, asked.nodes.0);
                    self.forget_plan();
                }
                EarlyEnd::Keep => self.push(expected, Event::WakeUp),
            }
        }
        self.unsettled = true;
        self.give_back(Holder::Reservation(id));
        if let Some(mut open) = self.reservations.remove(&id) {
            open.outcome.end = Some(self.now);
            self.last_end = self.last_end.max(self.now);
            self.close(open.outcome);
        }
    }

    pub(super) fn request_arrives(&mut self, id: RequestId) {
        let Some(open) = self.reservations.remove(&id) else {
            return;
        };
        let request = open.outcome.request;
        let Decision {
            verdict,
            start,
            price,
            offers,
            stopped,
        } = decide(self, &request);
        let mut outcome = ReservationOutcome {
            verdict,
            price,
            offers,
            ..OpenReservation::asked(request).outcome
        };
        match start {
            Some(start) => self.grant(start, outcome, &stopped),
            None => {
                outcome.price = None;
                self.close(outcome);
            }
        }
    }

    /// Blocks what was granted, and plans the queue around it; running jobs that are in the way end at its start.
    pub(super) fn grant(
        &mut self,
        start: Seconds,
        mut outcome: ReservationOutcome,
        stopped: &[JobId],
    ) {
        let request = &outcome.request;
        let (id, nodes, end) = (request.id, request.nodes, start + request.duration);
        let use_ends = start + request.runtime.min(request.duration);
        let preempts = self.settings.admission.preempts();
        let moves = self.settings.admission.moves() || preempts;
        let before = (moves && self.settings.displacement == Displacement::Record)
            .then(|| self.planned().0.to_vec());
        for job in stopped {
            self.cut(*job, start);
        }
        self.fixed.reserve(start, end, nodes.0);
        match (&mut self.plan, moves) {
            // It was granted beside the plan: nobody moves.
            (Some(plan), false) => plan.profile.reserve(start, end, nodes.0),
            (None, _) => {}
            // A conservative plan that has room for it stays as it is: every job keeps the earliest place, which is still free.
            (Some(plan), true)
                if self.settings.backfilling == Backfilling::Conservative
                    && plan.profile.min_free(start, end) >= nodes.0 as i32 =>
            {
                plan.profile.reserve(start, end, nodes.0);
            }
            (Some(_), true) => match self.settings.displaced {
                DisplacedJobs::ReplanAll => self.plan = None,
                // Whom the rule does not let give way keeps the plan's place, which is planned in order.
                DisplacedJobs::OnlyOverlapping if preempts => self.plan = None,
                DisplacedJobs::OnlyOverlapping => self.replan_displaced(start, end, nodes),
            },
        }
        if let Some(before) = before {
            let (after, _) = self.planned();
            let delays = before
                .iter()
                .zip(after)
                .filter(|(before, after)| after > before)
                .map(|(before, after)| *after - *before);
            let (mut jobs, mut sum) = (0_u32, Seconds::ZERO);
            for delay in delays {
                jobs += 1;
                sum += delay;
            }
            outcome.displaced_jobs = Some(jobs);
            outcome.displaced = Some(sum);
        } else if self.settings.displacement == Displacement::Record {
            outcome.displaced_jobs = Some(0);
            outcome.displaced = Some(Seconds::ZERO);
        }
        outcome.start = Some(start);
        self.push(start, Event::ReservationStarts(id));
        self.push(use_ends, Event::ReservationEnds(id));
        self.reservations.insert(
            id,
            OpenReservation {
                outcome,
                start,
                running: false,
            },
        );
        self.unsettled = true;
    }
}
