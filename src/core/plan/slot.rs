//! The slot: a free rectangle that a provider offers, with rules for buying parts of it, and its
//! price.

use serde::{Deserialize, Serialize};

use crate::units::{Nodes, Seconds};

/// How far past a task the end of an extensible slot is kept (Singh 2008, Figure 2).
pub const EXTENSION_MARGIN: Seconds = Seconds(300);

/// A rectangle of free nodes that is for sale: `nodes` nodes on `[start, end)` (Singh 2008, eq. 1).
///
/// Money is in service units (SU): one node for one hour at the rate of the best-effort queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// From when on the nodes are free.
    pub start: Seconds,
    /// How many nodes are free.
    pub nodes: Nodes,
    /// Until when they are free, exclusive. Of an extensible slot: until when they are offered,
    /// which is [`Seconds::FAR`] within a [`SlotList`](super::SlotList) and the advertising horizon
    /// in what it advertises.
    pub end: Seconds,
    /// `c`: SU for one node and one hour.
    pub unit_price: f64,
    /// `f`: SU for the purchase itself, whatever part is bought.
    pub fixed_price: f64,
    /// `b`: whether a part may be bought.
    pub divisible: bool,
    /// `e`: whether more than the offered time may be bought, because nothing is planned
    /// afterwards.
    pub extensible: bool,
}

/// What a buyer wants of a slot: `nodes` nodes on `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Piece {
    /// First second wanted.
    pub start: Seconds,
    /// Nodes wanted.
    pub nodes: Nodes,
    /// End of the wanted time, exclusive.
    pub end: Seconds,
}

/// The rule of Singh 2008, Table 1, that a wanted piece breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PurchaseError {
    /// A piece has at least one node for at least one second.
    #[error("a piece of {nodes} from {start} to {end} is empty")]
    Empty {
        /// Nodes wanted.
        nodes: Nodes,
        /// Start wanted.
        start: Seconds,
        /// End wanted.
        end: Seconds,
    },
    /// Even an extensible slot is sold for a time that ends.
    #[error("a piece must end some time")]
    Endless,
    /// n_k ≤ n_i.
    #[error("the slot has {offered}, not {wanted}")]
    TooWide {
        /// Nodes of the slot.
        offered: Nodes,
        /// Nodes wanted.
        wanted: Nodes,
    },
    /// s_i ≤ s_k.
    #[error("the slot starts at {offered}, not at {wanted}")]
    TooEarly {
        /// Start of the slot.
        offered: Seconds,
        /// Start wanted.
        wanted: Seconds,
    },
    /// s_k + d_k ≤ s_i + d_i, for a slot that is not extensible.
    #[error("the slot ends at {offered} and cannot be extended to {wanted}")]
    TooLate {
        /// End of the slot.
        offered: Seconds,
        /// End wanted.
        wanted: Seconds,
    },
    /// n_k = n_i, for a slot that is not divisible.
    #[error("the slot is sold with all of its {offered}, not with {wanted}")]
    NotAllNodes {
        /// Nodes of the slot.
        offered: Nodes,
        /// Nodes wanted.
        wanted: Nodes,
    },
    /// s_k = s_i, for a slot that is not divisible.
    #[error("the slot is sold from its start at {offered} on, not from {wanted}")]
    NotFromItsStart {
        /// Start of the slot.
        offered: Seconds,
        /// Start wanted.
        wanted: Seconds,
    },
    /// d_k = d_i (d_k ≥ d_i where extensible), for a slot that is not divisible.
    #[error("the slot is sold until its end at {offered}, not until {wanted}")]
    NotToItsEnd {
        /// End of the slot.
        offered: Seconds,
        /// End wanted.
        wanted: Seconds,
    },
    /// The list has no slot of this number.
    #[error("there is no slot number {index}")]
    NoSuchSlot {
        /// The number asked for, from 0.
        index: usize,
    },
}

impl Slot {
    /// An idle rectangle in front of a planned task: sold whole or not at all, at the best-effort
    /// rate (Singh 2008, chapter 3).
    #[must_use]
    pub fn hole(start: Seconds, nodes: Nodes, end: Seconds) -> Self {
        Self {
            start,
            nodes,
            end,
            unit_price: 1.0,
            fixed_price: 0.0,
            divisible: false,
            extensible: false,
        }
    }

    /// Idle nodes with nothing planned after them: divisible and extensible, at the best-effort
    /// rate (Singh 2008, chapter 3).
    #[must_use]
    pub fn edge(start: Seconds, nodes: Nodes) -> Self {
        Self {
            end: Seconds::FAR,
            divisible: true,
            extensible: true,
            ..Self::hole(start, nodes, Seconds::FAR)
        }
    }

    /// How long the nodes are offered.
    #[must_use]
    pub fn duration(&self) -> Seconds {
        self.end - self.start
    }

    /// The slot as a piece: all of its nodes for all of the offered time.
    #[must_use]
    pub fn whole(&self) -> Piece {
        Piece {
            start: self.start,
            nodes: self.nodes,
            end: self.end,
        }
    }

    /// Whether the nodes can be had until `end`.
    #[must_use]
    pub fn lasts_until(&self, end: Seconds) -> bool {
        self.extensible || self.end >= end
    }

    /// What `piece` costs in SU (Singh 2008, Table 1): `n_k · d_k · c + f`.
    ///
    /// # Errors
    /// [`PurchaseError`] names the rule that forbids the purchase.
    pub fn price_of(&self, piece: Piece) -> Result<f64, PurchaseError> {
        if piece.nodes.0 == 0 || piece.end <= piece.start {
            return Err(PurchaseError::Empty {
                nodes: piece.nodes,
                start: piece.start,
                end: piece.end,
            });
        }
        if piece.end >= Seconds::FAR {
            return Err(PurchaseError::Endless);
        }
        if piece.nodes > self.nodes {
            return Err(PurchaseError::TooWide {
                offered: self.nodes,
                wanted: piece.nodes,
            });
        }
        if piece.start < self.start {
            return Err(PurchaseError::TooEarly {
                offered: self.start,
                wanted: piece.start,
            });
        }
        if !self.lasts_until(piece.end) {
            return Err(PurchaseError::TooLate {
                offered: self.end,
                wanted: piece.end,
            });
        }
        if !self.divisible {
            self.check_undivided(piece)?;
        }
        Ok(self.charge(piece))
    }

    /// What is left of the slot when `piece`, which lies within it, is taken (Singh 2008, Figure
    /// 3): the unused nodes, the time before and the time after.
    ///
    /// The time before ends where something is planned, so it becomes a hole (AMB-10); the others
    /// stay as the slot was. Of an extensible slot there is always a time after, of at least
    /// [`EXTENSION_MARGIN`].
    pub fn left_overs(self, piece: Piece) -> impl Iterator<Item = Self> {
        let unused = (self.nodes > piece.nodes).then(|| Self {
            nodes: Nodes(self.nodes.0 - piece.nodes.0),
            end: self.end_after(piece.end),
            ..self
        });
        let before = (piece.start > self.start).then_some(Self {
            nodes: piece.nodes,
            end: piece.start,
            divisible: false,
            extensible: false,
            ..self
        });
        let after = (self.end_after(piece.end) > piece.end).then(|| Self {
            start: piece.end,
            nodes: piece.nodes,
            end: self.end_after(piece.end),
            ..self
        });
        [unused, before, after].into_iter().flatten()
    }

    fn end_after(&self, taken: Seconds) -> Seconds {
        if self.extensible {
            self.end.max(taken + EXTENSION_MARGIN)
        } else {
            self.end
        }
    }

    fn check_undivided(&self, piece: Piece) -> Result<(), PurchaseError> {
        if piece.nodes != self.nodes {
            return Err(PurchaseError::NotAllNodes {
                offered: self.nodes,
                wanted: piece.nodes,
            });
        }
        if piece.start != self.start {
            return Err(PurchaseError::NotFromItsStart {
                offered: self.start,
                wanted: piece.start,
            });
        }
        if piece.end < self.end {
            return Err(PurchaseError::NotToItsEnd {
                offered: self.end,
                wanted: piece.end,
            });
        }
        Ok(())
    }

    fn charge(&self, piece: Piece) -> f64 {
        f64::from(piece.nodes.0) * (piece.end - piece.start).hours() * self.unit_price
            + self.fixed_price
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the whole of a slot costs.
    fn cost(slot: Slot) -> f64 {
        slot.charge(slot.whole())
    }

    fn hours(count: i64) -> Seconds {
        Seconds::HOUR * count
    }

    /// Four nodes on hours 2 to 6, 1.5 SU a node-hour and 7 SU a purchase.
    fn offered(divisible: bool, extensible: bool) -> Slot {
        Slot {
            unit_price: 1.5,
            fixed_price: 7.0,
            divisible,
            extensible,
            ..Slot::hole(hours(2), Nodes(4), hours(6))
        }
    }

    fn piece(start: i64, nodes: u32, end: i64) -> Piece {
        Piece {
            start: hours(start),
            nodes: Nodes(nodes),
            end: hours(end),
        }
    }

    #[test]
    fn a_slot_costs_its_node_hours_and_its_fixed_price() {
        // Singh 2008, eq. 1.
        assert_eq!(cost(offered(false, false)), 4.0 * 4.0 * 1.5 + 7.0);
        assert_eq!(cost(Slot::hole(hours(0), Nodes(3), hours(2))), 6.0);
    }

    #[test]
    fn a_hole_is_sold_whole_or_not_at_all() {
        // Singh 2008, Table 1, first row.
        let slot = offered(false, false);
        assert_eq!(slot.price_of(piece(2, 4, 6)), Ok(31.0));
        assert_eq!(
            slot.price_of(piece(2, 3, 6)),
            Err(PurchaseError::NotAllNodes {
                offered: Nodes(4),
                wanted: Nodes(3)
            })
        );
        assert_eq!(
            slot.price_of(piece(3, 4, 6)),
            Err(PurchaseError::NotFromItsStart {
                offered: hours(2),
                wanted: hours(3)
            })
        );
        assert_eq!(
            slot.price_of(piece(2, 4, 5)),
            Err(PurchaseError::NotToItsEnd {
                offered: hours(6),
                wanted: hours(5)
            })
        );
        assert_eq!(
            slot.price_of(piece(2, 4, 7)),
            Err(PurchaseError::TooLate {
                offered: hours(6),
                wanted: hours(7)
            })
        );
    }

    #[test]
    fn an_indivisible_extensible_slot_is_sold_whole_or_longer() {
        // Singh 2008, Table 1, second row.
        let slot = offered(false, true);
        assert_eq!(slot.price_of(piece(2, 4, 6)), Ok(31.0));
        assert_eq!(slot.price_of(piece(2, 4, 10)), Ok(4.0 * 8.0 * 1.5 + 7.0));
        assert!(matches!(
            slot.price_of(piece(2, 4, 5)),
            Err(PurchaseError::NotToItsEnd { .. })
        ));
        assert!(matches!(
            slot.price_of(piece(2, 1, 10)),
            Err(PurchaseError::NotAllNodes { .. })
        ));
    }

    #[test]
    fn a_divisible_bounded_slot_is_sold_in_parts_within_its_bounds() {
        // Singh 2008, Table 1, third row.
        let slot = offered(true, false);
        assert_eq!(slot.price_of(piece(3, 2, 5)), Ok(2.0 * 2.0 * 1.5 + 7.0));
        assert_eq!(
            slot.price_of(piece(1, 2, 5)),
            Err(PurchaseError::TooEarly {
                offered: hours(2),
                wanted: hours(1)
            })
        );
        assert!(matches!(
            slot.price_of(piece(3, 2, 7)),
            Err(PurchaseError::TooLate { .. })
        ));
    }

    #[test]
    fn a_divisible_extensible_slot_has_no_upper_end() {
        // Singh 2008, Table 1, fourth row.
        let slot = offered(true, true);
        assert_eq!(slot.price_of(piece(5, 1, 100)), Ok(95.0 * 1.5 + 7.0));
        assert_eq!(slot.price_of(piece(8, 1, 9)), Ok(1.5 + 7.0));
        assert_eq!(
            slot.price_of(piece(5, 5, 6)),
            Err(PurchaseError::TooWide {
                offered: Nodes(4),
                wanted: Nodes(5)
            })
        );
    }

    #[test]
    fn nothing_and_eternity_are_not_for_sale() {
        let slot = offered(true, true);
        assert!(matches!(
            slot.price_of(piece(3, 0, 4)),
            Err(PurchaseError::Empty { .. })
        ));
        assert!(matches!(
            slot.price_of(piece(4, 1, 4)),
            Err(PurchaseError::Empty { .. })
        ));
        let endless = Piece {
            end: Seconds::FAR,
            ..piece(3, 1, 4)
        };
        assert_eq!(slot.price_of(endless), Err(PurchaseError::Endless));
    }

    #[test]
    fn one_slot_leaves_up_to_three_and_only_the_time_before_becomes_a_hole() {
        // Singh 2008, Figure 3, and AMB-10.
        let slot = Slot::edge(hours(1), Nodes(5));
        let left: Vec<Slot> = slot.left_overs(piece(3, 2, 4)).collect();
        assert_eq!(
            left,
            [
                Slot::edge(hours(1), Nodes(3)),
                Slot::hole(hours(1), Nodes(2), hours(3)),
                Slot::edge(hours(4), Nodes(2)),
            ]
        );
        let whole = offered(false, false);
        assert_eq!(whole.left_overs(whole.whole()).count(), 0);
    }

    #[test]
    fn an_extensible_slot_with_an_offered_end_is_extended_slightly_past_what_is_taken() {
        // Singh 2008, Figure 2: extensible slots are kept until slightly past the task.
        let slot = offered(true, true);
        let left: Vec<Slot> = slot.left_overs(piece(2, 4, 9)).collect();
        assert_eq!(left.len(), 1);
        assert_eq!(left[0].start, hours(9));
        assert_eq!(left[0].end, hours(9) + EXTENSION_MARGIN);
        assert!(left[0].extensible);
    }
}
