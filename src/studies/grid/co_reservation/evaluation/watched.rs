//! Parts that the broker's agent gave up (Meltzer 2005, §7.4).

use std::collections::BTreeSet;

use bookahead_core::scheduling::measures::Measured;

use crate::co_reservation::{AttemptFate, CoReservationRun, CoReservationSettings};

/// Left out without an agent.
pub(super) fn measure(
    settings: &CoReservationSettings,
    run: &CoReservationRun,
    measured: &mut Measured,
) {
    if settings.watch.is_none() {
        return;
    }
    let lost: BTreeSet<_> = (run.parts.iter().flatten())
        .filter(|part| part.lost)
        .map(|part| (part.order.request, part.order.order))
        .collect();
    let given_up: Vec<_> = (run.requests.iter())
        .flat_map(|outcome| {
            (0_u32..)
                .zip(&outcome.attempts)
                .map(move |it| (outcome, it))
        })
        .filter(|(_, (_, attempt))| attempt.fate == AttemptFate::Unreachable)
        .map(|(outcome, (order, _))| (outcome.request.id, order))
        .collect();
    let kept = given_up.iter().filter(|order| !lost.contains(order));
    let all = given_up.len() as f64;
    measured.add("co_given_up_parts", all);
    measured.add_ratio("co_given_up_in_vain_share", kept.count() as f64, all);
}
