//! The input of the page of advice.

use crate::cli::studies;
use std::io;
use std::path::Path;

use super::experiments::{ADDED, DRAWS, Question};
use super::log::Log;
use super::machine::Machine;
use super::{AdviseArguments, AdviseError, Reservation};
use crate::cli::trace::class_counts;
use crate::estimates::ClassTable;
use crate::workload::Job;
use bookahead_core::workload::NameKind;
use bookahead_operators::advice::{
    AdviceRun, AdviceSource, AdvisedMachine, AskedReservation, Requests,
};
use bookahead_report::{EstimatesReport, grouped};

/// Users with a row of their own.
const TOP_USERS: u32 = 20;

/// Everything that the page is made of.
pub(super) fn source<'a>(
    arguments: &'a AdviseArguments,
    log: &'a Log,
    machine: Option<&Machine>,
    reservation: Reservation,
    mut runs: Vec<(Question, AdviceRun)>,
) -> Result<AdviceSource<'a>, AdviseError> {
    let mut of = |is_wanted: fn(Question) -> bool| {
        let place = runs.iter().position(|(question, _)| is_wanted(*question))?;
        Some(runs.swap_remove(place).1)
    };
    let missing = || AdviseError::Output(io::ErrorKind::NotFound.into());
    let planning = of(|question| question == Question::Planning).ok_or_else(missing)?;
    let queue = of(|question| matches!(question, Question::Queue | Question::Machine));
    let predictions = of(|question| question == Question::Predictions).ok_or_else(missing)?;
    let ties = of(|question| matches!(question, Question::Ties { .. }));
    let priced = of(|question| {
        matches!(
            question,
            Question::Reservation | Question::MachineReservation
        )
    });
    Ok(AdviceSource {
        studies: studies(),
        label: &log.label,
        file: &log.file,
        command: command(arguments),
        store: &arguments.store,
        sampled: sampled(log, machine),
        machine: machine.map(|machine| AdvisedMachine {
            name: machine.description.machine().name.clone(),
            file: machine.files.file.clone(),
        }),
        estimates: estimates(log)?,
        requests: requests(arguments, log)?,
        recorded: &log.recorded,
        planning,
        queue: queue.ok_or_else(missing)?,
        predictions,
        ties,
        reservation: priced.ok_or_else(|| log.replay.as_ref().err().cloned().unwrap_or_default()),
        asked: AskedReservation {
            nodes: reservation.nodes,
            cores: machine.map_or(u64::from(reservation.nodes), |machine| {
                machine.reserved_cores(reservation)
            }),
            hours: reservation.hours,
        },
        penalty_ratio: arguments.ratio,
        clock: log.clock,
    })
}

/// How the users of a log estimate, by width and by user: the tables of
/// `bookahead trace estimates`.
fn estimates(log: &Log) -> Result<EstimatesReport, AdviseError> {
    let table = ClassTable {
        top_users: TOP_USERS,
        ..ClassTable::default()
    };
    let mut attributes = Vec::new();
    for name in ["resources", "user"] {
        let counts = class_counts(&table, &log.jobs, name).transpose();
        let counts = counts.map_err(|source| AdviseError::Estimates {
            file: log.file.clone(),
            source,
        })?;
        if let Some(counts) = counts {
            attributes.push((name.to_owned(), counts));
        }
    }
    Ok(EstimatesReport::new(&log.label, &attributes))
}

/// Who asks for more time than is used, by name where names are given, else by number.
fn requests(arguments: &AdviseArguments, log: &Log) -> Result<Requests, AdviseError> {
    let mut names = log.names.clone();
    if let Some(path) = &arguments.names {
        names.read(path)?;
    }
    let name = |kind: NameKind, number: i64| match names.name(kind, number) {
        Some(name) => name.to_owned(),
        None if kind == NameKind::User => format!("user {number}"),
        None => number.to_string(),
    };
    let partition = |job: &Job| log.partitions.get(&job.trace_number).copied();
    Ok(Requests::of(&log.jobs, partition, name))
}

/// What was looked at of a log.
fn sampled(log: &Log, machine: Option<&Machine>) -> Vec<String> {
    let count = |number: usize| grouped(number as f64, 0);
    let mut sentences = vec![format!(
        "{} usable jobs of {} records on {} {}; bookahead trace info {} says why others are not used. Planners are looked at on the last {} jobs, as fast as they were submitted; what can be \
         learned begins with the jobs before them. {} simulated once, with all jobs.",
        count(log.jobs.len()),
        grouped(log.records as f64, 0),
        grouped(f64::from(log.nodes.0), 0),
        counted(machine),
        log.file,
        count(log.planned_jobs),
        if machine.is_some() {
            "The machine is"
        } else {
            "Queues are"
        },
    )];
    if let Some(machine) = machine {
        sentences.push(format!(
            "Waits, announced starts and the reservation are those of the machine {} in {}; planners know {} {} that are alike.",
            machine.description.machine().name,
            machine.files.file,
            grouped(f64::from(log.nodes.0), 0),
            counted(Some(machine))
        ));
        sentences.extend(machine.description.notes.iter().cloned());
    }
    match (&log.replay, machine) {
        (Ok(replay), None) => sentences.push(format!(
            "The reservation is priced once a day at {} moments, drawn {DRAWS} times, in a replay of the first {} days ({} jobs).",
            replay.instants,
            replay.days,
            count(replay.jobs)
        )),
        (Ok(replay), Some(_)) => sentences.push(format!(
            "The reservation is added {ADDED} times, each time alone, to the first {} days ({} jobs).",
            replay.days,
            count(replay.jobs)
        )),
        (Err(_), _) => {}
    }
    if log.too_wide > 0 {
        sentences.push(format!(
            "{} jobs are wider than the machine and are rejected at once.",
            count(log.too_wide)
        ));
    }
    sentences
}

/// What the log counts, in words.
fn counted(machine: Option<&Machine>) -> String {
    match machine.map(|machine| machine.description.cores_per_processor()) {
        None => "nodes".to_owned(),
        Some(1) => "cores".to_owned(),
        Some(cores) => format!("processors of {cores} cores"),
    }
}

/// The command that makes the page again.
pub(super) fn command(arguments: &AdviseArguments) -> String {
    let mut text = format!("bookahead advise {}", arguments.trace);
    if let Some(nodes) = arguments.nodes {
        text.push_str(&format!(" --nodes {nodes}"));
    }
    for (option, path) in [("machine", &arguments.machine), ("names", &arguments.names)] {
        if let Some(path) = path {
            text.push_str(&format!(" --{option} {}", path.display()));
        }
    }
    if arguments.ratio != 1.0 {
        text.push_str(&format!(" --ratio {}", arguments.ratio));
    }
    if let Some(reservation) = arguments.reservation {
        text.push_str(&format!(
            " --reservation {}x{}",
            reservation.nodes, reservation.hours
        ));
    }
    if let Some(runs) = arguments.ties {
        text.push_str(&format!(" --ties {runs}"));
    }
    if arguments.store != Path::new(crate::cli::STORE) {
        text.push_str(&format!(" --store {}", arguments.store.display()));
    }
    text
}
