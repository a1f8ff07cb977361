//! Free rectangles as the primary state of a plan: conservative backfilling whose holes can be
//! advertised at any instant.

mod rules;

pub use self::rules::{EqualStarts, SlotRules, Surplus};
use self::rules::{are_twins, merge_twins};
use super::profile::Profile;
use super::slot::{EXTENSION_MARGIN, Piece, PurchaseError, Slot};
use crate::units::{Nodes, Seconds};

/// How far ahead free nodes are advertised at least (Singh 2008, chapter 3).
pub const ADVERTISING_HORIZON: Seconds = Seconds(48 * 3_600);

/// What is free, as disjoint rectangles of nodes and time, and the scheduler that works on them
/// (ALG-1: Singh 2008, chapter 3, Figures 2 and 3).
///
/// Planned tasks never move. A task that needs more nodes than one slot has stacks several slots
/// that are all free while it runs; it cannot continue on other nodes. Because slots stand for
/// certain nodes, the start found may be later than the earliest one of the counted [`Profile`]
/// (AMB-4).
///
/// Slots are kept sorted by start. Finding a place costs O(n²) of the slots in the worst case.
#[derive(Clone, Debug, PartialEq)]
pub struct SlotList {
    slots: Vec<Slot>,
    rules: SlotRules,
    /// Latest end of anything placed or bought.
    latest_finish: Seconds,
}

/// Where a task was placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// When it starts.
    pub start: Seconds,
    /// What was taken of each slot, in the order in which the slots were used up.
    pub pieces: Vec<Piece>,
}

/// A part of a slot that was sold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Purchase {
    /// The slot as it was offered.
    pub slot: Slot,
    /// What was bought of it.
    pub piece: Piece,
    /// What it costs, in service units.
    pub price: f64,
}

impl SlotList {
    /// A machine of `nodes` nodes that is free from `origin` on: one slot that is divisible and
    /// extensible.
    #[must_use]
    pub fn new(nodes: Nodes, origin: Seconds, rules: SlotRules) -> Self {
        Self::from_slots([Slot::edge(origin, nodes)], rules)
    }

    /// A list of these slots, which must be disjoint: owned slots, or a published list.
    ///
    /// Slots without nodes or time are left out.
    #[must_use]
    pub fn from_slots(slots: impl IntoIterator<Item = Slot>, rules: SlotRules) -> Self {
        let mut list = Self {
            slots: Vec::new(),
            rules,
            latest_finish: -Seconds::FAR,
        };
        for slot in slots {
            if slot.nodes.0 > 0 && slot.end > slot.start {
                list.insert(slot);
            }
        }
        list
    }

    /// What `profile` leaves free from `now` on, as disjoint slots: for a plan that was made
    /// otherwise, for instance planned again after an early end (Singh 2008, chapter 3).
    ///
    /// A profile does not say which nodes are free, so its area is cut into layers: the h-th layer
    /// is free while at least h nodes are, each uninterrupted stretch of a layer is one node's, and
    /// neighbouring stretches with the same start and end are one slot. (Equivalently: a rise of
    /// the count opens a rectangle, a fall closes the rectangles opened last and cuts off a part of
    /// one where it must.) No decomposition has fewer single-node stretches. For the machine of
    /// Singh 2008, Figure 1, the slots are S1 to S5 of the thesis. What is still open at the end of
    /// the profile is divisible and extensible. Negative counts are taken for none.
    #[must_use]
    pub fn from_profile(profile: &Profile, now: Seconds, rules: SlotRules) -> Self {
        let mut found = Vec::new();
        let mut open: Vec<(Seconds, u32)> = Vec::new();
        let mut height = 0;
        let mut close = |open: &mut Vec<(Seconds, u32)>, mut fall: u32, end: Seconds| {
            while fall > 0
                && let Some((start, nodes)) = open.pop()
            {
                let closed = nodes.min(fall);
                fall -= closed;
                found.push(Slot::hole(start, Nodes(closed), end));
                if nodes > closed {
                    open.push((start, nodes - closed));
                }
            }
        };
        let mut last = now;
        let mut segments = profile.segments().peekable();
        while let Some((start, count)) = segments.next() {
            if segments.peek().is_some_and(|&(next, _)| next <= now) {
                continue;
            }
            let start = start.max(now);
            let free = u32::try_from(count).unwrap_or(0);
            if free > height {
                open.push((start, free - height));
            } else {
                close(&mut open, height - free, start);
            }
            height = free;
            last = start;
        }
        found.extend(
            open.into_iter()
                .map(|(start, nodes)| Slot::edge(start, Nodes(nodes))),
        );
        let mut list = Self::from_slots(found, rules);
        list.latest_finish = last;
        list
    }

    /// The free slots, sorted by start; those of the same start as [`SlotRules::equal_starts`]
    /// says.
    #[must_use]
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// When a task of `nodes` nodes and `duration` would start that may not start before
    /// `earliest`, without placing it; `None` where the slots do not last.
    #[must_use]
    pub fn start_for(&self, nodes: Nodes, duration: Seconds, earliest: Seconds) -> Option<Seconds> {
        self.find(nodes, duration, earliest).map(|(start, _)| start)
    }

    /// Places a task where it starts first (ALG-1: Singh 2008, Figure 2) and leaves the rest
    /// (Figure 3).
    ///
    /// A task without nodes or duration takes nothing. `None`, and an unchanged list, where there
    /// is no place: a machine offers all of its nodes sooner or later, so only tasks that are wider
    /// find none there, but a list of owned slots may end.
    pub fn place(
        &mut self,
        nodes: Nodes,
        duration: Seconds,
        earliest: Seconds,
    ) -> Option<Placement> {
        let (start, mut stack) = self.find(nodes, duration, earliest)?;
        if self.rules.surplus == Surplus::Extensible {
            stack.sort_by_key(|&index| self.slots[index].extensible);
        }
        let end = start + duration;
        let mut missing = if duration.0 > 0 { nodes.0 } else { 0 };
        let mut used: Vec<(Slot, Piece)> = Vec::with_capacity(stack.len());
        for &index in &stack {
            let slot = self.slots[index];
            let taken = missing.min(slot.nodes.0);
            if taken == 0 {
                break;
            }
            missing -= taken;
            let nodes = Nodes(taken);
            used.push((slot, Piece { start, nodes, end }));
        }
        stack.truncate(used.len());
        stack.sort_unstable();
        self.remove_all(&stack);
        for &(slot, piece) in &used {
            self.leave(slot, piece);
        }
        Some(Placement {
            start,
            pieces: used.into_iter().map(|(_, piece)| piece).collect(),
        })
    }

    /// Sells `piece` of the slot number `index` of [`SlotList::slots`] and leaves what remains
    /// (Singh 2008, Table 1, Figure 3). A slot that began in the past must be clipped first, or its
    /// past is paid for too.
    ///
    /// # Errors
    /// [`PurchaseError`] says which rule forbids it; nothing is changed then.
    pub fn buy(&mut self, index: usize, piece: Piece) -> Result<Purchase, PurchaseError> {
        let slot = *self
            .slots
            .get(index)
            .ok_or(PurchaseError::NoSuchSlot { index })?;
        let price = slot.price_of(piece)?;
        self.slots.remove(index);
        self.leave(slot, piece);
        Ok(Purchase { slot, piece, price })
    }

    /// As [`SlotList::buy`], of a slot of which parts are sold whatever it says.
    ///
    /// # Errors
    /// [`PurchaseError`] says which rule forbids it; nothing is changed then.
    pub fn buy_part(&mut self, index: usize, piece: Piece) -> Result<Purchase, PurchaseError> {
        let found = self.slots.get(index).copied();
        let slot = found.ok_or(PurchaseError::NoSuchSlot { index })?;
        let sold = Slot {
            divisible: true,
            ..slot
        };
        let price = sold.price_of(piece)?;
        self.slots.remove(index);
        self.leave(slot, piece);
        Ok(Purchase { slot, piece, price })
    }

    /// The number of the slot that an advertised one stands for, if it still exists as it was
    /// (Singh 2008, chapter 3: advertisements are advisory). The list must have been clipped to the
    /// time of the advertisement.
    #[must_use]
    pub fn find_advertised(&self, advertised: &Slot) -> Option<usize> {
        self.slots.iter().position(|slot| {
            let as_advertised = Slot {
                end: if slot.extensible {
                    advertised.end
                } else {
                    slot.end
                },
                ..*slot
            };
            as_advertised == *advertised
        })
    }

    /// Frees `piece` again, which was placed or bought and is not used: a cancelled purchase, a
    /// task that ended early.
    ///
    /// It becomes a hole of its own that ends where the piece did, even if nothing is planned then.
    pub fn give_back(&mut self, piece: Piece) {
        if piece.nodes.0 > 0 && piece.end > piece.start {
            self.insert(Slot::hole(piece.start, piece.nodes, piece.end));
        }
    }

    /// Forgets what lies before `now`: slots begin at `now` at the earliest and those that ended
    /// are dropped (AMB-7).
    ///
    /// Slots that now start together are put in the order of [`SlotRules::equal_starts`]; ties keep
    /// the order they had.
    pub fn clip(&mut self, now: Seconds) {
        let past = self.slots.partition_point(|slot| slot.start < now);
        if past == 0 {
            return;
        }
        let started = self.slots.partition_point(|slot| slot.start <= now);
        let mut kept = 0;
        for index in 0..started {
            let mut slot = self.slots[index];
            slot.start = now;
            if slot.extensible {
                slot.end = slot.end.max(now + EXTENSION_MARGIN);
            }
            if slot.end > now {
                self.slots[kept] = slot;
                kept += 1;
            }
        }
        let rules = self.rules;
        // Stable: equals stay in their order, as if each were entered anew.
        self.slots[..kept].sort_by_key(|slot| rules.key(slot));
        if rules.merge_identical {
            kept = merge_twins(&mut self.slots[..kept], rules);
        }
        self.slots.drain(kept..started);
    }

    /// Until when free nodes are advertised: 48 h from `now`, or 5 min past the last planned end
    /// where that is later (Singh 2008, chapter 3; AMB-11).
    #[must_use]
    pub fn horizon_end(&self, now: Seconds) -> Seconds {
        (now + ADVERTISING_HORIZON).max(self.latest_finish + EXTENSION_MARGIN)
    }

    /// What is published at `now`: the slots from `now` on, extensible ones until `horizon_end`
    /// (normally [`SlotList::horizon_end`]), without those shorter than
    /// [`SlotRules::minimum_duration`] (AMB-8).
    #[must_use]
    pub fn advertised(&self, now: Seconds, horizon_end: Seconds) -> Vec<Slot> {
        let shortest = self.rules.minimum_duration.max(Seconds(1));
        self.slots
            .iter()
            .map(|slot| Slot {
                start: slot.start.max(now),
                end: if slot.extensible {
                    horizon_end
                } else {
                    slot.end
                },
                ..*slot
            })
            .filter(|slot| slot.duration() >= shortest)
            .collect()
    }

    /// The earliest start that some anchor allows, and the stack of slots in the order of discovery
    /// (ALG-1, lines 1–11).
    fn find(
        &self,
        nodes: Nodes,
        duration: Seconds,
        earliest: Seconds,
    ) -> Option<(Seconds, Vec<usize>)> {
        let mut stack = Vec::new();
        for (index, anchor) in self.slots.iter().enumerate() {
            let start = anchor.start.max(earliest);
            let end = start + duration;
            if !anchor.lasts_until(end) {
                continue;
            }
            stack.clear();
            stack.push(index);
            let mut missing = nodes.0.saturating_sub(anchor.nodes.0);
            for (before, slot) in self.slots[..index].iter().enumerate().rev() {
                if missing == 0 {
                    break;
                }
                if slot.lasts_until(end) {
                    missing = missing.saturating_sub(slot.nodes.0);
                    stack.push(before);
                }
            }
            if missing == 0 {
                return Some((start, stack));
            }
        }
        None
    }

    /// Takes out slots by their places, which ascend, in one pass.
    fn remove_all(&mut self, places: &[usize]) {
        let mut kept = places.first().copied().unwrap_or(self.slots.len());
        for (number, &place) in places.iter().enumerate() {
            let until = places.get(number + 1).copied().unwrap_or(self.slots.len());
            self.slots.copy_within(place + 1..until, kept);
            kept += until - place - 1;
        }
        self.slots.truncate(kept);
    }

    fn leave(&mut self, slot: Slot, piece: Piece) {
        self.latest_finish = self.latest_finish.max(piece.end);
        for rest in slot.left_overs(piece) {
            self.insert(rest);
        }
    }

    fn insert(&mut self, slot: Slot) {
        let rules = self.rules;
        let key = rules.key(&slot);
        let place = self.slots.partition_point(|other| rules.key(other) <= key);
        if rules.merge_identical && slot.fixed_price == 0.0 {
            let equals = self.slots[..place].iter_mut().rev();
            let twin = equals
                .take_while(|other| rules.key(other) == key)
                .find(|other| are_twins(other, &slot));
            if let Some(twin) = twin {
                twin.nodes = Nodes(twin.nodes.0 + slot.nodes.0);
                return;
            }
        }
        self.slots.insert(place, slot);
    }
}

#[cfg(test)]
mod tests;
