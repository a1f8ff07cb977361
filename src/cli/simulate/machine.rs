//! `bookahead simulate TRACE --machine FILE`: the jobs of a trace on a configured machine, with
//! their waits beside the recorded ones.

mod against_log;
mod announced;
mod answer;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use self::answer::{Loss, MachineAnswer};
use super::schedule::refuse_the_trace;
use super::source::Source;
use super::{Estimates, SimulateArguments, SimulateError, answer as streamed};
use crate::workload::swf::{SwfRecord, SwfWriter};
use crate::workload::{CleaningReport, JobStreamError};
use bookahead_queues::machine_queue::machines::{MachineDescription, TraceNames, Unplaced};
use bookahead_queues::machine_queue::{
    MachineQueueJob, MachineQueueOutcome, QueueMachine, simulate_machine_queue,
};

/// What a placed job costs: its record and the job, twice while they are parted, and its outcome
/// with its place in the queue.
const BYTES_A_PLACED_JOB: usize =
    2 * size_of::<(SwfRecord, MachineQueueJob)>() + 2 * size_of::<MachineQueueOutcome>();

/// What was simulated.
struct Simulated {
    machine: Arc<QueueMachine>,
    /// Records and jobs, in order of submission.
    records: Vec<SwfRecord>,
    jobs: Arc<[MachineQueueJob]>,
    outcomes: Vec<MachineQueueOutcome>,
    loss: Loss,
    reading: Duration,
    scheduling: Duration,
}

/// Simulates, and says what came out.
pub(super) fn simulate(
    arguments: &SimulateArguments,
    path: &Path,
) -> Result<MachineAnswer, SimulateError> {
    let description = MachineDescription::load(path, arguments.includes.allowed())?;
    let mut source = Source::of(arguments)?;
    if let Some(schedule) = &arguments.schedule {
        refuse_the_trace(schedule, &source)?;
    }
    let header = source.header();
    description.require_units_of(&header)?;
    let mut names = TraceNames::of_header(&header);
    if let Some(path) = &arguments.names {
        names.read(path)?;
    }
    let machine = description.on_the_clock_of(header.unix_start_time(), &names)?;
    let before = Instant::now();
    let placement = description.placement(&names);
    let memory = arguments.memory.budget();
    let read = |source: &Source| {
        let mut jobs = source.jobs()?;
        let mut placed = Vec::new();
        let mut loss = Loss::default();
        let mut usable = 0;
        while usable < arguments.most()
            && let Some(job) = jobs.next()
        {
            let job = job?;
            usable += 1;
            let Some(record) = jobs.last_record() else {
                continue;
            };
            match placement.job(record, &job) {
                Ok(mut placed_job) => {
                    if arguments.estimates == Estimates::Perfect {
                        placed_job.request = placed_job.runtime;
                    }
                    placed.push((*record, placed_job));
                    memory.check(placed.len() as u64, BYTES_A_PLACED_JOB, "jobs")?;
                }
                Err(Unplaced::NoPartition) => loss.without_partition += 1,
                Err(Unplaced::NoRequest) => loss.without_request += 1,
            }
        }
        let report: &CleaningReport = jobs.report();
        // The stream counts the jobs that it gave when it ends; this one may have been left before.
        loss.records = report.records;
        loss.unusable = report.records - usable as u64;
        Ok::<_, SimulateError>((placed, loss))
    };
    let (placed, loss) = match read(&source) {
        // Only the whole trace can be sorted.
        Err(SimulateError::Stream(JobStreamError::OutOfOrder { .. })) => {
            source.sort()?;
            read(&source)?
        }
        other => other?,
    };
    if placed.is_empty() {
        return Err(SimulateError::NoPlaces {
            trace: source.name(),
            machine: machine.name,
            records: loss.records,
            unusable: loss.unusable,
            without_partition: loss.without_partition,
            without_request: loss.without_request,
        });
    }
    let (records, jobs): (Vec<SwfRecord>, Vec<MachineQueueJob>) = placed.into_iter().unzip();
    let (machine, jobs) = (Arc::new(machine), jobs.into());
    let between = Instant::now();
    let outcomes = simulate_machine_queue(&machine, &jobs);
    let simulated = Simulated {
        machine,
        records,
        jobs,
        outcomes,
        loss,
        reading: between - before,
        scheduling: between.elapsed(),
    };
    if let Some(path) = &arguments.schedule {
        write_schedule(path, &source, arguments, &simulated)?;
    }
    let mut answer = MachineAnswer::of(arguments, &source, &simulated, &names);
    answer.notes.clone_from(&description.notes);
    answer.not_read.clone_from(&description.not_read);
    for (kind, name) in &placement.unknown {
        answer.notes.push(format!(
            "the trace has no {kind} called `{name}`; --names FILE says which number it is"
        ));
    }
    answer.peak_memory_bytes = streamed::peak_memory();
    Ok(answer)
}

/// The records of the jobs that started, with the waits of the schedule.
fn write_schedule(
    path: &Path,
    source: &Source,
    arguments: &SimulateArguments,
    simulated: &Simulated,
) -> Result<(), SimulateError> {
    let mut header = source.header();
    let requests = match arguments.estimates {
        Estimates::User => "users' requests",
        Estimates::Perfect => "requests equal to run times",
    };
    header.note(&format!(
        "a schedule made by bookahead {} of {} on the machine {} with {requests}; wait times are those of the schedule, from submission to \
         start; run times are at most the requests; jobs that were refused or have no place on the machine, and unusable records, are left out",
        env!("CARGO_PKG_VERSION"),
        source.name(),
        simulated.machine.name,
    ));
    let mut writer = SwfWriter::create(path, &header)?;
    let jobs = simulated.records.iter().zip(simulated.jobs.iter());
    for ((record, job), outcome) in jobs.zip(&simulated.outcomes) {
        let MachineQueueOutcome::Ran { start, .. } = outcome else {
            continue;
        };
        writer.write(&SwfRecord {
            wait: (*start - job.submit).0,
            run: job.runtime.0,
            allocated_processors: i64::from(job.cores),
            requested_time: job.request.0,
            ..*record
        })?;
    }
    writer.finish()?;
    Ok(())
}
