//! `bookahead trace estimates`: the estimates of the users of a log, by class.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::Args;
use miette::{IntoDiagnostic, miette};

use super::{Answer, CleaningArguments};
use crate::estimates::{
    Binning, ClassTable, EstimateError, EstimateSettings, LearningJobs, Overrun, RatioCounts,
};
use crate::units::Nodes;
use crate::workload::swf::SwfRecord;
use crate::workload::{Job, ParsedTrace, TraceFolder, clean};
use bookahead_report::{EstimatesReport, Table, TableFormat, Terminal};

pub(super) const HELP: &str = "\
The information gain of an attribute is H(X) − Σ n(c) / N · H(X | c), where X is the share of the estimate that a job used,
in whole percents, H its entropy in bits, and c the classes.

Examples:
  bookahead trace estimates CTC-SP2-1996-3.1-cln.swf
  bookahead trace estimates CTC-SP2-1996-3.1-cln.swf --classes user,user+runtime --out estimates";

/// A field of a record.
type Field = fn(&SwfRecord) -> i64;

/// Attributes of records that no study learns by.
const NUMBERS: [(&str, Field); 3] = [
    ("group", |record| record.group),
    ("queue", |record| record.queue),
    ("partition", |record| record.partition),
];

#[derive(Args, Debug)]
pub(super) struct EstimatesArguments {
    /// The trace (Standard Workload Format, plain, .gz or .xz): a path, or a file in the folder
    /// BOOKAHEAD_TRACES
    file: String,
    /// Attributes to divide jobs by: runtime, resources, user, application, user-last, group,
    /// queue, partition, all, or two of the first five joined by + [default: each of the first
    /// eight that the log knows]
    #[arg(long, value_name = "ATTRIBUTE,…", value_delimiter = ',')]
    classes: Vec<String>,
    /// How many users, applications, groups, queues and partitions have a class of their own: those
    /// with the most jobs
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    top: u32,
    /// Borders of the classes by estimated run time [default: 600,3600,7200,10800,18000,43200]
    #[arg(long, value_name = "SECONDS,…", value_delimiter = ',')]
    runtime_borders: Vec<i64>,
    /// Upper bounds of the classes by resources [default: 1,2,4,8,16,32,64]
    #[arg(long, value_name = "NODES,…", value_delimiter = ',')]
    resource_bounds: Vec<u32>,
    /// Write tables (CSV, Parquet), distributions and figures (SVG, CSV) into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    cleaning: CleaningArguments,
}

/// Looks at the estimates of a log.
pub(super) fn estimates(
    arguments: &EstimatesArguments,
    folder: &TraceFolder,
) -> miette::Result<Answer> {
    let path = folder.find(&arguments.file).into_diagnostic()?;
    let trace = ParsedTrace::read_within(&path, folder.memory).into_diagnostic()?;
    // How wide the machine is plays no part.
    let cleaned = clean(&trace, &arguments.cleaning.rules(), Nodes(u32::MAX));
    let records: Vec<&SwfRecord> = cleaned
        .origins
        .iter()
        .map(|&origin| &trace.records[origin as usize])
        .collect();
    let log = Log {
        table: arguments.table(),
        top: arguments.top,
        jobs: &cleaned.jobs,
        records: &records,
    };
    let mut answer = Answer::default();
    let report = &cleaned.report;
    if report.usable == 0 {
        return Err(miette!(
            "{}: none of the {} records is usable; `bookahead trace info` says why",
            path.display(),
            report.records
        ));
    }
    let attributes = match arguments.classes.as_slice() {
        [] => log.known(&mut answer.messages)?,
        names => names
            .iter()
            .map(|name| Ok((name.clone(), log.counts(name)?)))
            .collect::<miette::Result<_>>()?,
    };
    let shown = EstimatesReport::new(&trace.label, &attributes);
    let _ = writeln!(answer.data, "trace        {}", shown.label);
    super::describe_cleaning(report, &mut answer.data);
    for table in [&shown.attributes].into_iter().chain(&shown.classes) {
        let _ = write!(answer.data, "\n{}", drawn(table)?);
    }
    for line in textwrap::wrap(&shown.attributes.note, WIDTH) {
        let _ = writeln!(answer.data, "{line}");
    }
    if let Some(out) = &arguments.out {
        let kept = shown.write(out).into_diagnostic()?;
        if let Some(kept) = kept.sentence(out) {
            let _ = writeln!(answer.messages, "{kept}");
        }
        let _ = writeln!(
            answer.messages,
            "wrote {}",
            out.join("estimates.md").display()
        );
    }
    Ok(answer)
}

impl EstimatesArguments {
    fn table(&self) -> ClassTable {
        let usual = ClassTable::default();
        let or = |given: &[i64], usual| {
            if given.is_empty() {
                usual
            } else {
                given.to_vec()
            }
        };
        ClassTable {
            runtime_borders_seconds: or(&self.runtime_borders, usual.runtime_borders_seconds),
            resource_upper_bounds: match self.resource_bounds.as_slice() {
                [] => usual.resource_upper_bounds,
                given => given.to_vec(),
            },
            top_users: self.top,
            top_applications: self.top,
        }
    }
}

/// The jobs counted by classes of this name; `None` where there are none.
pub(in crate::cli) fn class_counts(
    table: &ClassTable,
    jobs: &[Job],
    name: &str,
) -> Option<Result<RatioCounts, EstimateError>> {
    let settings = EstimateSettings {
        family: table.family(name)?,
        binning: Binning::default(),
        overrun: Overrun::default(),
        learn_from: LearningJobs::Before,
        minimum_class_size: 1,
        ..EstimateSettings::default()
    };
    Some(RatioCounts::by_class(jobs, &settings))
}

/// A log and how its jobs are divided.
struct Log<'l> {
    table: ClassTable,
    top: u32,
    jobs: &'l [Job],
    /// In the order of the jobs.
    records: &'l [&'l SwfRecord],
}

impl Log<'_> {
    /// The jobs counted by an attribute.
    fn counts(&self, name: &str) -> miette::Result<RatioCounts> {
        let counts = match NUMBERS.iter().find(|(number, _)| *number == name) {
            Some((_, number)) => {
                let numbers: Vec<Option<i64>> = self
                    .records
                    .iter()
                    .map(|record| Some(number(record)).filter(|number| *number >= 0))
                    .collect();
                RatioCounts::by_number(self.jobs, &numbers, (name, self.top), (Binning::default(), Overrun::default()))
            }
            None => {
                class_counts(&self.table, self.jobs, name).ok_or_else(|| {
                    miette!(
                        "there are no classes by `{name}`; allowed: {}, {}, or two of the first joined by +",
                        ClassTable::NAMES.join(", "),
                        NUMBERS.map(|(name, _)| name).join(", ")
                    )
                })?
            }
        };
        counts.map_err(|error| match error {
            EstimateError::Borders { key, found } => miette!(
                "{} must be positive whole numbers in ascending order, but is {found:?}",
                if key == "upper_bounds" {
                    "--resource-bounds"
                } else {
                    "--runtime-borders"
                }
            ),
            error => miette!("{error}"),
        })
    }

    /// Every attribute that the log has values of.
    fn known(&self, messages: &mut String) -> miette::Result<Vec<(String, RatioCounts)>> {
        let mut known = Vec::new();
        let names = ClassTable::NAMES[1..].iter().copied();
        for name in names.chain(NUMBERS.map(|(name, _)| name)) {
            let counts = self.counts(name)?;
            if counts.counts[1..].iter().flatten().any(|count| *count > 0) {
                known.push((name.to_owned(), counts));
            } else {
                let _ = writeln!(messages, "the log says nothing about: {name}");
            }
        }
        Ok(known)
    }
}

/// Columns that every screen has.
const WIDTH: usize = 80;

/// A table as text for a screen.
pub(super) fn drawn(table: &Table) -> miette::Result<String> {
    let mut text = Vec::new();
    let terminal = Terminal {
        width: u16::try_from(WIDTH).ok(),
    };
    terminal.write(table, &mut text).into_diagnostic()?;
    String::from_utf8(text).into_diagnostic()
}
