//! What settings of policies are made of: every question that a work leaves open is a value, and
//! our decision its default. The numbers of the questions (A-nn) are those of docs/decisions.md.
//! Each policy has a type of settings beside it, with what it reads.

use serde::{Deserialize, Serialize};

use super::checkpoint::{CheckpointSettings, Checkpointing};
use super::promising::{ExcludedUsers, UnderestimatorRule};
pub use crate::estimates::{CalibrationMethod, CalibrationSettings, Convolution};
use crate::failures::{LoadRule, NodeRates, RateFactors, SurvivalModel};
use crate::units::Seconds;

/// What becomes of an accepted job that lost its nodes, or cannot have them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecoverySettings {
    /// What becomes of a job that loses a node while it runs (A-31; the strategy's own rule by
    /// default).
    pub crash: CrashRule,
    /// What becomes of a job that cannot start because nodes are missing (A-33; the strategy's own
    /// rule by default).
    pub failed_start: FailedStartRule,
    /// When jobs that wait for nodes are tried again (A-33; default at every event that frees or
    /// returns nodes).
    pub retry: Retry,
    /// How jobs save their work; `None` where they do not.
    pub checkpoint: Option<CheckpointSettings>,
}

impl RecoverySettings {
    /// How jobs save their work, with the failure rate that the planner believes in.
    #[must_use]
    pub fn checkpointing(&self, believed: &Reliability) -> Option<Checkpointing> {
        let rate = believed.failure_rate_per_hour;
        self.checkpoint
            .map(|settings| Checkpointing::new(settings, rate))
    }

    /// What a job needs to go on after a crash.
    #[must_use]
    pub fn after_crash(&self, overbooks: bool) -> Recovery {
        self.crash.recovery(overbooks, self.checkpoint.is_some())
    }

    /// What a job needs to go on after it could not start.
    #[must_use]
    pub fn after_failed_start(&self, overbooks: bool) -> Recovery {
        self.failed_start.recovery(overbooks)
    }
}

/// Who is promised overbooked slots, and how promises follow from what earlier ones were worth.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PromiseSettings {
    /// Users who get no overbooked slots (default nobody).
    pub excluded: ExcludedUsers,
    /// What is planned for users whose jobs mostly outlast their estimates.
    pub underestimators: UnderestimatorRule,
    /// How promised probabilities follow from computed ones (default: they are the computed ones).
    pub calibration: CalibrationSettings,
    /// Whether the security factor S follows what earlier promises were worth
    /// ([`crate::estimates::PromiseBalance`]; default no).
    pub adapt_security_factor: bool,
}

/// Which of the acceptable slots is taken (Birkenheuer 2012, §3.1.2, §5.2.3).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placing {
    /// The first slot that passes, full-length or overbooked.
    FirstFit,
    /// First fit without overbooking; only if there is none, first fit with overbooking (what the
    /// thesis reports).
    #[default]
    NearBestFit,
    /// The last slot that passes.
    LastFit,
    /// The slot with the highest probability of success.
    HighestPos,
    /// The slot with the highest PoS × fee.
    BestOpportunity,
}

/// The planner's picture of node reliability, common to all nodes unless rates of each were learned
///
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reliability {
    /// Survival of one node over a run (Birkenheuer 2012, §3.3).
    pub survival: SurvivalModel,
    /// λ for the availability term, per node-hour.
    pub failure_rate_per_hour: f64,
    /// μ, repairs per hour.
    pub repair_rate_per_hour: f64,
    /// `survival` or, only to show the error of the printed formulas, `literal`.
    pub form: SurvivalForm,
    /// What is known of single nodes; left out where it is nothing.
    #[serde(default, skip_serializing_if = "NodeKnowledge::is_common")]
    pub nodes: NodeKnowledge,
    /// How the rate of survival is believed to change (Birkenheuer 2012, §3.3.1); left out where it
    /// does not.
    #[serde(default, skip_serializing_if = "BelievedRate::is_constant")]
    pub rate: BelievedRate,
}

/// What a planner believes of how the failure rate changes. It knows the time of the failure clock,
/// not what comes of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BelievedRate {
    /// By hour of the day, at weekends and with age.
    #[serde(flatten)]
    pub factors: RateFactors,
    /// Time of the failure clock at which a simulation starts.
    #[serde(default)]
    pub offset: Seconds,
    /// By the planned load; `None` where it is believed not to matter.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub load: Option<LoadRule>,
}

impl BelievedRate {
    /// Whether the rate is believed never to change.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.factors.is_constant() && self.load.is_none()
    }

    /// The hours that the clock of a model with a constant rate runs in a span: λ times them is the
    /// integral of the rate.
    #[must_use]
    pub fn hours(&self, exposure: &Exposure) -> f64 {
        let (start, end) = (exposure.start, exposure.end);
        let hours = if self.factors.is_constant() {
            (end - start).hours()
        } else {
            (self.factors).run((start + self.offset).hours(), (end + self.offset).hours())
        };
        match (&self.load, exposure.load) {
            (Some(rule), Some(load)) => hours * rule.at(load),
            _ => hours,
        }
    }
}

/// A span in which nodes may fail under a job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exposure {
    /// From when on.
    pub start: Seconds,
    /// Until when.
    pub end: Seconds,
    /// The part of all nodes that is planned in it on the average, with the job; `None` where the
    /// rate is not believed to follow the load.
    pub load: Option<f64>,
}

impl Exposure {
    /// A span of a plan that does not tell its load.
    #[must_use]
    pub fn within(start: Seconds, end: Seconds) -> Self {
        Self {
            start,
            end,
            load: None,
        }
    }
}

/// What a planner knows of the reliability of single nodes (A-06; Birkenheuer 2012, §3.3.1).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum NodeKnowledge {
    /// Nothing: all have the common rates.
    #[default]
    Common,
    /// Rates of each, learned from the failures before the simulation starts
    /// ([`crate::failures::learn_node_rates`]). Only a plan that binds jobs to nodes reads them.
    Learned {
        /// How many failures the common rates weigh.
        prior_failures: f64,
        /// The rates, filled in from the failure log when a simulation is prepared; no setting.
        #[serde(skip)]
        rates: Option<std::sync::Arc<[NodeRates]>>,
    },
}

impl NodeKnowledge {
    /// Whether nothing is known of single nodes.
    #[must_use]
    pub fn is_common(&self) -> bool {
        *self == Self::Common
    }
}

/// In which order nodes are numbered, and so which of several equal ones is taken: the one with the
/// lowest number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "by")]
pub enum NodeOrder {
    /// As their failures number them.
    #[default]
    Index,
    /// The most reliable first, by the failures before the simulation starts.
    Reliability {
        /// How many failures the common rates weigh.
        prior_failures: f64,
    },
}

impl NodeOrder {
    /// Whether nodes keep their numbers.
    #[must_use]
    pub fn is_index(&self) -> bool {
        *self == Self::Index
    }
}

impl Default for Reliability {
    fn default() -> Self {
        Self {
            survival: SurvivalModel::Poisson {
                rate_per_hour: 1.2904e-4,
            },
            failure_rate_per_hour: 1.2904e-4,
            repair_rate_per_hour: 0.4333,
            form: SurvivalForm::Survival,
            nodes: NodeKnowledge::Common,
            rate: BelievedRate::default(),
        }
    }
}

/// Whether P_success is the survival probability or the failure probability that the thesis printed
///
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SurvivalForm {
    /// The right formula.
    #[default]
    Survival,
    /// One minus it, per node, as printed.
    Literal,
}

/// What a node-mapped overbooking planner believes of the jobs in front of a new one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PredecessorRule {
    /// They end according to the product of their completion-time distributions (Birkenheuer 2012,
    /// §3.2.2).
    #[default]
    Joint,
    /// They use all their planned time, as the heuristic approach assumes (Birkenheuer 2012,
    /// §3.3.2): shows what the convolutions buy.
    Planned,
}

/// Whether a new job may be planned without a time of its own, where jobs that are planned already
/// leave one (Birkenheuer 2012, §3.3.1, Figure 3.5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OverlapRule {
    /// A slot begins when its nodes are free in the plan.
    #[default]
    None,
    /// A job may also be planned between two reservations that follow each other at once, or
    /// between one and its deadline: it runs in what its predecessors leave of their time, and has
    /// to be gone when that ends.
    Predecessors,
}

/// How long a counting planner assumes that a node which is down now stays down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DownHorizon {
    /// For 1/μ from now.
    #[default]
    Mttr,
    /// Until the repair is seen.
    Forever,
    /// Not at all: down nodes count as free.
    None,
}

/// How often a re-planning pass is repeated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplanPasses {
    /// One pass an event.
    #[default]
    Once,
    /// Until nothing moves any more.
    FixedPoint,
}

/// What becomes of a job that loses a node while it runs. It has lost all progress that it
/// did not save.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrashRule {
    /// What the thesis says in its evaluation: "the non-overbooking approaches fail if one of their
    /// resources fails. The overbooking strategies … can therefore restart jobs": final without
    /// overbooking, else any time that is left will do. Where jobs save their work, they go on
    /// without overbooking, too, where all of the rest fits.
    #[default]
    Strategy,
    /// The job has failed.
    Final,
    /// It waits as after a failed start of its strategy: what the thesis's description of the
    /// procedure says (Birkenheuer 2012, §5.2.2).
    Restart,
    /// It waits, and is started again where its full estimate fits before its deadline.
    RestartFull,
    /// It waits, and is started again in whatever time is left.
    RestartShort,
}

/// What becomes of a job that cannot start because nodes are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailedStartRule {
    /// What the thesis says (Birkenheuer 2012, §5.2.2): without overbooking the job waits until its
    /// estimate no longer fits before its deadline; with overbooking it may start later and run
    /// shorter.
    #[default]
    Strategy,
    /// The job has failed.
    Lost,
    /// It waits, and starts where its full estimate fits before its deadline.
    WaitFull,
    /// It waits, and starts in whatever time is left.
    WaitShort,
}

/// What an accepted job without its nodes needs to start again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// There is no other start: it has failed.
    None,
    /// Its full estimate before its deadline.
    Full,
    /// Any time before its deadline.
    Short,
}

impl Recovery {
    /// When the job is given up: the first time at which it could not start any more, which is not
    /// in the past of `now`.
    pub fn give_up(self, now: Seconds, estimate: Seconds, deadline: Seconds) -> Seconds {
        match self {
            Self::None => now,
            Self::Full => deadline - estimate + Seconds(1),
            Self::Short => deadline,
        }
    }
}

impl CrashRule {
    /// The rule without reference to the strategy, where jobs save their work or not.
    #[must_use]
    pub fn written_out(self, overbooks: bool, saves: bool) -> Self {
        match self.recovery(overbooks, saves) {
            Recovery::None => Self::Final,
            Recovery::Full => Self::RestartFull,
            Recovery::Short => Self::RestartShort,
        }
    }

    pub(super) fn recovery(self, overbooks: bool, saves: bool) -> Recovery {
        match self {
            Self::Strategy if overbooks => Recovery::Short,
            Self::Strategy if saves => Recovery::Full,
            Self::Strategy | Self::Final => Recovery::None,
            Self::Restart => FailedStartRule::Strategy.recovery(overbooks),
            Self::RestartFull => Recovery::Full,
            Self::RestartShort => Recovery::Short,
        }
    }
}

impl FailedStartRule {
    /// The rule without reference to the strategy.
    #[must_use]
    pub fn written_out(self, overbooks: bool) -> Self {
        match self.recovery(overbooks) {
            Recovery::None => Self::Lost,
            Recovery::Full => Self::WaitFull,
            Recovery::Short => Self::WaitShort,
        }
    }

    pub(super) fn recovery(self, overbooks: bool) -> Recovery {
        match self {
            Self::Strategy if overbooks => Recovery::Short,
            Self::Strategy | Self::WaitFull => Recovery::Full,
            Self::Lost => Recovery::None,
            Self::WaitShort => Recovery::Short,
        }
    }
}

/// When accepted jobs that wait for nodes are tried again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retry {
    /// At every end, failure and repair.
    #[default]
    Events,
    /// When a node comes back, as the thesis has it (Birkenheuer 2012, §5.2.2).
    Repairs,
}

/// Whether a node-mapped strategy releases nodes at the real end and starts planned jobs early.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EarlyStart {
    /// What the strategy does in the thesis: comprehensive overbooking yes, conservative
    /// backfilling no.
    #[default]
    Strategy,
    /// Release and start early.
    Yes,
    /// Keep every reservation until its planned end.
    No,
}
