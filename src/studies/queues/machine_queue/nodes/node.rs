//! One node: the holdings of its jobs, later reservations and windows, and its free times.

use super::NodeRequest;
use crate::machine_queue::description::{NodeResources, Window};
use bookahead_core::units::Seconds;

impl NodeResources {
    /// Whether this is enough for `need`.
    pub(super) fn covers(&self, need: &Self) -> bool {
        self.cores >= need.cores
            && self.memory_megabytes >= need.memory_megabytes
            && self.gpus >= need.gpus
    }

    pub(super) fn take(&mut self, part: &Self) {
        self.cores -= part.cores;
        self.memory_megabytes -= part.memory_megabytes;
        self.gpus -= part.gpus;
    }

    pub(super) fn give(&mut self, part: &Self) {
        self.cores += part.cores;
        self.memory_megabytes += part.memory_megabytes;
        self.gpus += part.gpus;
    }
}

/// The resources of a running job on a node, until its request ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holding {
    pub(super) until: Seconds,
    pub(super) job: usize,
    pub(super) each: NodeResources,
}

/// The resources that are reserved for a waiting job on a node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reservation {
    pub(super) begin: Seconds,
    pub(super) end: Seconds,
    pub(super) each: NodeResources,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) free: NodeResources,
    /// In order of their ends.
    pub(super) held: Vec<Holding>,
    /// Reservations of this pass.
    pub(super) reserved: Vec<Reservation>,
    /// Positions of the windows that close it and are not over, in order of their beginnings.
    pub(super) windows: Vec<usize>,
}

impl Node {
    /// When another job may need the node: the beginning of the first reservation or window that
    /// has not ended.
    pub(super) fn needed_from(&self, now: Seconds, windows: &[Window]) -> Seconds {
        let reserved = self.reserved.iter().map(|reserved| reserved.begin);
        let closed = self.windows.first();
        let closed = closed.map(|window| windows[*window].begin.max(now));
        reserved.chain(closed).min().unwrap_or(Seconds::FAR)
    }

    /// The time from which running jobs leave `need` free, if nothing else is on the node.
    pub(super) fn free_from(&self, need: &NodeResources, now: Seconds) -> Seconds {
        let mut free = self.free;
        let mut from = now;
        let mut held = self.held.iter();
        while !free.covers(need) {
            let Some(next) = held.next() else {
                break;
            };
            free.give(&next.each);
            from = next.until;
        }
        from
    }

    /// The resources that running jobs and reservations leave free at a time from now on.
    fn free_at(&self, time: Seconds, all: &NodeResources) -> NodeResources {
        let mut free = *all;
        for held in self.held.iter().filter(|held| held.until > time) {
            free.take(&held.each);
        }
        for reserved in &self.reserved {
            if reserved.begin <= time && time < reserved.end {
                free.take(&reserved.each);
            }
        }
        free
    }

    /// Whether the job may start here now.
    pub(super) fn is_open_now(
        &self,
        request: &NodeRequest,
        now: Seconds,
        windows: &[Window],
        all: &NodeResources,
    ) -> bool {
        let need = &request.shape.each;
        if !self.free.covers(need) {
            return false;
        }
        let end = now + request.duration;
        let is_closed = self
            .windows
            .iter()
            .map(|window| &windows[*window])
            .take_while(|window| window.begin < end)
            .any(|window| !window.users.contains(&request.user));
        if is_closed {
            return false;
        }
        // Running jobs only give back, so resources become fewer only where a reservation begins.
        self.reserved
            .iter()
            .filter(|reserved| reserved.begin < end)
            .all(|reserved| {
                let mut most = *all;
                most.take(&reserved.each);
                most.covers(need) && self.free_at(reserved.begin, all).covers(need)
            })
    }

    /// Collects the changes on this node that concern the job, from now on, in order of time.
    pub(super) fn changes<'a>(
        &self,
        request: &NodeRequest,
        now: Seconds,
        windows: impl Iterator<Item = &'a Window>,
        changes: &mut Vec<(Seconds, Change)>,
    ) {
        changes.clear();
        let ends = self.held.iter();
        changes.extend(ends.map(|held| (held.until, Change::Free(held.each))));
        for reserved in &self.reserved {
            changes.push((reserved.begin, Change::Taken(reserved.each)));
            changes.push((reserved.end, Change::Free(reserved.each)));
        }
        for window in windows.filter(|window| !window.users.contains(&request.user)) {
            changes.push((window.begin.max(now), Change::Closed));
            changes.push((window.end, Change::Open));
        }
        // Gains come before losses, so that no resource ever falls below zero.
        changes.sort_unstable_by_key(|(time, change)| (*time, change.takes()));
    }

    /// Calls `found` with each span, in order of time, for which `need` is free and no window is
    /// closed; the last one never ends.
    pub(super) fn openings(
        &self,
        need: &NodeResources,
        now: Seconds,
        changes: &[(Seconds, Change)],
        mut found: impl FnMut(Seconds, Option<Seconds>),
    ) {
        let mut free = self.free;
        let mut closed = 0;
        let mut open_since = free.covers(need).then_some(now);
        let mut changes = changes.iter().peekable();
        while let Some((time, change)) = changes.next() {
            match change {
                Change::Free(each) => free.give(each),
                Change::Taken(each) => free.take(each),
                Change::Closed => closed += 1,
                Change::Open => closed -= 1,
            }
            if changes.peek().is_some_and(|next| next.0 == *time) {
                continue;
            }
            match (open_since, closed == 0 && free.covers(need)) {
                (None, true) => open_since = Some(*time),
                (Some(first), false) => {
                    found(first, Some(*time));
                    open_since = None;
                }
                _ => {}
            }
        }
        if let Some(first) = open_since {
            found(first, None);
        }
    }
}

/// A change on a node.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Free(NodeResources),
    Taken(NodeResources),
    Open,
    Closed,
}

impl Change {
    fn takes(&self) -> bool {
        matches!(self, Self::Taken(_) | Self::Closed)
    }
}
