//! What a choice of advertised slots costs, and when the application ends on it (spec `provisioning.md` §4.4, ALG-2).

use super::Application;
use crate::plan::{EXTENSION_MARGIN, Slot};
use crate::units::{Nodes, Seconds};

/// A slot and the site that advertises it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Advertised {
    /// Index of the site.
    pub site: usize,
    /// The slot.
    pub slot: Slot,
}

/// Both objectives of a plan (eq. 6).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlanValue {
    /// AC, the allocation cost in service units: slots that are sold whole and are used count whole, of others what is used;
    /// what is chosen and not used costs nothing (AMB-14h).
    pub cost: f64,
    /// SC, the makespan: from submission to the end of the last task.
    pub makespan: Seconds,
}

/// Where a task runs in a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPlacement {
    /// Index of the site.
    pub site: usize,
    /// Start.
    pub start: Seconds,
    /// End.
    pub end: Seconds,
}

/// What is left of a slot while tasks are placed, and which advertised slot it is a part of.
#[derive(Clone, Copy, Debug)]
struct Part {
    start: Seconds,
    end: Seconds,
    nodes: u32,
    extensible: bool,
    origin: u32,
}

/// How much of an advertised slot was used.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    node_seconds: i64,
    last_end: Seconds,
    touched: bool,
}

/// Evaluates choices of slots for one application; keeps its memory between calls.
#[derive(Clone, Debug)]
pub struct Evaluator<'a> {
    application: &'a Application,
    slots: &'a [Advertised],
    submitted: Seconds,
    sites: usize,
    bins: Vec<Vec<Part>>,
    used: Vec<Use>,
    placed: Vec<TaskPlacement>,
    stack: Vec<usize>,
}

impl<'a> Evaluator<'a> {
    /// An evaluator for an application that is submitted at `submitted` and chooses from `slots`. Slots of a site must be
    /// disjoint; the order of equal starts is theirs.
    #[must_use]
    pub fn new(application: &'a Application, slots: &'a [Advertised], submitted: Seconds) -> Self {
        let sites = slots.iter().map(|slot| slot.site + 1).max().unwrap_or(0);
        let nowhere = TaskPlacement {
            site: 0,
            start: submitted,
            end: submitted,
        };
        Self {
            application,
            slots,
            submitted,
            sites,
            bins: vec![Vec::new(); sites],
            used: vec![Use::default(); slots.len()],
            placed: vec![nowhere; application.tasks().len()],
            stack: Vec::new(),
        }
    }

    /// How many slots there are to choose from.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots.len()
    }

    /// The value of a plan that may use the slots for which `chosen` holds; `None` where the application does not fit.
    pub fn evaluate(&mut self, chosen: &[bool]) -> Option<PlanValue> {
        self.begin(chosen);
        for &task in self.application.order() {
            let (site, start) = self.best_site(task)?;
            let needs = &self.application.tasks()[task];
            let end = start + needs.runtimes[site];
            self.take(site, needs.nodes, start, end);
            self.placed[task] = TaskPlacement { site, start, end };
        }
        let finish = self.placed.iter().map(|placed| placed.end).max();
        Some(PlanValue {
            cost: self.cost(),
            makespan: finish.unwrap_or(self.submitted) - self.submitted,
        })
    }

    /// Where the tasks of the plan that was evaluated last run, by index.
    #[must_use]
    pub fn placements(&self) -> &[TaskPlacement] {
        &self.placed
    }

    /// Which slots the plan that was evaluated last pays for, and node-seconds used of each.
    pub fn used(&self) -> impl Iterator<Item = (usize, i64)> + '_ {
        let used = self.used.iter().enumerate();
        used.filter(|(_, used)| used.touched)
            .map(|(slot, used)| (slot, used.node_seconds))
    }

    fn begin(&mut self, chosen: &[bool]) {
        self.bins.iter_mut().for_each(Vec::clear);
        self.used.fill(Use::default());
        for (origin, (advertised, chosen)) in self.slots.iter().zip(chosen).enumerate() {
            if *chosen {
                let part = Part {
                    start: advertised.slot.start.max(self.submitted),
                    end: advertised.slot.end,
                    nodes: advertised.slot.nodes.0,
                    extensible: advertised.slot.extensible,
                    origin: origin as u32,
                };
                insert(&mut self.bins[advertised.site], part);
            }
        }
    }

    /// The site at which the task starts first (AMB-9), the first of equals.
    fn best_site(&mut self, task: usize) -> Option<(usize, Seconds)> {
        let mut best: Option<(usize, Seconds)> = None;
        for site in 0..self.sites {
            let needs = &self.application.tasks()[task];
            let earliest = self
                .application
                .earliest(task, site, self.submitted, |parent| {
                    (self.placed[parent].site, self.placed[parent].end)
                });
            let found = find(
                &self.bins[site],
                needs.nodes,
                needs.runtimes[site],
                earliest,
                best.map(|(_, start)| start),
                &mut self.stack,
            );
            if let Some(start) = found
                && best.is_none_or(|(_, least)| start < least)
            {
                best = Some((site, start));
            }
        }
        best
    }

    /// Places a task where [`find`] said: the slots of its stack are used up in the order of discovery.
    fn take(&mut self, site: usize, nodes: Nodes, start: Seconds, end: Seconds) {
        if end <= start || nodes.0 == 0 {
            return;
        }
        let bin = &mut self.bins[site];
        // The stack of the last call of `find` may be another site's.
        find(bin, nodes, end - start, start, None, &mut self.stack);
        let mut missing = nodes.0;
        let mut left: Vec<Part> = Vec::with_capacity(3 * self.stack.len());
        let mut emptied: Vec<usize> = Vec::with_capacity(self.stack.len());
        for &index in &self.stack {
            let part = bin[index];
            let taken = missing.min(part.nodes);
            if taken == 0 {
                break;
            }
            missing -= taken;
            emptied.push(index);
            let used = &mut self.used[part.origin as usize];
            used.touched = true;
            used.node_seconds += i64::from(taken) * (end - start).0;
            used.last_end = used.last_end.max(end);
            leave(part, taken, start, end, &mut left);
        }
        emptied.sort_unstable_by(|one, other| other.cmp(one));
        for index in emptied {
            bin.remove(index);
        }
        for part in left {
            insert(bin, part);
        }
    }

    fn cost(&self) -> f64 {
        let paid = self.slots.iter().zip(&self.used);
        paid.filter(|(_, used)| used.touched)
            .map(|(advertised, used)| {
                let slot = &advertised.slot;
                let node_seconds = if slot.divisible {
                    used.node_seconds
                } else {
                    let end = slot.end.max(used.last_end);
                    slot.nodes.for_span(end - slot.start).0
                };
                node_seconds as f64 / 3_600.0 * slot.unit_price + slot.fixed_price
            })
            .sum()
    }
}

/// The earliest start that some anchor allows (ALG-1, lines 1–11) and, in `stack`, its slots in the order of discovery; `None`
/// also where nothing starts before `before`.
fn find(
    bin: &[Part],
    nodes: Nodes,
    duration: Seconds,
    earliest: Seconds,
    before: Option<Seconds>,
    stack: &mut Vec<usize>,
) -> Option<Seconds> {
    for (index, anchor) in bin.iter().enumerate() {
        let start = anchor.start.max(earliest);
        if before.is_some_and(|before| start >= before) {
            return None;
        }
        let end = start + duration;
        let lasts = |part: &Part| part.extensible || part.end >= end;
        if !lasts(anchor) {
            continue;
        }
        stack.clear();
        stack.push(index);
        let mut missing = nodes.0.saturating_sub(anchor.nodes);
        for (place, part) in bin[..index].iter().enumerate().rev() {
            if missing == 0 {
                break;
            }
            if lasts(part) {
                missing = missing.saturating_sub(part.nodes);
                stack.push(place);
            }
        }
        if missing == 0 {
            return Some(start);
        }
    }
    None
}

/// What is left of a part (§3.5): unused nodes, the time before, which ends, and the time after.
fn leave(part: Part, taken: u32, start: Seconds, end: Seconds, left: &mut Vec<Part>) {
    let after = if part.extensible {
        part.end.max(end + EXTENSION_MARGIN)
    } else {
        part.end
    };
    if part.nodes > taken {
        left.push(Part {
            nodes: part.nodes - taken,
            end: after,
            ..part
        });
    }
    if start > part.start {
        left.push(Part {
            nodes: taken,
            end: start,
            extensible: false,
            ..part
        });
    }
    if after > end {
        left.push(Part {
            start: end,
            nodes: taken,
            end: after,
            ..part
        });
    }
}

/// Keeps a bin sorted by start, shorter ones first among equals (AMB-5).
fn insert(bin: &mut Vec<Part>, part: Part) {
    let place = bin.partition_point(|other| (other.start, other.end) <= (part.start, part.end));
    bin.insert(place, part);
}
