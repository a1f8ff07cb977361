//! Shares of a sweep for several machines: which simulations belong to which, by expected cost.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};
use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use super::cost::CostModel;
use super::spec::Sweep;
use super::tasks::tasks;

/// One of several equal shares of a sweep: number 1 to `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Shard {
    number: NonZeroU32,
    of: NonZeroU32,
}

/// Why a text is no share.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "allowed is I/N with whole numbers 1 ≤ I ≤ N ≤ 1000000, such as 2/8: the second of eight shares"
)]
pub struct ShardError;

impl Shard {
    /// More shares than this are a slip of the pen.
    pub const MOST: u32 = 1_000_000;

    /// Share `number` of `of`.
    ///
    /// # Errors
    ///
    /// When the number is not between 1 and `of`, or when there are more than a million.
    pub fn new(number: u32, of: u32) -> Result<Self, ShardError> {
        match (NonZeroU32::new(number), NonZeroU32::new(of)) {
            (Some(number), Some(of)) if number <= of && of.get() <= Self::MOST => {
                Ok(Self { number, of })
            }
            _ => Err(ShardError),
        }
    }

    /// Which share, from 1.
    #[must_use]
    pub fn number(self) -> u32 {
        self.number.get()
    }

    /// How many shares there are.
    #[must_use]
    pub fn of(self) -> u32 {
        self.of.get()
    }

    /// The name of this share's store: `shard-2-of-8.db`.
    #[must_use]
    pub fn file_name(self) -> String {
        format!("shard-{}-of-{}.db", self.number, self.of)
    }

    /// The points of this share, as indices into [`Sweep::points`].
    ///
    /// Each simulation goes to the share that has least to do so far, the dearest first, so that
    /// every point that is read off a simulation is in one share. Costs are the model's own:
    /// recorded ones differ from store to store, and every machine must come to the same shares by
    /// itself.
    #[must_use]
    pub fn points(self, sweep: &Sweep) -> HashSet<usize> {
        let mut loads: BinaryHeap<Reverse<Load>> = (1..=self.of.get())
            .map(|shard| {
                Reverse(Load {
                    seconds: 0.0,
                    shard,
                })
            })
            .collect();
        let mut mine = HashSet::new();
        let all: Vec<usize> = (0..sweep.points.len()).collect();
        for task in tasks(sweep, &all, &HashSet::new(), &CostModel::default()) {
            let Some(Reverse(mut least)) = loads.pop() else {
                break;
            };
            if least.shard == self.number.get() {
                mine.extend(&task.points);
            }
            least.seconds += task.seconds;
            loads.push(Reverse(least));
        }
        mine
    }
}

/// What a share has to do so far; the first share of the least comes first.
struct Load {
    seconds: f64,
    shard: u32,
}

impl Ord for Load {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.seconds
            .total_cmp(&other.seconds)
            .then(self.shard.cmp(&other.shard))
    }
}

impl PartialOrd for Load {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Load {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Load {}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.of)
    }
}

impl FromStr for Shard {
    type Err = ShardError;

    fn from_str(text: &str) -> Result<Self, ShardError> {
        let (number, of) = text.split_once('/').ok_or(ShardError)?;
        let whole = |text: &str| text.trim().parse().map_err(|_| ShardError);
        Self::new(whole(number)?, whole(of)?)
    }
}

#[cfg(test)]
mod tests {
    use crate::study::testing::STUDIES;
    use std::collections::{BTreeSet, HashMap};

    use super::*;
    use crate::sweep::Experiment;

    const TEXT: &str = r#"
[experiment]
name = "shares"
replications = 5
[workload]
model = "lublin-feitelson"
jobs = 4000
nodes = 64
battery_jobs = 400
load.value = 2.0
[[axis]]
key = "scheduling.strategy"
values = ["easy-backfilling", "heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
range = { from = 0.05, to = 0.5, step = 0.05 }
[[axis]]
key = "acceptance.penalty_ratio"
values = [1.0, 2.0]
"#;

    fn sweep() -> Sweep {
        Experiment::parse(STUDIES, "shares.toml", TEXT, None)
            .unwrap()
            .sweep
    }

    #[test]
    fn every_point_is_in_exactly_one_share_and_points_of_one_simulation_stay_together() {
        let sweep = sweep();
        for of in [1, 2, 3, 7, 110, 200] {
            let mut owner = HashMap::new();
            let mut shard_of_simulation = HashMap::new();
            for number in 1..=of {
                for point in Shard::new(number, of).unwrap().points(&sweep) {
                    assert_eq!(owner.insert(point, number), None);
                    let simulation = sweep.points[point].simulation;
                    let other = shard_of_simulation.insert(simulation, number);
                    assert!(other.is_none_or(|other| other == number));
                }
            }
            assert_eq!(owner.len(), sweep.points.len());
        }
    }

    #[test]
    fn shares_differ_by_less_than_the_dearest_simulation() {
        let sweep = sweep();
        let costs = CostModel::default();
        let dearest = sweep
            .simulations
            .iter()
            .map(|spec| costs.seconds(&spec))
            .fold(0.0, f64::max);
        let seconds: Vec<f64> = (1..=6)
            .map(|number| {
                let simulations: BTreeSet<usize> = Shard::new(number, 6)
                    .unwrap()
                    .points(&sweep)
                    .into_iter()
                    .map(|point| sweep.points[point].simulation)
                    .collect();
                simulations
                    .into_iter()
                    .map(|simulation| costs.seconds(sweep.simulations.kind(simulation)))
                    .sum()
            })
            .collect();
        let most = seconds.iter().copied().fold(0.0, f64::max);
        let least = seconds.iter().copied().fold(f64::MAX, f64::min);
        assert!(
            most - least <= dearest && least > 2.0 * dearest,
            "{seconds:?}, dearest {dearest}"
        );
    }

    #[test]
    fn shares_are_written_as_number_of_so_many_and_nothing_else_is_one() {
        assert_eq!("3/8".parse::<Shard>().unwrap().to_string(), "3/8");
        assert_eq!(
            Shard::new(3, 8).unwrap().file_name(),
            "shard-3-of-8.db".to_owned()
        );
        for wrong in [
            "1/1000001",
            "1/4000000000",
            "0/8",
            "9/8",
            "3",
            "3/0",
            "a/b",
            "",
            "-1/4",
            "1/2/3",
        ] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
