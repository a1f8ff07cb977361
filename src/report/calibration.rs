//! Do the promised probabilities of failure come true?
//!
//! The answer is given for each strategy, and for each situation and threshold of a sweep.
//! Strategies err in opposite directions, so pooled promises would look better than those of any
//! strategy. `docs/calibration.md` explains every figure.

mod counts;
mod figures;
mod groups;
mod scores;
mod sql;
mod tables;

use super::analysis::Analysis;
use super::figure::Figure;
use super::statistics::holm;
use super::table::{Table, estimate_text};
use super::views::Reported;
use bookahead_lab::store::{CalibrationRow, PofKind, PointColumns};
use groups::{Group, Groups};

pub use counts::Batteries;
pub use scores::{FEWEST_BATTERIES, Reason, Scores, Verdict};

/// What is promised, where tables of scores are about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promised {
    /// With what the names of its tables begin.
    pub name: &'static str,
    /// Whose risks, in the titles of its tables: `" of co-reservations"`.
    pub whose: &'static str,
    /// What is counted: the heading of its column.
    pub counted: &'static str,
    /// The same of one bin.
    pub in_bins: &'static str,
    /// The same in a sentence, in the plural.
    pub things: &'static str,
    /// Those of the failed that are counted beside them: the heading of their share.
    pub part: &'static str,
    /// What counts, in a few sentences.
    pub about: &'static str,
    /// The counts by simulation and bin: a view, or a query in brackets, with the columns of
    /// `v_calibration`.
    pub source: &'static str,
}

/// Slots of overbooked jobs.
const SLOTS: Promised = Promised {
    name: "calibration",
    whose: "",
    counted: "Overbooked jobs",
    in_bins: "Jobs",
    things: "jobs",
    part: "Killed at window end",
    about: "Overbooked jobs by the probability of failure that was promised at their acceptance. A job counts as failed \
        when its SLA was broken, whatever the reason.",
    source: "v_calibration",
};

/// The figures and tables about promises of another kind, from their counts in the order of the
/// simulations; none where nothing was promised.
#[must_use]
pub fn shown_of(
    promised: &Promised,
    rows: &[CalibrationRow],
    run: &Reported<'_>,
) -> (Vec<Figure>, Vec<Table>) {
    let policies = run.analysis.competitors();
    let groups = Groups::new(rows, run.points, policies);
    groups.map_or_else(Default::default, |groups| {
        (
            figures::figures(promised, &groups, run.analysis, run.hash()),
            tables::tables(promised, &groups, run.analysis, run.hash()),
        )
    })
}

/// What a report says about the probabilities of failure that were promised.
pub struct Calibration {
    /// Reliability diagrams.
    pub figures: Vec<Figure>,
    /// Scores by strategy and situation, by threshold, and every bin.
    pub tables: Vec<Table>,
    /// One sentence a strategy for the first screen, and what it comes to.
    pub verdicts: Vec<(Verdict, String)>,
}

/// From the counts of a run; `None` where no job was overbooked with a probability.
pub fn calibration(
    rows: &[CalibrationRow],
    points: &PointColumns,
    analysis: &Analysis,
    configuration_hash: &str,
) -> Option<Calibration> {
    let groups = Groups::new(rows, points, analysis.competitors())?;
    Some(Calibration {
        figures: figures::figures(&SLOTS, &groups, analysis, configuration_hash),
        tables: tables::tables(&SLOTS, &groups, analysis, configuration_hash),
        verdicts: verdicts(&groups, analysis),
    })
}

/// A strategy's promises as a whole and in every situation that has enough jobs to tell.
fn verdicts(groups: &Groups, analysis: &Analysis) -> Vec<(Verdict, String)> {
    let promised = |group: &&Group| group.kind == PofKind::Promised;
    let whole = groups.whole.iter().filter(promised);
    whole
        .filter_map(|group| {
            let scores = group.counts.scores()?;
            let own = groups.situations.iter().filter(promised);
            let situations: Vec<(String, Scores)> = own
                .filter(|situation| situation.strategy == group.strategy)
                .filter_map(|situation| {
                    let values = super::plots::given(analysis, &groups.axes, &situation.places);
                    Some((super::plots::words(&values), situation.counts.scores()?))
                })
                .filter(|(_, scores)| scores.jobs >= counts::FEWEST_JOBS)
                .collect();
            let (verdict, said) = judged(&scores, &situations);
            Some((verdict, format!("{}: {said}", group.strategy)))
        })
        .collect()
}

/// The verdict on a strategy, as a whole and in its situations by their names, in words. Shown is
/// what is shown as a whole and in every situation. Of many situations some look bad by chance, so
/// one of them refutes only where Holm's correction leaves it below 5 %.
pub fn judged(whole: &Scores, situations: &[(String, Scores)]) -> (Verdict, String) {
    let verdict = whole.verdict();
    let words = in_words(whole);
    let count = |count: u64| super::table::grouped(count as f64, 0);
    let of = format!(
        "{} jobs in {} batteries",
        count(whole.jobs),
        whole.failed.count
    );
    let reason = match verdict {
        Verdict::Shown => None,
        Verdict::Open(reason) => Some(reason),
        Verdict::Refuted => {
            let sentence = format!(
                "promised risks do not come true: {words}; promised on average {:.2}, failed {:.2} of {of}",
                whole.predicted, whole.failed.mean
            );
            return (verdict, sentence);
        }
    };
    let p_values: Vec<f64> = (situations.iter())
        .map(|(_, scores)| match scores.verdict() {
            Verdict::Refuted => scores.p_against(),
            _ => 1.0,
        })
        .collect();
    let with = |which: &dyn Fn(&Scores, f64) -> bool| {
        let mut found = (situations.iter().zip(holm(&p_values)))
            .filter(|((_, scores), p)| which(scores, *p))
            .map(|((name, scores), _)| format!("{name} ({})", in_words(scores)));
        let first = found.next()?;
        Some(match found.count() {
            0 => first,
            more => format!("{first} and {more} more"),
        })
    };
    let refuted = with(&|_, p| p < 0.05);
    let open = with(&|scores, _| scores.verdict() != Verdict::Shown);
    match (reason, refuted, open) {
        (None, None, None) => (verdict, format!("promised risks come true: {words}, {of}")),
        (None, Some(refuted), _) => (
            Verdict::Refuted,
            format!("promised risks come true as a whole ({words}), but not with {refuted}"),
        ),
        (None, None, Some(open)) => (
            Verdict::Open(Reason::Situations),
            format!("promised risks come true as a whole ({words}); open with {open}"),
        ),
        (Some(_), Some(refuted), _) => (
            Verdict::Refuted,
            format!("promised risks do not come true with {refuted}; open as a whole ({words})"),
        ),
        (Some(reason), None, _) => (
            verdict,
            format!("whether promised risks come true is open ({reason}): {words}, {of}"),
        ),
    }
}

/// `skill 0.12 ± 0.03, calibration error 0.021 [0.004, 0.038] (14 % of the share that failed)`.
fn in_words(scores: &Scores) -> String {
    let error = estimate_text(&scores.error, 3);
    let relative = scores.relative_error.map_or_else(String::new, |percent| {
        format!(
            " ({} % of the share that failed)",
            super::table::grouped(percent, 0)
        )
    });
    match &scores.skill {
        Some(skill) => format!(
            "skill {}, calibration error {error}{relative}",
            estimate_text(skill, 2)
        ),
        None => {
            format!("skill undefined (all jobs ended alike), calibration error {error}{relative}")
        }
    }
}
