//! What the actors of a sweep tell each other. What the writer of the store is told belongs to the
//! store.

use std::time::Duration;

use kameo::actor::ActorRef;

use super::coordinator::Coordinator;
use crate::sweep::results::SinkError;

/// To a worker: tasks to do. It answers each with one [`Report`].
pub(super) struct Work {
    pub(super) pieces: Vec<Piece>,
    /// How long to wait before the first one.
    pub(super) pause: Duration,
    pub(super) answer_to: ActorRef<Coordinator>,
}

/// A part of the work. Tasks go by their places in the list of the sweep's tasks.
pub(super) enum Piece {
    /// Simulate this task, unless somebody else does or did.
    Simulate(usize),
    /// Enter this task as failed: its simulation took another worker's thread down with it.
    EnterFailure {
        place: usize,
        error: String,
        wall: Duration,
    },
}

impl Piece {
    pub(super) fn place(&self) -> usize {
        match self {
            Self::Simulate(place) | Self::EnterFailure { place, .. } => *place,
        }
    }
}

/// To the coordinator: what a worker did with the pieces of one [`Work`], in their order.
#[derive(Default)]
pub(super) struct Report {
    /// The number of the worker.
    pub(super) worker: usize,
    pub(super) ended: Vec<Ended>,
    /// The simulation whose panic ended the worker's thread.
    pub(super) panicked: Option<Panicked>,
    /// Why no result can be kept any more.
    pub(super) stopped: Option<SinkError>,
    /// Why the worker has no thread.
    pub(super) no_thread: Option<String>,
}

/// A simulation that panicked.
pub(super) struct Panicked {
    pub(super) place: usize,
    pub(super) wall: Duration,
    pub(super) error: String,
}

/// What became of one task.
pub(super) struct Ended {
    pub(super) place: usize,
    pub(super) how: How,
    /// How long it took.
    pub(super) wall: Duration,
}

pub(super) enum How {
    /// Its result is handed over.
    Finished,
    /// Its failure is handed over.
    Failed(String),
    /// Another program had done it; its points are part of this run.
    Adopted,
    /// Another program has it under way.
    Elsewhere,
    /// It was not begun.
    Left,
}

/// To whoever watches.
pub(super) enum Watch {
    /// The task at this place begins, and perhaps small ones behind it.
    Begun(usize),
    /// These came to an end, or were left.
    Ended(Vec<Ended>),
}
