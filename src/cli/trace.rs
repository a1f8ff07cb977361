//! `bookahead trace info|estimates|failures|convert|import|export|synthesize`: look at a trace, at
//! its estimates or at a table of failures, write a cleaned and scaled trace, read and write logs
//! of other programs, or let a model write a trace.
//!
//! Data goes to standard output, messages to standard error. Every error is wrong use or bad input:
//! exit code 2.

mod describe;
mod estimates;
mod export;
mod failures;
mod import;
mod load;
mod synthesize;

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
use self::load::{LoadArguments, positive};
use self::synthesize::{SynthesizeArguments, synthesize};
use super::memory::MemoryArguments;
use crate::units::Nodes;
use crate::workload::swf::{SwfHeader, SwfRecord, SwfWriter};
use crate::workload::{
    CleaningReport, CleaningRules, Demand, Job, JobStream, JobStreamError, MissingEstimate,
    ProcessorsField, SwfError, TraceFile, TraceFolder, WorkloadError, battery, summarise,
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
    /// Analyse a table of node failures: rates, causes, fitted distributions, hours, and failures
    /// that follow failures
    #[command(after_help = failures::HELP)]
    Failures(FailuresArguments),
    /// Write a cleaned and scaled trace, keeping its header
    Convert(ConvertArguments),
    /// Read a log of another program: accounting of Slurm, a table of jobs (CSV, Parquet), a
    /// workload of Batsim
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
    /// The trace (Standard Workload Format, plain, .gz or .xz): a path, or a file in the folder
    /// BOOKAHEAD_TRACES
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
    /// Size of the machine that --load refers to [default: the header's MaxProcs]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
    /// Multiply the times between arrivals by this factor
    #[arg(long, value_name = "FACTOR", conflicts_with = "load")]
    compression: Option<f64>,
    #[command(flatten)]
    load: LoadArguments,
    /// Only the last usable jobs
    #[arg(long, value_name = "JOBS", value_parser = clap::value_parser!(u32).range(1..))]
    last: Option<u32>,
    #[command(flatten)]
    cleaning: CleaningArguments,
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
            ..CleaningRules::default()
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
    let trace = TraceFile::read(&path, folder.memory).into_diagnostic()?;
    let mut answer = Answer::default();
    let machine = machine(
        arguments.nodes,
        &trace.header,
        trace.widest,
        &mut answer.messages,
    );
    let rules = arguments.cleaning.rules();
    let summary = summarise(&trace, rules, machine, folder.memory).into_diagnostic()?;
    (summary.cleaning)
        .require_estimates(&trace.label, &rules)
        .into_diagnostic()?;
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
    let trace = TraceFile::read(&path, folder.memory).into_diagnostic()?;
    let mut answer = Answer::default();
    let machine = machine(
        arguments.nodes,
        &trace.header,
        trace.widest,
        &mut answer.messages,
    );
    let rules = arguments.cleaning.rules();
    // The header says what cleaning did and how arrivals were scaled, so both are found out before
    // the first record is written.
    let jobs = || trace.jobs(rules, machine).into_diagnostic();
    let mut all = jobs()?;
    let mut demand = demand_of(&mut all, machine)?;
    let report = all.report;
    report
        .require_estimates(&trace.label, &rules)
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
    note_cleaning(&report, &mut header);
    let mut left_out = 0;
    if let Some(last) = arguments.last {
        left_out = all_but(last, &trace.label, &report)?;
        demand = demand_of(&mut jobs()?.skip(left_out), machine)?;
        header.note(&format!("only the last {last} usable jobs"));
    }
    if report.usable == 0 {
        return Err(miette!(
            "{}: none of the {} records is usable, so there is nothing to write",
            path.display(),
            report.records
        ));
    }
    let by_load = arguments.load.factor(&trace.label, &demand, machine)?;
    if let Some(factor) = arguments.compression {
        positive("--compression", factor)?;
    }
    let factor = arguments.compression.or(by_load);
    if let Some(factor) = factor {
        header.note(&format!(
            "submit times rebased to the first job and multiplied by {factor}, rounded down; wait times, which belong to \
             the original arrivals, removed"
        ));
        if let Some(words) = arguments.load.in_words(machine) {
            header.note(&format!("with this factor {words}"));
        }
    }
    let mut jobs = jobs()?;
    for job in jobs.by_ref().take(left_out) {
        job.into_diagnostic()?;
    }
    write(&arguments.out, &header, &mut jobs, factor)?;
    describe_cleaning(&report, &mut answer.data);
    let _ = writeln!(answer.data, "written      {}", demand.jobs);
    if let Some(factor) = factor {
        let _ = writeln!(answer.data, "compression  {factor}");
    }
    let _ = writeln!(answer.messages, "wrote {}", arguments.out.display());
    Ok(answer)
}

/// The machine that loads refer to: as asked, else as the header says, else the widest record.
fn machine(nodes: Option<u32>, header: &SwfHeader, widest: i64, messages: &mut String) -> Nodes {
    if let Some(nodes) = nodes
        .or_else(|| header.machine())
        .filter(|nodes| *nodes > 0)
    {
        return Nodes(nodes);
    }
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

/// How many usable jobs stand before the last ones.
fn all_but(last: u32, label: &str, report: &CleaningReport) -> miette::Result<usize> {
    let left_out = report.usable.checked_sub(last.into());
    let left_out = left_out.and_then(|jobs| usize::try_from(jobs).ok());
    left_out
        .ok_or_else(|| WorkloadError::TooFewJobs {
            label: label.to_owned(),
            usable: usize::try_from(report.usable).unwrap_or(usize::MAX),
            records: report.records,
            needed: last,
        })
        .into_diagnostic()
}

/// What jobs ask of a machine, to the last of them.
fn demand_of(
    jobs: &mut impl Iterator<Item = Result<Job, JobStreamError>>,
    machine: Nodes,
) -> miette::Result<Demand> {
    let mut demand = Demand::default();
    for job in jobs {
        demand.count(&job.into_diagnostic()?, machine);
    }
    Ok(demand)
}

/// Writes the records of usable jobs; with a factor, their arrivals rebased and compressed and
/// their wait times removed.
fn write<I>(
    path: &Path,
    header: &SwfHeader,
    jobs: &mut JobStream<I>,
    factor: Option<f64>,
) -> miette::Result<()>
where
    I: Iterator<Item = Result<SwfRecord, SwfError>>,
{
    let mut out = SwfWriter::create(path, header).into_diagnostic()?;
    let mut first = None;
    while let Some(job) = jobs.next() {
        let submit = job.into_diagnostic()?.submit;
        let first = *first.get_or_insert(submit);
        let Some(record) = jobs.last_record() else {
            continue;
        };
        let written = match factor {
            Some(factor) => out.write(&SwfRecord {
                submit: battery::compressed(submit, first, factor).0,
                wait: -1,
                ..*record
            }),
            None => out.write(record),
        };
        written.into_diagnostic()?;
    }
    out.finish().into_diagnostic()
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
