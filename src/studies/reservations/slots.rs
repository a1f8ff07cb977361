//! Slots that a machine advertises: the free rectangles beside what is planned, who takes of them,
//! and the statistics of what is on offer.

mod rectangle_site;
mod statistics;
mod study;

pub use rectangle_site::RectangleSite;
pub use statistics::{Quantiles, SlotSample, SlotStatistics};
pub use study::{SlotMachine, SlotSource, SlotStudyRun, SlotStudySettings, slot_scene};
