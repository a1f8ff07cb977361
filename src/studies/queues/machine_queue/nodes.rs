//! The nodes of the machine: free resources now and later, and the choice of nodes for a job.
//!
//! The holders of a node are known until the end of their requests, so free resources are known for
//! later, too: running jobs only give back, while reservations of waiting jobs and closed windows
//! take away. A job that starts takes the nodes that a reservation or window needs soonest, after
//! its own end; among these the fullest, then the first. A reservation takes the nodes that become
//! free last, so that idle ones stay open for other jobs. Where nodes are chosen by their places
//! ([`NodesBy`]), a job takes those below few switches, or the first row, and waits for one.

mod node;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use bookahead_core::units::Seconds;

use self::node::{Change, Holding, Node, Reservation};
use super::description::{NodeResources, QueueMachine, Window};
use super::shapes::Shape;
use super::topology::{NodesBy, Topology, first_row};

/// The nodes of a class.
#[derive(Debug)]
struct Class {
    first: usize,
    past: usize,
    each: NodeResources,
    /// The number of nodes with each number of free cores.
    with_free: Vec<u32>,
}

/// A span in which a job may start on a node.
#[derive(Clone, Copy, Debug)]
struct Opening {
    first: Seconds,
    last: Seconds,
    node: usize,
}

impl Opening {
    fn is_open(&self, start: Seconds) -> bool {
        self.first <= start && start <= self.last
    }
}

/// What a job asks of the nodes of a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct NodeRequest {
    /// Nodes, and the resources on each of them.
    pub(super) shape: Shape,
    /// For how long.
    pub(super) duration: Seconds,
    /// The user of the job: a window may be open to some users only.
    pub(super) user: i64,
}

/// All nodes of a machine, class by class.
#[derive(Debug)]
pub(super) struct NodePool {
    nodes: Vec<Node>,
    classes: Vec<Class>,
    windows: Vec<Window>,
    topology: Topology,
    /// Nodes that have reservations.
    reserved: Vec<usize>,
    openings: Vec<Opening>,
    best: Vec<Opening>,
    ranked: Vec<(Seconds, u32, u32, usize)>,
    changes: Vec<(Seconds, Change)>,
}

impl NodePool {
    /// An empty machine.
    pub(super) fn new(machine: &QueueMachine) -> Self {
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
        let mut windows = machine.windows.clone();
        windows.retain(|window| window.begin < window.end);
        windows.sort_by_key(|window| window.begin);
        for (number, window) in windows.iter().enumerate() {
            for (class, count) in &window.nodes {
                let class = &classes[class.0];
                let first = class.past.saturating_sub(count.0 as usize);
                for node in &mut nodes[first.max(class.first)..class.past] {
                    if node.windows.last() != Some(&number) {
                        node.windows.push(number);
                    }
                }
            }
        }
        Self {
            nodes,
            classes,
            windows,
            topology: machine.topology,
            reserved: Vec::new(),
            openings: Vec::new(),
            best: Vec::new(),
            ranked: Vec::new(),
            changes: Vec::new(),
        }
    }

    /// Forgets windows that have ended. Must be called after the end of a window and before nodes
    /// are searched.
    pub(super) fn forget_windows(&mut self, now: Seconds) {
        for node in &mut self.nodes {
            node.windows
                .retain(|window| self.windows[*window].end > now);
        }
    }

    /// Whether enough nodes have enough free cores. If not, the shape does not fit now, whatever
    /// else is free.
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

    /// Chooses nodes on which a job may start now without delaying a reservation or running into a
    /// window.
    pub(super) fn choose(&mut self, request: &NodeRequest, now: Seconds) -> Option<Vec<usize>> {
        let shape = &request.shape;
        if !self.has_cores(shape) {
            return None;
        }
        let Self {
            nodes,
            classes,
            windows,
            topology,
            ranked,
            ..
        } = self;
        let class = &classes[shape.class];
        ranked.clear();
        for (index, node) in (class.first..).zip(&nodes[class.first..class.past]) {
            if node.is_open_now(request, now, windows, &class.each) {
                let needed = node.needed_from(now, windows);
                ranked.push((needed, node.free.cores, node.free.gpus, index));
            }
        }
        let wanted = shape.nodes as usize;
        if ranked.len() < wanted {
            return None;
        }
        if let Some(alignment) = topology.row_alignment(wanted) {
            let open = ranked.iter().map(|ranked| ranked.3);
            let begin = first_row(open, class.first, wanted, alignment)?;
            return Some((begin..begin + wanted).collect());
        }
        let mut chosen: Vec<usize> = if topology.nodes_by == NodesBy::Switch {
            ranked.sort_unstable();
            let open: Vec<usize> = ranked.iter().map(|ranked| ranked.3).collect();
            topology.below_few_switches(&open, wanted)
        } else {
            if ranked.len() > wanted {
                ranked.select_nth_unstable(wanted - 1);
                ranked.truncate(wanted);
            }
            ranked.iter().map(|ranked| ranked.3).collect()
        };
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

    /// Takes back the nodes of a job.
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

    /// Reserves nodes for a job from the earliest start at which they are free for its whole
    /// request, beside reservations and windows. `requests` are its choices, one for each class;
    /// among equal starts the first choice wins. Returns the start; `None`, and nothing is
    /// reserved, if it is after `latest`.
    pub(super) fn reserve(
        &mut self,
        requests: impl Iterator<Item = NodeRequest>,
        now: Seconds,
        latest: Seconds,
    ) -> Option<Seconds> {
        let mut best: Option<(Seconds, NodeRequest)> = None;
        for request in requests {
            let start = self.earliest(&request, now);
            if best.is_none_or(|best| start < best.0) {
                best = Some((start, request));
                std::mem::swap(&mut self.openings, &mut self.best);
            }
        }
        let (start, request) = best.filter(|(start, _)| *start <= latest)?;
        let wanted = request.shape.nodes as usize;
        let openings = &mut self.best;
        openings.retain(|opening| opening.is_open(start));
        if let Some(alignment) = self.topology.row_alignment(wanted) {
            let first = self.classes[request.shape.class].first;
            openings.sort_unstable_by_key(|opening| opening.node);
            let open = openings.iter().map(|opening| opening.node);
            let begin = first_row(open, first, wanted, alignment)?;
            openings.retain(|opening| (begin..begin + wanted).contains(&opening.node));
        } else if openings.len() > wanted {
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
                end: start + request.duration,
                each: request.shape.each,
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

    /// The earliest start at which enough nodes are open for the job. Leaves the openings in
    /// `self.openings`.
    fn earliest(&mut self, request: &NodeRequest, now: Seconds) -> Seconds {
        let wanted = request.shape.nodes as usize;
        let beginning_before =
            |windows: &[Window], time| windows.partition_point(|window| window.begin < time);
        // Most windows are far away. As long as the job ends before the first window that was left
        // out, the others do not matter.
        let mut seen = beginning_before(&self.windows, now + request.duration);
        loop {
            self.find_openings(request, now, seen);
            let mut start = earliest(&mut self.openings, wanted);
            if let Some(alignment) = self.topology.row_alignment(wanted) {
                let first = self.classes[request.shape.class].first;
                start = earliest_row(&mut self.openings, start, (first, wanted, alignment));
            }
            let end = start + request.duration;
            if self.windows.get(seen).is_none_or(|next| end <= next.begin) {
                return start;
            }
            seen = beginning_before(&self.windows, end).max(seen + 1);
            if start == Seconds::FAR {
                seen = self.windows.len();
            }
        }
    }

    /// All openings of all nodes of the class if the first `seen` windows are all; behind these,
    /// only the first is looked at.
    fn find_openings(&mut self, request: &NodeRequest, now: Seconds, seen: usize) {
        let class = &self.classes[request.shape.class];
        self.openings.clear();
        let mut changes = std::mem::take(&mut self.changes);
        for (index, node) in (class.first..).zip(&self.nodes[class.first..class.past]) {
            let in_sight = node.windows.partition_point(|window| *window < seen);
            let behind = node.windows[in_sight..]
                .iter()
                .map(|window| &self.windows[*window])
                .find(|window| !window.users.contains(&request.user));
            let last = behind.map_or(Seconds::FAR, |window| window.begin - request.duration);
            if node.reserved.is_empty() && in_sight == 0 {
                let first = node.free_from(&request.shape.each, now);
                self.openings.push(Opening {
                    first,
                    last,
                    node: index,
                });
                continue;
            }
            let in_sight = node.windows[..in_sight]
                .iter()
                .map(|window| &self.windows[*window]);
            node.changes(request, now, in_sight, &mut changes);
            let found = |first, end: Option<Seconds>| {
                let last = end.map_or(last, |end| last.min(end - request.duration));
                if first <= last {
                    self.openings.push(Opening {
                        first,
                        last,
                        node: index,
                    });
                }
            };
            node.openings(&request.shape.each, now, &changes, found);
        }
        self.changes = changes;
    }
}

/// The first time at which this many nodes are open at once.
fn earliest(openings: &mut [Opening], wanted: usize) -> Seconds {
    let first_to_close = openings.iter().map(|opening| opening.last).min();
    if wanted <= openings.len() {
        let (_, nth, _) = openings.select_nth_unstable_by_key(wanted - 1, |opening| opening.first);
        if first_to_close.is_some_and(|last| nth.first <= last) {
            return nth.first;
        }
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
    // Not reached for a shape that the empty class holds: in the end every node is free.
    Seconds::FAR
}

/// The first time, not before `from`, at which a [row](first_row) of nodes is open: the first node
/// of the class, how many, and where it may begin.
fn earliest_row(
    openings: &mut [Opening],
    from: Seconds,
    (first, wanted, alignment): (usize, usize, usize),
) -> Seconds {
    openings.sort_unstable_by_key(|opening| (opening.node, opening.first));
    let mut starts: Vec<Seconds> = (openings.iter())
        .map(|opening| opening.first)
        .filter(|&start| start >= from)
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let row_at = |start: Seconds| {
        let open = openings.iter().filter(|opening| opening.is_open(start));
        first_row(open.map(|opening| opening.node), first, wanted, alignment)
    };
    let start = starts.into_iter().find(|&start| row_at(start).is_some());
    start.unwrap_or(Seconds::FAR)
}
