//! EASY backfilling at more than 1 M jobs/s, however deep the queue is. The core under
//! [`crate::scheduling::queue`] is slower, because its pass looks at every waiting job
//! (`benches/README.md` has the figures of both).
//!
//! First come, first served; a job may pass others if it does not delay the first of the queue. The
//! rules are those of `easy-backfilling`: all events of a second come first, then one pass. The
//! head starts while it fits. When it does not, its start is the earliest time at which it fits if
//! every running job takes its estimate (the "shadow"). Jobs behind it start, in order, if they end
//! by then or leave the head its nodes. Between two ends nothing improves for jobs that were passed
//! over once, so only new jobs are looked at then.

use super::waiting::{BackfillSpace, WaitingJobs};
use super::{Listener, StreamRequest, StreamScheduler};
use crate::kernel::Agenda;
use crate::scheduling::queue::PlannedEnds;
use crate::units::{Nodes, Seconds};

/// The engine; see the module for its rules.
pub struct EasyStream {
    now: Seconds,
    idle: u32,
    waiting: WaitingJobs,
    running: Agenda<Booked>,
    booked: PlannedEnds,
    /// The start of the head and the nodes that it leaves; `None` if not computed since the last
    /// end.
    shadow: Option<(Seconds, u32)>,
    /// Jobs from this place on have not been looked at yet.
    unseen: usize,
}

/// The nodes of a running job, and how long it may hold them.
#[derive(Clone, Copy, Debug)]
struct Booked {
    until: Seconds,
    nodes: u32,
}

impl EasyStream {
    /// An empty machine.
    #[must_use]
    pub fn new(nodes: Nodes) -> Self {
        Self {
            now: Seconds::ZERO,
            idle: nodes.0,
            waiting: WaitingJobs::default(),
            running: Agenda::default(),
            booked: PlannedEnds::default(),
            shadow: None,
            unseen: 0,
        }
    }

    /// Processes every second before `until`, and the ends of `until`.
    fn advance(&mut self, until: Seconds, listener: &mut impl Listener) {
        while let Some(next) = self.running.next_time().filter(|next| *next <= until) {
            self.now = next;
            while let Some((_, booked)) = self.running.pop_before(next + Seconds(1)) {
                self.idle += booked.nodes;
                self.booked.remove(booked.until, booked.nodes);
                self.shadow = None;
            }
            if next < until {
                self.pass(listener);
            }
        }
        self.now = until;
    }

    fn start(&mut self, place: usize, listener: &mut impl Listener) {
        let request = self.waiting.take(place);
        let booked = Booked {
            until: self.now + request.estimate,
            nodes: request.nodes.0,
        };
        self.idle -= booked.nodes;
        self.running.push(self.now + request.runtime, 0, booked);
        self.booked.insert(booked.until, booked.nodes);
        listener.started(&request, self.now);
    }

    fn pass(&mut self, listener: &mut impl Listener) {
        if self.shadow.is_none() {
            while let Some(head) = self.waiting.head()
                && self.waiting.request(head).nodes.0 <= self.idle
            {
                self.start(head, listener);
            }
            self.waiting.tidy();
            let Some(head) = self.waiting.head() else {
                self.unseen = 0;
                return;
            };
            let wanted = self.waiting.request(head).nodes.0;
            let place = self.booked.room_for(wanted, self.idle, self.now);
            // A job that is no wider than the machine fits once all others have ended.
            self.shadow = Some(place.unwrap_or((Seconds::FAR, 0)));
            self.unseen = head + 1;
        }
        let Some((shadow, mut extra)) = self.shadow else {
            return;
        };
        while self.idle > 0 {
            let space = BackfillSpace {
                idle: self.idle,
                span: shadow - self.now,
                extra,
            };
            let Some(place) = self.waiting.first_within(self.unseen, space) else {
                break;
            };
            let request = self.waiting.request(place);
            if request.estimate > space.span {
                extra -= request.nodes.0;
            }
            self.start(place, listener);
            self.unseen = place + 1;
        }
        self.shadow = Some((shadow, extra));
        self.unseen = self.waiting.past();
    }
}

impl StreamScheduler for EasyStream {
    fn submit(&mut self, request: StreamRequest, listener: &mut impl Listener) {
        if request.submit > self.now {
            self.pass(listener);
            self.advance(request.submit, listener);
        }
        self.waiting.push(request);
    }

    fn finish(&mut self, listener: &mut impl Listener) {
        self.pass(listener);
        self.advance(Seconds::FAR, listener);
    }
}
