//! From a run in a store to a folder of files.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use polars::prelude::PolarsError;

use super::analysis::Analysis;
use super::format::{Csv, Markdown, TableFormat};
use super::table::Table;
use super::tables::{best_table, failed_table, missing, run_table, summary_table};
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

/// Writes the report of a run: `report.md`, `tables/*.csv` and `plots/*.svg`, which depend on the run's content alone, and
/// `run.md` with times and machine.
///
/// # Errors
///
/// When the store cannot be read, the run does not exist, or the folder cannot be written.
pub fn write(store: &Path, run: &RunSelector, out: &Path) -> Result<ReportSummary, ReportError> {
    let store = Store::open_read_only(store)?;
    let run = store.run(run)?;
    let failed = store.failed_points(run.id)?;
    let analysis = Analysis::new(&store.points(run.id)?)?;
    drop(store);

    let best = best_table(&analysis, &run);
    let mut tables = vec![
        run_table(&run, &analysis),
        best.clone(),
        summary_table(&analysis, &run),
    ];
    if !failed.is_empty() {
        tables.push(failed_table(&failed, &run));
    }
    let folder = Folder { path: out };
    for table in &tables {
        let format = Csv;
        folder.file(
            &format!("tables/{}.{}", table.name, format.extension()),
            |target| format.write(table, target),
        )?;
    }
    let plots = super::plot::gain_plots(&analysis);
    for plot in &plots {
        folder.file(&format!("plots/{}.svg", plot.name), |target| {
            target.write_all(plot.svg.as_bytes())
        })?;
    }
    folder.file("run.md", |target| write_run(&run, target))?;
    let report = folder.file("report.md", |target| {
        write_head(&run, target)?;
        let markdown = Markdown::default();
        let (what, numbers) = tables.split_at(1);
        markdown.write(&what[0], target)?;
        let (first, rest) = numbers.split_at(1);
        markdown.write(&first[0], target)?;
        for plot in &plots {
            writeln!(target, "![{}](plots/{}.svg)\n", plot.title, plot.name)?;
        }
        for table in rest {
            markdown.write(table, target)?;
        }
        writeln!(
            target,
            "## The configuration\n\n```toml\n{}\n```",
            run.configuration.trim_end()
        )
    })?;
    Ok(ReportSummary {
        missing: missing(&run),
        run,
        best,
        failed,
        report,
    })
}

struct Folder<'p> {
    path: &'p Path,
}

impl Folder<'_> {
    fn file(
        &self,
        name: &str,
        write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    ) -> Result<PathBuf, ReportError> {
        let path = self.path.join(name);
        let fault = |source| ReportError::Write {
            path: path.clone(),
            source,
        };
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(fault)?;
        }
        let mut bytes = Vec::new();
        write(&mut bytes).map_err(fault)?;
        fs::write(&path, bytes).map_err(fault)?;
        Ok(path)
    }
}

fn write_head(run: &RunSummary, target: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(target, "# {}\n", run.name)?;
    if !run.description.trim().is_empty() {
        writeln!(target, "{}\n", run.description.trim())?;
    }
    if run.points_done == 0 {
        writeln!(
            target,
            "**No point of this run has a result: {} of {} points failed{}.** The tables below are empty.\n",
            run.points_failed,
            run.points,
            if run.points_failed > 0 {
                ", see \"Points that failed\""
            } else {
                ""
            }
        )?;
    } else if run.points_done < run.points {
        writeln!(
            target,
            "**{} of {} points have a result; {} failed, {} were not run.** The means are over the replications that \
             are there (column n).\n",
            run.points_done,
            run.points,
            run.points_failed,
            missing(run)
        )?;
    }
    writeln!(
        target,
        "Every number comes from the store; the query stands under its table. When, where and how long: `run.md`.\n"
    )
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

/// Milliseconds since 1970 as a date and time (proleptic Gregorian calendar).
fn utc(milliseconds: i64) -> String {
    let seconds = milliseconds.div_euclid(1_000);
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days are counted from 1 March of year 0, so that the leap day is the last day of a year; 400 years are 146,097 days.
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        rest / 3_600,
        rest / 60 % 60,
        rest % 60
    )
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
