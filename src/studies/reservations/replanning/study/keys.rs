//! Keys of reservations on one machine.

use crate::replanning::{Admission, DisplacedJobs, Displacement, EarlyEnd, StoppedFirst};
use bookahead_core::scheduling::queue::{Backfilling, QueueOrder};
use bookahead_core::workload::SameInstant;
use bookahead_lab::keys::declaration::{Given, named, real};
use bookahead_lab::{section, tables};

tables! {
    admission: RawAdmission = ADMISSION,
    planning: RawPlanning = PLANNING,
}

section! {
    /// Who is granted a reservation.
    ADMISSION = "admission", RawAdmission {
        /// When a reservation is admitted.
        rule: Option<Admission> = named::<Admission>().decides("Heine 2005 §3, Singh 2008 §5"),
        /// Which jobs are planned again.
        displaced: Option<DisplacedJobs> = named::<DisplacedJobs>().decides("A2, A3, AMB-2"),
        /// Which jobs may be stopped for a reservation.
        preemptible_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": how many of the jobs may be stopped for a reservation, under the rules truncate and requeue")
            .default_is("0"),
        /// Which of these are stopped.
        stopped_first: Option<StoppedFirst> = named::<StoppedFirst>().decides("Heine 2005 §2"),
        /// After which wait a job is no longer displaced.
        starvation_guard_hours: Given<f64> = real().from(0.0)
            .note(" hours of waiting after which a job is no longer displaced (default: never)")
            .decides("Heine 2005 §3"),
        /// What becomes of the rest of a reservation.
        early_end: Option<EarlyEnd> = named::<EarlyEnd>().decides("A10, AMB-37"),
        /// Who comes first in the same second.
        same_instant: Option<SameInstant> = named::<SameInstant>().decides("A4"),
        /// Whether displaced jobs are counted.
        displacement: Option<Displacement> = named::<Displacement>(),
    }
}

section! {
    /// How the queue of a planning-based machine is planned.
    PLANNING = "planning", RawPlanning {
        /// The order in which the queue is planned.
        order: Option<QueueOrder> = named::<QueueOrder>().decides("A1"),
        /// Who may be planned before whom.
        backfilling: Option<Backfilling> = named::<Backfilling>().decides("A1, AMB-1"),
    }
}
