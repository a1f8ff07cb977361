//! Settings of a policy: every documented ambiguity of the specs is a value, and the spec's
//! decision its default.

use serde::{Deserialize, Serialize};

use super::acceptance::Acceptance;
use super::checkpoint::{CheckpointSettings, Checkpointing};
use super::penalty::PenaltySettings;
use super::promising::{PromisingRule, UnderestimatorRule, is_default};
pub use crate::estimates::{CalibrationMethod, CalibrationSettings, Convolution};
use crate::failures::{NodeRates, SurvivalModel};
use crate::units::Seconds;

/// Everything that determines how a policy plans. Ambiguity numbers (A-nn) are those of spec
/// `overbooking.md` §13.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySettings {
    /// The policy's name among those that are registered ([`Strategy`](super::registry::Strategy)).
    pub strategy: String,
    /// Which acceptable slot is taken (spec §3.3).
    pub placing: Placing,
    /// When an overbooked slot is acceptable (spec §3.4).
    pub acceptance: Acceptance,
    /// Whether full-length slots must pass the acceptance test too (A-03; default no).
    pub test_full_length: bool,
    /// The planner's model of node failures: survival of a run and availability at its start.
    pub reliability: Reliability,
    /// Width of the steps of completion-time distributions (A-12; default 60 s).
    pub time_step: Seconds,
    /// How completion-time distributions are convolved. Direct by default: with at most 101 steps
    /// of runtime the sum costs no more than the transforms and gives the same bits on every
    /// machine.
    #[serde(default)]
    pub convolution: Convolution,
    /// Whether a running predecessor's distribution is conditioned on the time it already ran
    /// (A-15; default no).
    pub condition_on_elapsed: bool,
    /// What a node-mapped overbooking planner believes of the jobs in front of a new one (default:
    /// their joint distribution; the other value is an ablation).
    pub predecessors: PredecessorRule,
    /// How long a counting planner assumes that a node which is down stays down.
    pub down_horizon: DownHorizon,
    /// How often a re-planning pass is repeated before the next event (A-22; default once).
    pub replan_passes: ReplanPasses,
    /// What becomes of a job that loses a node while it runs (A-31; the strategy's own rule by
    /// default).
    pub crash: CrashRule,
    /// What becomes of a job that cannot start because nodes are missing (A-33; the strategy's own
    /// rule by default).
    pub failed_start: FailedStartRule,
    /// When jobs that wait for nodes are tried again (A-33; default at every event that frees or
    /// returns nodes).
    pub retry: Retry,
    /// Whether a counting planner rebuilds its plan when a start fails, as it does at an end, a
    /// failure and a repair (A-33; default no).
    pub replan_failed_start: bool,
    /// Whether a node-mapped planner keeps the nodes of a planned overbooked job free of later
    /// arrivals until it starts (A-18; default no): nobody is placed in front of it, so it can
    /// start as soon as its predecessors have ended, as its distribution assumes.
    pub hold_for_overbooked: bool,
    /// How much of the dependence between a job and a predecessor of the same user a node-mapped
    /// planner counts on, from 0 (independent, as the thesis has it, A-14; default) to 1 (they use
    /// the same quantile of their distributions).
    pub user_factor: f64,
    /// How promised probabilities follow from computed ones (default: they are the computed ones).
    pub calibration: CalibrationSettings,
    /// Whether the security factor S follows what earlier promises were worth
    /// ([`crate::estimates::PromiseBalance`]; default no).
    #[serde(default, skip_serializing_if = "is_default")]
    pub adapt_security_factor: bool,
    /// Whether planned jobs start early when a predecessor ends early, for node-mapped strategies
    /// (the strategy's own rule by default: only comprehensive overbooking does; spec §14.3 asks
    /// for the ablation).
    pub early_start: EarlyStart,
    /// What makes a job promising for the algorithm of 2008. Left out where it is the
    /// default, as is the next, so that what does not read them keeps its identity.
    #[serde(default, skip_serializing_if = "is_default")]
    pub promising: PromisingRule,
    /// What the algorithm of 2008 does for users whose jobs mostly outlast their estimates (spec
    /// §3.1.6).
    #[serde(default, skip_serializing_if = "is_default")]
    pub underestimators: UnderestimatorRule,
    /// Which node is taken of several that are equally free.
    #[serde(default, skip_serializing_if = "NodeOrder::is_index")]
    pub node_order: NodeOrder,
    /// How jobs save their work; `None` where they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointSettings>,
    /// How the penalty grows with the lateness of a job; `None` where a job that misses its
    /// deadline owes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalty: Option<PenaltySettings>,
}

impl PolicySettings {
    /// How many batteries are run before the simulated one, to learn what promises are worth; 0
    /// where nothing asks for that.
    #[must_use]
    pub fn promise_batteries(&self) -> u32 {
        let asks = self.calibration.method != CalibrationMethod::None || self.adapt_security_factor;
        if asks {
            self.calibration.batteries_before
        } else {
            0
        }
    }

    /// How jobs save their work, with the failure rate that the planner believes in.
    #[must_use]
    pub fn checkpointing(&self) -> Option<Checkpointing> {
        let rate = self.reliability.failure_rate_per_hour;
        self.checkpoint
            .map(|settings| Checkpointing::new(settings, rate))
    }

    /// What a job needs to go on after a crash.
    pub fn after_crash(&self, overbooks: bool) -> Recovery {
        self.crash.recovery(overbooks, self.checkpoint.is_some())
    }
}

impl Default for PolicySettings {
    fn default() -> Self {
        Self {
            strategy: "conservative-backfilling".to_owned(),
            placing: Placing::NearBestFit,
            acceptance: Acceptance::Pof { maximum: 0.2 },
            test_full_length: false,
            reliability: Reliability::default(),
            time_step: Seconds(60),
            convolution: Convolution::Direct,
            condition_on_elapsed: false,
            predecessors: PredecessorRule::Joint,
            down_horizon: DownHorizon::Mttr,
            replan_passes: ReplanPasses::Once,
            crash: CrashRule::Strategy,
            failed_start: FailedStartRule::Strategy,
            retry: Retry::Events,
            replan_failed_start: false,
            hold_for_overbooked: false,
            user_factor: 0.0,
            calibration: CalibrationSettings::default(),
            adapt_security_factor: false,
            early_start: EarlyStart::Strategy,
            promising: PromisingRule::default(),
            underestimators: UnderestimatorRule::default(),
            node_order: NodeOrder::default(),
            checkpoint: None,
            penalty: None,
        }
    }
}

/// Which of the acceptable slots is taken (spec §3.3).
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
    /// Survival of one node over a run (spec §3.10).
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
}

/// What a planner knows of the reliability of single nodes (A-06, spec §3.3.1 of the thesis).
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
        }
    }
}

/// Whether P_success is the survival probability or the failure probability that the thesis printed
/// (A-02, E1).
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
    /// They end according to the product of their completion-time distributions (spec §3.6).
    #[default]
    Joint,
    /// They use all their planned time, as the heuristic approach assumes (spec §3.9): shows what
    /// the convolutions buy.
    Planned,
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
    /// procedure says (§5.2.2).
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
    /// What the thesis says (§5.2.2): without overbooking the job waits until its estimate no
    /// longer fits before its deadline; with overbooking it may start later and run shorter.
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

    /// What a job needs to go on after it could not start.
    #[must_use]
    pub fn recovery(self, overbooks: bool) -> Recovery {
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
    /// When a node comes back, as the thesis has it (§5.2.2).
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
