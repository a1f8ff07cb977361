//! Writes the report of a run in a store as a folder of files.

mod folder;
mod manifest;

pub use self::folder::Folder;
pub use self::folder::{Forms, KeptFiles, TableFile};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::answer::Statement;
use super::content::ReportExtras;
use super::content::{Content, shortfall, utc};
use super::figure::{Figure, Marks, Section};
use super::format::inline::{block, code, label, paragraphs, sentence, text};
use super::format::{Markdown, TableFormat, inert};
use super::section::ReportError;
use super::situation::ScreenAnswer;
use super::statistics::EXPLAINED;
use super::summary_tables::missing;
use super::svg;
use super::table::Table;
use super::trust;
use crate::PublishedNumber;
use bookahead_lab::store::{FailedPoint, RunSelector, RunSummary, Store};
use bookahead_lab::study::Studies;

/// A summary of a written report, for the screen.
#[derive(Clone, Debug)]
pub struct ReportSummary {
    /// The run.
    pub run: RunSummary,
    /// The table with the main result.
    pub best: Table,
    /// What the screen shows: the answer in sentences above a table.
    pub on_screen: ScreenAnswer,
    /// The sentences below "Can I trust it?" on the page: about the choice of the best, about what
    /// replications share, and about promised risks.
    pub remarks: Vec<String>,
    /// Points without a result.
    pub failed: Vec<FailedPoint>,
    /// Points that were never tried.
    pub missing: u64,
    /// The report's first file.
    pub report: PathBuf,
    /// Files of an earlier report that the folder keeps.
    pub kept: KeptFiles,
}

/// Only the page of a report, for a browser that asks for it: `index.html` as [`write()`] would
/// write it now.
///
/// # Errors
///
/// When the store cannot be read or the run does not exist.
pub fn page(
    studies: Studies,
    store: &Path,
    run: &RunSelector,
    extras: &ReportExtras,
) -> Result<String, ReportError> {
    let content = Content::read(&Store::open_read_only(studies, store)?, run, extras)?;
    Ok(content.html())
}

/// Writes the report of a run: `index.html`, one page that needs nothing else; `report.md`,
/// `tables/*` as CSV and Parquet (and what `extras.forms` add) and `plots/*` as SVG and CSV, which
/// depend on the run's content alone; and `run.md` with times and machine.
///
/// # Errors
///
/// When the store cannot be read, the run does not exist, or the folder cannot be written.
pub fn write(
    studies: Studies,
    store: &Path,
    run: &RunSelector,
    out: &Path,
    extras: &ReportExtras,
) -> Result<ReportSummary, ReportError> {
    let content = Content::read(&Store::open_read_only(studies, store)?, run, extras)?;
    let forms = &extras.forms;
    (forms
        .labels
        .check(&content.figures, content.tables_in_files()))
    .map_err(|source| ReportError::Labels {
        path: forms.labels.file().to_owned(),
        source,
    })?;
    let mut folder = Folder::new(out)?.with(forms);
    content.write_parts(&mut folder)?;
    folder.dated_file("run.md", |target| write_run(&content, target))?;
    folder.file("report.md", |target| content.write_markdown(target))?;
    let page = content.html();
    let report = folder.file("index.html", |target| target.write_all(page.as_bytes()))?;
    let kept = folder.finish()?;
    let on_screen = content.on_screen();
    Ok(ReportSummary {
        remarks: trust::remarks(&content),
        kept,
        missing: missing(&content.run),
        run: content.run,
        best: content.best,
        on_screen,
        failed: content.failed,
        report,
    })
}

impl Content<'_> {
    fn on_screen(&self) -> ScreenAnswer {
        let table = self.each_axis.as_ref().unwrap_or(&self.best).clone();
        let shares = self.shares.clone();
        // How sure that is stands among the remarks below the table.
        let said = self.statements.iter();
        let said: Vec<Statement> = said
            .filter(|statement| statement.question != Statement::SURE)
            .cloned()
            .collect();
        ScreenAnswer::new(&self.analysis, &self.run, &said, shares, table)
    }

    /// The tables that have files of their own.
    fn tables_in_files(&self) -> impl Iterator<Item = &Table> {
        let tables = self.tables.iter().chain([&self.what]).chain(self.scores());
        tables.chain(self.claims.map(|claims| &claims.table))
    }

    /// Tables, figures and plans, each in files of their own.
    fn write_parts(&self, folder: &mut Folder<'_>) -> Result<(), ReportError> {
        for table in self.tables_in_files() {
            folder.table(table)?;
        }
        for figure in &self.figures {
            folder.figure(figure)?;
        }
        for (section, file) in &self.plans {
            folder.file(&section.page, |target| target.write_all(file.as_bytes()))?;
        }
        Ok(())
    }

    fn write_markdown(&self, target: &mut Vec<u8>) -> std::io::Result<()> {
        write_head(&self.run, target)?;
        let markdown = Markdown::default();
        markdown.write(&self.what, target)?;
        if let Some(table) = &self.each_axis {
            markdown.write(table, target)?;
        }
        markdown.write(&self.best, target)?;
        writeln!(target, "## Can I trust it?\n")?;
        for (mark, remark) in trust::of(self) {
            writeln!(target, "- {}{}", mark.in_words(), sentence(&remark))?;
        }
        writeln!(target)?;
        if self.analysis.measures.is_empty() {
            for figure in self.figures.iter().take(MARKDOWN_FIGURES) {
                markdown_figure(figure, target)?;
            }
        } else {
            markdown_sections(&self.figures, target)?;
        }
        let above = ["each-axis", "best"];
        let others = self.tables.iter();
        let others = others.filter(|table| !above.contains(&table.name.as_str()));
        for table in self.scores().iter().chain(others) {
            markdown.write(table, target)?;
        }
        let configuration = self.run.configuration.trim_end();
        writeln!(
            target,
            "## The configuration\n\n{}",
            block("toml", configuration)
        )
    }
}

/// Figures in `report.md`; all are in the folder `plots`.
const MARKDOWN_FIGURES: usize = 12;

/// Figures of one section in `report.md`.
const MARKDOWN_SECTION: usize = 6;

fn markdown_figure(figure: &Figure, target: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(
        target,
        "![{}](plots/{}.svg)\n",
        label(&figure.title),
        figure.name
    )
}

/// Writes the first figures of every section below the heading of the section.
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

/// Writes the data of a figure, one row for each mark.
pub(super) fn write_figure(figure: &Figure, target: &mut Vec<u8>) -> std::io::Result<()> {
    let digits = |value: f64| {
        format!("{value:.11e}")
            .parse::<f64>()
            .map_or(String::new(), |value| (value + 0.0).to_string())
    };
    let mut writer = csv::Writer::from_writer(target);
    writer.write_record([
        "series", "x", "mean", "low", "high", "q05", "q25", "median", "q75", "q95", "count",
    ])?;
    for series in &figure.series {
        // The columns: mean, ends of the interval, five quantiles, then the number of values.
        let mut row = |name: &str, x: f64, values: [Option<f64>; 8], count: Option<u64>| {
            let values = values.map(|value| value.map_or_else(String::new, digits));
            let place = svg::place_name_or_digits(&figure.x, x);
            let record = [inert(name), inert(&place)].into_iter();
            let count = count.map_or_else(String::new, |count| count.to_string());
            writer.write_record(record.chain(values).chain([count]))
        };
        let label = series.label.as_str();
        match &series.marks {
            Marks::Curve(marks)
            | Marks::Whiskers(marks)
            | Marks::Front(marks)
            | Marks::Points(marks)
            | Marks::Bars(marks) => {
                for mark in marks {
                    let [mean, low, high] = [mark.mean, mark.low, mark.high].map(Some);
                    let values = [mean, low, high, None, None, None, None, None];
                    row(label, mark.x, values, Some(mark.count))?;
                }
            }
            Marks::Named(marks) => {
                for (mark, name) in marks {
                    let values = [Some(mark.mean), None, None, None, None, None, None, None];
                    row(
                        &format!("{label}, {name}"),
                        mark.x,
                        values,
                        Some(mark.count),
                    )?;
                }
            }
            Marks::Cells(cells) => {
                for cell in cells {
                    let name = svg::place_name(&figure.y, cell.row);
                    let [mean, low, high] =
                        [cell.mark.mean, cell.mark.low, cell.mark.high].map(Some);
                    row(
                        &format!("{label}, {} {name}", figure.y.title),
                        cell.mark.x,
                        [mean, low, high, None, None, None, None, None],
                        Some(cell.mark.count),
                    )?;
                }
            }
            Marks::Steps(steps) => {
                for (x, share) in steps {
                    row(
                        label,
                        *x,
                        [Some(*share), None, None, None, None, None, None, None],
                        None,
                    )?;
                }
            }
            Marks::Boxes(boxes) => {
                for mark in boxes {
                    let [q05, q25, median, q75, q95] = mark.quantiles.map(Some);
                    let values = [Some(mark.mean), None, None, q05, q25, median, q75, q95];
                    row(label, mark.x, values, Some(mark.count))?;
                }
            }
        }
    }
    for series in &figure.series {
        for mark in &series.published {
            let (what, [mean, low, high]) = match mark.number {
                PublishedNumber::Value {
                    value,
                    within: [low, high],
                } => ("published", [value, low, high].map(Some)),
                PublishedNumber::AtMost(value) => ("published, at most", [None, None, Some(value)]),
                PublishedNumber::AtLeast(value) => {
                    ("published, at least", [None, Some(value), None])
                }
            };
            let place = match mark.until {
                Some(_) => String::new(),
                None => svg::place_name_or_digits(&figure.x, mark.x),
            };
            let names = [inert(&format!("{}: {what}", series.label)), inert(&place)];
            let numbers = [mean, low, high].map(|value| value.map_or_else(String::new, digits));
            let rest = std::iter::repeat_n(String::new(), 6);
            writer.write_record(names.into_iter().chain(numbers).chain(rest))?;
        }
    }
    writer.flush()
}

fn write_head(run: &RunSummary, target: &mut Vec<u8>) -> std::io::Result<()> {
    writeln!(target, "# {}\n", text(&run.name))?;
    if !run.description.trim().is_empty() {
        writeln!(target, "{}\n", paragraphs(run.description.trim()))?;
    }
    if let Some(shortfall) = shortfall(run) {
        writeln!(target, "**{shortfall}**\n")?;
    }
    writeln!(
        target,
        "Every number comes from the store; the query stands under its table. When, where and how long: `run.md`. \
         {EXPLAINED}\n"
    )
}

/// Writes the part that differs between two runs of the same configuration.
fn write_run(content: &Content<'_>, target: &mut Vec<u8>) -> std::io::Result<()> {
    let run = &content.run;
    writeln!(target, "# Run {} of {}\n", run.id.0, code(&run.name))?;
    writeln!(target, "* state: {}", text(&run.state))?;
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
        "* machine: {}{} cores, {}",
        run.machine_host
            .as_ref()
            .map_or_else(String::new, |host| format!("{}, ", text(host))),
        run.machine_cores,
        text(&run.machine_os)
    )?;
    if let Some(source) = &run.source {
        writeln!(target, "* configuration file: {}", code(source))?;
    }
    let commit = text(run.program_commit.as_deref().unwrap_or("not recorded"));
    writeln!(
        target,
        "* program: {} (commit {commit})\n",
        text(&run.program_version)
    )?;
    Markdown::default().write(&content.simulator, target)
}
