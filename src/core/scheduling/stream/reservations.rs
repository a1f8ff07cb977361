//! Fixed starts: a request is granted exactly the window that it asks for, or nothing.

use super::{Listener, StreamRequest, StreamScheduler};
use crate::kernel::Agenda;
use crate::plan::Profile;
use crate::units::{Nodes, Seconds};

/// Admission of reservations that start a fixed lead after their submission. The nodes of a
/// reservation that ends early are free from then on.
pub struct ReservationStream {
    free: Profile,
    lead: Seconds,
    ends: Agenda<Tail>,
}

/// The nodes that an early end frees.
#[derive(Clone, Copy, Debug)]
struct Tail {
    until: Seconds,
    nodes: u32,
}

impl ReservationStream {
    /// An empty machine; requests want to start `lead` after their submission.
    #[must_use]
    pub fn new(nodes: Nodes, lead: Seconds) -> Self {
        Self {
            free: Profile::new(nodes.0, Seconds::ZERO),
            lead,
            ends: Agenda::default(),
        }
    }
}

impl StreamScheduler for ReservationStream {
    #[inline]
    fn submit(&mut self, request: StreamRequest, listener: &mut impl Listener) {
        while let Some((time, tail)) = self.ends.pop_before(request.submit + Seconds(1)) {
            self.free.release(time, tail.until, tail.nodes);
        }
        self.free.forget_some_before(request.submit);
        let start = request.submit + self.lead;
        let end = start + request.estimate;
        if !self.free.is_free(start, end, request.nodes.0) {
            listener.refused(&request);
            return;
        }
        self.free.reserve(start, end, request.nodes.0);
        if request.runtime < request.estimate {
            let tail = Tail {
                until: end,
                nodes: request.nodes.0,
            };
            self.ends.push(start + request.runtime, 0, tail);
        }
        listener.started(&request, start);
    }

    fn finish(&mut self, _listener: &mut impl Listener) {}
}
