//! Reservations that are held by a padded job in the queue, alone and together with real ones: the
//! rules, and the study that tries both on one trace.

mod limits;
mod rules;
pub mod study;
mod trials;

pub use rules::{
    CombinedOutcome, CombinedScheme, Padding, SUBMISSION_STEP, VirtualSubmission,
    cancellation_penalty, combine, normalised_cost, submission_time, virtual_cost,
    virtual_cost_bound,
};
pub use trials::{
    CALIBRATED_DEADLINES_HOURS, CALIBRATED_QUANTILES, Combination, VirtualReplay, VirtualStudy,
    VirtualStudyError, VirtualStudyRun, VirtualStudySettings, VirtualTrial, check_span,
};
