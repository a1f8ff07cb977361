//! A planning-based machine that takes advance reservations, as a state machine (spec `grid-reservations.md` §3,
//! `provisioning.md` §6.7).

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use super::admission::{Decision, decide};
use super::outcome::{RequestVerdict, ReservationOutcome, ReservationTotals};
use super::pricing::{Offer, PriceSheet};
use super::queue_plan::{Backfilling, DueEffort, QueueOrder, Waiting, due_now, place, plan_queue};
use super::settings::{DisplacedJobs, Displacement, EarlyEnd, ReservingSettings, SameInstant};
use crate::plan::Profile;
use crate::scheduling::outcome::{JobOutcome, SimulationMetrics, Verdict};
use crate::units::{NodeSeconds, Nodes, Seconds};
use crate::workload::{Job, JobId, RequestId, ReservationRequest};

/// A machine whose waiting jobs are *variable*: planned, and planned anew at every event, until they start. Reservations are
/// fixed: they start exactly when they were granted, and nothing that runs is ever stopped for them.
///
/// Events of one instant come in the order: ends of jobs and reservations, starts of reservations, submissions of jobs and then
/// of requests (A4), and last the starts of variable jobs whose place in the plan is now (A8). Cloning it forks the simulation.
#[derive(Clone)]
pub struct ReservingMachine {
    settings: ReservingSettings,
    nodes: Nodes,
    now: Seconds,
    /// Free beside running jobs until their estimated ends, and reservations.
    fixed: Profile,
    /// Waiting jobs in the order of planning.
    queue: Vec<Waiting>,
    /// Every job that has no outcome yet.
    jobs: BTreeMap<JobId, OpenJob>,
    reservations: BTreeMap<RequestId, OpenReservation>,
    events: BinaryHeap<Reverse<(Seconds, u8, u64, Event)>>,
    sequence: u64,
    /// Where the waiting jobs are planned, while that is known.
    plan: Option<Plan>,
    /// Something happened at this instant that may let a job start.
    unsettled: bool,
    in_use: u32,
    used: NodeSeconds,
    used_until: Seconds,
    job_outcomes: Vec<JobOutcome>,
    reservation_outcomes: Vec<ReservationOutcome>,
    totals: SimulationMetrics,
    reservation_totals: ReservationTotals,
    window: Option<SubmissionWindow>,
    last_end: Seconds,
    effort: DueEffort,
}

#[derive(Clone)]
struct OpenJob {
    job: Job,
    start: Option<Seconds>,
}

#[derive(Clone)]
struct OpenReservation {
    outcome: ReservationOutcome,
    start: Seconds,
    running: bool,
}

/// Planned starts, one a waiting job, and what the whole plan leaves free.
#[derive(Clone)]
struct Plan {
    starts: Vec<Seconds>,
    profile: Profile,
}

#[derive(Clone, Copy)]
struct SubmissionWindow {
    first: Seconds,
    used_at_first: NodeSeconds,
    last: Seconds,
    used_at_last: NodeSeconds,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    JobEnds(JobId),
    ReservationEnds(RequestId),
    ReservationStarts(RequestId),
    WakeUp,
    JobArrives(JobId),
    RequestArrives(RequestId),
}

impl ReservingMachine {
    /// An idle machine at time 0.
    #[must_use]
    pub fn new(nodes: Nodes, settings: ReservingSettings) -> Self {
        Self {
            settings,
            nodes,
            now: Seconds::ZERO,
            fixed: Profile::new(nodes.0, Seconds::ZERO),
            queue: Vec::new(),
            jobs: BTreeMap::new(),
            reservations: BTreeMap::new(),
            events: BinaryHeap::new(),
            sequence: 0,
            plan: None,
            unsettled: false,
            in_use: 0,
            used: NodeSeconds(0),
            used_until: Seconds::ZERO,
            job_outcomes: Vec::new(),
            reservation_outcomes: Vec::new(),
            totals: SimulationMetrics::default(),
            reservation_totals: ReservationTotals::default(),
            window: None,
            last_end: Seconds::ZERO,
            effort: DueEffort::default(),
        }
    }

    /// Hands over variable jobs; none may be submitted in the past.
    pub fn submit(&mut self, jobs: impl IntoIterator<Item = Job>) {
        for job in jobs {
            let (time, id) = (job.submit, job.id);
            self.jobs.insert(id, OpenJob { job, start: None });
            self.push(time, Event::JobArrives(id));
        }
    }

    /// Hands over requests; none may be submitted in the past. Each is answered when its time has come, with the start that
    /// it wants or, where it chooses, with the one that α picks from the offers.
    pub fn request(&mut self, requests: impl IntoIterator<Item = ReservationRequest>) {
        for request in requests {
            let (time, id) = (request.submit, request.id);
            self.reservations
                .insert(id, OpenReservation::asked(request));
            self.push(time, Event::RequestArrives(id));
        }
    }

    /// Works off every event before `until`, and lets time pass to the last of them.
    pub fn advance(&mut self, until: Seconds) {
        while let Some(time) = self.next_event().filter(|time| *time < until) {
            self.move_to(time);
            while self.next_event() == Some(time) {
                let Some(Reverse((_, _, _, event))) = self.events.pop() else {
                    break;
                };
                self.handle(event);
            }
            self.settle();
        }
    }

    /// Lets time pass to `time` (after every event before it), so that questions are answered as of then. Events at `time`
    /// itself are still to come.
    pub fn wait_until(&mut self, time: Seconds) {
        self.advance(time);
        if time > self.now {
            self.move_to(time);
        }
    }

    /// Virtual time.
    #[must_use]
    pub fn now(&self) -> Seconds {
        self.now
    }

    /// Size of the machine.
    #[must_use]
    pub fn nodes(&self) -> Nodes {
        self.nodes
    }

    /// The time of the next event, if there is one.
    #[must_use]
    pub fn next_event(&self) -> Option<Seconds> {
        self.events.peek().map(|Reverse((time, ..))| *time)
    }

    /// Whether every job and every request has its outcome.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.jobs.is_empty() && self.reservations.is_empty()
    }

    /// Waiting and running jobs, and reservations that were granted and have not ended.
    #[must_use]
    pub fn tasks_in_system(&self) -> usize {
        let running = self
            .jobs
            .values()
            .filter(|open| open.start.is_some())
            .count();
        self.queue.len() + running + self.reservations.len()
    }

    /// The waiting jobs in the order of planning.
    #[must_use]
    pub fn queue(&self) -> &[Waiting] {
        &self.queue
    }

    /// When a job that has no outcome yet started, if it has.
    #[must_use]
    pub fn started(&self, job: JobId) -> Option<Seconds> {
        self.jobs.get(&job)?.start
    }

    /// Free nodes beside running jobs and reservations: what a reservation that pushes planned jobs away may take.
    #[must_use]
    pub fn fixed(&self) -> &Profile {
        &self.fixed
    }

    /// The planned starts of the waiting jobs, in the order of planning, and what the whole plan leaves free.
    pub fn planned(&mut self) -> (&[Seconds], &Profile) {
        let plan = self.plan.get_or_insert_with(|| {
            let mut profile = self.fixed.clone();
            let starts = plan_queue(
                &mut profile,
                self.now,
                &self.queue,
                self.settings.backfilling,
            );
            Plan { starts, profile }
        });
        (&plan.starts, &plan.profile)
    }

    /// The instants at which prices and admissibility may change: now, and every start and end in the plan that lies ahead
    /// (`provisioning.md` §6.4, AMB-43). Ascending, each once.
    pub fn candidate_instants(&mut self) -> Vec<Seconds> {
        let now = self.now;
        let mut instants = vec![now];
        for open in self.jobs.values() {
            if let Some(start) = open.start {
                instants.push(start + open.job.estimate);
            }
        }
        for open in self.reservations.values().filter(|open| open.is_granted()) {
            instants.extend([open.start, open.start + open.outcome.request.duration]);
        }
        instants.extend_from_slice(self.planned().0);
        if let Some(plan) = &self.plan {
            let planned = plan.starts.iter().zip(&self.queue);
            instants.extend(planned.map(|(start, waiting)| *start + waiting.estimate));
        }
        instants.retain(|instant| *instant >= now && *instant < Seconds::FAR);
        instants.sort_unstable();
        instants.dedup();
        instants
    }

    /// The price of one slot, or `None` where it collides with what is fixed (query form (17)).
    pub fn price(
        &mut self,
        start: Seconds,
        nodes: Nodes,
        duration: Seconds,
    ) -> Option<NodeSeconds> {
        self.planned();
        let sheet = self.price_sheet()?;
        sheet.price(start, nodes, duration)
    }

    /// Every start that can be had from `earliest` on, with its price (query forms (18) and (19)): the candidate instants and
    /// `earliest` itself, those left out that collide with what is fixed.
    pub fn offers(&mut self, earliest: Seconds, nodes: Nodes, duration: Seconds) -> Vec<Offer> {
        let mut instants = self.candidate_instants();
        let earliest = earliest.max(self.now);
        instants.retain(|instant| *instant >= earliest);
        if instants.first() != Some(&earliest) {
            instants.insert(0, earliest);
        }
        self.planned();
        self.price_sheet()
            .map(|sheet| sheet.offers(&instants, nodes, duration))
            .unwrap_or_default()
    }

    fn price_sheet(&self) -> Option<PriceSheet<'_>> {
        let plan = self.plan.as_ref()?;
        Some(PriceSheet {
            fixed: &self.fixed,
            now: self.now,
            queue: &self.queue,
            starts: &plan.starts,
            backfilling: self.settings.backfilling,
        })
    }

    /// Cancels a reservation that has not started: its nodes are free again. Returns whether there was one.
    pub fn cancel(&mut self, request: RequestId) -> bool {
        let Some(open) = self.reservations.get(&request) else {
            return false;
        };
        if !open.is_granted() || open.running {
            return false;
        }
        let Some(mut open) = self.reservations.remove(&request) else {
            return false;
        };
        let asked = &open.outcome.request;
        self.fixed
            .release(open.start, open.start + asked.duration, asked.nodes.0);
        self.plan = None;
        self.unsettled = true;
        self.push(self.now, Event::WakeUp);
        open.outcome.verdict = RequestVerdict::Cancelled;
        open.outcome.start = None;
        self.close(open.outcome);
        true
    }

    /// Takes a waiting job out of the queue: free of charge, without an outcome. Returns whether it was waiting.
    pub fn withdraw(&mut self, job: JobId) -> bool {
        let Some(place) = self.queue.iter().position(|waiting| waiting.job == job) else {
            return false;
        };
        self.queue.remove(place);
        self.jobs.remove(&job);
        self.plan = None;
        self.unsettled = true;
        self.push(self.now, Event::WakeUp);
        true
    }

    /// The outcomes of jobs since the last call, in the order in which they became final.
    pub fn take_job_outcomes(&mut self) -> Vec<JobOutcome> {
        std::mem::take(&mut self.job_outcomes)
    }

    /// The outcomes of requests since the last call, in the order in which they became final.
    pub fn take_reservation_outcomes(&mut self) -> Vec<ReservationOutcome> {
        std::mem::take(&mut self.reservation_outcomes)
    }

    /// Totals of the variable jobs so far; node-time in use is that of jobs and reservations.
    #[must_use]
    pub fn metrics(&self) -> SimulationMetrics {
        let mut metrics = self.totals;
        let first = self.window.map_or(self.last_end, |window| window.first);
        metrics.makespan = (self.last_end - first).max(Seconds::ZERO);
        metrics.capacity = self.nodes.for_span(metrics.makespan);
        metrics
    }

    /// How much planning was needed to know who starts when.
    #[must_use]
    pub fn effort(&self) -> DueEffort {
        self.effort
    }

    /// Totals of the requests so far.
    #[must_use]
    pub fn reservation_totals(&self) -> ReservationTotals {
        let mut totals = self.reservation_totals;
        if let Some(window) = self.window {
            totals.submitting = window.last - window.first;
            totals.used_while_submitting =
                NodeSeconds(window.used_at_last.0 - window.used_at_first.0);
        }
        totals
    }

    fn push(&mut self, time: Seconds, event: Event) {
        let class = match (&event, self.settings.same_instant) {
            (Event::JobEnds(_) | Event::ReservationEnds(_), _) => 0,
            (Event::ReservationStarts(_) | Event::WakeUp, _) => 1,
            (Event::JobArrives(_), SameInstant::JobFirst)
            | (Event::RequestArrives(_), SameInstant::RequestFirst) => 2,
            (Event::JobArrives(_), SameInstant::RequestFirst)
            | (Event::RequestArrives(_), SameInstant::JobFirst) => 3,
        };
        self.sequence += 1;
        self.events
            .push(Reverse((time.max(self.now), class, self.sequence, event)));
    }

    fn move_to(&mut self, time: Seconds) {
        self.used += Nodes(self.in_use).for_span(time - self.used_until);
        self.used_until = time;
        self.now = time;
        self.fixed.forget_before(time);
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::JobEnds(job) => self.end_job(job),
            Event::ReservationEnds(request) => self.end_reservation(request),
            Event::ReservationStarts(request) => {
                if let Some(open) = self.reservations.get_mut(&request) {
                    open.running = true;
                    self.in_use += open.outcome.request.nodes.0;
                    debug_assert!(
                        self.in_use <= self.nodes.0,
                        "a reservation finds its nodes free"
                    );
                }
            }
            Event::WakeUp => self.unsettled = true,
            Event::JobArrives(job) => self.job_arrives(job),
            Event::RequestArrives(request) => self.request_arrives(request),
        }
    }

    fn job_arrives(&mut self, id: JobId) {
        let Some(open) = self.jobs.get(&id) else {
            return;
        };
        let submission = (self.now, self.used);
        let window = self.window.get_or_insert(SubmissionWindow {
            first: submission.0,
            used_at_first: submission.1,
            last: submission.0,
            used_at_last: submission.1,
        });
        (window.last, window.used_at_last) = submission;
        if open.job.nodes > self.nodes {
            self.finish(id, Verdict::DroppedTooWide);
            return;
        }
        let waiting = Waiting::from(&open.job);
        let key = self.settings.order.key(&waiting);
        let place_in_queue = self
            .queue
            .partition_point(|other| self.settings.order.key(other) <= key);
        let last = place_in_queue == self.queue.len();
        self.queue.insert(place_in_queue, waiting);
        self.unsettled = true;
        match (&mut self.plan, self.settings.backfilling) {
            // Whoever comes last in a conservative plan moves nobody.
            (Some(plan), Backfilling::Conservative) if last => {
                let start = place(&mut plan.profile, &waiting, self.now);
                plan.starts.push(start);
            }
            _ => self.plan = None,
        }
    }

    fn end_job(&mut self, id: JobId) {
        let Some(open) = self.jobs.get(&id) else {
            return;
        };
        let (job, start) = (&open.job, open.start.unwrap_or(self.now));
        let (nodes, expected) = (job.nodes, start + job.estimate);
        let verdict = if job.runtime <= job.estimate {
            Verdict::SuccessfulFinished
        } else {
            Verdict::SuccessfulFullGrant
        };
        self.in_use -= nodes.0;
        self.totals.busy += nodes.for_span(self.now - start);
        self.unsettled = true;
        if self.now < expected {
            self.fixed.release(self.now, expected, nodes.0);
            self.forget_plan();
        }
        self.finish(id, verdict);
    }

    fn end_reservation(&mut self, id: RequestId) {
        let Some(open) = self.reservations.get_mut(&id) else {
            return;
        };
        let asked = &open.outcome.request;
        let expected = open.start + asked.duration;
        self.in_use -= asked.nodes.0;
        self.totals.busy += asked.nodes.for_span(self.now - open.start);
        if self.now < expected {
            match self.settings.early_end {
                EarlyEnd::Release => {
                    self.fixed.release(self.now, expected, asked.nodes.0);
                    self.forget_plan();
                }
                EarlyEnd::Keep => self.push(expected, Event::WakeUp),
            }
        }
        self.unsettled = true;
        if let Some(mut open) = self.reservations.remove(&id) {
            open.outcome.end = Some(self.now);
            self.last_end = self.last_end.max(self.now);
            self.close(open.outcome);
        }
    }

    fn request_arrives(&mut self, id: RequestId) {
        let Some(open) = self.reservations.remove(&id) else {
            return;
        };
        let request = open.outcome.request;
        let Decision {
            verdict,
            start,
            price,
            offers,
        } = decide(self, &request);
        let mut outcome = ReservationOutcome {
            verdict,
            price,
            offers,
            ..OpenReservation::asked(request).outcome
        };
        match start {
            Some(start) => self.grant(start, outcome),
            None => {
                outcome.price = None;
                self.close(outcome);
            }
        }
    }

    /// Blocks what was granted, and plans the queue around it.
    fn grant(&mut self, start: Seconds, mut outcome: ReservationOutcome) {
        let request = &outcome.request;
        let (id, nodes, end) = (request.id, request.nodes, start + request.duration);
        let use_ends = start + request.runtime.min(request.duration);
        let moves = self.settings.admission.moves();
        let before = (moves && self.settings.displacement == Displacement::Record)
            .then(|| self.planned().0.to_vec());
        self.fixed.reserve(start, end, nodes.0);
        match (&mut self.plan, moves) {
            // It was granted beside the plan: nobody moves.
            (Some(plan), false) => plan.profile.reserve(start, end, nodes.0),
            (None, _) => {}
            (Some(_), true) => match self.settings.displaced {
                DisplacedJobs::ReplanAll => self.plan = None,
                DisplacedJobs::OnlyOverlapping => self.replan_displaced(start, end, nodes),
            },
        }
        if let Some(before) = before {
            let (after, _) = self.planned();
            let delays = before
                .iter()
                .zip(after)
                .filter(|(before, after)| after > before)
                .map(|(before, after)| *after - *before);
            let (mut jobs, mut sum) = (0_u32, Seconds::ZERO);
            for delay in delays {
                jobs += 1;
                sum += delay;
            }
            outcome.displaced_jobs = Some(jobs);
            outcome.displaced = Some(sum);
        } else if self.settings.displacement == Displacement::Record {
            outcome.displaced_jobs = Some(0);
            outcome.displaced = Some(Seconds::ZERO);
        }
        outcome.start = Some(start);
        self.push(start, Event::ReservationStarts(id));
        self.push(use_ends, Event::ReservationEnds(id));
        self.reservations.insert(
            id,
            OpenReservation {
                outcome,
                start,
                running: false,
            },
        );
        self.unsettled = true;
    }

    /// Moves only the jobs whose places the new reservation took, in order, each to the earliest place that is left (A2).
    fn replan_displaced(&mut self, start: Seconds, end: Seconds, nodes: Nodes) {
        let Some(mut plan) = self.plan.take() else {
            return;
        };
        plan.profile.reserve(start, end, nodes.0);
        let mut displaced = Vec::new();
        // Later jobs in the queue give way first.
        for index in (0..self.queue.len()).rev() {
            let waiting = &self.queue[index];
            let planned = plan.starts[index];
            let until = planned + waiting.estimate;
            let overlap = (planned.max(start), until.min(end));
            if overlap.0 < overlap.1 && plan.profile.min_free(overlap.0, overlap.1) < 0 {
                plan.profile.release(planned, until, waiting.nodes.0);
                displaced.push(index);
            }
        }
        for index in displaced.into_iter().rev() {
            plan.starts[index] = place(&mut plan.profile, &self.queue[index], self.now);
        }
        self.plan = Some(plan);
    }

    /// Nodes have become free: the whole queue is planned anew, at once where plans are kept, else when somebody asks.
    fn forget_plan(&mut self) {
        if self.keeps_plans() {
            let before = self.plan.take();
            if let Some(before) = before {
                let (after, _) = self.planned();
                let later = before
                    .starts
                    .iter()
                    .zip(after)
                    .filter(|(before, after)| after > before)
                    .count();
                self.reservation_totals.anomalies += later as u64;
            }
        } else {
            self.plan = None;
        }
    }

    /// Whether starts are read off a plan that is carried from event to event.
    fn keeps_plans(&self) -> bool {
        self.settings.displaced == DisplacedJobs::OnlyOverlapping
    }

    /// Starts everything whose place in the plan is now.
    fn settle(&mut self) {
        if !std::mem::take(&mut self.unsettled) || self.queue.is_empty() {
            return;
        }
        if self.settings.backfilling == Backfilling::Aggressive {
            // An aggressive plan is a forecast: it is made anew at every event.
            self.plan = None;
        }
        if self.keeps_plans() {
            self.planned();
        }
        self.protect_the_starving();
        let due: Vec<usize> = match &self.plan {
            Some(plan) => (0..self.queue.len())
                .filter(|&index| plan.starts[index] <= self.now)
                .collect(),
            None => due_now(
                &self.fixed,
                self.now,
                &self.queue,
                self.settings.backfilling,
                &mut self.effort,
            ),
        };
        for &index in &due {
            let waiting = self.queue[index];
            self.start(&waiting);
        }
        if !due.is_empty() {
            let mut next = due.iter().copied().peekable();
            let mut index = 0;
            let mut keep = || {
                let starts = next.next_if_eq(&index).is_some();
                index += 1;
                !starts
            };
            let kept: Vec<bool> = (0..self.queue.len()).map(|_| keep()).collect();
            let mut flags = kept.iter();
            self.queue.retain(|_| *flags.next().unwrap_or(&true));
            if let Some(plan) = &mut self.plan {
                let mut flags = kept.iter();
                plan.starts.retain(|_| *flags.next().unwrap_or(&true));
            }
        }
        if self.keeps_plans()
            && let Some(next) = self
                .plan
                .as_ref()
                .and_then(|plan| plan.starts.iter().min().copied())
        {
            self.push(next, Event::WakeUp);
        }
    }

    /// Jobs that have waited too long come first in an order that is not that of arrival.
    fn protect_the_starving(&mut self) {
        let Some(guard) = self.settings.starvation_guard else {
            return;
        };
        if self.settings.order == QueueOrder::Fcfs {
            return;
        }
        let (now, order) = (self.now, self.settings.order);
        let key = |waiting: &Waiting| {
            let starving = now - waiting.submit >= guard;
            let place = if starving {
                (0, waiting.submit.0, waiting.job.0)
            } else {
                order.key(waiting)
            };
            (!starving, place)
        };
        if !self.queue.is_sorted_by_key(key) {
            self.queue.sort_by_key(key);
            self.plan = None;
        }
    }

    fn start(&mut self, waiting: &Waiting) {
        let now = self.now;
        let Some(open) = self.jobs.get_mut(&waiting.job) else {
            return;
        };
        open.start = Some(now);
        let end = now + open.job.runtime.min(open.job.estimate);
        self.in_use += waiting.nodes.0;
        debug_assert!(self.in_use <= self.nodes.0, "a job finds its nodes free");
        self.fixed
            .reserve(now, now + waiting.estimate, waiting.nodes.0);
        self.push(end, Event::JobEnds(waiting.job));
    }

    fn finish(&mut self, id: JobId, verdict: Verdict) {
        let Some(OpenJob { job, start }) = self.jobs.remove(&id) else {
            return;
        };
        let end = start.map(|_| self.now);
        if let Some(end) = end {
            self.last_end = self.last_end.max(end);
        }
        let outcome = JobOutcome {
            job,
            verdict,
            class: None,
            promise: None,
            start,
            end,
            restarts: 0,
            node_failures: 0,
        };
        self.totals.count(&outcome);
        self.job_outcomes.push(outcome);
    }

    fn close(&mut self, outcome: ReservationOutcome) {
        self.reservation_totals.count(&outcome);
        self.reservation_outcomes.push(outcome);
    }

    /// A request that is answered at once, as of now.
    #[cfg(test)]
    fn request_arrives_now(&mut self, request: ReservationRequest) {
        let id = request.id;
        self.reservations
            .insert(id, OpenReservation::asked(request));
        self.request_arrives(id);
    }

    pub(super) fn settings(&self) -> &ReservingSettings {
        &self.settings
    }
}

impl OpenReservation {
    fn asked(request: ReservationRequest) -> Self {
        let start = request.wanted.earliest();
        Self {
            outcome: ReservationOutcome {
                request,
                verdict: RequestVerdict::Granted,
                start: None,
                end: None,
                price: None,
                offers: Vec::new(),
                displaced_jobs: None,
                displaced: None,
            },
            start,
            running: false,
        }
    }

    fn is_granted(&self) -> bool {
        self.outcome.start.is_some()
    }
}

#[cfg(test)]
#[path = "machine_tests.rs"]
mod tests;
