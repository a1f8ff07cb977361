//! The answer in sentences: what the other runs earned or measured more or less, and how sure that
//! is; or why nothing can be said.

use super::{ComparedRun, Comparison, Family, Method, Overall, Pairing, Quantity, unfinished_text};
use crate::report::answer::Setting;
use crate::report::dependence::{DIFFERENCES, alike, differences_in};
use crate::report::statistics::is_shown;
use crate::report::svg::short_number;
use crate::report::table::{Cell, Column, axes_text};
use crate::report::trust::looks;

/// Points that are named one by one.
pub(super) const MOST_NAMED: usize = 10;

/// Fewer replications than this say little.
const FEWEST_REPLICATIONS: u32 = 10;

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

/// The first of so many names, and how many more there are.
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
fn uncapitalised(text: &str) -> String {
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

/// What speaks for and against the comparison, each with whether it is good news.
pub(super) fn trust(comparison: &Comparison<'_>) -> Vec<(bool, String)> {
    let reference = comparison.reference();
    let mut found = Vec::new();
    for run in comparison.runs {
        found.push((!run.is_incomplete(), completeness(run)));
        let looks = looks(&run.earlier_looks);
        found.extend(looks.map(|sentence| (false, format!("{}: {sentence}", run.label))));
    }
    for (pairing, other) in comparison.pairings.iter().zip(comparison.others()) {
        found.push(method(pairing, reference, other));
        found.extend(neighbours(comparison, pairing, other));
        let alone = pairing.unpaired();
        found.push((
            alone == 0,
            format!(
                "{}: {} pairs of points with {}{}",
                other.label,
                pairing.pairs.len(),
                reference.label,
                match alone {
                    0 => String::new(),
                    alone => format!("; {alone} points have no partner and do not count"),
                }
            ),
        ));
        let is_same =
            reference.inputs_digest == other.inputs_digest && reference.inputs_digest.is_some();
        found.push((
            is_same,
            if is_same {
                format!(
                    "{} read the same inputs as {}",
                    other.label, reference.label
                )
            } else {
                format!(
                    "{} did not read the same inputs as {}: what was learned from them may differ",
                    other.label, reference.label
                )
            },
        ));
        if reference.run.result_format != other.run.result_format {
            found.push((
                false,
                format!("{} has another result format: its engine gives other numbers for the same settings", other.label),
            ));
        }
    }
    found.extend(replications(comparison));
    let others = comparison.tested(Family::Others);
    if others > 1 {
        found.push((
            true,
            format!(
                "the primary quantity of these runs, {}, is declared by the program and tested by itself; of the others {others} distinct \
                 differences are tested at once, and their p-values are after Holm's correction for one another",
                comparison.primary
            ),
        ));
    }
    found
}

/// How alike the differences of neighbouring batteries of a log are, in the quantity of the answer.
fn neighbours(
    comparison: &Comparison<'_>,
    pairing: &Pairing<'_>,
    other: &ComparedRun,
) -> Option<(bool, String)> {
    let at = (comparison.others().iter()).position(|run| std::ptr::eq(run, other))?;
    let quantity = comparison
        .main
        .first()
        .filter(|_| pairing.are_neighbours())?;
    let found = comparison.overall(at, quantity)?.difference.paired()?;
    let name = format!("{} − {}", other.label, comparison.reference().label);
    let title = differences_in(quantity.title);
    let sentence = alike(DIFFERENCES, &title, &[Setting { name, found }]);
    Some((false, sentence))
}

/// Over how many replications the quantity of the answer is compared, and which of those beside it
/// have fewer.
fn replications(comparison: &Comparison<'_>) -> Vec<(bool, String)> {
    let least = |quantity: &Quantity| {
        let others = 0..comparison.others().len();
        let rows = others.filter_map(|at| comparison.overall(at, quantity)?.difference.difference);
        rows.map(|difference| difference.count).min()
    };
    let answered = comparison.main.first();
    let Some((answered, count)) = answered.and_then(|first| Some((first, least(first)?))) else {
        return Vec::new();
    };
    let is_enough = |count: u32| count >= FEWEST_REPLICATIONS;
    let few = |count| {
        if is_enough(count) {
            ""
        } else {
            ", which are few"
        }
    };
    let mut found = vec![(
        is_enough(count),
        format!(
            "{count} replications of the answer's quantity, {}{}: the unit of its interval",
            answered.title,
            few(count)
        ),
    )];
    let fewer: Vec<String> = comparison.main[1..]
        .iter()
        .filter_map(|quantity| Some((quantity, least(quantity)?)))
        .filter(|(_, own)| *own < count)
        .map(|(quantity, own)| format!("{} in {own}{}", quantity.title, few(own)))
        .collect();
    if !fewer.is_empty() {
        let sentence = format!("fewer replications have a value of {}", fewer.join("; of "));
        found.push((false, sentence));
    }
    found
}

/// How a run is compared with the first.
fn method(pairing: &Pairing<'_>, reference: &ComparedRun, other: &ComparedRun) -> (bool, String) {
    let names = format!("{} and {}", other.label, reference.label);
    let of = |remark: String| format!("{names}: {}", uncapitalised(&remark));
    if let Some(refused) = incomparable(pairing) {
        return (false, of(refused.trim_end_matches('.').to_owned()));
    }
    let mut remarks = remarks(pairing);
    if !remarks.is_empty() {
        return (false, of(remarks.swap_remove(0)));
    }
    let is_known = |pair: &super::Pair<'_>| pair.one.seen.is_same(&pair.two.seen);
    if pairing.pairs.iter().all(is_known) {
        return (
            !pairing.pairs.is_empty(),
            format!("{names} are compared in pairs that saw the same jobs and the same failures"),
        );
    }
    let shared = format!("{names} share stored results, of which it is not known what they saw");
    (true, shared)
}

/// How many points of a run have a result.
pub(super) fn completeness(run: &ComparedRun) -> String {
    let summary = &run.run;
    let mut text = format!(
        "{}: {} of {} points have a result",
        run.label, summary.points_done, summary.points
    );
    if run.is_incomplete() {
        text.push_str(&format!(
            "; {} failed, {} were not run, and its means are over what is there",
            summary.points_failed,
            crate::report::tables::missing(summary)
        ));
    }
    text
}
