//! The answer of a study: how its first quantity changes along its lines, and in which situations
//! it changes otherwise.

use std::collections::{BTreeMap, BTreeSet};

use super::Statement;
use crate::figure::{Change, Course, Figure, Mark, Marks, Scale, ScaleKind, Series};
use crate::plots::words;
use crate::svg::{place_name, short_number};
use crate::table::short;

/// Lines of a figure that are put into words.
const MOST_LINES: usize = 4;

/// The figure that the answer of a study is read off.
pub(super) fn headline(figures: &[Figure]) -> Option<&Figure> {
    figures.iter().find(|figure| has_lines(figure))
}

/// The figures of the quantity that the answer of a study is read off, over the same axis: one a
/// situation.
pub(super) fn shown_first(figures: &[Figure]) -> Vec<&Figure> {
    let Some(first) = headline(figures) else {
        return Vec::new();
    };
    let same = figures.iter();
    same.filter(|figure| figure.is_of_quantity_of(first) && has_lines(figure))
        .collect()
}

/// What a study with these figures found, as far as they have lines.
pub(super) fn of_figures(figures: &[Figure]) -> Vec<Statement> {
    let figures = shown_first(figures);
    let Some(first) = figures.first() else {
        return Vec::new();
    };
    let mut statement = of_figure(first);
    if !first.given.is_empty() {
        let situation = format!(" ({})", words(&first.given));
        statement.question.push_str(&situation);
    }
    let lines: Vec<LineCourse<'_>> = figures
        .iter()
        .flat_map(|figure| figure.series.iter().map(move |series| (figure, series)))
        .filter_map(|(figure, series)| Some(LineCourse::of(figure, series.course.as_ref()?)))
        .collect();
    let is_told = figures.len() == 1 && first.series.len() <= MOST_LINES;
    let everywhere = (!is_told && lines.len() > 1).then(|| everywhere(&figures, &lines));
    [Some(statement), everywhere]
        .into_iter()
        .flatten()
        .collect()
}

/// How the quantity of a figure changes along its lines.
pub(super) fn of_figure(figure: &Figure) -> Statement {
    let mut lines: Vec<String> = (figure.series.iter())
        .filter_map(|series| of_line(figure, series))
        .collect();
    let more = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if more > 0 {
        lines.push(format!("{more} more in the figure"));
    }
    Statement::new(
        format!("{} by {}", figure.y.title, short(&figure.x.title)),
        format!("{}.", lines.join("; ")),
    )
}

fn has_lines(figure: &Figure) -> bool {
    let mut series = figure.series.iter();
    series.any(|series| !marks(series).is_empty())
}

/// The marks of a line or of bars; none of anything else.
fn marks(series: &Series) -> &[Mark] {
    match &series.marks {
        Marks::Curve(marks) | Marks::Whiskers(marks) | Marks::Bars(marks) => marks,
        _ => &[],
    }
}

/// What a line has at its ends and where it turns between them; over names what it has at most and
/// at least. `None` without marks.
fn of_line(figure: &Figure, series: &Series) -> Option<String> {
    let marks = marks(series);
    let (first, last) = (marks.first()?, marks.last()?);
    let at = |mark: &Mark| {
        let (low, high) = mark.interval();
        let interval = if high > low {
            format!(" [{}, {}]", short_number(low), short_number(high))
        } else {
            String::new()
        };
        format!(
            "{}{interval} at {}",
            short_number(mark.mean),
            place_name(&figure.x, mark.x)
        )
    };
    let label = match figure.series.len() {
        1 => String::new(),
        _ => format!("{}: ", series.label),
    };
    let has_names = matches!(figure.x.kind, ScaleKind::Categories(_));
    if marks.len() > 2 && has_names {
        let by_mean = |one: &&Mark, other: &&Mark| one.mean.total_cmp(&other.mean);
        let (most, least) = (marks.iter().max_by(by_mean)?, marks.iter().min_by(by_mean)?);
        return Some(format!("{label}highest {}, lowest {}", at(most), at(least)));
    }
    if marks.len() == 1 {
        return Some(format!("{label}{}", at(first)));
    }
    let course = series.course.as_ref();
    let turn = course.and_then(|course| marks.iter().find(|mark| Some(mark.x) == course.turn));
    let (first, turn, last) = (at(first), turn.map(at), at(last));
    Some(match (course.map(|course| course.change), turn) {
        (Some(Change::Peaks), Some(turn)) => {
            format!("{label}{first}, rising to {turn} and falling to {last}")
        }
        (Some(Change::Dips), Some(turn)) => {
            format!("{label}{first}, falling to {turn} and rising to {last}")
        }
        (Some(Change::Level), _) => {
            format!("{label}{first}, {last} (no significant difference)")
        }
        _ => format!("{label}{first}, {last}"),
    })
}

/// A line in a situation and what it does there.
struct LineCourse<'f> {
    /// Values of the axes that it and its figure are fixed at, by key.
    of: BTreeMap<&'f str, &'f str>,
    course: &'f Course,
}

impl<'f> LineCourse<'f> {
    fn of(figure: &'f Figure, course: &'f Course) -> Self {
        let of = figure.given.iter().chain(&course.of);
        Self {
            of: (of.map(|(key, value)| (key.as_str(), value.as_str()))).collect(),
            course,
        }
    }
}

const fn verb(change: Change) -> &'static str {
    match change {
        Change::Rises => "rises",
        Change::Falls => "falls",
        Change::Peaks => "is highest between the ends",
        Change::Dips => "is lowest between the ends",
        Change::Level => "does not change significantly",
    }
}

/// In how many situations the quantity rises, falls, turns or stays, and the axis that tells best
/// which.
fn everywhere(figures: &[&Figure], lines: &[LineCourse<'_>]) -> Statement {
    let scale = &figures[0].x;
    let each = counted(lines).into_iter().map(|(change, count)| {
        let turns = turns(scale, change, lines);
        format!("{}{turns} in {count}", verb(change))
    });
    let situations = match figures.len() {
        1 => String::new(),
        several => format!(" in {several} situations"),
    };
    let mut text = format!(
        "Of {} lines over {}{situations} it {}.{}",
        lines.len(),
        short(&scale.title),
        each.collect::<Vec<_>>().join(", "),
        told_by(lines)
    );
    if figures.len() > 1 {
        text.push_str(Statement::ON_PAGE);
    }
    Statement::new("Where does that change?", text)
}

/// What lines do, the most frequent first.
fn counted<'l>(lines: impl IntoIterator<Item = &'l LineCourse<'l>>) -> Vec<(Change, usize)> {
    let mut counts: BTreeMap<Change, usize> = BTreeMap::new();
    for line in lines {
        *counts.entry(line.course.change).or_default() += 1;
    }
    let mut counts: Vec<(Change, usize)> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counts
}

/// ` (at 0.2 to 0.4)`: where lines that peak or dip do; nothing of those that do neither.
fn turns(scale: &Scale, change: Change, lines: &[LineCourse<'_>]) -> String {
    let same = (lines.iter().map(|line| line.course)).filter(|course| course.change == change);
    let mut places: Vec<f64> = same.filter_map(|course| course.turn).collect();
    places.sort_by(f64::total_cmp);
    match places[..] {
        [] => String::new(),
        [least, .., most] if least < most => format!(
            " (at {} to {})",
            place_name(scale, least),
            place_name(scale, most)
        ),
        [only, ..] => format!(" (at {})", place_name(scale, only)),
    }
}

/// The axis whose values tell best what a line does, with what most lines of each value do; nothing
/// where none tells anything.
fn told_by(lines: &[LineCourse<'_>]) -> String {
    let most = |lines: &[&LineCourse<'_>]| counted(lines.iter().copied()).first().copied();
    let all: Vec<&LineCourse<'_>> = lines.iter().collect();
    let Some((_, known)) = most(&all) else {
        return String::new();
    };
    let keys: BTreeSet<&str> = lines
        .iter()
        .flat_map(|line| line.of.keys().copied())
        .collect();
    let told = keys.into_iter().filter_map(|key| {
        let mut by_value: Vec<(&str, Vec<&LineCourse<'_>>)> = Vec::new();
        for line in lines {
            let value = *line.of.get(key)?;
            match by_value.iter_mut().find(|(known, _)| *known == value) {
                Some((_, of_value)) => of_value.push(line),
                None => by_value.push((value, vec![line])),
            }
        }
        let right = by_value.iter().filter_map(|(_, lines)| most(lines));
        let right: usize = right.map(|(_, count)| count).sum();
        // An axis with one line a value is right about all of them and explains nothing.
        (right > known && by_value.len() < lines.len()).then_some((right, key, by_value))
    });
    let Some((_, key, by_value)) = told.max_by_key(|(right, ..)| *right) else {
        return String::new();
    };
    let each = by_value.iter().filter_map(|(value, lines)| {
        let (change, count) = most(lines)?;
        let (of, verb) = (lines.len(), verb(change));
        Some(format!("at {value} it {verb} in {count} of {of}"))
    });
    let each: Vec<String> = each.collect();
    format!(" By {}: {}.", short(key), each.join("; "))
}
