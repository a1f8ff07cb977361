//! Plans of nodes over time: the counted profile, the node-mapped plan and the list of free slots.
//!
//! A plan says where a request fits and remembers what was promised. It does not decide whether a
//! promise is worth giving (that is [`crate::scheduling`]), and it does not know what really runs.

mod node_plan;
mod node_set;
mod profile;
mod shelf;
mod slot;
mod slot_list;

pub use node_plan::{NodePlan, PlanSweep, Reservation};
pub use node_set::NodeSet;
pub use profile::{Fit, Found, Profile};
pub use shelf::{ShelfFit, ShelfRule, shelf_height};
pub use slot::{EXTENSION_MARGIN, Piece, PurchaseError, Slot};
pub use slot_list::{
    ADVERTISING_HORIZON, EqualStarts, Placement, Purchase, SlotList, SlotRules, Surplus,
};
