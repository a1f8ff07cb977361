//! Policies on a plan: backfilling, planning, overbooking, and the tests that accept or reject a
//! slot.
//!
//! A policy is one file that implements [`Policy`] and one line in [`registry`]. It plans; the
//! [`ClusterMachine`] carries out its plan in the order of events and records the outcome of every
//! job.

mod acceptance;
mod bandwidth;
mod checkpoint;
mod client;
mod cluster;
mod comprehensive;
mod direct;
mod disabled;
mod displaced;
mod hardware;
mod heuristic;
mod learned;
pub mod machine_queue;
pub mod measures;
mod outcome;
mod overbooking_2008;
mod penalty;
mod policy;
pub mod predicted_queue;
mod promises;
mod promising;
pub mod queue;
mod rectangle_site;
pub mod registry;
pub mod replanning;
pub mod selection;
mod settings;
mod shortening;
mod slot_statistics;
mod slot_study;
pub mod stream;
#[cfg(test)]
mod template;
mod virtual_reservation;
mod virtual_study;

pub use acceptance::{Acceptance, PROBABILITY_TOLERANCE};
pub use checkpoint::{
    Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, CheckpointTotals,
    Checkpointing, Execution, GapEnd, ResumeRule, Rhythm, SharedTotals, daly_interval,
    young_interval,
};
pub use client::{ClientSettings, ClientTies, ClosedLoop, Dependencies, Follows};
pub use cluster::{
    Allocation, Awaited, Cluster, ClusterInput, ClusterMachine, ClusterOutput, MovedJob, Phase,
};
pub use comprehensive::Comprehensive;
pub use direct::{
    ClusterRun, Replay, Work, cluster_scene, learn_from_batteries, replay, simulate,
    simulate_policy,
};
pub use hardware::Hardware;
pub use heuristic::Heuristic;
pub use learned::Learned;
pub use outcome::{
    JobOutcome, JobQuote, Promise, SimulationMetrics, SuccessFactors, Verdict, WorkCounters,
    fixed_measures, measure_intervals,
};
pub use overbooking_2008::{
    AnchorPoint, AnchorPredecessor, PlacementKind, ShortenedPlacement, ShorteningRequest,
    is_promising, longer_duration, place_shortened, shortened_duration,
};
pub use penalty::{Late, LateTotals, PenaltyFunction, PenaltySettings};
pub use policy::{Policy, WindowQuote};
pub use promises::{PromisedStart, promise_measures};
pub use promising::{PromisingRule, UnderestimatorRule};
pub use queue::{Backfilling, Queue, QueuePass, QueuePolicy, Waiting};
pub use rectangle_site::RectangleSite;
pub use settings::{
    CalibrationMethod, CalibrationSettings, Convolution, CrashRule, DownHorizon, EarlyStart,
    FailedStartRule, NodeKnowledge, NodeOrder, Placing, PolicySettings, PredecessorRule,
    Reliability, ReplanPasses, Retry, SurvivalForm,
};
pub use shortening::Shortening;
pub use slot_statistics::{Quantiles, SlotSample, SlotStatistics};
pub use slot_study::{SlotMachine, SlotSource, SlotStudyRun, SlotStudySettings, slot_scene};
pub use virtual_reservation::{
    CombinedOutcome, CombinedScheme, Padding, SUBMISSION_STEP, VirtualSubmission,
    cancellation_penalty, combine, normalised_cost, submission_time, virtual_cost,
    virtual_cost_bound,
};
pub use virtual_study::{
    CALIBRATED_DEADLINES_HOURS, CALIBRATED_QUANTILES, Combination, VirtualReplay, VirtualStudy,
    VirtualStudyError, VirtualStudyRun, VirtualStudySettings, VirtualTrial, check_span,
};
