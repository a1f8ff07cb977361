//! The machine: events in their order, and the pass that starts jobs.

use std::convert::Infallible;
use std::sync::Arc;

use super::open_jobs::OpenJobs;
use super::outcome::PredictedOutcome;
use super::planned_ends::PlannedEnds;
use super::waiting::{Room, Waiting, WaitingJobs};
use super::{BackfillOrder, ComparedReservation, PredictedQueueSettings, QueueJob, QueueRules};
use crate::kernel::{Agenda, Listed, Machine, NoService, Scene, Step, drive};
use crate::predictions::{Build, Correction, Corrector, Predictor, predictor};
use crate::units::{Nodes, Seconds};

/// A queue that plans with predictions, and the client of its jobs, which are in order of submission and no wider than the machine.
///
/// # Errors
/// Where there is no predictor of the name.
pub fn predicted_queue_scene(
    jobs: &Arc<[QueueJob]>,
    nodes: Nodes,
    settings: &PredictedQueueSettings,
) -> Result<Scene<PredictedQueueMachine>, UnknownPredictor> {
    Ok(scene_of(jobs, PredictedQueueMachine::new(nodes, settings)?))
}

/// Runs the jobs of a [`predicted_queue_scene`] from an empty machine to the last end; returns one outcome a job.
///
/// # Errors
/// Where there is no predictor of the name.
pub fn simulate_predicted_queue(
    jobs: &Arc<[QueueJob]>,
    nodes: Nodes,
    settings: &PredictedQueueSettings,
) -> Result<Vec<PredictedOutcome>, UnknownPredictor> {
    let scene = predicted_queue_scene(jobs, nodes, settings)?;
    Ok(drive(scene, false).machine.into_outcomes())
}

pub(super) fn scene_of(
    jobs: &Arc<[QueueJob]>,
    machine: PredictedQueueMachine,
) -> Scene<PredictedQueueMachine> {
    let submit = |input: &mut Vec<QueueJob>, jobs: &[QueueJob]| input.extend_from_slice(jobs);
    let time = |job: &QueueJob| job.submission.submit;
    let client = Listed::new(Arc::clone(jobs), time, submit);
    Scene::new("queue", machine).with("client", client)
}

/// There is no such predictor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no predictor {name:?}")]
pub struct UnknownPredictor {
    /// What was asked for.
    pub name: String,
}

/// Start of the first of the queue and the nodes that it leaves, as long as nothing better can be.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    start: Seconds,
    extra: u32,
}

/// What happens to a job, by its place in the order of submission.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// It has outlived its prediction.
    Expiry(u32),
    Submission(u32),
    End(u32),
}

impl QueueRules {
    /// In which order the events of one second come.
    fn class_of(self, event: Event) -> u8 {
        match (self, event) {
            (Self::Gaussier2015, Event::Expiry(_)) | (Self::Tsafrir2007, Event::End(_)) => 0,
            (Self::Gaussier2015, Event::Submission(_)) | (Self::Tsafrir2007, Event::Expiry(_)) => 1,
            (Self::Gaussier2015, Event::End(_)) | (Self::Tsafrir2007, Event::Submission(_)) => 2,
        }
    }
}

/// A machine whose queue plans with predictions.
pub struct PredictedQueueMachine {
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
    /// Submission of the first job of all.
    beginning: Option<Seconds>,
    open: OpenJobs,
    waiting: WaitingJobs,
    ends: PlannedEnds,
    events: Agenda<Event>,
    /// Jobs that were started in this second.
    started: Vec<u32>,
    /// Of the last pass; `None` when something has become better since.
    reservation: Option<Reservation>,
}

impl Machine for PredictedQueueMachine {
    type Input = Vec<QueueJob>;
    type Output = ();
    type Service = NoService;

    fn take(&mut self, jobs: Vec<QueueJob>) {
        for job in jobs {
            let submit = job.submission.submit;
            self.beginning.get_or_insert(submit);
            self.enter(submit, Event::Submission(self.open.next_place()));
            self.open.push(job);
        }
    }

    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        while let Some((time, event)) = self.events.pop_before(until) {
            self.now = time;
            self.handle(event);
            // Only after all events of a second a start is known to predictors.
            if self.events.next_time() != Some(time) {
                self.make_starts_known();
            }
        }
        Step::Reached(until)
    }

    fn answered(&mut self, answer: Infallible) {
        match answer {}
    }

    fn next_event(&self) -> Option<Seconds> {
        self.events.next_time()
    }

    fn is_idle(&self) -> bool {
        self.next_event().is_none() && self.waiting.len() == 0
    }

    fn hand_out(&mut self) {}
}

impl PredictedQueueMachine {
    /// An empty machine.
    ///
    /// # Errors
    /// Where there is no predictor of the name.
    pub fn new(nodes: Nodes, settings: &PredictedQueueSettings) -> Result<Self, UnknownPredictor> {
        let named = predictor(&settings.predictor).ok_or_else(|| UnknownPredictor {
            name: settings.predictor.clone(),
        })?;
        let predictor = match named.build {
            Build::KnowsRunTime => None,
            Build::Sees(build) => Some(build(&settings.told)),
        };
        Ok(Self::with_predictor(nodes, settings, predictor))
    }

    /// As [`PredictedQueueMachine::new`], with a predictor at hand; `None` where the run time itself is known.
    pub(super) fn with_predictor(
        nodes: Nodes,
        settings: &PredictedQueueSettings,
        predictor: Option<Box<dyn Predictor>>,
    ) -> Self {
        Self {
            rules: settings.rules,
            corrector: settings.corrector,
            backfill: settings.backfill,
            compared: settings.reservation,
            predictor,
            now: Seconds::ZERO,
            free: nodes.0,
            overdue: 0,
            beginning: None,
            open: OpenJobs::default(),
            waiting: WaitingJobs::new(settings.order, settings.backfill),
            ends: PlannedEnds::default(),
            events: Agenda::default(),
            started: Vec::new(),
            reservation: None,
        }
    }

    /// What became of the jobs, once all have ended: one outcome each, in order of submission.
    #[must_use]
    pub fn into_outcomes(self) -> Vec<PredictedOutcome> {
        self.open.into_outcomes()
    }

    fn enter(&mut self, time: Seconds, event: Event) {
        let class = self.rules.class_of(event);
        match event {
            Event::Expiry(job) => {
                self.events.push_ranked(time, class, u64::from(job), event);
            }
            Event::Submission(_) => self.events.push_next(time, class, event),
            // In the order of the starts.
            Event::End(_) => self.events.push(time, class, event),
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Expiry(job) => {
                self.expire(job);
                if self.rules == QueueRules::Tsafrir2007 && !self.another_expires() {
                    self.pass();
                }
            }
            Event::Submission(job) => {
                self.count_planned_ends();
                self.submit(job);
            }
            Event::End(job) => {
                self.count_planned_ends();
                self.end(job);
            }
        }
    }

    /// Whether a prediction expires in this second that has not been corrected.
    fn another_expires(&self) -> bool {
        self.events.next_time() == Some(self.now)
            && matches!(self.events.next(), Some(Event::Expiry(_)))
    }

    /// For Gaussier et al. 2015 nodes are free when their job was planned to end.
    fn count_planned_ends(&mut self) {
        if self.rules == QueueRules::Gaussier2015 {
            let ended = self.ends.remove_until(self.now);
            if ended > 0 {
                self.free += ended;
                self.reservation = None;
            }
        }
    }

    /// Corrects the prediction of a job, which expires now.
    fn expire(&mut self, job: u32) {
        self.reservation = None;
        let state = &mut self.open[job];
        let QueueJob {
            submission,
            runtime,
        } = state.job;
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
            return;
        };
        state.predicted_before +=
            i128::from(state.prediction.0) * i128::from((self.now - state.predicted_at).0);
        state.predicted_at = self.now;
        state.prediction = prediction;
        state.steps = steps;
        let until = state.start + prediction;
        self.ends.insert(until, nodes);
        if prediction < runtime {
            self.enter(until, Event::Expiry(job));
        }
    }

    /// Takes in a job that is submitted now, with a pass where somebody may start.
    fn submit(&mut self, place: u32) {
        let state = &mut self.open[place];
        let prediction = match &mut self.predictor {
            Some(predictor) => predictor.predict(&state.job.submission),
            None => state.job.runtime,
        };
        state.first_prediction = prediction;
        state.prediction = prediction;
        state.predicted_at = self.now;
        let waiting = Waiting {
            job: place,
            nodes: state.job.submission.nodes.0,
            predicted: prediction.0,
        };
        // Who starts at once does not wait first.
        if self.starts_at_once(waiting) {
            self.start(waiting);
            return;
        }
        self.waiting.push(waiting, self.since_first());
        let is_settled = self.reservation.is_some() && self.waiting.is_first_come();
        if !is_settled && !self.waits_for_others(waiting) {
            self.pass();
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

    /// Ends a job now, with a pass where somebody may start.
    fn end(&mut self, job: u32) {
        let state = &self.open[job];
        let submission = &state.job.submission;
        let nodes = submission.nodes.0;
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
        self.open.end(job);
        if self.reservation.is_none() {
            self.pass();
        }
    }

    /// Starts the first of the queue while it fits, then whoever does not delay it (spec, section 5, PASS).
    fn pass(&mut self) {
        self.waiting.refresh(self.since_first());
        let head = loop {
            let Some(place) = self.waiting.head() else {
                return;
            };
            let head = self.waiting.at(place);
            if head.nodes > self.free {
                break head;
            }
            let submit = self.open[head.job].job.submission.submit;
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
        let state = &mut self.open[job];
        let compared = self.compared.of(state.reserved, start);
        if compared != state.reserved {
            state.reserved = compared;
            state.reserved_at = Some(self.now);
        }
    }

    /// The time since the first submission of all.
    fn since_first(&self) -> Seconds {
        self.now - self.beginning.unwrap_or(self.now)
    }

    fn start(&mut self, Waiting { job, nodes, .. }: Waiting) {
        let state = &mut self.open[job];
        state.start = self.now;
        let (prediction, runtime) = (state.prediction, state.job.runtime);
        self.free -= nodes;
        let until = self.now + prediction;
        self.ends.insert(until, nodes);
        if prediction < runtime {
            self.enter(until, Event::Expiry(job));
        }
        self.enter(self.now + runtime, Event::End(job));
        self.started.push(job);
    }

    fn make_starts_known(&mut self) {
        for job in self.started.drain(..) {
            if let Some(predictor) = &mut self.predictor {
                predictor.started(&self.open[job].job.submission, self.now);
            }
        }
    }
}
