//! What holds for the first of the queue when it does not fit.
//!
//! The defaults are those of EASY backfilling. Environments in which a queue is scheduled by
//! choosing one job after the other differ in all three (RLScheduler: Zhang et al. 2020).

use serde::{Deserialize, Serialize};

/// What holds for the first of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeadRules {
    /// Whether it stays the first.
    #[serde(default, skip_serializing_if = "is_default")]
    pub head: Head,
    /// How often its place is looked for.
    #[serde(default, skip_serializing_if = "is_default")]
    pub reserved_start: ReservedStart,
    /// Who may start before it.
    #[serde(default, skip_serializing_if = "is_default")]
    pub passing: Passing,
}

/// Whether it is the default, which specifications leave out.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Which job is the first of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Head {
    /// The first of the order at each pass.
    #[default]
    First,
    /// The job that was the first when none was: it stays that until it starts, whoever comes.
    Committed,
}

/// How often the place of the first of the queue is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReservedStart {
    /// At each pass: jobs that end early move it forward.
    #[default]
    EachPass,
    /// Once, when the job first does not fit.
    Once,
}

/// Which jobs may start before the first of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Passing {
    /// Those that are planned to end until its reserved start, or need only nodes that it leaves.
    #[default]
    WithoutDelay,
    /// Those that are planned to end before its reserved start, and no others.
    BeforeStart,
}
