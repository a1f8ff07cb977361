//! The running jobs and what is to happen to them, which fixes what a pass may give.

use bookahead_core::kernel::Agenda;
use bookahead_core::scheduling::queue::{PlannedEnds, Room, View, Waiting};
use bookahead_core::units::Seconds;

use super::head::{HeadRules, Passing, ReservedStart};
use super::open_jobs::OpenJobs;
use super::{ComparedReservation, QueueRules};

/// What happens to a job, by its place in the order of submission.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// It has outlived its prediction.
    Expiry(u32),
    Submission(u32),
    End(u32),
}

impl QueueRules {
    /// In which order the events of one second come.
    fn class_of(self, event: Event) -> u8 {
        match (self, event) {
            (Self::Gaussier2015, Event::Expiry(_))
            | (Self::Tsafrir2007, Event::End(_))
            | (Self::Zhang2020, Event::Submission(_)) => 0,
            (Self::Gaussier2015, Event::Submission(_))
            | (Self::Tsafrir2007, Event::Expiry(_))
            | (Self::Zhang2020, Event::End(_)) => 1,
            (Self::Gaussier2015, Event::End(_))
            | (Self::Tsafrir2007, Event::Submission(_))
            | (Self::Zhang2020, Event::Expiry(_)) => 2,
        }
    }
}

/// The running jobs and pending events: everything that a pass changes beside the queue.
pub(super) struct Running {
    pub(super) rules: QueueRules,
    pub(super) compared: ComparedReservation,
    pub(super) head_rules: HeadRules,
    /// The start that the first of the queue was promised, where it keeps that.
    pub(super) kept: Option<(u32, Seconds)>,
    /// Whether jobs that have outlived their last prediction count as ending when they were planned
    /// to, and not now.
    pub(super) keeps_past_ends: bool,
    pub(super) now: Seconds,
    /// Nodes that may be used: see [`QueueRules`].
    pub(super) free: u32,
    /// Nodes of jobs that have outlived their last prediction.
    pub(super) overdue: u32,
    pub(super) open: OpenJobs,
    pub(super) ends: PlannedEnds,
    pub(super) events: Agenda<Event>,
    /// Jobs that were started now.
    pub(super) started: Vec<u32>,
    /// Whether the pass that is held has come to the first of the queue that does not fit.
    pub(super) has_head: bool,
}

impl Running {
    pub(super) fn enter(&mut self, time: Seconds, event: Event) {
        let class = self.rules.class_of(event);
        match event {
            Event::Expiry(job) => {
                self.events.push_ranked(time, class, u64::from(job), event);
            }
            Event::Submission(_) => self.events.push_next(time, class, event),
            // In the order of the starts.
            Event::End(_) => self.events.push(time, class, event),
        }
    }

    pub(super) fn begin(&mut self, waiting: &Waiting) {
        let job = waiting.job.0;
        let state = &mut self.open[job];
        state.start = self.now;
        let (prediction, runtime) = (state.prediction, state.job.runtime);
        self.free -= waiting.nodes.0;
        let until = self.now + prediction;
        self.ends.insert(until, waiting.nodes.0);
        if prediction < runtime {
            self.enter(until, Event::Expiry(job));
        }
        self.enter(self.now + runtime, Event::End(job));
        self.started.push(job);
    }

    fn reserve(&mut self, job: u32, start: Seconds) {
        let state = &mut self.open[job];
        let compared = self.compared.of(state.reserved, start);
        if compared != state.reserved {
            state.reserved = compared;
            state.reserved_at = Some(self.now);
        }
    }
}

impl Room for Running {
    const REMEMBERS_PLACES: bool = true;

    fn start(&mut self, waiting: &Waiting) {
        let is_first = !self.has_head;
        let every_first = self.compared == ComparedReservation::EveryFirst;
        if is_first && every_first && waiting.since < self.now {
            self.reserve(waiting.job.0, self.now);
        }
        self.begin(waiting);
    }

    fn hold(&mut self, head: &Waiting, view: &mut View) {
        self.has_head = true;
        let wanted = head.nodes.0;
        let free = self.free + self.overdue;
        let promised = self.kept.filter(|(job, _)| *job == head.job.0);
        let place = if let Some((_, start)) = promised {
            // What it leaves beside itself then may have changed.
            let then = free + self.ends.due(start);
            (start, then.saturating_sub(wanted))
        } else if free >= wanted {
            // A job that is planned to end in this very second counts as ended, too, though it is
            // not known yet whether it does.
            let due = self.ends.due(self.now);
            (self.now, free + due - wanted)
        } else {
            // A job that is not wider than the machine fits when all have ended.
            let earliest = match self.keeps_past_ends {
                true => Seconds(i64::MIN),
                false => self.now,
            };
            let place = self.ends.room_for(wanted, free, earliest);
            place.unwrap_or((Seconds::FAR, 0))
        };
        if self.head_rules.reserved_start == ReservedStart::Once {
            self.kept = Some((head.job.0, place.0));
        }
        self.reserve(head.job.0, place.0);
        let kept_free = match self.head_rules.passing {
            Passing::WithoutDelay => place,
            // By then at the latest it has ended, and nothing is left beside the place.
            Passing::BeforeStart => (place.0 - Seconds(1), 0),
        };
        view.look(self.now, self.free, kept_free);
    }
}
