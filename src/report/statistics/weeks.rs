//! Intervals from one long simulation: its weeks are the units, or blocks of weeks where neighbours
//! are alike.

use std::collections::{BTreeMap, BTreeSet};

use super::estimate::Estimate;
use bookahead_core::scheduling::measures::QuantityKind;

/// Fewer blocks than this carry no interval.
pub const FEWEST_BLOCKS: u32 = 5;

/// Above this correlation of neighbours, blocks are made twice as long.
pub const LARGEST_LAG: f64 = 0.2;

/// The longest blocks, in weeks.
const MOST_WEEKS: u32 = 4;

/// A quotient of sums over the weeks of a simulation: of each week a part, and the whole that it is
/// divided by, such as the waits of its jobs and their number.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weekly {
    /// By number of the week, from 0.
    weeks: BTreeMap<u32, (f64, f64)>,
}

/// What a value was made of: its residuals by block add up to 0.
struct Linear {
    value: f64,
    /// Of every block from the first to the last; `None` of one in which nothing was counted.
    residuals: Vec<Option<f64>>,
    /// What residuals are divided by.
    whole: f64,
}

impl Linear {
    /// The correlation of neighbouring residuals, `Σ eᵢeᵢ₊₁ ÷ Σ eᵢ²`; `None` where there is no
    /// spread.
    fn lag(&self) -> Option<f64> {
        let residual = |block: &Option<f64>| block.unwrap_or(0.0);
        let squares: f64 = self.residuals.iter().map(residual).map(|e| e * e).sum();
        let neighbours: f64 = self
            .residuals
            .windows(2)
            .map(|pair| residual(&pair[0]) * residual(&pair[1]))
            .sum();
        let size = self.value.abs() * self.whole;
        (squares.sqrt() > 1e-12 * size).then(|| neighbours / squares)
    }

    /// What correlation is left between neighbours widens the interval: the variance of a sum is
    /// `1 + 2r` times the independent one. A negative correlation does not narrow it.
    fn estimate(&self, kind: QuantityKind) -> Estimate {
        let counted: Vec<f64> = self.residuals.iter().flatten().copied().collect();
        let widening = 1.0 + 2.0 * self.lag().unwrap_or(0.0).max(0.0);
        let estimate = Estimate::linearised(self.value, &counted, self.whole, widening, kind);
        if estimate.count < FEWEST_BLOCKS {
            return Estimate {
                interval: None,
                ..estimate
            };
        }
        estimate
    }
}

impl Weekly {
    /// Adds something to a week.
    pub fn add(&mut self, week: u32, part: f64, whole: f64) {
        let sums = self.weeks.entry(week).or_default();
        sums.0 += part;
        sums.1 += whole;
    }

    /// The number of blocks of this many weeks in which something was counted.
    #[must_use]
    pub fn units(&self, weeks: u32) -> u32 {
        let linear = self.linear(weeks);
        let counted = linear.map_or(0, |linear| linear.residuals.iter().flatten().count());
        u32::try_from(counted).unwrap_or(u32::MAX)
    }

    /// `Σ part ÷ Σ whole` by the ratio estimator ([`Estimate::quotient`]) over blocks of weeks;
    /// `None` where there is nothing to divide by. Five are needed for an interval, which is
    /// widened for what correlation is left between neighbouring blocks.
    #[must_use]
    pub fn quotient(&self, blocks: &Blocks, kind: QuantityKind) -> Option<Estimate> {
        Some(self.linear(blocks.weeks)?.estimate(kind))
    }

    /// How much larger this quotient is than another over the same weeks, paired by block; `None`
    /// where one of them has nothing to divide by.
    #[must_use]
    pub fn more_than(&self, other: &Self, blocks: &Blocks) -> Option<Estimate> {
        let difference = self.difference(other, blocks.weeks)?;
        Some(difference.estimate(QuantityKind::Signed))
    }

    /// The parts of these quotients week by week, in one order for all: those of a week without any
    /// are 0.
    #[must_use]
    pub fn parts(quotients: &[&Self]) -> Vec<Vec<f64>> {
        let weeks: BTreeSet<u32> = (quotients.iter())
            .flat_map(|own| own.weeks.keys().copied())
            .collect();
        let part = |own: &Self, week: &u32| own.weeks.get(week).map_or(0.0, |(part, _)| *part);
        let parts = quotients.iter();
        parts
            .map(|own| weeks.iter().map(|week| part(own, week)).collect())
            .collect()
    }

    /// Sums by block, from the first to the last.
    fn blocks(&self, weeks: u32, count: usize) -> Vec<(f64, f64)> {
        let mut blocks = vec![(0.0, 0.0); count];
        for (week, (part, whole)) in &self.weeks {
            let block = &mut blocks[(week / weeks) as usize];
            block.0 += part;
            block.1 += whole;
        }
        blocks
    }

    /// How many blocks there are up to the last week.
    fn length(&self, weeks: u32) -> usize {
        let last = self.weeks.last_key_value();
        last.map_or(0, |(week, _)| (week / weeks) as usize + 1)
    }

    fn linear(&self, weeks: u32) -> Option<Linear> {
        let blocks = self.blocks(weeks, self.length(weeks));
        let whole: f64 = blocks.iter().map(|(_, whole)| whole).sum();
        let part: f64 = blocks.iter().map(|(part, _)| part).sum();
        let value = part / whole;
        let residual = |(part, whole): &(f64, f64)| (*whole > 0.0).then(|| part - value * whole);
        (whole > 0.0).then(|| Linear {
            value,
            residuals: blocks.iter().map(residual).collect(),
            whole,
        })
    }

    /// The residual of a difference is that of the one less that of the other, each divided by its
    /// own whole.
    fn difference(&self, other: &Self, weeks: u32) -> Option<Linear> {
        let (one, two) = (self.linear(weeks)?, other.linear(weeks)?);
        let length = one.residuals.len().max(two.residuals.len());
        let residual = |linear: &Linear, block: usize| {
            let residual = linear.residuals.get(block).copied().flatten();
            residual.map(|residual| residual / linear.whole)
        };
        let residuals = (0..length).map(|block| {
            let pair = (residual(&one, block), residual(&two, block));
            match pair {
                (None, None) => None,
                (one, two) => Some(one.unwrap_or(0.0) - two.unwrap_or(0.0)),
            }
        });
        Some(Linear {
            value: one.value - two.value,
            residuals: residuals.collect(),
            whole: 1.0,
        })
    }
}

/// How many weeks are put together so that blocks are nearly independent, the same for all settings
/// that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blocks {
    /// Weeks of a block.
    pub weeks: u32,
    /// The largest correlation of neighbouring weeks; `None` where no value differs between weeks.
    pub of_weeks: Option<f64>,
    /// The largest correlation of neighbouring blocks.
    pub of_blocks: Option<f64>,
}

impl Blocks {
    /// The shortest blocks, of one, two or four weeks, whose neighbours are correlated by
    /// 0.2 at most in every setting, and in the difference of every setting from the first.
    /// Where there are none, the longest that leave five.
    #[must_use]
    pub fn of(settings: &[&Weekly]) -> Self {
        let of_weeks = largest_lag(settings, 1);
        let mut blocks = Self {
            weeks: 1,
            of_weeks,
            of_blocks: of_weeks,
        };
        while !blocks.are_independent() && blocks.weeks < MOST_WEEKS {
            let weeks = 2 * blocks.weeks;
            let units = settings.iter().map(|setting| setting.units(weeks)).max();
            if units.is_none_or(|units| units < FEWEST_BLOCKS) {
                break;
            }
            blocks.weeks = weeks;
            blocks.of_blocks = largest_lag(settings, weeks);
        }
        blocks
    }

    /// Whether neighbouring blocks are as good as independent.
    #[must_use]
    pub fn are_independent(&self) -> bool {
        self.of_blocks.is_none_or(|lag| lag <= LARGEST_LAG)
    }
}

/// The largest correlation of neighbouring blocks, in any setting and any difference from the
/// first.
fn largest_lag(settings: &[&Weekly], weeks: u32) -> Option<f64> {
    let (first, others) = settings.split_first()?;
    let own = settings.iter().map(|setting| setting.linear(weeks));
    let differences = others
        .iter()
        .map(|setting| setting.difference(first, weeks));
    let lags = own.chain(differences).filter_map(|linear| linear?.lag());
    lags.reduce(f64::max)
}

#[cfg(test)]
mod tests;
