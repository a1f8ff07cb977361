//! One request: the way to its verdict, and what follows a grant.

mod barrier;
mod giving_back;
mod plan;
mod probing;
mod promised;
mod renegotiation;
mod task;
mod watched;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

pub(super) use self::plan::Plan;
pub(super) use self::task::News;
use bookahead_core::units::Seconds;
use bookahead_core::workload::CoRequest;

use self::barrier::QueuedOrder;
use self::plan::{Purpose, fitting, has_room, pof_of_all};
use super::{Effect, Rules, Timer, Wait};
use crate::co_reservation::local::{ClusterId, Refusal};
use crate::co_reservation::messages::{Answer, Instruction};
use crate::co_reservation::{
    AttemptFate, Candidate, CoAttempt, CoOutcome, CoVerdict, MessageCounts, Search, Step,
    worst_case,
};

/// A request under way, or what remains to be done after its verdict.
#[derive(Debug)]
pub(super) struct Process {
    outcome: CoOutcome,
    stage: Stage,
    rounds: u32,
    orders: u32,
    /// The common start of what is promised. A part that was lost while it ran and found elsewhere
    /// starts later, and ends with the others.
    begin: Option<Seconds>,
    /// What the client was promised: a place a part, most CPUs first; empty until all parts are
    /// reserved.
    promised: Vec<Option<GrantedPart>>,
    /// Places of promised parts that were lost and are still to be sought, with the cluster that
    /// lost each.
    to_replace: VecDeque<(usize, ClusterId)>,
    /// Cancellations that were not acknowledged yet.
    cancelling: BTreeMap<u32, ClusterId>,
    /// Orders whose loss was told before their grant.
    lost_early: BTreeSet<u32>,
    /// What came of it since the broker asked, where it is a task of a workflow.
    news: Option<News>,
    /// Whether tasks were sought that begin when it ends.
    is_followed: bool,
    /// Whether others took a part, and the request was not issued anew since.
    is_displaced: bool,
    /// When it is issued anew for something better.
    thinks_again: Option<Seconds>,
}

/// A part that a cluster has granted.
#[derive(Clone, Copy, Debug)]
struct GrantedPart {
    order: u32,
    candidate: Candidate,
}

#[derive(Debug)]
enum Stage {
    /// Probes are out.
    Probing {
        plan: Plan,
        outstanding: BTreeSet<ClusterId>,
        /// Clusters that are asked if these offer no complete candidate.
        rest: BTreeSet<ClusterId>,
        offered: Vec<Candidate>,
    },
    /// Parts are being reserved, one after another.
    Searching(Box<Searching>),
    /// Parts are in the queues of clusters, those of the round; none before the earliest start.
    Queueing(Vec<QueuedOrder>),
    /// Everything is given back before the whole request is tried anew.
    GivingBack { outstanding: BTreeSet<u32> },
    /// Nothing is sought.
    Settled,
}

#[derive(Debug)]
struct Searching {
    plan: Plan,
    search: Search,
    held: Vec<GrantedPart>,
    waiting: Option<Waiting>,
    /// Clusters that are to be given up before the next step.
    gone: Vec<ClusterId>,
}

#[derive(Clone, Copy, Debug)]
enum Waiting {
    Reserve(GrantedPart),
    Cancel(u32),
}

impl Stage {
    /// The order to reserve that is waited for, if it is this one; it is waited for no more.
    fn take_pending(&mut self, order: u32) -> Option<(&mut Searching, GrantedPart)> {
        let Self::Searching(searching) = self else {
            return None;
        };
        match searching.waiting {
            Some(Waiting::Reserve(pending)) if pending.order == order => {
                searching.waiting = None;
                Some((searching, pending))
            }
            _ => None,
        }
    }
}

impl Process {
    /// Takes a request and sends what is to be sent first.
    pub(super) fn begin(
        rules: &Rules,
        now: Seconds,
        request: CoRequest,
        effects: &mut Vec<Effect>,
    ) -> Self {
        let plan = Plan::first(rules, &request);
        let is_possible =
            !plan.starts.is_empty() && has_room(rules, &request, &request.largest_first());
        let mut process = Self::new(rules, now, request, &plan);
        if is_possible && rules.search.algorithm.row().queues {
            process.await_earliest(rules, now, effects);
        } else if is_possible {
            process.seek(rules, now, plan, effects);
        } else {
            process.tell(false);
        }
        process
    }

    /// A request for which nothing is done, with the plan of its first round.
    fn new(rules: &Rules, now: Seconds, request: CoRequest, plan: &Plan) -> Self {
        let row = rules.search.algorithm.row();
        let places = request.largest_first();
        let starts = plan.starts.len();
        Self {
            outcome: CoOutcome {
                verdict: CoVerdict::Impossible,
                answered: now,
                start: None,
                clusters: Vec::new(),
                cost: None,
                pof: 0.0,
                messages: MessageCounts::default(),
                starts: starts as u32,
                candidates: 0.0,
                // Over the candidates that A1 would build (Q7); queued parts have none.
                worst_case: worst_case(
                    if row.queues { 0 } else { starts as u64 },
                    &fitting(rules, &request, &places),
                    row.repair,
                ),
                bounds: None,
                probes: Vec::new(),
                free_cpus: Vec::new(),
                waiting_before: 0,
                waiting_after: 0,
                class: rules.class(&request),
                lost_parts: 0,
                displacements: 0,
                replaced_parts: 0,
                first_start: None,
                renegotiations: 0,
                improvements: 0,
                attempts: Vec::new(),
                request,
            },
            stage: Stage::Settled,
            rounds: 0,
            orders: 0,
            begin: None,
            promised: Vec::new(),
            to_replace: VecDeque::new(),
            cancelling: BTreeMap::new(),
            lost_early: BTreeSet::new(),
            news: None,
            is_followed: false,
            is_displaced: false,
            thinks_again: None,
        }
    }

    /// An answer to this request, or news of a lost part.
    pub(super) fn receive(
        &mut self,
        rules: &Rules,
        now: Seconds,
        from: ClusterId,
        answer: Answer,
        effects: &mut Vec<Effect>,
    ) {
        match answer {
            Answer::Probed { round, offers, .. } => {
                self.probed(rules, now, from, round, offers, effects);
            }
            Answer::Reserved { order, verdict, .. } => {
                self.reserved(rules, now, order, verdict, effects);
            }
            Answer::Cancelled { order, .. } => {
                if self.cancelling.remove(&order).is_some() {
                    self.cancelled(rules, now, order, None, effects);
                }
            }
            Answer::Begun(part) => self.part_has_begun(rules, now, part, effects),
            Answer::Lost(part) => self.lost(rules, now, from, part, effects),
        }
    }

    /// An answer did not come in time.
    pub(super) fn expire(
        &mut self,
        rules: &Rules,
        now: Seconds,
        wait: Wait,
        effects: &mut Vec<Effect>,
    ) {
        match wait {
            Wait::Probes(round) => {
                if let Stage::Probing { outstanding, .. } = &self.stage
                    && round == self.rounds
                {
                    self.outcome.messages.timed_out += outstanding.len() as u32;
                    self.search(rules, now, effects);
                }
            }
            Wait::Order(order) => {
                let Some((searching, pending)) = self.stage.take_pending(order) else {
                    return;
                };
                // It may have been granted all the same: it is taken back until that is
                // acknowledged.
                searching.search.answer(false);
                searching.gone.push(pending.candidate.cluster);
                self.outcome.messages.timed_out += 1;
                self.cancel(
                    rules,
                    now,
                    pending.order,
                    pending.candidate.cluster,
                    effects,
                );
                self.proceed(rules, now, effects);
            }
            Wait::Cancel(order) => {
                let Some(&cluster) = self.cancelling.get(&order) else {
                    return;
                };
                self.outcome.messages.timed_out += 1;
                self.outcome.messages.repeated += 1;
                self.send_cancel(rules, now, order, cluster, effects);
                self.cancelled(rules, now, order, Some(cluster), effects);
            }
            Wait::Queueing => self.queue_parts(rules, now, effects),
            Wait::Barrier(round) => self.end_round(rules, now, round, effects),
            Wait::Renegotiation => self.renegotiate(rules, now, effects),
        }
    }

    /// Whether nothing is waited for any more.
    pub(super) fn is_idle(&self) -> bool {
        matches!(self.stage, Stage::Settled) && self.cancelling.is_empty()
    }

    pub(super) fn into_outcome(self) -> CoOutcome {
        self.outcome
    }

    /// Takes steps of the search until one of them has to wait for an answer.
    fn proceed(&mut self, rules: &Rules, now: Seconds, effects: &mut Vec<Effect>) {
        loop {
            let Stage::Searching(searching) = &mut self.stage else {
                return;
            };
            for cluster in std::mem::take(&mut searching.gone) {
                searching.search.give_up(cluster);
            }
            match searching.search.step() {
                Step::Reserve(candidate) => {
                    let order = self.orders;
                    self.orders += 1;
                    let held = GrantedPart { order, candidate };
                    searching.waiting = Some(Waiting::Reserve(held));
                    let held = searching.held.iter().map(|held| held.candidate.pof);
                    let kept = self.promised.iter().flatten();
                    let others = pof_of_all(held.chain(kept.map(|kept| kept.candidate.pof)));
                    let (request, class) = (&self.outcome.request, self.outcome.class);
                    let part =
                        (searching.plan).order(rules, request, order, &candidate, others, class);
                    self.outcome.attempts.push(CoAttempt {
                        part: self.outcome.request.largest_first()[usize::from(part.part)] as u16,
                        cluster: candidate.cluster,
                        nodes: part.nodes,
                        start: part.start,
                        duration: part.duration,
                        sent: now,
                        answered: None,
                        given_up: None,
                        // Until the answer comes.
                        fate: AttemptFate::TimedOut,
                    });
                    effects.push(Effect::Send(candidate.cluster, Instruction::Reserve(part)));
                    self.wake(rules, now, Wait::Order(order), effects);
                    return;
                }
                Step::Cancel(candidate) => {
                    let place = searching.held.iter().position(|held| {
                        held.candidate.cluster == candidate.cluster
                            && held.candidate.part == candidate.part
                    });
                    // What was lost needs no cancellation.
                    if let Some(place) = place {
                        let held = searching.held.remove(place);
                        searching.waiting = Some(Waiting::Cancel(held.order));
                        self.cancel(rules, now, held.order, held.candidate.cluster, effects);
                        return;
                    }
                }
                Step::Granted(candidates) => {
                    self.conclude(rules, now, Some(&candidates), CoVerdict::Granted, effects);
                    return;
                }
                Step::Exhausted => {
                    self.conclude(rules, now, None, CoVerdict::Refused, effects);
                    return;
                }
                Step::NoCandidate => {
                    self.conclude(rules, now, None, CoVerdict::NoCandidate, effects);
                    return;
                }
            }
        }
    }

    fn reserved(
        &mut self,
        rules: &Rules,
        now: Seconds,
        order: u32,
        verdict: Result<(), Refusal>,
        effects: &mut Vec<Effect>,
    ) {
        let Some((searching, pending)) = self.stage.take_pending(order) else {
            return;
        };
        searching.search.answer(verdict.is_ok());
        let attempt = &mut self.outcome.attempts[order as usize];
        attempt.answered = Some(now);
        if let Err(refusal) = verdict {
            attempt.fate = AttemptFate::Refused(refusal);
            self.outcome.messages.refused += 1;
        } else {
            self.outcome.messages.granted += 1;
            if self.lost_early.remove(&order) {
                attempt.fate = AttemptFate::Lost;
                searching.gone.push(pending.candidate.cluster);
            } else {
                attempt.fate = AttemptFate::Reserved;
                searching.held.push(pending);
            }
        }
        self.proceed(rules, now, effects);
    }

    /// The search has come to an end.
    fn conclude(
        &mut self,
        rules: &Rules,
        now: Seconds,
        granted: Option<&[Candidate]>,
        verdict: CoVerdict,
        effects: &mut Vec<Effect>,
    ) {
        let Stage::Searching(searching) = std::mem::replace(&mut self.stage, Stage::Settled) else {
            return;
        };
        let Searching { plan, mut held, .. } = *searching;
        held.sort_by_key(|held| held.candidate.part);
        let is_complete = granted.is_some_and(|candidates| {
            let granted = candidates.iter().map(|part| (part.part, part.cluster));
            granted.eq(held
                .iter()
                .map(|held| (held.candidate.part, held.candidate.cluster)))
        });
        debug_assert_eq!(is_complete, granted.is_some(), "a grant is what is held");
        if !is_complete {
            // Nothing is held where a search ended without a grant; were it otherwise, it would not
            // leak.
            for part in held.drain(..) {
                self.cancel(rules, now, part.order, part.candidate.cluster, effects);
            }
        }
        match plan.purpose {
            Purpose::First => {
                self.outcome.answered = now;
                self.outcome.verdict = verdict;
                if is_complete {
                    self.promise(rules, &held);
                    self.think_again(rules, now, effects);
                }
                self.tell(is_complete);
            }
            Purpose::Better => {
                if is_complete {
                    self.keep_the_better(rules, now, held, effects);
                }
            }
            Purpose::Anew => {
                let was_displaced = self.outcome.displacements > 0;
                if is_complete && was_displaced {
                    self.outcome.replaced_parts = self.outcome.lost_parts;
                    self.promise(rules, &held);
                    self.go_on_thinking(rules, now, effects);
                } else if was_displaced {
                    self.pays_nothing();
                } else if is_complete {
                    self.begin = held.first().map(|held| held.candidate.start);
                    self.promised = held.into_iter().map(Some).collect();
                    self.outcome.replaced_parts = self.outcome.lost_parts;
                    self.tell_clusters();
                }
                self.tell(is_complete);
            }
            Purpose::Replace => {
                let place = plan.places[0];
                if is_complete {
                    self.promised[place] = held.first().map(|part| GrantedPart {
                        candidate: Candidate {
                            part: place as u16,
                            ..part.candidate
                        },
                        ..*part
                    });
                    self.outcome.replaced_parts += 1;
                    self.tell_clusters();
                } else if self.give_back(rules, now, effects) {
                    return;
                }
            }
        }
        self.replace_next(rules, now, effects);
    }

    fn wake(&self, rules: &Rules, now: Seconds, wait: Wait, effects: &mut Vec<Effect>) {
        let request = self.outcome.request.id;
        effects.push(Effect::Wake(now + rules.timeout, Timer { request, wait }));
    }
}
