//! The decisions that are the same in every reservation service: the order of the filters, and how
//! far a cluster would be reserved.

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{FurtherCounts, FurtherResource};

use super::{FilterCounts, PartOrder, ProbeFilters};

/// Whether a cluster has CPUs, licences and storage for a part over its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Availability {
    /// Not enough CPUs, or a start that is past.
    Occupied,
    /// CPUs, but not enough of this.
    Lacking(FurtherResource),
    /// All of them, but not within the quota.
    OverQuota,
    /// Everything that it needs.
    Free,
}

impl FilterCounts {
    /// Passes one TR candidate that the machine is large enough for through the filters in their
    /// order: CPUs, licences, storage, quota, backlog (Meltzer 2005, §2, §4.3 to §4.5, §7.1).
    /// `is_fair` says whether the backlog will have ended by its start, `is_harmless` whether it
    /// may be had all the same. Counts the result, and returns whether the candidate is admitted.
    pub(super) fn admits(
        &mut self,
        filters: ProbeFilters,
        room: impl FnOnce() -> Availability,
        is_fair: bool,
        is_harmless: impl FnOnce() -> bool,
    ) -> bool {
        self.unfiltered += 1;
        if filters.counting {
            match room() {
                Availability::Free => {}
                Availability::OverQuota => {
                    self.quota += 1;
                    return false;
                }
                Availability::Lacking(FurtherResource::Licences) => {
                    self.licences += 1;
                    return false;
                }
                Availability::Lacking(FurtherResource::Storage) => {
                    self.storage += 1;
                    return false;
                }
                Availability::Occupied => {
                    self.counting += 1;
                    return false;
                }
            }
        }
        if !filters.backlog || is_fair {
            return true;
        }
        let is_exempt = filters.backfill && is_harmless();
        if is_exempt {
            self.exempt += 1;
        } else {
            self.backlog += 1;
        }
        is_exempt
    }
}

/// What parts hold from `start` on for `duration`, in CPU-seconds.
pub(super) fn held<'a>(
    parts: impl Iterator<Item = &'a PartOrder>,
    start: Seconds,
    duration: Seconds,
) -> i64 {
    let spans = parts.map(|part| (part.nodes, part.start, part.start + part.duration));
    NodeSeconds::within(start, start + duration, spans).0
}

/// What a part that needs `wanted` lacks at some second of `[start, start + duration)` beside these
/// parts, on a cluster of `most`; `None` where it lacks nothing.
pub(super) fn lacking<'a>(
    parts: impl Iterator<Item = &'a PartOrder> + Clone,
    most: FurtherCounts,
    wanted: FurtherCounts,
    start: Seconds,
    duration: Seconds,
) -> Option<FurtherResource> {
    if wanted == FurtherCounts::NONE {
        return None;
    }
    let end = |part: &PartOrder| part.start + part.duration;
    let others = parts.filter(|part| {
        part.further != FurtherCounts::NONE && part.start < start + duration && start < end(part)
    });
    // More is held only from the beginning of a part on.
    let begins = others.clone().map(|part| part.start.max(start));
    let held = std::iter::once(start).chain(begins).map(|at| {
        let holding = others
            .clone()
            .filter(|part| part.start <= at && at < end(part));
        holding.map(|part| part.further).sum()
    });
    wanted.lacking(most, held.fold(FurtherCounts::NONE, FurtherCounts::max))
}

/// The expected reservation degree (Meltzer 2005, §7.1): the mean share of a machine that is
/// reserved over the interval of a part of `nodes` CPUs, beside other parts that hold this many
/// CPU-seconds of it.
pub(super) fn reservation_degree(
    held: i64,
    machine: Nodes,
    duration: Seconds,
    nodes: Nodes,
) -> f64 {
    (held + nodes.for_span(duration).0) as f64 / machine.for_span(duration).0.max(1) as f64
}
