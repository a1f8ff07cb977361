//! The undisturbed replay: snapshots of machine and predictor at the instants, and whether predictions came true.

use std::collections::VecDeque;

use rand::RngExt;

use super::settings::{VirtualStudyError, VirtualStudySettings};
use super::{CALIBRATED_DEADLINES_HOURS, CALIBRATED_QUANTILES};
use crate::estimates::{WaitCalibration, WaitPredictor};
use crate::random::Stream;
use crate::scheduling::outcome::JobOutcome;
use crate::scheduling::reserving::ReservingMachine;
use crate::units::{Nodes, Seconds};
use crate::workload::{Job, JobId};

pub(super) const DAY: Seconds = Seconds(24 * 3_600);

/// Machine and predictor at the end of the second of an instant.
pub(super) struct Snapshot {
    pub(super) asked_at: Seconds,
    pub(super) machine: ReservingMachine,
    pub(super) predictor: WaitPredictor,
    /// The first job that has not been submitted yet.
    pub(super) next_job: usize,
}

/// What the trace does without any request: the machine from its first job on, remembered as it is at each instant.
pub struct VirtualReplay {
    machine: ReservingMachine,
    /// Jobs that were handed over and are not submitted yet: nothing of the future is in what is remembered.
    pending: VecDeque<Job>,
    /// Instants to come.
    instants: VecDeque<Seconds>,
    /// How many jobs, counted from the first, have a wait to hold against its prediction.
    judged: usize,
    submitted: usize,
    replayed: Replayed,
}

/// The result of a replay.
#[derive(Clone)]
pub struct Replayed {
    /// When each job that is judged started, by position, and some of the others.
    starts: Vec<Option<Seconds>>,
    /// The machine at each instant.
    machines: Vec<ReservingMachine>,
}

impl Replayed {
    /// What became of the jobs that are submitted before `until`, in the order of `jobs`.
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
        jobs: &[Job],
        nodes: Nodes,
        settings: &VirtualStudySettings,
        instants: &[Seconds],
        until: Seconds,
    ) -> Self {
        Self {
            machine: ReservingMachine::new(nodes, settings.reserving.clone()),
            pending: VecDeque::new(),
            instants: instants.iter().copied().collect(),
            judged: jobs.partition_point(|job| job.submit < until),
            submitted: 0,
            replayed: Replayed {
                starts: vec![None; jobs.len()],
                machines: Vec::with_capacity(instants.len()),
            },
        }
    }

    /// Hands over arrivals in the order of submission, none of them in the past.
    pub fn submit(&mut self, jobs: impl IntoIterator<Item = Job>) {
        self.pending.extend(jobs);
    }

    /// Works off every event before `until`.
    pub fn advance(&mut self, until: Seconds) {
        while let Some(&instant) = self.instants.front().filter(|it| **it < until) {
            self.instants.pop_front();
            self.play(instant + Seconds(1));
            self.machine.wait_until(instant);
            self.replayed.machines.push(self.machine.clone());
        }
        self.play(until);
    }

    fn play(&mut self, until: Seconds) {
        let due = self.pending.partition_point(|job| job.submit < until);
        self.submitted += due;
        self.machine.submit(self.pending.drain(..due));
        self.machine.advance(until);
        for outcome in self.machine.take_job_outcomes() {
            self.replayed.starts[outcome.job.id.0 as usize] = outcome.start;
        }
    }

    /// The time of the next event, submission or instant, if there is one.
    #[must_use]
    pub fn next_event(&self) -> Option<Seconds> {
        let events = [
            self.pending.front().map(|job| job.submit),
            self.instants.front().copied(),
            self.machine.next_event(),
        ];
        events.into_iter().flatten().min()
    }

    /// Whether nothing more is asked of the replay: all instants are over, and every job whose wait is held against its prediction has
    /// started.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let waits = |id: JobId| (id.0 as usize) < self.judged;
        self.instants.is_empty()
            && self.submitted >= self.judged
            && !self.machine.queue().iter().any(|it| waits(it.job))
    }

    /// What was seen.
    #[must_use]
    pub fn finish(mut self) -> Replayed {
        let running = |position: usize| self.machine.started(JobId(position as u32));
        let judged = self.replayed.starts.iter_mut().take(self.judged);
        for (position, start) in judged.enumerate() {
            *start = start.or_else(|| running(position));
        }
        self.replayed
    }
}

/// Snapshots at the instants, and how well the predictor knew the waits.
pub(super) fn snapshots(
    jobs: &[Job],
    replayed: Replayed,
    settings: &VirtualStudySettings,
    instants: &[Seconds],
    window: (Seconds, Seconds),
) -> Result<(Vec<Snapshot>, WaitCalibration), VirtualStudyError> {
    let (predictors, calibration) = predict(jobs, &replayed.starts, instants, window, settings)?;
    let snapshots = instants
        .iter()
        .zip(replayed.machines)
        .zip(predictors)
        .map(|((&asked_at, machine), predictor)| Snapshot {
            asked_at,
            machine,
            predictor,
            next_job: submitted(jobs, asked_at),
        })
        .collect();
    Ok((snapshots, calibration))
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

/// Beginning and end of the days that are asked about.
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

/// Lets a predictor live through the replay: the predictor at each instant, and how it did for the jobs submitted in the
/// window.
fn predict(
    jobs: &[Job],
    starts: &[Option<Seconds>],
    instants: &[Seconds],
    window: (Seconds, Seconds),
    settings: &VirtualStudySettings,
) -> Result<(Vec<WaitPredictor>, WaitCalibration), VirtualStudyError> {
    let mut predictor = WaitPredictor::new(settings.predictor)?;
    let mut calibration = WaitCalibration::default();
    let mut predictors = Vec::with_capacity(instants.len());
    let mut instants = instants.iter().peekable();
    for (time, event, position) in timeline(jobs, starts, window) {
        while instants.next_if(|instant| **instant < time).is_some() {
            predictors.push(predictor.clone());
        }
        let job = &jobs[position];
        let Some(start) = starts[position] else {
            continue;
        };
        let wait = start - job.submit;
        match event {
            Happening::Submission => {
                judge(&predictor, job, wait, &mut calibration);
            }
            Happening::Start => predictor.observe(job.nodes, job.estimate, wait),
        }
    }
    predictors.extend(instants.map(|_| predictor.clone()));
    Ok((predictors, calibration))
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Submission,
    Start,
}

/// Submissions in the window and starts before its end. In one second submissions come first, as on the machine.
fn timeline(
    jobs: &[Job],
    starts: &[Option<Seconds>],
    (begin, end): (Seconds, Seconds),
) -> Vec<(Seconds, Happening, usize)> {
    let mut timeline = Vec::new();
    for (position, (job, start)) in jobs.iter().zip(starts).enumerate() {
        if job.submit >= end {
            break;
        }
        if job.submit >= begin {
            timeline.push((job.submit, Happening::Submission, position));
        }
        if let Some(start) = start.filter(|start| *start < end) {
            timeline.push((start, Happening::Start, position));
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
