//! What is free over time: nodes and, where a machine counts it, memory. Memory is a second
//! profile, and a place is where both have room all the time (Singh 2008, §3).

use bookahead_core::plan::{Fit, Profile};
use bookahead_core::scheduling::queue::{self, Backfilling, Waiting};
use bookahead_core::units::{Megabytes, Nodes, Seconds};

/// Nodes, and memory of all of them together, which is 0 where nobody counts it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Resources {
    /// Nodes.
    pub nodes: Nodes,
    /// Memory.
    pub memory: Megabytes,
}

impl Resources {
    /// Nodes without memory.
    #[must_use]
    pub fn of_nodes(nodes: Nodes) -> Self {
        Self {
            nodes,
            memory: Megabytes(0),
        }
    }

    /// Both of these beside each other.
    fn beside(self, other: Self) -> Self {
        Self {
            nodes: Nodes(self.nodes.0 + other.nodes.0),
            memory: Megabytes(self.memory.0 + other.memory.0),
        }
    }
}

impl From<&Waiting> for Resources {
    fn from(waiting: &Waiting) -> Self {
        Self {
            nodes: waiting.nodes,
            memory: waiting.memory,
        }
    }
}

/// The memory of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MachineMemory {
    /// All of it.
    pub size: Megabytes,
    /// What a reservation takes of it for each of its nodes.
    pub per_reserved_node: Megabytes,
}

impl MachineMemory {
    /// How many nodes of a machine of `nodes` nodes one reservation can have at most.
    #[must_use]
    pub fn most_reserved(self, nodes: Nodes) -> Nodes {
        let enough_for = self.size.0.checked_div(self.per_reserved_node.0);
        enough_for.map_or(nodes, |enough_for| nodes.min(Nodes(enough_for)))
    }
}

/// Free nodes over time, and free memory where that is counted.
#[derive(Clone, Debug)]
pub struct FreeResources {
    nodes: Profile,
    memory: Option<Box<Profile>>,
}

impl FreeResources {
    /// A machine of `nodes` nodes, whose memory nobody counts, that is free from `origin` on.
    #[must_use]
    pub fn new(nodes: Nodes, origin: Seconds) -> Self {
        Self {
            nodes: Profile::new(nodes.0, origin),
            memory: None,
        }
    }

    /// The same machine with so much free memory.
    #[must_use]
    pub fn with_memory(self, size: Megabytes, origin: Seconds) -> Self {
        Self {
            memory: Some(Box::new(Profile::new(size.0, origin))),
            ..self
        }
    }

    /// Free nodes, whatever memory is free beside them.
    #[must_use]
    pub fn nodes(&self) -> &Profile {
        &self.nodes
    }

    /// How many nodes can be had by somebody who takes so much memory with each: the fewer of those
    /// that are free and those that the free memory is enough for. It changes where either does.
    ///
    /// `None` where that is what is free of nodes: nobody counts memory, or none is taken.
    #[must_use]
    pub fn nodes_with(&self, memory_each: Megabytes) -> Option<Profile> {
        let memory = self.memory.as_ref().filter(|_| memory_each.0 > 0)?;
        let (first, _) = self.nodes.segments().next()?;
        let mut changes: Vec<Seconds> = self.nodes.segments().map(|(time, _)| time).collect();
        changes.extend(memory.segments().map(|(time, _)| time));
        changes.retain(|time| *time >= first);
        changes.sort_unstable();
        changes.dedup();
        let enough_for = |time| memory.free_at(time).max(0).cast_unsigned() / memory_each.0;
        let both_at =
            |time| (self.nodes.free_at(time).max(0).cast_unsigned()).min(enough_for(time));
        let at_last = both_at(changes.last().copied().unwrap_or(first));
        let mut both = Profile::new(at_last, first);
        for (time, next) in changes.iter().zip(&changes[1..]) {
            let count = both_at(*time);
            both.reserve(*time, *next, at_last.saturating_sub(count));
            both.release(*time, *next, count.saturating_sub(at_last));
        }
        Some(both)
    }

    /// Takes these on `[from, to)`.
    pub fn reserve(&mut self, from: Seconds, to: Seconds, taken: Resources) {
        self.nodes.reserve(from, to, taken.nodes.0);
        if let Some(memory) = &mut self.memory {
            memory.reserve(from, to, taken.memory.0);
        }
    }

    /// Gives these back on `[from, to)`.
    pub fn release(&mut self, from: Seconds, to: Seconds, given: Resources) {
        self.nodes.release(from, to, given.nodes.0);
        if let Some(memory) = &mut self.memory {
            memory.release(from, to, given.memory.0);
        }
    }

    /// Whether these are free on the whole of `[from, to)`.
    #[must_use]
    pub fn is_free(&self, from: Seconds, to: Seconds, wanted: Resources) -> bool {
        self.nodes.is_free(from, to, wanted.nodes.0)
            && (self.memory.as_ref()).is_none_or(|memory| memory.is_free(from, to, wanted.memory.0))
    }

    /// Whether there is too little of nothing on the whole of `[from, to)`: more may have been
    /// taken than there was.
    #[must_use]
    pub fn is_enough(&self, from: Seconds, to: Seconds) -> bool {
        self.is_free(from, to, Resources::default())
    }

    /// The first time at or after `from` at which these are not free, or [`Seconds::FAR`].
    #[must_use]
    pub fn first_below(&self, from: Seconds, wanted: Resources) -> Seconds {
        let nodes = self.nodes.first_below(from, wanted.nodes.0);
        let memory = (self.memory.as_ref()).map(|memory| memory.first_below(from, wanted.memory.0));
        memory.map_or(nodes, |memory| nodes.min(memory))
    }

    /// Forgets what lies before `now` where there is enough of it to be worth it.
    pub fn forget_some_before(&mut self, now: Seconds) {
        self.nodes.forget_some_before(now);
        if let Some(memory) = &mut self.memory {
            memory.forget_some_before(now);
        }
    }

    /// Forgets everything before `now`.
    pub fn forget_before(&mut self, now: Seconds) {
        self.nodes.forget_before(now);
        if let Some(memory) = &mut self.memory {
            memory.forget_before(now);
        }
    }

    /// Places one job at the earliest start from `from` on and takes what it needs;
    /// [`Seconds::FAR`] for a job that never fits.
    pub fn place(&mut self, waiting: &Waiting, from: Seconds) -> Seconds {
        let Some(memory) = &self.memory else {
            return queue::place(&mut self.nodes, waiting, from);
        };
        let (mut start, mut of_nodes) = (from, None);
        // Each profile moves the start on until both have room from it on.
        while of_nodes != Some(start) {
            let found = earliest(&self.nodes, waiting.nodes.0, waiting.estimate, start);
            start = earliest(memory, waiting.memory.0, waiting.estimate, found);
            of_nodes = Some(found);
        }
        self.reserve(start, start + waiting.estimate, waiting.into());
        start
    }

    /// Plans every job of `queue` from `now` on ([`plan_queue`](queue::plan_queue)). Where memory
    /// is counted, that is by conservative backfilling.
    pub fn plan_queue(
        &mut self,
        now: Seconds,
        queue: &[Waiting],
        backfilling: Backfilling,
    ) -> Vec<Seconds> {
        if self.memory.is_none() {
            return queue::plan_queue(&mut self.nodes, now, queue, backfilling);
        }
        let jobs = queue.iter();
        jobs.map(|waiting| self.place(waiting, now)).collect()
    }

    /// The starts that [`Self::plan_queue`] gives where these are taken over a span.
    #[must_use]
    pub fn plan_beside(
        &self,
        (start, end): (Seconds, Seconds),
        taken: Resources,
        now: Seconds,
        queue: &[Waiting],
        backfilling: Backfilling,
    ) -> Vec<Seconds> {
        let mut free = self.clone();
        free.reserve(start, end, taken);
        free.plan_queue(now, queue, backfilling)
    }

    /// The jobs of `queue` (by index, in order) that a plan of all starts at `now`, where it is
    /// known that none in front of place `first` does ([`due_now`](queue::due_now)).
    #[must_use]
    pub fn due_now(
        &self,
        now: Seconds,
        queue: &[Waiting],
        first: usize,
        backfilling: Backfilling,
    ) -> Vec<usize> {
        if self.memory.is_none() {
            return queue::due_now(&self.nodes, now, queue, first, backfilling);
        }
        let starts = self.clone().plan_queue(now, queue, backfilling);
        let places = starts.into_iter().enumerate();
        let due = places.filter(|(_, start)| *start == now);
        due.map(|(place, _)| place).collect()
    }

    /// Whether the slot leaves room for a job that is planned for `[start, end)`, beside what is
    /// taken now.
    pub(super) fn holds_both(
        &self,
        (start, end): (Seconds, Seconds),
        waiting: &Waiting,
        slot: Resources,
    ) -> bool {
        self.is_free(start, end, slot.beside(waiting.into()))
    }
}

/// The earliest start from `from` on, [`Seconds::FAR`] for what never fits.
fn earliest(profile: &Profile, count: u32, duration: Seconds, from: Seconds) -> Seconds {
    let start = profile.earliest_fit(Fit {
        from,
        latest: Seconds::FAR,
        nodes: count,
        duration,
        own_start: None,
    });
    start.unwrap_or(Seconds::FAR)
}

#[cfg(test)]
mod tests;
