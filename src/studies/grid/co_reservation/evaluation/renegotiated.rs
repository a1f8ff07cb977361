//! What renegotiable requests got, and paid (Meltzer 2005, §7.3).

use bookahead_core::scheduling::measures::Measured;

use super::granted;
use crate::co_reservation::{CoOutcome, CoReservationRun, SecondThoughts};

/// What renegotiable requests got by being issued anew.
pub(super) fn measure(settings: &SecondThoughts, run: &CoReservationRun, measured: &mut Measured) {
    let renegotiable: Vec<&CoOutcome> = granted(run)
        .map(|(outcome, _)| outcome)
        .filter(|outcome| outcome.first_start.is_some())
        .collect();
    let count = renegotiable.len() as f64;
    let rounds: u32 = renegotiable.iter().map(|it| it.renegotiations).sum();
    let improved = renegotiable.iter().filter(|it| it.improvements > 0).count();
    let earlier = renegotiable.iter().filter_map(|outcome| {
        let (first, last) = (outcome.first_start?, outcome.start?);
        Some((first - last).hours())
    });
    measured.add("co_renegotiable_granted", count);
    measured.add_ratio("co_renegotiations_mean", f64::from(rounds), count);
    measured.add_ratio("co_improved_rate", improved as f64, count);
    measured.add_ratio("co_earlier_hours", earlier.sum(), count);
    if settings.surcharge > 0.0 {
        let paid = renegotiable.iter().filter_map(|outcome| outcome.cost);
        let extra = paid.map(|cost| cost * settings.surcharge / (1.0 + settings.surcharge));
        measured.add_ratio("co_surcharge_mean", extra.sum(), count);
    }
}
