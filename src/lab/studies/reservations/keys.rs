//! Keys of reservations on one machine.

use serde::Deserialize;

use crate::keys::declaration::{
    Given, Key, ReadTable, Section, Table, Tables, flag, named, one_of, real, section, tables,
};
use crate::keys::field::Field;
use crate::scheduling::queue::{Backfilling, QueueOrder};
use crate::scheduling::replanning::{Admission, DisplacedJobs, Displacement, EarlyEnd};
use crate::workload::{LeadRounding, RequestDuration, RequestOrigin, SameInstant};

tables! {
    reservations: RawReservations = RESERVATIONS,
    admission: RawAdmission = ADMISSION,
    planning: RawPlanning = PLANNING,
}

section! {
    /// Requests made from the jobs of the workload.
    RESERVATIONS = "reservations", RawReservations {
        /// How many of the jobs become requests.
        share_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": how many of the jobs become requests")
            .default_is("10")
            .decides("A5, A15, AMB-15c, AMB-31"),
        /// What happens to a job that becomes a request.
        origin: Option<RequestOrigin> = named::<RequestOrigin>()
            .words(r#""copy" (default) adds requests to the jobs, "instead" takes the jobs out of the queue"#),
        /// Which start a request wants.
        start: Given<String> = one_of(|| vec!["estimate-factor", "lead", "choice"])
            .default_is("estimate-factor"),
        /// The factor of the rule estimate-factor.
        start_factor: Given<f64> = real().from(0.0)
            .note(": the lead is uniform between 0 and start_factor × estimate")
            .default_is("1"),
        /// The lead of the rule lead.
        lead_hours: Given<f64> = real().from(0.0)
            .note(r#" hours between request and start, for start = "lead""#)
            .default_is("1"),
        /// The weight of the price in the rule choice.
        alpha: Given<f64> = real().from(0.0).to(1.0)
            .words(r#"0 (earliest start) to 1 (lowest price), for start = "choice""#)
            .default_is("0.5")
            .decides("eq. (20)"),
        /// Whether α is drawn for each request.
        random_alpha: Given<bool> = flag("false").note(": α is drawn for each request"),
        /// How long a reservation is.
        duration: Option<RequestDuration> = named::<RequestDuration>().decides("A13, AMB-30"),
        /// How leads become whole seconds.
        rounding: Option<LeadRounding> = named::<LeadRounding>().decides("A7"),
    }
}

section! {
    /// Who is granted a reservation.
    ADMISSION = "admission", RawAdmission {
        /// When a reservation is admitted.
        rule: Option<Admission> = named::<Admission>().decides("§3.3, §10"),
        /// Which jobs are planned again.
        displaced: Option<DisplacedJobs> = named::<DisplacedJobs>().decides("A2, A3, AMB-2"),
        /// Which jobs may be stopped for a reservation.
        preemptible_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": how many of the jobs may be stopped for a reservation, under the rules truncate and requeue")
            .default_is("0"),
        /// After which wait a job is no longer displaced.
        starvation_guard_hours: Given<f64> = real().from(0.0)
            .note(" hours of waiting after which a job is no longer displaced (default: never)")
            .decides("§3.3"),
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
