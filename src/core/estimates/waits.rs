//! How long a job will wait in a queue, learned from the waits before it (Singh 2008, §6.1;
//! AMB-25).
//!
//! QBETS, the prediction service that virtual reservations were made for, is published as an
//! interface only (Singh 2008, eq. 21). This is the substitute of AMB-25: the latest waits of jobs
//! of the same shape are taken as independent samples of the next wait. QBETS also finds the
//! instants at which a machine's habits change and forgets what was before; here that is left to
//! the bounded history.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use super::binomial::{bound_rank, largest_quantile};
use crate::units::{Nodes, Seconds};

/// Inclusive upper borders of the node bins: 1–4, 5–16, 17–64, 65 and more nodes (AMB-25).
pub const WAIT_NODE_BORDERS: [Nodes; 3] = [Nodes(4), Nodes(16), Nodes(64)];

/// Inclusive upper borders of the walltime bins: up to 1 h, 4 h, 12 h, and longer.
///
/// AMB-25 leaves them open. 1 h and 4 h are the durations of the requests of Singh 2008, §6.2, and
/// 12 h is their longest padded runtime (4 h + 8 h), so a virtual reservation never asks for the
/// last bin; typical site limits (18 to 24 h) are in it.
pub const WAIT_WALLTIME_BORDERS: [Seconds; 3] =
    [Seconds(3_600), Seconds(4 * 3_600), Seconds(12 * 3_600)];

/// Predicts the queue waits of one machine from its history (Singh 2008, §6.1; AMB-25).
///
/// A job's category is its pair of node bin and walltime bin ([`WAIT_NODE_BORDERS`],
/// [`WAIT_WALLTIME_BORDERS`]). Each category keeps its latest waits; so do each node bin over all
/// walltimes, and all jobs together. A prediction is made from the category, or, while that has
/// fewer than [`minimum_history`](WaitPredictorSettings::minimum_history) waits, from its node bin,
/// or, while that has too few as well, from all jobs, however few these are; [`basis`](Self::basis)
/// says which. Without any history nothing is promised: probabilities are 0, and quantiles have no
/// bound.
///
/// Only jobs that have started have a wait to observe. Those that still queue are missing, so while
/// a queue grows the predictions are too hopeful; [`WaitCalibration`](super::WaitCalibration) shows
/// by how much.
///
/// Consecutive waits resemble each other, so m of them say less than m independent ones, and the
/// stated confidence of the binomial methods is only approached on real logs.
///
/// An observation costs O(log m) comparisons and a move of at most m integers, a prediction O(log
/// m), and the binomial methods O(√m) on top where they are not remembered. A clone shares its
/// histories until either side observes, and then copies the three that change.
#[derive(Clone, Debug)]
pub struct WaitPredictor {
    settings: WaitPredictorSettings,
    categories: [[Arc<History>; BINS]; BINS],
    by_nodes: [Arc<History>; BINS],
    all: Arc<History>,
    /// [`largest_quantile`] of a full history by rank, each found when it is first asked for: it
    /// takes microseconds, and the search for a submission time asks a thousand times.
    full: Arc<[OnceLock<f64>]>,
    /// [`bound_rank`]: a study asks for the same few at every submission.
    ranks: Arc<Mutex<Ranks>>,
}

/// By samples and the bits of a quantile.
type Ranks = BTreeMap<(usize, u64), Option<usize>>;

impl WaitPredictor {
    /// A predictor that has seen nothing.
    ///
    /// # Errors
    /// If the settings are out of range: see [`WaitPredictorSettings::validate`].
    pub fn new(settings: WaitPredictorSettings) -> Result<Self, WaitPredictorError> {
        settings.validate()?;
        Ok(Self {
            settings,
            categories: Default::default(),
            by_nodes: Default::default(),
            all: Arc::default(),
            full: (0..=settings.history).map(|_| OnceLock::new()).collect(),
            ranks: Arc::default(),
        })
    }

    /// Learns that a job of this shape has started `wait` after its submission; a wait below 0
    /// counts as 0.
    ///
    /// `walltime` is what the user asked for, not how long the job ran.
    pub fn observe(&mut self, nodes: Nodes, walltime: Seconds, wait: Seconds) {
        let (row, column) = category(nodes, walltime);
        let wait = wait.max(Seconds::ZERO);
        for history in [
            &mut self.categories[row][column],
            &mut self.by_nodes[row],
            &mut self.all,
        ] {
            Arc::make_mut(history).push(wait, self.settings.history);
        }
    }

    /// The probability, in `[0, 1]`, that a job of this shape starts within `deadline` of its
    /// submission, if it is submitted now (Singh 2008, eq. 21; by [`WaitPredictorSettings::rule`]).
    ///
    /// It never falls when the deadline grows. 0 without any history.
    #[must_use]
    pub fn probability(&self, nodes: Nodes, walltime: Seconds, deadline: Seconds) -> f64 {
        let (_, history) = self.select(nodes, walltime);
        let samples = history.sorted.len();
        let within = history.sorted.partition_point(|&wait| wait <= deadline);
        match self.settings.rule {
            _ if within == 0 => 0.0,
            PredictionRule::Empirical => within as f64 / samples as f64,
            PredictionRule::BinomialLowerBound => {
                let found = || largest_quantile(samples, within, self.settings.confidence);
                match self.full.get(within) {
                    Some(known) if samples == self.settings.history => *known.get_or_init(found),
                    _ => found(),
                }
            }
        }
    }

    /// An upper bound of the quantile `q` of the wait of a job of this shape, by the binomial
    /// method and with the settings' confidence: the k-th smallest of the m known waits with the
    /// smallest k such that `Σ_{i<k} C(m,i) q^i (1−q)^(m−i) ≥ C` (AMB-25). The rule of the settings
    /// does not matter here.
    ///
    /// `None` if m is too small for it (q = 0.95 at C = 0.95 needs 59 waits, q = 0.99 needs 299),
    /// and for a q of 1 or more. It is not then looked for in a wider history, so that all bounds
    /// of one shape are of one basis and grow with q.
    #[must_use]
    pub fn quantile_bound(&self, nodes: Nodes, walltime: Seconds, q: f64) -> Option<Seconds> {
        let (_, history) = self.select(nodes, walltime);
        let samples = history.sorted.len();
        let mut ranks = self.ranks.lock().unwrap_or_else(PoisonError::into_inner);
        let rank = *ranks
            .entry((samples, q.to_bits()))
            .or_insert_with(|| bound_rank(samples, q, self.settings.confidence));
        history.sorted.get(rank? - 1).copied()
    }

    /// The quantile `q`, between 0 and 1, of the waits that the node bin of a job keeps, whatever
    /// their walltimes: the smallest of them that a share `q` does not exceed. `None` without any.
    #[must_use]
    pub fn quantile(&self, nodes: Nodes, q: f64) -> Option<Seconds> {
        let (row, _) = category(nodes, Seconds::ZERO);
        let waits = &self.by_nodes[row].sorted;
        // A product a rounding error above a whole number is that number.
        let rank = libm::ceil(q * waits.len() as f64 - 1e-9) as usize;
        waits.get(rank.saturating_sub(1)).copied()
    }

    /// What predictions for a job of this shape rest on: which history, and how many waits are in
    /// it.
    #[must_use]
    pub fn basis(&self, nodes: Nodes, walltime: Seconds) -> (PredictionBasis, usize) {
        let (basis, history) = self.select(nodes, walltime);
        (basis, history.sorted.len())
    }

    fn select(&self, nodes: Nodes, walltime: Seconds) -> (PredictionBasis, &History) {
        let (row, column) = category(nodes, walltime);
        let enough = |history: &History| history.sorted.len() >= self.settings.minimum_history;
        if enough(&self.categories[row][column]) {
            (PredictionBasis::Category, &self.categories[row][column])
        } else if enough(&self.by_nodes[row]) {
            (PredictionBasis::NodeBin, &self.by_nodes[row])
        } else {
            (PredictionBasis::AllJobs, &self.all)
        }
    }
}

/// How a [`WaitPredictor`] remembers and predicts (AMB-25).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WaitPredictorSettings {
    /// How many of the latest waits each category keeps; so many are kept of each node bin and of
    /// all jobs, too (default 1000).
    pub history: usize,
    /// C, the confidence of binomial bounds, between 0 and 1 (default 0.95, QBETS's).
    pub confidence: f64,
    /// How waits become the probability of a deadline (default [`PredictionRule::Empirical`]).
    pub rule: PredictionRule,
    /// A category or node bin with fewer waits is not asked. The default 59 is our own: it is the
    /// least number that bounds the quantile 0.95 with a confidence of 0.95 (`1 − 0.95^59 ≥ 0.95`).
    pub minimum_history: usize,
}

impl WaitPredictorSettings {
    /// Checks the ranges.
    ///
    /// # Errors
    /// If the history is empty or shorter than the minimum, or if the confidence is not strictly
    /// between 0 and 1.
    pub fn validate(&self) -> Result<(), WaitPredictorError> {
        let error = |key, allowed, found: String| WaitPredictorError {
            key,
            allowed,
            found,
        };
        if self.history == 0 {
            return Err(error("history", "at least 1", self.history.to_string()));
        }
        if self.minimum_history > self.history {
            let found = self.minimum_history.to_string();
            return Err(error("minimum_history", "at most `history`", found));
        }
        if !(self.confidence > 0.0 && self.confidence < 1.0) {
            let found = self.confidence.to_string();
            return Err(error("confidence", "above 0 and below 1", found));
        }
        Ok(())
    }
}

impl Default for WaitPredictorSettings {
    fn default() -> Self {
        Self {
            history: 1_000,
            confidence: 0.95,
            rule: PredictionRule::Empirical,
            minimum_history: 59,
        }
    }
}

/// How known waits become the probability that a deadline is kept (AMB-25).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictionRule {
    /// The share of waits up to the deadline.
    #[default]
    Empirical,
    /// The largest quantile whose upper bound, with the settings' confidence, is within the
    /// deadline: a cautious share.
    BinomialLowerBound,
}

/// Which history a prediction was made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredictionBasis {
    /// Jobs in the same node bin and walltime bin.
    Category,
    /// Jobs in the same node bin, for want of the former.
    NodeBin,
    /// All jobs, for want of both.
    AllJobs,
}

/// A setting of the wait predictor that is out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` of the wait predictor must be {allowed}, but is {found}")]
pub struct WaitPredictorError {
    /// The configuration key.
    pub key: &'static str,
    /// What is allowed.
    pub allowed: &'static str,
    /// What was found.
    pub found: String,
}

const BINS: usize = 4;

fn category(nodes: Nodes, walltime: Seconds) -> (usize, usize) {
    (
        WAIT_NODE_BORDERS.partition_point(|&border| border < nodes),
        WAIT_WALLTIME_BORDERS.partition_point(|&border| border < walltime),
    )
}

/// The latest waits: in ascending order, and as a ring in the order in which they came.
#[derive(Clone, Debug, Default)]
struct History {
    sorted: Vec<Seconds>,
    ring: Vec<Seconds>,
    /// Where the oldest wait is, once the ring is full.
    oldest: usize,
}

impl History {
    fn push(&mut self, wait: Seconds, capacity: usize) {
        let to = self.sorted.partition_point(|&known| known < wait);
        if self.ring.len() < capacity {
            self.sorted.insert(to, wait);
            self.ring.push(wait);
            return;
        }
        let forgotten = std::mem::replace(&mut self.ring[self.oldest], wait);
        self.oldest = (self.oldest + 1) % capacity;
        let from = self.sorted.partition_point(|&known| known < forgotten);
        if from < to {
            self.sorted.copy_within(from + 1..to, from);
            self.sorted[to - 1] = wait;
        } else {
            self.sorted.copy_within(to..from, to + 1);
            self.sorted[to] = wait;
        }
    }
}

#[cfg(test)]
mod tests;
