//! The base of every simulation: the order of events, machines that virtual time passes over, and
//! how they are driven.
//!
//! A [`Machine`] holds the state of a simulation and processes its own events. [`Source`]s give it
//! input: clients submit jobs, an injector lets nodes fail. A machine that depends on others (a
//! broker on its clusters) asks [`Service`]s. Together they are a [`Scene`]. [`drive`] plays a
//! scene by plain calls; the laboratory plays the same scene by messages between actors, with the
//! same [`Clock`] and the same result.

mod agenda;
mod clock;
mod drive;
mod machine;
mod questions;
mod source;
mod stopwatch;

pub use agenda::Agenda;
pub use clock::{Clock, Pending, REACTION};
pub use drive::{NamedSource, Played, Scene, drive};
pub use machine::{Machine, NoService, Service, Step};
pub use questions::{Questions, ServiceChannel};
pub use source::{BoxedSource, Listed, Source};
pub use stopwatch::{Begun, Decision, DecisionTimes, Stopwatch};
