//! `bookahead trace info|estimates|failures|convert|import|export|synthesize`: look at a trace, at its estimates or at a table of
//! failures, write a cleaned and scaled trace, read and write logs of other programs, or let a model write a trace.
//!
//! Data goes to standard output, messages to standard error. Every error is wrong use or bad input: exit code 2.

mod describe;
mod estimates;
mod export;
mod failures;
mod import;

use std::fmt::Write as _;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, Subcommand, ValueEnum};
use miette::{IntoDiagnostic, miette};

use self::describe::{describe, describe_cleaning};
pub(super) use self::estimates::class_counts;
use self::estimates::{EstimatesArguments, estimates};
use self::export::{ExportArguments, export};
use self::failures::{FailuresArguments, failures};
use self::import::{ImportArguments, import};
use super::memory::MemoryArguments;
use crate::units::Nodes;
use crate::workload::swf::{SwfHeader, SwfRecord, write_trace};
use crate::workload::{
    CleanedTrace, CleaningReport, CleaningRules, MissingEstimate, ParsedTrace, ProcessorsField,
    TraceFolder, WorkloadError, WorkloadSource, arminius, battery, clean, load, summarise,
};

/// Arguments of `bookahead trace`.
#[derive(Args, Debug)]
pub struct TraceArguments {
    #[command(subcommand)]
    command: TraceCommand,
    #[command(flatten)]
    memory: MemoryArguments,
}

#[derive(Subcommand, Debug)]
enum TraceCommand {
    /// Summarise a trace: jobs, span, load, estimate accuracy, and what cleaning would drop
    Info(InfoArguments),
    /// Show how much of their estimates jobs use, by class, and which attributes tell jobs apart
    #[command(after_help = estimates::HELP)]
    Estimates(EstimatesArguments),
    /// Analyse a table of node failures: rates, causes, fitted distributions, hours, and failures that follow failures
    #[command(after_help = failures::HELP)]
    Failures(FailuresArguments),
    /// Write a cleaned and scaled trace, keeping its header
    Convert(ConvertArguments),
    /// Read a log of another program: accounting of Slurm, a table of jobs (CSV, Parquet), a workload of Batsim
    #[command(after_help = import::after_help())]
    Import(ImportArguments),
    /// Write a trace for another program
    #[command(after_help = export::HELP)]
    Export(ExportArguments),
    /// Generate a trace from a model
    Synthesize(SynthesizeArguments),
}

#[derive(Args, Debug)]
struct InfoArguments {
    /// The trace (Standard Workload Format, plain, .gz or .xz): a path, or a file in the folder BOOKAHEAD_TRACES
    file: String,
    /// Size of the machine that loads refer to [default: the header's MaxProcs]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cleaning: CleaningArguments,
}

#[derive(Args, Debug)]
struct ConvertArguments {
    /// The trace: a path, or a file in the folder BOOKAHEAD_TRACES
    file: String,
    /// The file to write; .gz and .xz are compressed
    out: PathBuf,
    /// Size of the machine that the target load refers to [default: the header's MaxProcs]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Multiply the times between arrivals by this factor
    #[arg(long, value_name = "FACTOR", conflicts_with = "target_load")]
    compression: Option<f64>,
    /// Compress arrivals so that the estimates offer this load (1 = the whole machine)
    #[arg(long, value_name = "LOAD")]
    target_load: Option<f64>,
    /// Only the last usable jobs
    #[arg(long, value_name = "JOBS", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
    #[command(flatten)]
    cleaning: CleaningArguments,
}

#[derive(Args, Debug)]
struct SynthesizeArguments {
    /// The file to write; .gz and .xz are compressed
    out: PathBuf,
    /// The model
    #[arg(long, value_enum)]
    model: Model,
    /// Jobs to generate
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    jobs: u32,
    /// Size of the machine [default: 128; Arminius has 200]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Scale arrivals so that the estimates offer this load (1 = the whole machine)
    #[arg(long, value_name = "LOAD")]
    target_load: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Model {
    /// Lublin and Feitelson 2003, with user estimates after Tsafrir 2005
    LublinFeitelson,
    /// The same with run times that are a uniform share of the estimates
    UniformRatio,
    /// Fitted to the published totals of the Arminius log
    Arminius,
}

#[derive(Args, Debug, Default)]
struct CleaningArguments {
    /// Keep jobs with a run time of 0
    #[arg(long)]
    keep_zero_runtime: bool,
    /// Drop jobs that ran longer than requested
    #[arg(long)]
    drop_overruns: bool,
    /// Drop cancelled jobs although they ran
    #[arg(long)]
    drop_cancelled: bool,
    /// Keep only jobs whose status is completed
    #[arg(long)]
    completed_only: bool,
    /// Jobs without a requested time: drop them, use their run time, or refuse the trace
    #[arg(long, value_enum, default_value = "drop")]
    missing_estimate: MissingEstimateName,
    /// Take the requested processors (field 8) before the allocated ones (field 5)
    #[arg(long)]
    requested_processors: bool,
}

/// Values of `--missing-estimate`.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum MissingEstimateName {
    #[default]
    Drop,
    Runtime,
    Error,
}

impl CleaningArguments {
    fn rules(&self) -> CleaningRules {
        CleaningRules {
            processors: if self.requested_processors {
                ProcessorsField::RequestedElseAllocated
            } else {
                ProcessorsField::AllocatedElseRequested
            },
            drop_zero_runtime: !self.keep_zero_runtime,
            drop_overruns: self.drop_overruns,
            drop_cancelled: self.drop_cancelled,
            completed_only: self.completed_only,
            missing_estimate: match self.missing_estimate {
                MissingEstimateName::Drop => MissingEstimate::Drop,
                MissingEstimateName::Runtime => MissingEstimate::Runtime,
                MissingEstimateName::Error => MissingEstimate::Error,
            },
        }
    }
}

/// What a subcommand says.
#[derive(Debug, Default)]
pub struct Answer {
    /// For standard output.
    pub data: String,
    /// For standard error.
    pub messages: String,
}

/// Runs the subcommand with the folder of traces that the environment names.
///
/// # Errors
/// Wrong use or a faulty trace; the caller ends with exit code 2.
pub fn execute(arguments: &TraceArguments) -> miette::Result<ExitCode> {
    let folder = TraceFolder {
        path: std::env::var_os(TraceFolder::VARIABLE).map(PathBuf::from),
        memory: arguments.memory.budget(),
    };
    let answer = answer(arguments, &folder)?;
    answer.messages.lines().for_each(super::say);
    match super::print(&answer.data) {
        // A reader such as `head` that has seen enough is no fault.
        Err(fault) if fault.kind() != ErrorKind::BrokenPipe => Err(fault).into_diagnostic(),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Runs the subcommand within the folder's budget of memory and prints nothing.
///
/// # Errors
/// As [`execute`].
pub fn answer(arguments: &TraceArguments, folder: &TraceFolder) -> miette::Result<Answer> {
    match &arguments.command {
        TraceCommand::Info(arguments) => info(arguments, folder),
        TraceCommand::Estimates(arguments) => estimates(arguments, folder),
        TraceCommand::Failures(arguments) => failures(arguments, folder.memory),
        TraceCommand::Convert(arguments) => convert(arguments, folder),
        TraceCommand::Import(arguments) => import(arguments, folder.memory),
        TraceCommand::Export(arguments) => export(arguments, folder),
        TraceCommand::Synthesize(arguments) => synthesize(arguments, folder),
    }
}

fn info(arguments: &InfoArguments, folder: &TraceFolder) -> miette::Result<Answer> {
    let path = folder.find(&arguments.file).into_diagnostic()?;
    let trace = ParsedTrace::read_within(&path, folder.memory).into_diagnostic()?;
    let mut answer = Answer::default();
    let machine = machine(arguments.nodes, &trace, &mut answer.messages);
    let cleaned = clean(&trace, &arguments.cleaning.rules(), machine);
    (cleaned.report)
        .require_estimates(&trace.label, &arguments.cleaning.rules())
        .into_diagnostic()?;
    let summary = summarise(&trace, &cleaned, machine);
    answer.data = if arguments.json {
        crate::cli::output::json(&summary).into_diagnostic()?
    } else {
        describe(&summary)
    };
    Ok(answer)
}

fn convert(arguments: &ConvertArguments, folder: &TraceFolder) -> miette::Result<Answer> {
    let path = folder.find(&arguments.file).into_diagnostic()?;
    refuse_overwriting(&path, &arguments.out)?;
    let trace = ParsedTrace::read_within(&path, folder.memory).into_diagnostic()?;
    let mut answer = Answer::default();
    let machine = machine(arguments.nodes, &trace, &mut answer.messages);
    let mut cleaned = clean(&trace, &arguments.cleaning.rules(), machine);
    (cleaned.report)
        .require_estimates(&trace.label, &arguments.cleaning.rules())
        .into_diagnostic()?;
    let mut header = trace.header.clone();
    header.note(&format!(
        "derived by bookahead {} from {} (SHA-256 of its records: {})",
        env!("CARGO_PKG_VERSION"),
        path.file_name().map_or_else(
            || trace.label.clone(),
            |name| name.to_string_lossy().into_owned()
        ),
        trace.content_hash
    ));
    note_cleaning(&cleaned.report, &mut header);
    if let Some(last) = arguments.last {
        keep_last(last, &trace, &mut cleaned)?;
        header.note(&format!("only the last {last} usable jobs"));
    }
    if cleaned.jobs.is_empty() {
        return Err(miette!(
            "{}: none of the {} records is usable, so there is nothing to write",
            path.display(),
            cleaned.report.records
        ));
    }
    let factor = factor(
        arguments.compression,
        arguments.target_load,
        &trace.label,
        &cleaned,
        machine,
    )?;
    if let Some(factor) = factor {
        header.note(&format!(
            "submit times rebased to the first job and multiplied by {factor}, rounded down; wait times, which belong to \
             the original arrivals, removed"
        ));
        if let Some(load) = arguments.target_load {
            header.note(&format!(
                "the factor makes the estimates offer a load of {load} on {} nodes",
                machine.0
            ));
        }
    }
    let records = scaled(&trace, &cleaned, factor);
    write_trace(&arguments.out, &header, &records).into_diagnostic()?;
    describe_cleaning(&cleaned.report, &mut answer.data);
    let _ = writeln!(answer.data, "written      {}", records.len());
    if let Some(factor) = factor {
        let _ = writeln!(answer.data, "compression  {factor}");
    }
    let _ = writeln!(answer.messages, "wrote {}", arguments.out.display());
    Ok(answer)
}

fn synthesize(arguments: &SynthesizeArguments, folder: &TraceFolder) -> miette::Result<Answer> {
    let (source, nodes) = match (arguments.model, arguments.nodes) {
        (Model::LublinFeitelson, nodes) => (
            WorkloadSource::LublinFeitelson {
                jobs: arguments.jobs,
            },
            nodes.unwrap_or(128),
        ),
        (Model::UniformRatio, nodes) => (
            WorkloadSource::UniformRatio {
                jobs: arguments.jobs,
            },
            nodes.unwrap_or(128),
        ),
        (Model::Arminius, None | Some(arminius::NODES)) => (
            WorkloadSource::Arminius {
                jobs: arguments.jobs,
            },
            arminius::NODES,
        ),
        (Model::Arminius, Some(nodes)) => {
            return Err(miette!(
                "--nodes is {nodes}, but the Arminius model is fitted to {} nodes; leave --nodes out",
                arminius::NODES
            ));
        }
    };
    let machine = Nodes(nodes);
    let trace = load(&source, machine, folder, arguments.seed, 0).into_diagnostic()?;
    let cleaned = clean(&trace, &CleaningRules::default(), machine);
    let factor = factor(None, arguments.target_load, &trace.label, &cleaned, machine)?;
    let mut header = trace.header.clone();
    if let (Some(factor), Some(load)) = (factor, arguments.target_load) {
        header.note(&format!(
            "submit times rebased to the first job and multiplied by {factor}, so that the estimates offer a load of \
             {load} on {nodes} nodes"
        ));
    }
    let records = scaled(&trace, &cleaned, factor);
    write_trace(&arguments.out, &header, &records).into_diagnostic()?;
    Ok(Answer {
        data: format!(
            "model        {}\nwritten      {}\n",
            trace.label,
            records.len()
        ),
        messages: format!("wrote {}\n", arguments.out.display()),
    })
}

/// The machine that loads refer to: as asked, else as the header says, else the widest record.
fn machine(nodes: Option<u32>, trace: &ParsedTrace, messages: &mut String) -> Nodes {
    let header = || {
        trace
            .header
            .max_procs()
            .or_else(|| trace.header.max_nodes())
    };
    if let Some(nodes) = nodes.or_else(header).filter(|nodes| *nodes > 0) {
        return Nodes(nodes);
    }
    let widest = trace
        .records
        .iter()
        .map(|record| record.allocated_processors.max(record.requested_processors))
        .max()
        .unwrap_or(1);
    let nodes = u32::try_from(widest.max(1)).unwrap_or(u32::MAX);
    let _ = writeln!(
        messages,
        "the header names no MaxProcs: loads refer to the widest job's {nodes} nodes; --nodes sets another size"
    );
    Nodes(nodes)
}

fn refuse_overwriting(input: &Path, output: &Path) -> miette::Result<()> {
    let same = match (input.canonicalize(), output.canonicalize()) {
        (Ok(input), Ok(output)) => input == output,
        _ => false,
    };
    if same {
        return Err(miette!(
            "{} is the trace itself; name another file to write",
            output.display()
        ));
    }
    Ok(())
}

fn keep_last(last: u32, trace: &ParsedTrace, cleaned: &mut CleanedTrace) -> miette::Result<()> {
    let Some(first) = cleaned.jobs.len().checked_sub(last as usize) else {
        return Err(WorkloadError::TooFewJobs {
            label: trace.label.clone(),
            usable: cleaned.jobs.len(),
            records: cleaned.report.records,
            needed: last,
        })
        .into_diagnostic();
    };
    cleaned.jobs.drain(..first);
    cleaned.origins.drain(..first);
    Ok(())
}

fn factor(
    compression: Option<f64>,
    target_load: Option<f64>,
    label: &str,
    cleaned: &CleanedTrace,
    machine: Nodes,
) -> miette::Result<Option<f64>> {
    for (key, value) in [
        ("--compression", compression),
        ("--target-load", target_load),
    ] {
        if let Some(value) = value.filter(|value| !(value.is_finite() && *value > 0.0)) {
            return Err(miette!(
                "{key} is {value}; allowed is a finite number above 0"
            ));
        }
    }
    let Some(target) = target_load else {
        return Ok(compression);
    };
    match battery::offered_load(&cleaned.jobs, machine) {
        Some(offered) if offered > 0.0 => Ok(Some(offered / target)),
        _ => Err(WorkloadError::NoLoad {
            label: label.to_owned(),
            part: "the usable jobs".to_owned(),
        })
        .into_diagnostic(),
    }
}

/// The usable records; with a factor, their arrivals rebased and compressed and their wait times removed.
fn scaled(trace: &ParsedTrace, cleaned: &CleanedTrace, factor: Option<f64>) -> Vec<SwfRecord> {
    let first = cleaned.jobs.first().map(|job| job.submit);
    cleaned
        .jobs
        .iter()
        .zip(&cleaned.origins)
        .map(|(job, &origin)| {
            let record = trace.records[origin as usize];
            match (factor, first) {
                (Some(factor), Some(first)) => SwfRecord {
                    submit: battery::compressed(job.submit, first, factor).0,
                    wait: -1,
                    ..record
                },
                _ => record,
            }
        })
        .collect()
}

fn note_cleaning(report: &CleaningReport, header: &mut SwfHeader) {
    let dropped: Vec<String> = report
        .dropped()
        .iter()
        .filter(|(_, _, count)| *count > 0)
        .map(|(rule, _, count)| format!("{rule} {count}"))
        .collect();
    header.note(&format!(
        "cleaning kept {} of {} records; dropped by rule: {}",
        report.usable,
        report.records,
        if dropped.is_empty() {
            "none".to_owned()
        } else {
            dropped.join(", ")
        }
    ));
    if report.out_of_order > 0 {
        header.note(&format!(
            "{} records stood out of order; sorted by submit time",
            report.out_of_order
        ));
    }
}

#[cfg(test)]
mod tests;
