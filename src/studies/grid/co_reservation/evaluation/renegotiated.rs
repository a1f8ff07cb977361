//! What renegotiable requests got, and paid, and what priority costs them (Meltzer 2005, §7.3).

use bookahead_core::scheduling::measures::Measured;

use super::{granted, is_kept, mean};
use crate::co_reservation::{CoOutcome, CoReservationRun, CoVerdict, RequestClass, SecondThoughts};

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
    for (name, class) in [
        ("co_fixed_kept_rate", RequestClass::Fixed),
        ("co_renegotiable_kept_rate", RequestClass::Renegotiable),
        ("co_priority_kept_rate", RequestClass::Priority),
    ] {
        let own = run.requests.iter().filter(|it| it.class == class);
        measured.add(name, mean(own.map(|it| f64::from(u8::from(runs(it))))));
    }
    measured.add("co_utility_mean", mean(run.requests.iter().map(utility)));
    if settings.priority_percent > 0.0 {
        let displaced = || renegotiable.iter().filter(|it| it.displacements > 0);
        let there = || displaced().filter(|it| runs(it));
        let later = there().filter_map(|it| Some((it.start? - it.first_start?).hours()));
        let number = displaced().count() as f64;
        measured.add_ratio("co_displaced_rate", number, count);
        measured.add_ratio("co_displaced_kept_rate", there().count() as f64, number);
        measured.add("co_displaced_later_hours", mean(later));
    }
    if settings.surcharge > 0.0 {
        let paid = renegotiable.iter().filter_map(|outcome| outcome.cost);
        let extra = paid.map(|cost| cost * settings.surcharge / (1.0 + settings.surcharge));
        measured.add_ratio("co_surcharge_mean", extra.sum(), count);
    }
}

/// Whether it was granted, and there.
fn runs(outcome: &CoOutcome) -> bool {
    outcome.verdict == CoVerdict::Granted && is_kept(outcome)
}

/// 1 for a request that ran from its earliest start on, 0 for one that ran from its latest on, or
/// not at all, and evenly between.
fn utility(outcome: &CoOutcome) -> f64 {
    let slack = outcome.request.slack().0;
    match outcome.start.filter(|_| runs(outcome)) {
        Some(start) if slack > 0 => {
            1.0 - (start - outcome.request.earliest).0 as f64 / slack as f64
        }
        Some(_) => 1.0,
        None => 0.0,
    }
}
