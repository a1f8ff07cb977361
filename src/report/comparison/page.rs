//! A comparison as a folder: one page, Markdown, and tables and figures as files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use maud::{Markup, html};

use super::answer::answers;
use super::figures::{Drawn, figures};
use super::trust::trust;
use super::{ComparedRun, Comparison, tables};
use crate::figure::Figure;
use crate::format::inline::{self, label, text};
use crate::format::{Markdown, TableFormat as _};
use crate::html::{self, Panels, document, plain_table, script, section, table_html, way_back};
use crate::section::{ReportError, Served};
use crate::statistics::EXPLAINED;
use crate::table::Table;
use crate::write::{Folder, KeptFiles};

/// Figures in the page; all are in the folder `plots`.
const MOST_FIGURES: usize = 40;

/// Figures in `comparison.md`.
const MARKDOWN_FIGURES: usize = 6;

const STYLE: &str = ".answer{border:1px solid var(--line);border-left:6px solid var(--link);border-radius:6px;padding:8px 14px;\
margin:8px 0 12px;font-size:17px;max-width:110ch;overflow-wrap:anywhere}
.cards{grid-template-columns:minmax(0,1fr)}
#table-settings td,#table-runs td,#table-inputs td{max-width:48ch;overflow-wrap:anywhere}";

/// What a comparison shows, in all of its forms.
struct Content {
    title: String,
    answers: Vec<String>,
    trust: Vec<(bool, String)>,
    /// The main quantities, on the first screen.
    main: Table,
    tables: Vec<Table>,
    drawn: Drawn,
}

/// Writes the report of a comparison of runs, of which there is at least one, with the first of
/// them: `index.html`, `comparison.md`, `tables/*` as CSV and Parquet and `plots/*` as SVG and CSV.
/// `wanted` names the quantities to be shown first; empty leaves the choice to what the runs
/// measured. Gives the page's place, and what the folder keeps of an earlier report.
///
/// # Errors
///
/// When the folder cannot be written.
pub fn write(
    runs: &[ComparedRun],
    wanted: &[String],
    out: &Path,
) -> Result<(PathBuf, KeptFiles), ReportError> {
    let content = Content::new(&Comparison::new(runs, wanted));
    let mut folder = Folder::new(out)?;
    for table in &content.tables {
        folder.table(table)?;
    }
    for figure in &content.drawn.figures {
        folder.figure(figure)?;
    }
    folder.file("comparison.md", |target| content.write_markdown(target))?;
    let page = content.html(None);
    let path = folder.file("index.html", |target| target.write_all(page.as_bytes()))?;
    let kept = folder.finish()?;
    Ok((path, kept))
}

/// The page of that report alone, for a browser that asks for it.
#[must_use]
pub fn page(runs: &[ComparedRun], served: &Served) -> String {
    Content::new(&Comparison::new(runs, &[])).html(Some(served))
}

/// The styles of the page.
pub(crate) fn style() -> String {
    format!("{}\n{STYLE}", html::style())
}

impl Content {
    fn new(comparison: &Comparison<'_>) -> Self {
        let labels: Vec<&str> = comparison
            .others()
            .iter()
            .map(|run| run.label.as_str())
            .collect();
        let mut tables = vec![
            tables::overall(comparison, "differences", &comparison.quantities),
            tables::combinations(comparison),
            tables::settings(comparison),
            tables::runs(comparison),
            tables::inputs(comparison),
        ];
        let points = tables::points(comparison);
        if !points.rows.is_empty() {
            tables.push(points);
        }
        Self {
            title: format!(
                "{} compared with {}",
                labels.join(", "),
                comparison.reference().label
            ),
            answers: answers(comparison),
            trust: trust(comparison),
            main: tables::overall(comparison, "main", &comparison.main),
            tables,
            drawn: figures(comparison),
        }
    }

    fn html(&self, served: Option<&Served>) -> String {
        let body = html! {
            body { "\n"
                (self.head(served))
                main { "\n"
                    (section("curves", "All runs in one plot", self.figures()))
                    @for table in &self.tables { (section(&table.name, &table.title, table_html(table))) }
                    (html::glossary())
                } "\n"
                div id="tip" role="status" hidden {} "\n"
                (script(html::SCRIPT))
            }
        };
        document(&format!("{} – bookahead", self.title), &style(), &body)
    }

    fn head(&self, served: Option<&Served>) -> Markup {
        html! {
            header { "\n"
                (way_back(served))
                div.bar {
                    h1 { (self.title) }
                    button id="theme" type="button" aria-label="light or dark" { "light or dark" }
                } "\n"
                @for answer in &self.answers { p.answer { (answer) } "\n" }
                div.cards { "\n"
                    section.card id="trust" {
                        h2 { "Can I trust it?" } "\n"
                        ul { "\n"
                            @for (good, sentence) in &self.trust {
                                li class=(if *good { "good" } else { "bad" }) { (sentence) } "\n"
                            }
                        }
                        "\n" p.note { (EXPLAINED) } "\n"
                    } "\n"
                    section class="card wide" id="outcome" {
                        h2 { (self.main.title) } "\n"
                        (plain_table(&self.main, usize::MAX))
                    } "\n"
                } "\n"
                nav aria-label="sections" {
                    a href="#curves" { "Curves" } " "
                    @for table in &self.tables { a href={ "#" (table.name) } { (table.title) } " " }
                } "\n"
            } "\n"
        }
    }

    fn figures(&self) -> Markup {
        html! {
            div.figures { "\n"
                @for panels in Panels::of(self.drawn.figures.iter().take(MOST_FIGURES)) { (panels.html(false)) }
            } "\n"
            @for note in self.figure_notes() { p.note { (note) } "\n" }
        }
    }

    /// What is not drawn.
    fn figure_notes(&self) -> Vec<String> {
        let drawn = &self.drawn;
        let more = drawn.figures.len().saturating_sub(MOST_FIGURES);
        [
            (more, "more figures are in the folder plots"),
            (
                drawn.coinciding,
                "figures are not drawn, because the runs coincide in them or only one has values",
            ),
            (
                drawn.too_many,
                "figures of further settings are not drawn; the tables have their numbers",
            ),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}."))
        .chain(
            (drawn.figures.is_empty() && drawn.coinciding == 0)
                .then(|| "The runs have no setting in common that could be drawn.".to_owned()),
        )
        .collect()
    }

    fn write_markdown(&self, target: &mut Vec<u8>) -> std::io::Result<()> {
        writeln!(target, "# {}\n", text(&self.title))?;
        for answer in &self.answers {
            writeln!(target, "**{}**\n", inline::sentence(answer))?;
        }
        writeln!(target, "## Can I trust it?\n")?;
        for (good, sentence) in &self.trust {
            writeln!(
                target,
                "* {} {}",
                if *good { "✓" } else { "**!**" },
                inline::sentence(sentence)
            )?;
        }
        writeln!(target, "\n{EXPLAINED}\n")?;
        let figures: Vec<&Figure> = self.drawn.figures.iter().take(MARKDOWN_FIGURES).collect();
        if !figures.is_empty() {
            writeln!(target, "## All runs in one plot\n")?;
        }
        for figure in figures {
            let title = label(&figure.title);
            writeln!(target, "![{title}](plots/{}.svg)\n", figure.name)?;
        }
        for note in self.figure_notes() {
            writeln!(target, "{note}\n")?;
        }
        let markdown = Markdown::default();
        self.tables
            .iter()
            .try_for_each(|table| markdown.write(table, target))
    }
}
