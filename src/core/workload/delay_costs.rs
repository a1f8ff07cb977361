//! Delay costs: what it is worth to the owner of a job to start earlier (Singh 2008, §2.1.3).
//!
//! A delay cost h is money for one time unit earlier, here service units for each node and hour;
//! the waiting cost of a job is nodes · h · wait.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::log_normal;
use crate::random::Stream;

/// How many classes of costs there are at most: each has measures of its own.
pub const COST_CLASSES: usize = 3;

/// The name of the stream that delay costs are drawn from.
pub const DELAY_COSTS_STREAM: &str = "delay costs";

/// `planning.delay_costs`: which costs jobs have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DelayCosts {
    /// 1 for each node: a job's width alone.
    #[default]
    Width,
    /// The weights of three classes.
    Classes,
    /// Log-normal ones of mean 1.
    LogNormal,
}

/// How the costs of jobs spread.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostSpread {
    /// Each is 1.
    Width,
    /// A job is of one of these classes.
    Classes {
        /// How many of the jobs are of each, in percent; their sum is 100.
        shares_percent: [f64; COST_CLASSES],
        /// What a node and an hour cost in each, in service units.
        weights: [f64; COST_CLASSES],
    },
    /// Log-normal of mean 1.
    LogNormal {
        /// The coefficient of variation.
        variation: f64,
    },
}

impl CostSpread {
    /// One true cost, with its class where there are classes.
    #[must_use]
    pub fn draw(&self, stream: &mut Stream) -> (f64, Option<usize>) {
        match *self {
            CostSpread::Width => (1.0, None),
            CostSpread::Classes {
                shares_percent,
                weights,
            } => {
                let mut rest = 100.0 * stream.random::<f64>();
                let mut class = 0;
                while class + 1 < COST_CLASSES && rest >= shares_percent[class] {
                    rest -= shares_percent[class];
                    class += 1;
                }
                (weights[class], Some(class))
            }
            CostSpread::LogNormal { variation } => (log_normal(variation, stream), None),
        }
    }
}
