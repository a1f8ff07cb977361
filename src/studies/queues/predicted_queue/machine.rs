//! The machine: events in their order, and the pass that starts jobs.

use std::sync::Arc;

use bookahead_core::kernel::{Agenda, Listed, Machine, NoService, Scene, Step, drive};
use bookahead_core::predictions::{Build, Correction, Corrector, Predictor, predictor};
use bookahead_core::scheduling::queue::{
    BackfillOrder, PlannedEnds, ShortestFirst, View, Waiting, backfill, remove_due,
};
use bookahead_core::units::{Megabytes, Nodes, Seconds};
use bookahead_core::workload::JobId;

use super::open_jobs::OpenJobs;
use super::outcome::PredictedOutcome;
use super::running::{Event, Running};
use super::{Head, PredictedQueueSettings, QueueJob, QueueRules, ScoreTimes, ScoredOrder};

/// A queue that plans with predictions, and the client of its jobs, which are in order of
/// submission and no wider than the machine.
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

/// Runs the jobs of a [`predicted_queue_scene`] from an empty machine to the last end; returns one
/// outcome a job.
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
    mut machine: PredictedQueueMachine,
) -> Scene<PredictedQueueMachine> {
    machine.running.open.expect(jobs.len());
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

/// The rank of a job that is first whatever the order says.
const COMMITTED: i64 = i64::MIN;

/// A machine whose queue plans with predictions.
pub struct PredictedQueueMachine {
    corrector: Corrector,
    order: ScoredOrder,
    times: ScoreTimes,
    /// Whether jobs are of several classes, each in order of submission.
    has_classes: bool,
    head: Head,
    /// As [`PredictedQueueSettings::orders_when_choosing`].
    orders_when_choosing: bool,
    backfill: BackfillOrder,
    /// `None` where the run time itself is known.
    predictor: Option<Box<dyn Predictor>>,
    /// Submission of the first job of all.
    beginning: Option<Seconds>,
    /// In order, as of the last pass; estimates are predictions.
    waiting: Vec<Waiting>,
    /// The same jobs, where they are tried in this order.
    shortest: Option<ShortestFirst>,
    /// What the last pass left beside the first of the queue.
    view: View,
    /// The jobs that started in the last pass.
    due: Vec<usize>,
    /// Whether nothing has become better since.
    is_settled: bool,
    running: Running,
}

impl Machine for PredictedQueueMachine {
    type Input = Vec<QueueJob>;
    type Output = ();
    type Service = NoService;

    fn take(&mut self, jobs: Vec<QueueJob>) {
        for job in jobs {
            let submit = job.submission.submit;
            self.beginning.get_or_insert(submit);
            self.running
                .enter(submit, Event::Submission(self.running.open.next_place()));
            self.running.open.push(job);
        }
    }

    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        while let Some((time, event)) = self.running.events.pop_before(until) {
            // Only after all events of a second a start is known to predictors.
            if time != self.running.now {
                self.make_starts_known();
                self.running.now = time;
            }
            self.handle(event);
        }
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        self.running.events.next_time()
    }

    fn is_idle(&self) -> bool {
        self.next_event().is_none() && self.waiting.is_empty()
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

    /// As [`PredictedQueueMachine::new`], with a predictor at hand; `None` where the run time
    /// itself is known.
    pub(super) fn with_predictor(
        nodes: Nodes,
        settings: &PredictedQueueSettings,
        predictor: Option<Box<dyn Predictor>>,
    ) -> Self {
        Self {
            corrector: settings.corrector,
            order: settings.order,
            times: settings.times,
            has_classes: settings.classes.is_some(),
            head: settings.head_rules.head,
            orders_when_choosing: settings.orders_when_choosing(),
            backfill: settings.backfill,
            predictor,
            beginning: None,
            waiting: Vec::new(),
            shortest: (settings.backfill == BackfillOrder::ShortestFirst)
                .then(ShortestFirst::default),
            view: View::default(),
            due: Vec::new(),
            is_settled: false,
            running: Running {
                rules: settings.rules,
                compared: settings.reservation,
                head_rules: settings.head_rules,
                kept: None,
                // For Gaussier et al. nodes are free at the planned end, so it cannot stay.
                keeps_past_ends: settings.corrector == Corrector::Unchanged
                    && settings.rules != QueueRules::Gaussier2015,
                now: Seconds::ZERO,
                free: nodes.0,
                overdue: 0,
                open: OpenJobs::default(),
                ends: PlannedEnds::default(),
                events: Agenda::default(),
                started: Vec::new(),
                has_head: false,
            },
        }
    }

    /// The outcomes of the jobs, once all have ended: one each, in order of submission.
    #[must_use]
    pub fn into_outcomes(self) -> Vec<PredictedOutcome> {
        self.running.open.into_outcomes()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Expiry(job) => {
                self.expire(job);
                if self.running.rules == QueueRules::Tsafrir2007 && !self.another_expires() {
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
        self.running.events.next_time() == Some(self.running.now)
            && matches!(self.running.events.next(), Some(Event::Expiry(_)))
    }

    /// For Gaussier et al. 2015 nodes are free when their job was planned to end.
    fn count_planned_ends(&mut self) {
        if self.running.rules == QueueRules::Gaussier2015 {
            let ended = self.running.ends.remove_until(self.running.now);
            if ended > 0 {
                self.running.free += ended;
                self.is_settled = false;
            }
        }
    }

    /// Corrects the prediction of a job, which expires now.
    fn expire(&mut self, job: u32) {
        self.is_settled = false;
        let state = &mut self.running.open[job];
        let QueueJob {
            submission,
            runtime,
            ..
        } = state.job;
        state.expiries += 1;
        let nodes = submission.nodes.0;
        if self.running.keeps_past_ends {
            return;
        }
        self.running
            .ends
            .remove(state.start + state.prediction, nodes);
        let corrected = self.corrector.correct(&Correction {
            first: state.first_prediction,
            expired: state.prediction,
            request: submission.request,
            expiry: state.expiries,
            steps: state.steps,
        });
        // A job may outlive a request that its corrector does not pass: nothing is corrected then.
        let longer = corrected.filter(|(prediction, _)| *prediction > state.prediction);
        let Some((prediction, steps)) = longer else {
            state.overdue = true;
            self.running.overdue += nodes;
            return;
        };
        state.predicted_before +=
            i128::from(state.prediction.0) * i128::from((self.running.now - state.predicted_at).0);
        state.predicted_at = self.running.now;
        state.prediction = prediction;
        state.steps = steps;
        let until = state.start + prediction;
        self.running.ends.insert(until, nodes);
        if prediction < runtime {
            self.running.enter(until, Event::Expiry(job));
        }
    }

    /// Takes in a job that is submitted now, and holds a pass if a job may start.
    fn submit(&mut self, place: u32) {
        let state = &mut self.running.open[place];
        let prediction = match &mut self.predictor {
            Some(predictor) => predictor.predict(&state.job.submission),
            None => state.job.runtime,
        };
        // A request that the log does not have is planned for one second.
        let prediction = prediction.max(Seconds(1));
        state.first_prediction = prediction;
        state.prediction = prediction;
        state.predicted_at = self.running.now;
        let mut waiting = Waiting {
            rank: 0,
            since: self.running.now,
            job: JobId(place),
            nodes: state.job.submission.nodes,
            estimate: prediction,
            memory: Megabytes(0),
        };
        // A job that starts at once does not wait first.
        if self.starts_at_once(&waiting) {
            self.running.begin(&waiting);
            return;
        }
        // Who comes while a committed first waits stands last until the next one is chosen.
        let is_last = self.orders_when_choosing && self.first_is_committed();
        waiting.rank = match is_last {
            true => 0,
            false => self.rank(&waiting),
        };
        let behind = if is_last || self.is_first_come() {
            self.waiting.len()
        } else {
            self.waiting.partition_point(|other| *other < waiting)
        };
        self.waiting.insert(behind, waiting);
        if let Some(shortest) = &mut self.shortest {
            shortest.push(waiting);
        }
        let is_settled = self.is_settled && self.is_first_come();
        if !is_settled && !self.waits_for_others(&waiting) {
            self.pass();
        }
    }

    /// Whether a new job always comes last of the queue.
    fn is_first_come(&self) -> bool {
        self.order == ScoredOrder::Fcfs && !self.has_classes
    }

    /// Whether a new job starts without a pass: either no job waits and it fits; or nothing has
    /// improved since the last pass, so that only the new job can start, and it takes nothing from
    /// the first of the queue.
    fn starts_at_once(&mut self, newcomer: &Waiting) -> bool {
        if self.waiting.is_empty() {
            return newcomer.nodes.0 <= self.running.free;
        }
        if !self.is_first_come() || !self.is_settled {
            return false;
        }
        self.view.wait_until(self.running.now);
        let fits = self.view.holds(newcomer);
        if fits {
            self.view.take(newcomer);
        }
        fits
    }

    /// Gaussier et al. 2015 run no pass after a submission in order of submission if the new job
    /// does not fit itself, even if another one might by then.
    fn waits_for_others(&self, newcomer: &Waiting) -> bool {
        self.running.rules == QueueRules::Gaussier2015
            && self.is_first_come()
            && self.shortest.is_none()
            && newcomer.nodes.0 > self.running.free
    }

    /// Ends a job now, and holds a pass if a job may start.
    fn end(&mut self, job: u32) {
        let state = &self.running.open[job];
        let submission = &state.job.submission;
        let nodes = submission.nodes.0;
        let planned = state.start + state.prediction;
        if state.overdue {
            self.running.overdue -= nodes;
            self.running.free += nodes;
            self.is_settled = false;
        } else if self.running.rules != QueueRules::Gaussier2015 || planned > self.running.now {
            self.running.ends.remove(planned, nodes);
            self.running.free += nodes;
            self.is_settled = false;
        }
        if let Some(predictor) = &mut self.predictor {
            predictor.ended(submission, state.start, self.running.now);
        }
        self.running.open.end(job);
        if !self.is_settled {
            self.pass();
        }
    }

    /// Starts the first of the queue while it fits, then the jobs that do not delay it.
    fn pass(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        // While a committed first waits, the others stay as they are.
        let first_waits = self.first_is_committed() && self.waiting[0].nodes.0 > self.running.free;
        if self.ranks_change() && !(self.orders_when_choosing && first_waits) {
            self.rank_anew();
        }
        self.running.has_head = false;
        if self.backfill == BackfillOrder::Submission && !first_waits {
            self.start_in_order(false);
            self.put_head_before_submissions();
        }
        self.start_in_order(self.backfill != BackfillOrder::None);
        if self.head == Head::Committed
            && let Some(first) = self.waiting.first_mut()
        {
            first.rank = COMMITTED;
        }
        // Where scores change while jobs wait, the next pass may find another one first.
        self.is_settled = self.running.has_head && !self.depends_on_waiting();
    }

    /// Starts whoever may start of the queue as it stands.
    fn start_in_order(&mut self, backfills: bool) {
        let running = &mut self.running;
        self.view.look(running.now, running.free, (Seconds::FAR, 0));
        let shortest = self.shortest.as_mut();
        let (waiting, view, due) = (&self.waiting, &mut self.view, &mut self.due);
        backfill(waiting, backfills, shortest, view, running, due);
        remove_due(&mut self.waiting, &self.due);
    }

    fn first_is_committed(&self) -> bool {
        let first = self.waiting.first();
        self.head == Head::Committed && first.is_some_and(|first| first.rank == COMMITTED)
    }

    /// Whoever may pass the first of the queue does so in the order of submission. Jobs of one
    /// second stay as the order of the queue left them (Zhang et al. 2020 sort stably).
    fn put_head_before_submissions(&mut self) {
        for waiting in self.waiting.iter_mut().skip(1) {
            waiting.rank = 0;
        }
        if let Some(first) = self.waiting.first_mut() {
            first.rank = COMMITTED;
        }
        self.waiting
            .sort_by_key(|waiting| (waiting.rank, waiting.since));
    }

    /// Whether scores change while jobs wait.
    fn depends_on_waiting(&self) -> bool {
        self.order.depends_on_waiting(self.times)
    }

    /// Whether the ranks of the last pass are not those of this one.
    fn ranks_change(&self) -> bool {
        self.depends_on_waiting() || self.backfill == BackfillOrder::Submission
    }

    fn rank_anew(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        for waiting in &mut waiting {
            if self.head == Head::First || waiting.rank != COMMITTED {
                waiting.rank = self.rank(waiting);
            }
        }
        // Equal scores stay as the order before left them, or are ordered by submission.
        match self.orders_when_choosing {
            true => waiting.sort_by_key(|waiting| waiting.rank),
            false => waiting.sort(),
        }
        self.waiting = waiting;
        if let Some(shortest) = &mut self.shortest {
            *shortest = ShortestFirst::of(&self.waiting);
        }
    }

    fn rank(&self, waiting: &Waiting) -> i64 {
        if self.has_classes {
            return i64::from(self.running.open[waiting.job.0].job.class);
        }
        let beginning = self.beginning.unwrap_or(self.running.now);
        // Who asked for no time at all is scored by what stands in the log.
        let predicted = match waiting.estimate {
            Seconds(1) => self.running.open[waiting.job.0].job.submission.request,
            longer => longer,
        };
        let times = (beginning, self.running.now);
        self.order
            .rank(waiting, predicted.min(waiting.estimate), self.times, times)
    }

    fn make_starts_known(&mut self) {
        for job in self.running.started.drain(..) {
            if let Some(predictor) = &mut self.predictor {
                predictor.started(&self.running.open[job].job.submission, self.running.now);
            }
        }
    }
}
