//! Clients as closed loops: rejected users ask again, users whose job follows another one wait for
//! its end, and users who have waited too long give up.
//!
//! An open loop submits the jobs of its list, whatever happens to them. In a closed loop a
//! submission may follow from an outcome: a [`ClosedLoop`] is told every [`Decision`] and says what
//! is submitted and taken back next. It reacts a second later at the earliest, so its driver need
//! only process one instant after the other. Nothing is drawn while a simulation runs:
//! [`ClientTies`] fixes beforehand which job follows which, and how long each user waits.

mod settings;
mod ties;

#[cfg(test)]
pub(crate) mod tests;

use std::sync::Arc;

pub use self::settings::{ClientSettings, Dependencies, Lengthening};
pub use self::ties::{ClientTies, Follows};
use bookahead_core::kernel::{Agenda, REACTION, Source};
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{Awaited, ClusterInput, ClusterOutput, JobOutcome, Verdict};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId};

/// The outcome of a submission, as far as its client needs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decision {
    /// The submission.
    job: JobId,
    /// Its verdict; `None` if it was taken back.
    verdict: Option<Verdict>,
    /// When that was final.
    at: Seconds,
}

impl Decision {
    /// The decision that an outcome is. A rejection is final when it is submitted.
    fn of(outcome: &JobOutcome) -> Self {
        Self {
            job: outcome.job.id,
            verdict: Some(outcome.verdict),
            at: outcome.end.unwrap_or(outcome.job.submit),
        }
    }

    /// The decision of a job that was taken back.
    fn cancelled((at, job): (Seconds, JobId)) -> Self {
        Self {
            job,
            verdict: None,
            at,
        }
    }
}

/// The users of a battery of jobs.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    settings: ClientSettings,
    jobs: Arc<[Job]>,
    ties: Arc<ClientTies>,
    /// Submissions to come, by time, then job.
    due: Agenda<Attempt>,
    /// Submissions that will be taken back, by time.
    cancellations: Agenda<JobId>,
    /// By id at the cluster.
    submitted: Vec<Submitted>,
    /// How long after a decision something follows from it, at the earliest. What is due before
    /// that is handed over together.
    soonest: Seconds,
    totals: Totals,
}

/// One submission of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Attempt {
    /// Place in the list of jobs.
    job: u32,
    /// How often it was rejected and failed before.
    rejected: u32,
    failed: u32,
}

#[derive(Clone, Copy, Debug)]
struct Submitted {
    attempt: Attempt,
    decided: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    resubmissions: u64,
    cancellations: u64,
    first_rejected: u64,
    finally_rejected: u64,
    finally_successful: u64,
    /// Jobs that followed another one, and how much later than in the list they were submitted.
    followed: u64,
    shifted: Seconds,
}

impl ClosedLoop {
    /// The users of these jobs (in order of submission, with ids 0, 1, 2, …) before anything was
    /// submitted.
    #[must_use]
    pub fn new(settings: ClientSettings, jobs: Arc<[Job]>, ties: Arc<ClientTies>) -> Self {
        let mut due = Agenda::default();
        for (job, asked) in (0..).zip(jobs.iter()) {
            if ties.followed_by(job).is_none() {
                due.push_ranked(asked.submit, 0, u64::from(job), Attempt::first(job));
            }
        }
        let again = settings.resubmit_rejected > 0 || settings.resubmit_failed > 0;
        let again = again.then_some(settings.resubmit_after);
        let followers = (0..)
            .zip(jobs.iter())
            .flat_map(|(job, _)| ties.followers(job));
        let thought = followers.map(|(_, think_time)| *think_time);
        let soonest = thought.chain(again).min().unwrap_or(Seconds::FAR);
        Self {
            settings,
            jobs,
            ties,
            due,
            cancellations: Agenda::default(),
            submitted: Vec::new(),
            soonest: soonest.max(REACTION),
            totals: Totals::default(),
        }
    }

    /// The job as it is submitted at `time`: its window moves with it.
    fn submission(&mut self, time: Seconds, attempt: Attempt) -> Job {
        let asked = &self.jobs[attempt.job as usize];
        let shift = time - asked.submit;
        let id = JobId(self.submitted.len() as u32);
        self.submitted.push(Submitted {
            attempt,
            decided: false,
        });
        if attempt == Attempt::first(attempt.job) && self.ties.followed_by(attempt.job).is_some() {
            self.totals.followed += 1;
            self.totals.shifted += shift;
        }
        Job {
            id,
            submit: time,
            release: asked.release + shift,
            deadline: asked.deadline + shift,
            ..asked.clone()
        }
    }

    /// Takes note of what was decided, and of what follows from it.
    fn decided(&mut self, decisions: impl IntoIterator<Item = Decision>) {
        for decision in decisions {
            let submitted = &mut self.submitted[decision.job.0 as usize];
            submitted.decided = true;
            let attempt = submitted.attempt;
            match self.again(attempt, decision.verdict) {
                Some(next) => {
                    self.totals.resubmissions += 1;
                    let time = decision.at + self.settings.resubmit_after.max(REACTION);
                    self.due.push_ranked(time, 0, u64::from(next.job), next);
                }
                None => self.over(attempt.job, decision),
            }
            let is_first = attempt == Attempt::first(attempt.job);
            let is_dropped = decision.verdict.is_some_and(Verdict::is_dropped);
            self.totals.first_rejected += u64::from(is_first && is_dropped);
        }
        // Jobs that have ended are not taken back. Their cancellations are dropped, so that they do
        // not look like pending events.
        while let Some(job) = self.cancellations.next()
            && self.submitted[job.0 as usize].decided
        {
            self.cancellations.pop();
        }
    }

    /// The submission that follows a rejection or a failure, where there is one. A job that is
    /// wider than the cluster will never fit.
    fn again(&self, attempt: Attempt, verdict: Option<Verdict>) -> Option<Attempt> {
        match verdict? {
            Verdict::DroppedNoSlot => {
                let rejected = attempt.rejected + 1;
                let is_wanted = rejected <= self.settings.resubmit_rejected;
                is_wanted.then_some(Attempt {
                    rejected,
                    ..attempt
                })
            }
            verdict if verdict.is_failed() => {
                let failed = attempt.failed + 1;
                (failed <= self.settings.resubmit_failed).then_some(Attempt { failed, ..attempt })
            }
            _ => None,
        }
    }

    /// A job is over: its followers may go on.
    fn over(&mut self, job: u32, decision: Decision) {
        let totals = &mut self.totals;
        match decision.verdict {
            None => totals.cancellations += 1,
            Some(verdict) => {
                totals.finally_rejected += u64::from(verdict.is_dropped());
                totals.finally_successful += u64::from(verdict.is_successful());
            }
        }
        for &(follower, think_time) in self.ties.followers(job) {
            let time = decision.at + think_time.max(REACTION);
            let attempt = Attempt::first(follower);
            self.due.push_ranked(time, 0, u64::from(follower), attempt);
        }
    }

    /// What clients did, over the jobs of their list.
    #[must_use]
    pub fn measures(&self) -> Measured {
        let (totals, jobs) = (&self.totals, self.jobs.len() as f64);
        let mut measured = Measured::default();
        measured.add("resubmissions", totals.resubmissions as f64);
        measured.add("cancellations", totals.cancellations as f64);
        for (name, count) in [
            ("first_rejected_percent", totals.first_rejected),
            ("finally_rejected_percent", totals.finally_rejected),
            ("finally_successful_percent", totals.finally_successful),
        ] {
            measured.add_ratio(name, 100.0 * count as f64, jobs);
        }
        let followed = totals.followed as f64;
        measured.add_ratio("followers_percent", 100.0 * followed, jobs);
        measured.add_ratio("followers_shift_hours", totals.shifted.hours(), followed);
        measured
    }
}

impl Source<ClusterInput, ClusterOutput> for ClosedLoop {
    fn next_event(&self) -> Option<Seconds> {
        let times = [self.due.next_time(), self.cancellations.next_time()];
        times.into_iter().flatten().min()
    }

    /// Ids of jobs count submissions, from 0.
    fn hand_over(&mut self, until: Seconds, input: &mut ClusterInput) {
        let delay = Some(self.settings.resubmit_after.max(REACTION));
        let mut awaited = Awaited {
            rejections: delay.filter(|_| self.settings.resubmit_rejected > 0),
            failures: delay.filter(|_| self.settings.resubmit_failed > 0),
            ..Awaited::default()
        };
        // Nothing else can be submitted before that, and who takes back what is not decided in
        // between.
        let mut ahead = until - REACTION + self.soonest;
        if let Some(time) = self.cancellations.next_time() {
            ahead = ahead.min(time);
        }
        while let Some((time, attempt)) = self.due.pop_before(ahead.max(until)) {
            let job = self.submission(time, attempt);
            if let Some(patience) = self.ties.patience(attempt.job)
                && !job.is_reservation()
            {
                self.cancellations.push(time + patience, 0, job.id);
                ahead = ahead.min(time + patience);
            }
            // Its followers go on when it is over.
            let followers = self.ties.followers(attempt.job).iter();
            if let Some(soonest) = followers.map(|(_, think_time)| *think_time).min() {
                awaited.jobs.insert(job.id, soonest.max(REACTION));
            }
            input.arrivals.push(job);
        }
        input.awaited = Some(awaited);
        while let Some(cancellation) = self.cancellations.pop_before(until) {
            input.cancellations.push(cancellation);
        }
    }

    fn reacts(&self) -> bool {
        true
    }

    fn told(&mut self, output: &ClusterOutput) {
        self.decided(output.outcomes.iter().map(Decision::of));
        self.decided(output.cancelled.iter().copied().map(Decision::cancelled));
    }
}

impl Attempt {
    fn first(job: u32) -> Self {
        Self {
            job,
            rejected: 0,
            failed: 0,
        }
    }
}
