//! The undisturbed replay: snapshots of machine and predictor at the instants, and whether predictions came true.

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

/// What the trace does without any request.
pub(super) struct Background {
    /// The jobs that fit on the machine, by submission; ids are positions.
    pub(super) jobs: Vec<Job>,
    /// One an instant, in order of time.
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) calibration: WaitCalibration,
    /// When the jobs start that are submitted before the end of the last day, by position.
    starts: Vec<Option<Seconds>>,
}

/// Machine and predictor at the end of the second of an instant.
pub(super) struct Snapshot {
    pub(super) asked_at: Seconds,
    pub(super) machine: ReservingMachine,
    pub(super) predictor: WaitPredictor,
    /// The first job that has not been submitted yet.
    pub(super) next_job: usize,
}

impl Background {
    pub(super) fn replay(
        jobs: &[Job],
        nodes: Nodes,
        settings: &VirtualStudySettings,
        stream: &mut Stream,
    ) -> Result<Self, VirtualStudyError> {
        let jobs = in_order(jobs, nodes);
        let window = window(&jobs, settings)?;
        let instants = instants(window.0, settings.instants, stream);
        let (starts, machines) = replay(&jobs, nodes, settings, &instants, window.1);
        let (predictors, calibration) = predict(&jobs, &starts, &instants, window, settings)?;
        let snapshots = instants
            .into_iter()
            .zip(machines)
            .zip(predictors)
            .map(|((asked_at, machine), predictor)| Snapshot {
                asked_at,
                machine,
                predictor,
                next_job: submitted(&jobs, asked_at),
            })
            .collect();
        Ok(Self {
            starts: starts[..jobs.partition_point(|job| job.submit < window.1)].to_vec(),
            jobs,
            snapshots,
            calibration,
        })
    }

    /// What became of the jobs that are submitted before the end of the last day.
    pub(super) fn outcomes(&self) -> Vec<JobOutcome> {
        let jobs = self.jobs.iter().zip(&self.starts);
        jobs.filter_map(|(job, start)| {
            let start = (*start)?;
            let ran = (start, start + job.runtime.min(job.estimate));
            Some(JobOutcome::unpromised(job.clone(), Some(ran)))
        })
        .collect()
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

fn in_order(jobs: &[Job], nodes: Nodes) -> Vec<Job> {
    let fitting = jobs.iter().filter(|job| job.nodes <= nodes);
    let mut jobs: Vec<Job> = fitting.cloned().collect();
    jobs.sort_by_key(|job| (job.submit, job.id));
    // Positions, so that an id is left for the padded job whatever part of a trace this is.
    for (position, job) in (0..).zip(&mut jobs) {
        job.id = JobId(position);
    }
    jobs
}

/// Beginning and end of the days that are asked about.
fn window(
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

/// The starts of all jobs submitted before `until`, by position, and the machine at each instant.
fn replay(
    jobs: &[Job],
    nodes: Nodes,
    settings: &VirtualStudySettings,
    instants: &[Seconds],
    until: Seconds,
) -> (Vec<Option<Seconds>>, Vec<ReservingMachine>) {
    let mut machine = ReservingMachine::new(nodes, settings.reserving.clone());
    let mut starts = vec![None; jobs.len()];
    let mut handed_over = 0;
    let mut play = |machine: &mut ReservingMachine, up_to: Seconds| {
        let next = submitted(jobs, up_to);
        machine.submit(jobs[handed_over..next].iter().cloned());
        handed_over = next;
        machine.advance(up_to + Seconds(1));
        for outcome in machine.take_job_outcomes() {
            starts[outcome.job.id.0 as usize] = outcome.start;
        }
        next == jobs.len()
    };
    let machines = instants
        .iter()
        .map(|&instant| {
            play(&mut machine, instant);
            machine.wait_until(instant);
            machine.clone()
        })
        .collect();
    // Those that still wait when the days are over will have a wait to hold against its prediction, too.
    let mut time = until;
    let judged = jobs.partition_point(|job| job.submit < until);
    let mut all_handed_over = play(&mut machine, time);
    while machine
        .queue()
        .iter()
        .any(|waiting| (waiting.job.0 as usize) < judged)
    {
        time = if all_handed_over {
            let Some(next) = machine.next_event() else {
                break;
            };
            next
        } else {
            time + DAY
        };
        all_handed_over = play(&mut machine, time);
    }
    for (start, job) in starts.iter_mut().zip(&jobs[..judged]) {
        *start = start.or_else(|| machine.started(job.id));
    }
    (starts, machines)
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
