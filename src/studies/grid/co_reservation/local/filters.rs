//! The decisions that are the same in every reservation service: the order of the filters, and how
//! far a cluster would be reserved.

use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

use super::{FilterCounts, PartOrder, ProbeFilters};

/// Whether a cluster has CPUs for a part over its interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Availability {
    /// Not enough CPUs, or a start that is past.
    Occupied,
    /// CPUs, but not within the quota.
    OverQuota,
    /// CPUs.
    Free,
}

impl FilterCounts {
    /// Passes one TR candidate that the machine is large enough for through the filters in their
    /// order: CPUs, quota, backlog (Meltzer 2005, §4.3 to §4.5, §7.1). `is_fair` says whether the
    /// backlog will have ended by its start, `is_harmless` whether it may be had all the same.
    /// Counts the result, and returns whether the candidate is admitted.
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
