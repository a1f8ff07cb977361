//! The answer in sentences: how much more or less the other runs earned or measured, and how
//! certain that is; or why no statement is possible.

use std::collections::BTreeSet;

use super::trust::FEWEST_REPLICATIONS;
use super::{
    ComparedRun, Comparison, Difference, Method, Overall, Pairing, Quantity, unfinished_text,
};
use crate::statistics::is_shown;
use crate::svg::short_number;
use crate::table::{Cell, Column, axes_text};

/// Points that are named one by one; a table of the report, or `--json`, has all.
const MOST_NAMED: usize = 3;

/// One sentence, or a few, for each run that is compared with the first.
pub(super) fn answers(comparison: &Comparison<'_>) -> Vec<String> {
    let others = comparison.others().iter().enumerate();
    others
        .map(|(at, other)| answer(comparison, at, other))
        .collect()
}

fn answer(comparison: &Comparison<'_>, at: usize, other: &ComparedRun) -> String {
    let (reference, pairing) = (comparison.reference(), &comparison.pairings[at]);
    if let Some(refused) = incomparable(reference, other, pairing) {
        return refused;
    }
    if let Some(why) = shortfall(pairing, reference, other) {
        return format!(
            "{} and {} are not compared as wholes, because {why}.",
            reference.label, other.label
        );
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
        return not_comparable(reference, other, "no point has a value of any quantity");
    };
    let machines = machines(pairing);
    let mut text = machines.map_or(String::new(), |machines| format!("{machines}. "));
    text.push_str(&sentence(comparison, quantity, row, at));
    let others: Vec<String> = comparison.main[1..]
        .iter()
        .filter_map(|quantity| significant(quantity, comparison.overall(at, quantity)?, row))
        .collect();
    if !others.is_empty() {
        text.push_str(&format!(" Also significant: {}.", others.join("; ")));
    }
    if let Some(remark) = remarks_on_replications(pairing) {
        text.push_str(&format!(" {remark}."));
    }
    text
}

fn not_comparable(reference: &ComparedRun, other: &ComparedRun, why: &str) -> String {
    format!(
        "{} and {} are not comparable, because {why}.",
        reference.label, other.label
    )
}

/// Why runs cannot be compared, as a sentence; `None` where they can, be it at some settings only.
#[must_use]
pub fn incomparable(
    reference: &ComparedRun,
    other: &ComparedRun,
    pairing: &Pairing<'_>,
) -> Option<String> {
    let why = match &pairing.method {
        Method::Refused(why) => why.clone(),
        Method::Paired if pairing.pairs.is_empty() && !pairing.has_missing_points() => {
            no_pairs(pairing)
        }
        Method::Paired | Method::Welch => return None,
    };
    Some(not_comparable(reference, other, &why))
}

/// What a reader must know of how runs are paired, in sentences without their full stops: nothing
/// where every replication has its partner on the same machine.
#[must_use]
pub fn remarks(pairing: &Pairing<'_>) -> Vec<String> {
    let replications = remarks_on_replications(pairing);
    machines(pairing).into_iter().chain(replications).collect()
}

/// That the runs have different machines; `None` where they have not.
fn machines(pairing: &Pairing<'_>) -> Option<String> {
    let machines = pairing.machines();
    let failures = match pairing.has_same_failures() {
        true => "",
        false => ", each machine with failures of its own nodes",
    };
    (!machines.is_empty()).then(|| {
        format!(
            "The machines differ: pairs are the same jobs on {} nodes{failures}",
            machines.join(", on ")
        )
    })
}

fn remarks_on_replications(pairing: &Pairing<'_>) -> Option<String> {
    if pairing.method == Method::Welch {
        let unpaired =
            "Unpaired (Welch): both runs drew their jobs independently, from seeds of their own";
        return Some(unpaired.to_owned());
    }
    let [first, second] = pairing.replications_alone();
    let alone: Vec<String> = [(first, "first"), (second, "second")]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, run)| match count {
            1 => format!("1 replication of the {run} run"),
            count => format!("{count} replications of the {run} run"),
        })
        .collect();
    (!pairing.pairs.is_empty() && !alone.is_empty()).then(|| {
        let verbs = match first + second {
            1 => "has no partner that saw the same jobs and failures, and does not count",
            _ => "have no partners that saw the same jobs and failures, and do not count",
        };
        format!("{} {verbs}", alone.join(" and "))
    })
}

/// Why no difference over all points may be computed; `None` where nothing is missing.
fn shortfall(
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
            "{} points of their sweeps are not in the stores (shares that were not joined?), which leaves all differences without a \
             number. Points without a partner: {}",
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
        1 => "1 shared point has no result".to_owned(),
        count => format!("{count} shared points have no result"),
    };
    Some(format!(
        "{points}: differences and intervals are given only at settings where both runs have all results. {}",
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

/// The settings over which a difference is averaged, as `, averaged over the 24 shared settings`:
/// those of strategies in which something changed. Settings that share one result (a baseline at
/// every threshold) count once.
fn averaged_over(pairing: &Pairing<'_>, difference: &Difference<'_>) -> String {
    let changed = pairing.without_strategies(&difference.unchanged);
    let settings = changed.groups(&pairing.axes).len();
    let strategies: BTreeSet<&str> = (changed.pairs.iter())
        .map(|pair| pair.one.strategy.as_str())
        .collect();
    let of = match difference.unchanged.is_empty() {
        true => String::new(),
        false => format!(" of {}", listed(strategies)),
    };
    match changed.distinct_settings() {
        _ if settings == 1 => of.replacen(" of ", " with ", 1),
        distinct if distinct < settings => format!(
            ", averaged over the {distinct} distinct results of the {settings} shared settings{of}"
        ),
        _ => format!(", averaged over the {settings} shared settings{of}"),
    }
}

/// Names in a sentence: `a, b and c`.
fn listed<'n>(names: impl IntoIterator<Item = &'n str>) -> String {
    let mut names: Vec<&str> = names.into_iter().collect();
    match (names.pop(), names.is_empty()) {
        (Some(last), false) => format!("{} and {last}", names.join(", ")),
        (last, _) => last.unwrap_or_default().to_owned(),
    }
}

fn sentence(
    comparison: &Comparison<'_>,
    quantity: &Quantity,
    row: &Overall<'_>,
    at: usize,
) -> String {
    let (reference, other) = (comparison.reference(), &comparison.others()[at]);
    let difference = &row.difference;
    if !difference.differs() && difference.method != Method::Welch {
        return unchanged(comparison, quantity, difference, at);
    }
    let Some(estimate) = difference.difference else {
        let why = format!("no shared point has a value of {} in both", name(quantity));
        return not_comparable(reference, other, &why);
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
    let reference = &reference.label;
    let per_replication = match difference.replications {
        [1, 1] => " in one replication",
        _ if quantity.is_gain() => " per replication",
        _ => "",
    };
    let is_more = estimate.mean >= 0.0;
    let moved = match quantity.is_gain() {
        true => format!(
            "{} earned {by} coins {} than {reference}",
            other.label,
            if is_more { "more" } else { "less" }
        ),
        false => format!(
            "{}: {} is {by} {} than with {reference}",
            other.label,
            name(quantity),
            if is_more { "higher" } else { "lower" }
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
        "{moved}{per_replication}{} ({interval}{}).",
        averaged_over(&comparison.pairings[at], difference),
        sample(difference, estimate.count)
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
    if !difference.unchanged.is_empty() {
        text.push_str(&format!(
            " With {}, {} did not change.",
            listed(difference.unchanged.iter().copied()),
            name(quantity)
        ));
    }
    text
}

/// `n = 8 pairs of replications, which are few`.
fn sample(difference: &Difference<'_>, count: u32) -> String {
    let few = match count {
        2..FEWEST_REPLICATIONS => ", which are few",
        _ => "",
    };
    match (&difference.method, count) {
        (Method::Welch, _) => {
            let [first, second] = difference.replications;
            format!("n = {first} and {second} replications{few}")
        }
        (_, 1) => "n = 1 pair of replications".to_owned(),
        (_, count) => format!("n = {count} pairs of replications{few}"),
    }
}

/// That a quantity is the same everywhere, and whether any other one differs.
fn unchanged(
    comparison: &Comparison<'_>,
    quantity: &Quantity,
    difference: &Difference<'_>,
    at: usize,
) -> String {
    let (reference, other) = (
        &comparison.reference().label,
        &comparison.others()[at].label,
    );
    let points = match difference.pairs {
        1 => "the shared point".to_owned(),
        pairs => format!("each of {pairs} shared points"),
    };
    let rows = &comparison.overall[at];
    let others = rows.iter().filter(|row| row.difference.differs()).count();
    let same = format!(
        "{other} and {reference} have the same {} in {points}, bit by bit",
        name(quantity)
    );
    match others {
        0 => format!("{same}, as every other quantity."),
        1 => format!("{same}; 1 other quantity differs."),
        others => format!("{same}; {others} other quantities differ."),
    }
}

/// What may be concluded.
fn certainty(comparison: &Comparison<'_>, row: &Overall<'_>) -> String {
    let difference = &row.difference;
    if !difference.gaps.is_empty() {
        let gaps: Vec<&str> = difference.gaps.iter().take(3).map(String::as_str).collect();
        return format!(
            "Its significance cannot be tested: replications do not have the same points ({}).",
            gaps.join("; ")
        );
    }
    let (Some(p), Some(judgement)) = (difference.p_value(), row.judgement) else {
        let why = match difference.difference {
            Some(estimate) if estimate.count > 1 => "the replications do not vary",
            _ => "there is one replication",
        };
        return format!("Its significance cannot be tested: {why}.");
    };
    let (adjusted, tested) = (judgement.adjusted, comparison.tested(judgement.family));
    let correction = match tested {
        0 | 1 => format!("p {}", p_text(p)),
        tested => format!("p {} after correction for {tested} tests", p_text(adjusted)),
    };
    if is_shown(adjusted) {
        return format!("The difference is significant at 5 % ({correction}).");
    }
    if is_shown(p) {
        return format!(
            "The difference is not significant after correction for {tested} tests (p {}, without correction p {}).",
            p_text(adjusted),
            p_text(p)
        );
    }
    let own = difference
        .difference
        .and_then(|estimate| estimate.p_value());
    match own.is_some_and(is_shown) {
        true => format!(
            "The difference is not significant ({correction}): the 95 % interval about these batteries excludes 0, the one about the \
             log contains it."
        ),
        false => format!("The difference is not significant ({correction})."),
    }
}

/// `Mean wait (s) −434 ± 275`, where that is significant; with its n where the answer has another.
fn significant(quantity: &Quantity, row: &Overall<'_>, answer: &Overall<'_>) -> Option<String> {
    row.judgement
        .filter(|judgement| is_shown(judgement.adjusted))?;
    let estimate = row.difference.difference?;
    let sign = if estimate.mean > 0.0 { "+" } else { "" };
    let shown = Column::estimate("", "", 0)
        .mixed()
        .text(&Cell::Estimate(estimate));
    let own = row.difference.replications;
    let n = match own == answer.difference.replications {
        true => String::new(),
        false => format!(" (n = {})", own[0].min(own[1])),
    };
    Some(format!("{} {sign}{shown}{n}", quantity.title))
}

/// The title of a quantity inside of a sentence.
pub(super) fn name(quantity: &Quantity) -> String {
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
