//! What conservative backfilling and comprehensive overbooking read.

use bookahead_core::scheduling::{
    Acceptance, Convolution, DoubleExecution, EarlyStart, OverlapRule, PenaltySettings, Placing,
    PolicySpec, PredecessorRule, PromiseSettings, RecoverySettings, Reliability,
};
use bookahead_core::units::Seconds;

/// How [`Comprehensive`](super::Comprehensive) plans. The numbers of open questions (A-nn) are
/// those of docs/decisions.md.
#[derive(Clone, Debug, PartialEq)]
pub struct ComprehensiveSettings {
    /// Which acceptable slot is taken (Birkenheuer 2012, §3.1.2, §5.2.3).
    pub placing: Placing,
    /// When an overbooked slot is acceptable (Birkenheuer 2012, §3.1.3).
    pub acceptance: Acceptance,
    /// Whether full-length slots must pass the acceptance test too (A-03; default no).
    pub test_full_length: bool,
    /// The planner's model of node failures: survival of a run and availability at its start.
    pub reliability: Reliability,
    /// How promises follow from what earlier ones were worth.
    pub promises: PromiseSettings,
    /// What becomes of jobs that lost their nodes.
    pub recovery: RecoverySettings,
    /// How the penalty grows with the lateness of a job; `None` where a job that misses its
    /// deadline owes all.
    pub penalty: Option<PenaltySettings>,
    /// Whether planned jobs start early when a predecessor ends early (only overbooking does by
    /// default; docs/decisions.md, "Questions beyond those", has the ablation).
    pub early_start: EarlyStart,
    /// Width of the steps of completion-time distributions (A-12; default 60 s).
    pub time_step: Seconds,
    /// How completion-time distributions are convolved. Direct by default: with at most 101 steps
    /// of runtime the sum costs no more than the transforms and gives the same bits on every
    /// machine.
    pub convolution: Convolution,
    /// Whether a running predecessor's distribution is conditioned on the time it already ran
    /// (A-15; default no).
    pub condition_on_elapsed: bool,
    /// What is believed of the jobs in front of a new one (default: their joint distribution; the
    /// other value is an ablation).
    pub predecessors: PredecessorRule,
    /// Whether the nodes of a planned overbooked job are kept free of later arrivals until it
    /// starts (A-18; default no): nobody is placed in front of it, so it can start as soon as its
    /// predecessors have ended, as its distribution assumes.
    pub hold_for_overbooked: bool,
    /// How much of the dependence between a job and a predecessor of the same user is counted on,
    /// from 0 (independent, as the thesis has it, A-14; default) to 1 (they use the same quantile
    /// of their distributions).
    pub user_factor: f64,
    /// Whether jobs are also planned on top of their predecessors, where these and the job must
    /// save the time for it together (Birkenheuer 2012, §3.3.1, Figure 3.5; A-20; default no). Only
    /// overbooking that starts jobs early can.
    pub overlap: OverlapRule,
    /// When a job is given a second run on other nodes in the same window (Birkenheuer 2012,
    /// §2.2.4; default never).
    pub double_execution: Option<DoubleExecution>,
}

impl Default for ComprehensiveSettings {
    fn default() -> Self {
        Self::from(&PolicySpec::default())
    }
}

impl From<&PolicySpec> for ComprehensiveSettings {
    fn from(spec: &PolicySpec) -> Self {
        Self {
            placing: spec.placing,
            acceptance: spec.acceptance,
            test_full_length: spec.test_full_length,
            reliability: spec.reliability.clone(),
            promises: spec.promises(),
            recovery: spec.recovery(),
            penalty: spec.penalty.clone(),
            early_start: spec.early_start,
            time_step: spec.time_step,
            convolution: spec.convolution,
            condition_on_elapsed: spec.condition_on_elapsed,
            predecessors: spec.predecessors,
            hold_for_overbooked: spec.hold_for_overbooked,
            user_factor: spec.user_factor,
            overlap: spec.overlap,
            double_execution: spec.double_execution,
        }
    }
}
