//! Shelves: blocks of fixed heights, each for jobs of one height class, side by side.

use serde::{Deserialize, Serialize};

use crate::units::Seconds;

/// Which shelves of its class a job is put into before a new one is opened (Birkenheuer 2012,
/// §2.3.1.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShelfFit {
    /// The earliest one with room.
    #[default]
    First,
    /// The last one, or none.
    Next,
}

/// How high shelves are, and which of them are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ShelfRule {
    /// Which shelves of its class a job is put into.
    pub fit: ShelfFit,
    /// r, between 0 and 1: each kind of shelf is r times as high as the next higher one.
    pub ratio: f64,
    /// H: the height of one kind of shelf, from which those of all others follow.
    pub height: Seconds,
}

impl Default for ShelfRule {
    fn default() -> Self {
        Self {
            fit: ShelfFit::First,
            ratio: 0.5,
            height: Seconds::HOUR * 24,
        }
    }
}

impl ShelfRule {
    /// The height of the shelves for jobs of this height.
    #[must_use]
    pub fn height_for(&self, height: Seconds) -> Seconds {
        shelf_height(height, self.height, self.ratio)
    }
}

/// The height rᵏ · H of the shelf that takes a job with rᵏ⁺¹ · H < h ≤ rᵏ · H, where `ratio` is r
/// and `reference` is H, in whole seconds: what fits below a height fits below that rounded down,
/// too. A job higher than H has a negative k.
#[must_use]
pub fn shelf_height(height: Seconds, reference: Seconds, ratio: f64) -> Seconds {
    let height = height.0.max(1) as f64;
    let mut shelf = reference.0.max(1) as f64;
    while shelf * ratio >= height {
        shelf *= ratio;
    }
    while shelf < height {
        shelf /= ratio;
    }
    Seconds(shelf as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_reaches_from_above_the_next_lower_height_to_its_own() {
        // H = 8, r = ½: 1, 2, 4, 8, 16.
        let heights = [1, 2, 3, 4, 5, 8, 9, 16, 17];
        let shelves = heights.map(|height| shelf_height(Seconds(height), Seconds(8), 0.5).0);
        assert_eq!(shelves, [1, 2, 4, 4, 8, 8, 16, 16, 32]);
    }

    #[test]
    fn a_shelf_is_at_least_as_high_as_its_jobs_and_less_than_a_class_higher() {
        for ratio in [0.3, 0.5, 0.7, 0.99] {
            for height in 1..5_000 {
                let shelf = shelf_height(Seconds(height), Seconds(64_800), ratio).0;
                assert!(shelf >= height, "{height} at {ratio}");
                assert!(
                    (shelf as f64) * ratio < height as f64,
                    "{height} at {ratio}"
                );
            }
        }
    }
}
