//! A planning-based machine with advance reservations: variable jobs are planned anew at every
//! event, reservations have a fixed start, and rules decide about their admission and price.
//!
//! [`Replanning`] is the policy, [`ReplanningMachine`] a cluster with it; it uses the same counted
//! [`Profile`](bookahead_core::plan::Profile) as overbooking, and a second one where it counts
//! memory ([`FreeResources`]).

mod admission;
mod delay_costs;
mod free;
mod machine;
mod outcome;
mod policy;
mod pricing;
mod scene;
mod settings;
pub mod study;
mod twins;

pub use delay_costs::{DelayCostSettings, JobCost, JobCosts, MISSTATING_STREAM, PricedCosts};
pub use free::{FreeResources, MachineMemory, Resources};
pub use machine::ReplanningMachine;
pub use outcome::{
    CostSums, JobSums, KeptTotals, RequestVerdict, ReservationOutcome, ReservationTotals,
    WaitingCosts,
};
pub use policy::Replanning;
pub use pricing::{Offer, PriceSheet};
pub use scene::{
    ReplanningInput, ReplanningOutput, ReplanningRun, replanning_scene, reservation_measures,
    twin_measures, with_twins,
};
pub use settings::{
    Admission, CANCELLING_STREAM, DisplacedJobs, Displacement, EarlyEnd, JobMarks, NoticeRule,
    PREEMPTIBLE_STREAM, PredictedNotice, ReplanningSettings, Resume, ShortestNotice, StoppedFirst,
    UNDELAYED_STREAM, marked_jobs,
};
pub use twins::{TwinJobs, TwinMachine, TwinTotals};
