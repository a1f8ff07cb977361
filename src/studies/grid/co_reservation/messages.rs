//! The messages between a broker and the clusters' reservation services, and events that happen to
//! a cluster.

use bookahead_core::workload::CoRequestId;

use bookahead_core::units::{Nodes, Seconds};

use crate::co_reservation::local::{
    BegunPart, ClusterId, LostPart, OutageEvent, PartOrder, Probe, ProbeAnswer, QueuedPart, Refusal,
};

/// From the broker to a cluster.
#[derive(Clone, Debug, PartialEq)]
pub enum Instruction {
    /// Which of these starts would you admit (step 4)?
    Probe {
        /// Which of the request's rounds of probes this is; its answer names it.
        round: u32,
        /// What is asked.
        probe: Probe,
    },
    /// Reserve a part (step 8).
    Reserve(PartOrder),
    /// Queue a part. That it begins is told by [`Answer::Begun`].
    Queue(QueuedPart),
    /// All parts of a request have begun: this one ends then.
    Proceed {
        /// The request.
        request: CoRequestId,
        /// The order that it was queued for.
        order: u32,
        /// When it ends.
        end: Seconds,
    },
    /// Give a part back (step 13).
    Cancel {
        /// The request.
        request: CoRequestId,
        /// The order that is taken back.
        order: u32,
    },
}

/// From a cluster to the broker.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// To a probe (step 7).
    Probed {
        /// The request.
        request: CoRequestId,
        /// Its round of probes.
        round: u32,
        /// What is admitted.
        offers: ProbeAnswer,
    },
    /// To an order to reserve (step 11).
    Reserved {
        /// The request.
        request: CoRequestId,
        /// The order.
        order: u32,
        /// Granted, or why not.
        verdict: Result<(), Refusal>,
    },
    /// To a cancellation: it is done, however often it is said (step 17).
    Cancelled {
        /// The request.
        request: CoRequestId,
        /// The order that was taken back.
        order: u32,
    },
    /// Unasked: a queued part has begun. It comes through, late perhaps.
    Begun(BegunPart),
    /// Unasked: a promised part is lost. The client's side watches its parts (Meltzer 2005, §7.4),
    /// so this comes through, late perhaps, whatever becomes of single messages.
    Lost(LostPart),
}

/// An envelope on its way.
#[derive(Clone, Debug, PartialEq)]
pub enum Envelope {
    /// To a cluster.
    ToCluster(ClusterId, Instruction),
    /// To the broker.
    ToBroker(ClusterId, Answer),
}

/// What is done to one cluster at one instant.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Something hits it.
    Outage(OutageEvent),
    /// It processes everything up to and at this instant, so that parts that cannot start are
    /// noticed.
    Settle,
    /// The broker's agent looks whether it answers.
    Poll,
    /// It tells the information service how many of its CPUs are free.
    Publish,
    /// It gets an envelope.
    Deliver(Instruction),
}

/// What came of an [`Command`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The answer to an envelope; `None` where it needs none, or the cluster is down.
    pub answer: Option<Answer>,
    /// Parts that were lost since the last report.
    pub lost: Vec<LostPart>,
    /// Queued parts that have begun since the last report.
    pub begun: Vec<BegunPart>,
    /// When the next one may begin, unless a message comes before; `None` where none waits.
    pub next_look: Option<Seconds>,
    /// CPUs that are free, where the cluster was to publish that and is up.
    pub published: Option<Nodes>,
    /// Whether it answered, where it was polled.
    pub answered_poll: Option<bool>,
}
