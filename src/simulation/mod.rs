//! The simulation room.
