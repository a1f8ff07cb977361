//! How long data travel between resources.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::units::Seconds;

/// A network without contention, the same between any two resources (Singh 2008, §4.1, §4.9).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Bandwidth in bits per second, more than 0.
    pub bandwidth_bits_per_second: f64,
    /// Latency in seconds, which every transfer pays once.
    pub latency_seconds: f64,
    /// What the mean transfer time of an edge is taken over.
    pub mean: TransferMean,
}

/// Over which pairs of resources the mean transfer time `c_ij` is taken (AMB-24e).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TransferMean {
    /// Pairs of different resources; 0 where there is one resource.
    #[default]
    DistinctPairs,
    /// All pairs, including a resource with itself, which cost nothing.
    AllPairs,
}

/// A network that cannot be.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{key} is {found}; allowed is {allowed}")]
pub struct NetworkError {
    /// The setting.
    pub key: &'static str,
    /// The value found.
    pub found: f64,
    /// What is allowed.
    pub allowed: &'static str,
}

impl Default for Network {
    /// 10 Gbit/s and 150 s (Singh 2008, §4.9): 1,000 Gbit take 250 s.
    fn default() -> Self {
        Self {
            bandwidth_bits_per_second: 1e10,
            latency_seconds: 150.0,
            mean: TransferMean::DistinctPairs,
        }
    }
}

impl Network {
    /// Refuses a bandwidth or a latency that cannot be.
    ///
    /// # Errors
    ///
    /// When the bandwidth is not above 0, or the latency is negative or not finite.
    pub fn check(&self) -> Result<(), NetworkError> {
        let fault = |key, found, allowed| NetworkError {
            key,
            found,
            allowed,
        };
        if self.bandwidth_bits_per_second.is_nan() || self.bandwidth_bits_per_second <= 0.0 {
            return Err(fault(
                "bandwidth_bits_per_second",
                self.bandwidth_bits_per_second,
                "more than 0 bits per second",
            ));
        }
        if !(0.0..f64::INFINITY).contains(&self.latency_seconds) {
            return Err(fault(
                "latency_seconds",
                self.latency_seconds,
                "0 seconds or more",
            ));
        }
        Ok(())
    }

    /// Transfer time between two different resources, in seconds: volume / bandwidth + latency.
    #[must_use]
    pub fn seconds(&self, bytes: u64) -> f64 {
        bytes as f64 * 8.0 / self.bandwidth_bits_per_second + self.latency_seconds
    }

    /// Transfer time from one resource to another, in seconds: 0 where they are the same.
    #[must_use]
    pub fn seconds_between(&self, from: usize, to: usize, bytes: u64) -> f64 {
        if from == to { 0.0 } else { self.seconds(bytes) }
    }

    /// Transfer time between two different resources in whole seconds, rounded up.
    #[must_use]
    pub fn whole_seconds(&self, bytes: u64) -> Seconds {
        Seconds((self.seconds(bytes).ceil() as i64).min(Seconds::FAR.0))
    }

    /// `c_ij`: mean transfer time between resources, in seconds (eq. 7); 0 for a single resource.
    #[must_use]
    pub fn mean_seconds(&self, bytes: u64, resources: usize) -> f64 {
        if resources < 2 {
            return 0.0;
        }
        match self.mean {
            TransferMean::DistinctPairs => self.seconds(bytes),
            TransferMean::AllPairs => {
                self.seconds(bytes) * (resources as f64 - 1.0) / resources as f64
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_gigabits_take_250_seconds_between_sites_and_none_within_one() {
        // Singh 2008, §4.9: mean 1000 Gb, 10 Gbps, latency 150 s → 250 s mean transfer.
        let network = Network::default();
        let bytes = 125_000_000_000;
        assert_eq!(network.seconds(bytes), 250.0);
        assert_eq!(network.whole_seconds(bytes + 1), Seconds(251));
        assert_eq!(network.seconds_between(1, 1, bytes), 0.0);
        assert_eq!(network.mean_seconds(bytes, 1), 0.0);
        assert_eq!(network.mean_seconds(bytes, 2), 250.0);
        let all = Network {
            mean: TransferMean::AllPairs,
            ..network
        };
        assert_eq!(all.mean_seconds(bytes, 2), 125.0);
    }

    #[test]
    fn networks_that_cannot_be_are_refused() {
        for (bandwidth, latency, key) in [
            (0.0, 0.0, "bandwidth_bits_per_second"),
            (f64::NAN, 0.0, "bandwidth_bits_per_second"),
            (1.0, -1.0, "latency_seconds"),
            (1.0, f64::INFINITY, "latency_seconds"),
        ] {
            let network = Network {
                bandwidth_bits_per_second: bandwidth,
                latency_seconds: latency,
                mean: TransferMean::DistinctPairs,
            };
            assert_eq!(network.check().unwrap_err().key, key);
        }
        assert_eq!(Network::default().check(), Ok(()));
    }
}
