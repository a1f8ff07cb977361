//! Rules of a list of slots: the order of equal starts, the use of surplus nodes, and merging.

use serde::{Deserialize, Serialize};

use crate::plan::Slot;
use crate::units::{Nodes, Seconds};

/// The readings of ALG-1 that the thesis leaves open; the defaults are those of docs/decisions.md.
/// The printed listing merges nothing; merging is the default because without it nothing comes near
/// the printed numbers (AMB-6).
///
/// Stored specifications name every field: a default that changes must not give an old one another
/// meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct SlotRules {
    /// Which of the slots with the same start is tried first (AMB-5).
    pub equal_starts: EqualStarts,
    /// Which slot of a stack is only partly used (AMB-5b).
    pub surplus: Surplus,
    /// Whether free slots of the same start, end and unit price, and without a fixed price, become
    /// one slot (AMB-6; default yes, though the listing does not say so).
    ///
    /// Without it rectangles only ever get smaller: over the log of CTC SP2, with exact runtimes
    /// and hourly samples, 99 % of the slots come to be one node wide and 550 are advertised on
    /// average (SDSC SP2: 385). With it 38 are (15), of all widths; the thesis reports 27 (14).
    pub merge_identical: bool,
    /// Shorter slots exist but are not advertised (AMB-8; default none).
    pub minimum_duration: Seconds,
}

impl Default for SlotRules {
    fn default() -> Self {
        Self {
            equal_starts: EqualStarts::default(),
            surplus: Surplus::default(),
            merge_identical: true,
            minimum_duration: Seconds::ZERO,
        }
    }
}

/// The order of slots that start at the same time (AMB-5). Ties go by insertion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EqualStarts {
    /// Ascending ends.
    #[default]
    ShortestFirst,
    /// Descending ends.
    LongestFirst,
}

/// Which slot of a stack keeps the nodes that a task does not need (AMB-5b).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surplus {
    /// The one found last: slots are used up in the order of discovery, the anchor first, then its
    /// predecessors backwards.
    #[default]
    FoundLast,
    /// Extensible ones: bounded slots are used up before them, each kind in the order of discovery.
    Extensible,
}

/// Whether two slots differ in their nodes only.
pub(super) fn are_twins(one: &Slot, other: &Slot) -> bool {
    Slot {
        nodes: other.nodes,
        ..*one
    } == *other
}

/// Gives the nodes of each slot without a fixed price to the first of its twins in front of it; the
/// slots are sorted by key. How many are left, at the front.
pub(super) fn merge_twins(slots: &mut [Slot], rules: SlotRules) -> usize {
    let mut kept = 0;
    for index in 0..slots.len() {
        let slot = slots[index];
        let twin = if slot.fixed_price == 0.0 {
            let key = rules.key(&slot);
            let equals = slots[..kept].iter_mut().rev();
            equals
                .take_while(|other| rules.key(other) == key)
                .find(|other| are_twins(other, &slot))
        } else {
            None
        };
        match twin {
            Some(twin) => twin.nodes = Nodes(twin.nodes.0 + slot.nodes.0),
            None => {
                slots[kept] = slot;
                kept += 1;
            }
        }
    }
    kept
}

impl SlotRules {
    pub(super) fn key(self, slot: &Slot) -> (Seconds, Seconds) {
        match self.equal_starts {
            EqualStarts::ShortestFirst => (slot.start, slot.end),
            EqualStarts::LongestFirst => (slot.start, -slot.end),
        }
    }
}
