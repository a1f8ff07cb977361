//! `bookahead simulate TRACE --policy P --nodes N`: one trace under one policy, without a sweep and
//! without a store.
//!
//! Jobs are read, scheduled and forgotten block by block, so memory holds the plan and the jobs in
//! the system, not the trace. Reading and scheduling take turns, and their times are stated
//! separately.

mod answer;
mod error;
mod machine;
mod policy;
mod predicted;
mod schedule;
mod shape;
mod source;
mod stored;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use bookahead_core::memory::MemoryBudget;
use clap::{Args, ValueEnum};
use serde::Serialize;

use self::answer::Answer;
pub use self::error::SimulateError;
use self::policy::{PolicyName, PolicyParser};
use self::predicted::PredictionArguments;
use self::schedule::{Report, ScheduleFile};
use self::shape::Shape;
use self::source::{Jobs, Source};
use self::stored::StoredJobs;
use super::durability::DurabilityArgument;
use super::memory::MemoryArguments;
use super::output;
use crate::predictions::UserIndex;
use crate::scheduling::stream::{
    ConservativeStream, EasyStream, ExactStream, ReservationStream, StreamRequest, StreamScheduler,
    StreamTotals,
};
use crate::units::{Nodes, Seconds};
use crate::workload::{Demand, JobStreamError, LoadTime};
use bookahead_overbooking::registry;
use bookahead_overbooking::stream::RegisteredStream;
use bookahead_queues::predicted_queue::PredictedStream;

/// Arguments of `bookahead simulate`.
#[derive(Args, Debug)]
pub struct SimulateArguments {
    #[command(flatten)]
    memory: MemoryArguments,
    /// The trace (Standard Workload Format, plain, .gz or .xz): a path, or a file in the folder
    /// BOOKAHEAD_TRACES
    #[arg(required_unless_present = "model")]
    trace: Option<String>,
    /// The policy
    #[arg(long, value_parser = PolicyParser, required_unless_present_any = ["machine", "fixed_starts"])]
    policy: Option<PolicyName>,
    /// Every job asks for a fixed start, --lead after its submission, and gets it or nothing; with
    /// the plan of heuristic-planning
    #[arg(long, conflicts_with = "machine")]
    fixed_starts: bool,
    /// Instead of a policy on equal nodes: the machine as it is, with partitions, priorities and
    /// limits: a machine file, or a slurm.conf
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["policy", "predictor", "corrector", "order", "backfill", "nodes", "load", "model", "lead", "store"])]
    machine: Option<PathBuf>,
    #[command(flatten)]
    includes: super::machine::IncludeArguments,
    /// With --machine: which number of the trace is which user, group, queue and partition, as
    /// `trace import --names` writes it
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    #[command(flatten)]
    predictions: PredictionArguments,
    /// Size of the machine [default: the header's MaxProcs]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_NODES)))]
    nodes: Option<u32>,
    /// How long jobs are booked for: what their users asked for, or exactly what they use
    #[arg(long, value_enum, default_value = "user")]
    estimates: Estimates,
    /// Multiply the times between arrivals so that the jobs offer this load (1 = the whole
    /// machine); reads the trace twice
    #[arg(long, value_name = "LOAD", allow_negative_numbers = true)]
    load: Option<f64>,
    /// Which time of a job --load counts
    #[arg(long, value_enum, default_value = "runtimes", requires = "load")]
    load_by: LoadBy,
    /// Only the first usable jobs
    #[arg(long, value_name = "JOBS", value_parser = clap::value_parser!(u64).range(1..))]
    jobs: Option<u64>,
    /// Generate the jobs instead of reading them, at constant memory; needs --jobs and --nodes
    #[arg(long, value_enum, conflicts_with = "trace", requires_all = ["jobs", "nodes"])]
    model: Option<ModelName>,
    /// Seed of the model
    #[arg(long, default_value_t = 1, requires = "model")]
    seed: u64,
    /// With --fixed-starts: how long after its submission each job wants to start, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 3_600)]
    #[arg(value_parser = clap::value_parser!(i64).range(0..=1_000_000_000))]
    lead: i64,
    /// Write the schedule as a trace: the records of the jobs that started, with their wait times
    #[arg(long, value_name = "FILE")]
    schedule: Option<PathBuf>,
    /// Keep the outcome of every job in this store, as a run that `sql`, `show`, `export` and
    /// `report` can read; reads the trace twice
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    #[command(flatten)]
    durability: DurabilityArgument,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Values of `--estimates`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Estimates {
    /// As the trace says
    User,
    /// The run time
    Perfect,
}

/// Values of `--load-by`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum LoadBy {
    /// What it computes, up to its estimate
    Runtimes,
    /// What its user asks for
    Estimates,
}

impl From<LoadBy> for LoadTime {
    fn from(by: LoadBy) -> Self {
        match by {
            LoadBy::Runtimes => Self::Runtimes,
            LoadBy::Estimates => Self::Estimates,
        }
    }
}

/// Values of `--model`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ModelName {
    /// Lublin and Feitelson 2003, with user estimates after Tsafrir 2005
    LublinFeitelson,
}

/// The largest machine.
const MOST_NODES: u32 = 2_000_000_000;

/// The longest trace, thirty million years: sums of times then stay far from overflowing.
const LONGEST_TRACE_SECONDS: f64 = 1e15;

/// What a waiting job costs in the queue and in the plan of a policy that streams.
const BYTES_A_WAITING_JOB: usize = 400;
/// What a job costs under a policy of the registry, which keeps all of them with their outcomes:
/// 1,000 bytes were measured.
const BYTES_A_KEPT_JOB: usize = 1_200;
/// What a user costs whose number and history a prediction keeps.
const BYTES_A_USER: usize = 200;

/// Jobs that are read before they are scheduled.
const BLOCK: usize = 8_192;

/// Runs the simulation and prints what came out.
///
/// # Errors
/// [`SimulateError`]: wrong use or a faulty trace.
pub fn execute(arguments: &SimulateArguments) -> Result<ExitCode, SimulateError> {
    let are_records = output::are_records(arguments.json);
    let text = match &arguments.machine {
        Some(path) => {
            let answer = machine::simulate(arguments, path)?;
            if are_records {
                answer.json()
            } else {
                answer.text()
            }
        }
        None => {
            let mut answer = simulate(arguments)?;
            answer.peak_memory_bytes = answer::peak_memory();
            if are_records {
                answer.json()
            } else {
                answer.text()
            }
        }
    };
    let print = match are_records {
        true => output::print_records,
        false => output::print,
    };
    match print(&text) {
        // A reader such as `head` that has seen enough is no fault.
        Err(fault) if fault.kind() != std::io::ErrorKind::BrokenPipe => Err(fault.into()),
        _ => Ok(ExitCode::SUCCESS),
    }
}

fn simulate(arguments: &SimulateArguments) -> Result<Answer, SimulateError> {
    // The command line's own check gives way to the conflict of --policy and --machine.
    if arguments.names.is_some() {
        return Err(SimulateError::NamesAlone);
    }
    if let Some(found) = arguments
        .load
        .filter(|load| !(load.is_finite() && *load > 0.0))
    {
        return Err(SimulateError::ImpossibleLoad { found });
    }
    let mut source = Source::of(arguments)?;
    match simulate_from(arguments, &source) {
        // Only the whole trace can be sorted.
        Err(SimulateError::Stream(JobStreamError::OutOfOrder { .. })) => {
            source.sort()?;
            simulate_from(arguments, &source)
        }
        other => other,
    }
}

fn simulate_from(arguments: &SimulateArguments, source: &Source) -> Result<Answer, SimulateError> {
    if let Some(policy) = arguments.policy
        && arguments.fixed_starts
        && policy != PolicyName::Planning
    {
        return Err(SimulateError::NoFixedStarts {
            policy: policy.name(),
        });
    }
    let queue = arguments.predictions.queue();
    if queue.is_some() && arguments.policy() != PolicyName::Easy {
        return Err(SimulateError::NoPredictions {
            policy: arguments.policy().name(),
        });
    }
    if let PolicyName::Registered(name) = arguments.policy()
        && registry::strategy(name).is_some_and(|strategy| strategy.overbooks)
    {
        return Err(SimulateError::NoStatistics { policy: name });
    }
    let (machine, factor) = match arguments.load {
        None => (source.machine()?, None),
        Some(load) => {
            let machine = source.machine()?;
            let mut demand = Demand::default();
            for job in source.jobs()?.take(arguments.most()) {
                demand.count(&job?, machine);
            }
            let offered = demand
                .offered_load(machine, arguments.load_by.into())
                .filter(|offered| *offered > 0.0);
            let offered = offered.ok_or_else(|| SimulateError::NoLoad {
                trace: source.name(),
            })?;
            let factor = offered / load;
            let span = demand.last - demand.first.unwrap_or(demand.last);
            let seconds = span.0 as f64 * factor;
            if seconds > LONGEST_TRACE_SECONDS {
                return Err(SimulateError::TooLong {
                    load,
                    trace: source.name(),
                    seconds,
                });
            }
            (machine, Some(factor))
        }
    };
    let lead = match arguments.policy() {
        PolicyName::FixedStarts => Seconds(arguments.lead),
        _ => Seconds::ZERO,
    };
    let shape = Shape {
        machine,
        factor,
        origin: None,
        exact: arguments.estimates == Estimates::Perfect,
        lead: (arguments.policy() == PolicyName::FixedStarts).then_some(lead),
    };
    let stored = match &arguments.store {
        Some(path) => Some(StoredJobs::create(path, source, arguments, &shape)?),
        None => None,
    };
    let mut run = Run {
        memory: arguments.memory.budget(),
        bytes_a_job: match arguments.policy() {
            PolicyName::Registered(_) => BYTES_A_KEPT_JOB,
            _ => BYTES_A_WAITING_JOB,
        },
        machine,
        factor,
        shape,
        most: arguments.most(),
        report: Report {
            totals: StreamTotals {
                lead,
                ..StreamTotals::default()
            },
            file: match &arguments.schedule {
                Some(path) => Some(ScheduleFile::create(path, source, arguments)?),
                None => None,
            },
            stored,
        },
        demand: Demand::default(),
        too_wide: 0,
        users: queue.is_some().then(HashMap::new),
        scheduling: Duration::ZERO,
        on_processor: answer::on_processor().map(|_| Duration::ZERO),
        reading: Duration::ZERO,
    };
    let jobs = source.jobs()?;
    let jobs = match (queue, arguments.policy(), arguments.estimates) {
        (Some(queue), ..) => run.work_off(PredictedStream::new(machine, queue)?, jobs),
        (None, PolicyName::Easy, _) => run.work_off(EasyStream::new(machine), jobs),
        (None, PolicyName::Planning, Estimates::User) => {
            run.work_off(ConservativeStream::new(machine), jobs)
        }
        (None, PolicyName::Planning, Estimates::Perfect) => {
            run.work_off(ExactStream::new(machine), jobs)
        }
        (None, PolicyName::FixedStarts, _) => {
            run.work_off(ReservationStream::new(machine, lead), jobs)
        }
        (None, PolicyName::Registered(name), _) => {
            run.work_off(RegisteredStream::new(machine, name), jobs)
        }
    }?;
    if run.demand.jobs == run.too_wide {
        return Err(SimulateError::NoJobs {
            trace: source.name(),
            records: jobs.report().records,
            nodes: machine.0,
            unusable: jobs.report().dropped_total(),
            too_wide: run.too_wide,
        });
    }
    if let Some(file) = run.report.file.take() {
        file.finish()?;
    }
    if let Some(stored) = run.report.stored.take() {
        stored.finish(machine, run.reading + run.scheduling)?;
    }
    Ok(Answer::of(arguments, source, &run, jobs.report()))
}

impl SimulateArguments {
    /// The policy; nobody asks for it where there is a machine file, and else the command line
    /// requires one.
    fn policy(&self) -> PolicyName {
        if self.fixed_starts {
            return PolicyName::FixedStarts;
        }
        self.policy.unwrap_or(PolicyName::Easy)
    }

    fn most(&self) -> usize {
        self.jobs.map_or(usize::MAX, |jobs| {
            usize::try_from(jobs).unwrap_or(usize::MAX)
        })
    }
}

/// One simulation under way.
struct Run {
    memory: MemoryBudget,
    /// What a job costs from its submission until it is decided.
    bytes_a_job: usize,
    machine: Nodes,
    /// What times between arrivals are multiplied by.
    factor: Option<f64>,
    shape: Shape,
    most: usize,
    report: Report,
    demand: Demand,
    too_wide: u64,
    /// Users in order of appearance, where somebody asks for them.
    users: Option<HashMap<Option<i64>, UserIndex>>,
    scheduling: Duration,
    /// As `scheduling`, without the time in which others had the processor; where the system says
    /// so.
    on_processor: Option<Duration>,
    reading: Duration,
}

impl Run {
    fn work_off(
        &mut self,
        mut engine: impl StreamScheduler,
        mut jobs: Jobs,
    ) -> Result<Jobs, SimulateError> {
        let mut block = Vec::with_capacity(BLOCK);
        let mut more = true;
        while more {
            let before = Instant::now();
            more = self.read(&mut block, &mut jobs)?;
            self.reading += before.elapsed();
            let on_processor = answer::on_processor();
            let between = Instant::now();
            for request in block.drain(..) {
                engine.submit(request, &mut self.report);
            }
            if !more {
                engine.finish(&mut self.report);
            }
            self.scheduling += between.elapsed();
            if let (Some(sum), Some(before)) = (&mut self.on_processor, on_processor) {
                *sum += answer::on_processor().map_or(Duration::ZERO, |now| now - before);
            }
            if let Some(file) = &mut self.report.file {
                file.write_known()?;
            }
            if let Some(stored) = &mut self.report.stored {
                stored.write_known()?;
            }
            self.has_room()?;
        }
        Ok(jobs)
    }

    /// Whether there is room for the jobs that wait, and for what is kept of others until those in
    /// front of them are decided.
    fn has_room(&self) -> Result<(), SimulateError> {
        let totals = &self.report.totals;
        let decided = totals.started + totals.refused;
        let waiting = self.demand.jobs - self.too_wide - decided;
        let kept = (self.report.file.as_ref().map_or(0, ScheduleFile::bytes))
            + (self.report.stored.as_ref().map_or(0, StoredJobs::bytes))
            + (self.users.as_ref().map_or(0, HashMap::len) * BYTES_A_USER) as u64;
        let memory = self.memory.without(kept);
        Ok(memory.check(waiting, self.bytes_a_job, "waiting jobs")?)
    }

    /// Reads the next block; whether there may be more.
    fn read(
        &mut self,
        block: &mut Vec<StreamRequest>,
        jobs: &mut Jobs,
    ) -> Result<bool, SimulateError> {
        while block.len() < BLOCK {
            if self.demand.jobs as usize == self.most {
                return Ok(false);
            }
            let Some(job) = jobs.next() else {
                return Ok(false);
            };
            let job = self.shape.submitted(job?);
            self.demand.count(&job, self.machine);
            if job.nodes > self.machine {
                self.too_wide += 1;
                if let Some(stored) = &mut self.report.stored {
                    stored.too_wide(self.shape.stored(&job));
                }
                continue;
            }
            let (runtime, estimate) = self.shape.times(&job);
            let user = self.users.as_mut().map_or(UserIndex(0), |users| {
                let next = UserIndex(users.len() as u32);
                *users.entry(job.user).or_insert(next)
            });
            block.push(StreamRequest {
                index: self.demand.jobs - 1 - self.too_wide,
                submit: job.submit,
                nodes: job.nodes,
                user,
                estimate,
                runtime,
            });
            if let Some(stored) = &mut self.report.stored {
                stored.submitted(self.shape.stored(&job));
            }
            if let (Some(file), Some(record)) = (&mut self.report.file, jobs.last_record()) {
                file.submitted(record, job.submit);
            }
        }
        Ok(true)
    }
}
