//! Machines that take reservations, and what else can be had in advance.
//!
//! * A *reservation request* wants nodes at a fixed start, or at one that it chooses from
//!   [`Offer`](replanning::Offer)s: an *offer* is a start with its price, the delay that it
//!   inflicts on waiting jobs. A [`ReplanningMachine`](replanning::ReplanningMachine) plans its
//!   queue anew at every event and grants or refuses by a rule of
//!   [`Admission`](replanning::Admission).
//! * A *slot* is a rectangle of free nodes and time that a machine advertises
//!   ([`RectangleSite`](slots::RectangleSite)).
//! * A *packing* places a list of jobs on a machine, all at once ([`pack`](packing::pack)): what
//!   plans without releases and deadlines are measured by.
//! * A *virtual reservation* is a padded job in the queue that is meant to run at the wanted time
//!   ([`VirtualStudy`](virtual_reservations::VirtualStudy) compares both).
//!
//! ```
//! use bookahead_core::units::{Nodes, Seconds};
//! use bookahead_core::workload::{Job, JobId, RequestId, ReservationRequest, WantedStart};
//! use bookahead_reservations::replanning::{Admission, ReplanningMachine, ReplanningSettings};
//!
//! let settings = ReplanningSettings {
//!     admission: Admission::Move,
//!     ..ReplanningSettings::default()
//! };
//! let mut machine = ReplanningMachine::replanning(Nodes(4), settings);
//! machine.submit([
//!     Job::rigid(JobId(0), Seconds(0), Nodes(4), Seconds(10)),
//!     Job::rigid(JobId(1), Seconds(1), Nodes(3), Seconds(5)),
//! ]);
//! // The second job was to run from 10 to 15 s, and gives way.
//! machine.request([ReservationRequest {
//!     id: RequestId(0),
//!     trace_number: 0,
//!     user: None,
//!     submit: Seconds(2),
//!     nodes: Nodes(2),
//!     duration: Seconds(4),
//!     runtime: Seconds(4),
//!     wanted: WantedStart::At(Seconds(12)),
//! }]);
//! machine.advance(Seconds::FAR);
//! assert_eq!(machine.take_reservation_outcomes()[0].start, Some(Seconds(12)));
//! assert_eq!(machine.take_outcomes()[1].start, Some(Seconds(16)));
//! ```

// One choice among alternatives with a cost and a time each.
pub mod selection;

// A machine that plans its queue anew at every event, and prices reservations.
pub mod replanning;

// A list of jobs that is packed as rectangles into a strip.
pub mod packing;

// Slots that machines advertise.
pub mod slots;

// Reservations that are held by padded jobs.
pub mod virtual_reservations;
