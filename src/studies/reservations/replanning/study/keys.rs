//! Keys of reservations on one machine.

use crate::replanning::{
    Admission, DisplacedJobs, Displacement, EarlyEnd, NoticeRule, PricedCosts, Resume,
    StoppedFirst, TwinJobs,
};
use bookahead_core::scheduling::queue::{Backfilling, QueueOrder};
use bookahead_core::workload::{DelayCosts, SameInstant};
use bookahead_lab::keys::declaration::{Given, integer_within, named, real};
use bookahead_lab::keys::delay_costs;
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
        /// Where a job goes on that was stopped for a reservation and waits again.
        resume: Option<Resume> = named::<Resume>().decides("Heine 2005 §2"),
        /// How long such a job reads before it goes on.
        resume_overhead_seconds: Given<i64> = integer_within(0, 1_000_000)
            .note(" seconds for which it holds its nodes and computes nothing, each time that it goes on where it was stopped")
            .default_is("0"),
        /// Which jobs a reservation must not delay.
        undelayed_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": how many of the jobs no reservation may delay while they wait, under the rules move and move-price; a larger share contains the smaller one")
            .default_is("0"),
        /// Whose reservations are cancelled again.
        cancelling_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": how many of the requests are of owners who cancel what they are granted, after a part of the time until its start that is drawn uniformly; a larger share contains the smaller one")
            .default_is("0")
            .decides("Singh 2008 §6.4"),
        /// What a cancellation costs.
        penalty_factor: Given<f64> = real().from(0.0).to(1000.0)
            .note(": the share of its additive price that is due for a cancelled reservation, under the rule move-price")
            .default_is("0")
            .decides("Singh 2008 §6.4"),
        /// By what the shortest notice of a reservation is found.
        notice: Option<NoticeRule> = named::<NoticeRule>().decides("Heine 2005 §2"),
        /// The shortest notice.
        notice_hours: Given<f64> = real().from(0.0).to(1e5)
            .note(r#" hours from a request to the start that it asks for, for notice = "hours""#)
            .default_is("1"),
        /// Which quantile of the waits of jobs the shortest notice is.
        notice_quantile: Given<f64> = real().from(0.0).to(1.0)
            .note(r#" of the waits of jobs in the node bin of the request (1–4, 5–16, 17–64, 65 and more nodes), by the nearest rank, for notice = "predicted""#)
            .default_is("0.8"),
        /// How many waits of a node bin count.
        notice_last: Given<i64> = integer_within(1, 1_000_000)
            .note(": the latest of jobs that have started")
            .default_is("200"),
        /// How many times the predicted wait the notice is.
        notice_factor: Given<f64> = real().from(0.0).to(1000.0)
            .note(": the shortest notice divided by the predicted wait")
            .default_is("1"),
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
        /// Whether a twin job is queued beside each granted reservation.
        twin_jobs: Option<TwinJobs> = named::<TwinJobs>().decides("Heine 2005 §2"),
    }
}

section! {
    /// How the queue of a planning-based machine is planned.
    PLANNING = "planning", RawPlanning {
        /// The order in which the queue is planned.
        order: Option<QueueOrder> = named::<QueueOrder>().decides("A1"),
        /// Who may be planned before whom.
        backfilling: Option<Backfilling> = named::<Backfilling>().decides("A1, AMB-1"),
        /// What waiting costs the owners of jobs.
        delay_costs: Option<DelayCosts> = delay_costs::DELAY_COSTS,
        /// How many jobs are of each class of delay costs.
        delay_cost_shares_percent: Given<Vec<f64>> = delay_costs::SHARES_PERCENT,
        /// What waiting costs in each class.
        delay_cost_weights: Given<Vec<f64>> = delay_costs::WEIGHTS,
        /// How far log-normal delay costs spread.
        delay_cost_variation: Given<f64> = delay_costs::VARIATION,
        /// What a node and an hour of a reservation cost.
        reserved_unit_price: Given<f64> = real().from(0.0).to(1e6)
            .note(" service units: c of what is reserved for a price, for a node and an hour; best effort costs 1")
            .default_is("1.0")
            .decides("Singh 2008 §5"),
        /// Which delay costs the price of a reservation counts.
        priced_costs: Option<PricedCosts> = named::<PricedCosts>().decides("Singh 2008 §5.1"),
        /// How many jobs are of owners who do not state the truth.
        misstating_percent: Given<f64> = real().from(0.0).to(100.0)
            .note(": jobs whose owners state another delay cost, length or α, as the next keys say; a larger share contains the smaller one")
            .default_is("0"),
        /// Which delay cost they state.
        misstated_factor: Given<f64> = real().from(0.0).to(1e6)
            .note(": their statement divided by their true delay cost")
            .default_is("1"),
        /// Which length they state for jobs and reservations.
        misstated_length_factor: Given<f64> = real().from(1.0).to(1000.0)
            .note(": their statement divided by the length that they would state otherwise")
            .default_is("1"),
        /// By which α their reservations choose.
        misstated_alpha: Given<f64> = real().from(0.0).to(1.0)
            .note(" (default: that of all requests)"),
    }
}
