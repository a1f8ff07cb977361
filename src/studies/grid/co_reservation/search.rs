//! The reservation step (Meltzer 2005, §4.2.3, §4.7.5): which part to order next, which one to give
//! back.
//!
//! A [`Search`] behaves as if the whole tree of candidates were built, shuffled, sorted and pruned
//! first, but it builds only the part that it visits. Its driver sends the orders and hands over
//! the answers.

use bookahead_core::random::Stream;
use bookahead_core::units::Seconds;

use super::algorithm::{Order, Repair, Valuation};
use super::listed::{Listed, Move};
use super::open_candidates::{OpenCandidates, Prefix, Weight, risk};
use super::outcome::OfferBounds;
use super::ranked::{Ranked, Tolerance};
use super::table::{Candidate, Entry, Table};
use crate::co_reservation::local::ClusterId;

/// How a [`Search`] orders candidates, and what it does after a refusal.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchRules {
    /// The order of candidates. Best-first repair goes by value whatever this says.
    pub order: Order,
    /// What happens after a refusal.
    pub repair: Repair,
    /// What the value is, where candidates are ordered by it.
    pub valuation: Valuation,
    /// Best-first repair: how much later than the next-best candidate one may start to be preferred
    /// to a rollback (Q27).
    pub start_tolerance: Seconds,
    /// How much dearer it may be.
    pub cost_tolerance: f64,
    /// Whether a TR candidate that was refused is never tried again.
    pub memoise: bool,
    /// Only complete candidates of which at least one part fails with at most this probability.
    pub pof_limit: Option<f64>,
}

/// What to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Order this part (step 8); an answer is due.
    Reserve(Candidate),
    /// Give this part back (step 13).
    Cancel(Candidate),
    /// Every part is reserved; in the order of parts.
    Granted(Vec<Candidate>),
    /// Every candidate was refused, and nothing is reserved any more.
    Exhausted,
    /// There is no complete candidate: nothing was ever ordered.
    NoCandidate,
}

/// What a search has sent and what came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchCounts {
    /// Orders that were granted.
    pub granted: u32,
    /// Orders that were refused, or not answered by a cluster that was given up.
    pub refused: u32,
    /// Parts that were given back.
    pub cancelled: u32,
    /// Parts that were reserved on clusters that were given up.
    pub gone: u32,
}

impl SearchCounts {
    /// Reserve and cancel messages, `n` of the thesis.
    #[must_use]
    pub fn messages(self) -> u32 {
        self.granted + self.refused + self.cancelled
    }
}

/// The search for one request.
#[derive(Debug)]
pub struct Search {
    open_candidates: OpenCandidates,
    engine: Engine,
    memoise: bool,
    pending: Option<Entry>,
    counts: SearchCounts,
}

#[derive(Debug)]
enum Engine {
    Listed(Listed),
    Ranked(Box<Ranked>),
}

impl Search {
    /// Shuffles the candidates once, the whole list; everything else is done when it is needed. Of
    /// candidates with the same cluster, part and start one is kept; candidates of parts from
    /// `parts` on are left out.
    #[must_use]
    pub fn new(
        rules: SearchRules,
        parts: usize,
        candidates: Vec<Candidate>,
        stream: &mut Stream,
    ) -> Self {
        Self::with(rules, parts, candidates, Some(stream))
    }

    /// As [`Search::new`], with the candidates in the order in which they are given: for tests, and
    /// for a single candidate.
    #[must_use]
    pub fn in_order(rules: SearchRules, parts: usize, candidates: Vec<Candidate>) -> Self {
        Self::with(rules, parts, candidates, None)
    }

    fn with(
        rules: SearchRules,
        parts: usize,
        mut candidates: Vec<Candidate>,
        stream: Option<&mut Stream>,
    ) -> Self {
        // A limit of 1 forbids nothing.
        let pof_limit = rules.pof_limit.filter(|&limit| limit < 1.0);
        if let Some(limit) = pof_limit {
            candidates.retain(|candidate| risk(candidate.pof) <= risk(limit));
        }
        let table = Table::new(parts, candidates, stream);
        let engine = if rules.order == Order::Value || rules.repair == Repair::BestFirst {
            let tolerance = Tolerance {
                start: rules.start_tolerance,
                cost: rules.cost_tolerance,
            };
            let ranked = Ranked::new(rules.repair, rules.valuation, tolerance);
            Engine::Ranked(Box::new(ranked))
        } else {
            Engine::Listed(Listed::new(rules.order, rules.repair, table.starts()))
        };
        Self {
            open_candidates: OpenCandidates::new(table, pof_limit),
            engine,
            memoise: rules.memoise,
            pending: None,
            counts: SearchCounts::default(),
        }
    }

    /// What to do next. After [`Step::Reserve`] an [`answer`](Self::answer) is due; until then the
    /// same order is named again. The three final steps are repeated likewise;
    /// [`give_up`](Self::give_up) alone leads on from [`Step::Granted`].
    pub fn step(&mut self) -> Step {
        if let Some(entry) = self.pending {
            return Step::Reserve(self.open_candidates.table.candidate(entry));
        }
        if self.open_candidates.table.parts() == 0 {
            return Step::NoCandidate;
        }
        let next = match &mut self.engine {
            Engine::Listed(listed) => listed.next(&mut self.open_candidates),
            Engine::Ranked(ranked) => ranked.next(&mut self.open_candidates),
        };
        match next {
            Move::Reserve(entry) => {
                self.pending = Some(entry);
                Step::Reserve(self.open_candidates.table.candidate(entry))
            }
            Move::Cancel(entry) => {
                self.counts.cancelled += 1;
                Step::Cancel(self.open_candidates.table.candidate(entry))
            }
            Move::Granted => Step::Granted(self.reserved()),
            Move::Exhausted if self.counts.granted + self.counts.refused == 0 => Step::NoCandidate,
            Move::Exhausted => Step::Exhausted,
        }
    }

    /// The answer to the last [`Step::Reserve`]. Without one that waits for it, nothing happens.
    pub fn answer(&mut self, granted: bool) {
        let Some(entry) = self.pending.take() else {
            return;
        };
        if granted {
            self.counts.granted += 1;
            match &mut self.engine {
                Engine::Listed(listed) => listed.granted(&self.open_candidates, entry),
                Engine::Ranked(ranked) => ranked.granted(&mut self.open_candidates, entry),
            }
            return;
        }
        self.counts.refused += 1;
        if self.memoise {
            self.open_candidates.remove(entry.index);
        }
        match &mut self.engine {
            Engine::Listed(listed) => listed.refused(),
            Engine::Ranked(ranked) => ranked.refused(),
        }
    }

    /// A cluster that does not answer or went down: nothing on it is tried any more. An order to it
    /// that waits for an answer counts as refused, and no answer is due any more. A part that is
    /// reserved there is gone without a [`Step::Cancel`]; the parts that were reserved after it are
    /// given back, and the search goes on from the part before it. An answer from another cluster
    /// stays due. A search without repair that loses a part is over.
    pub fn give_up(&mut self, cluster: ClusterId) {
        let Some(number) = self.open_candidates.table.cluster_number(cluster) else {
            return;
        };
        if self.pending.is_some_and(|entry| entry.cluster == number) {
            self.answer(false);
        }
        self.open_candidates.remove_cluster(number);
        let lost = match &mut self.engine {
            Engine::Listed(listed) => listed.give_up(number),
            Engine::Ranked(ranked) => ranked.give_up(number),
        };
        self.counts.gone += u32::from(lost);
    }

    /// The parts that are reserved now, in order of part.
    #[must_use]
    pub fn reserved(&self) -> Vec<Candidate> {
        self.entries()
            .into_iter()
            .map(|entry| self.open_candidates.table.candidate(entry))
            .collect()
    }

    /// What was sent so far.
    #[must_use]
    pub fn counts(&self) -> SearchCounts {
        self.counts
    }

    /// Complete candidates of the pruned tree as it was at the beginning, counted without building
    /// it.
    pub fn candidates(&mut self) -> f64 {
        self.open_candidates.as_built(OpenCandidates::count)
    }

    /// Extremes of start and cost over the complete candidates as they were at the beginning;
    /// `None` where there was none.
    pub fn bounds(&mut self) -> Option<OfferBounds> {
        self.open_candidates.as_built(|open_candidates| {
            let nothing = Prefix::default();
            let mut bounds: Option<OfferBounds> = None;
            for number in 0..open_candidates.table.starts() {
                let Some(least) = open_candidates.best(number, &nothing, Weight::Cost, 0.0) else {
                    continue;
                };
                let most = open_candidates
                    .best(number, &nothing, Weight::HighestCost, 0.0)
                    .unwrap_or(least);
                let start = open_candidates.table.start(number);
                let known = bounds.get_or_insert(OfferBounds {
                    earliest: start,
                    latest: start,
                    cheapest: least,
                    dearest: most,
                });
                known.latest = start;
                known.cheapest = known.cheapest.min(least);
                known.dearest = known.dearest.max(most);
            }
            bounds
        })
    }

    /// Bytes that the search occupies, itself and on the heap, by the capacity of everything that
    /// it holds.
    #[must_use]
    pub fn footprint_bytes(&self) -> usize {
        size_of::<Self>()
            + self.open_candidates.heap_bytes()
            + match &self.engine {
                Engine::Listed(listed) => listed.heap_bytes(),
                Engine::Ranked(ranked) => size_of::<Ranked>() + ranked.heap_bytes(),
            }
    }

    fn entries(&self) -> Vec<Entry> {
        match &self.engine {
            Engine::Listed(listed) => listed.path().collect(),
            Engine::Ranked(ranked) => ranked.path().collect(),
        }
    }
}

#[cfg(test)]
mod tests;
