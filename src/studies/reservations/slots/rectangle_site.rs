//! A site whose free rectangles are its plan (ALG-1: Singh 2008, chapter 3, Figures 2 and 3).

use std::collections::BTreeMap;

use bookahead_core::kernel::Agenda;
use bookahead_core::plan::{Piece, Purchase, PurchaseError, Slot, SlotList, SlotRules};
use bookahead_core::scheduling::JobOutcome;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, RequestId};

/// A queue that is scheduled by ALG-1 with exact run times: each job gets its place when it is
/// submitted and keeps it. The free area beside all places is advertised and for sale, and no job
/// is ever delayed by a sale.
///
/// A job lasts as long as its run time, at most its estimate, at least one second, and starts no
/// earlier than its submission and release. Of one second, ends come before submissions.
#[derive(Clone)]
pub struct RectangleSite {
    nodes: Nodes,
    now: Seconds,
    free: SlotList,
    /// What was sold and has not ended.
    sold: BTreeMap<RequestId, Vec<Piece>>,
    events: Agenda<Event>,
    /// Jobs that have their place and have not ended.
    placed: usize,
    outcomes: Vec<JobOutcome>,
}

#[derive(Clone)]
enum Event {
    /// With its outcome, which is known since it was placed, where it was handed over.
    JobEnds(Option<Box<JobOutcome>>),
    SaleEnds(RequestId),
    /// With its outcome if it never fits.
    JobArrives(Box<JobOutcome>),
}

const ENDS: u8 = 0;
const ARRIVES: u8 = 1;

impl RectangleSite {
    /// An idle site at time 0.
    #[must_use]
    pub fn new(nodes: Nodes, rules: SlotRules) -> Self {
        Self {
            nodes,
            now: Seconds::ZERO,
            free: SlotList::new(nodes, Seconds::ZERO, rules),
            sold: BTreeMap::new(),
            events: Agenda::default(),
            placed: 0,
            outcomes: Vec::new(),
        }
    }

    /// Virtual time.
    #[must_use]
    pub fn now(&self) -> Seconds {
        self.now
    }

    /// Its processors.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        self.nodes
    }

    /// Hands over jobs; none may be submitted in the past. Those of the same second are placed in
    /// the order given.
    pub fn submit(&mut self, jobs: impl IntoIterator<Item = Job>) {
        for job in jobs {
            let time = job.submit.max(self.now);
            let unplaced = Box::new(JobOutcome::unpromised(job, None));
            self.events
                .push_next(time, ARRIVES, Event::JobArrives(unplaced));
        }
    }

    /// Places a job at its submission, which has not passed, and says when it starts and ends;
    /// `None` if it never fits. It has no outcome among [`RectangleSite::take_job_outcomes`].
    pub fn place(&mut self, job: &Job) -> Option<(Seconds, Seconds)> {
        self.advance(job.submit + Seconds(1));
        self.now = self.now.max(job.submit);
        let ran = self.find_place(job)?;
        self.events.push(ran.1, ENDS, Event::JobEnds(None));
        Some(ran)
    }

    /// Processes every event before `until`, and lets time pass to the last of them.
    pub fn advance(&mut self, until: Seconds) {
        while let Some((time, event)) = self.events.pop_before(until) {
            self.now = time;
            match event {
                Event::JobArrives(unplaced) => self.arrive(unplaced),
                Event::JobEnds(outcome) => {
                    self.placed -= 1;
                    self.outcomes.extend(outcome.map(|outcome| *outcome));
                }
                Event::SaleEnds(id) => {
                    self.sold.remove(&id);
                }
            }
        }
    }

    /// Lets time pass to the end of the second `time`.
    pub fn pass_to(&mut self, time: Seconds) {
        self.advance(time + Seconds(1));
        self.now = self.now.max(time);
        self.free.clip(self.now);
    }

    /// When the next thing happens, if anything will.
    #[must_use]
    pub fn next_event(&self) -> Option<Seconds> {
        self.events.next_time()
    }

    /// Jobs handed over that ended since the last call, or never fit, in that order.
    pub fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        std::mem::take(&mut self.outcomes)
    }

    /// Waiting and running jobs, and slots that were sold and have not ended (AMB-24d).
    #[must_use]
    pub fn tasks_in_system(&self) -> usize {
        self.placed + self.sold.len()
    }

    /// What is advertised now: disjoint slots, by start (Singh 2008, chapter 3).
    pub fn advertised(&mut self) -> Vec<Slot> {
        self.free.clip(self.now);
        self.free
            .advertised(self.now, self.free.horizon_end(self.now))
    }

    /// Sells a piece of an advertised slot if slots of today sell the same piece at the same price:
    /// the slot itself, or the rest of divisible ones. Returns whether it could.
    pub fn buy(&mut self, id: RequestId, slot: &Slot, piece: Piece) -> bool {
        self.free.clip(self.now);
        let Ok(price) = slot.price_of(piece) else {
            return false;
        };
        if piece.start < self.now || self.sold.contains_key(&id) {
            return false;
        }
        let advertised = Slot {
            start: slot.start.max(self.now),
            ..*slot
        };
        let in_parts = sells_parts(slot);
        let same = self.free.find_advertised(&Slot {
            divisible: advertised.divisible && !in_parts,
            ..advertised
        });
        let same = same.or_else(|| {
            let mut slots = self.free.slots().iter();
            slots.position(|slot| as_sold(slot, in_parts).price_of(piece) == Ok(price))
        });
        let pieces = match same {
            Some(index) => match buy_of(&mut self.free, index, piece, in_parts) {
                Ok(purchase) => vec![purchase.piece],
                Err(_) => return false,
            },
            None if slot.divisible => match self.buy_stack(piece, slot) {
                Some(pieces) => pieces,
                None => return false,
            },
            None => return false,
        };
        self.sold.insert(id, pieces);
        let end = piece.end.max(self.now);
        self.events.push(end, ENDS, Event::SaleEnds(id));
        true
    }

    /// Takes the piece from several divisible slots of the same prices that each last as long as it
    /// does.
    fn buy_stack(&mut self, piece: Piece, like: &Slot) -> Option<Vec<Piece>> {
        let mut missing = piece.nodes.0;
        let mut stack: Vec<(usize, Piece)> = Vec::new();
        let in_parts = sells_parts(like);
        for (index, slot) in self.free.slots().iter().enumerate() {
            let slot = as_sold(slot, in_parts);
            let part = Piece {
                nodes: Nodes(missing.min(slot.nodes.0)),
                ..piece
            };
            let alike = slot.divisible
                && slot.unit_price == like.unit_price
                && slot.fixed_price == like.fixed_price;
            if missing > 0 && alike && slot.price_of(part).is_ok() {
                missing -= part.nodes.0;
                stack.push((index, part));
            }
        }
        if missing > 0 {
            return None;
        }
        // Each sale renumbers the slots: what was found is looked up again.
        let found: Vec<(Slot, Piece)> = stack
            .into_iter()
            .map(|(index, part)| (self.free.slots()[index], part))
            .collect();
        self.buy_all(&found, in_parts)
    }

    /// Buys a part of each of these slots, or nothing of any.
    fn buy_all(&mut self, parts: &[(Slot, Piece)], in_parts: bool) -> Option<Vec<Piece>> {
        let mut free = self.free.clone();
        let pieces = parts.iter().map(|(slot, part)| {
            let index = free.slots().iter().position(|other| other == slot)?;
            Some(buy_of(&mut free, index, *part, in_parts).ok()?.piece)
        });
        let pieces = pieces.collect::<Option<_>>()?;
        self.free = free;
        Some(pieces)
    }

    /// Gives back what was sold under this number and has not begun; returns whether there was such
    /// a thing.
    pub fn cancel(&mut self, id: RequestId) -> bool {
        let begun = |pieces: &Vec<Piece>| pieces.iter().any(|piece| piece.start <= self.now);
        if self.sold.get(&id).is_none_or(begun) {
            return false;
        }
        for piece in self.sold.remove(&id).unwrap_or_default() {
            self.free.give_back(piece);
        }
        true
    }

    /// Gives back, from now on, the rest of what was sold under this number and has begun; returns
    /// whether there was such a thing. It is a hole of its own for jobs and buyers that come later:
    /// jobs that have their place keep it.
    pub fn give_back_rest(&mut self, id: RequestId) -> bool {
        let begun = |pieces: &Vec<Piece>| pieces.iter().all(|piece| piece.start <= self.now);
        if !self.sold.get(&id).is_some_and(begun) {
            return false;
        }
        for piece in self.sold.remove(&id).unwrap_or_default() {
            let start = piece.start.max(self.now);
            self.free.give_back(Piece { start, ..piece });
        }
        true
    }

    fn arrive(&mut self, mut open: Box<JobOutcome>) {
        let Some(ran) = self.find_place(&open.job) else {
            self.outcomes.push(*open);
            return;
        };
        *open = JobOutcome::unpromised(open.job, Some(ran));
        self.events.push(ran.1, ENDS, Event::JobEnds(Some(open)));
    }

    fn find_place(&mut self, job: &Job) -> Option<(Seconds, Seconds)> {
        self.free.clip(self.now);
        let duration = job.runtime.min(job.estimate).max(Seconds(1));
        let earliest = job.submit.max(job.release);
        let start = self.free.place(job.nodes, duration, earliest)?.start;
        self.placed += 1;
        Some((start, start + duration))
    }
}

/// Whether parts are sold of a slot in front of something planned: others that are divisible are
/// extensible, too.
fn sells_parts(slot: &Slot) -> bool {
    slot.divisible && !slot.extensible
}

fn as_sold(slot: &Slot, in_parts: bool) -> Slot {
    Slot {
        divisible: slot.divisible || in_parts,
        ..*slot
    }
}

fn buy_of(
    free: &mut SlotList,
    index: usize,
    piece: Piece,
    in_parts: bool,
) -> Result<Purchase, PurchaseError> {
    if in_parts {
        free.buy_part(index, piece)
    } else {
        free.buy(index, piece)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_stack_that_cannot_be_bought_whole_nothing_is_bought() {
        let mut site = RectangleSite::new(Nodes(4), SlotRules::default());
        let before = site.free.clone();
        let slot = site.free.slots()[0];
        let piece = |nodes| Piece {
            start: Seconds(10),
            nodes: Nodes(nodes),
            end: Seconds(20),
        };
        // The first sale changes the slot, so that the second part looks for one that is not there
        // any more.
        assert_eq!(
            site.buy_all(&[(slot, piece(3)), (slot, piece(1))], false),
            None
        );
        assert_eq!(site.free, before);
        assert_eq!(
            site.buy_all(&[(slot, piece(3))], false),
            Some(vec![piece(3)])
        );
        assert_ne!(site.free, before);
    }
}
