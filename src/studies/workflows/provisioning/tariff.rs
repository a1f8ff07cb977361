//! The prices of advertised slots: c, f, b and e of a slot, and surcharges by the hour of the day.
//!
//! The tariff is the same at all sites; c is a multiple of what best effort costs there. It says
//! what is offered and for how much; the plan says which nodes are free.

use serde::{Deserialize, Serialize};

use bookahead_core::plan::{Piece, Slot};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};

use super::{Advertised, Application};

const DAY: i64 = 86_400;

/// c, f, b and e of advertised slots (Singh 2008, eqs. 1 and 2, Table 1), and a price by hour of
/// the day, which the thesis does not have.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotTariff {
    /// c: service units for one node and one hour, outside of the hours of the day, where best
    /// effort costs one; a multiple of what it costs elsewhere.
    pub unit_price: f64,
    /// f: service units for a slot, whatever part of it is used.
    pub fixed_price: f64,
    /// By what c is multiplied during the day.
    pub day_factor: f64,
    /// The hour at which the day begins; time 0 of a trace is a midnight.
    pub day_begins: u8,
    /// The hour at which it ends, after it begins.
    pub day_ends: u8,
    /// b of slots in front of something planned.
    pub holes: HoleSale,
    /// e of slots with nothing planned after them.
    pub edges: EdgeSale,
}

/// b: how a slot is sold in front of something planned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HoleSale {
    /// Whole or not at all.
    #[default]
    Whole,
    /// In parts, as slots at the end of the plan are.
    Parts,
}

/// e: how a slot is sold that has nothing planned after it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EdgeSale {
    /// For longer than it is offered, too.
    #[default]
    Extensible,
    /// Until the end of what is advertised.
    Bounded,
}

impl Default for SlotTariff {
    /// The rate of best effort, and what is sold whole or longer as in the thesis.
    fn default() -> Self {
        Self {
            unit_price: 1.0,
            fixed_price: 0.0,
            day_factor: 1.0,
            day_begins: 8,
            day_ends: 18,
            holes: HoleSale::default(),
            edges: EdgeSale::default(),
        }
    }
}

impl SlotTariff {
    /// Whether this is the tariff of the thesis.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// A slot as it is offered.
    #[must_use]
    pub fn offered(&self, slot: Slot) -> Slot {
        Slot {
            unit_price: slot.unit_price * self.unit_price,
            fixed_price: slot.fixed_price + self.fixed_price,
            divisible: slot.divisible || self.sells_parts(),
            extensible: slot.extensible && self.edges == EdgeSale::Extensible,
            ..slot
        }
    }

    /// Slots as they are offered for an application, in the same order: c is a multiple of what
    /// best effort costs at the site.
    #[must_use]
    pub fn all_offered(&self, slots: &[Advertised], application: &Application) -> Vec<Advertised> {
        let offered = slots.iter().map(|&Advertised { site, slot }| {
            let mut slot = self.offered(slot);
            slot.unit_price *= application.unit_price(site);
            Advertised { site, slot }
        });
        offered.collect()
    }

    /// Whether parts of every slot are sold.
    #[must_use]
    pub fn sells_parts(&self) -> bool {
        self.holes == HoleSale::Parts
    }

    /// What a second of the day costs more than c, in units of c; `None` where all hours cost the
    /// same.
    #[must_use]
    pub fn day_surcharge(&self) -> Option<f64> {
        (self.day_factor != 1.0).then_some(self.day_factor - 1.0)
    }

    /// How much of `[start, end)` lies in the hours of the day.
    #[must_use]
    pub fn day_time(&self, start: Seconds, end: Seconds) -> Seconds {
        let begins = i64::from(self.day_begins) * Seconds::HOUR.0;
        let length = i64::from(self.day_ends) * Seconds::HOUR.0 - begins;
        let until = |time: i64| {
            time.div_euclid(DAY) * length + (time.rem_euclid(DAY) - begins).clamp(0, length)
        };
        Seconds(until(end.0) - until(start.0))
    }

    /// Node-seconds of a piece in the hours of the day.
    #[must_use]
    pub fn day_nodes(&self, nodes: Nodes, start: Seconds, end: Seconds) -> NodeSeconds {
        nodes.for_span(self.day_time(start, end))
    }

    /// The mean of what these pieces of a slot cost a node and hour, by `c` of the slot as it is
    /// offered.
    #[must_use]
    pub fn mean_price<'p>(&self, slot: &Slot, pieces: impl Iterator<Item = &'p Piece>) -> f64 {
        let Some(surcharge) = self.day_surcharge() else {
            return slot.unit_price;
        };
        let (mut all, mut by_day) = (0, 0);
        for piece in pieces {
            all += piece.nodes.for_span(piece.end - piece.start).0;
            by_day += self.day_nodes(piece.nodes, piece.start, piece.end).0;
        }
        slot.unit_price * (1.0 + surcharge * by_day as f64 / (all as f64).max(1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_night_and_a_day_by_hand() {
        let tariff = SlotTariff {
            unit_price: 2.0,
            fixed_price: 3.0,
            day_factor: 1.5,
            holes: HoleSale::Parts,
            edges: EdgeSale::Bounded,
            ..SlotTariff::default()
        };
        let hour = |hours: i64| Seconds::HOUR * hours;
        // Of six in the morning until ten in the evening of the next day ten hours twice.
        assert_eq!(tariff.day_time(hour(6), hour(46)), hour(20));
        assert_eq!(tariff.day_time(hour(-10), hour(9)), hour(5));
        let hole = Slot::hole(hour(6), Nodes(4), hour(10));
        let offered = tariff.offered(hole);
        assert!(offered.divisible && !offered.extensible);
        assert_eq!((offered.unit_price, offered.fixed_price), (2.0, 3.0));
        assert!(!tariff.offered(Slot::edge(hour(6), Nodes(4))).extensible);
        // Half of it lies in the day.
        assert_eq!(tariff.mean_price(&offered, [hole.whole()].iter()), 2.5);
        assert_eq!(SlotTariff::default().offered(hole), hole);
    }

    proptest! {
        #[test]
        fn day_time_is_that_of_counting_hours(
            start in -200_i64..200, length in 0_i64..100, begins in 0_u8..23, more in 1_u8..24,
        ) {
            let tariff = SlotTariff {
                day_begins: begins,
                day_ends: (begins + more).min(24),
                ..SlotTariff::default()
            };
            let is_day = |hour: &i64| {
                let hour = hour.rem_euclid(24);
                (i64::from(tariff.day_begins)..i64::from(tariff.day_ends)).contains(&hour)
            };
            let counted = (start..start + length).filter(is_day).count() as i64;
            let time = tariff.day_time(Seconds::HOUR * start, Seconds::HOUR * (start + length));
            prop_assert_eq!(time, Seconds::HOUR * counted);
        }
    }
}
