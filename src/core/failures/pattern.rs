//! Failures that come together: rates by hour of the day, at weekends and by age, and bursts (a
//! clustered process).
//!
//! A [`FailurePattern`] changes when the failures of a model come, in two steps:
//!
//! * **Rates.** The model's clock runs as [`RateFactors`] say. An up-time of the model is over when
//!   its clock has run that long while the node was up. With a Poisson model this is the Poisson
//!   process with that rate.
//! * **Bursts.** Each failure so drawn is the parent of a number of followers, Poisson with mean
//!   `m`. Each comes an exponential delay after it, on the same node with probability `q` and else
//!   on any node of the machine, drawn evenly. Followers have none of their own (a Neyman–Scott
//!   process that keeps its parents). With Poisson parents there are `1 + m` times as many
//!   failures, and counts in spans much longer than the delay have the index of dispersion
//!   `(1 + m) + m / (1 + m)`.
//!
//! A failure of a node that is down does nothing but prolong the outage if its own lasts longer.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::survival::{check, draw_exponential};
use super::trace::{MOST_OUTAGES, whole_seconds};
use super::{FailureError, FailureTrace, LoadRule, Outage, RateFactors, SurvivalModel};
use crate::random::Stream;
use crate::units::{NodeIndex, Nodes, Seconds};

/// When failures come, beside their model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FailurePattern {
    /// Failures that follow a failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<Bursts>,
    /// How fast the model's clock runs.
    #[serde(flatten)]
    pub rate: RateFactors,
    /// How the rate follows the load of the cluster; `None` where it does not.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRule>,
}

/// Failures that follow a failure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bursts {
    /// m, mean number of followers.
    pub mean_followers: f64,
    /// Mean delay after the parent, in hours.
    pub delay_hours: f64,
    /// q, probability that a follower hits the node of its parent.
    pub same_node: f64,
}

impl FailurePattern {
    /// Whether failures come as the model draws them.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Checks ranges.
    ///
    /// # Errors
    ///
    /// A rate that is impossible ([`RateFactors::validate`]), a negative mean, a delay that is not
    /// positive, a share outside of `[0, 1]`.
    pub fn validate(&self) -> Result<(), FailureError> {
        if let Some(bursts) = &self.bursts {
            check("burst_followers", bursts.mean_followers, true)?;
            check("burst_delay_hours", bursts.delay_hours, false)?;
            check("burst_same_node", bursts.same_node, true)?;
            if bursts.same_node > 1.0 || bursts.mean_followers > MOST_FOLLOWERS {
                return Err(FailureError::Parameter {
                    key: "burst_same_node or burst_followers",
                    allowed: "a share of at most 1, and at most 100 followers",
                    found: format!("{} and {}", bursts.same_node, bursts.mean_followers),
                });
            }
        }
        if let Some(load) = &self.load {
            load.validate()?;
        }
        self.rate.validate()
    }

    /// When, in hours, the model's clock has run `up_time` from `from` on; infinite if that is not
    /// before `until`.
    pub(super) fn end_of(&self, from: f64, up_time: f64, until: f64) -> f64 {
        let (mut now, mut left) = (from, up_time);
        while now < until {
            let hour = libm::floor(now) + 1.0;
            let run = self.rate.run_within_hour(now, hour);
            if run < left {
                left -= run;
                now = hour;
                continue;
            }
            let (mut low, mut high) = (now, hour);
            // Half a second is far below what times are rounded to.
            while high - low > 1e-5 {
                let middle = (low + high) / 2.0;
                if self.rate.run_within_hour(now, middle) < left {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            return high;
        }
        f64::INFINITY
    }
}

/// More followers a failure, on the average, are a wrong setting.
const MOST_FOLLOWERS: f64 = 100.0;

/// Draws failures as [`FailureTrace::generate`] does, with a pattern. `stream_of` opens the stream
/// of a node's own failures, `burst_of` that of the followers of its failures.
///
/// Without followers on other nodes, a larger machine does not change the failures of its first
/// nodes; a later horizon only adds events at or after the earlier one.
///
/// # Errors
///
/// When the model, the repair rate or the pattern is impossible, when failures follow the load
/// ([`FailuresByLoad`](super::FailuresByLoad)), or when there would be millions of outages.
pub(super) fn generate(
    (survival, repair_rate_per_hour): (&SurvivalModel, f64),
    pattern: &FailurePattern,
    nodes: Nodes,
    horizon: Seconds,
    mut stream_of: impl FnMut(NodeIndex) -> Stream,
    mut burst_of: impl FnMut(NodeIndex) -> Stream,
) -> Result<FailureTrace, FailureError> {
    survival.validate()?;
    check("repair_rate_per_hour", repair_rate_per_hour, false)?;
    pattern.validate()?;
    if pattern.load.is_some() {
        return Err(FailureError::FollowLoad);
    }
    let until = horizon.hours();
    let mut outages: Vec<Outage> = Vec::new();
    for node in (0..nodes.0).map(NodeIndex) {
        let (mut stream, mut followers) = (stream_of(node), burst_of(node));
        let mut now = Seconds::ZERO;
        loop {
            let up_time = survival.draw_hours(&mut stream);
            let start = whole_seconds(pattern.end_of(now.hours(), up_time, until));
            if start >= horizon {
                break;
            }
            let repair = draw_exponential(repair_rate_per_hour, &mut stream);
            let end = start + whole_seconds(repair);
            outages.push(Outage { node, start, end });
            if let Some(bursts) = &pattern.bursts {
                for _ in 0..draw_poisson(bursts.mean_followers, &mut followers) {
                    let delay = draw_exponential(1.0 / bursts.delay_hours, &mut followers);
                    let is_same = followers.random::<f64>() < bursts.same_node;
                    let other = NodeIndex(followers.random_range(0..nodes.0));
                    let repair = draw_exponential(repair_rate_per_hour, &mut followers);
                    let start = start + whole_seconds(delay);
                    if start < horizon {
                        outages.push(Outage {
                            node: if is_same { node } else { other },
                            start,
                            end: start + whole_seconds(repair),
                        });
                    }
                }
            }
            if outages.len() > MOST_OUTAGES {
                return Err(FailureError::TooManyOutages { nodes, horizon });
            }
            now = end;
        }
    }
    FailureTrace::from_outages(outages)
}

/// A Poisson number with a mean of at most [`MOST_FOLLOWERS`], by counting exponential spans.
fn draw_poisson(mean: f64, stream: &mut Stream) -> u32 {
    let (mut count, mut time) = (0, 0.0);
    loop {
        time += draw_exponential(1.0, stream);
        if time > mean {
            return count;
        }
        count += 1;
    }
}

#[cfg(test)]
mod tests;
