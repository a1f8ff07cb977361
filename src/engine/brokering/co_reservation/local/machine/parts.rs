//! Parts of co-reservations: granted, started, ended, given back, lost.

use super::{Event, LocalMachine, OpenPart, PartKey};
use crate::brokering::co_reservation::local::{LostPart, PartOrder, PartOutcome, Refusal};
use crate::units::Seconds;

impl LocalMachine {
    /// Makes an order firm, by the predicate of CPU counting (and the quota), whatever the broker's algorithm (§4.2).
    pub(super) fn take_order(&mut self, order: &PartOrder) -> Result<(), Refusal> {
        let key = (order.request, order.order);
        if let Some(&refusal) = self.gone.get(&key) {
            return Err(refusal);
        }
        if self.parts.contains_key(&key) {
            return Ok(());
        }
        if order.start < self.now {
            return Err(Refusal::Past);
        }
        if !self.up || !self.has_room(order.start, order.duration, order.nodes) {
            return Err(Refusal::Occupied);
        }
        if !self.within_quota(order.start, order.duration, order.nodes) {
            return Err(Refusal::Quota);
        }
        let part = OpenPart {
            order: *order,
            held: None,
        };
        self.fixed.reserve(order.start, part.end(), order.nodes.0);
        self.parts_by_start.insert((order.start, key));
        self.events.insert((order.start, Event::PartStarts(key)));
        self.parts.insert(key, part);
        self.changed();
        Ok(())
    }

    /// Gives a part back, running or not, and remembers that its order is void.
    pub(super) fn take_back(&mut self, key: PartKey) -> bool {
        self.gone.insert(key, Refusal::Cancelled);
        let Some(part) = self.let_go(key) else {
            return false;
        };
        self.close(part, Some(self.now), false);
        true
    }

    pub(super) fn start_part(&mut self, key: PartKey) {
        let Some(part) = self.parts.get_mut(&key) else {
            return;
        };
        // Running jobs are never displaced: a part that finds too few CPUs is lost.
        let held = self.up.then(|| self.free.lowest(part.order.nodes));
        let Some(held) = held.flatten() else {
            self.lose(key);
            return;
        };
        self.free.subtract(&held);
        self.part_nodes += part.order.nodes.0;
        self.events.insert((part.end(), Event::PartEnds(key)));
        part.held = Some(held);
        self.unsettled = true;
    }

    pub(super) fn end_part(&mut self, key: PartKey) {
        if let Some(part) = self.let_go(key) {
            self.close(part, None, false);
        }
    }

    /// The cluster cannot keep a part.
    pub(super) fn lose(&mut self, key: PartKey) {
        let Some(part) = self.let_go(key) else {
            return;
        };
        self.gone.insert(key, Refusal::Occupied);
        self.totals.lost_parts += 1;
        self.lost_parts.push(LostPart {
            at: self.now,
            request: key.0,
            order: key.1,
            running: part.held.is_some(),
        });
        self.close(part, Some(self.now), true);
    }

    /// Takes a part out of everything that knows it.
    fn let_go(&mut self, key: PartKey) -> Option<OpenPart> {
        let part = self.parts.remove(&key)?;
        let order = &part.order;
        self.parts_by_start.remove(&(order.start, key));
        self.events.remove(&(order.start, Event::PartStarts(key)));
        self.events.remove(&(part.end(), Event::PartEnds(key)));
        self.fixed
            .release(order.start.max(self.now), part.end(), order.nodes.0);
        if let Some(held) = &part.held {
            self.free.union_with(held);
            self.part_nodes -= order.nodes.0;
        }
        self.changed();
        Some(part)
    }

    fn close(&mut self, part: OpenPart, gone: Option<Seconds>, lost: bool) {
        if part.held.is_some() {
            self.totals.drained = self.totals.drained.max(self.now);
        }
        self.part_outcomes.push(PartOutcome {
            order: part.order,
            gone,
            lost,
        });
    }
}
