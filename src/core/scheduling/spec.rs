//! The flat form of a policy's settings: for specifications and experiment files.

use serde::{Deserialize, Serialize};

use super::acceptance::Acceptance;
use super::checkpoint::CheckpointSettings;
use super::double_execution::DoubleExecution;
use super::penalty::PenaltySettings;
use super::promising::{
    ExcludedUsers, PromisingRule, ShorteningRule, UnderestimatorRule, is_default,
};
use super::settings::{
    CalibrationMethod, CalibrationSettings, Convolution, CrashRule, DownHorizon, EarlyStart,
    FailedStartRule, NodeOrder, OverlapRule, Placing, PredecessorRule, PromiseSettings,
    RecoverySettings, Reliability, ReplanPasses, Retry,
};
use crate::plan::ShelfRule;
use crate::units::Seconds;

/// A policy by its name, with the settings of all policies in one flat table: what an experiment
/// file resolves to, and what a specification stores and is hashed from, so its fields and their
/// order never change. Nothing plans by it: an entry of the registry takes from it what its policy
/// reads ([`Build`](super::registry::Build)). The numbers of open questions (A-nn) are those of
/// docs/decisions.md.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySpec {
    /// The policy's name among those that are registered ([`Strategy`](super::registry::Strategy)).
    pub strategy: String,
    /// Which acceptable slot is taken (Birkenheuer 2012, §3.1.2, §5.2.3).
    pub placing: Placing,
    /// When an overbooked slot is acceptable (Birkenheuer 2012, §3.1.3).
    pub acceptance: Acceptance,
    /// Whether full-length slots must pass the acceptance test too (A-03; default no).
    pub test_full_length: bool,
    /// The planner's model of node failures: survival of a run and availability at its start.
    pub reliability: Reliability,
    /// Width of the steps of completion-time distributions (A-12; default 60 s).
    pub time_step: Seconds,
    /// How completion-time distributions are convolved.
    #[serde(default)]
    pub convolution: Convolution,
    /// Whether a running predecessor's distribution is conditioned on the time it already ran
    /// (A-15; default no).
    pub condition_on_elapsed: bool,
    /// What a node-mapped overbooking planner believes of the jobs in front of a new one.
    pub predecessors: PredecessorRule,
    /// How long a counting planner assumes that a node which is down stays down.
    pub down_horizon: DownHorizon,
    /// How often a re-planning pass is repeated before the next event (A-22; default once).
    pub replan_passes: ReplanPasses,
    /// [`RecoverySettings::crash`].
    pub crash: CrashRule,
    /// [`RecoverySettings::failed_start`].
    pub failed_start: FailedStartRule,
    /// [`RecoverySettings::retry`].
    pub retry: Retry,
    /// Whether a counting planner rebuilds its plan when a start fails (A-33; default no).
    pub replan_failed_start: bool,
    /// Whether a node-mapped planner keeps the nodes of a planned overbooked job free of later
    /// arrivals until it starts (A-18; default no).
    pub hold_for_overbooked: bool,
    /// How much of the dependence between a job and a predecessor of the same user a node-mapped
    /// planner counts on, from 0 to 1 (A-14; default 0).
    pub user_factor: f64,
    /// [`PromiseSettings::calibration`].
    pub calibration: CalibrationSettings,
    /// [`PromiseSettings::adapt_security_factor`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub adapt_security_factor: bool,
    /// Whether planned jobs start early when a predecessor ends early, for node-mapped strategies
    /// (the strategy's own rule by default).
    pub early_start: EarlyStart,
    /// What makes a job promising for the algorithm of 2008. Left out where it is the
    /// default, as is the next, so that what does not read them keeps its identity.
    #[serde(default, skip_serializing_if = "is_default")]
    pub promising: PromisingRule,
    /// What is planned for users whose jobs mostly outlast their estimates (Birkenheuer 2008,
    /// §3.1.1; Birkenheuer 2012, §4.1).
    #[serde(default, skip_serializing_if = "is_default")]
    pub underestimators: UnderestimatorRule,
    /// By how much the algorithm of 2008 shortens the estimates of promising jobs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub shortening: ShorteningRule,
    /// Users who get no overbooked slots.
    #[serde(default, skip_serializing_if = "is_default")]
    pub excluded: ExcludedUsers,
    /// Which node is taken of several that are equally free. No policy reads it: nodes are
    /// numbered by it.
    #[serde(default, skip_serializing_if = "NodeOrder::is_index")]
    pub node_order: NodeOrder,
    /// [`RecoverySettings::checkpoint`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<CheckpointSettings>,
    /// How the penalty grows with the lateness of a job; `None` where a job that misses its
    /// deadline owes all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub penalty: Option<PenaltySettings>,
    /// Whether a node-mapped planner plans jobs on top of their predecessors (A-20; default no).
    #[serde(default, skip_serializing_if = "is_default")]
    pub overlap: OverlapRule,
    /// When a counting planner gives a job a second run on other nodes; `None` where never
    /// (Birkenheuer 2012, §2.2.4).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub double_execution: Option<DoubleExecution>,
    /// θ: a queue with backfilling lets a job pass the first one, whatever its estimate, if the
    /// probability that it still runs when that one is to start lies below θ; 0 where only
    /// estimates count (Birkenheuer 2012, §2.4.2).
    #[serde(default, skip_serializing_if = "is_default")]
    pub backfill_risk: f64,
    /// Which shelves a planner in shelves reserves (Birkenheuer 2012, §2.3.1.2).
    #[serde(default, skip_serializing_if = "is_default")]
    pub shelves: ShelfRule,
}

impl PolicySpec {
    /// The policy of this name with the settings that hold where a file says nothing.
    #[must_use]
    pub fn named(strategy: &str) -> Self {
        Self {
            strategy: strategy.to_owned(),
            ..Self::default()
        }
    }

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

    /// What becomes of accepted jobs that lost their nodes.
    #[must_use]
    pub fn recovery(&self) -> RecoverySettings {
        RecoverySettings {
            crash: self.crash,
            failed_start: self.failed_start,
            retry: self.retry,
            checkpoint: self.checkpoint,
        }
    }

    /// How promises follow from earlier ones.
    #[must_use]
    pub fn promises(&self) -> PromiseSettings {
        PromiseSettings {
            excluded: self.excluded.clone(),
            underestimators: self.underestimators,
            calibration: self.calibration,
            adapt_security_factor: self.adapt_security_factor,
        }
    }
}

impl Default for PolicySpec {
    fn default() -> Self {
        Self {
            strategy: "conservative-backfilling".to_owned(),
            placing: Placing::NearBestFit,
            acceptance: Acceptance::default(),
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
            shortening: ShorteningRule::default(),
            excluded: ExcludedUsers::default(),
            node_order: NodeOrder::default(),
            checkpoint: None,
            penalty: None,
            overlap: OverlapRule::None,
            double_execution: None,
            backfill_risk: 0.0,
            shelves: ShelfRule::default(),
        }
    }
}
