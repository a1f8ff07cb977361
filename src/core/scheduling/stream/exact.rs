//! Conservative backfilling where every job runs exactly as long as its estimate. Nothing ever
//! changes a plan, so a start is known at the submission and there are no events. Nothing becomes
//! free again either, so earlier placements bound later ones ([`Floors`]).

use super::floors::Floors;
use super::{Listener, StreamRequest, StreamScheduler};
use crate::plan::{Fit, Profile};
use crate::units::{Nodes, Seconds};

/// `heuristic-planning` for exact estimates: each job gets the earliest free place that is as long
/// as its run time.
pub struct ExactStream {
    free: Profile,
    floors: Floors,
    /// Whether the plan is so long that noting a floor costs less than the search that it saves.
    is_long: bool,
    submitted: u32,
}

/// Breakpoints of a long plan, and how often it is looked at.
const LONG: usize = 400;
const LOOK: u32 = 64;

impl ExactStream {
    /// An empty machine.
    #[must_use]
    pub fn new(nodes: Nodes) -> Self {
        Self {
            free: Profile::new(nodes.0, Seconds::ZERO),
            floors: Floors::default(),
            is_long: false,
            submitted: 0,
        }
    }
}

impl StreamScheduler for ExactStream {
    #[inline]
    fn submit(&mut self, request: StreamRequest, listener: &mut impl Listener) {
        self.free.forget_some_before(request.submit);
        self.submitted += 1;
        if self.submitted == LOOK {
            self.submitted = 0;
            self.is_long = self.free.len() > LONG;
        }
        let StreamRequest { nodes, runtime, .. } = request;
        let floor = self.floors.of(nodes, runtime);
        let start = self.free.earliest_fit(Fit {
            from: request.submit.max(floor),
            latest: Seconds::FAR,
            nodes: nodes.0,
            duration: runtime,
            own_start: None,
        });
        // A job that is no wider than the machine fits once all others have ended.
        let Some(start) = start else {
            listener.refused(&request);
            return;
        };
        self.free.reserve(start, start + runtime, nodes.0);
        if self.is_long && start > request.submit {
            self.floors.note(nodes, runtime, start);
        }
        listener.started(&request, start);
    }

    fn finish(&mut self, _listener: &mut impl Listener) {}
}
