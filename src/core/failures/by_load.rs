//! Failures whose rate follows the load of a cluster (Birkenheuer 2012, §3.3.1).
//!
//! Which of them happen is known only while the cluster runs. So failures are drawn at the highest
//! rate that any load gives, each with the load above which it happens (thinning). With a Poisson
//! model that is the process with the rate `λ · g(u)` at each instant, and policies that are
//! compared meet the same draws.

use std::sync::Arc;

use rand::RngExt;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::survival::{check, draw_exponential};
use super::trace::{MOST_OUTAGES, whole_seconds};
use super::{FailureError, FailurePattern, FailureTrace, SurvivalModel};
use crate::random::Stream;
use crate::units::{NodeIndex, Nodes, Seconds};

/// How the rate of failures follows the load: it is `g(u) = max(0, 1 + γ · (u/ū − 1))` times that
/// of the model, where u is the part of the nodes that run jobs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LoadRule {
    /// γ, above 0: at 1 the rate is proportional to the load.
    #[serde(rename = "load_factor")]
    pub factor: f64,
    /// ū, above 0 and at most 1: the load at which the rate is that of the model.
    #[serde(rename = "mean_load")]
    pub mean: f64,
}

/// A failure that happens if its node is up and more than a part of all nodes run jobs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PossibleFailure {
    /// When.
    pub time: Seconds,
    /// Of which node.
    pub node: NodeIndex,
    /// How long the node is down then.
    pub down: Seconds,
    /// That part, below 1; negative where it happens at any load.
    pub above_load: f64,
}

/// Possible failures in order of time, of one instant by node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FailuresByLoad {
    /// The list.
    pub possible: Arc<[PossibleFailure]>,
}

/// The failures that a cluster meets.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeFailures {
    /// They are known beforehand.
    Known(Arc<FailureTrace>),
    /// They follow the load.
    ByLoad(Arc<FailuresByLoad>),
}

impl LoadRule {
    /// g at this load.
    #[must_use]
    pub fn at(&self, load: f64) -> f64 {
        (1.0 + self.factor * (load / self.mean - 1.0)).max(0.0)
    }

    /// Checks ranges.
    ///
    /// # Errors
    ///
    /// A factor that is not above 0, or a mean load that no machine has.
    pub fn validate(&self) -> Result<(), FailureError> {
        check("load_factor", self.factor, false)?;
        check("mean_load", self.mean, false)?;
        if self.mean > 1.0 {
            return Err(FailureError::Parameter {
                key: "mean_load",
                allowed: "at most 1",
                found: self.mean.to_string(),
            });
        }
        Ok(())
    }

    /// The highest g, that of a full machine.
    fn most(&self) -> f64 {
        self.at(1.0)
    }

    /// The load above which g is more than this share, from 0 to 1, of the highest.
    fn above(&self, share: f64) -> f64 {
        self.mean * (1.0 + (share * self.most() - 1.0) / self.factor)
    }
}

impl FailuresByLoad {
    /// Draws failures of a Poisson model whose rate follows the load by the rule of `pattern`, and
    /// whose clock runs by it. Nodes are up at time 0 of the failure clock; failures from `offset`
    /// of that clock up to `horizon` after it are possible. Each node has a stream of its own.
    ///
    /// # Errors
    ///
    /// When the pattern has no such rule, or bursts; when the model is another one than Poisson or
    /// impossible, or when there would be millions of failures.
    pub fn generate(
        (survival, repair_rate_per_hour): (&SurvivalModel, f64),
        pattern: &FailurePattern,
        nodes: Nodes,
        (offset, horizon): (Seconds, Seconds),
        mut stream_of: impl FnMut(NodeIndex) -> Stream,
    ) -> Result<Self, FailureError> {
        survival.validate()?;
        check("repair_rate_per_hour", repair_rate_per_hour, false)?;
        pattern.validate()?;
        let (Some(rule), SurvivalModel::Poisson { .. }, None) =
            (&pattern.load, survival, &pattern.bursts)
        else {
            return Err(FailureError::Parameter {
                key: "load_factor",
                allowed: "above 0 with a Poisson model without bursts only",
                found: format!("{:?} with {survival:?}", pattern.load),
            });
        };
        let until = (offset + horizon.min(Seconds::FAR)).max(Seconds::ZERO);
        let mut possible = Vec::new();
        for node in (0..nodes.0).map(NodeIndex) {
            let mut stream = stream_of(node);
            let mut now = Seconds::ZERO;
            loop {
                let up_time = survival.draw_hours(&mut stream) / rule.most();
                now = whole_seconds(pattern.end_of(now.hours(), up_time, until.hours()));
                if now >= until {
                    break;
                }
                let down = whole_seconds(draw_exponential(repair_rate_per_hour, &mut stream));
                let above_load = rule.above(stream.random());
                if now < offset {
                    continue;
                }
                possible.push(PossibleFailure {
                    time: now - offset,
                    node,
                    down,
                    above_load,
                });
                if possible.len() > MOST_OUTAGES {
                    return Err(FailureError::TooManyOutages { nodes, horizon });
                }
            }
        }
        possible.sort_by_key(|failure| (failure.time, failure.node));
        let possible = possible.into();
        Ok(Self { possible })
    }

    /// A hash of all possible failures, as 32 hexadecimal digits.
    #[must_use]
    pub fn content_hash(&self) -> String {
        let mut hash = Sha256::new();
        hash.update("by load");
        for failure in &*self.possible {
            hash.update(failure.time.0.to_le_bytes());
            hash.update(failure.node.0.to_le_bytes());
            hash.update(failure.down.0.to_le_bytes());
            hash.update(failure.above_load.to_bits().to_le_bytes());
        }
        let digits = hash.finalize();
        digits[..16]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

impl NodeFailures {
    /// A hash of what may happen, as 32 hexadecimal digits.
    #[must_use]
    pub fn content_hash(&self) -> String {
        match self {
            Self::Known(trace) => trace.content_hash(),
            Self::ByLoad(failures) => failures.content_hash(),
        }
    }
}

impl Default for NodeFailures {
    /// No node fails.
    fn default() -> Self {
        Self::Known(Arc::default())
    }
}

impl From<FailureTrace> for NodeFailures {
    fn from(known: FailureTrace) -> Self {
        Self::Known(Arc::new(known))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failures::RateFactors;
    use crate::random;

    fn rule(factor: f64, mean: f64) -> LoadRule {
        LoadRule { factor, mean }
    }

    fn drawn(load: LoadRule, nodes: u32, hours: i64, offset: i64) -> FailuresByLoad {
        let pattern = FailurePattern {
            load: Some(load),
            ..FailurePattern::default()
        };
        let model = SurvivalModel::Poisson {
            rate_per_hour: 0.01,
        };
        let span = (Seconds(offset), Seconds::HOUR * hours);
        let stream = |node: NodeIndex| random::stream(3, "by load", 0, &node.0.to_string());
        FailuresByLoad::generate((&model, 0.5), &pattern, Nodes(nodes), span, stream).unwrap()
    }

    #[test]
    fn a_full_machine_has_twice_the_rate_where_half_a_machine_has_the_models() {
        // Birkenheuer 2012, §3.3.1: γ = 1, ū = ½, u = 1.
        let by_half = rule(1.0, 0.5);
        assert_eq!(by_half.at(1.0), 2.0);
        assert_eq!((by_half.at(0.5), by_half.at(0.0)), (1.0, 0.0));
        // Below 0 it does not fall: 1 + 2 · (0.1/0.5 − 1) is −0.6.
        assert_eq!(rule(2.0, 0.5).at(0.1), 0.0);
        for (share, load) in [(0.0, 0.0), (0.25, 0.25), (0.5, 0.5), (1.0, 1.0)] {
            assert_eq!(by_half.above(share), load);
        }
        // γ = ½: an empty machine still has half the rate, a third of the highest.
        let weak = rule(0.5, 0.5);
        assert!(weak.above(0.3) < 0.0 && (weak.above(1.0 / 3.0)).abs() < 1e-12);
        for wrong in [
            rule(0.0, 0.5),
            rule(1.0, 0.0),
            rule(1.0, 1.1),
            rule(f64::NAN, 0.5),
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn at_each_load_as_many_happen_as_the_rule_says() {
        let load_rule = rule(0.8, 0.6);
        let failures = drawn(load_rule, 40, 20_000, 0);
        for load in [0.0, 0.3, 0.6, 1.0] {
            let happen = (failures.possible.iter()).filter(|failure| load > failure.above_load);
            // 40 nodes for 20,000 hours at 0.01: 8,000 at the rate of the model.
            let expected = 8_000.0 * load_rule.at(load);
            let deviation = libm::sqrt(expected.max(1.0));
            let counted = happen.count() as f64;
            assert!(
                (counted - expected).abs() < 4.0 * deviation,
                "{load} {counted} {expected}"
            );
        }
        let in_order =
            |pair: &[PossibleFailure]| (pair[0].time, pair[0].node) < (pair[1].time, pair[1].node);
        assert!(failures.possible.windows(2).all(in_order));
    }

    #[test]
    fn the_clock_begins_at_the_offset_and_a_later_horizon_only_adds() {
        let (whole, later) = (
            drawn(rule(1.0, 0.5), 3, 900, 0),
            drawn(rule(1.0, 0.5), 3, 800, 360_000),
        );
        let shifted = whole
            .possible
            .iter()
            .filter(|failure| failure.time >= Seconds(360_000));
        let shifted: Vec<PossibleFailure> = shifted
            .map(|failure| PossibleFailure {
                time: failure.time - Seconds(360_000),
                ..*failure
            })
            .collect();
        assert!(!shifted.is_empty());
        assert_eq!(*later.possible, *shifted);
        let lead_in = drawn(rule(1.0, 0.5), 3, 900, -36_000);
        assert!(
            lead_in
                .possible
                .iter()
                .all(|failure| failure.time >= Seconds(36_000))
        );
        let longer = drawn(rule(1.0, 0.5), 3, 1_900, 0);
        assert_eq!(longer.possible[..whole.possible.len()], *whole.possible);
        assert_ne!(longer.content_hash(), whole.content_hash());
    }

    #[test]
    fn only_a_poisson_model_without_bursts_follows_the_load() {
        let pattern = FailurePattern {
            load: Some(rule(1.0, 0.5)),
            rate: RateFactors::default(),
            bursts: None,
        };
        let weibull = SurvivalModel::Weibull {
            shape: 0.7,
            scale_hours: 100.0,
        };
        let stream = |_: NodeIndex| random::stream(3, "", 0, "");
        let span = (Seconds::ZERO, Seconds::HOUR);
        let refused = FailuresByLoad::generate((&weibull, 0.5), &pattern, Nodes(1), span, stream);
        assert!(refused.unwrap_err().to_string().contains("load_factor"));
    }
}
