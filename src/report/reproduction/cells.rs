//! Comparisons as cells and lines of text, and tables of them for files and terminals.

use std::fmt::Write as _;

use comfy_table::{
    CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, presets,
};

use crate::report::claims::{
    Claim, Comparison, Expected, Found, Ground, Provenance, Tolerance, Verdict, compact,
};

/// A link to the explanation below.
pub(super) fn link(id: &str) -> String {
    format!("[{id}](#{id})")
}

pub(super) fn line(page: &mut String, text: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(page, "{text}");
}

pub(super) fn table_title(claim: &Claim) -> String {
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

pub(super) fn cells(comparison: &Comparison) -> [String; 7] {
    let claim = &comparison.claim;
    let interval = match &comparison.found {
        Some(Found::Value {
            interval: Some([low, high]),
            ..
        }) => format!("{} to {}", compact(*low), compact(*high)),
        _ => "–".to_owned(),
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
        Expected::Value(_) | Expected::HeldOut(_) => tolerance(claim.tolerance),
        Expected::AtLeast { .. } | Expected::Order(_) => "exact".to_owned(),
    };
    [
        label(claim).to_owned(),
        published(claim),
        measured(comparison),
        interval,
        difference,
        tolerance,
        held,
    ]
}

/// The second verdict with what it rests on; empty where the claim has none of its own.
pub(super) fn second(comparison: &Comparison) -> String {
    let Some(second) = &comparison.second else {
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
            ..
        }) => format!(
            "{} at the published threshold, {} to {} at the best",
            compact(*at_published),
            compact(*low),
            compact(*high)
        ),
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

/// How a claim is called beside others of its trace.
pub(super) fn label(claim: &Claim) -> &str {
    claim
        .id
        .strip_prefix(&format!("{}/", claim.trace))
        .unwrap_or(&claim.id)
}

/// What was published, as a cell.
pub(super) fn published(claim: &Claim) -> String {
    match &claim.expected {
        Expected::Value(value) => compact(*value),
        Expected::AtLeast { at_least } => format!("at least {}", compact(*at_least)),
        Expected::Order(names) => names.join(" > "),
        Expected::HeldOut(_) => "held out".to_owned(),
    }
}

/// What was measured, as a cell.
pub(super) fn measured(comparison: &Comparison) -> String {
    match &comparison.found {
        Some(Found::Value { value, .. }) => compact(*value),
        Some(Found::Order(names)) => names.join(" > "),
        None => "–".to_owned(),
    }
}

pub(super) fn tolerance(tolerance: Tolerance) -> String {
    match tolerance {
        Tolerance::Relative(share) => format!("±{} %", compact(share * 100.0)),
        Tolerance::Absolute(0.0) => "exact".to_owned(),
        Tolerance::Absolute(width) => format!("±{}", compact(width)),
    }
}

pub(super) fn footnote(comparison: &Comparison) -> Option<String> {
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
pub(super) fn order_lines(comparison: &Comparison) -> [String; 3] {
    let claim = &comparison.claim;
    let names = |names: &[String]| names.join(" > ");
    let agrees = match &comparison.verdict {
        Verdict::Held => "agrees".to_owned(),
        Verdict::Missed(how) => format!("differs, {how}"),
        Verdict::NotTested(why) => format!("not tested, {why}"),
    };
    let published = match &claim.expected {
        Expected::Order(order) => names(order),
        Expected::HeldOut(_) => "held out".to_owned(),
        Expected::Value(_) | Expected::AtLeast { .. } => "–".to_owned(),
    };
    let measured = match &comparison.found {
        Some(Found::Order(order)) => names(order),
        Some(Found::Value { .. }) | None => "–".to_owned(),
    };
    [format!("{}: {agrees}", claim.id), published, measured]
}

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
