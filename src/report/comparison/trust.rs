//! What speaks for and against a comparison.

use super::answer::{incomparable, name, remarks, uncapitalised};
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
        let of_inputs = run.input_remarks.iter();
        found.extend(of_inputs.map(|remark| {
            (
                !remark.is_warning,
                format!("{}: {}", run.label, remark.text),
            )
        }));
    }
    for (pairing, other) in comparison.pairings.iter().zip(comparison.others()) {
        found.extend(method(pairing, reference, other));
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
                    "{} did not read the same inputs as {}: estimates that were learned from them may differ",
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
                "the primary quantity of these runs, {}, was declared before any run and is tested by itself; p-values of the others \
                 are corrected for {others} tests (Holm)",
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

/// Over how many replications each main quantity is compared: the number and its warning are those
/// of the quantity, and of the run where runs have different numbers.
fn replications(comparison: &Comparison<'_>) -> Vec<(bool, String)> {
    let counts = |quantity: &Quantity| -> Vec<(&str, u32)> {
        let others = comparison.others().iter().enumerate();
        let counted = others.filter_map(|(at, run)| {
            let estimate = comparison.overall(at, quantity)?.difference.difference?;
            Some((run.label.as_str(), estimate.count))
        });
        counted.collect()
    };
    let Some((answered, others)) = comparison.main.split_first() else {
        return Vec::new();
    };
    let of_answer = counts(answered);
    if of_answer.is_empty() {
        return Vec::new();
    }
    let is_enough = |counts: &[(&str, u32)]| {
        let mut counts = counts.iter();
        counts.all(|(_, count)| *count >= FEWEST_REPLICATIONS)
    };
    let sentence = format!("{}: {}", name(answered), counts_text(&of_answer));
    let mut found = vec![(is_enough(&of_answer), sentence)];
    for quantity in others {
        let own = counts(quantity);
        if !own.is_empty() && own != of_answer {
            let sentence = format!("{}: {}", name(quantity), counts_text(&own));
            found.push((is_enough(&own), sentence));
        }
    }
    found
}

/// `8 replications, which are few`, for each run where they are not the same.
fn counts_text(counts: &[(&str, u32)]) -> String {
    let text = |count: u32, run: &str| match count {
        1 => format!("1 replication{run}, so that significance cannot be tested"),
        few if few < FEWEST_REPLICATIONS => format!("{few} replications{run}, which are few"),
        enough => format!("{enough} replications{run}"),
    };
    let (_, first) = counts[0];
    match counts.iter().all(|(_, count)| *count == first) {
        true => text(first, ""),
        false => (counts.iter())
            .map(|(label, count)| text(*count, &format!(" with {label}")))
            .collect::<Vec<_>>()
            .join("; "),
    }
}

/// How a run is compared with the first; `None` where the answer says why it is not.
fn method(
    pairing: &Pairing<'_>,
    reference: &ComparedRun,
    other: &ComparedRun,
) -> Option<(bool, String)> {
    if incomparable(reference, other, pairing).is_some() {
        return None;
    }
    let names = format!("{} and {}", other.label, reference.label);
    let mut remarks = remarks(pairing);
    if !remarks.is_empty() {
        let remark = uncapitalised(&remarks.swap_remove(0));
        return Some((false, format!("{names}: {remark}")));
    }
    let is_known = |pair: &super::Pair<'_>| pair.one.seen.is_same(&pair.two.seen);
    Some(match pairing.pairs.iter().all(is_known) {
        true => (
            true,
            format!("{names} are compared in pairs that saw the same jobs and the same failures"),
        ),
        false => (
            false,
            format!("{names} share stored results whose jobs and failures were not recorded"),
        ),
    })
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
            "; {} failed, {} were not run",
            summary.points_failed,
            crate::summary_tables::missing(summary)
        ));
    }
    text
}
