//! The undisturbed replay: snapshots of machine and predictor at the instants, and the accuracy of
//! predictions.

use std::collections::VecDeque;
use std::sync::Arc;

use rand::RngExt;

use bookahead_core::estimates::{WaitCalibration, WaitPredictor};
use bookahead_core::kernel::{Machine, NoService, Step};
use bookahead_core::random::Stream;
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use super::settings::{VirtualStudyError, VirtualStudySettings};
use super::{CALIBRATED_DEADLINES_HOURS, CALIBRATED_QUANTILES};
use crate::replanning::{JobMarks, Replanning, ReplanningMachine};

pub(super) const DAY: Seconds = Seconds(24 * 3_600);

/// Machine and predictor at the end of the second of an instant. On a machine that gets more work
/// than it can do its queue is as long as the trace: snapshots are for being tried out and let go,
/// not for being collected.
#[derive(Clone)]
pub struct Snapshot {
    pub(super) asked_at: Seconds,
    pub(super) machine: ReplanningMachine,
    pub(super) predictor: WaitPredictor,
    /// The first job that has not been submitted yet.
    pub(super) next_job: usize,
}

/// What the trace does without any request: the machine from its first job on, remembered as it is
/// at each instant.
pub struct VirtualReplay {
    machine: ReplanningMachine,
    /// Jobs that were handed over and are not submitted yet: nothing of the future is in what is
    /// remembered.
    pending: VecDeque<Job>,
    /// Instants to come.
    instants: VecDeque<Seconds>,
    /// How many jobs, counted from the first, have a wait to hold against its prediction.
    judged: usize,
    submitted: usize,
    /// All jobs, by submission: what the predictor is told of those that started.
    jobs: Arc<[Job]>,
    predictor: WaitPredictor,
    /// Submitted jobs that had not started at the last instant, by position.
    unseen: Vec<u32>,
    snapshots: Vec<Snapshot>,
    replayed: Replayed,
}

/// The result of a replay.
#[derive(Clone)]
pub struct Replayed {
    /// When each job that is judged started, by position, and some of the others.
    starts: Vec<Option<Seconds>>,
}

impl Replayed {
    /// The outcomes of the jobs that are submitted before `until`, in the order of `jobs`.
    pub(super) fn outcomes(&self, jobs: &[Job], until: Seconds) -> Vec<JobOutcome> {
        let jobs = jobs[..jobs.partition_point(|job| job.submit < until)].iter();
        jobs.zip(&self.starts)
            .filter_map(|(job, start)| {
                let start = (*start)?;
                let ran = (start, start + job.runtime.min(job.estimate));
                Some(JobOutcome::unpromised(job.clone(), Some(ran)))
            })
            .collect()
    }
}

impl VirtualReplay {
    pub(super) fn new(
        jobs: &Arc<[Job]>,
        nodes: Nodes,
        (settings, marks): (&VirtualStudySettings, &JobMarks),
        instants: &[Seconds],
        until: Seconds,
    ) -> Result<Self, VirtualStudyError> {
        let plan = Replanning::new(nodes, settings.replanning.clone());
        Ok(Self {
            machine: ReplanningMachine::of(nodes, plan.with_marks(marks.clone())),
            pending: VecDeque::new(),
            instants: instants.iter().copied().collect(),
            judged: jobs.partition_point(|job| job.submit < until),
            submitted: 0,
            jobs: Arc::clone(jobs),
            predictor: WaitPredictor::new(settings.predictor)?,
            unseen: Vec::new(),
            snapshots: Vec::new(),
            replayed: Replayed {
                starts: vec![None; jobs.len()],
            },
        })
    }

    /// Processes every event before `until`.
    fn work_off(&mut self, until: Seconds) {
        while let Some(&instant) = self.instants.front().filter(|it| **it < until) {
            self.instants.pop_front();
            self.play(instant + Seconds(1));
            self.machine.wait_until(instant);
            self.learn();
            self.snapshots.push(Snapshot {
                asked_at: instant,
                machine: self.machine.clone(),
                predictor: self.predictor.clone(),
                next_job: self.submitted,
            });
        }
        self.play(until);
    }

    /// Tells the predictor of all jobs that have started since the last time, in the order in which
    /// they did.
    fn learn(&mut self) {
        let (starts, machine) = (&self.replayed.starts, &self.machine);
        let mut started = Vec::new();
        self.unseen.retain(|&position| {
            let start = starts[position as usize]
                .or_else(|| machine.cluster().running_since(JobId(position)));
            started.extend(start.map(|start| (start, position)));
            start.is_none()
        });
        started.sort_unstable();
        for (start, position) in started {
            let job = &self.jobs[position as usize];
            self.predictor
                .observe(job.nodes, job.estimate, start - job.submit);
        }
    }

    fn play(&mut self, until: Seconds) {
        let due = self.pending.partition_point(|job| job.submit < until);
        self.submitted += due;
        self.unseen
            .extend(self.pending.iter().take(due).map(|job| job.id.0));
        self.machine.submit(self.pending.drain(..due));
        self.machine.advance(until);
        for outcome in self.machine.take_outcomes() {
            self.replayed.starts[outcome.job.id.0 as usize] = outcome.start;
        }
    }

    /// What was seen.
    pub(super) fn finish(mut self) -> Replayed {
        let running =
            |position: usize| self.machine.cluster().running_since(JobId(position as u32));
        let judged = self.replayed.starts.iter_mut().take(self.judged);
        for (position, start) in judged.enumerate() {
            *start = start.or_else(|| running(position));
        }
        self.replayed
    }
}

impl Machine for VirtualReplay {
    type Input = Vec<Job>;
    /// Machine and predictor at the instants that have passed.
    type Output = Vec<Snapshot>;
    type Service = NoService;

    fn take(&mut self, input: Vec<Job>) {
        self.pending.extend(input);
    }

    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        self.work_off(until);
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        let events = [
            self.pending.front().map(|job| job.submit),
            self.instants.front().copied(),
            self.machine.next_event(),
        ];
        events.into_iter().flatten().min()
    }

    /// Instants are looked at even where nothing runs.
    fn is_idle(&self) -> bool {
        self.next_event().is_none()
    }

    /// All instants are over, and every job whose wait is held against its prediction has started.
    fn is_done(&self) -> bool {
        let waits = |id: JobId| (id.0 as usize) < self.judged;
        self.instants.is_empty()
            && self.submitted >= self.judged
            && !self.machine.policy().queue().iter().any(|it| waits(it.job))
    }

    fn hand_out(&mut self) -> Vec<Snapshot> {
        std::mem::take(&mut self.snapshots)
    }
}

/// One instant a day from `begin` on, at a second of the day that is drawn.
pub(super) fn instants(begin: Seconds, days: u32, stream: &mut Stream) -> Vec<Seconds> {
    (0..i64::from(days))
        .map(|day| begin + DAY * day + Seconds(stream.random_range(0..DAY.0)))
        .collect()
}

/// How many of the jobs, which are sorted by submission, are submitted up to `time`, inclusive.
pub(super) fn submitted(jobs: &[Job], time: Seconds) -> usize {
    jobs.partition_point(|job| job.submit <= time)
}

pub(super) fn in_order(jobs: &[Job], nodes: Nodes) -> Vec<Job> {
    let fitting = jobs.iter().filter(|job| job.nodes <= nodes);
    let mut jobs: Vec<Job> = fitting.cloned().collect();
    jobs.sort_by_key(|job| (job.submit, job.id));
    // Positions, so that an id is left for the padded job whatever part of a trace this is.
    for (position, job) in (0..).zip(&mut jobs) {
        job.id = JobId(position);
    }
    jobs
}

/// Whether the jobs last until the last wanted start.
///
/// # Errors
/// [`VirtualStudyError::TraceTooShort`].
pub fn check_span(
    jobs: &[Job],
    nodes: Nodes,
    settings: &VirtualStudySettings,
) -> Result<(), VirtualStudyError> {
    window(&in_order(jobs, nodes), settings).map(drop)
}

/// The beginning and the end of the days of the study.
pub(super) fn window(
    jobs: &[Job],
    settings: &VirtualStudySettings,
) -> Result<(Seconds, Seconds), VirtualStudyError> {
    let first = jobs.first().map_or(Seconds::ZERO, |job| job.submit);
    let last = jobs.last().map_or(Seconds::ZERO, |job| job.submit);
    let begin = first + settings.warm_up;
    let end = begin + DAY * i64::from(settings.instants);
    let (spans, needs) = (last - first, end + settings.lead - first);
    if spans < needs {
        return Err(VirtualStudyError::TraceTooShort {
            spans,
            needs,
            warm_up: settings.warm_up,
            instants: settings.instants,
            lead: settings.lead,
        });
    }
    Ok((begin, end))
}

/// The accuracy of a predictor that follows the replay, for the waits of the jobs submitted in the
/// window.
pub(super) fn calibration(
    jobs: &[Job],
    replayed: &Replayed,
    window: (Seconds, Seconds),
    settings: &VirtualStudySettings,
) -> Result<WaitCalibration, VirtualStudyError> {
    let starts = &replayed.starts;
    let mut predictor = WaitPredictor::new(settings.predictor)?;
    let mut calibration = WaitCalibration::default();
    for (_, event, position) in timeline(jobs, starts, window) {
        let job = &jobs[position];
        let Some(start) = starts[position] else {
            continue;
        };
        let wait = start - job.submit;
        match event {
            JobEvent::Submission => {
                judge(&predictor, job, wait, &mut calibration);
            }
            JobEvent::Start => predictor.observe(job.nodes, job.estimate, wait),
        }
    }
    Ok(calibration)
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum JobEvent {
    Submission,
    Start,
}

/// Submissions in the window and starts before its end. In one second submissions come first, as on
/// the machine.
fn timeline(
    jobs: &[Job],
    starts: &[Option<Seconds>],
    (begin, end): (Seconds, Seconds),
) -> Vec<(Seconds, JobEvent, usize)> {
    let mut timeline = Vec::new();
    for (position, (job, start)) in jobs.iter().zip(starts).enumerate() {
        if job.submit >= end {
            break;
        }
        if job.submit >= begin {
            timeline.push((job.submit, JobEvent::Submission, position));
        }
        if let Some(start) = start.filter(|start| *start < end) {
            timeline.push((start, JobEvent::Start, position));
        }
    }
    timeline.sort_unstable();
    timeline
}

fn judge(predictor: &WaitPredictor, job: &Job, wait: Seconds, calibration: &mut WaitCalibration) {
    for hours in CALIBRATED_DEADLINES_HOURS {
        let deadline = Seconds::HOUR * hours;
        let probability = predictor.probability(job.nodes, job.estimate, deadline);
        calibration.predicted(probability, wait <= deadline);
    }
    for q in CALIBRATED_QUANTILES {
        let bound = predictor.quantile_bound(job.nodes, job.estimate, q);
        calibration.bounded(q, bound, wait);
    }
}
