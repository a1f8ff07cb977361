//! Counts verdicts, of both judgements.

use serde::Serialize;

use crate::findings::{FindingResult, Verdict};

/// How many findings held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Findings that held.
    pub held: usize,
    /// Findings that did not.
    pub missed: usize,
    /// Findings that could not be compared.
    pub not_tested: usize,
}

impl Tally {
    /// Counts the first verdicts of some results.
    #[must_use]
    pub fn of<'a>(results: impl IntoIterator<Item = &'a FindingResult>) -> Self {
        Tallies::of(results).first
    }

    fn count(&mut self, verdict: &Verdict) {
        match verdict {
            Verdict::Held => self.held += 1,
            Verdict::Missed(_) => self.missed += 1,
            Verdict::NotTested(_) => self.not_tested += 1,
        }
    }

    /// `12 held, 3 missed, 1 not tested`.
    #[must_use]
    pub fn sentence(self) -> String {
        format!(
            "{} held, {} missed, {} not tested",
            self.held, self.missed, self.not_tested
        )
    }

    /// Findings that held or were missed.
    #[must_use]
    pub fn decided(self) -> usize {
        self.held + self.missed
    }

    /// `12 of 15 (80 %)`: those that held among those that were decided.
    #[must_use]
    pub fn share(self) -> String {
        let (held, decided) = (self.held, self.decided());
        if decided == 0 {
            return "0 of 0".to_owned();
        }
        format!(
            "{held} of {decided} ({:.0} %)",
            held as f64 / decided as f64 * 100.0
        )
    }
}

/// How many findings held by each judgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tallies {
    /// By the tolerances alone.
    pub first: Tally,
    /// Over alignments, and with best thresholds judged by their gain.
    pub second: Tally,
    /// Findings whose second judgement is one of its own.
    pub judged_twice: usize,
}

impl std::ops::AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.held += other.held;
        self.missed += other.missed;
        self.not_tested += other.not_tested;
    }
}

impl std::ops::AddAssign for Tallies {
    fn add_assign(&mut self, other: Self) {
        self.first += other.first;
        self.second += other.second;
        self.judged_twice += other.judged_twice;
    }
}

impl Tallies {
    /// Counts the verdicts of some results.
    #[must_use]
    pub fn of<'a>(results: impl IntoIterator<Item = &'a FindingResult>) -> Self {
        let mut tallies = Self::default();
        for result in results {
            tallies.add(result);
        }
        tallies
    }

    /// Counts one more result.
    pub(super) fn add(&mut self, result: &FindingResult) {
        self.first.count(&result.verdict);
        self.second.count(result.second_verdict());
        self.judged_twice += usize::from(result.second.is_some());
    }

    /// `held 12 of 15 (80 %), over alignments 13 of 15 (87 %), 1 not tested`; without the second
    /// where nothing was judged twice, and without the last where everything was tested.
    #[must_use]
    pub fn sentence(self) -> String {
        let mut words = format!("held {}", self.first.share());
        if self.judged_twice > 0 {
            words.push_str(&format!(", over alignments {}", self.second.share()));
        }
        let missing = |tally: Tally| tally.not_tested;
        match (missing(self.first), missing(self.second)) {
            (0, 0) => {}
            (first, second) if first == second => words.push_str(&format!(", {first} not tested")),
            (first, second) => {
                words.push_str(&format!(", {first} and {second} not tested"));
            }
        }
        words
    }
}
