//! What parts hold beside CPUs: additive counts, of which a cluster has a fixed number (Meltzer
//! 2005, §2).

use std::iter::Sum;
use std::ops::Add;

use serde::{Deserialize, Serialize};

/// A resource beside CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FurtherResource {
    /// Licences of a program.
    Licences,
    /// Storage.
    Storage,
}

impl FurtherResource {
    /// Every one, in the order in which a cluster asks for them.
    pub const ALL: [Self; 2] = [Self::Licences, Self::Storage];
}

/// How much of each resource beside CPUs a part needs, parts hold, or a cluster has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FurtherCounts {
    /// Licences.
    #[serde(skip_serializing_if = "is_nothing")]
    pub licences: u32,
    /// Storage in GB.
    #[serde(skip_serializing_if = "is_nothing")]
    pub storage_gb: u32,
}

fn is_nothing(count: &u32) -> bool {
    *count == 0
}

impl FurtherCounts {
    /// Nothing beside CPUs.
    pub const NONE: Self = Self {
        licences: 0,
        storage_gb: 0,
    };

    /// The amount of one resource, in its unit.
    #[must_use]
    pub const fn of(self, resource: FurtherResource) -> u32 {
        match resource {
            FurtherResource::Licences => self.licences,
            FurtherResource::Storage => self.storage_gb,
        }
    }

    /// The first resource of which a part that needs this much finds too little where there are
    /// `most` and others hold `held`; `None` where it fits.
    #[must_use]
    pub fn lacking(self, most: Self, held: Self) -> Option<FurtherResource> {
        let together = self + held;
        FurtherResource::ALL
            .into_iter()
            .find(|&it| self.of(it) > 0 && together.of(it) > most.of(it))
    }

    /// Whether a part that needs this much fits where there are `most` and nobody holds any.
    #[must_use]
    pub fn fits(self, most: Self) -> bool {
        self.lacking(most, Self::NONE).is_none()
    }

    /// The larger amount of each resource.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            licences: self.licences.max(other.licences),
            storage_gb: self.storage_gb.max(other.storage_gb),
        }
    }
}

impl Add for FurtherCounts {
    type Output = Self;

    /// Saturates: more than any cluster has.
    fn add(self, other: Self) -> Self {
        Self {
            licences: self.licences.saturating_add(other.licences),
            storage_gb: self.storage_gb.saturating_add(other.storage_gb),
        }
    }
}

impl Sum for FurtherCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::NONE, Add::add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(licences: u32, storage_gb: u32) -> FurtherCounts {
        FurtherCounts {
            licences,
            storage_gb,
        }
    }

    #[test]
    fn each_resource_is_compared_with_its_own() {
        let most = counts(4, 100);
        let held = counts(3, 60);
        // 1 licence and 40 GB are left.
        for (wanted, lacking) in [
            (counts(1, 40), None),
            (counts(2, 40), Some(FurtherResource::Licences)),
            (counts(1, 41), Some(FurtherResource::Storage)),
            (counts(2, 41), Some(FurtherResource::Licences)),
            (counts(0, 41), Some(FurtherResource::Storage)),
        ] {
            assert_eq!(wanted.lacking(most, held), lacking, "{wanted:?}");
        }
        assert!(counts(4, 100).fits(most) && !counts(0, 101).fits(most));
        assert!(!counts(5, 0).fits(most));
        // What is not needed is not lacking, however little there is.
        assert_eq!(counts(0, 1).lacking(counts(0, 1), counts(7, 0)), None);
        assert!(!counts(1, 0).fits(FurtherCounts::NONE));
    }

    #[test]
    fn amounts_are_added_one_by_one_and_never_wrap() {
        let all = [counts(1, 20), counts(2, u32::MAX), counts(0, 5)];
        let sum: FurtherCounts = all.into_iter().sum();
        assert_eq!(sum, counts(3, u32::MAX));
        assert_eq!(counts(1, 7).max(counts(3, 2)), counts(3, 7));
    }

    #[test]
    fn what_there_is_none_of_is_not_written() {
        let written = |counts| serde_json::to_string(&counts).unwrap();
        assert_eq!(written(counts(0, 0)), "{}");
        assert_eq!(written(counts(2, 0)), r#"{"licences":2}"#);
        let read: FurtherCounts = serde_json::from_str(r#"{"storage_gb":9}"#).unwrap();
        assert_eq!(read, counts(0, 9));
    }
}
