//! A provider as a broker meets it: it advertises slots or answers queries, takes reservations, and runs jobs from its queue.

use super::Provider;
use crate::plan::{Piece, Slot};
use crate::scheduling::JobOutcome;
use crate::scheduling::reserving::{Offer, ReservingMachine};
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::{Job, RequestId};

/// A site: a machine, its queue and what it has sold. Cloning it forks the simulation.
#[derive(Clone)]
pub enum ProviderSite {
    /// It plans its queue anew at every event.
    Planning(Box<PlanningSite>),
}

/// A site that plans its queue anew at every event.
#[derive(Clone)]
pub struct PlanningSite {
    /// The machine.
    pub machine: ReservingMachine,
    /// What it offers.
    pub provider: Provider,
}

/// What a broker may ask of a site.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteQuestion {
    /// Let time pass to the end of this second, with these jobs of others arriving on the way (which are submitted by then).
    PassTo {
        /// The second.
        time: Seconds,
        /// Jobs of others.
        arrivals: Vec<Job>,
    },
    /// Which slots are there? (§19)
    Advertise,
    /// Which starts are there, not before `start`, and at what price? (query form (19))
    QueryFrom {
        /// The earliest start.
        start: Seconds,
        /// Processors.
        nodes: Nodes,
        /// How long.
        duration: Seconds,
    },
    /// Book a piece of an advertised slot.
    BuyPiece {
        /// The number under which it is booked.
        id: RequestId,
        /// The slot as it was advertised.
        slot: Slot,
        /// The piece.
        piece: Piece,
    },
    /// Book a start that was offered, if it still costs no more.
    Reserve {
        /// The number under which it is booked.
        id: RequestId,
        /// Start.
        start: Seconds,
        /// Processors.
        nodes: Nodes,
        /// How long.
        duration: Seconds,
        /// The externality price that was offered.
        price: NodeSeconds,
    },
    /// Give back what was booked and has not begun.
    Cancel(RequestId),
    /// What happened to jobs since the last such question, and when the next thing happens?
    Report,
}

/// What a site answers.
#[derive(Clone, Debug, PartialEq)]
pub enum SiteAnswer {
    /// It is done.
    Done,
    /// What was asked for is gone, or dearer, or cannot be.
    Gone,
    /// Slots, disjoint, by start.
    Slots(Vec<Slot>),
    /// Offers by start.
    Offers(Vec<Offer>),
    /// Jobs that became final.
    Report(Vec<JobOutcome>),
}
