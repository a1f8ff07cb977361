//! Score cards: what one trace measured beside what a paper published, for people (Markdown, terminal) and programs (JSON).
//!
//! A score card computes nothing about the simulation: it arranges the comparisons of [`super::claims`].

use std::fmt::Write as _;

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, presets,
};
use serde::Serialize;

use super::claims::{
    Claim, Comparison, Expected, Experiment, Explanation, Found, Measured, Provenance, Published,
    Quantity, Tolerance, ToleranceRule, Verdict, compact, explain, measure,
};
use super::html::ClaimsSection;
use super::table::{Cell, Column};

/// Measured beside published, for one trace of one paper.
#[derive(Clone, Debug)]
pub struct ScoreCard {
    /// The paper's name.
    pub paper: String,
    /// Author, title, place and year.
    pub title: String,
    /// The trace, as `reproduce --trace` names it.
    pub trace: String,
    /// What the trace is, for people, such as `CTC SP2, 430 processors`.
    pub subject: String,
    /// What a reader must know first: that the workload is a model, that points failed, that nothing was published.
    pub remarks: Vec<String>,
    /// Every comparison, in the order of the claims.
    pub comparisons: Vec<Comparison>,
    /// All strategies as measured, in the form of the paper's tables.
    pub measured: Vec<MeasuredTable>,
    /// The tolerances and their reasons.
    pub tolerances: Vec<ToleranceRule>,
    /// Why claims were missed.
    pub explanations: Vec<Explanation>,
    /// The command that made it.
    pub command: String,
}

/// A table of measured values alone.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredTable {
    /// What it shows.
    pub title: String,
    /// Column heads.
    pub header: Vec<String>,
    /// Cells, as shown.
    pub rows: Vec<Vec<String>>,
}

/// How many claims held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Claims that held.
    pub held: usize,
    /// Claims that did not.
    pub missed: usize,
    /// Claims that could not be compared.
    pub not_tested: usize,
}

impl Tally {
    /// Counts verdicts.
    #[must_use]
    pub fn of<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> Self {
        let mut tally = Self::default();
        for comparison in comparisons {
            match comparison.verdict {
                Verdict::Held => tally.held += 1,
                Verdict::Missed(_) => tally.missed += 1,
                Verdict::NotTested(_) => tally.not_tested += 1,
            }
        }
        tally
    }

    /// `12 held, 3 missed, 1 not tested`.
    #[must_use]
    pub fn sentence(self) -> String {
        format!(
            "{} held, {} missed, {} not tested",
            self.held, self.missed, self.not_tested
        )
    }
}

/// One comparison as programs read it (`reproduce --json`).
#[derive(Clone, Debug, Serialize)]
pub struct Record<'a> {
    id: &'a str,
    trace: &'a str,
    table: Option<&'a str>,
    section: &'a str,
    experiment: Experiment,
    family: Option<&'a str>,
    strategy: Option<&'a str>,
    quantity: Quantity,
    at: Option<f64>,
    provenance: Provenance,
    published: &'a Expected,
    printed: Option<f64>,
    resolves: Option<&'a str>,
    measured: Option<MeasuredValue<'a>>,
    interval: Option<[f64; 2]>,
    batteries: Option<u64>,
    difference_percent: Option<f64>,
    tolerance: Tolerance,
    /// `None` where it could not be compared.
    held: Option<bool>,
    verdict: &'static str,
    detail: Option<&'a str>,
    note: Option<&'a str>,
    statement: String,
    /// Why it was missed, where it was.
    explanation: Option<&'a str>,
}

#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
enum MeasuredValue<'a> {
    Number(f64),
    Order(&'a [String]),
}

impl<'a> From<&'a Comparison> for Record<'a> {
    fn from(comparison: &'a Comparison) -> Self {
        let claim = &comparison.claim;
        let (held, verdict, detail) = match &comparison.verdict {
            Verdict::Held => (Some(true), "held", None),
            Verdict::Missed(how) => (Some(false), "missed", Some(how.as_str())),
            Verdict::NotTested(why) => (None, "not-tested", Some(why.as_str())),
        };
        let (measured, interval, batteries) = match &comparison.found {
            Some(Found::Value {
                value,
                interval,
                batteries,
            }) => (
                Some(MeasuredValue::Number(*value)),
                *interval,
                Some(*batteries),
            ),
            Some(Found::Order(names)) => (Some(MeasuredValue::Order(names)), None, None),
            None => (None, None, None),
        };
        Self {
            id: &claim.id,
            trace: &claim.trace,
            table: claim.table.as_deref(),
            section: &claim.section,
            experiment: claim.experiment,
            family: claim.family.as_deref(),
            strategy: claim.strategy.as_deref(),
            quantity: claim.quantity,
            at: claim.at,
            provenance: claim.provenance,
            published: &claim.expected,
            printed: claim.printed,
            resolves: claim.resolves.as_deref(),
            measured,
            interval,
            batteries,
            difference_percent: comparison.difference_percent,
            tolerance: claim.tolerance,
            held,
            verdict,
            detail,
            note: claim.note.as_deref(),
            statement: claim.statement(),
            explanation: None,
        }
    }
}

const HEADER: [&str; 8] = [
    "claim",
    "published",
    "measured",
    "95 % interval",
    "difference",
    "tolerance",
    "held",
    "why",
];

/// The strategies that the paper compares, in the order of its tables.
const STRATEGIES: [&str; 4] = [
    "conservative-backfilling",
    "heuristic-planning",
    "comprehensive-overbooking",
    "heuristic-overbooking",
];

impl ScoreCard {
    /// How many claims held.
    #[must_use]
    pub fn tally(&self) -> Tally {
        Tally::of(&self.comparisons)
    }

    /// Every comparison as programs read it.
    #[must_use]
    pub fn records(&self) -> Vec<Record<'_>> {
        self.comparisons
            .iter()
            .map(|comparison| Record {
                explanation: explain(&self.explanations, comparison).map(|found| found.text.trim()),
                ..Record::from(comparison)
            })
            .collect()
    }

    /// The explanations of this card's misses with how many each is for, in the order of the file.
    fn used_explanations(&self) -> Vec<(&Explanation, usize)> {
        self.explanations
            .iter()
            .filter_map(|known| {
                let misses = self
                    .comparisons
                    .iter()
                    .filter(|comparison| {
                        explain(&self.explanations, comparison)
                            .is_some_and(|found| found.id == known.id)
                    })
                    .count();
                (misses > 0).then_some((known, misses))
            })
            .collect()
    }

    /// The claims that were missed and that no explanation is for.
    #[must_use]
    pub fn unexplained(&self) -> Vec<&str> {
        self.comparisons
            .iter()
            .filter(|comparison| {
                matches!(comparison.verdict, Verdict::Missed(_))
                    && explain(&self.explanations, comparison).is_none()
            })
            .map(|comparison| comparison.claim.id.as_str())
            .collect()
    }

    /// The card as a section of the page of a report.
    #[must_use]
    pub fn section(&self) -> ClaimsSection {
        let rows = self
            .comparisons
            .iter()
            .map(|comparison| {
                let [
                    _,
                    published,
                    measured,
                    interval,
                    difference,
                    tolerance,
                    held,
                ] = cells(comparison);
                let verdict = match &comparison.verdict {
                    Verdict::Held => "held",
                    Verdict::Missed(_) => "missed",
                    Verdict::NotTested(_) => "not tested",
                };
                let why = match &comparison.verdict {
                    Verdict::Held => String::new(),
                    Verdict::Missed(_) => explain(&self.explanations, comparison)
                        .map_or_else(String::new, |found| {
                            format!("{}: {}", found.id, found.text.trim())
                        }),
                    Verdict::NotTested(_) => held,
                };
                [
                    comparison.claim.id.clone(),
                    comparison.claim.statement(),
                    published,
                    measured,
                    interval,
                    difference,
                    tolerance,
                    verdict.to_owned(),
                    why,
                ]
                .map(Cell::Text)
                .to_vec()
            })
            .collect();
        let columns = [
            ("claim", "Claim"),
            ("statement", "What is claimed"),
            ("published", "Published"),
            ("measured", "Measured"),
            ("interval", "95 % interval"),
            ("difference", "Difference"),
            ("tolerance", "Tolerance"),
            ("verdict", "Verdict"),
            ("why", "Why"),
        ];
        ClaimsSection {
            title: format!("{}. {}.", self.title, self.subject),
            tally: self.tally().sentence(),
            missed: self.tally().missed,
            table: super::Table {
                name: "claims".to_owned(),
                title: "Which findings held".to_owned(),
                columns: columns
                    .into_iter()
                    .map(|(key, title)| Column::plain(key, title))
                    .collect(),
                rows,
                note: format!("Made by `{}`.", self.command),
                sql: String::new(),
            },
        }
    }

    fn cells(&self, comparison: &Comparison, shown: impl Fn(&str) -> String) -> Vec<String> {
        let mut row = cells(comparison).to_vec();
        row.push(
            explain(&self.explanations, comparison)
                .map_or_else(String::new, |found| shown(&found.id)),
        );
        row
    }

    /// The comparisons of each published table, in the order of the claims. Orders stand apart: see [`Self::orders`].
    fn tables(&self) -> Vec<(String, Vec<&Comparison>)> {
        let mut tables: Vec<(String, Vec<&Comparison>)> = Vec::new();
        let numbers = self
            .comparisons
            .iter()
            .filter(|comparison| !comparison.claim.quantity.is_order());
        for comparison in numbers {
            let title = table_title(&comparison.claim);
            match tables.iter_mut().find(|(known, _)| *known == title) {
                Some((_, rows)) => rows.push(comparison),
                None => tables.push((title, vec![comparison])),
            }
        }
        tables
    }

    /// The orders of strategies and families, which a reader looks at first.
    fn orders(&self) -> impl Iterator<Item = &Comparison> {
        self.comparisons
            .iter()
            .filter(|comparison| comparison.claim.quantity.is_order())
    }

    /// The score card as a page of Markdown.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut page = format!(
            "<!-- made by: {} -->\n\n# {}: {}\n\n{}. Made by `{0}`.\n\n",
            self.command, self.paper, self.subject, self.title
        );
        for remark in &self.remarks {
            line(&mut page, &format!("> {remark}\n"));
        }
        if !self.comparisons.is_empty() {
            line(&mut page, &format!("**{}.**\n", self.tally().sentence()));
            line(&mut page, "## Order of the strategies\n");
            for comparison in self.orders() {
                let [subject, published, measured] = order_lines(comparison);
                line(
                    &mut page,
                    &format!("- {subject}\n  - published: {published}\n  - measured: {measured}"),
                );
                if let Some(note) = footnote(comparison) {
                    line(&mut page, &format!("  - {note}"));
                }
                if let Some(found) = explain(&self.explanations, comparison) {
                    line(&mut page, &format!("  - why: {}", link(&found.id)));
                }
            }
            page.push('\n');
        }
        for (title, rows) in self.tables() {
            let tally = Tally::of(rows.iter().copied());
            line(&mut page, &format!("## {title}\n\n{}.\n", tally.sentence()));
            markdown_table(
                &mut page,
                &HEADER,
                rows.iter().map(|row| self.cells(row, link)),
            );
            for comparison in rows {
                if let Some(note) = footnote(comparison) {
                    line(&mut page, &format!("- `{}`: {note}", comparison.claim.id));
                }
            }
            page.push('\n');
        }
        for table in &self.measured {
            line(&mut page, &format!("## {}\n", table.title));
            let header: Vec<&str> = table.header.iter().map(String::as_str).collect();
            markdown_table(&mut page, &header, table.rows.iter().cloned());
            page.push('\n');
        }
        let used = self.used_explanations();
        if !used.is_empty() {
            line(&mut page, "## Why\n");
            for (found, misses) in used {
                let evidence = if found.evidence.is_empty() {
                    String::new()
                } else {
                    format!(" Looked at: {}.", found.evidence.join(", "))
                };
                line(
                    &mut page,
                    &format!(
                        "### {}\n\n{misses} claims. {}{evidence}\n",
                        found.id,
                        found.text.trim().replace('\n', " ")
                    ),
                );
            }
        }
        if !self.comparisons.is_empty() {
            line(
                &mut page,
                "## Tolerances\n\nDecided before anything was measured.\n",
            );
            for rule in &self.tolerances {
                let quantities: Vec<&str> =
                    rule.quantities.iter().map(|known| known.name()).collect();
                line(
                    &mut page,
                    &format!(
                        "- {}: {}. {}",
                        quantities.join(", "),
                        tolerance(rule.tolerance),
                        rule.reason.trim()
                    ),
                );
            }
        }
        page
    }

    /// The score card for a terminal: one table a published table, and the orders.
    #[must_use]
    pub fn terminal(&self) -> String {
        let mut page = format!("{}: {}\n", self.paper, self.subject);
        for remark in &self.remarks {
            line(&mut page, &format!("  {remark}"));
        }
        for (title, rows) in self.tables() {
            line(&mut page, &format!("\n{title}"));
            line(
                &mut page,
                &terminal_table(
                    HEADER.iter().map(|head| (*head).to_owned()).collect(),
                    rows.iter().map(|row| self.cells(row, str::to_owned)),
                ),
            );
        }
        let nothing_judged = self
            .comparisons
            .iter()
            .all(|comparison| matches!(comparison.claim.expected, Expected::KeptAside(_)));
        if nothing_judged {
            for table in &self.measured {
                line(&mut page, &format!("\n{}", table.title));
                line(
                    &mut page,
                    &terminal_table(table.header.clone(), table.rows.iter().cloned()),
                );
            }
        }
        if !self.comparisons.is_empty() {
            page.push('\n');
            for comparison in self.orders() {
                let [subject, published, measured] = order_lines(comparison);
                line(
                    &mut page,
                    &format!("{subject}\n    published  {published}\n    measured   {measured}"),
                );
            }
            line(
                &mut page,
                &format!("{}: {}", self.trace, self.tally().sentence()),
            );
        }
        page
    }
}

/// All strategies of a trace as measured, in the form of the paper's tables: best thresholds, and gains by ratio.
#[must_use]
pub fn measured_tables(
    published: &Published,
    families: &[&str],
    measured: &dyn Measured,
) -> Vec<MeasuredTable> {
    let mut tables = Vec::new();
    for family in families {
        let cell = |experiment, strategy: &str, quantity, at| match measure(
            published,
            measured,
            (experiment, family, strategy),
            quantity,
            at,
        ) {
            Ok(Found::Value { value, .. }) => compact(value),
            _ => "–".to_owned(),
        };
        let names = |heads: &[&str]| heads.iter().map(|head| (*head).to_owned()).collect();
        tables.push(MeasuredTable {
            title: format!("Measured: PoF test, {family} classes"),
            header: names(&["strategy", "max gain", "surplus %", "at PoF_max"]),
            rows: STRATEGIES
                .iter()
                .map(|strategy| {
                    let overbooks = strategy.ends_with("overbooking");
                    let only = |quantity| {
                        if overbooks {
                            cell(Experiment::Pof, strategy, quantity, None)
                        } else {
                            "–".to_owned()
                        }
                    };
                    vec![
                        (*strategy).to_owned(),
                        cell(Experiment::Pof, strategy, Quantity::MaxGain, None),
                        only(Quantity::Surplus),
                        only(Quantity::BestThreshold),
                    ]
                })
                .collect(),
        });
        let mut header: Vec<String> = vec!["strategy".to_owned()];
        for ratio in &published.ratios {
            header.push(format!("gain at ratio {ratio}"));
            header.push("surplus %".to_owned());
        }
        tables.push(MeasuredTable {
            title: format!("Measured: risk test, {family} classes"),
            header,
            rows: STRATEGIES
                .iter()
                .map(|strategy| {
                    let mut row = vec![(*strategy).to_owned()];
                    for ratio in &published.ratios {
                        let at = Some(*ratio);
                        row.push(cell(Experiment::Risk, strategy, Quantity::Gain, at));
                        row.push(cell(Experiment::Risk, strategy, Quantity::Surplus, at));
                    }
                    row
                })
                .collect(),
        });
    }
    tables
}

/// A link to the explanation below.
fn link(id: &str) -> String {
    format!("[{id}](#{id})")
}

fn line(page: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{text}");
}

fn table_title(claim: &Claim) -> String {
    match &claim.table {
        Some(number) => format!("Table {number}"),
        None => match claim.provenance {
            Provenance::Printed => {
                format!("In the text (specification, section {})", claim.section)
            }
            Provenance::Derived => {
                format!(
                    "Derived from printed numbers (specification, section {})",
                    claim.section
                )
            }
        },
    }
}

fn cells(comparison: &Comparison) -> [String; 7] {
    let claim = &comparison.claim;
    let label = claim
        .id
        .strip_prefix(&format!("{}/", claim.trace))
        .unwrap_or(&claim.id);
    let published = match &claim.expected {
        Expected::Value(value) => compact(*value),
        Expected::AtLeast { at_least } => format!("at least {}", compact(*at_least)),
        Expected::Order(names) => names.join(" > "),
        Expected::KeptAside(_) => "kept aside".to_owned(),
    };
    let (measured, interval) = match &comparison.found {
        Some(Found::Value {
            value, interval, ..
        }) => (
            compact(*value),
            interval.map_or_else(
                || "–".to_owned(),
                |[low, high]| format!("{} to {}", compact(low), compact(high)),
            ),
        ),
        Some(Found::Order(names)) => (names.join(" > "), "–".to_owned()),
        None => ("–".to_owned(), "–".to_owned()),
    };
    let difference = match (comparison.difference_percent, claim.tolerance) {
        (Some(percent), Tolerance::Relative(_)) => format!("{percent:+.1} %"),
        // A tolerance in the unit of the quantity is compared with a difference in that unit.
        (Some(percent), Tolerance::Absolute(_)) => {
            let away = match (&claim.expected, &comparison.found) {
                (Expected::Value(published), Some(Found::Value { value, .. })) => value - published,
                _ => 0.0,
            };
            let sign = if away < 0.0 { "" } else { "+" };
            format!("{sign}{} ({percent:+.1} %)", compact(away))
        }
        (None, _) => "–".to_owned(),
    };
    let held = match &comparison.verdict {
        Verdict::Held => "yes".to_owned(),
        Verdict::Missed(how) => format!("no: {how}"),
        Verdict::NotTested(why) => format!("not tested: {why}"),
    };
    let tolerance = match claim.expected {
        Expected::Value(_) | Expected::KeptAside(_) => tolerance(claim.tolerance),
        Expected::AtLeast { .. } | Expected::Order(_) => "exact".to_owned(),
    };
    [
        label.to_owned(),
        published,
        measured,
        interval,
        difference,
        tolerance,
        held,
    ]
}

fn tolerance(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Relative(share) => format!("±{} %", compact(share * 100.0)),
        Tolerance::Absolute(0.0) => "exact".to_owned(),
        Tolerance::Absolute(width) => format!("±{}", compact(width)),
    }
}

fn footnote(comparison: &Comparison) -> Option<String> {
    let claim = &comparison.claim;
    let printed = claim.printed.map(|printed| {
        let error = claim
            .resolves
            .as_ref()
            .map_or_else(String::new, |error| format!(" ({error})"));
        format!("{} is printed{error}", compact(printed))
    });
    match (printed, &claim.note) {
        (Some(printed), Some(note)) => Some(format!("{printed}; {note}")),
        (Some(printed), None) => Some(printed),
        (None, note) => note.clone(),
    }
}

/// Whether an order agrees, what was published, and what was measured.
fn order_lines(comparison: &Comparison) -> [String; 3] {
    let claim = &comparison.claim;
    let names = |names: &[String]| names.join(" > ");
    let agrees = match &comparison.verdict {
        Verdict::Held => "agrees".to_owned(),
        Verdict::Missed(how) => format!("differs, {how}"),
        Verdict::NotTested(why) => format!("not tested, {why}"),
    };
    let published = match &claim.expected {
        Expected::Order(order) => names(order),
        Expected::KeptAside(_) => "kept aside".to_owned(),
        Expected::Value(_) | Expected::AtLeast { .. } => "–".to_owned(),
    };
    let measured = match &comparison.found {
        Some(Found::Order(order)) => names(order),
        Some(Found::Value { .. }) | None => "–".to_owned(),
    };
    [format!("{}: {agrees}", claim.id), published, measured]
}

fn markdown_table(page: &mut String, header: &[&str], rows: impl Iterator<Item = Vec<String>>) {
    line(page, &format!("| {} |", header.join(" | ")));
    let rule: Vec<&str> = header
        .iter()
        .enumerate()
        .map(|(index, _)| if index == 0 { "---" } else { "---:" })
        .collect();
    line(page, &format!("|{}|", rule.join("|")));
    for row in rows {
        let escaped: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        line(page, &format!("| {} |", escaped.join(" | ")));
    }
}

/// Lines above and below the header only: a row is a line.
const STYLE: TableStyle = presets::NOTHING
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// From this width on the first column is not wrapped.
const WIDE: u16 = 110;

fn terminal_table(header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(STYLE)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(header)
        .add_rows(rows);
    if !table.is_tty() {
        // Piped output keeps one line a row.
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    let wide = table.width().is_some_and(|width| width >= WIDE);
    for (index, column) in table.column_iter_mut().enumerate() {
        if index > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        } else if wide {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::claims::{Sample, Samples, evaluate, parse};

    const TEXT: &str = "
paper = \"p2012\"
title = \"A. Author: A paper\"
thresholds = [0.1, 0.2]
ratios = [1.0]
[[tolerance]]
quantities = [\"max-gain\", \"booked\"]
relative = 0.15
reason = \"because\"
[[tolerance]]
quantities = [\"surplus\", \"order\"]
absolute = 10.0
reason = \"because\"
[[table]]
number = \"6.1\"
trace = \"ctc\"
section = \"7.1.1\"
provenance = \"printed\"
claims = [
  { id = \"ctc/pof/runtime/heuristic-planning/max-gain\", value = 1000 },
  { id = \"ctc/pof/runtime/heuristic-overbooking/surplus\", value = 60, printed = 160, resolves = \"E3\" },
]
[[table]]
number = \"-\"
trace = \"ctc\"
section = \"11.1\"
provenance = \"derived\"
claims = [
  { id = \"ctc/baselines/heuristic-planning/booked\", value = 5000 },
  { id = \"ctc/pof/runtime/order\", order = [\"heuristic-planning\", \"heuristic-overbooking\"] },
]
";

    fn card() -> ScoreCard {
        let published = parse("published.toml", TEXT).unwrap();
        let mut samples = Samples::new(2);
        for battery in 0..2 {
            for (strategy, at, fees) in [
                ("heuristic-planning", 0.1, 1_100.0),
                ("heuristic-planning", 0.2, 1_100.0),
                ("heuristic-overbooking", 0.1, 1_400.0),
                ("heuristic-overbooking", 0.2, 1_650.0),
            ] {
                let fees = fees + f64::from(battery) * 2.0 - 1.0;
                let sample = Sample {
                    fees,
                    ..Sample::default()
                };
                samples.push(Experiment::Pof, "runtime", strategy, at, battery, sample);
            }
        }
        ScoreCard {
            paper: published.paper.clone(),
            title: published.title.clone(),
            trace: "ctc".to_owned(),
            subject: "CTC SP2, 430 processors".to_owned(),
            remarks: vec!["A remark.".to_owned()],
            comparisons: evaluate(&published, &published.claims, &samples),
            measured: measured_tables(&published, &["runtime"], &samples),
            tolerances: published.tolerances.clone(),
            explanations: Vec::new(),
            command: "bookahead reproduce p --trace ctc".to_owned(),
        }
    }

    #[test]
    fn the_page_shows_measured_beside_published_and_whether_it_held() {
        let page = card().markdown();
        for text in [
            "**2 held, 1 missed, 1 not tested.**",
            "## Table 6.1\n",
            // Student's t of ±1 about 1,100 over two batteries: 12.706 · 1.414 / √2 = 12.7.
            "| pof/runtime/heuristic-planning/max-gain | 1,000 | 1,100 | 1,087 to 1,113 | +10.0 % | ±15 % | yes |",
            // (1650 − 1100) / 1100 = 50 %.
            "| pof/runtime/heuristic-overbooking/surplus | 60 | 50 | 50 to 50 | -10 (-16.7 %) | ±10 | yes |",
            "- `ctc/pof/runtime/heuristic-overbooking/surplus`: 160 is printed (E3)",
            "not tested: not measured completely: heuristic-planning with runtime classes at 1",
            "- ctc/pof/runtime/order: differs, 1 of 1 pairs the other way round\n  - published: heuristic-planning > \
             heuristic-overbooking\n  - measured: heuristic-overbooking > heuristic-planning\n",
            "## Measured: PoF test, runtime classes",
            "| heuristic-overbooking | 1,650 | 50 | 0.2 |",
            "because",
        ] {
            assert!(page.contains(text), "{text}\nis missing in\n{page}");
        }
    }

    #[test]
    fn the_terminal_shows_the_same_tables_and_the_tally() {
        let page = card().terminal();
        assert!(page.contains("Table 6.1"), "{page}");
        assert!(page.contains("1,087 to 1,113"), "{page}");
        assert!(
            page.ends_with("ctc: 2 held, 1 missed, 1 not tested\n"),
            "{page}"
        );
    }

    #[test]
    fn programs_get_id_published_measured_interval_tolerance_and_verdict() {
        let card = card();
        let json = serde_json::to_value(card.records()).unwrap();
        let first = &json[0];
        assert_eq!(first["id"], "ctc/pof/runtime/heuristic-planning/max-gain");
        assert_eq!(first["published"], 1_000.0);
        assert_eq!(first["measured"], 1_100.0);
        assert!(first["interval"][0].as_f64().unwrap() < 1_100.0);
        assert_eq!(first["tolerance"]["kind"], "relative");
        assert_eq!(first["tolerance"]["width"], 0.15);
        assert_eq!(first["held"], true);
        assert_eq!(json[2]["held"], serde_json::Value::Null);
        assert_eq!(json[2]["verdict"], "not-tested");
        assert_eq!(json[3]["held"], false);
        assert_eq!(json[3]["measured"][0], "heuristic-overbooking");
    }

    #[test]
    fn a_trace_without_published_numbers_shows_what_was_measured() {
        let mut card = card();
        card.comparisons.clear();
        assert!(
            card.terminal()
                .contains("Measured: PoF test, runtime classes")
        );
        assert!(
            card.markdown()
                .contains("Measured: risk test, runtime classes")
        );
        assert!(!card.markdown().contains("Tolerances"));
    }
}
