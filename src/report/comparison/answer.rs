//! The answer in sentences: how much more or less the other runs earned or measured, and how
//! certain that is; or why no statement is possible.

use super::trust::FEWEST_REPLICATIONS;
use super::{ComparedRun, Comparison, Family, Method, Overall, Pairing, Quantity, unfinished_text};
use crate::statistics::is_shown;
use crate::svg::short_number;
use crate::table::{Cell, Column, axes_text};

/// Points that are named one by one.
pub(super) const MOST_NAMED: usize = 10;

/// One sentence, or a few, for each run that is compared with the first.
pub(super) fn answers(comparison: &Comparison<'_>) -> Vec<String> {
    let others = comparison.others().iter().enumerate();
    others
        .map(|(at, other)| answer(comparison, at, other))
        .collect()
}

fn answer(comparison: &Comparison<'_>, at: usize, other: &ComparedRun) -> String {
    let (reference, pairing) = (comparison.reference(), &comparison.pairings[at]);
    let nothing = format!(
        "Nothing can be said about the difference between {} and {}",
        other.label, reference.label
    );
    if let Some(refused) = incomparable(pairing) {
        return refused;
    }
    if let Some(why) = refusal(pairing, reference, other) {
        return format!("{nothing}: {why}.");
    }
    if pairing.pairs.is_empty() && pairing.method == Method::Paired {
        return format!("{nothing}: {}.", no_pairs(pairing));
    }
    if reference.store == other.store && pairing.is_one_result() {
        return format!(
            "{} and {} share the very same stored results, so nothing can differ: `bookahead run CONFIG --fresh` makes independent ones.",
            other.label, reference.label
        );
    }
    let found = comparison.main.first();
    let found = found.and_then(|quantity| Some((quantity, comparison.overall(at, quantity)?)));
    let Some((quantity, row)) = found else {
        return format!("{nothing}: no point has a value that could be compared.");
    };
    let mut text = sentence(comparison, quantity, row, other, &averaged_over(pairing));
    let moved: Vec<String> = comparison.main[1..]
        .iter()
        .filter_map(|quantity| moved(quantity, comparison.overall(at, quantity)?))
        .collect();
    if !moved.is_empty() {
        text.push_str(&format!(" What moved with it: {}.", moved.join("; ")));
    }
    for remark in remarks(pairing) {
        text.push_str(&format!(" {remark}."));
    }
    text
}

/// Why runs cannot be compared, as a sentence; `None` where they can.
#[must_use]
pub fn incomparable(pairing: &Pairing<'_>) -> Option<String> {
    match &pairing.method {
        Method::Refused(why) => Some(format!("Not comparable: {why}.")),
        Method::Paired | Method::Welch => None,
    }
}

/// What a reader must know of how runs are paired, in sentences without their full stops: nothing
/// where every replication has its partner on the same machine.
#[must_use]
pub fn remarks(pairing: &Pairing<'_>) -> Vec<String> {
    let mut found = Vec::new();
    if pairing.method == Method::Welch {
        let unpaired =
            "Unpaired (Welch): the two runs drew their jobs independently, from seeds of their own";
        found.push(unpaired.to_owned());
        return found;
    }
    let machines = pairing.machines();
    if !machines.is_empty() {
        found.push(format!(
            "Pairs are the same jobs on {} nodes{}",
            machines.join(", on "),
            match pairing.has_same_failures() {
                true => "",
                false => ", each machine with failures of its own nodes",
            }
        ));
    }
    let [first, second] = pairing.replications_alone();
    if !pairing.pairs.is_empty() && first + second > 0 {
        found.push(format!(
            "{first} replications of the first run and {second} of the second have no partner that saw the same jobs and failures, and \
             do not count"
        ));
    }
    found
}

/// Why nothing paired may be computed over all points; `None` where nothing is missing.
pub(super) fn refusal(
    pairing: &Pairing<'_>,
    reference: &ComparedRun,
    other: &ComparedRun,
) -> Option<String> {
    let count = pairing.missing.len();
    if pairing.unknown > 0 {
        let alone = pairing.only_first.iter().chain(&pairing.only_second);
        let names = alone.map(|point| {
            let axes = axes_text(&point.axes);
            format!("{axes}, replication {}", point.replication)
        });
        return Some(format!(
            "{} points of their sweeps are not in the stores (shares that were not joined?); without a partner are: {}",
            pairing.unknown,
            bounded(names, pairing.unpaired())
        ));
    }
    if count == 0 {
        return None;
    }
    let names = pairing.missing.iter().map(|missing| {
        let of = if missing.is_second { other } else { reference };
        format!("{} lacks {}", of.label, unfinished_text(missing.point))
    });
    let points = match count {
        1 => "a point that both sweeps have is".to_owned(),
        count => format!("{count} points that both sweeps have are"),
    };
    Some(format!(
        "{points} without a result ({})",
        bounded(names, count)
    ))
}

/// The first of `count` names, and how many more there are.
fn bounded(names: impl Iterator<Item = String>, count: usize) -> String {
    let mut names: Vec<String> = names.take(MOST_NAMED).collect();
    if count > MOST_NAMED {
        names.push(format!("and {} more", count - MOST_NAMED));
    }
    names.join("; ")
}

fn no_pairs(pairing: &Pairing<'_>) -> String {
    let mut text = "no point of one has a partner in the other".to_owned();
    for axes in [&pairing.axes_only_first, &pairing.axes_only_second] {
        if !axes.is_empty() {
            text.push_str(&format!(
                ", as only one of them has the axis {}",
                axes.join(", ")
            ));
        }
    }
    if pairing.axes.is_empty() {
        return text;
    }
    format!("{text}; both have the axes {}", pairing.axes.join(", "))
}

/// What the values of a replication are averaged over, behind "in the mean over replications":
/// settings that share one result (a baseline at every threshold) count once.
fn averaged_over(pairing: &Pairing<'_>) -> String {
    let settings = pairing.groups(&pairing.axes).len();
    match pairing.distinct_settings() {
        _ if settings == 1 => String::new(),
        distinct if distinct < settings => format!(
            " and over the {distinct} distinct results of the {settings} settings that both have"
        ),
        _ => format!(" and over the {settings} settings that both have"),
    }
}

fn sentence(
    comparison: &Comparison<'_>,
    quantity: &Quantity,
    row: &Overall<'_>,
    other: &ComparedRun,
    averaged_over: &str,
) -> String {
    let reference = &comparison.reference().label;
    let difference = &row.difference;
    if !difference.differs() && difference.method != Method::Welch {
        return format!(
            "{} and {reference} have the same {} in each of {} shared points, bit by bit.",
            other.label,
            name(quantity),
            difference.pairs
        );
    }
    let Some(estimate) = difference.difference else {
        return format!(
            "Nothing can be said about the difference between {} and {reference}: no shared point has a value of {} in both.",
            other.label,
            name(quantity)
        );
    };
    let replications = match (&difference.method, estimate.count) {
        (Method::Welch, _) => {
            let [first, second] = difference.replications;
            format!("unpaired (Welch), n = {first} and {second} replications")
        }
        (_, 1) => "n = 1 pair of replications".to_owned(),
        (_, count) => format!("n = {count} pairs of replications"),
    };
    let size = Column::estimate("", "", 0).mixed();
    let shown = |value: f64| {
        size.text(&Cell::Estimate(super::super::Estimate {
            mean: value.abs(),
            ..estimate
        }))
    };
    let by = shown(estimate.mean);
    let by = by.split(" ± ").next().unwrap_or_default().to_owned();
    let moved = match (quantity.is_gain(), estimate.mean >= 0.0) {
        (true, true) => format!("{} earned {by} coins more than {reference}", other.label),
        (true, false) => format!("{} earned {by} coins less than {reference}", other.label),
        (false, true) => format!(
            "{}: {} is {by} higher than with {reference}",
            other.label,
            name(quantity)
        ),
        (false, false) => format!(
            "{}: {} is {by} lower than with {reference}",
            other.label,
            name(quantity)
        ),
    };
    let interval = match estimate.half_width() {
        Some(_) => format!(
            "± {}, 95 %, ",
            shown(0.0).split(" ± ").nth(1).unwrap_or_default()
        ),
        None => String::new(),
    };
    let mut text = format!(
        "{moved} {}{averaged_over} ({interval}{replications}).",
        match difference.replications {
            [1, 1] => "in one replication",
            _ => "in the mean over replications",
        },
    );
    text.push(' ');
    text.push_str(&certainty(comparison, row));
    if let Some(log) = difference.log {
        text.push_str(&format!(
            " ± is about these batteries, which are neighbours; about the log the interval is [{}, {}].",
            short_number(log.interval.low),
            short_number(log.interval.high)
        ));
    }
    if (2..FEWEST_REPLICATIONS).contains(&estimate.count) {
        text.push_str(&format!(" {} replications are few.", estimate.count));
    }
    text
}

/// What may be concluded.
fn certainty(comparison: &Comparison<'_>, row: &Overall<'_>) -> String {
    let difference = &row.difference;
    if !difference.gaps.is_empty() {
        return format!(
            "Whether that is chance cannot be said: replications do not have the same points ({}).",
            difference
                .gaps
                .iter()
                .take(3)
                .cloned()
                .collect::<Vec<_>>()
                .join("; ")
        );
    }
    let (Some(p), Some(judgement)) = (difference.p_value(), row.judgement) else {
        let which = match difference.difference {
            Some(estimate) if estimate.count > 1 => "replications that do not vary",
            _ => "one replication",
        };
        return format!("Whether that is chance cannot be said of {which}.");
    };
    let adjusted = judgement.adjusted;
    let correction = match comparison.tested(judgement.family) {
        0 | 1 => format!("p {}", p_text(p)),
        tested => format!(
            "p {} after Holm's correction for {tested} {}",
            p_text(adjusted),
            match judgement.family {
                Family::Primary => "runs",
                Family::Others => "differences",
            }
        ),
    };
    if is_shown(adjusted) {
        format!("The difference is significant at 5 % ({correction}).")
    } else if is_shown(p) {
        format!(
            "That may be chance: its own interval excludes 0, but it is not significant at 5 % among so many differences ({correction})."
        )
    } else {
        let own = difference
            .difference
            .and_then(|estimate| estimate.p_value());
        let interval = match own.is_some_and(is_shown) {
            true => {
                "the 95 % interval about these batteries excludes 0, but the one about the log contains it"
            }
            false => "the 95 % interval contains 0",
        };
        format!("That may be chance: {interval} ({correction}).")
    }
}

/// `Mean wait (s) −434 ± 275`, where that is significant.
fn moved(quantity: &Quantity, row: &Overall<'_>) -> Option<String> {
    row.judgement
        .filter(|judgement| is_shown(judgement.adjusted))?;
    let estimate = row.difference.difference?;
    let sign = if estimate.mean > 0.0 { "+" } else { "" };
    let shown = Column::estimate("", "", 0)
        .mixed()
        .text(&Cell::Estimate(estimate));
    Some(format!("{} {sign}{shown}", quantity.title))
}

/// The title of a quantity inside of a sentence.
fn name(quantity: &Quantity) -> String {
    uncapitalised(quantity.title)
}

/// A text inside of a sentence.
pub(super) fn uncapitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_lowercase);
    first.into_iter().flatten().chain(letters).collect()
}

/// A p-value with two digits, and how it compares: `= 0.012`.
pub(super) fn p_text(p: f64) -> String {
    match p {
        p if p < 0.001 => "< 0.001".to_owned(),
        p if p < 0.1 => format!("= {p:.3}"),
        p => format!("= {p:.2}"),
    }
}
