//! `bookahead trace export`: a trace for other programs.

use std::fmt::Write as _;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic, miette};

use super::{Answer, machine, refuse_overwriting};
use crate::output::OutputFile;
use crate::workload::swf::{SwfRecord, SwfWriter};
use crate::workload::{ParsedTrace, TraceFile, TraceFolder};
use bookahead_operators::foreign::{BatsimVersion, BatsimWritten, write_batsim};

pub(super) const HELP: &str = "\
What Batsim has no field for (users, queues, waits, …) stands in each job's extra_data, which Batsim hands on unread.

Examples:
  bookahead trace export jobs.swf --format batsim-json --out jobs.json
  bookahead trace export jobs.swf.gz --format swf --out jobs.swf";

#[derive(Args, Debug)]
pub(super) struct ExportArguments {
    /// The trace: a path, or a file in the folder BOOKAHEAD_TRACES
    file: String,
    /// What to write
    #[arg(long, value_enum)]
    format: OutputFormat,
    /// The file to write; traces ending in .gz and .xz are compressed
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// Size of the machine that a workload of Batsim is for [default: the header's MaxProcs]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    nodes: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    /// The Standard Workload Format, sorted by submission
    Swf,
    /// A workload of Batsim 5
    BatsimJson,
    /// A workload of Batsim 1 to 4
    #[value(name = "batsim4-json")]
    Batsim4Json,
}

/// Writes a trace in another format.
pub(super) fn export(arguments: &ExportArguments, folder: &TraceFolder) -> miette::Result<Answer> {
    let path = folder.find(&arguments.file).into_diagnostic()?;
    refuse_overwriting(&path, &arguments.out)?;
    let mut answer = Answer::default();
    let version = match arguments.format {
        OutputFormat::Swf => {
            // Comments may stand behind records, so the file is read to its end before the first
            // line is written.
            let trace = TraceFile::read(&path, folder.memory).into_diagnostic()?;
            let mut out = SwfWriter::create(&arguments.out, &trace.header).into_diagnostic()?;
            for record in trace.records().into_diagnostic()? {
                out.write(&record.into_diagnostic()?).into_diagnostic()?;
            }
            out.finish().into_diagnostic()?;
            let _ = writeln!(answer.data, "written      {}", trace.records);
            if trace.out_of_order > 0 || trace.rounded_decimals > 0 {
                let _ = writeln!(
                    answer.messages,
                    "{} records stood out of order and were sorted; {} decimals of whole numbers were rounded",
                    trace.out_of_order, trace.rounded_decimals
                );
            }
            let _ = writeln!(answer.messages, "wrote {}", arguments.out.display());
            return Ok(answer);
        }
        OutputFormat::BatsimJson => BatsimVersion::Five,
        OutputFormat::Batsim4Json => BatsimVersion::Four,
    };
    // Of every job it is kept which identifier it has, as each may have one of its own only.
    let trace = ParsedTrace::read_within(&path, folder.memory).into_diagnostic()?;
    let widths = trace.records.iter().map(SwfRecord::width);
    let machine = machine(
        arguments.nodes,
        &trace.header,
        widths.max().unwrap_or(0),
        &mut answer.messages,
    );
    let written = write_workload(&arguments.out, &trace, machine.0, version).map_err(|error| {
        miette!(
            "cannot write {}: {error}; nothing was written",
            arguments.out.display()
        )
    })?;
    let _ = writeln!(answer.data, "written      {}", written.jobs);
    tell(&written, &mut answer.messages);
    let _ = writeln!(answer.messages, "wrote {}", arguments.out.display());
    Ok(answer)
}

fn write_workload(
    path: &Path,
    trace: &ParsedTrace,
    resources: u32,
    version: BatsimVersion,
) -> std::io::Result<BatsimWritten> {
    let mut out = BufWriter::with_capacity(1 << 18, OutputFile::create(path)?);
    let written = write_batsim(&trace.header, &trace.records, resources, version, &mut out)?;
    out.into_inner()
        .map_err(std::io::IntoInnerError::into_error)?
        .finish()?;
    Ok(written)
}

/// What Batsim cannot hold.
fn tell(written: &BatsimWritten, messages: &mut String) {
    for (count, what) in [
        (
            written.without_submit,
            "records without a submit time were left out",
        ),
        (
            written.without_run_time,
            "records without a run time were left out: a job of Batsim needs a profile",
        ),
        (
            written.without_processors,
            "records without processors were left out",
        ),
        (
            written.renamed,
            "jobs got another identifier: theirs was missing or taken (their number stands in extra_data)",
        ),
        (
            written.without_limit,
            "jobs have no requested time: Batsim gives them no walltime",
        ),
    ] {
        if count > 0 {
            let _ = writeln!(messages, "{count} {what}");
        }
    }
}
