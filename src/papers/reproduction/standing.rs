//! How the claims of some score cards stand: what held, what was missed and why, what was not
//! tested; as a headline and as the row of a table.

use super::{ScoreCard, Tallies};

/// How the claims of some score cards stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) tallies: Tallies,
    /// Misses that the cards explain.
    pub(super) explained: usize,
}

impl Standing {
    pub(super) fn of<'c>(cards: impl IntoIterator<Item = &'c ScoreCard>) -> Self {
        let mut standing = Self::default();
        for card in cards {
            for result in &card.results {
                standing.tallies.add(result);
                standing.explained += usize::from(card.why(result).is_some());
            }
        }
        standing
    }

    pub(super) fn unexplained(self) -> usize {
        self.tallies.first.missed - self.explained
    }

    /// Whether any claim has a second judgement of its own.
    pub(super) fn is_judged_twice(self) -> bool {
        self.tallies.judged_twice > 0
    }

    /// How many claims hold, in one sentence.
    pub(super) fn headline(self) -> String {
        let first = self.tallies.first;
        let (held, decided) = (first.held, first.decided());
        if decided == 0 {
            return "No claim could be checked.".to_owned();
        }
        let mut text = format!(
            "{held} of the {decided} claims that could be checked hold ({:.0} %)",
            held as f64 / decided as f64 * 100.0
        );
        if self.is_judged_twice() {
            text.push_str(&format!(
                "; over alignments {}",
                self.tallies.second.share()
            ));
        }
        text + "."
    }

    /// The heads of [`Standing::cells`].
    pub(super) fn heads(twice: bool) -> Vec<&'static str> {
        let mut heads = vec!["held"];
        heads.extend(twice.then_some("over alignments"));
        heads.extend(["missed, explained", "missed, not explained", "not tested"]);
        heads
    }

    /// Claims held, by both judgements where some of the table are judged `twice`, misses by kind,
    /// and claims not tested.
    pub(super) fn cells(self, twice: bool) -> Vec<String> {
        let mut cells = vec![self.tallies.first.share()];
        cells.extend(twice.then(|| self.tallies.second.share()));
        let counts = [
            self.explained,
            self.unexplained(),
            self.tallies.first.not_tested,
        ];
        cells.extend(counts.map(|count| count.to_string()));
        cells
    }
}

impl std::ops::AddAssign for Standing {
    fn add_assign(&mut self, other: Self) {
        self.tallies += other.tallies;
        self.explained += other.explained;
    }
}
