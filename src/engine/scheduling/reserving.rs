//! A planning-based machine with advance reservations: variable jobs that are planned anew at every event, reservations with a
//! fixed start, and the rules by which they are admitted and priced.
//!
//! [`ReservingMachine`] is the state machine; it uses the same counted [`Profile`](crate::plan::Profile) as overbooking.

mod admission;
mod machine;
mod outcome;
mod pricing;
mod queue_plan;
mod scene;
mod settings;

pub use machine::ReservingMachine;
pub use outcome::{JobSums, RequestVerdict, ReservationOutcome, ReservationTotals};
pub use pricing::{Offer, PriceSheet};
pub use queue_plan::{Backfilling, DueEffort, QueueOrder, Waiting, due_now, plan_queue};
pub use scene::{
    ReservingInput, ReservingOutput, ReservingRun, reservation_measures, reserving_scene,
};
pub use settings::{
    Admission, DisplacedJobs, Displacement, EarlyEnd, PREEMPTIBLE_STREAM, ReservingSettings,
    SameInstant, preemptible_jobs,
};
