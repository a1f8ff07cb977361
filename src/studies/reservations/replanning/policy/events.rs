//! The effect of each event on the plan: arrivals, ends, requests and grants.

use bookahead_core::scheduling::Cluster;
use bookahead_core::scheduling::queue::{Backfilling, Waiting};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{JobId, RequestId};

use super::{OpenReservation, Replanning, SubmissionWindow};
use crate::replanning::admission::{Decision, decide};
use crate::replanning::outcome::{RequestVerdict, ReservationOutcome};
use crate::replanning::settings::{DisplacedJobs, Displacement, EarlyEnd};

impl Replanning {
    /// A job was submitted now.
    pub(super) fn submitted(&mut self) {
        let submission = (self.now, self.usage.until(self.now));
        let window = self.window.get_or_insert(SubmissionWindow {
            first: submission.0,
            used_at_first: submission.1,
            last: submission.0,
            used_at_last: submission.1,
        });
        (window.last, window.used_at_last) = submission;
    }

    /// Puts a job into the queue, at its place in the order of planning.
    pub(super) fn enqueue(&mut self, mut waiting: Waiting) {
        waiting.rank = self.settings.order.rank(waiting.estimate);
        let place_in_queue = self.queue.partition_point(|other| *other <= waiting);
        let last = place_in_queue == self.queue.len();
        self.queue.insert(place_in_queue, waiting);
        // The last job of a conservative plan moves no other.
        if last && self.settings.backfilling == Backfilling::Conservative {
            self.unsettled.get_or_insert(place_in_queue);
            if let Some(plan) = &mut self.plan
                && plan.starts.len() == place_in_queue
            {
                let start = plan.free.place(&waiting, self.now);
                plan.starts.push(start);
            }
        } else {
            self.unsettled = Some(0);
            self.plan = None;
        }
    }

    /// A job is over: by itself, at its estimate, or at the start of a reservation before it has
    /// finished.
    pub(super) fn end_job(&mut self, id: JobId) {
        let Some(running) = self.running.remove(&id) else {
            return;
        };
        self.usage.ends(self.now, running.holds.nodes);
        self.unsettled = Some(0);
        if self.now < running.planned_end() {
            self.fixed
                .release(self.now, running.planned_end(), running.holds);
            self.forget_plan();
        }
    }

    /// Starts a reservation at its time, or loses it where nodes are down.
    pub(super) fn start_reservation(&mut self, cluster: &mut Cluster, id: RequestId) {
        let Some(open) = self.reservations.get_mut(&id) else {
            return;
        };
        let wanted = open.outcome.request.nodes;
        match cluster.idle().lowest(wanted) {
            Some(nodes) => {
                open.running = true;
                self.usage.begins(self.now, wanted);
                cluster.occupy(JobId::of_request(id), nodes);
            }
            None => self.lose_reservation(cluster, id),
        }
    }

    pub(super) fn end_reservation(&mut self, cluster: &mut Cluster, id: RequestId) {
        let Some(mut open) = self.reservations.remove(&id) else {
            return;
        };
        let asked = &open.outcome.request;
        let expected = open.start + asked.duration;
        self.usage.ends(self.now, asked.nodes);
        if self.now < expected {
            match self.settings.early_end {
                EarlyEnd::Release => {
                    let held = self.of_reservation(asked.nodes);
                    self.fixed.release(self.now, expected, held);
                    self.forget_plan();
                }
                EarlyEnd::Keep => cluster.wake_at(expected),
            }
        }
        self.unsettled = Some(0);
        open.outcome.end = Some(self.now);
        self.close(open.outcome);
    }

    /// Ends a granted reservation that lost a node, or did not find all of its nodes at its start.
    pub(super) fn lose_reservation(&mut self, cluster: &mut Cluster, id: RequestId) {
        let Some(mut open) = self.reservations.remove(&id) else {
            return;
        };
        let request = &open.outcome.request;
        let (nodes, end) = (request.nodes, open.start + request.duration);
        if open.running {
            self.usage.ends(self.now, nodes);
            self.totals.lost_to_failures += nodes.for_span(self.now - open.start);
            open.outcome.end = Some(self.now);
            cluster.fail(JobId::of_request(id));
        } else {
            open.outcome.start = None;
            cluster.withdraw(JobId::of_request(id));
        }
        let held = self.of_reservation(nodes);
        self.fixed.release(self.now, end, held);
        self.forget_plan();
        self.unsettled = Some(0);
        open.outcome.verdict = RequestVerdict::Lost;
        self.close(open.outcome);
    }

    /// A job that waits, or a reservation, is taken back.
    pub(super) fn take_back(&mut self, cluster: &mut Cluster, job: JobId) {
        match job.request() {
            Some(request) => self.cancel(cluster, request),
            None => self.forget(job),
        }
        cluster.withdraw(job);
        self.plan = None;
        self.unsettled = Some(0);
    }

    /// A job that waits is taken back.
    pub(super) fn forget(&mut self, job: JobId) {
        self.queue.retain(|waiting| waiting.job != job);
        self.preempted.remove(&job);
    }

    /// A reservation is taken back: all of it before it has started, later what is left of it.
    pub(super) fn cancel(&mut self, cluster: &mut Cluster, id: RequestId) {
        let Some(mut open) = self.reservations.remove(&id) else {
            return;
        };
        let asked = &open.outcome.request;
        let end = open.start + asked.duration;
        let held = self.of_reservation(asked.nodes);
        self.fixed.release(open.start.max(self.now), end, held);
        cluster.wake_at(self.now);
        if open.running {
            self.usage.ends(self.now, asked.nodes);
            open.outcome.end = Some(self.now);
        } else {
            open.outcome.verdict = RequestVerdict::Cancelled;
            open.outcome.start = None;
        }
        self.close(open.outcome);
    }

    /// Answers a request whose time has come.
    pub(super) fn answer(&mut self, cluster: &mut Cluster, id: RequestId) {
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
            Some(start) => self.grant(cluster, start, outcome, &stopped),
            None => {
                cluster.withdraw(JobId::of_request(id));
                outcome.price = None;
                self.close(outcome);
            }
        }
    }

    /// Blocks what was granted, and plans the queue around it; running jobs that are in the way end
    /// at its start.
    fn grant(
        &mut self,
        cluster: &mut Cluster,
        start: Seconds,
        mut outcome: ReservationOutcome,
        stopped: &[JobId],
    ) {
        let request = &outcome.request;
        let (id, nodes, end) = (request.id, request.nodes, start + request.duration);
        let preempts = self.settings.admission.preempts();
        let moves = self.settings.admission.moves() || preempts;
        let before = (moves && self.settings.displacement == Displacement::Record)
            .then(|| self.planned().0.to_vec());
        for job in stopped {
            self.cut(cluster, *job, start);
        }
        let taken = self.of_reservation(nodes);
        self.fixed.reserve(start, end, taken);
        match (&mut self.plan, moves) {
            // It was granted beside the plan: no job moves.
            (Some(plan), false) => plan.free.reserve(start, end, taken),
            (None, _) => {}
            // A conservative plan that has room for it stays as it is: every job keeps the earliest
            // place, which is still free.
            (Some(plan), true)
                if self.settings.backfilling == Backfilling::Conservative
                    && plan.free.is_free(start, end, taken) =>
            {
                plan.free.reserve(start, end, taken);
            }
            (Some(_), true) => match self.settings.displaced {
                DisplacedJobs::ReplanAll => self.plan = None,
                // Jobs that the rule does not allow to give way keep their places in the plan,
                // which is made in order.
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
        cluster.grant(JobId::of_request(id), start);
        self.reservations.insert(
            id,
            OpenReservation {
                outcome,
                start,
                running: false,
            },
        );
        self.expect_cancellation(cluster, id);
        self.unsettled = Some(0);
    }
}
