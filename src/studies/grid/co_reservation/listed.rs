//! Depth-first search over a tree that is never built: the children of a node are the filtered
//! entries of the shuffled list (Meltzer 2005, §4.2.2, §4.2.3).

use super::algorithm::{Order, Repair};
use super::open_candidates::{OpenCandidates, Prefix};
use super::table::Entry;

/// What a search does next.
#[derive(Clone, Copy, Debug)]
pub(super) enum Move {
    /// Order this part.
    Reserve(Entry),
    /// Give this part back.
    Cancel(Entry),
    /// Every part is reserved.
    Granted,
    /// Nothing is left to try, and nothing is reserved.
    Exhausted,
}

/// Whether a start has a complete candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    Unknown,
    Complete,
    Hopeless,
}

/// Candidates in random order or by start, chronological repair or none.
#[derive(Debug)]
pub(super) struct Listed {
    by_start: bool,
    repair: Repair,
    path: Vec<Placed>,
    /// For each level, the next position in its list; one longer than the path.
    next: Vec<u32>,
    /// By start, as of `seen` removals.
    known: Vec<Known>,
    seen: u32,
    given_up: bool,
}

/// A part that is reserved.
#[derive(Debug)]
struct Placed {
    entry: Entry,
    /// With all parts before it.
    prefix: Prefix,
    /// Whether its cluster was given up: it needs no cancellation.
    gone: bool,
}

impl Listed {
    pub fn new(order: Order, repair: Repair, starts: u32) -> Self {
        Self {
            by_start: order == Order::Start,
            repair,
            path: Vec::new(),
            next: vec![0],
            known: vec![Known::Unknown; starts as usize],
            seen: 0,
            given_up: false,
        }
    }

    pub fn next(&mut self, open_candidates: &mut OpenCandidates) -> Move {
        loop {
            if self.path.iter().any(|placed| placed.gone) {
                if let Some(entry) = self.pop() {
                    return Move::Cancel(entry);
                }
                continue;
            }
            if !self.given_up {
                if self.path.len() == open_candidates.table.parts() {
                    return Move::Granted;
                }
                if let Some(entry) = self.child(open_candidates) {
                    return Move::Reserve(entry);
                }
            }
            if self.path.is_empty() {
                return Move::Exhausted;
            }
            if let Some(entry) = self.pop() {
                return Move::Cancel(entry);
            }
        }
    }

    pub fn granted(&mut self, open_candidates: &OpenCandidates, entry: Entry) {
        let prefix = open_candidates.extended(&self.prefix(), entry);
        self.path.push(Placed {
            entry,
            prefix,
            gone: false,
        });
        self.next.push(0);
    }

    pub fn refused(&mut self) {
        self.given_up |= self.repair == Repair::None;
    }

    /// Returns whether a part was reserved there, which is gone now.
    pub fn give_up(&mut self, cluster: u16) -> bool {
        let lost = self
            .path
            .iter_mut()
            .find(|placed| placed.entry.cluster == cluster && !placed.gone);
        let Some(placed) = lost else {
            return false;
        };
        placed.gone = true;
        self.given_up |= self.repair == Repair::None;
        true
    }

    pub fn path(&self) -> impl Iterator<Item = Entry> {
        self.path.iter().map(|placed| placed.entry)
    }

    /// Takes the last part off; returns it if it is to be cancelled.
    fn pop(&mut self) -> Option<Entry> {
        self.next.pop();
        self.path
            .pop()
            .filter(|placed| !placed.gone)
            .map(|placed| placed.entry)
    }

    fn prefix(&self) -> Prefix {
        self.path
            .last()
            .map_or_else(Prefix::default, |placed| placed.prefix.clone())
    }

    /// The next child of the last part that can be completed.
    fn child(&mut self, open_candidates: &mut OpenCandidates) -> Option<Entry> {
        if self.seen != open_candidates.removals {
            self.seen = open_candidates.removals;
            for known in &mut self.known {
                if *known == Known::Complete {
                    *known = Known::Unknown;
                }
            }
        }
        let part = self.path.len();
        let prefix = self.prefix();
        let list = match self.path.last() {
            Some(placed) => open_candidates.table.group(part, placed.entry.start),
            None => 0..open_candidates.table.shuffled().len() as u32,
        };
        let mut place = list.start + self.next[part];
        while place < list.end {
            let entry = self.entry(open_candidates, part, place);
            place += 1;
            let possible = !open_candidates.is_removed(entry.index)
                && !prefix.clusters.contains(&entry.cluster)
                && (part > 0 || self.has_complete(open_candidates, entry.start))
                && open_candidates
                    .completes(entry.start, &open_candidates.extended(&prefix, entry));
            if possible {
                self.next[part] = place - list.start;
                return Some(entry);
            }
        }
        self.next[part] = place - list.start;
        None
    }

    fn entry(&self, open_candidates: &OpenCandidates, part: usize, place: u32) -> Entry {
        let table = &open_candidates.table;
        let (index, start) = match self.path.last() {
            Some(placed) => (place, placed.entry.start),
            None => {
                // Candidates of the first part stand by start, in the order of the shuffled list
                // among equals.
                let index = if self.by_start {
                    place
                } else {
                    table.shuffled()[place as usize]
                };
                (index, table.first_part_start(index))
            }
        };
        Entry {
            index,
            part,
            start,
            cluster: table.cluster(index),
        }
    }

    fn has_complete(&mut self, open_candidates: &mut OpenCandidates, start: u32) -> bool {
        let known = &mut self.known[start as usize];
        if *known == Known::Unknown {
            *known = if open_candidates.completes(start, &Prefix::default()) {
                Known::Complete
            } else {
                Known::Hopeless
            };
        }
        *known == Known::Complete
    }

    /// Bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        let prefixes: usize = self
            .path
            .iter()
            .map(|placed| placed.prefix.clusters.capacity() * size_of::<u16>())
            .sum();
        self.path.capacity() * size_of::<Placed>()
            + prefixes
            + self.next.capacity() * size_of::<u32>()
            + self.known.capacity() * size_of::<Known>()
    }
}
