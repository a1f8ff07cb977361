//! Keys of reservations that are made from jobs, which several studies take.

use super::declaration::{Given, flag, named, one_of, real};
use crate::section;
use crate::workload::{DurationUsed, LeadRounding, RequestDuration, RequestOrigin};

section! {
    /// Requests made from the jobs of the workload.
    RESERVATIONS = "reservations" switch, RawReservations {
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
        /// Whether α is drawn for each request.
        random_alpha: Given<bool> = flag("false").note(": α is drawn for each request"),
        /// How long a reservation is.
        duration: Option<RequestDuration> = named::<RequestDuration>().decides("A13, AMB-30"),
        /// How leads become whole seconds.
        rounding: Option<LeadRounding> = named::<LeadRounding>().decides("A7"),
        /// How much of its slot a reservation uses.
        duration_used: Option<DurationUsed> = named::<DurationUsed>()
            .words(r#""job" (default): it ends with the job that it was made from, or "window": it uses all of its slot"#)
            .decides("Birkenheuer 2012 §4.2"),
        /// How many reservations are interactive sessions.
        interactive_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": how many of the reservations use all of their slot as interactive sessions do, where the others end with their job; a larger share contains the smaller one")
            .default_is("0")
            .decides("Birkenheuer 2008 §3"),
    }
    former {
        alpha => "requests.alpha",
    }
}

section! {
    /// What requests wish for.
    REQUESTS = "requests", RawRequests {
        /// α: what a low cost counts, and 1 − α what an early end or start counts.
        alpha: Given<f64> = real().from(0.0).to(1.0)
            .words(r#"0 (earliest) to 1 (cheapest), for reservations with start = "choice" and for workflows"#)
            .default_is("0.5")
            .decides("eq. (15), eq. (20)"),
    }
}
