//! What the user asked for, once or twice.

use super::{Build, NamedPredictor, Predictor, Reads, Submission};
use crate::units::Seconds;

/// The request.
pub(super) const REQUESTED: NamedPredictor = NamedPredictor {
    name: "request",
    summary: "what the user asked for",
    reads: Reads::Nothing,
    is_never_short: true,
    build: Build::Sees(|_| Box::new(Multiple(1))),
};

/// Twice the request, which is not capped (Gaussier 2015).
pub(super) const DOUBLE_REQUEST: NamedPredictor = NamedPredictor {
    name: "double-request",
    summary: "twice what the user asked for",
    reads: Reads::Nothing,
    is_never_short: true,
    build: Build::Sees(|_| Box::new(Multiple(2))),
};

#[derive(Clone)]
struct Multiple(i64);

impl Predictor for Multiple {
    fn predict(&mut self, submission: &Submission) -> Seconds {
        submission.request * self.0
    }

    fn boxed(&self) -> Box<dyn Predictor> {
        Box::new(self.clone())
    }
}
