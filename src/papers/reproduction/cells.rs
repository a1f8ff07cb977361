//! Results as cells and lines of text, and tables of them for files and terminals.

use std::fmt::Write as _;

use bookahead_core::printable::printable;
use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, presets,
};

use crate::findings::tables::{CellCheck, Expected, Found, Ground};
use crate::findings::{Check, Finding, FindingResult, Provenance, Tolerance, Verdict, compact};
use bookahead_report::format::inline;

/// A link to the explanation below.
pub(super) fn link(id: &str) -> String {
    let is_plain = |letter: &char| letter.is_alphanumeric() || "-_./@".contains(*letter);
    let anchor: String = id.chars().filter(is_plain).collect();
    format!("[{}](#{anchor})", inline::label(id))
}

pub(super) fn line(page: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{}", printable(text));
}

/// Below which title a finding stands.
pub(super) fn title(finding: &Finding) -> String {
    let section = &finding.section;
    match &finding.check {
        Check::Cell(check) => match (&check.table, finding.provenance) {
            (Some(number), _) => format!("Table {number}"),
            (None, Provenance::Derived) => {
                format!("Derived from printed numbers ({section})")
            }
            (None, _) => format!("In the text ({section})"),
        },
        _ => section.clone(),
    }
}

/// Behind a measured number whose setting was chosen on the batteries that it is measured on.
const CHOSEN: &str = " †";

/// What [`CHOSEN`] means; `None` where nothing was chosen.
pub(super) fn chosen<'r>(
    mut results: impl Iterator<Item = &'r FindingResult>,
) -> Option<&'static str> {
    results
        .any(|result| result.cell().is_some_and(CellCheck::is_chosen))
        .then_some(
            "† The setting is the best (or worst) of all settings, chosen on the very batteries that it is measured on: a highest gain or surplus is \
             somewhat too high, and its interval, of the mean at the chosen setting, does not contain the choice. The paper chose in the same way, so \
             like is compared with like.",
        )
}

pub(super) fn cells(result: &FindingResult) -> [String; 7] {
    let check = result.cell();
    let own = check.map(|check| check.tolerance);
    let interval = match &result.found {
        Some(Found::Value {
            interval: Some([low, high]),
            ..
        }) => format!("{} to {}", compact(*low), compact(*high)),
        _ => "–".to_owned(),
    };
    let difference = match (result.difference_percent(), own) {
        // A tolerance in the unit of the quantity is compared with a difference in that unit.
        (Some(percent), Some(Tolerance::Absolute(_))) => {
            let published = check.map(|check| &check.expected);
            let away = match (published, &result.found) {
                (Some(Expected::Value(published)), Some(Found::Value { value, .. })) => {
                    value - published
                }
                _ => 0.0,
            };
            let sign = if away < 0.0 { "" } else { "+" };
            format!("{sign}{} ({percent:+.1} %)", compact(away))
        }
        (Some(percent), _) => format!("{percent:+.1} %"),
        (None, _) => "–".to_owned(),
    };
    let held = match &result.verdict {
        Verdict::Held => "yes".to_owned(),
        Verdict::Missed(how) => format!("no: {how}"),
        Verdict::NotTested(why) => format!("not tested: {why}"),
    };
    let is_near = check
        .is_some_and(|check| matches!(check.expected, Expected::Value(_) | Expected::HeldOut(_)));
    let tolerance = own
        .filter(|_| is_near)
        .map_or_else(|| "exact".to_owned(), tolerance);
    let is_chosen = check.is_some_and(CellCheck::is_chosen);
    let mark = if is_chosen { CHOSEN } else { "" };
    [
        label(&result.finding).to_owned(),
        published(&result.finding),
        format!("{}{mark}", result.measured),
        interval,
        difference,
        tolerance,
        held,
    ]
}

/// The second verdict with what it rests on; empty where the finding has none of its own.
pub(super) fn second(result: &FindingResult) -> String {
    let Some(second) = &result.second else {
        return String::new();
    };
    let ground = match &second.ground {
        Some(Ground::Alignments { union, .. }) => {
            let intervals: Vec<String> = union
                .iter()
                .map(|[low, high]| format!("{} to {}", compact(*low), compact(*high)))
                .collect();
            intervals.join(" or ")
        }
        Some(Ground::Peak {
            at_published,
            interval_of_best: [low, high],
            best_above,
            ..
        }) => {
            let paired = best_above.map_or_else(String::new, |[low, high]| {
                let (low, high) = (compact(low), compact(high));
                format!("; battery by battery the best is {low} to {high} above")
            });
            format!(
                "{} at the published threshold, {} to {} at the best{paired}",
                compact(*at_published),
                compact(*low),
                compact(*high)
            )
        }
        None => String::new(),
    };
    match (&second.verdict, &second.ground) {
        (Verdict::Held, _) => format!("held: {ground}"),
        (Verdict::Missed(how), Some(Ground::Alignments { .. })) => {
            format!("missed: {how}, {ground}")
        }
        (Verdict::Missed(how), _) => format!("missed: {how}"),
        (Verdict::NotTested(why), None) => format!("not tested: {why}"),
        (Verdict::NotTested(_), Some(_)) => ground,
    }
}

/// How a finding is called beside others of its trace.
pub(super) fn label(finding: &Finding) -> &str {
    let trace = finding.trace.as_deref().unwrap_or_default();
    let rest = finding.id.strip_prefix(trace);
    rest.and_then(|rest| rest.strip_prefix('/'))
        .unwrap_or(&finding.id)
}

/// What was published, as a cell.
pub(super) fn published(finding: &Finding) -> String {
    match &finding.check {
        Check::Cell(check) => match &check.expected {
            Expected::Value(value) => compact(*value),
            Expected::AtLeast { at_least } => format!("at least {}", compact(*at_least)),
            Expected::Order(_) | Expected::HeldOut(_) => finding.expected(),
        },
        _ => finding.expected(),
    }
}

pub(super) fn tolerance(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Relative(share) => format!("±{} %", compact(share * 100.0)),
        Tolerance::Absolute(0.0) => "exact".to_owned(),
        Tolerance::Absolute(width) => format!("±{}", compact(width)),
        Tolerance::Range { .. } => "among the replications".to_owned(),
    }
}

pub(super) fn footnote(result: &FindingResult) -> Option<String> {
    let check = result.cell()?;
    let printed = check.printed.map(|printed| {
        let error = check
            .resolves
            .as_ref()
            .map_or_else(String::new, |error| format!(" ({error})"));
        format!("{} is printed{error}", compact(printed))
    });
    match (printed, &result.finding.note) {
        (Some(printed), Some(note)) => Some(format!("{printed}; {note}")),
        (Some(printed), None) => Some(printed),
        (None, note) => note.clone(),
    }
}

/// Whether an order agrees, what was published, and what was measured.
pub(super) fn order_lines(result: &FindingResult) -> [String; 3] {
    let agrees = match &result.verdict {
        Verdict::Held => "agrees".to_owned(),
        Verdict::Missed(how) => format!("differs, {how}"),
        Verdict::NotTested(why) => format!("not tested, {why}"),
    };
    let finding = &result.finding;
    let heading = format!("{}: {agrees}", finding.id);
    [heading, finding.expected(), result.measured.clone()]
}

/// A table of cells that are Markdown.
pub(super) fn markdown_table(
    page: &mut String,
    header: &[&str],
    rows: impl Iterator<Item = Vec<String>>,
) {
    line(page, &format!("| {} |", header.join(" | ")));
    let rule: Vec<&str> = header
        .iter()
        .enumerate()
        .map(|(index, _)| if index == 0 { "---" } else { "---:" })
        .collect();
    line(page, &format!("|{}|", rule.join("|")));
    for row in rows {
        line(page, &format!("| {} |", row.join(" | ")));
    }
}

/// Lines above and below the header only: a row is a line.
const STYLE: TableStyle = presets::NOTHING
    .top_border(LineStyle::none().fill('─').junction('─'))
    .header_separator(LineStyle::none().fill('─').junction('─'))
    .bottom_border(LineStyle::none().fill('─').junction('─'));

/// From this width on the first column is not wrapped.
const WIDE: u16 = 110;

pub(super) fn terminal_table(
    header: Vec<String>,
    rows: impl Iterator<Item = Vec<String>>,
) -> String {
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
