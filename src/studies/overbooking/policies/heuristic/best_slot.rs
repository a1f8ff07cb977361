//! The place of a planned job that may be cut when it is put back.

use bookahead_core::plan::{Fit, Profile};
use bookahead_core::units::Seconds;

use super::Slot;

/// The best place for a job that may be cut (docs/counted-plan.md): the earliest
/// start in `[from, latest]` that gives all that it may hold before the deadline, else the earliest
/// that gives the most.
pub(super) fn best_slot(
    profile: &Profile,
    slot: &Slot,
    from: Seconds,
    latest: Seconds,
) -> Option<(Seconds, Seconds)> {
    let full = profile.earliest_fit(Fit {
        from,
        latest: latest.min(slot.deadline - slot.longest),
        nodes: slot.nodes,
        duration: slot.longest,
        own_start: None,
    });
    if let Some(start) = full {
        return Some((start, start + slot.longest));
    }
    let mut best: Option<(Seconds, Seconds)> = None;
    let mut from = from;
    while let Some(start) = profile.earliest_fit(Fit {
        from,
        latest,
        nodes: slot.nodes,
        duration: Seconds(1),
        own_start: None,
    }) {
        let run_end = profile.first_below(start, slot.nodes);
        let end = run_end.min(slot.deadline);
        if best.is_none_or(|(from, to)| end - start > to - from) {
            best = Some((start, end));
        }
        from = run_end;
    }
    best
}
