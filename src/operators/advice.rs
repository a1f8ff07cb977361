//! Advice about a machine from its log: one page that answers an operator's questions from the runs
//! of a few experiments.
//!
//! The experiments and their sizes are decided where they are made. This module asks the store
//! about them (`planning`, `queue`, `machine`, `reservation`, `ties`), with the queries that stand
//! under the tables, and lays out the results (`page`). Only the estimates of users come from the
//! log itself.

mod machine;
mod page;
mod planning;
mod queue;
mod recommendation;
mod requests;
mod reservation;
mod samples;
mod ties;

pub use recommendation::{Recommendation, in_words};
pub use requests::{Requester, Requests};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use bookahead_lab::store::Store;
use bookahead_lab::study::Studies;
use bookahead_report::estimates::EstimatesReport;
use bookahead_report::figure::Figure;
use bookahead_report::section::ReportError;
use bookahead_report::statistics::Estimate;
use bookahead_report::table::{Cell, Table, grouped};
use bookahead_report::write::KeptFiles;

/// An experiment behind the advice, after it was run.
#[derive(Clone, Debug)]
pub struct AdviceRun {
    /// Its name in the store.
    pub name: String,
    /// The hash of its configuration, by which queries find it.
    pub configuration_hash: String,
    /// Its file, relative to the page.
    pub file: String,
    /// What stands in the file.
    pub text: String,
    /// Points that failed.
    pub failed: usize,
}

/// A reservation that was priced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AskedReservation {
    /// Its nodes.
    pub nodes: u32,
    /// The cores of these nodes; the number of nodes if cores are not known.
    pub cores: u64,
    /// How long it is, in hours.
    pub hours: f64,
}

/// A machine as its operators configure it.
#[derive(Clone, Debug, PartialEq)]
pub struct AdvisedMachine {
    /// What it is called.
    pub name: String,
    /// Its file, as the user named it.
    pub file: String,
}

/// What advice is made of.
#[derive(Clone, Debug)]
pub struct AdviceSource<'a> {
    /// The studies of the program.
    pub studies: Studies,
    /// What the log is called.
    pub label: &'a str,
    /// The log as the user named it.
    pub file: &'a str,
    /// The command that makes the page again.
    pub command: String,
    /// The store with the runs.
    pub store: &'a Path,
    /// What was looked at of the log, in sentences.
    pub sampled: Vec<String>,
    /// How its users estimate, by width and by user.
    pub estimates: EstimatesReport,
    /// Who asks for more time than is used.
    pub requests: Requests,
    /// The planner's experiment.
    pub planning: AdviceRun,
    /// The queue's experiment: on nodes that are alike, or on the machine.
    pub queue: AdviceRun,
    /// The machine that jobs wait for; `None` where it is not said, and its nodes are taken to be
    /// alike.
    pub machine: Option<AdvisedMachine>,
    /// The waits that the log records, in seconds, by the number of the job in the log.
    pub recorded: &'a HashMap<i64, i64>,
    /// The planner's experiment with predictions.
    pub predictions: AdviceRun,
    /// The experiment about a reservation, or why there is none.
    pub reservation: Result<AdviceRun, String>,
    /// The queue's experiment with submissions that are moved by up to a minute; `None` where it
    /// was not asked for.
    pub ties: Option<AdviceRun>,
    /// The reservation.
    pub asked: AskedReservation,
    /// What a failed job costs, in prices of a successful one.
    pub penalty_ratio: f64,
    /// What is added to a time of the log to get seconds since 1970 on the machine's clock; `None`
    /// where the log does not say it.
    pub clock: Option<i64>,
}

/// What was written.
#[derive(Clone, Debug)]
pub struct AdviceSummary {
    /// The page.
    pub page: PathBuf,
    /// What the folder keeps of an earlier report.
    pub kept: KeptFiles,
    /// What the operators could do, at most three things.
    pub recommendations: Vec<Recommendation>,
    /// Questions and answers, in the order of the page: first whether the log can be explained.
    pub answers: Vec<(String, String)>,
}

/// A question with its answer and what the answer rests on.
#[derive(Debug)]
struct Section<'a> {
    id: &'static str,
    question: String,
    answer: String,
    /// What exactly was measured, and what is not known.
    method: String,
    tables: Vec<Table>,
    figures: Vec<Figure>,
    /// What follows from it for the operators, where it is more than chance.
    recommendations: Vec<Recommendation>,
    /// Where its numbers come from; `None` for the log itself.
    run: Option<&'a AdviceRun>,
    /// The command that shows the numbers again.
    command: String,
}

/// Writes the advice: `index.html`, `advice.md`, `tables/*` as CSV and Parquet, `plots/*` as SVG
/// and CSV, and the experiments as files.
///
/// # Errors
///
/// When the store cannot be read, or the folder cannot be written.
pub fn write(source: &AdviceSource<'_>, out: &Path) -> Result<AdviceSummary, ReportError> {
    let store = Store::open_read_only(source.studies, source.store)?;
    let mut sections = vec![machine::section(&store, source)?];
    sections.push(of_estimates(source));
    sections.extend(planning::sections(&store, source)?);
    sections.push(reservation::section(&store, source)?);
    sections.extend(queue::sections(&store, source)?);
    page::write(source, &sections, out)
}

/// How good the users' estimates are.
fn of_estimates(source: &AdviceSource<'_>) -> Section<'static> {
    let tables = source.estimates.classes.clone();
    let number = |key: &str| -> f64 {
        let Some(table) = tables.first() else {
            return 0.0;
        };
        let column = table.columns.iter().position(|column| column.key == key);
        match column.and_then(|column| table.rows.first()?.get(column)) {
            Some(Cell::Number(value)) => *value,
            Some(Cell::Integer(value)) => *value as f64,
            _ => 0.0,
        }
    };
    let share = |key: &str| format!("{} %", grouped(number(key), 0));
    Section {
        id: "estimates",
        question: "How good are estimates?".to_owned(),
        answer: format!(
            "Jobs use {} of the requested time in the mean and {} in the median; {} of them use less than a tenth, {} nine tenths or more.",
            share("mean_percent"),
            share("median_percent"),
            share("under_10_percent"),
            share("from_90_percent"),
        ),
        method: "All usable jobs of the log are counted, so there is no interval. Users are those with the most jobs.".to_owned(),
        tables,
        figures: Vec::new(),
        recommendations: Vec::new(),
        run: None,
        command: format!(
            "bookahead trace estimates {} --classes resources,user",
            source.file
        ),
    }
}

impl Section<'_> {
    /// The first sentence of the answer, for the list of answers.
    fn short(&self) -> &str {
        let end = self
            .answer
            .find(". ")
            .map_or(self.answer.len(), |end| end + 1);
        self.answer[..end].trim()
    }
}

/// ` [1,200, 1,400]`, or nothing where there is no interval.
fn interval(estimate: &Estimate, decimals: usize) -> String {
    match (estimate.low(), estimate.high()) {
        (Some(low), Some(high)) => {
            format!(" [{}, {}]", grouped(low, decimals), grouped(high, decimals))
        }
        _ => String::new(),
    }
}

/// A mean with its interval in words; a dash where there is none.
fn said(estimate: Option<Estimate>, decimals: usize) -> String {
    estimate.map_or_else(
        || "–".to_owned(),
        |estimate| {
            format!(
                "{}{}",
                grouped(estimate.mean, decimals),
                interval(&estimate, decimals)
            )
        },
    )
}

/// As [`said`], with a sign and what it means where it may be chance, or has no interval.
fn changed(difference: Option<Estimate>, decimals: usize, unit: &str) -> String {
    let Some(difference) = difference else {
        return "–".to_owned();
    };
    let sign = if difference.mean > 0.0 { "+" } else { "" };
    let chance = match difference.interval {
        Some(_) if difference.is_significant() => "",
        Some(_) => ", which may be chance",
        None => ", without an interval",
    };
    format!(
        "{sign}{} {unit}{}{chance}",
        grouped(difference.mean, decimals),
        interval(&difference, decimals)
    )
}

impl AdviceSource<'_> {
    /// The command that shows a query's numbers.
    fn shows(&self, run: &AdviceRun) -> String {
        format!(
            "bookahead show {} --points --store {}",
            run.name,
            self.store.display()
        )
    }
}
