//! `bookahead trace import`: a log of another program as a trace.

mod known;
mod parquet;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use bookahead_core::memory::MemoryBudget;
use clap::{Args, ValueEnum};
use miette::{IntoDiagnostic, miette};

use super::{Answer, refuse_overwriting};
use crate::output::OutputFile;
use crate::workload::input_file;
use crate::workload::swf::{SwfHeader, SwfRecord, SwfWriter};
use bookahead_operators::foreign::{
    Arrival, Attempts, FindingKind, Findings, ImportSettings, ImportedTrace, LocalTimes, Mapping,
    Names, SACCT_COMMAND, SacctSettings, Unit, read_batsim, read_delimited, read_sacct,
    zone_by_name,
};

/// What stands behind the help.
pub(super) fn after_help() -> String {
    format!(
        "What to ask sacct for (times in seconds since 1970, every attempt, no steps):\n{SACCT_COMMAND}\n\n\
         Mappings that are there by name: {}.\n\n\
         Examples:\n  bookahead trace import jobs.txt --out jobs.swf\n  \
         bookahead trace import jobs.txt --unit nodes --size 1024 --names map.csv --out jobs.swf\n  \
         bookahead trace import job_table.parquet --mapping pm100 --out pm100.swf\n  \
         bookahead trace import jobs.csv.gz --mapping mine.toml --zone Europe/Berlin --out jobs.swf\n\n\
         Everything that is dropped or guessed is counted on standard error and in the header of the trace. docs/importing.md says how a \
         mapping is written.",
        known::names().join(", ")
    )
}

#[derive(Args, Debug)]
pub(super) struct ImportArguments {
    /// The log: plain, .gz or .xz (Parquet as it is)
    file: PathBuf,
    /// The trace to write (Standard Workload Format); .gz and .xz are compressed
    #[arg(short, long, value_name = "FILE")]
    out: PathBuf,
    /// What the log is [default: sacct; with --mapping by the file's ending parquet, else csv]
    #[arg(long, value_enum)]
    format: Option<InputFormat>,
    /// Which columns of a table are which fields: a file (TOML), or a mapping that is there by name
    #[arg(long, value_name = "NAME|FILE")]
    mapping: Option<String>,
    /// The time zone of times that say none, as in the IANA database [default: the mapping's, else
    /// UTC]
    #[arg(long, value_name = "ZONE")]
    zone: Option<String>,
    /// sacct: what widths count [default: cpus, where the log has them]
    #[arg(long, value_enum)]
    unit: Option<UnitName>,
    /// sacct: the one cluster whose jobs are wanted
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,
    /// sacct: when jobs arrive: when they were submitted, or when they became eligible (after
    /// dependencies and begin times)
    #[arg(long, value_enum, default_value = "submit")]
    arrival: ArrivalName,
    /// sacct: what separates columns
    #[arg(long, value_name = "CHARACTER", default_value = "|")]
    delimiter: char,
    /// What becomes of jobs that were put back into the queue: the last attempt is the job, or each
    /// is a record
    #[arg(long, value_enum, default_value = "last")]
    attempts: AttemptsName,
    /// Size of the machine [default: the largest number in use at once]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    size: Option<u32>,
    /// Write which number stands for which user, account, queue and partition into this file (CSV,
    /// readable by its owner alone)
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InputFormat {
    /// `sacct --parsable2`
    Sacct,
    /// CSV, with --mapping
    Csv,
    /// Parquet, with --mapping
    Parquet,
    /// A workload of Batsim
    BatsimJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum UnitName {
    Cpus,
    Nodes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ArrivalName {
    Submit,
    Eligible,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum AttemptsName {
    Last,
    All,
}

/// Imports a log.
pub(super) fn import(arguments: &ImportArguments, memory: MemoryBudget) -> miette::Result<Answer> {
    refuse_overwriting(&arguments.file, &arguments.out)?;
    let format = format_of(arguments)?;
    if format == InputFormat::BatsimJson {
        let (header, records, findings) = read_batsim(&arguments.file, memory).into_diagnostic()?;
        write(&arguments.out, &header, records.iter().copied())?;
        let mut answer = Answer::default();
        describe(records.len(), &header, None, &mut answer.data);
        tell(&findings, &mut answer.messages);
        let _ = writeln!(answer.messages, "wrote {}", arguments.out.display());
        return Ok(answer);
    }
    let mapping = match &arguments.mapping {
        Some(name) => Some(known::mapping(name)?),
        None => None,
    };
    let zone = (arguments.zone.as_deref())
        .or_else(|| mapping.as_ref()?.zone.as_deref())
        .unwrap_or("UTC");
    let mut times = LocalTimes::new(zone_by_name(zone).into_diagnostic()?);
    let trace = read(arguments, format, mapping.as_ref(), &mut times, memory)?;
    let mut header = trace.header.clone();
    if times.is_used() {
        header.lines.push(format!("; TimeZoneString: {zone}"));
    }
    write(&arguments.out, &header, trace.records())?;
    let mut answer = Answer::default();
    describe(trace.jobs(), &header, Some(trace.rows), &mut answer.data);
    tell(&trace.findings, &mut answer.messages);
    if times.is_used() && arguments.zone.is_none() {
        let _ = writeln!(
            answer.messages,
            "times without a zone were read as {zone}; --zone sets another"
        );
    }
    if arguments.size.is_none() {
        let _ = writeln!(
            answer.messages,
            "the machine's size is a guess (the largest number in use at once); --size sets it"
        );
    }
    if let Some(path) = &arguments.names {
        write_names(path, &trace.names)?;
        let _ = writeln!(
            answer.messages,
            "wrote {} (names: keep it to yourself)",
            path.display()
        );
    }
    let _ = writeln!(answer.messages, "wrote {}", arguments.out.display());
    Ok(answer)
}

fn format_of(arguments: &ImportArguments) -> miette::Result<InputFormat> {
    let is_parquet = (arguments.file.extension()).is_some_and(|ending| ending == "parquet");
    let format = arguments
        .format
        .unwrap_or(match (&arguments.mapping, is_parquet) {
            (None, false) => InputFormat::Sacct,
            (Some(_), false) => InputFormat::Csv,
            (_, true) => InputFormat::Parquet,
        });
    let is_table = matches!(format, InputFormat::Csv | InputFormat::Parquet);
    if is_table && arguments.mapping.is_none() {
        return Err(miette!(
            "a table needs --mapping: a file, or one of {}",
            known::names().join(", ")
        ));
    }
    if !is_table && arguments.mapping.is_some() {
        return Err(miette!("--mapping is for tables (--format csv or parquet)"));
    }
    Ok(format)
}

fn read(
    arguments: &ImportArguments,
    format: InputFormat,
    mapping: Option<&Mapping>,
    times: &mut LocalTimes,
    memory: MemoryBudget,
) -> miette::Result<ImportedTrace> {
    let path = &arguments.file;
    let settings = ImportSettings {
        attempts: match arguments.attempts {
            AttemptsName::Last => Attempts::Last,
            AttemptsName::All => Attempts::All,
        },
        size: arguments.size,
        source: match (format, mapping) {
            (InputFormat::Sacct, _) => "output of sacct".to_owned(),
            (_, Some(mapping)) => mapping.title.clone(),
            _ => String::new(),
        },
        memory,
        ..ImportSettings::default()
    };
    if let (InputFormat::Parquet, Some(mapping)) = (format, mapping) {
        return parquet::read(path, mapping, settings, times);
    }
    let opened = input_file::open(path);
    let (mut input, _) =
        opened.map_err(|error| miette!("cannot read {}: {error}", path.display()))?;
    match mapping {
        Some(mapping) => read_delimited(input, path, mapping, settings, times),
        None => {
            let separator = u8::try_from(arguments.delimiter)
                .ok()
                .filter(|byte| byte.is_ascii() && !matches!(byte, b'\n' | b'\r'))
                .ok_or_else(|| {
                    miette!(
                        "--delimiter is {:?}; it must be an ASCII character",
                        arguments.delimiter
                    )
                })?;
            let sacct = SacctSettings {
                separator,
                unit: arguments.unit.map(|unit| match unit {
                    UnitName::Cpus => Unit::Cpus,
                    UnitName::Nodes => Unit::Nodes,
                }),
                arrival: match arguments.arrival {
                    ArrivalName::Submit => Arrival::Submit,
                    ArrivalName::Eligible => Arrival::Eligible,
                },
                cluster: arguments.cluster.clone(),
            };
            read_sacct(&mut input, path, &sacct, settings, times)
        }
    }
    .into_diagnostic()
}

fn write(
    path: &Path,
    header: &SwfHeader,
    records: impl Iterator<Item = SwfRecord>,
) -> miette::Result<()> {
    let mut writer = SwfWriter::create(path, header).into_diagnostic()?;
    for record in records {
        writer.write(&record).into_diagnostic()?;
    }
    writer.finish().into_diagnostic()
}

fn describe(jobs: usize, header: &SwfHeader, rows: Option<u64>, data: &mut String) {
    if let Some(rows) = rows {
        let _ = writeln!(data, "rows         {rows}");
    }
    let _ = writeln!(data, "jobs         {jobs}");
    if let Some(processors) = header.max_procs() {
        let _ = writeln!(data, "machine      {processors}");
    }
    for (word, key) in [("from", "StartTime"), ("until", "EndTime")] {
        if let Some(moment) = header.get(key) {
            let _ = writeln!(data, "{word:<12} {moment}");
        }
    }
}

/// What was dropped, guessed and noted, a line each.
fn tell(findings: &Findings, messages: &mut String) {
    for (finding, count, line) in findings.met() {
        let word = match finding.kind() {
            FindingKind::Dropped => "dropped",
            FindingKind::Guessed => "guessed",
            FindingKind::Noted => "noted",
        };
        let _ = writeln!(
            messages,
            "{word:<8} {count:>9}  {} (first: line {line})",
            finding.text()
        );
    }
}

/// Writes which number is whose, for the owner's eyes only.
fn write_names(path: &Path, names: &Names) -> miette::Result<()> {
    let fault = |error: std::io::Error| miette!("cannot write {}: {error}", path.display());
    let mut rows = csv::Writer::from_writer(OutputFile::create_private(path).map_err(fault)?);
    rows.write_record(["kind", "number", "name"])
        .and_then(|()| {
            (names.all().iter()).try_for_each(|(kind, number, name)| {
                rows.write_record([*kind, &number.to_string(), name.as_str()])
            })
        })
        .map_err(|error| fault(error.into()))?;
    let file = rows
        .into_inner()
        .map_err(|error| fault(error.into_error()))?;
    file.finish().map_err(fault)
}
