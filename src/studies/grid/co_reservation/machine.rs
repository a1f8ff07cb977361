//! The broker of a simulation of several clusters, as a machine whose services are the clusters.

use bookahead_core::kernel::{Machine, Service, Step, Stopwatch};
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{CoRequest, Job};

use super::exchange::{Exchange, Task};
use super::messages::{Command, Report};
use super::{CoOutcome, CoReservationInputs, Site};
use crate::co_reservation::local::{ClusterId, OutageEvent, PartOutcome};

/// The time by which clusters advance at once; it has no influence on results.
pub const WINDOW: Seconds = Seconds(24 * 3_600);

/// Windows in which nothing happens to unfinished jobs before a simulation with failures is given
/// up: about ten years.
pub const MAXIMUM_IDLE_WINDOWS: u32 = 3_660;

/// What comes to several clusters and their broker from outside.
#[derive(Clone, Debug, Default)]
pub struct CoReservationInput {
    /// Jobs in order of submission, by cluster.
    pub jobs: Vec<(usize, Vec<Job>)>,
    /// Requests in order of submission.
    pub requests: Vec<CoRequest>,
    /// What hits which cluster when, in order of time.
    pub outages: Vec<(Seconds, ClusterId, OutageEvent)>,
}

/// The results that became final at the clusters.
#[derive(Clone, Debug, Default)]
pub struct CoReservationOutput {
    /// Outcomes of jobs.
    pub jobs: Vec<JobOutcome>,
    /// Outcomes of parts, by cluster.
    pub parts: Vec<(usize, Vec<PartOutcome>)>,
}

/// What a broker tells a cluster.
#[derive(Clone, Debug)]
pub struct ClusterQuestion {
    /// Jobs that are submitted in the window that begins, with the first question in it.
    pub arrivals: Vec<Job>,
    /// What is to be done then.
    pub order: ClusterOrder,
}

/// What a broker has a cluster do.
#[derive(Clone, Debug)]
pub enum ClusterOrder {
    /// Do this at this instant.
    CarryOut(Seconds, Command),
    /// Process the rest of the window before this time.
    EndWindow(Seconds),
}

/// What a cluster replies.
#[derive(Clone, Debug)]
pub enum ClusterAnswer {
    /// What came of a command.
    Done(Report),
    /// How far it is.
    Ended(ClusterProgress),
}

/// How far a cluster is at the end of a window.
#[derive(Clone, Debug)]
pub struct ClusterProgress {
    /// Outcomes of jobs that became final in it.
    pub jobs: Vec<JobOutcome>,
    /// Outcomes of parts that became final in it.
    pub parts: Vec<PartOutcome>,
    /// Whether something will happen by itself.
    pub has_events: bool,
    /// Whether no job and no part is left, and nothing to be told.
    pub is_idle: bool,
}

impl Service for Site {
    type Question = ClusterQuestion;
    type Answer = ClusterAnswer;

    fn answer(&mut self, question: ClusterQuestion) -> ClusterAnswer {
        if !question.arrivals.is_empty() {
            self.submit(&question.arrivals);
        }
        match question.order {
            ClusterOrder::CarryOut(at, command) => {
                ClusterAnswer::Done(self.carry_out(at, &command))
            }
            ClusterOrder::EndWindow(until) => {
                self.advance(until);
                let is_told = !self.has_untold_losses();
                let service = self.service();
                ClusterAnswer::Ended(ClusterProgress {
                    jobs: service.take_job_outcomes(),
                    parts: service.take_part_outcomes(),
                    has_events: service.next_event().is_some(),
                    is_idle: service.is_idle() && is_told,
                })
            }
        }
    }

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.time_decisions(stopwatch);
    }
}

/// The broker with its network. In each window it hands clusters their jobs, has them carry out the
/// tasks of its [`Exchange`], and then lets all of them process the rest.
pub struct CoReservations {
    exchange: Exchange,
    /// When the last job or request is submitted; `None` where there is none.
    last_submission: Option<Seconds>,
    has_outages: bool,
    /// Jobs of the window that each cluster has not got yet.
    arrivals: Vec<Vec<Job>>,
    /// The tasks under way: when and where.
    tasks: Vec<(Seconds, ClusterId)>,
    /// How far the clusters are that have ended the window; none of them until then.
    ended: Vec<ClusterProgress>,
    output: CoReservationOutput,
    /// Everything before this has happened. Time always goes on from there, because a job may wait
    /// for a repair.
    worked_off: Seconds,
    is_idle: bool,
    idle_windows_left: u32,
}

impl CoReservations {
    /// A broker at whose exchange nothing is under way, for these jobs and requests. Without
    /// outages nothing that waits will be helped by time alone.
    #[must_use]
    pub fn new(mut exchange: Exchange, inputs: &CoReservationInputs, has_outages: bool) -> Self {
        if has_outages {
            exchange.expect_outages();
        }
        let of_jobs = inputs.clusters.iter().filter_map(|it| it.jobs.last());
        let of_requests = inputs.requests.last().map(|request| request.submit);
        Self {
            exchange,
            last_submission: of_jobs.map(|job| job.submit).chain(of_requests).max(),
            has_outages,
            arrivals: vec![Vec::new(); inputs.clusters.len()],
            tasks: Vec::new(),
            ended: Vec::new(),
            output: CoReservationOutput::default(),
            worked_off: Seconds::ZERO,
            is_idle: false,
            idle_windows_left: MAXIMUM_IDLE_WINDOWS,
        }
    }

    /// Whether jobs or requests are left to which nothing will ever happen: without outages as soon
    /// as no cluster has an event, with them after [`MAXIMUM_IDLE_WINDOWS`].
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        !self.is_idle && self.idle_windows_left == 0
    }

    /// The outcomes of the requests, in order.
    #[must_use]
    pub fn finish(self) -> Vec<CoOutcome> {
        self.exchange.finish()
    }

    fn end_window(&mut self, until: Seconds) {
        self.worked_off = until;
        self.exchange.begin_window(until);
        let is_all_submitted = self.last_submission.is_none_or(|last| last < until);
        let is_broker_done = is_all_submitted && self.exchange.is_idle();
        let (mut has_events, mut are_idle) = (false, true);
        for (cluster, progress) in self.ended.drain(..).enumerate() {
            self.output.jobs.extend(progress.jobs);
            self.output.parts.push((cluster, progress.parts));
            has_events |= progress.has_events;
            are_idle &= progress.is_idle;
        }
        self.is_idle = is_broker_done && are_idle;
        let has_waited_in_vain = is_broker_done && !has_events && self.output.jobs.is_empty();
        if !self.is_idle && has_waited_in_vain {
            self.idle_windows_left = if self.has_outages {
                self.idle_windows_left - 1
            } else {
                0
            };
        }
    }

    fn task_question(&mut self, task: Task) -> (usize, ClusterQuestion) {
        self.tasks.push((task.at, task.cluster));
        let order = ClusterOrder::CarryOut(task.at, task.command);
        self.question(usize::from(task.cluster.0), order)
    }

    fn question(&mut self, cluster: usize, order: ClusterOrder) -> (usize, ClusterQuestion) {
        let arrivals = std::mem::take(&mut self.arrivals[cluster]);
        (cluster, ClusterQuestion { arrivals, order })
    }
}

impl Machine for CoReservations {
    type Input = CoReservationInput;
    type Output = CoReservationOutput;
    type Service = Site;

    fn take(&mut self, input: CoReservationInput) {
        for (cluster, jobs) in input.jobs {
            self.arrivals[cluster].extend(jobs);
        }
        self.exchange.submit(input.requests);
        self.exchange.apply_outage(input.outages);
    }

    fn advance(&mut self, until: Seconds) -> Step<Site> {
        if self.ended.is_empty() {
            let tasks = self.exchange.next_tasks(until);
            if !tasks.is_empty() {
                let ask = |task| self.task_question(task);
                return Step::Ask(tasks.into_iter().map(ask).collect());
            }
        }
        let clusters = 0..self.arrivals.len();
        if self.ended.len() < clusters.len() {
            let end = |cluster| self.question(cluster, ClusterOrder::EndWindow(until));
            return Step::Ask(clusters.map(end).collect());
        }
        self.end_window(until);
        Step::Reached(until)
    }

    fn answered(&mut self, answers: Vec<ClusterAnswer>) {
        let mut tasks = std::mem::take(&mut self.tasks).into_iter();
        for answer in answers {
            match answer {
                ClusterAnswer::Done(report) => {
                    if let Some((at, cluster)) = tasks.next() {
                        self.exchange.report(at, cluster, report);
                    }
                }
                ClusterAnswer::Ended(progress) => self.ended.push(progress),
            }
        }
    }

    fn next_event(&self) -> Option<Seconds> {
        Some(self.worked_off)
    }

    fn is_idle(&self) -> bool {
        self.is_idle
    }

    fn is_done(&self) -> bool {
        self.is_stuck()
    }

    fn hand_out(&mut self) -> CoReservationOutput {
        std::mem::take(&mut self.output)
    }

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.exchange.time_decisions(stopwatch);
    }
}
