//! The algorithms of Meltzer 2005 as rows of one matrix: filters, order of candidates, and repair.

use bookahead_core::workload::Preference;
use serde::{Deserialize, Serialize};

use crate::co_reservation::local::ProbeFilters;

/// A co-reservation algorithm.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// The rigid baseline: one candidate, at the earliest start, on clusters that are drawn
    /// beforehand; nothing is varied.
    Rigid,
    /// The baseline without reservations: parts wait in the queues of clusters that are drawn, and
    /// those that have begun hold their CPUs until all have (Meltzer 2005, §1).
    Barrier,
    /// A1: candidates in random order, no probe (Meltzer 2005, §4.2).
    A1,
    /// A2: only candidates with enough free CPUs (Meltzer 2005, §4.3).
    #[default]
    A2,
    /// A3: and none that starts before the end of the backlog (Meltzer 2005, §4.4).
    A3,
    /// A3*: A3 with limits in the place of estimated run times.
    A3Star,
    /// A3 with backfill reservations (Meltzer 2005, §4.5).
    A3Backfill,
    /// A2 with the earliest start first (Meltzer 2005, §6.8).
    A2Sorted,
    /// A3 with the earliest start first (Meltzer 2005, §6.8).
    A3Sorted,
    /// A4: A3 with backfill reservations, the earliest start first (Meltzer 2005, §4.6).
    A4,
    /// A5: as A4, the best weighted value of cost and start first, with best-first repair (Meltzer
    /// 2005, §4.7).
    A5,
}

/// How cost and start become one value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Valuation {
    /// By weights of both, and of further criteria, as shares of their ranges (Meltzer 2005, eq. 2
    /// and §4.7.2).
    Weighted(Preference),
    /// By bands of cost, each a tenth of its range, and in a band by start (Meltzer 2005, §4.7.2).
    Staged,
}

/// What an algorithm does: its row of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlgorithmRow {
    /// Whether parts wait in queues instead of being reserved; nothing else is read then.
    pub queues: bool,
    /// Whether clusters are probed before anything is reserved.
    pub probes: bool,
    /// Whether the backlog is looked at, and how accurate limits are taken to be there.
    pub backlog: Option<Accuracy>,
    /// Whether what ends before the next scheduling event is exempt from the backlog test.
    pub backfill: bool,
    /// In which order candidates are tried.
    pub order: Order,
    /// What happens after a part was refused.
    pub repair: Repair,
}

/// How accurate wall-clock limits are taken to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accuracy {
    /// As accurate as the cluster's history says.
    History,
    /// As if they were run times (A3*).
    Exact,
}

/// The order of candidates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// A random permutation.
    Random,
    /// By start; random among equals.
    Start,
    /// By the weighted value of Meltzer 2005, eq. 2; random among equals.
    Value,
}

/// What happens after a part was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Depth-first search: the next candidate with the same reserved parts, then back by one part
    /// (Meltzer 2005, §4.2.3).
    Chronological,
    /// Back to the part below which the best candidate hangs (Meltzer 2005, §4.7.5).
    BestFirst,
    /// None: the request fails.
    None,
}

impl Algorithm {
    /// Every algorithm with its name and one line for people.
    pub const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (
            Self::Rigid,
            "rigid",
            "one fixed candidate: places and start drawn beforehand",
        ),
        (
            Self::Barrier,
            "barrier",
            "no reservation: queued parts wait for each other",
        ),
        (Self::A1, "a1", "random order, no probe"),
        (Self::A2, "a2", "CPU counting"),
        (Self::A3, "a3", "fair: not before the backlog is worked off"),
        (
            Self::A3Star,
            "a3-star",
            "fair, with wall-clock limits as they stand",
        ),
        (
            Self::A3Backfill,
            "a3-backfill",
            "fair, with backfill reservations",
        ),
        (
            Self::A2Sorted,
            "a2-sorted",
            "CPU counting, earliest start first",
        ),
        (Self::A3Sorted, "a3-sorted", "fair, earliest start first"),
        (
            Self::A4,
            "a4",
            "fair, with backfill reservations, earliest start first",
        ),
        (
            Self::A5,
            "a5",
            "as a4, best weighted value of cost and start first",
        ),
    ];

    /// Its name in configurations.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(algorithm, _, _)| *algorithm == self)
            .map_or("", |(_, name, _)| name)
    }

    /// Its row of the matrix.
    #[must_use]
    pub fn row(self) -> AlgorithmRow {
        let plain = AlgorithmRow {
            queues: false,
            probes: true,
            backlog: None,
            backfill: false,
            order: Order::Random,
            repair: Repair::Chronological,
        };
        let fair = AlgorithmRow {
            backlog: Some(Accuracy::History),
            ..plain
        };
        let backfilling = AlgorithmRow {
            backfill: true,
            ..fair
        };
        match self {
            Self::Rigid => AlgorithmRow {
                probes: false,
                repair: Repair::None,
                ..plain
            },
            Self::Barrier => AlgorithmRow {
                queues: true,
                probes: false,
                repair: Repair::None,
                ..plain
            },
            Self::A1 => AlgorithmRow {
                probes: false,
                ..plain
            },
            Self::A2 => plain,
            Self::A3 => fair,
            Self::A3Star => AlgorithmRow {
                backlog: Some(Accuracy::Exact),
                ..plain
            },
            Self::A3Backfill => backfilling,
            Self::A2Sorted => AlgorithmRow {
                order: Order::Start,
                ..plain
            },
            Self::A3Sorted => AlgorithmRow {
                order: Order::Start,
                ..fair
            },
            Self::A4 => AlgorithmRow {
                order: Order::Start,
                ..backfilling
            },
            Self::A5 => AlgorithmRow {
                order: Order::Value,
                repair: Repair::BestFirst,
                ..backfilling
            },
        }
    }

    /// The filters of its status queries.
    #[must_use]
    pub fn filters(self) -> ProbeFilters {
        let row = self.row();
        ProbeFilters {
            counting: row.probes,
            backlog: row.backlog.is_some(),
            exact_limits: row.backlog == Some(Accuracy::Exact),
            backfill: row.backfill,
        }
    }
}
