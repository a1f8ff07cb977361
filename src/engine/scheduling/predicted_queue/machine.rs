//! The machine: events in their order, and the pass that starts jobs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::outcome::PredictedOutcome;
use super::planned_ends::PlannedEnds;
use super::waiting::{Room, Waiting, WaitingJobs};
use super::{BackfillOrder, ComparedReservation, PredictedQueueSettings, QueueJob, QueueRules};
use crate::predictions::{Build, Correction, Corrector, Predictor, predictor};
use crate::units::{Nodes, Seconds};

/// Runs the jobs, which are in order of submission and no wider than the machine, from an empty machine to the last end; returns
/// one outcome a job.
///
/// # Errors
/// Where there is no predictor of the name.
pub fn simulate_predicted_queue(
    jobs: &[QueueJob],
    nodes: Nodes,
    settings: &PredictedQueueSettings,
) -> Result<Vec<PredictedOutcome>, UnknownPredictor> {
    let named = predictor(&settings.predictor).ok_or_else(|| UnknownPredictor {
        name: settings.predictor.clone(),
    })?;
    let predictor = match named.build {
        Build::KnowsRunTime => None,
        Build::Sees(build) => Some(build(&settings.told)),
    };
    Ok(simulate_with(jobs, nodes, settings, predictor))
}

/// As [`simulate_predicted_queue`], with a predictor at hand; `None` where the run time itself is known.
pub(super) fn simulate_with(
    jobs: &[QueueJob],
    nodes: Nodes,
    settings: &PredictedQueueSettings,
    predictor: Option<Box<dyn Predictor>>,
) -> Vec<PredictedOutcome> {
    let mut machine = Machine {
        jobs,
        rules: settings.rules,
        corrector: settings.corrector,
        backfill: settings.backfill,
        compared: settings.reservation,
        predictor,
        now: Seconds::ZERO,
        free: nodes.0,
        overdue: 0,
        waiting: WaitingJobs::new(settings.order, settings.backfill, jobs),
        ends: PlannedEnds::default(),
        states: vec![JobState::default(); jobs.len()],
        expiries: BinaryHeap::new(),
        terminations: BinaryHeap::new(),
        starts: 0,
        started: Vec::new(),
        reservation: None,
    };
    machine.run();
    machine.outcomes()
}

/// There is no such predictor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no predictor {name:?}")]
pub struct UnknownPredictor {
    /// What was asked for.
    pub name: String,
}

/// How far a job is.
#[derive(Clone, Copy, Debug, Default)]
struct JobState {
    start: Seconds,
    first_prediction: Seconds,
    prediction: Seconds,
    expiries: u32,
    steps: u32,
    /// Its prediction has expired and stays.
    overdue: bool,
    /// The start that it was promised as the first of the queue.
    reserved: Option<Seconds>,
    /// When it was promised that.
    reserved_at: Option<Seconds>,
    /// When the prediction was made, and the sum of those before times their spans: for the accuracy of predictions that change.
    predicted_at: Seconds,
    predicted_before: i128,
}

/// Start of the first of the queue and the nodes that it leaves, as long as nothing better can be.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    start: Seconds,
    extra: u32,
}

struct Machine<'j> {
    jobs: &'j [QueueJob],
    rules: QueueRules,
    corrector: Corrector,
    backfill: BackfillOrder,
    compared: ComparedReservation,
    /// `None` where the run time itself is known.
    predictor: Option<Box<dyn Predictor>>,
    now: Seconds,
    /// Nodes that may be used: see [`QueueRules`].
    free: u32,
    /// Nodes of jobs that have outlived their last prediction.
    overdue: u32,
    waiting: WaitingJobs,
    ends: PlannedEnds,
    states: Vec<JobState>,
    expiries: Events,
    terminations: Events,
    /// Jobs that have started; gives events of one second their order.
    starts: u32,
    /// Jobs that were started in this second.
    started: Vec<u32>,
    /// Of the last pass; `None` when something has become better since.
    reservation: Option<Reservation>,
}

impl Machine<'_> {
    fn run(&mut self) {
        let mut arrived = 0;
        loop {
            let arrival = self.jobs.get(arrived).map(|job| job.submission.submit.0);
            let expiry = self.expiries.peek().map(|next| next.0.0);
            let termination = self.terminations.peek().map(|next| next.0.0);
            let Some(next) = [arrival, expiry, termination].into_iter().flatten().min() else {
                break;
            };
            self.now = Seconds(next);
            match self.rules {
                QueueRules::Gaussier2015 => {
                    self.expire();
                    let ended = self.ends.remove_until(self.now);
                    if ended > 0 {
                        self.free += ended;
                        self.reservation = None;
                    }
                    self.submit(&mut arrived);
                    self.terminate();
                }
                QueueRules::Tsafrir2007 => {
                    self.terminate();
                    if self.expire() {
                        self.pass();
                    }
                    self.submit(&mut arrived);
                }
            }
            self.make_starts_known();
        }
    }

    /// Corrects the predictions that expire now; returns whether there were any.
    fn expire(&mut self) -> bool {
        let mut any = false;
        while let Some(job) = pop_due(&mut self.expiries, self.now) {
            any = true;
            self.reservation = None;
            let QueueJob {
                submission,
                runtime,
            } = self.jobs[job as usize];
            let state = &mut self.states[job as usize];
            state.expiries += 1;
            let nodes = submission.nodes.0;
            self.ends.remove(state.start + state.prediction, nodes);
            let corrected = self.corrector.correct(&Correction {
                first: state.first_prediction,
                expired: state.prediction,
                request: submission.request,
                expiry: state.expiries,
                steps: state.steps,
            });
            let Some((prediction, steps)) = corrected else {
                state.overdue = true;
                self.overdue += nodes;
                continue;
            };
            state.predicted_before +=
                i128::from(state.prediction.0) * i128::from((self.now - state.predicted_at).0);
            state.predicted_at = self.now;
            state.prediction = prediction;
            state.steps = steps;
            let until = state.start + prediction;
            self.ends.insert(until, nodes);
            if prediction < runtime {
                self.expiries.push(Reverse((until.0, 0, job)));
            }
        }
        any
    }

    /// Enters all jobs that are submitted now, with a pass after each.
    fn submit(&mut self, arrived: &mut usize) {
        while let Some(job) = self.jobs.get(*arrived) {
            if job.submission.submit > self.now {
                break;
            }
            let prediction = match &mut self.predictor {
                Some(predictor) => predictor.predict(&job.submission),
                None => job.runtime,
            };
            let state = &mut self.states[*arrived];
            state.first_prediction = prediction;
            state.prediction = prediction;
            state.predicted_at = self.now;
            let waiting = Waiting {
                job: *arrived as u32,
                nodes: job.submission.nodes.0,
                predicted: prediction.0,
            };
            *arrived += 1;
            // Who starts at once does not wait first.
            if self.starts_at_once(waiting) {
                self.start(waiting);
                continue;
            }
            self.waiting.push(waiting, self.now);
            let is_settled = self.reservation.is_some() && self.waiting.is_first_come();
            if !is_settled && !self.waits_for_others(waiting) {
                self.pass();
            }
        }
    }

    /// Whether a new job starts without a pass: nobody waits and it fits; or nothing has become better since the last pass, so that only
    /// the new job can start, and it takes nothing from the first of the queue.
    fn starts_at_once(&mut self, newcomer: Waiting) -> bool {
        if newcomer.nodes > self.free {
            return false;
        }
        if self.waiting.len() == 0 {
            return true;
        }
        if !self.waiting.is_first_come() {
            return false;
        }
        let Some(reservation) = &mut self.reservation else {
            return false;
        };
        let ends_in_time = self.now + Seconds(newcomer.predicted) <= reservation.start;
        if !ends_in_time {
            if newcomer.nodes > reservation.extra {
                return false;
            }
            reservation.extra -= newcomer.nodes;
        }
        true
    }

    /// Gaussier et al. 2015 run no pass after a submission in order of submission if the new job does not fit itself, even if
    /// another one might by then.
    fn waits_for_others(&self, newcomer: Waiting) -> bool {
        self.rules == QueueRules::Gaussier2015
            && self.waiting.is_first_come()
            && self.backfill == BackfillOrder::Queue
            && newcomer.nodes > self.free
    }

    /// Ends all jobs that end now, in the order of their starts, with a pass after each.
    fn terminate(&mut self) {
        while let Some(job) = pop_due(&mut self.terminations, self.now) {
            let submission = &self.jobs[job as usize].submission;
            let nodes = submission.nodes.0;
            let state = &self.states[job as usize];
            let planned = state.start + state.prediction;
            if state.overdue {
                self.overdue -= nodes;
                self.free += nodes;
                self.reservation = None;
            } else if self.rules == QueueRules::Tsafrir2007 || planned > self.now {
                self.ends.remove(planned, nodes);
                self.free += nodes;
                self.reservation = None;
            }
            if let Some(predictor) = &mut self.predictor {
                predictor.ended(submission, state.start, self.now);
            }
            if self.reservation.is_none() {
                self.pass();
            }
        }
    }

    /// Starts the first of the queue while it fits, then whoever does not delay it (spec, section 5, PASS).
    fn pass(&mut self) {
        self.waiting.refresh(self.now);
        let head = loop {
            let Some(place) = self.waiting.head() else {
                return;
            };
            let head = self.waiting.at(place);
            if head.nodes > self.free {
                break head;
            }
            let submit = self.jobs[head.job as usize].submission.submit;
            if self.compared == ComparedReservation::EveryFirst && submit < self.now {
                self.reserve(head.job, self.now);
            }
            self.waiting.remove(place);
            self.start(head);
        };
        let free = self.free + self.overdue;
        let (start, mut extra) = if free >= head.nodes {
            // Whoever is planned to end in this very second counts as ended, too, though it is not known yet whether it does.
            let due = self.ends.due(self.now);
            (self.now, free + due - head.nodes)
        } else {
            // A job that is not wider than the machine fits when all have ended.
            let room = self.ends.room_for(head.nodes, free, self.now);
            room.unwrap_or((Seconds::FAR, 0))
        };
        self.reserve(head.job, start);
        let mut from = 0;
        while self.waiting.len() > 1 {
            let room = Room {
                free: self.free,
                span: (start - self.now).0,
                extra,
            };
            let Some(place) = self.waiting.first_within(from, head.job, room) else {
                break;
            };
            let candidate = self.waiting.at(place);
            if candidate.predicted > room.span {
                extra -= candidate.nodes;
            }
            self.waiting.remove(place);
            self.start(candidate);
            from = place;
        }
        // Where scores change while jobs wait, the next pass may find another one first.
        self.reservation =
            (!self.waiting.changes_by_itself()).then_some(Reservation { start, extra });
    }

    fn reserve(&mut self, job: u32, start: Seconds) {
        let state = &mut self.states[job as usize];
        let compared = self.compared.of(state.reserved, start);
        if compared != state.reserved {
            state.reserved = compared;
            state.reserved_at = Some(self.now);
        }
    }

    fn start(&mut self, Waiting { job, nodes, .. }: Waiting) {
        let runtime = self.jobs[job as usize].runtime;
        let state = &mut self.states[job as usize];
        state.start = self.now;
        self.free -= nodes;
        let until = self.now + state.prediction;
        self.ends.insert(until, nodes);
        if state.prediction < runtime {
            self.expiries.push(Reverse((until.0, 0, job)));
        }
        let ends = self.now + runtime;
        self.terminations.push(Reverse((ends.0, self.starts, job)));
        self.starts += 1;
        self.started.push(job);
    }

    /// Only after all events of a second a start is known to predictors.
    fn make_starts_known(&mut self) {
        for job in self.started.drain(..) {
            if let Some(predictor) = &mut self.predictor {
                predictor.started(&self.jobs[job as usize].submission, self.now);
            }
        }
    }

    fn outcomes(&self) -> Vec<PredictedOutcome> {
        let outcome = |(job, state): (&QueueJob, &JobState)| {
            let end = state.start + job.runtime;
            let last = i128::from(state.prediction.0) * i128::from((end - state.predicted_at).0);
            let span = (end - job.submission.submit).0;
            PredictedOutcome {
                start: state.start,
                end,
                prediction: state.first_prediction,
                mean_prediction_seconds: (state.predicted_before + last) as f64 / span as f64,
                expiries: state.expiries,
                reserved: state.reserved,
                reserved_at: state.reserved_at,
            }
        };
        self.jobs.iter().zip(&self.states).map(outcome).collect()
    }
}

/// Events with an order among those of one second.
type Events = BinaryHeap<Reverse<(i64, u32, u32)>>;

/// Takes the next event if it happens by `now`; returns its job.
fn pop_due(events: &mut Events, now: Seconds) -> Option<u32> {
    events.peek().filter(|next| next.0.0 <= now.0)?;
    events.pop().map(|Reverse((_, _, job))| job)
}
