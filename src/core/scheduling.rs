//! Policies on a plan: backfilling, planning, overbooking, and the tests that accept or reject a
//! slot.
//!
//! Here stands what every policy stands on. A policy is one file that implements [`Policy`]. It
//! plans; the [`ClusterMachine`] carries out what was planned, in the order of events, and writes
//! down what became of every job. What is known of a policy by its name is a
//! [`Strategy`](registry::Strategy).

mod acceptance;
mod bandwidth;
mod checkpoint;
mod cluster;
mod customers;
mod double_execution;
mod hardware;
mod learned;
mod longer_estimates;
pub mod measures;
mod outcome;
mod penalty;
mod policy;
mod promises;
mod promising;
pub mod queue;
pub mod registry;
mod settings;
mod simulation;
mod spec;
pub mod stream;
pub mod victims;
mod work;

pub use acceptance::{Acceptance, PROBABILITY_TOLERANCE, Tested};
pub use checkpoint::{
    Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, CheckpointTotals,
    Checkpointing, Execution, GapEnd, ResumeRule, Rhythm, SharedTotals, daly_interval,
    young_interval,
};
pub use cluster::{
    Absence, Allocation, Awaited, Cluster, ClusterInput, ClusterMachine, ClusterOutput, MovedJob,
    Phase,
};
pub use customers::{Customers, refusal};
pub use double_execution::{DoubleExecution, DoubleTotals};
pub use hardware::Hardware;
pub use learned::Learned;
pub use longer_estimates::{LongerEstimates, LongerTotals};
pub use outcome::{
    JobOutcome, JobQuote, Promise, SimulationMetrics, SuccessFactors, Verdict, bounded_slowdown,
    fixed_measures, measure_intervals,
};
pub use penalty::{Late, LateTotals, PenaltyFunction, PenaltySettings};
pub use policy::{JobQuoter, NodeLender, Policy, QueueForecast, WindowQuote, WindowSeller};
pub use promises::{PromisedStart, promise_measures};
pub use promising::{
    AccurateUserRule, AccurateUsers, ExcludedUsers, PromisingRule, ShorteningRule,
    UnderestimatorRule, longer_duration,
};
pub use queue::{Backfilling, Queue, QueuePass, QueuePolicy, QueueSettings, Waiting};
pub use settings::{
    BelievedRate, CalibrationMethod, CalibrationSettings, Convolution, CrashRule, DownHorizon,
    EarlyStart, Exposure, FailedStartRule, NodeKnowledge, NodeOrder, OverlapRule, Placing,
    PredecessorRule, PromiseSettings, Recovery, RecoverySettings, Reliability, ReplanPasses, Retry,
    SurvivalForm,
};
pub use simulation::{outcomes_by_job, simulate_policy, with_failures, with_jobs};
pub use spec::PolicySpec;
pub use work::WorkCounters;
