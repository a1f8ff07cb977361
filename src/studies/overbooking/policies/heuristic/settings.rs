//! What heuristic planning and overbooking read.

use bookahead_core::scheduling::{
    Acceptance, DoubleExecution, DownHorizon, PenaltySettings, Placing, PolicySpec,
    PromiseSettings, RecoverySettings, Reliability, ReplanPasses,
};

/// How [`Heuristic`](super::Heuristic) plans. The numbers of open questions (A-nn) are those of
/// docs/decisions.md.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeuristicSettings {
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
    /// How long a node which is down is assumed to stay down.
    pub down_horizon: DownHorizon,
    /// How often a re-planning pass is repeated before the next event (A-22; default once).
    pub replan_passes: ReplanPasses,
    /// Whether the plan is rebuilt when a start fails, as it is at an end, a failure and a repair
    /// (A-33; default no).
    pub replan_failed_start: bool,
    /// When a job is given a second run on other nodes; `None` where never (Birkenheuer 2012,
    /// §2.2.4).
    pub double_execution: Option<DoubleExecution>,
}

impl From<&PolicySpec> for HeuristicSettings {
    fn from(spec: &PolicySpec) -> Self {
        Self {
            placing: spec.placing,
            acceptance: spec.acceptance,
            test_full_length: spec.test_full_length,
            reliability: spec.reliability.clone(),
            promises: spec.promises(),
            recovery: spec.recovery(),
            penalty: spec.penalty.clone(),
            down_horizon: spec.down_horizon,
            replan_passes: spec.replan_passes,
            replan_failed_start: spec.replan_failed_start,
            double_execution: spec.double_execution,
        }
    }
}
