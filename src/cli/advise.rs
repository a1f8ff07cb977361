//! `bookahead advise TRACE`: from a log to one page of advice.
//!
//! The experiments are files like any other, made from templates; they are run into the store as
//! `bookahead run` does, and the page is made from the store.

mod experiments;
mod log;
mod machine;
mod source;

use std::io::{self, Write as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use clap::Args;

use self::experiments::Question;
use self::log::{Log, LogError};
use self::machine::{Machine, machine};
use self::source::source;
use super::durability::DurabilityArgument;
use super::memory::MemoryArguments;
use super::run::complain;
use crate::cli::studies;
use crate::estimates::EstimateError;
use crate::output::write_file;
use crate::store::{RunSelector, Store, StoreError, dry_run, run_sweep};
use crate::sweep::{
    Experiment, ExperimentError, OutcomeDetail, RunState, SweepError, SweepOptions,
};
use crate::workload::TraceFolder;
use bookahead_operators::advice::{self, AdviceRun};
use bookahead_queues::machine_queue::machines::MachineError;
use bookahead_report::ReportError;

/// Nodes for some hours.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reservation {
    nodes: u32,
    hours: f64,
}

impl FromStr for Reservation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = || {
            "write NODESxHOURS, for example 32x4: at least one node, and more than 0 and up to 168 hours"
                .to_owned()
        };
        let (nodes, hours) = text.split_once(['x', 'X', '×']).ok_or_else(refused)?;
        let nodes: u32 = nodes.trim().parse().map_err(|_| refused())?;
        let hours: f64 = hours.trim().parse().map_err(|_| refused())?;
        if nodes == 0 || hours.is_nan() || hours <= 0.0 || hours > 168.0 {
            return Err(refused());
        }
        Ok(Self { nodes, hours })
    }
}

/// A penalty ratio.
fn ratio(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|ratio: &f64| ratio.is_finite() && *ratio >= 0.0)
        .ok_or_else(|| "allowed is a number from 0 on".to_owned())
}

/// Runs a few experiments on a log and writes one page: how good estimates are, what a planner that
/// promises would reject, delay and earn and at which threshold, what a reservation costs others,
/// how reliable announced starts are, and what better estimates are worth.
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
What was run is in the store, and is not run again by the same command, also after it was interrupted. --dry-run says how long it takes.

Exit codes: 0 done; 1 some points failed; 2 wrong use or a log that nothing can be said about; 130 interrupted, the same command
goes on.

Examples:
  bookahead advise KTH-SP2-1996-2.1-cln.swf
  bookahead advise my.swf --nodes 512 --reservation 128x8 --ratio 2
  bookahead advise my.swf --machine slurm.conf --names map.csv
  bookahead advise my.swf --dry-run
  bookahead advise my.swf --save my-experiments")]
pub struct AdviseArguments {
    /// The log (Standard Workload Format, plain, .gz or .xz): a path, or a file in the folder
    /// BOOKAHEAD_TRACES
    #[arg(value_name = "TRACE")]
    pub trace: String,
    /// How much memory inputs may take.
    #[command(flatten)]
    pub memory: MemoryArguments,
    /// Size of the machine [default: the header's MaxProcs, else its MaxNodes]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    pub nodes: Option<u32>,
    /// The machine as it is configured: a machine file (docs/machines.md) or a slurm.conf. Waits,
    /// announced starts, the worth of estimates and the cost of a reservation are then those of
    /// this machine; its cores are the nodes of the planner
    #[arg(long, value_name = "FILE", conflicts_with = "nodes")]
    pub machine: Option<PathBuf>,
    /// Which numbers of the log are which queue, partition, group and user, as
    /// `trace import --names` wrote it
    #[arg(long, value_name = "FILE", requires = "machine")]
    pub names: Option<PathBuf>,
    /// What a job that fails costs, in prices of one that succeeds
    #[arg(long, value_name = "RATIO", default_value = "1", value_parser = ratio)]
    pub ratio: f64,
    /// The reservation whose cost for others is looked at, for example 32x4 [default: a quarter of
    /// the machine for 4 hours]
    #[arg(long, value_name = "NODESxHOURS")]
    pub reservation: Option<Reservation>,
    /// Simulate the queue so often again with every submission moved by up to a minute, which says
    /// what the seconds decide
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(2..=100))]
    pub ties: Option<u32>,
    /// The database
    #[arg(long, value_name = "FILE", default_value = super::STORE)]
    pub store: PathBuf,
    /// What a power failure may cost
    #[command(flatten)]
    pub durability: DurabilityArgument,
    /// Worker threads [default: the cores]
    #[arg(long, value_name = "N", value_parser = super::workers)]
    pub workers: Option<NonZeroUsize>,
    /// Where the page goes [default: reports/advice- and the log's name]
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Write the experiments into this folder, and run nothing
    #[arg(long, value_name = "DIR", conflicts_with = "dry_run")]
    pub save: Option<PathBuf>,
    /// Print each experiment with an estimate of time and size, and run nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Try simulations again that failed before
    #[arg(long)]
    pub retry_failed: bool,
    /// Compute everything anew, whatever the store has
    #[arg(long, conflicts_with = "retry_failed")]
    pub fresh: bool,
    /// Say only what goes wrong: no progress, no answers
    #[arg(long)]
    pub quiet: bool,
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
enum AdviseError {
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    Machine(#[from] MachineError),
    #[error("{}: its path is no UTF-8 text, as an experiment file has to be; rename it", .0.display())]
    Path(PathBuf),
    #[error("{file}: {source}")]
    Estimates { file: String, source: EstimateError },
    #[error("{0}")]
    Experiment(#[from] ExperimentError),
    #[error("{0}")]
    Sweep(#[from] SweepError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Report(#[from] ReportError),
    #[error("cannot write {path}: {source}", path = path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("standard output: {0}")]
    Output(#[from] io::Error),
    #[error("Ctrl-C cannot be received: {0}")]
    Signals(io::Error),
}

/// Runs the command and returns its exit code.
pub fn execute(arguments: &AdviseArguments) -> ExitCode {
    match carry_out(arguments) {
        Ok(code) => ExitCode::from(code),
        Err(AdviseError::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(AdviseError::Experiment(error)) => {
            complain(&error);
            ExitCode::from(2)
        }
        Err(error) => {
            super::say(format_args!("error: {error}"));
            let is_broken = matches!(error, AdviseError::Sweep(SweepError::Broken(_)));
            ExitCode::from(if is_broken { 1 } else { 2 })
        }
    }
}

fn carry_out(arguments: &AdviseArguments) -> Result<u8, AdviseError> {
    let mut options = SweepOptions::new(studies(), arguments.store.clone());
    options.durability = arguments.durability.into();
    options.folders.memory = arguments.memory.budget();
    options.quiet = arguments.quiet;
    options.retry_failed = arguments.retry_failed;
    options.fresh = arguments.fresh;
    if let Some(workers) = arguments.workers {
        options.workers = workers.get();
    }
    let machine = machine(arguments)?;
    let log = Log::read(
        &arguments.trace,
        TraceFolder {
            path: options.folders.traces.clone(),
            memory: options.folders.memory,
        },
        arguments.nodes,
        machine.as_ref(),
    )?;
    let nodes = machine.as_ref().map_or(log.nodes.0, Machine::nodes);
    let reservation = arguments.reservation.unwrap_or(Reservation {
        nodes: (nodes / 4).max(1),
        hours: 4.0,
    });
    if reservation.nodes > nodes {
        let asked = reservation.nodes;
        return Err(LogError::Reservation { asked, nodes }.into());
    }
    let files = machine.as_ref().map(|machine| &machine.files);
    let experiments: Vec<(Question, String)> = Question::all(machine.is_some(), arguments.ties)
        .into_iter()
        .filter_map(|question| {
            let text = question.experiment(&log, arguments.ratio, reservation, files)?;
            Some((question, text))
        })
        .collect();
    if let Some(folder) = &arguments.save {
        return save(folder, &experiments, arguments.quiet).map(|()| 0);
    }
    if arguments.dry_run {
        return plan(&experiments, &log, &mut options).map(|()| 0);
    }
    options.interrupt.listen().map_err(AdviseError::Signals)?;
    let mut code = 0;
    let mut runs = Vec::new();
    for (question, text) in &experiments {
        options.outcomes = kept(*question);
        let experiment = Experiment::parse(studies(), &file_of(*question), text, None)?;
        let name = experiment.sweep.name.clone();
        if !arguments.quiet {
            super::say(format_args!(
                "experiment {} of {}: {}",
                runs.len() + 1,
                experiments.len(),
                experiment.sweep.description
            ));
        }
        let summary = run_sweep(experiment.sweep, &options)?;
        code = code.max(summary.exit_code());
        if summary.state == RunState::Interrupted {
            // The log has said that the same command goes on.
            return Ok(summary.exit_code());
        }
        let store = Store::open_read_only(studies(), &options.store)?;
        let run = store.run(&RunSelector::Id(summary.run.unwrap_or_default()))?;
        let run = AdviceRun {
            name,
            configuration_hash: run.configuration_hash,
            file: file_of(*question),
            text: text.clone(),
            failed: summary.tally.failed_points + summary.failed_before,
        };
        runs.push((*question, run));
    }
    let out = (arguments.report.clone())
        .unwrap_or_else(|| PathBuf::from("reports").join(format!("advice-{}", log.label)));
    let summary = advice::write(
        &source(arguments, &log, machine.as_ref(), reservation, runs)?,
        &out,
    )?;
    if let Some(kept) = summary.kept.sentence(&out) {
        super::say(kept);
    }
    if !arguments.quiet {
        let mut text = String::new();
        let mut paragraph = |said: &str| {
            super::paragraphs::paragraph(&mut text, said);
            text.push('\n');
        };
        // Whether the log can be explained decides what the rest is worth.
        for (number, (question, answer)) in summary.answers.iter().enumerate() {
            paragraph(&format!("{question} {answer}"));
            if number == 0 {
                for recommended in advice::in_words(&summary.recommendations) {
                    paragraph(&recommended);
                }
            }
        }
        super::print(&text)?;
        super::say(format_args!("wrote {}", summary.page.display()));
    }
    Ok(code)
}

fn file_of(question: Question) -> String {
    format!("experiments/{}.toml", question.stem())
}

/// Writes the experiments.
fn save(
    folder: &Path,
    experiments: &[(Question, String)],
    is_quiet: bool,
) -> Result<(), AdviseError> {
    for (question, text) in experiments {
        let path = folder.join(format!("{}.toml", question.stem()));
        write_file(&path, text).map_err(|source| AdviseError::Write {
            path: path.clone(),
            source,
        })?;
        if !is_quiet {
            super::say(format_args!("wrote {}", path.display()));
        }
    }
    Ok(())
}

/// What is kept: sums over weeks need every job, and the price of a reservation its trials; of the
/// others measures are asked for.
fn kept(question: Question) -> OutcomeDetail {
    match question {
        Question::MachineReservation | Question::Ties { .. } => OutcomeDetail::Metrics,
        Question::Planning
        | Question::Queue
        | Question::Predictions
        | Question::Reservation
        | Question::Machine => OutcomeDetail::All,
    }
}

/// Prints what would be run.
fn plan(
    experiments: &[(Question, String)],
    log: &Log,
    options: &mut SweepOptions,
) -> Result<(), AdviseError> {
    let mut out = super::output::people();
    for (question, text) in experiments {
        let experiment = Experiment::parse(studies(), &file_of(*question), text, None)?;
        let name = experiment.sweep.name.clone();
        options.outcomes = kept(*question);
        let (_, plan) = dry_run(experiment.sweep, options)?;
        writeln!(out, "{name}\n  {plan}")?;
    }
    if let Err(why) = &log.replay {
        writeln!(out, "no reservation is priced: {why}")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
