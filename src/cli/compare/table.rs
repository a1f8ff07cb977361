//! The table of differences on the screen, and the limits of its intervals.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

use super::Row;
use crate::cli::aligned::{Aligned, Heading, form};
use crate::cli::output;
use crate::cli::paragraphs::paragraph;
use crate::cli::screen::axes_text;
use bookahead_report::comparison::{self, Family, Judgement, Method};
use bookahead_report::{Cell, Estimate, is_shown};

pub(super) fn table(rows: &[&Row<'_>], by: Option<&str>) -> io::Result<()> {
    let mut headings = Vec::new();
    if let Some(by) = by {
        headings.push(Heading::new(by, false).wrapped());
    }
    headings.extend([
        Heading::new("measure", false).wrapped(),
        Heading::new("pairs", true).dispensable(4),
        Heading::new("equal", true).dispensable(3),
        Heading::new("n", true),
        Heading::new("first", true),
        Heading::new("second", true),
        Heading::new("difference ± 95 %", true),
        Heading::new("largest", true).dispensable(1),
        Heading::new("at point of the first run", false).dispensable(2),
    ]);
    let mut out = output::people();
    let mut drawn = Aligned::new(&mut out, headings, form());
    for Row {
        group,
        measure,
        difference: row,
        ..
    } in rows
    {
        let mut cells = Vec::new();
        if by.is_some() {
            cells.push(group.clone());
        }
        cells.extend([
            (*measure).to_owned(),
            row.pairs.to_string(),
            row.equal.to_string(),
            match (&row.method, row.replications) {
                (Method::Welch, [first, second]) => format!("{first} and {second}"),
                (_, [pairs, _]) => pairs.to_string(),
            },
            row.first.map_or("–".to_owned(), number),
            row.second.map_or("–".to_owned(), number),
            match row.difference {
                _ if row.is_refused => "refused".to_owned(),
                found => found.map_or("–".to_owned(), estimate),
            },
            row.largest.as_ref().map_or("–".to_owned(), |(value, _)| {
                value.map_or("a gap".to_owned(), number)
            }),
            row.largest.as_ref().map_or(String::new(), |(_, point)| {
                format!(
                    "{}: {}, replication {}",
                    point.place,
                    axes_text(&point.axes),
                    point.replication
                )
            }),
        ]);
        drawn.push(cells)?;
    }
    drawn.finish().map(|_| ())
}

/// The limits of the table's intervals: replications that lack points, and the number of intervals
/// that are read at once.
pub(super) fn caution(rows: &[&Row<'_>], judged: &[Option<Judgement>]) -> String {
    let mut text = String::new();
    let gaps: BTreeSet<&str> = rows
        .iter()
        .filter(|row| !row.difference.is_refused)
        .flat_map(|row| &row.difference.gaps)
        .map(String::as_str)
        .collect();
    if !gaps.is_empty() {
        let _ = writeln!(
            text,
            "\nno interval where replications have different points:"
        );
        for gap in gaps.iter().take(5) {
            let _ = writeln!(text, "  {gap}");
        }
        if gaps.len() > 5 {
            let _ = writeln!(text, "  and {} more: --json has all", gaps.len() - 5);
        }
    }
    text.push_str(&about_the_log(rows));
    let mut families = String::new();
    for (family, what) in [
        (
            Family::Primary,
            "the primary quantity, declared before any run",
        ),
        (Family::Others, "the other quantities"),
    ] {
        let own = |row: &Row<'_>| row.judgement.filter(|own| own.family == family);
        let members: Vec<&&Row<'_>> = rows.iter().filter(|row| own(row).is_some()).collect();
        if members.is_empty() {
            continue;
        }
        let is_significant = |row: &&&&Row<'_>| {
            own(row).is_some_and(|own| own.repeats.is_none() && is_shown(own.adjusted))
        };
        let names: Vec<String> = (members.iter().filter(is_significant))
            .map(|row| match row.group.as_str() {
                "" => row.measure.to_owned(),
                group => format!("{} ({group})", row.measure),
            })
            .collect();
        let significant = match names.is_empty() {
            true => "no difference is significant".to_owned(),
            false => format!("significant in {}", names.join(", ")),
        };
        let after = match comparison::distinct(judged, family) {
            1 => String::new(),
            tested => format!(" after correction for {tested} tests"),
        };
        paragraph(&mut families, &format!("{what}: {significant}{after}."));
    }
    if !families.is_empty() {
        text.push('\n');
        text.push_str(&families);
    }
    text
}

/// At most this many rows are listed with what neighbouring batteries say about their log.
const MOST_OF_LOG: usize = 5;

/// What the differences of neighbouring batteries say about their log.
fn about_the_log(rows: &[&Row<'_>]) -> String {
    let of_log = |row: &&Row<'_>| {
        let log = row.difference.log.filter(|_| row.difference.differs())?;
        let group = match row.group.as_str() {
            "" => String::new(),
            group => format!(" ({group})"),
        };
        Some(format!(
            "  {}{group}: r = {:.2}, {} batteries say as much as {:.1} independent ones, [{}, {}] about the log\n",
            row.measure,
            log.correlation,
            log.count,
            log.effective,
            number(log.interval.low),
            number(log.interval.high)
        ))
    };
    let lines: Vec<String> = rows.iter().filter_map(of_log).collect();
    if lines.is_empty() {
        return String::new();
    }
    let more = match lines.len().saturating_sub(MOST_OF_LOG) {
        0 => String::new(),
        more => format!("  and {more} more: --json has all\n"),
    };
    let mut text = "\n".to_owned();
    paragraph(
        &mut text,
        "the batteries are neighbouring stretches of one log, and ± is about these batteries. Differences of a battery and of the next \
         correlate with r; p-values are by the wider of both intervals:",
    );
    text.extend(lines.into_iter().take(MOST_OF_LOG));
    text.push_str(&more);
    text
}

/// About five significant digits; a difference other than zero never looks like zero.
fn number(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && size < 1e-4 {
        return format!("{value:.2e}");
    }
    if value.fract() == 0.0 {
        return Cell::Number(value).text(0);
    }
    let digits = if size >= 1.0 {
        size.log10().floor() as usize
    } else {
        0
    };
    Cell::Number(value).text(5_usize.saturating_sub(digits).max(1))
}

fn estimate(estimate: Estimate) -> String {
    match estimate.half_width() {
        Some(half) => format!("{} ± {}", number(estimate.mean), number(half)),
        None => number(estimate.mean),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_that_is_there_never_looks_like_zero() {
        assert_eq!(number(1e-13), "1.00e-13");
        assert_eq!(number(-0.00001), "-1.00e-5");
        assert_eq!(number(41_061.25), "41,061.2");
        assert_eq!(number(0.5), "0.50000");
        assert_eq!(number(12.0), "12");
        assert_eq!(number(0.0), "0");
    }
}
