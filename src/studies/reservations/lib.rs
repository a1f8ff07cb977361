//! Machines that take reservations.

pub mod replanning;
pub mod selection;
pub mod slots;
pub mod virtual_reservations;
