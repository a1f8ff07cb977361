//! Conservative backfilling where every job runs exactly as long as it said: nothing ever changes a plan, so the start is known
//! at the submission and there are no events.

use super::{Listener, StreamRequest, StreamScheduler};
use crate::plan::{Fit, Profile};
use crate::units::{Nodes, Seconds};

/// `heuristic-planning` for exact estimates: each job gets the earliest place that is left, for its run time.
pub struct ExactStream {
    free: Profile,
}

impl ExactStream {
    /// An empty machine.
    #[must_use]
    pub fn new(nodes: Nodes) -> Self {
        Self {
            free: Profile::new(nodes.0, Seconds::ZERO),
        }
    }
}

impl StreamScheduler for ExactStream {
    #[inline]
    fn submit(&mut self, request: StreamRequest, listener: &mut impl Listener) {
        self.free.forget_some_before(request.submit);
        let start = self.free.earliest_fit(Fit {
            from: request.submit,
            latest: Seconds::FAR,
            nodes: request.nodes.0,
            duration: request.runtime,
            own_start: None,
        });
        // A job that is not wider than the machine fits when everybody else has ended.
        let Some(start) = start else {
            listener.refused(&request);
            return;
        };
        self.free
            .reserve(start, start + request.runtime, request.nodes.0);
        listener.started(&request, start);
    }

    fn finish(&mut self, _listener: &mut impl Listener) {}
}
