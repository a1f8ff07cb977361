//! Properties of a log before anything is simulated: whether advice is possible, and how much of it
//! is used.

use std::collections::HashMap;

use super::machine::Machine;
use crate::units::{Nodes, Seconds};
use crate::workload::battery::offered_load;
use crate::workload::{
    CleaningRules, Job, LoadTime, MissingEstimate, SwfError, TraceFolder, clean,
};
use bookahead_queues::machine_queue::machines::{MachineError, TraceNames};

/// Jobs that planners are looked at on, at most: more would only take longer.
const MOST_PLANNED: usize = 20_000;
/// Jobs that planners are looked at on, at least.
const FEWEST_PLANNED: usize = 1_000;
/// As many jobs as are planned come before them, so that there is something to learn from.
pub(super) const FEWEST_JOBS: usize = 2 * FEWEST_PLANNED;
/// Days of a replay at most: half a year after the two weeks that fill the machine.
const MOST_DAYS: i64 = 196;
/// Jobs of a replay at most.
const MOST_REPLAYED: usize = 30_000;
/// What [`reservation.toml`](super::experiments) sets, in days.
const WARM_UP_DAYS: i64 = 14;
/// Weeks that an interval needs.
const FEWEST_WEEKS: i64 = 2;
/// Above this share of the machine a queue grows without end, and the price of a reservation with
/// it.
const LARGEST_LOAD: f64 = 0.95;
/// Below this share of the machine nobody waits, whoever plans.
const LOWEST_LOAD: f64 = 0.05;
/// More jobs than this share are wider than no machine that this log comes from.
const MOST_TOO_WIDE: f64 = 0.01;

const DAY: i64 = 86_400;

/// Why there is no advice on a log.
#[derive(Debug, thiserror::Error)]
pub(super) enum LogError {
    #[error(transparent)]
    Trace(#[from] SwfError),
    #[error(
        "{0}: the header names neither MaxProcs nor MaxNodes; give the size of the machine with --nodes N"
    )]
    NoNodes(String),
    #[error(
        "{file}: {too_wide} of {jobs} jobs are wider than {nodes} nodes; give the size of the machine with --nodes N \
         (the widest job has {widest})"
    )]
    TooWide {
        file: String,
        too_wide: usize,
        jobs: usize,
        nodes: u32,
        widest: u32,
    },
    #[error(
        "{file}: {missing} of {records} records have no requested time (field 9). Without it nothing can be said of estimates, planners, \
         reservations or announced starts, so there is no advice; `bookahead simulate {file} --policy fcfs` needs none"
    )]
    NoEstimates {
        file: String,
        missing: u64,
        records: u64,
    },
    #[error(
        "{file}: {usable} usable jobs; {FEWEST_JOBS} are needed ({FEWEST_PLANNED} to plan, and as many before them to learn from); `bookahead trace info {file}` says what cleaning drops, and a longer log helps"
    )]
    TooShort { file: String, usable: usize },
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error(
        "{file}: its jobs used {used} of {nodes} nodes, so nobody would wait and no number of a page of advice would mean anything; is the \
         machine as large as that? Say its size with --nodes N; where the log counts nodes and the machine file cores, say \
         `cores_per_processor` in the machine file"
    )]
    Idle {
        file: String,
        used: String,
        nodes: u32,
    },
    #[error("--reservation asks for {asked} nodes, but the machine has {nodes}")]
    Reservation { asked: u32, nodes: u32 },
}

/// The days of a log that are replayed for the price of a reservation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Replay {
    pub(super) days: i64,
    pub(super) instants: i64,
    pub(super) jobs: usize,
}

/// A log that can be advised about.
#[derive(Debug)]
pub(super) struct Log {
    /// What it is called.
    pub(super) label: String,
    /// As the user wrote it.
    pub(super) file: String,
    pub(super) nodes: Nodes,
    pub(super) jobs: Vec<Job>,
    pub(super) records: u64,
    pub(super) too_wide: usize,
    /// How many of its last jobs planners are looked at on.
    pub(super) planned_jobs: usize,
    /// The waits that it records, in seconds, by number of the job.
    pub(super) recorded: HashMap<i64, i64>,
    /// What is replayed, or why nothing is.
    pub(super) replay: Result<Replay, String>,
    /// What is added to a time of the log to get seconds since 1970 on the machine's clock, without
    /// summer time; `None` where the header does not say it.
    pub(super) clock: Option<i64>,
    /// The partition of each job that the log says it of, by number of the job.
    pub(super) partitions: HashMap<i64, i64>,
    /// What its header calls the numbers of users and partitions.
    pub(super) names: TraceNames,
}

impl Log {
    /// Reads a log and sees how much of it can be used.
    pub(super) fn read(
        file: &str,
        folder: TraceFolder,
        nodes: Option<u32>,
        machine: Option<&Machine>,
    ) -> Result<Self, LogError> {
        let trace = folder.read(file)?;
        let file = || file.to_owned();
        if let Some(machine) = machine {
            machine.description.require_units_of(&trace.header)?;
        }
        let nodes = (machine.map(Machine::processors).or(nodes))
            .or_else(|| trace.header.machine())
            .filter(|nodes| *nodes > 0)
            .ok_or_else(|| LogError::NoNodes(file()))?;
        let rules = CleaningRules {
            missing_estimate: MissingEstimate::Drop,
            ..CleaningRules::default()
        };
        let cleaned = clean(&trace, &rules, Nodes(nodes));
        let report = &cleaned.report;
        if report.missing_estimate > report.records / 2 {
            return Err(LogError::NoEstimates {
                file: file(),
                missing: report.missing_estimate,
                records: report.records,
            });
        }
        let jobs = cleaned.jobs;
        if jobs.len() < FEWEST_JOBS {
            return Err(LogError::TooShort {
                file: file(),
                usable: jobs.len(),
            });
        }
        let too_wide = report.wider_than_machine as usize;
        if too_wide as f64 > MOST_TOO_WIDE * jobs.len() as f64 {
            return Err(LogError::TooWide {
                file: file(),
                too_wide,
                jobs: jobs.len(),
                nodes,
                widest: jobs.iter().map(|job| job.nodes.0).max().unwrap_or(0),
            });
        }
        let load = offered_load(&jobs, Nodes(nodes), LoadTime::Runtimes).unwrap_or(0.0);
        if load < LOWEST_LOAD {
            return Err(LogError::Idle {
                file: file(),
                used: format!("{:.1} %", 100.0 * load),
                nodes,
            });
        }
        Ok(Self {
            label: trace.label.clone(),
            file: file(),
            nodes: Nodes(nodes),
            records: report.records,
            too_wide,
            planned_jobs: (jobs.len() / 2).min(MOST_PLANNED),
            recorded: (trace.records.iter())
                .filter(|record| record.wait >= 0)
                .map(|record| (record.job_number, record.wait))
                .collect(),
            replay: replay(&jobs, Nodes(nodes)),
            names: TraceNames::of_header(&trace.header),
            partitions: (trace.records.iter())
                .filter(|record| record.partition >= 0)
                .map(|record| (record.job_number, record.partition))
                .collect(),
            clock: trace.header.unix_start_time().map(|start| {
                start
                    + trace
                        .header
                        .get("TimeZone")
                        .and_then(|zone| zone.parse().ok())
                        .unwrap_or(0)
            }),
            jobs,
        })
    }
}

/// How much of a log is replayed, which is in order of submission.
fn replay(jobs: &[Job], machine: Nodes) -> Result<Replay, String> {
    let first = jobs.first().map_or(Seconds::ZERO, |job| job.submit);
    let within = |job: &&Job| (job.submit - first).0 < MOST_DAYS * DAY;
    let count = jobs.iter().take_while(within).take(MOST_REPLAYED).count();
    let replayed = &jobs[..count];
    let span = replayed.last().map_or(0, |job| (job.submit - first).0);
    let days = span / DAY;
    // The last wanted start is a day after the last instant; a day more leaves room for the days'
    // begin.
    let instants = days - WARM_UP_DAYS - 2;
    if instants < 7 * FEWEST_WEEKS {
        return Err(format!(
            "the {} jobs that would be replayed span {days} days; {} are needed",
            replayed.len(),
            WARM_UP_DAYS + 2 + 7 * FEWEST_WEEKS
        ));
    }
    let load = offered_load(replayed, machine, LoadTime::Runtimes).unwrap_or(0.0);
    if load > LARGEST_LOAD {
        return Err(format!(
            "the jobs of these {days} days ask for {:.0} % of {} nodes, so the queue and the prices would grow without end; is --nodes right?",
            100.0 * load,
            machine.0
        ));
    }
    Ok(Replay {
        days,
        instants,
        jobs: replayed.len(),
    })
}
