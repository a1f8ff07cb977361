//! Parts that wait in queues, and then for each other (Meltzer 2005, §1: the barrier of DUROC).
//!
//! In each round clusters are drawn and a part is queued at each. A part that begins holds its CPUs
//! until all have begun: from then on the request runs. A round ends in vain when one has waited
//! longer for the others than it may: all are given back and queued anew, until it is too late to
//! be over by the deadline.

use bookahead_core::units::Seconds;

use super::plan::{self, shuffle_stream};
use super::{Effect, GrantedPart, Process, Rules, Stage};
use crate::co_reservation::broker::{Timer, Wait};
use crate::co_reservation::local::{BegunPart, QueuedPart};
use crate::co_reservation::messages::Instruction;
use crate::co_reservation::{AttemptFate, CoAttempt, CoVerdict};

/// A part in a queue, or on its CPUs.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueuedOrder {
    part: GrantedPart,
    /// Since when it holds them; `None` as long as it waits.
    since: Option<Seconds>,
}

impl Process {
    /// Parts are queued at the earliest start: one that is queued may begin at once.
    pub(super) fn await_earliest(
        &mut self,
        rules: &Rules,
        now: Seconds,
        effects: &mut Vec<Effect>,
    ) {
        let earliest = self.outcome.request.earliest;
        if earliest <= now {
            self.queue_parts(rules, now, effects);
            return;
        }
        self.stage = Stage::Queueing(Vec::new());
        self.wake_at(earliest, Wait::Queueing, effects);
    }

    /// Begins a round, if its parts may still start in time.
    pub(super) fn queue_parts(&mut self, rules: &Rules, now: Seconds, effects: &mut Vec<Effect>) {
        let latest = self.latest_begin();
        let is_first = self.rounds == 0;
        if now > latest || (now == latest && !is_first) {
            self.stage = Stage::Settled;
            self.outcome.answered = now;
            self.outcome.verdict = CoVerdict::Refused;
            return;
        }
        self.rounds += 1;
        let request = &self.outcome.request;
        let mut stream = shuffle_stream(rules, request, self.rounds);
        let drawn = plan::drawn(rules, request, &mut stream);
        // One part alone waits for nobody.
        let patience = match drawn.len() {
            0 | 1 => Seconds::ZERO,
            _ => rules.search.patience.of(request.duration),
        };
        let limit = request.duration + patience;
        let places = request.largest_first();
        let mut orders = Vec::with_capacity(drawn.len());
        for candidate in drawn {
            let order = self.orders;
            self.orders += 1;
            let part = places[usize::from(candidate.part)];
            let request = &self.outcome.request;
            let nodes = request.parts[part];
            self.outcome.attempts.push(CoAttempt {
                part: part as u16,
                cluster: candidate.cluster,
                nodes,
                start: now,
                duration: limit,
                sent: now,
                answered: None,
                given_up: None,
                // Until it begins.
                fate: AttemptFate::TimedOut,
            });
            let queued = QueuedPart {
                request: request.id,
                order,
                part: candidate.part,
                nodes,
                limit,
            };
            effects.push(Effect::Send(candidate.cluster, Instruction::Queue(queued)));
            let part = GrantedPart { order, candidate };
            orders.push(QueuedOrder { part, since: None });
        }
        self.outcome.messages.granted += orders.len() as u32;
        self.stage = Stage::Queueing(orders);
        self.wake_at(latest, Wait::Barrier(self.rounds), effects);
    }

    /// A part holds its CPUs. The last one lifts the barrier.
    pub(super) fn part_has_begun(
        &mut self,
        rules: &Rules,
        now: Seconds,
        begun: BegunPart,
        effects: &mut Vec<Effect>,
    ) {
        let duration = self.outcome.request.duration;
        let latest = self.latest_begin();
        let Stage::Queueing(orders) = &mut self.stage else {
            return;
        };
        let Some(queued) = orders.iter_mut().find(|it| it.part.order == begun.order) else {
            return;
        };
        queued.since = Some(begun.at);
        let attempt = &mut self.outcome.attempts[begun.order as usize];
        attempt.start = begun.at;
        attempt.answered = Some(now);
        attempt.fate = AttemptFate::Reserved;
        let held = orders.iter().map(|it| Some((it.part, it.since?)));
        let held: Option<Vec<(GrantedPart, Seconds)>> = held.collect();
        if let (1, Some(held)) = (orders.len(), &held) {
            let held = held.clone();
            self.lift(rules, now, begun.at, held, effects);
            return;
        }
        let first = orders.iter().filter_map(|it| it.since).min();
        let latest = latest.min(first.unwrap_or(now) + rules.search.patience.of(duration));
        let begin = now + rules.latency;
        match held {
            Some(held) if begin <= latest => self.lift(rules, now, begin, held, effects),
            _ => {
                let round = Wait::Barrier(self.rounds);
                self.wake_at((latest - rules.latency).max(now), round, effects);
            }
        }
    }

    /// All parts have begun, and the request runs from `begin` on.
    fn lift(
        &mut self,
        rules: &Rules,
        now: Seconds,
        begin: Seconds,
        held: Vec<(GrantedPart, Seconds)>,
        effects: &mut Vec<Effect>,
    ) {
        let request = self.outcome.request.id;
        let end = begin + self.outcome.request.duration;
        let mut parts = Vec::with_capacity(held.len());
        for (mut part, since) in held {
            let order = part.order;
            self.outcome.attempts[order as usize].duration = end - since;
            let proceed = Instruction::Proceed {
                request,
                order,
                end,
            };
            effects.push(Effect::Send(part.candidate.cluster, proceed));
            part.candidate.start = begin;
            parts.push(part);
        }
        self.stage = Stage::Settled;
        self.outcome.answered = now;
        self.outcome.verdict = CoVerdict::Granted;
        self.promise(rules, &parts);
    }

    /// A round is over whose parts have not all begun: they are given back.
    pub(super) fn end_round(
        &mut self,
        rules: &Rules,
        now: Seconds,
        round: u32,
        effects: &mut Vec<Effect>,
    ) {
        let Stage::Queueing(orders) = &mut self.stage else {
            return;
        };
        if round != self.rounds {
            return;
        }
        let orders = std::mem::take(orders);
        let outstanding = orders.iter().map(|it| it.part.order).collect();
        self.stage = Stage::GivingBack { outstanding };
        for QueuedOrder { part, .. } in orders {
            self.cancel(rules, now, part.order, part.candidate.cluster, effects);
        }
    }

    /// The last instant from which the request is over by its deadline.
    fn latest_begin(&self) -> Seconds {
        self.outcome.request.deadline - self.outcome.request.duration
    }

    fn wake_at(&self, at: Seconds, wait: Wait, effects: &mut Vec<Effect>) {
        let request = self.outcome.request.id;
        effects.push(Effect::Wake(at, Timer { request, wait }));
    }
}
