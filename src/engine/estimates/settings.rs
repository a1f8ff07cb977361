//! What determines the statistics of runtime estimates: the class family and the counting rules.

use serde::{Deserialize, Serialize};

/// Everything that determines the learned distributions, apart from the learning jobs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EstimateSettings {
    /// By which attribute jobs are grouped (spec §3.5.2).
    pub family: ClassFamily,
    /// How a ratio becomes an integer percent (A-07; default round half up).
    pub binning: Binning,
    /// What happens to ratios above 100 % (A-08; default clamp).
    pub overrun: Overrun,
    /// Which jobs the distributions are learned from (spec §3.5.3; default those before the evaluated ones).
    #[serde(default)]
    pub learn_from: LearningJobs,
    /// Classes with fewer samples fall back to the distribution of all jobs (spec §3.5.1; default 1).
    pub minimum_class_size: u32,
}

/// Which jobs the distributions are learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LearningJobs {
    /// Those before the evaluated ones.
    #[default]
    Before,
    /// The evaluated ones themselves, all batteries together: what no planner can know. An ablation that shows how much of the
    /// error is drift between learning and evaluation.
    Evaluated,
}

/// The attribute, or the pair of attributes, that selects a job's distribution.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClassFamily {
    /// One distribution for everybody.
    All,
    /// By estimated runtime; left-closed, right-open intervals between these borders in seconds.
    Runtime {
        /// Ascending borders; n borders make n + 1 classes.
        borders_seconds: Vec<i64>,
    },
    /// By requested nodes; inclusive upper bounds.
    Resources {
        /// Ascending inclusive upper bounds; n bounds make n + 1 classes.
        upper_bounds: Vec<u32>,
    },
    /// The users with the most learning jobs get their own class, everybody else the general distribution.
    User {
        /// How many users (spec: 10).
        top: u32,
    },
    /// By application (executable, worker); those with the most learning jobs get their own class.
    Application {
        /// How many applications.
        top: u32,
    },
    /// By the ratio of the user's last job that had ended at the submission, which consecutive jobs of a user share more than
    /// independence allows; users without one get the general distribution.
    UserLast,
    /// Two attributes at once; a pair without enough samples falls back to the first attribute, then to all jobs.
    Pair(Box<ClassFamily>, Box<ClassFamily>),
}

/// How a runtime ratio becomes an integer percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Binning {
    /// Round half up.
    #[default]
    Round,
    /// Round down.
    Floor,
    /// Round up.
    Ceil,
}

/// What happens to learning jobs that ran longer than estimated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overrun {
    /// Count them at 100 %.
    #[default]
    Clamp,
    /// Leave them out.
    Drop,
}
