//! From a run in a store to a folder of files.

mod folder;

use self::folder::Folder;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use polars::prelude::PolarsError;

use super::analysis::Analysis;
use super::calibration::calibration;
use super::figure::{Figure, Marks, Section};
use super::figures::{
    Clusters, PlannedWorkflow, curves, distributions, fronts, over_time, planned_workflows,
    reserved, shares, simulator, studies,
};
use super::format::{Csv, Markdown, Parquet, TableFormat};
use super::html::{ClaimsSection, Page, PlanSection};
use super::svg;
use super::table::{Table, value_text};
use super::tables::{
    best_table, failed_table, missing, missing_table, risk_optimal_table, run_table, summary_table,
};
use super::workflow_gantt::WorkflowGantt;
use crate::scheduling::measures::Topic;
use crate::store::{FailedPoint, RunSelector, RunSummary, Store, StoreError};

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store cannot be read, or has no such run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the report cannot be written.
    #[error("cannot write `{path}`: {source}; check the folder, or choose another one")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The columns of the store could not be folded.
    #[error("cannot compute the tables: {0}; this is a fault of the program, please report it")]
    Compute(#[from] PolarsError),
}

/// What was written, for the screen.
#[derive(Clone, Debug)]
pub struct ReportSummary {
    /// The run.
    pub run: RunSummary,
    /// The table that answers what came out.
    pub best: Table,
    /// Points without a result.
    pub failed: Vec<FailedPoint>,
    /// Points that were never tried.
    pub missing: u64,
    /// The report's first file.
    pub report: PathBuf,
}

/// What a report may contain beyond what the store says.
#[derive(Clone, Debug, Default)]
pub struct ReportExtras {
    /// Which findings of a paper held.
    pub claims: Option<ClaimsSection>,
    /// Drawings of plans, with their pages as `(name, text)`.
    pub plans: Vec<(PlanSection, String)>,
}

/// Writes the report of a run: `index.html`, one page that needs nothing else; `report.md`, `tables/*` as CSV and Parquet and
/// `plots/*` as SVG and CSV, which depend on the run's content alone; and `run.md` with times and machine.
///
/// # Errors
///
/// When the store cannot be read, the run does not exist, or the folder cannot be written.
pub fn write(store: &Path, run: &RunSelector, out: &Path) -> Result<ReportSummary, ReportError> {
    write_with(store, run, out, &ReportExtras::default())
}

/// Points without a result that are listed one by one.
const MOST_MISSING: u32 = 1_000;

/// As [`write()`], with more sections.
///
/// # Errors
///
/// As [`write()`].
pub fn write_with(
    store: &Path,
    run: &RunSelector,
    out: &Path,
    extras: &ReportExtras,
) -> Result<ReportSummary, ReportError> {
    let store = Store::open_read_only(store)?;
    let run = store.run(run)?;
    let hash = run.configuration_hash.as_str();
    let failed = store.failed_points(run.id)?;
    let missing_points = store.missing_points(run.id, MOST_MISSING)?;
    let points = store.points(run.id)?;
    let analysis = Analysis::new(&points)?;
    let mut figures = shares(&analysis, hash);
    let has_workflows = analysis
        .measures
        .iter()
        .any(|measure| measure.topic == Topic::Workflows);
    let mut planned = Vec::new();
    if has_workflows {
        figures.extend(fronts(&store, &points, &analysis, &run)?);
        planned = planned_workflows(&store, &points, &analysis)?;
    }
    let (over_axes, left_out) = if analysis.is_study() {
        studies(&analysis, hash)
    } else {
        curves(&analysis, hash)
    };
    figures.extend(over_axes);
    figures.extend(distributions(&store, &points, &analysis, hash)?);
    if !analysis.measures.is_empty() {
        let counts = store.reservation_counts(run.id)?;
        figures.extend(reserved(&counts, &points, &analysis, hash));
    }
    let values = store.cluster_values(run.id)?;
    let clusters = Clusters::new(&values, &points, &analysis, hash);
    figures.extend(clusters.figures());
    if !values.is_empty() {
        figures.extend(over_time(&store, &points, &analysis, hash)?);
    }
    let calibration = calibration(&store.calibration(run.id)?, &points, &analysis, hash);
    if let Some(calibration) = &calibration {
        figures.extend(calibration.figures.iter().cloned());
    }
    let simulator = simulator(&store.simulator_times(run.id)?, hash);
    drop(store);

    let best = best_table(&analysis, &run);
    let what = run_table(&run, &analysis);
    let mut tables = Vec::new();
    if !failed.is_empty() {
        tables.push(failed_table(&failed, &run));
    }
    if !missing_points.is_empty() {
        tables.push(missing_table(&missing_points, &run));
    }
    tables.push(best.clone());
    tables.extend(risk_optimal_table(&analysis, &points, &run));
    tables.push(summary_table(&analysis, &run));
    tables.extend(clusters.table());

    let mut folder = Folder::new(out)?;
    let scores = calibration
        .as_ref()
        .map_or(&[][..], |calibration| &calibration.tables);
    let claims = extras.claims.as_ref().map(|claims| &claims.table);
    for table in tables
        .iter()
        .chain([&what, &simulator])
        .chain(scores)
        .chain(claims)
    {
        folder.table(table)?;
    }
    for figure in &figures {
        folder.file(&format!("plots/{}.svg", figure.name), |target| {
            target.write_all(svg::file(figure).as_bytes())
        })?;
        folder.file(&format!("plots/{}.csv", figure.name), |target| {
            write_figure(figure, target)
        })?;
    }
    let gantts = workflow_plans(&planned);
    for (section, page) in gantts.iter().chain(&extras.plans) {
        folder.file(&section.page, |target| target.write_all(page.as_bytes()))?;
    }
    folder.file("run.md", |target| write_run(&run, target))?;
    folder.file("report.md", |target| {
        write_head(&run, target)?;
        let markdown = Markdown::default();
        markdown.write(&what, target)?;
        markdown.write(&best, target)?;
        if analysis.measures.is_empty() {
            for figure in figures.iter().take(MARKDOWN_FIGURES) {
                markdown_figure(figure, target)?;
            }
        } else {
            markdown_sections(&figures, target)?;
        }
        for table in scores
            .iter()
            .chain(tables.iter().filter(|table| table.name != "best"))
        {
            markdown.write(table, target)?;
        }
        writeln!(
            target,
            "## The configuration\n\n```toml\n{}\n```",
            run.configuration.trim_end()
        )
    })?;
    let plans: Vec<PlanSection> = gantts
        .into_iter()
        .map(|(plan, _)| plan)
        .chain(extras.plans.iter().map(|(plan, _)| plan.clone()))
        .collect();
    let page = Page {
        run: &run,
        missing: missing(&run),
        is_study: analysis.is_study(),
        best: &best,
        tables: &tables,
        figures: &figures,
        calibration: calibration.as_ref(),
        axes: analysis
            .axes
            .iter()
            .map(|axis| {
                (
                    axis.key.clone(),
                    axis.values.iter().map(value_text).collect(),
                )
            })
            .collect(),
        simulator,
        claims: extras.claims.as_ref(),
        plans: &plans,
        facts: facts(&run, &analysis),
        remarks: if left_out > 0 {
            vec![format!(
                "{left_out} figures of further situations are not drawn; the tables have their numbers"
            )]
        } else {
            Vec::new()
        },
    };
    let report = folder.file("index.html", |target| {
        target.write_all(page.html().as_bytes())
    })?;
    folder.finish()?;
    Ok(ReportSummary {
        missing: missing(&run),
        run,
        best,
        failed,
        report,
    })
}

/// The drawings of applications, with their files.
fn workflow_plans(planned: &[PlannedWorkflow]) -> Vec<(PlanSection, String)> {
    planned
        .iter()
        .map(|workflow| {
            let gantt = WorkflowGantt::new(workflow);
            let section = PlanSection {
                title: gantt.title(),
                svg: gantt.inline(),
                page: format!("plots/workflow-{}.svg", workflow.search),
                note: gantt.note(),
            };
            (section, gantt.file())
        })
        .collect()
}

/// Figures in `report.md`; all are in the folder `plots`.
const MARKDOWN_FIGURES: usize = 12;

/// Figures of one section in `report.md`.
const MARKDOWN_SECTION: usize = 6;

fn markdown_figure(figure: &Figure, target: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(target, "![{}](plots/{}.svg)\n", figure.title, figure.name)
}

/// The first figures of every section below its heading.
fn markdown_sections(figures: &[Figure], target: &mut Vec<u8>) -> std::io::Result<()> {
    let mut sections: Vec<Section> = figures.iter().map(|figure| figure.section).collect();
    sections.sort_unstable();
    sections.dedup();
    for section in sections {
        writeln!(target, "## {}\n", section.title())?;
        figures
            .iter()
            .filter(|figure| figure.section == section)
            .take(MARKDOWN_SECTION)
            .try_for_each(|figure| markdown_figure(figure, target))?;
    }
    Ok(())
}

fn facts(run: &RunSummary, analysis: &Analysis) -> Vec<(String, String)> {
    let mut facts = vec![
        (
            "points".to_owned(),
            format!("{} of {} done", run.points_done, run.points),
        ),
        (
            "replications".to_owned(),
            format!("{}, seed {}", run.replications, run.seed),
        ),
    ];
    for axis in &analysis.axes {
        let values: Vec<String> = axis.values.iter().map(value_text).collect();
        let shown = if values.len() > 8 {
            format!(
                "{} … {} ({} values)",
                values[..3].join(", "),
                values[values.len() - 1],
                values.len()
            )
        } else {
            values.join(", ")
        };
        facts.push((super::tables::short(&axis.key).to_owned(), shown));
    }
    facts.push((
        "configuration".to_owned(),
        run.configuration_hash.chars().take(12).collect(),
    ));
    facts
}

/// The data of a figure, one row a mark.
fn write_figure(figure: &Figure, target: &mut Vec<u8>) -> std::io::Result<()> {
    let digits = |value: f64| {
        format!("{value:.11e}")
            .parse::<f64>()
            .map_or(String::new(), |value| (value + 0.0).to_string())
    };
    let mut writer = csv::Writer::from_writer(target);
    writer.write_record([
        "series", "x", "mean", "low", "high", "q05", "q25", "median", "q75", "q95", "count",
    ])?;
    let empty = String::new;
    for series in &figure.series {
        let row = |x: f64, cells: [String; 9]| {
            let mut record = vec![
                series.label.clone(),
                svg::place_name_or_digits(&figure.x, x),
            ];
            record.extend(cells);
            record
        };
        match &series.marks {
            Marks::Curve(marks)
            | Marks::Whiskers(marks)
            | Marks::Front(marks)
            | Marks::Points(marks)
            | Marks::Bars(marks) => {
                for mark in marks {
                    writer.write_record(row(
                        mark.x,
                        [
                            digits(mark.mean),
                            digits(mark.low),
                            digits(mark.high),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            mark.count.to_string(),
                        ],
                    ))?;
                }
            }
            Marks::Named(marks) => {
                for (mark, name) in marks {
                    let mut record = row(
                        mark.x,
                        [
                            digits(mark.mean),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            mark.count.to_string(),
                        ],
                    );
                    record[0] = format!("{}, {name}", series.label);
                    writer.write_record(record)?;
                }
            }
            Marks::Steps(steps) => {
                for (x, share) in steps {
                    writer.write_record(row(
                        *x,
                        [
                            digits(*share),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                            empty(),
                        ],
                    ))?;
                }
            }
            Marks::Boxes(boxes) => {
                for mark in boxes {
                    let [q05, q25, median, q75, q95] = mark.quantiles.map(digits);
                    writer.write_record(row(
                        mark.x,
                        [
                            digits(mark.mean),
                            empty(),
                            empty(),
                            q05,
                            q25,
                            median,
                            q75,
                            q95,
                            mark.count.to_string(),
                        ],
                    ))?;
                }
            }
        }
    }
    writer.flush()
}

fn write_head(run: &RunSummary, target: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(target, "# {}\n", run.name)?;
    if !run.description.trim().is_empty() {
        writeln!(target, "{}\n", run.description.trim())?;
    }
    if let Some(shortfall) = shortfall(run) {
        writeln!(target, "**{shortfall}**\n")?;
    }
    writeln!(
        target,
        "Every number comes from the store; the query stands under its table. When, where and how long: `run.md`.\n"
    )
}

/// What a reader must know first: that results are missing.
pub(super) fn shortfall(run: &RunSummary) -> Option<String> {
    if run.points_done == 0 {
        let why = if run.points_failed > 0 {
            ", see \"Points that failed\""
        } else {
            ""
        };
        return Some(format!(
            "No point of this run has a result: {} of {} points failed{why}. The tables below are empty.",
            run.points_failed, run.points
        ));
    }
    (run.points_done < run.points).then(|| {
        format!(
            "{} of {} points have a result; {} failed, {} were not run. The means are over the replications that are there \
             (column n).",
            run.points_done,
            run.points,
            run.points_failed,
            missing(run)
        )
    })
}

/// The part that differs between two runs of the same configuration.
fn write_run(run: &RunSummary, target: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(target, "# Run {} of `{}`\n", run.id.0, run.name)?;
    writeln!(target, "* state: {}", run.state)?;
    writeln!(target, "* started: {}", utc(run.started))?;
    if let Some(ended) = run.ended {
        writeln!(target, "* ended: {}", utc(ended))?;
        writeln!(
            target,
            "* duration: {:.1} s",
            (ended - run.started) as f64 / 1_000.0
        )?;
    }
    writeln!(
        target,
        "* time in its simulations: {:.1} s",
        run.simulation_seconds
    )?;
    writeln!(
        target,
        "* machine: {} cores, {}",
        run.machine_cores, run.machine_os
    )?;
    if let Some(source) = &run.source {
        writeln!(target, "* configuration file: `{source}`")?;
    }
    let commit = run.program_commit.as_deref().unwrap_or("not recorded");
    writeln!(
        target,
        "* program: {} (commit {commit})",
        run.program_version
    )
}

/// Milliseconds since 1970 as a date and time; a time outside of all calendars as the number that it is.
pub(super) fn utc(milliseconds: i64) -> String {
    match jiff::Timestamp::from_millisecond(milliseconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string(),
        Err(_) => format!("{milliseconds} ms since 1970"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_shown_as_dates() {
        assert_eq!(utc(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_827_696_000), "2000-02-29 12:34:56 UTC");
        assert_eq!(utc(1_767_225_599_999), "2025-12-31 23:59:59 UTC");
    }
}
