//! What the algorithm of 2008 reads.

use bookahead_core::scheduling::{
    Acceptance, EarlyStart, ExcludedUsers, PenaltySettings, PolicySpec, PromisingRule,
    RecoverySettings, Reliability, ShorteningRule, UnderestimatorRule,
};

/// How [`Shortening`](super::Shortening) plans. The numbers of open questions (A-nn) are those of
/// docs/decisions.md.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ShorteningSettings {
    /// By how much durations are shortened ([`Acceptance::shortening`]).
    pub acceptance: Acceptance,
    /// Whether windows must pass the acceptance test of their buyer (A-03; default no).
    pub test_full_length: bool,
    /// The planner's model of node failures, which buyers of windows are told.
    pub reliability: Reliability,
    /// What becomes of jobs that lost their nodes.
    pub recovery: RecoverySettings,
    /// How the penalty grows with the lateness of a job; `None` where a job that misses its
    /// deadline owes all.
    pub penalty: Option<PenaltySettings>,
    /// Whether planned jobs start early when a predecessor ends early (default yes).
    pub early_start: EarlyStart,
    /// What makes a job promising.
    pub promising: PromisingRule,
    /// What is done for users whose jobs mostly outlast their estimates (Birkenheuer 2008, §3.1.1).
    pub underestimators: UnderestimatorRule,
    /// By how much estimates of promising jobs are cut (Birkenheuer 2008, §3.1.1).
    pub shortening: ShorteningRule,
    /// Users whose jobs are never shortened.
    pub excluded: ExcludedUsers,
}

impl From<&PolicySpec> for ShorteningSettings {
    fn from(spec: &PolicySpec) -> Self {
        Self {
            acceptance: spec.acceptance,
            test_full_length: spec.test_full_length,
            reliability: spec.reliability.clone(),
            recovery: spec.recovery(),
            penalty: spec.penalty.clone(),
            early_start: spec.early_start,
            promising: spec.promising,
            underestimators: spec.underestimators,
            shortening: spec.shortening,
            excluded: spec.excluded.clone(),
        }
    }
}
