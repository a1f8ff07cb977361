//! The report as one page: a single file without network access, which sorts, filters and shows
//! values under the pointer.
//!
//! The figures are those of the SVG files, drawn by the same code; the script adds behaviour and
//! computes nothing. Everything that depends on the machine and the clock is in `run.md`, which the
//! page names.

mod figures;
mod first_screen;

use bookahead_core::printable::printable;
use maud::{Markup, PreEscaped, html};

use super::content::Content;
use super::figure::Section;
use super::glossary::TERMS;
use super::section::{PlanSection, Served};
use super::svg;
use super::table::{Cell, Table, value_text};
pub use figures::Panels;

/// The style of every page.
pub const STYLE: &str = include_str!("html/style.css");

/// The script of every page.
pub const SCRIPT: &str = include_str!("html/script.js");

/// Cells of one table in the page, so that the pages of large grids open at once; all are in its
/// CSV and Parquet files.
const MOST_CELLS: usize = 20_000;
/// Figures in the page; all are in the folder `plots`.
const MOST_FIGURES: usize = 80;
/// Values of an axis that make a filter.
const MOST_CHOICES: usize = 200;

/// A source as it stands between its tags.
pub(super) fn between_tags(source: &str) -> String {
    format!("\n{source}\n")
}

/// The styles of a report.
#[must_use]
pub fn style() -> String {
    format!("{}\n{}", STYLE, svg::style("figure"))
}

/// A whole page that needs no network: what stands before its body, and the body.
#[must_use]
pub fn document(title: &str, styles: &str, body: &Markup) -> String {
    let page = html! {
        (PreEscaped("<!doctype html>\n"))
        html lang="en" { "\n"
            head { "\n"
                meta charset="utf-8"; "\n"
                meta name="viewport" content="width=device-width, initial-scale=1"; "\n"
                meta name="color-scheme" content="light dark"; "\n"
                link rel="icon" href="data:,"; "\n"
                title { (title) } "\n"
                style { (PreEscaped(between_tags(styles))) } "\n"
            } "\n"
            (body) "\n"
        } "\n"
    };
    printable(&page.into_string()).into_owned()
}

/// A script as it is.
#[must_use]
pub fn script(source: &str) -> Markup {
    html! { script { (PreEscaped(between_tags(source))) } "\n" }
}

/// The way back to the pages of a server, where it hands this one out.
pub(super) fn way_back(served: Option<&Served>) -> Markup {
    html! {
        @if let Some(served) = served {
            nav aria-label="pages" {
                @for (address, name) in &served.links { a href=(address) { (name) } " " }
            } "\n"
            p.note { code { (served.command) } " writes this page into a folder, with all figures as SVG and all tables as Parquet." } "\n"
            @if let Some(run) = served.under_way {
                // The page's script says how far it is, and keeps saying it.
                p.note {
                    span id="news" role="status" data-run=(run) { "The run is under way." }
                    " " a href="" { "Show what it has now" }
                } "\n"
            }
        }
    }
}

impl Content<'_> {
    /// The whole file.
    pub(super) fn html(&self) -> String {
        let (troubles, results): (Vec<&Table>, Vec<&Table>) = self
            .tables
            .iter()
            .partition(|table| matches!(table.name.as_str(), "failed" | "missing"));
        // What is shown beside a figure stands in its chapter.
        let has_axes = (self.by_section().iter()).any(|(section, _)| *section == Section::Axes);
        let beside_figures = |table: &&Table| has_axes && table.name == super::variance::NAME;
        let (beside, results): (Vec<&Table>, Vec<&Table>) =
            results.into_iter().partition(|table| beside_figures(table));
        let body = html! {
            body data-run=(super::sql::this_run(&self.run.configuration_hash))
                data-plans=[self.served.and_then(|served| served.plans.as_deref())] { "\n"
                (self.head())
                (self.filters())
                main { "\n"
                    @for table in troubles {
                        (section(&table.name, &table.title, table_html(table)))
                    }
                    @if let Some(claims) = self.claims {
                        (section("claims", "Which findings held", html! {
                            p { (claims.title) } p { strong { (claims.tally) } } "\n"
                            (table_html(&claims.table))
                        }))
                    }
                    div.chapters {
                        h2 { "More, by chapter" }
                        button id="open-all" type="button" { "Open all" }
                    } "\n"
                    (self.sections(&beside))
                    @if !self.plans.is_empty() {
                        (chapter("plans", "The plan, seen", &count(self.plans.len(), "drawing"), html! {
                            @for plan in plans_html(&self.plans) { (plan) }
                        }))
                    }
                    @for table in results {
                        (chapter(&table.name, &table.title, &count(table.rows.len(), "row"), table_html(table)))
                    }
                    (chapter("configuration", "The configuration", "", html! {
                        pre { (self.run.configuration.trim_end()) } "\n"
                    }))
                    (glossary())
                } "\n"
                div id="tip" role="status" hidden {} "\n"
                (script(SCRIPT))
            }
        };
        document(&format!("{} – bookahead", self.run.name), &style(), &body)
    }

    /// All figures of the page, the first of them that of the headline.
    fn panels(&self) -> Vec<Panels<'_>> {
        Panels::of(&self.figures)
    }

    fn filters(&self) -> Markup {
        let verdicts = (
            "verdict".to_owned(),
            ["held", "missed", "not tested"].map(str::to_owned).to_vec(),
        );
        let axes = self.analysis.axes.iter().map(|axis| {
            let values: Vec<String> = axis.values.iter().map(value_text).collect();
            (axis.key.clone(), values)
        });
        let axes: Vec<_> = axes
            .chain(self.claims.map(|_| verdicts))
            .filter(|(_, values)| values.len() > 1 && values.len() <= MOST_CHOICES)
            .collect();
        html! {
            @if !axes.is_empty() {
                form id="filters" aria-label="filter by axis value" {
                    strong { "Show" } "\n"
                    @for (key, values) in axes {
                        label {
                            (super::table::short(&key)) " "
                            select data-axis=(key) {
                                option value="" { "all" }
                                @for value in values { option { (value) } }
                            }
                        } "\n"
                    }
                    button type="reset" { "all" } output id="shown" {}
                } "\n"
            }
        }
    }

    /// The figures below the headline, by section.
    fn by_section(&self) -> Vec<(Section, Vec<Panels<'_>>)> {
        let mut sections: Vec<(Section, Vec<Panels<'_>>)> = Vec::new();
        let mut panels: Vec<Panels<'_>> = self.panels().into_iter().skip(1).collect();
        panels.sort_by_key(|panels| panels.figures[0].section);
        for panels in panels {
            let section = panels.figures[0].section;
            match sections.last_mut().filter(|(known, _)| *known == section) {
                Some((_, members)) => members.push(panels),
                None => sections.push((section, vec![panels])),
            }
        }
        sections
    }

    /// The chapters of figures, with tables that belong to the axes.
    fn sections(&self, of_axes: &[&Table]) -> Markup {
        let sections = self.by_section();
        let room = MOST_FIGURES / sections.len().max(1);
        let body = |kind: Section, members: &[Panels<'_>]| {
            // A share is of all points, and no mark stands for some of them.
            let has_points = !self.analysis.is_study() && kind != Section::Axes;
            let figures: usize = members.iter().map(|panels| panels.figures.len()).sum();
            let mut shown = 0;
            let fitting = members.iter().take_while(|panels| {
                let is_first = shown == 0;
                shown += panels.figures.len();
                is_first || shown <= room
            });
            let fitting: Vec<&Panels<'_>> = fitting.collect();
            let drawn: usize = fitting.iter().map(|panels| panels.figures.len()).sum();
            html! {
                div.figures { "\n"
                    @for panels in fitting { (panels.html(has_points)) }
                } "\n"
                @if figures > drawn {
                    p.note {
                        (figures - drawn) " more figures are in the folder " code { "plots" } " beside this page."
                    } "\n"
                }
                @if let (Section::Calibration, Some(calibration)) = (kind, &self.calibration) {
                    @for table in &calibration.tables {
                        h3 { (table.title) } "\n"
                        (table_html(table))
                    }
                }
                @if kind == Section::Axes {
                    @for table in of_axes {
                        h3 id=(table.name) { (table.title) } "\n"
                        (table_html(table))
                    }
                }
            }
        };
        html! {
            @for (kind, members) in sections {
                (chapter(id_of(kind), kind.title(), &count(members.len(), "figure"), body(kind, &members)))
            }
        }
    }
}

fn id_of(section: Section) -> &'static str {
    match section {
        Section::Axes => "which-axis",
        Section::Money => "money",
        Section::Jobs => "jobs",
        Section::Reservations => "reservations",
        Section::CoReservations => "co-reservations",
        Section::Fairness => "fairness",
        Section::LostParts => "lost-parts",
        Section::Workflows => "workflows",
        Section::CarriedOut => "carried-out",
        Section::Risk => "risk",
        Section::Messages => "messages",
        Section::Clusters => "clusters",
        Section::OverTime => "over-time",
        Section::Prices => "prices",
        Section::Machine => "machine",
        Section::Waits => "waits",
        Section::Slots => "slots",
        Section::Virtual => "virtual",
        Section::Predictions => "predicted-waits",
        Section::Distributions => "distributions",
        Section::Calibration => "predictions",
    }
}

/// So many of them, in words.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A section that is closed at first and opens in place; its heading says how much is in it.
fn chapter(id: &str, title: &str, size: &str, body: Markup) -> Markup {
    html! {
        details.chapter id=(id) {
            summary { h2 { (title) } " " span.note { (size) } } "\n"
            (body)
        } "\n"
    }
}

/// The words of reports, as the last chapter of a page.
pub(super) fn glossary() -> Markup {
    chapter(
        "glossary",
        "Words",
        &count(TERMS.len(), "word"),
        html! {
            dl.words { "\n"
                @for term in TERMS {
                    dt { (term.name) @if !term.others.is_empty() { " (" (term.others.join(", ")) ")" } }
                    dd { (term.meaning) } "\n"
                }
            }
        },
    )
}

pub(super) fn section(id: &str, title: &str, body: Markup) -> Markup {
    html! { section id=(id) { h2 { (title) } "\n" (body) } "\n" }
}

/// The drawings, of which one has the style for all of their kind.
fn plans_html(plans: &[(PlanSection, String)]) -> impl Iterator<Item = Markup> {
    let style = format!("<style>{}</style>\n", super::gantt::STYLE);
    let mut has_style = false;
    plans.iter().map(move |(plan, _)| {
        let mut plan = plan.clone();
        if has_style {
            plan.svg = plan.svg.replace(&style, "");
        }
        has_style |= plan.svg.contains(&style);
        plan_html(&plan)
    })
}

fn plan_html(plan: &PlanSection) -> Markup {
    html! {
        figure.plan {
            figcaption { h3 { (plan.title) } }
            div.scroll { (PreEscaped(&plan.svg)) }
            p.note { (plan.note) " " (save("svg", Some("plan"))) " A page that zooms: " code { (plan.page) } " in the report's folder." }
        } "\n"
    }
}

/// A button that saves what it stands beside as a file of this kind.
///
/// Within a figure it is named as the figure.
fn save(kind: &str, name: Option<&str>) -> Markup {
    html! { button.save data-name=[name] { (kind.to_uppercase()) } }
}

/// Text between tags, where quotation marks and `>` stay as they are.
fn plain(text: &str) -> PreEscaped<String> {
    PreEscaped(text.replace('&', "&amp;").replace('<', "&lt;"))
}

fn sql_html(sql: &str) -> Markup {
    html! {
        @if !sql.is_empty() {
            details { summary { "SQL" } button.copy { "copy" } pre { (plain(sql)) } } "\n"
        }
    }
}

/// A table that sorts and filters.
pub fn table_html(table: &Table) -> Markup {
    let rows = table.rows.len();
    let most = MOST_CELLS / table.columns.len().max(1);
    html! {
        @if rows == 0 {
            p { "Nothing to show." } "\n"
        } @else {
            div.scroll.tall[rows > 30] {
                table.sorts id={ "table-" (table.name) } {
                    thead {
                        tr { "\n"
                            @for (index, column) in table.columns.iter().enumerate() {
                                th scope="col" class=[numeric_class(table, index)] data-key=(column.key) {
                                    button { (column.title) }
                                }
                            }
                        }
                    } "\n"
                    tbody { "\n" (rows_html(table, most, false)) }
                }
            } "\n"
            @if rows > most {
                p.note {
                    "The first " (most) " of " (rows) " rows; all are in " code { "tables/" (table.name) ".csv" } " in the report's folder."
                } "\n"
            }
            p.note {
                (table.note) " " (save("csv", Some(&table.name)))
                " All digits: " code { "tables/" (table.name) ".parquet" } " in the report's folder."
            } "\n"
        }
        (sql_html(&table.sql))
    }
}

pub(super) fn plain_table(table: &Table, most: usize) -> Markup {
    html! {
        div.scroll {
            table.stacks {
                thead {
                    tr {
                        @for (index, column) in table.columns.iter().enumerate() {
                            th scope="col" class=[numeric_class(table, index)] { (column.title) }
                        }
                    }
                }
                tbody { "\n" (rows_html(table, most, true)) }
            }
        } "\n"
    }
}

fn numeric_class(table: &Table, column: usize) -> Option<&'static str> {
    let is_numeric = table.rows.iter().any(|row| row[column].is_numeric());
    is_numeric.then_some("n")
}

/// With `stacks`, every cell says what its column is, for a narrow screen.
fn rows_html(table: &Table, most: usize, stacks: bool) -> Markup {
    html! {
        @for (row, texts) in table.rows.iter().zip(table.texts()).take(most) {
            tr {
                @for ((cell, text), column) in row.iter().zip(texts).zip(&table.columns) {
                    @let label = stacks.then_some(&column.title);
                    @match value(cell) {
                        // What sorts by a value is set as a number.
                        Some(value) => @match sorted_by(value, &text) {
                            Some(value) => td data-l=[label] data-v=(value) { (text) },
                            None => td.n data-l=[label] { (text) },
                        },
                        None => td data-l=[label] { (text) },
                    }
                }
            } "\n"
        }
    }
}

/// What a table sorts by.
fn value(cell: &Cell) -> Option<f64> {
    match cell {
        Cell::Integer(value) => Some(*value as f64),
        Cell::Number(value) => Some(*value),
        Cell::Estimate(estimate) => Some(estimate.mean),
        Cell::Missing | Cell::Undefined | Cell::Text(_) => None,
    }
}

/// What a cell is sorted by, where its text does not say it.
fn sorted_by(value: f64, text: &str) -> Option<String> {
    let rounded = svg::rounded(value, svg::PAGE_DIGITS);
    let is_said = text.replace(',', "").parse() == rounded.parse::<f64>();
    (!is_said).then_some(rounded)
}
