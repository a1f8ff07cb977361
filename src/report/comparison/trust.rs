//! What speaks for and against a comparison.

use super::answer::{incomparable, remarks, uncapitalised};
use super::{ComparedRun, Comparison, Family, Pairing, Quantity};
use crate::answer::Setting;
use crate::dependence::{DIFFERENCES, alike, differences_in};
use crate::trust::looks;

/// Fewer replications than this say little.
pub(super) const FEWEST_REPLICATIONS: u32 = 10;

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
            crate::summary_tables::missing(summary)
        ));
    }
    text
}
