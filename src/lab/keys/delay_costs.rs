//! Keys of delay costs, which jobs have in several studies: each declares them in its table
//! `[planning]` as they stand here.

use super::declaration::{Given, Key, named, real, reals};
use super::field::Field;
use super::problem::Problems;
use crate::workload::{COST_CLASSES, CostSpread, DelayCosts};

/// What waiting costs the owners of jobs.
pub const DELAY_COSTS: Key = named::<DelayCosts>().decides("Singh 2008 §2.1.3");

/// How many jobs are of each class of delay costs.
pub const SHARES_PERCENT: Key = reals()
    .from(0.0)
    .to(100.0)
    .words(r#"three numbers from 0 on whose sum is 100, for delay_costs = "classes""#)
    .default_is("[50, 30, 20]");

/// What waiting costs in each class.
pub const WEIGHTS: Key = reals()
    .from(0.0)
    .to(1e6)
    .words(
        "three numbers from 0 to 1000000, one for each class: SU for a node and an hour of waiting",
    )
    .default_is("[1, 3, 10]");

/// How far log-normal delay costs spread.
pub const VARIATION: Key = real()
    .from(0.0)
    .to(100.0)
    .note(
        r#": coefficient of variation of costs of mean 1 SU for a node and an hour, for delay_costs = "log-normal""#,
    )
    .default_is("1");

/// What a file says of delay costs.
#[derive(Clone, Copy, Debug)]
pub struct CostKeys<'a> {
    /// `planning.delay_costs`.
    pub delay_costs: Option<DelayCosts>,
    /// `planning.delay_cost_shares_percent`.
    pub shares: Field<'a, Given<Vec<f64>>>,
    /// `planning.delay_cost_weights`.
    pub weights: Field<'a, Given<Vec<f64>>>,
    /// `planning.delay_cost_variation`.
    pub variation: Field<'a, Given<f64>>,
}

impl CostKeys<'_> {
    /// How the costs of jobs spread; `None` where something is wrong.
    pub fn spread(self, problems: &mut Problems) -> Option<CostSpread> {
        let variation = self.variation.or_default(problems);
        Some(match self.delay_costs.unwrap_or_default() {
            DelayCosts::Width => CostSpread::Width,
            DelayCosts::Classes => {
                let (shares, weights) = (self.shares, self.weights);
                let of_classes = |values: Vec<f64>, most: f64| {
                    let fit = values.iter().all(|value| (0.0..=most).contains(value));
                    <[f64; COST_CLASSES]>::try_from(values).ok().filter(|_| fit)
                };
                let shares_percent = of_classes(shares.or_default(), 100.0)
                    .filter(|shares| (shares.iter().sum::<f64>() - 100.0).abs() < 1e-9);
                if shares_percent.is_none() {
                    shares.refuse("these are not three shares of all jobs", problems);
                }
                let of_each = of_classes(weights.or_default(), 1e6);
                if of_each.is_none() {
                    weights.refuse("these are not the costs of three classes", problems);
                }
                CostSpread::Classes {
                    shares_percent: shares_percent?,
                    weights: of_each?,
                }
            }
            DelayCosts::LogNormal => CostSpread::LogNormal {
                variation: variation?,
            },
        })
    }
}
