//! What is free on which node, now and later, and which nodes a job gets.
//!
//! Who holds a node is known with the end of its request, so what is free later is known, too: running jobs only give back, and
//! reservations of waiting jobs and closed windows take away. A job that starts takes the nodes that are needed soonest by a
//! reservation or window (after it, as it may not touch them), of those the fullest, of those the first. A reservation takes the
//! nodes that become free last, so that those which are idle stay open for others.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::description::{NodeResources, PartitionedMachine, Window};
use super::shapes::Shape;
use crate::units::Seconds;

impl NodeResources {
    /// Whether this is enough for `need`.
    fn covers(&self, need: &Self) -> bool {
        self.cores >= need.cores
            && self.memory_megabytes >= need.memory_megabytes
            && self.gpus >= need.gpus
    }

    fn take(&mut self, part: &Self) {
        self.cores -= part.cores;
        self.memory_megabytes -= part.memory_megabytes;
        self.gpus -= part.gpus;
    }

    fn give(&mut self, part: &Self) {
        self.cores += part.cores;
        self.memory_megabytes += part.memory_megabytes;
        self.gpus += part.gpus;
    }
}

/// What a running job holds on a node, until its request ends.
#[derive(Clone, Copy, Debug)]
struct Holding {
    until: Seconds,
    job: usize,
    each: NodeResources,
}

/// What a waiting job is to get on a node.
#[derive(Clone, Copy, Debug)]
struct Reservation {
    begin: Seconds,
    end: Seconds,
    each: NodeResources,
}

#[derive(Debug)]
struct Node {
    free: NodeResources,
    /// In order of their ends.
    held: Vec<Holding>,
    /// Of this pass.
    reserved: Vec<Reservation>,
    /// Positions of the windows that close it.
    windows: Vec<usize>,
}

/// The nodes of a class.
#[derive(Debug)]
struct Class {
    first: usize,
    past: usize,
    each: NodeResources,
    /// How many nodes have so many free cores.
    with_free: Vec<u32>,
}

/// When a job may start on a node, without a gap.
#[derive(Clone, Copy, Debug)]
struct Opening {
    first: Seconds,
    last: Seconds,
    node: usize,
}

/// A job that looks for nodes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seeker {
    /// What it needs.
    pub(super) shape: Shape,
    /// For how long it asks.
    pub(super) request: Seconds,
    /// Whose it is: windows may be open to some.
    pub(super) user: i64,
}

/// All nodes of a machine, class by class.
#[derive(Debug)]
pub(super) struct NodePool {
    nodes: Vec<Node>,
    classes: Vec<Class>,
    windows: Vec<Window>,
    /// Nodes that have reservations.
    reserved: Vec<usize>,
    openings: Vec<Opening>,
    best: Vec<Opening>,
    ranked: Vec<(Seconds, u32, u32, usize)>,
}

impl NodePool {
    /// An empty machine.
    pub(super) fn new(machine: &PartitionedMachine) -> Self {
        let mut nodes = Vec::new();
        let mut classes = Vec::with_capacity(machine.classes.len());
        for class in &machine.classes {
            let first = nodes.len();
            nodes.extend((0..class.nodes.0).map(|_| Node {
                free: class.each,
                held: Vec::new(),
                reserved: Vec::new(),
                windows: Vec::new(),
            }));
            let mut with_free = vec![0; class.each.cores as usize + 1];
            with_free[class.each.cores as usize] = class.nodes.0;
            classes.push(Class {
                first,
                past: nodes.len(),
                each: class.each,
                with_free,
            });
        }
        for (number, window) in machine.windows.iter().enumerate() {
            for (class, count) in &window.nodes {
                let class = &classes[class.0];
                let first = class.past.saturating_sub(count.0 as usize);
                for node in &mut nodes[first.max(class.first)..class.past] {
                    node.windows.push(number);
                }
            }
        }
        Self {
            nodes,
            classes,
            windows: machine.windows.clone(),
            reserved: Vec::new(),
            openings: Vec::new(),
            best: Vec::new(),
            ranked: Vec::new(),
        }
    }

    /// Whether so many nodes have so many free cores: if not, the shape does not fit now, whatever else is free.
    pub(super) fn has_cores(&self, shape: &Shape) -> bool {
        let with_free = &self.classes[shape.class].with_free;
        let mut missing = shape.nodes;
        for count in &with_free[shape.each.cores as usize..] {
            if missing <= *count {
                return true;
            }
            missing -= count;
        }
        false
    }

    /// Nodes on which a job may start now without being in the way of a reservation or a window.
    pub(super) fn choose(&mut self, seeker: &Seeker, now: Seconds) -> Option<Vec<usize>> {
        let shape = &seeker.shape;
        if !self.has_cores(shape) {
            return None;
        }
        let Self {
            nodes,
            classes,
            windows,
            ranked,
            ..
        } = self;
        let class = &classes[shape.class];
        ranked.clear();
        for (index, node) in (class.first..).zip(&nodes[class.first..class.past]) {
            if node.is_open_now(seeker, now, windows, &class.each) {
                let needed = node.needed_from(now, windows);
                ranked.push((needed, node.free.cores, node.free.gpus, index));
            }
        }
        let wanted = shape.nodes as usize;
        if ranked.len() < wanted {
            return None;
        }
        if ranked.len() > wanted {
            ranked.select_nth_unstable(wanted - 1);
            ranked.truncate(wanted);
        }
        let mut chosen: Vec<usize> = ranked.iter().map(|ranked| ranked.3).collect();
        chosen.sort_unstable();
        Some(chosen)
    }

    /// Gives nodes to a job until its request ends.
    pub(super) fn hold(&mut self, nodes: &[usize], shape: &Shape, until: Seconds, job: usize) {
        let each = shape.each;
        let class = &mut self.classes[shape.class];
        for &index in nodes {
            let node = &mut self.nodes[index];
            class.with_free[node.free.cores as usize] -= 1;
            node.free.take(&each);
            class.with_free[node.free.cores as usize] += 1;
            let place = node.held.partition_point(|other| other.until <= until);
            node.held.insert(place, Holding { until, job, each });
        }
    }

    /// Takes back what a job held.
    pub(super) fn release(&mut self, nodes: &[usize], shape: &Shape, job: usize) {
        let class = &mut self.classes[shape.class];
        for &index in nodes {
            let node = &mut self.nodes[index];
            let Some(place) = node.held.iter().position(|held| held.job == job) else {
                continue;
            };
            let held = node.held.remove(place);
            class.with_free[node.free.cores as usize] -= 1;
            node.free.give(&held.each);
            class.with_free[node.free.cores as usize] += 1;
        }
    }

    /// Reserves nodes for a job from the earliest start at which it has them for its whole request, beside reservations and windows.
    /// `seekers` are its choices, of each class one; the first that has it first wins. Says the start.
    pub(super) fn reserve(
        &mut self,
        seekers: impl Iterator<Item = Seeker>,
        now: Seconds,
    ) -> Option<Seconds> {
        let mut best: Option<(Seconds, Seeker)> = None;
        for seeker in seekers {
            self.find_openings(&seeker, now);
            let start = earliest(&mut self.openings, seeker.shape.nodes as usize);
            if best.is_none_or(|best| start < best.0) {
                best = Some((start, seeker));
                std::mem::swap(&mut self.openings, &mut self.best);
            }
        }
        let (start, seeker) = best?;
        let wanted = seeker.shape.nodes as usize;
        let openings = &mut self.best;
        openings.retain(|opening| opening.first <= start && start <= opening.last);
        if openings.len() > wanted {
            openings.select_nth_unstable_by_key(wanted - 1, |opening| {
                (-opening.first, opening.last, opening.node)
            });
        }
        for opening in openings.iter().take(wanted) {
            let node = &mut self.nodes[opening.node];
            if node.reserved.is_empty() {
                self.reserved.push(opening.node);
            }
            node.reserved.push(Reservation {
                begin: start,
                end: start + seeker.request,
                each: seeker.shape.each,
            });
        }
        Some(start)
    }

    /// Forgets all reservations: each pass makes its own.
    pub(super) fn forget_reservations(&mut self) {
        for node in self.reserved.drain(..) {
            self.nodes[node].reserved.clear();
        }
    }

    /// All openings of all nodes of the class.
    fn find_openings(&mut self, seeker: &Seeker, now: Seconds) {
        let class = &self.classes[seeker.shape.class];
        self.openings.clear();
        let mut changes = Vec::new();
        for (index, node) in (class.first..).zip(&self.nodes[class.first..class.past]) {
            if node.reserved.is_empty() && !node.has_window(now, &self.windows) {
                self.openings.push(Opening {
                    first: node.free_from(&seeker.shape.each, now),
                    last: Seconds::FAR,
                    node: index,
                });
            } else {
                node.openings(
                    seeker,
                    now,
                    &self.windows,
                    &class.each,
                    &mut changes,
                    |first, last| {
                        self.openings.push(Opening {
                            first,
                            last,
                            node: index,
                        });
                    },
                );
            }
        }
    }
}

/// The first time at which so many nodes are open at once.
fn earliest(openings: &mut [Opening], wanted: usize) -> Seconds {
    if wanted <= openings.len() && openings.iter().all(|opening| opening.last == Seconds::FAR) {
        return openings
            .select_nth_unstable_by_key(wanted - 1, |opening| opening.first)
            .1
            .first;
    }
    openings.sort_unstable_by_key(|opening| opening.first);
    // Sweeps over beginnings; `lasts` holds openings that have begun, those that end first on top.
    let mut lasts = BinaryHeap::new();
    let mut openings = openings.iter().peekable();
    while let Some(opening) = openings.next() {
        lasts.push(Reverse(opening.last));
        if openings
            .peek()
            .is_some_and(|next| next.first == opening.first)
        {
            continue;
        }
        while lasts.peek().is_some_and(|last| last.0 < opening.first) {
            lasts.pop();
        }
        if lasts.len() >= wanted {
            return opening.first;
        }
    }
    // Not reached by a shape that an empty class holds: in the end every node is free.
    Seconds::FAR
}

impl Node {
    fn has_window(&self, now: Seconds, windows: &[Window]) -> bool {
        self.windows.iter().any(|&window| windows[window].end > now)
    }

    /// When somebody else may need the node: the first reservation or window that is not over.
    fn needed_from(&self, now: Seconds, windows: &[Window]) -> Seconds {
        let reserved = self.reserved.iter().map(|reserved| reserved.begin);
        let closed = self
            .windows
            .iter()
            .map(|&window| &windows[window])
            .filter(|window| window.end > now)
            .map(|window| window.begin.max(now));
        reserved.chain(closed).min().unwrap_or(Seconds::FAR)
    }

    /// From when on running jobs leave `need`, if nothing but them is on the node.
    fn free_from(&self, need: &NodeResources, now: Seconds) -> Seconds {
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

    /// What running jobs and reservations leave at a time from now on.
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

    fn is_closed(
        &self,
        seeker: &Seeker,
        windows: &[Window],
        is_in: impl Fn(&Window) -> bool,
    ) -> bool {
        self.windows.iter().any(|&window| {
            let window = &windows[window];
            is_in(window) && !window.users.contains(&seeker.user)
        })
    }

    /// Whether the job may start here now.
    fn is_open_now(
        &self,
        seeker: &Seeker,
        now: Seconds,
        windows: &[Window],
        all: &NodeResources,
    ) -> bool {
        let need = &seeker.shape.each;
        if !self.free.covers(need) {
            return false;
        }
        let end = now + seeker.request;
        let overlaps = |window: &Window| window.begin < end && now < window.end;
        if self.is_closed(seeker, windows, overlaps) {
            return false;
        }
        // Running jobs only give back: it gets worse nowhere but where a reservation begins.
        self.reserved
            .iter()
            .filter(|reserved| reserved.begin < end)
            .all(|reserved| self.free_at(reserved.begin, all).covers(need))
    }

    /// Calls `found` with the first and last start of each opening, in order of time.
    fn openings(
        &self,
        seeker: &Seeker,
        now: Seconds,
        windows: &[Window],
        all: &NodeResources,
        changes: &mut Vec<Seconds>,
        mut found: impl FnMut(Seconds, Seconds),
    ) {
        changes.clear();
        changes.push(now);
        changes.extend(self.held.iter().map(|held| held.until));
        for reserved in &self.reserved {
            changes.extend([reserved.begin, reserved.end]);
        }
        for &window in &self.windows {
            changes.extend([windows[window].begin, windows[window].end]);
        }
        changes.retain(|time| *time >= now);
        changes.sort_unstable();
        changes.dedup();
        let mut open_since = None;
        for &time in changes.iter() {
            let closed = self.is_closed(seeker, windows, |window| {
                window.begin <= time && time < window.end
            });
            let open = !closed && self.free_at(time, all).covers(&seeker.shape.each);
            match open_since {
                None if open => open_since = Some(time),
                Some(first) if !open => {
                    if first + seeker.request <= time {
                        found(first, time - seeker.request);
                    }
                    open_since = None;
                }
                _ => {}
            }
        }
        if let Some(first) = open_since {
            found(first, Seconds::FAR);
        }
    }
}
