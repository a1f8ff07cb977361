//! Keys of the study of virtual reservations.

use crate::replanning::study::keys::{PLANNING, RawPlanning};
use crate::virtual_reservations::{Combination, Padding};
use bookahead_core::estimates::PredictionRule;
use bookahead_lab::keys::declaration::{Given, integer, integer_within, named, real};
use bookahead_lab::{section, tables};

tables! {
    request: RawVirtual = VIRTUAL,
    ;
    planning: RawPlanning = PLANNING,
}

section! {
    /// The request of the study of virtual reservations.
    VIRTUAL = "virtual", RawVirtual {
        /// Nodes of the request.
        nodes: Given<u32> = integer(1).note(": nodes of the request").default_is("32"),
        /// How long the nodes are wanted.
        duration_hours: Given<f64> = real().above(0.0)
            .note(": how long they are wanted")
            .default_is("1"),
        /// From the request to the wanted start.
        lead_hours: Given<f64> = real().above(0.0)
            .note(": from the request to the wanted start")
            .default_is("1"),
        /// The factor p of the cancellation penalty.
        penalty_factor: Given<f64> = real().from(0.0)
            .note(": what cancelling costs, as a share of the price")
            .default_is("0.1")
            .decides("Singh 2008 eq. (23)"),
        /// How many requests there are.
        instants: Given<u32> = integer_within(1, 100_000)
            .note(": requests, one a day")
            .default_is("30")
            .decides("AMB-26"),
        /// Step of the search for a submission time.
        step_seconds: Given<i64> = integer(1).refused("s is no step", "")
            .note(": step of the search for a submission time")
            .default_is("30"),
        /// The longest padded job that the machine accepts.
        limit_hours: Given<f64> = real().above(0.0)
            .note(": the longest run time that the machine accepts of a padded job (default: any)")
            .decides("Singh 2008 §6.3.2, §6.5"),
        /// How long a padded job may idle before the machine ends it.
        idle_limit_hours: Given<f64> = real().above(0.0)
            .note(": how long a padded job may idle before the machine ends it (default: for ever)")
            .decides("Singh 2008 §6.3.2, §6.5"),
        /// Where the padded runtime is computed.
        padding: Option<Padding> = named::<Padding>().decides("AMB-27"),
        /// How much of the trace runs before the first request.
        warm_up_days: Given<f64> = real().from(0.0)
            .note(" days of the trace before the first request")
            .default_is("60")
            .decides("AMB-21, AMB-26"),
        /// How the combined scheme is evaluated.
        combination: Option<Combination> = named::<Combination>().decides("AMB-26b"),
        /// The rule of prediction.
        rule: Option<PredictionRule> = named::<PredictionRule>().decides("AMB-25"),
        /// How many waits a category remembers.
        history: Given<u32> = integer_within(1, 100_000_000)
            .note(": waits that a category remembers")
            .default_is("1000")
            .decides("AMB-25"),
        /// Confidence of quantile bounds.
        confidence: Given<f64> = real().above(0.0).below(1.0)
            .words("a probability between 0 and 1")
            .default_is("0.95")
            .decides("AMB-25"),
        /// The smallest history with which a category is asked.
        minimum_history: Given<u32> = integer(1)
            .note(": smaller categories ask wider ones")
            .default_is("59")
            .decides("AMB-25"),
    }
}
