//! Slots that a machine advertises: the free rectangles beside what is planned, who takes of them,
//! and the statistics of what is on offer.

mod machine;
mod rectangle_site;
mod statistics;
pub mod study;

pub use machine::{SlotMachine, SlotSource, SlotStudyRun, SlotStudySettings, slot_scene};
pub use rectangle_site::RectangleSite;
pub use statistics::{Quantiles, SlotSample, SlotStatistics};
