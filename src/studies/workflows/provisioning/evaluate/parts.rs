//! The remaining parts of the chosen slots of one site, while tasks are placed on them (ALG-1:
//! Singh 2008, Figure 2).

use bookahead_core::plan::EXTENSION_MARGIN;
use bookahead_core::units::{Nodes, Seconds};

/// Left-overs in the order in which ALG-1 looks at them: by start, shorter ones first among equals,
/// then by age (AMB-5).
///
/// They are the same rectangles in the same order as those of a
/// [`SlotList`](bookahead_core::plan::SlotList) with the default rules, which is the twin that the
/// tests hold against them. They are kept in short runs that know how long the longest of them
/// lasts, so that what has ended is passed over run by run, and nothing is moved for a change but
/// the rest of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Parts {
    runs: Vec<Run>,
    spare: Vec<Vec<Part>>,
    /// Parts that last, in order, while one is looked for.
    lasting: Vec<Found>,
    /// What [`Parts::find`] found last, in the order of discovery, which is from behind.
    stack: Vec<Place>,
    left: Vec<Part>,
}

/// What is left of a slot, and which advertised slot it is a part of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    pub start: Seconds,
    pub end: Seconds,
    pub nodes: u32,
    pub origin: u32,
    pub extensible: bool,
}

/// Nodes that a task takes of an advertised slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taken {
    pub origin: u32,
    pub nodes: u32,
}

#[derive(Clone, Debug)]
struct Run {
    parts: Vec<Part>,
    /// No part of the run lasts longer.
    latest: Seconds,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    run: u32,
    index: u32,
}

#[derive(Clone, Copy, Debug)]
struct Found {
    until: Seconds,
    nodes: u32,
    place: Place,
}

/// Parts that a run may hold before it is split.
const CAPACITY: usize = 64;

/// Longer than anything.
const ENDLESS: Seconds = Seconds(i64::MAX);

impl Part {
    fn until(&self) -> Seconds {
        if self.extensible { ENDLESS } else { self.end }
    }

    /// What parts are sorted by.
    pub fn key(&self) -> (Seconds, Seconds) {
        (self.start, self.end)
    }
}

impl Parts {
    /// Begins anew with these parts, which are in order.
    pub fn begin(&mut self, parts: impl IntoIterator<Item = Part>) {
        for mut run in self.runs.drain(..) {
            run.parts.clear();
            self.spare.push(run.parts);
        }
        for part in parts {
            if self
                .runs
                .last()
                .is_none_or(|run| run.parts.len() >= CAPACITY / 2)
            {
                let parts = self.memory();
                self.runs.push(Run {
                    parts,
                    latest: -ENDLESS,
                });
            }
            if let Some(run) = self.runs.last_mut() {
                run.latest = run.latest.max(part.until());
                run.parts.push(part);
            }
        }
    }

    /// The earliest start from `earliest` on, where it is before `before` (ALG-1, lines 1–11).
    /// [`Parts::take`] places what was found.
    ///
    /// The listing asks each part in turn, as the anchor of a stack, for all the parts in front of
    /// it. As starts only rise, what does not last for one anchor does not last for a later one:
    /// those that may are kept from anchor to anchor.
    pub fn find(
        &mut self,
        nodes: Nodes,
        duration: Seconds,
        earliest: Seconds,
        before: Seconds,
    ) -> Option<Seconds> {
        let wanted = u64::from(nodes.0.max(1));
        self.lasting.clear();
        let mut held = 0_u64;
        let mut checked = earliest;
        for (number, run) in self.runs.iter_mut().enumerate() {
            let Some(first) = run.parts.first() else {
                continue;
            };
            let start = first.start.max(earliest);
            if start >= before {
                return None;
            }
            if run.latest < start + duration {
                continue;
            }
            let mut latest = -ENDLESS;
            for (index, part) in run.parts.iter().enumerate() {
                let start = part.start.max(earliest);
                let until = part.until();
                latest = latest.max(until);
                if until < start + duration {
                    continue;
                }
                if start >= before {
                    return None;
                }
                self.lasting.push(Found {
                    until,
                    nodes: part.nodes,
                    place: Place {
                        run: number as u32,
                        index: index as u32,
                    },
                });
                held += u64::from(part.nodes);
                if held >= wanted && start > checked {
                    checked = start;
                    self.lasting.retain(|found| found.until >= start + duration);
                    let nodes = self.lasting.iter().map(|found| u64::from(found.nodes));
                    held = nodes.sum();
                }
                if held >= wanted {
                    self.stack.clear();
                    let mut missing = nodes.0;
                    for found in self.lasting.iter().rev() {
                        self.stack.push(found.place);
                        missing = missing.saturating_sub(found.nodes);
                        if missing == 0 {
                            break;
                        }
                    }
                    return Some(start);
                }
            }
            run.latest = latest;
        }
        None
    }

    /// Uses up the parts that were found for a task, in the order of discovery, and keeps their
    /// rests (Singh 2008, Figure 3).
    pub fn take(
        &mut self,
        nodes: Nodes,
        start: Seconds,
        end: Seconds,
        mut taken: impl FnMut(Taken),
    ) {
        if end <= start {
            return;
        }
        let mut missing = nodes.0;
        let mut left = std::mem::take(&mut self.left);
        left.clear();
        // From behind, so that the other places keep their meaning.
        let stack = std::mem::take(&mut self.stack);
        for &place in &stack {
            let part = self.runs[place.run as usize].parts[place.index as usize];
            let nodes = missing.min(part.nodes);
            if nodes == 0 {
                break;
            }
            missing -= nodes;
            taken(Taken {
                origin: part.origin,
                nodes,
            });
            self.leave(place, part, nodes, start, end, &mut left);
        }
        for part in left.drain(..) {
            self.insert(part);
        }
        self.stack = stack;
        self.left = left;
    }

    /// What is left of a part: unused nodes, the time before, which ends, and the time after.
    fn leave(
        &mut self,
        place: Place,
        part: Part,
        nodes: u32,
        start: Seconds,
        end: Seconds,
        left: &mut Vec<Part>,
    ) {
        let after = if part.extensible {
            part.end.max(end + EXTENSION_MARGIN)
        } else {
            part.end
        };
        let mut stays = false;
        if part.nodes > nodes {
            let unused = Part {
                nodes: part.nodes - nodes,
                end: after,
                ..part
            };
            stays = self.replace(place, unused);
            if !stays {
                left.push(unused);
            }
        }
        if start > part.start {
            let before = Part {
                nodes,
                end: start,
                extensible: false,
                ..part
            };
            left.push(before);
        }
        if after > end {
            left.push(Part {
                start: end,
                nodes,
                end: after,
                ..part
            });
        }
        if !stays {
            self.remove(place);
        }
    }

    /// Puts a part that is as long where another is, unless there are equals behind it, who come
    /// first then.
    fn replace(&mut self, place: Place, part: Part) -> bool {
        let (run, index) = (place.run as usize, place.index as usize);
        let behind = match self.runs[run].parts.get(index + 1) {
            Some(next) => Some(next),
            None => self.runs.get(run + 1).and_then(|next| next.parts.first()),
        };
        if behind.is_some_and(|next| next.key() <= part.key()) {
            return false;
        }
        let here = &mut self.runs[run].parts[index];
        if here.key() != part.key() {
            return false;
        }
        *here = part;
        true
    }

    fn remove(&mut self, place: Place) {
        let run = &mut self.runs[place.run as usize];
        run.parts.remove(place.index as usize);
        if run.parts.is_empty() {
            let run = self.runs.remove(place.run as usize);
            self.spare.push(run.parts);
        }
    }

    fn insert(&mut self, part: Part) {
        let key = part.key();
        let number = self
            .runs
            .partition_point(|run| run.parts.first().is_some_and(|first| first.key() <= key))
            .saturating_sub(1);
        if self.runs.is_empty() {
            let parts = self.memory();
            self.runs.push(Run {
                parts,
                latest: -ENDLESS,
            });
        }
        let run = &mut self.runs[number];
        let place = run.parts.partition_point(|other| other.key() <= key);
        run.parts.insert(place, part);
        run.latest = run.latest.max(part.until());
        if run.parts.len() > CAPACITY {
            let mut parts = self.spare.pop().unwrap_or_default();
            let run = &mut self.runs[number];
            parts.extend(run.parts.drain(CAPACITY / 2..));
            let latest = run.latest;
            self.runs.insert(number + 1, Run { parts, latest });
        }
    }

    fn memory(&mut self) -> Vec<Part> {
        self.spare
            .pop()
            .unwrap_or_else(|| Vec::with_capacity(CAPACITY + 1))
    }
}
