//! How many clusters there are, how large they are, and which windows of a trace are their
//! workloads.

use serde::{Deserialize, Serialize};

use crate::units::{Nodes, Seconds};
use crate::workload::WorkloadError;

/// The clusters of a study and where their jobs come from (Meltzer 2005, §6.2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ClusterSettings {
    /// How many.
    pub count: u32,
    /// The length of their windows in days; submissions of jobs and requests end after it (Meltzer
    /// 2005, §6.1).
    pub days: f64,
    /// Which windows.
    pub excerpts: Excerpts,
    /// Whether narrow jobs are merged (Q21).
    pub merging: bool,
    /// How many jobs become one at most; `None` for no limit (Q21 as decided). With 2 the thesis's
    /// own numbers come out far more closely: `docs/co-reservation.md`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merge_at_most: Option<u32>,
    /// How large the clusters are.
    pub sizes: ClusterSizes,
    /// Laxity of the clusters' jobs: the deadline is submission + laxity × limit. `None` where jobs
    /// have no deadline, as in the thesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub laxity: Option<f64>,
}

impl Default for ClusterSettings {
    fn default() -> Self {
        Self {
            count: 4,
            days: 14.0,
            excerpts: Excerpts::default(),
            merging: true,
            merge_at_most: None,
            sizes: ClusterSizes::default(),
            laxity: None,
        }
    }
}

impl ClusterSettings {
    /// There may be so many clusters at most.
    pub const MOST: u32 = 64;

    /// The length of a window in whole seconds.
    #[must_use]
    pub fn length(&self) -> Seconds {
        Seconds((self.days * 86_400.0).round() as i64)
    }

    pub(super) fn check(&self) -> Result<(), WorkloadError> {
        let impossible = |key, found: String, allowed| {
            Err(WorkloadError::ImpossibleSetting {
                key,
                found,
                allowed,
            })
        };
        if !(1..=Self::MOST).contains(&self.count) {
            return impossible("clusters.count", self.count.to_string(), "1 to 64");
        }
        if !self.days.is_finite() || self.length() < Seconds::HOUR {
            return impossible(
                "clusters.days",
                self.days.to_string(),
                "at least an hour's part of a day",
            );
        }
        if self.merge_at_most.is_some_and(|most| most < 2) {
            return impossible(
                "clusters.merge_at_most",
                self.merge_at_most.unwrap_or_default().to_string(),
                "2 or more",
            );
        }
        Ok(())
    }
}

/// Which windows of the trace are the clusters' workloads (Q19). Those of a smaller number of
/// clusters are the first ones of a larger number, except where they are spaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Excerpts {
    /// The seven that are nearest to Table 6 of the thesis, then further ones in order of time.
    #[default]
    Fingerprint,
    /// Windows drawn for each replication.
    Drawn,
    /// Windows at equal distances, from the first of the trace to the last.
    Spaced,
}

/// How large the clusters are. Jobs are scaled with their cluster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClusterSizes {
    /// All of the size of the machine.
    #[default]
    Equal,
    /// Full, half, full, half, …
    Alternating,
    /// Full, ½, ¼, ⅛, and again from the start.
    Graded,
}

impl ClusterSizes {
    /// The size of a cluster; at least one CPU.
    #[must_use]
    pub fn of(self, cluster: usize, machine: Nodes) -> Nodes {
        let halvings = match self {
            Self::Equal => 0,
            Self::Alternating => cluster % 2,
            Self::Graded => cluster % 4,
        };
        Nodes((machine.0 >> halvings).max(1))
    }
}
