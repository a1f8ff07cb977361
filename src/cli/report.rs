//! `bookahead report RUN|latest`: writes the report of a run and prints its best table.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::memory::MemoryArguments;
use super::screen::terminal;
use crate::cli::studies;
use crate::store::{RunSelector, Store};
use crate::sweep::{InputFolders, while_working};
use bookahead_core::memory::MemoryBudget;
use bookahead_core::workload::input_file::read_whole;
use bookahead_report::{
    self, Cell, FigureWidth, Forms, LabelError, Labels, ReportError, TableFile, TableFormat as _,
    Terminal,
};

/// Writes the report of a run.
#[derive(Clone, Debug, clap::Args)]
pub struct ReportArguments {
    /// How much memory inputs may take.
    #[command(flatten)]
    pub memory: MemoryArguments,
    /// The number of a run, the name of an experiment (its last run), or `latest`
    #[arg(value_name = "RUN|latest")]
    pub run: RunSelector,
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// The folder to write [default: reports/ and the experiment's name]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Write tables and figures in this format, too; every report has tables as CSV and Parquet,
    /// and figures as SVG
    #[arg(long, value_name = "FORMAT")]
    pub format: Vec<FurtherFormat>,
    /// Draw the figures in `plots` for a paper in two columns, without titles: its captions have
    /// them
    #[arg(long, value_name = "WIDTH")]
    pub figure_width: Option<PaperWidth>,
    /// Labels for the figures in `plots` and for tables as LaTeX: a TOML file whose table
    /// `[labels]` has what to write in place of a title, heading, axis or name, as in
    /// "acceptance.pof_max" = "Threshold"
    #[arg(long, value_name = "FILE")]
    pub labels: Option<PathBuf>,
    /// Print what a paper about the run should cite, as BibTeX, and write no report
    #[arg(long, conflicts_with_all = ["out", "format", "figure_width", "labels", "verify", "json"])]
    pub cite: bool,
    /// Compare every row that the report is about with the digests of what was written, first
    #[arg(long)]
    pub verify: bool,
    /// The best table, failures and the report's place as JSON, for scripts
    #[arg(long)]
    pub json: bool,
}

/// A format that only some readers want tables in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FurtherFormat {
    /// For papers: tables and, with a PDF each, figures; needs the LaTeX packages booktabs,
    /// graphicx, and longtable for tables of over 45 lines
    Latex,
}

/// How wide a figure of a paper is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PaperWidth {
    /// 3.5 inches
    OneColumn,
    /// 7.16 inches
    TwoColumns,
}

impl ReportArguments {
    fn forms(&self) -> Result<Forms, ReportError> {
        let further = self.format.iter();
        Ok(Forms {
            labels: match &self.labels {
                Some(path) => read_labels(path)?,
                None => Labels::default(),
            },
            more_tables: further
                .map(|format| match format {
                    FurtherFormat::Latex => TableFile::Latex,
                })
                .collect(),
            figure_width: match self.figure_width {
                None => FigureWidth::Screen,
                Some(PaperWidth::OneColumn) => FigureWidth::OneColumn,
                Some(PaperWidth::TwoColumns) => FigureWidth::TwoColumns,
            },
        })
    }
}

fn read_labels(path: &Path) -> Result<Labels, ReportError> {
    let refused = |source| ReportError::Labels {
        path: path.to_owned(),
        source,
    };
    let bytes = read_whole(path, MemoryBudget::UNLIMITED);
    let bytes = bytes.map_err(|error| refused(LabelError::File(error.to_string())))?;
    let text = String::from_utf8(bytes);
    let text = text.map_err(|_| refused(LabelError::File("it is no text".to_owned())))?;
    Labels::new(path, &text).map_err(refused)
}

/// Writes the report, prints the best table to standard output and where the report is to standard
/// error.
///
/// # Errors
///
/// When the store cannot be read, the run does not exist, or the report cannot be written.
pub fn execute(arguments: &ReportArguments) -> Result<(), ReportError> {
    if arguments.verify {
        let store = Store::open_read_only(studies(), &arguments.store)?;
        let run = store.run_id(&arguments.run)?;
        let found = while_working("comparing rows with their digests", false, || {
            store.verify_run(run)
        })?;
        super::say(found.summary());
    }
    let out = match &arguments.out {
        Some(out) => out.clone(),
        None => {
            let run = Store::open_read_only(studies(), &arguments.store)?.run(&arguments.run)?;
            PathBuf::from("reports").join(folder_name(&run.name))
        }
    };
    let summary = write(
        &arguments.store,
        &arguments.run,
        &out,
        &InputFolders {
            memory: arguments.memory.budget(),
            ..InputFolders::from_environment()
        },
        arguments.forms()?,
    )?;
    printed(if arguments.json {
        super::screen::print_json(&as_json(&summary))
    } else {
        print_best(&summary, false)
    })
}

/// A reader that has seen enough (a closed pipe) is no error.
pub(super) fn printed(result: io::Result<()>) -> Result<(), ReportError> {
    match result {
        Err(source) if source.kind() != io::ErrorKind::BrokenPipe => Err(ReportError::Write {
            path: PathBuf::from("standard output"),
            source,
        }),
        _ => Ok(()),
    }
}

/// Writes a report with the plans that can be drawn; says which cannot.
///
/// # Errors
///
/// When the store cannot be read, the run does not exist, or the report cannot be written.
pub fn write(
    store: &Path,
    run: &RunSelector,
    out: &Path,
    folders: &InputFolders,
    forms: Forms,
) -> Result<bookahead_report::ReportSummary, ReportError> {
    let (plans, missing) = super::gantt::plan_sections(store, run, folders)?;
    for sentence in &missing {
        super::say(sentence);
    }
    let extras = bookahead_report::ReportExtras {
        plans,
        views: crate::cli::program().views,
        forms,
        ..bookahead_report::ReportExtras::default()
    };
    bookahead_report::write(studies(), store, run, out, &extras)
}

/// What a report found, for scripts: an estimate has its mean, the ends of its interval and how
/// many replications have a value.
fn as_json(summary: &bookahead_report::ReportSummary) -> serde_json::Value {
    let best = &summary.best;
    let rows = best.rows.iter().map(|row| {
        let mut object = serde_json::Map::new();
        for (column, cell) in best.columns.iter().zip(row) {
            let value = match cell {
                Cell::Missing | Cell::Undefined => serde_json::Value::Null,
                Cell::Text(text) => text.clone().into(),
                Cell::Integer(value) => (*value).into(),
                Cell::Number(value) => (*value).into(),
                Cell::Estimate(estimate) => {
                    object.insert(format!("{}_low", column.key), estimate.low().into());
                    object.insert(format!("{}_high", column.key), estimate.high().into());
                    object.insert(format!("{}_n", column.key), estimate.count.into());
                    estimate.mean.into()
                }
            };
            object.insert(column.key.clone(), value);
        }
        serde_json::Value::Object(object)
    });
    serde_json::json!({
        "run": summary.run.id.0,
        "name": summary.run.name,
        "report": summary.report.display().to_string(),
        "points_failed": summary.failed.len(),
        "points_missing": summary.missing,
        "best": rows.collect::<Vec<_>>(),
        "remarks": summary.remarks,
    })
}

/// Prints what a report found: the best table to standard output, everything else to standard
/// error; only what is wrong where somebody wants quiet.
///
/// # Errors
///
/// When standard output cannot be written; a reader that has seen enough (a closed pipe) is no
/// error.
pub fn print_best(summary: &bookahead_report::ReportSummary, quiet: bool) -> io::Result<()> {
    if !quiet {
        let mut text = Vec::new();
        let screen = terminal();
        screen.write(&summary.on_screen.page_on(&screen), &mut text)?;
        for remark in &summary.remarks {
            Terminal::default().write_sentence(remark, &mut text)?;
        }
        match super::output::people().write_all(&text) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
    }
    let mut errors = super::output::StandardError::new();
    if !summary.failed.is_empty() {
        writeln!(
            errors,
            "{} points failed; the report says why",
            summary.failed.len()
        )?;
    }
    if let Some(kept) = summary
        .report
        .parent()
        .and_then(|out| summary.kept.sentence(out))
    {
        writeln!(errors, "{kept}")?;
    }
    if summary.missing > 0 {
        writeln!(
            errors,
            "{} points were not run; the same `run` command goes on",
            summary.missing
        )?;
    }
    if quiet {
        return Ok(());
    }
    writeln!(errors, "report: {}", summary.report.display())
}

/// An experiment's name as the name of a folder.
fn folder_name(name: &str) -> String {
    let name: String = name
        .chars()
        .map(|letter| {
            if letter.is_alphanumeric() || matches!(letter, '-' | '_') {
                letter
            } else {
                '-'
            }
        })
        .collect();
    if name.is_empty() {
        "run".to_owned()
    } else {
        name
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        report: ReportArguments,
    }

    #[test]
    fn runs_are_named_by_number_by_name_or_as_the_latest() {
        let parse = |run: &str| {
            Program::try_parse_from(["bookahead", run, "--out", "x"])
                .map(|program| program.report.run)
                .unwrap()
        };
        assert_eq!(parse("latest"), RunSelector::Latest);
        assert_eq!(parse("12"), RunSelector::Id(12));
        assert_eq!(parse("ctc-pof"), RunSelector::Name("ctc-pof".to_owned()));
    }

    #[test]
    fn a_name_cannot_leave_the_folder_of_reports() {
        assert_eq!(folder_name("../../etc/x y"), "------etc-x-y");
        assert_eq!(folder_name(""), "run");
    }
}
