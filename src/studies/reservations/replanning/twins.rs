//! Twin jobs: what would have become of a reservation if its owner had queued a job instead
//! (Heine 2005, §2, of COSY).

use std::collections::VecDeque;

use bookahead_core::kernel::{Machine, NoService, Step, Stopwatch};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{Job, JobId, RequestId, ReservationRequest};
use serde::{Deserialize, Serialize};

use super::{ReplanningInput, ReplanningMachine, ReplanningOutput, ReservationOutcome};

/// Whether twin jobs are queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TwinJobs {
    /// None are.
    #[default]
    Skip,
    /// One beside every granted reservation. Costs a copy of the machine, which is played until the
    /// twin starts.
    Record,
}

impl TwinJobs {
    /// Whether it is the rule that is not written down.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How reservations began beside their twin jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TwinTotals {
    /// Twin jobs that started.
    pub started: u64,
    /// Those that started later than their reservation.
    pub later: u64,
    /// Σ (start of the twin job − start of its reservation).
    pub advantage: Seconds,
}

/// A machine with reservations, and a copy of it for each granted reservation whose twin job has
/// not started. The copy is of the instant before the request is answered; it never sees that
/// request, but a job of the same width, duration and run time, submitted in its second behind the
/// jobs of that second. Everything else comes to the copy as it comes to the machine.
pub struct TwinMachine {
    machine: ReplanningMachine,
    /// Requests that were handed over and are not asked yet, in order of submission.
    pending: VecDeque<ReservationRequest>,
    copies: Vec<Copied>,
    /// Outcomes that have not been handed out.
    reservations: Vec<ReservationOutcome>,
    started: Vec<(RequestId, Seconds)>,
    totals: TwinTotals,
}

struct Copied {
    machine: ReplanningMachine,
    request: RequestId,
    /// When the reservation starts.
    reserved: Seconds,
}

/// The twin job of a copy, which has only one.
const TWIN: JobId = JobId(1 << 31);

impl TwinMachine {
    /// Around a machine that nothing was handed to.
    #[must_use]
    pub fn around(machine: ReplanningMachine) -> Self {
        Self {
            machine,
            pending: VecDeque::new(),
            copies: Vec::new(),
            reservations: Vec::new(),
            started: Vec::new(),
            totals: TwinTotals::default(),
        }
    }

    /// The machine that knows nothing of twin jobs.
    #[must_use]
    pub fn machine(&self) -> &ReplanningMachine {
        &self.machine
    }

    /// Totals of the twin jobs so far.
    #[must_use]
    pub fn totals(&self) -> TwinTotals {
        self.totals
    }

    /// Plays machine and copies up to `until`, and lets go of copies whose twin job has started.
    fn play(&mut self, until: Seconds) {
        self.machine.advance(until);
        let outcomes = self.machine.take_reservation_outcomes();
        self.reservations.extend(outcomes);
        let (totals, started) = (&mut self.totals, &mut self.started);
        self.copies.retain_mut(|copied| {
            let Some(start) = copied.play(until) else {
                return true;
            };
            let advantage = start - copied.reserved;
            totals.started += 1;
            totals.later += u64::from(advantage > Seconds::ZERO);
            totals.advantage += advantage;
            started.push((copied.request, start));
            false
        });
    }

    /// Asks the requests of one second, each beside a copy that has its twin job instead.
    fn ask(&mut self, requests: &[ReservationRequest], now: Seconds) {
        let copies: Vec<ReplanningMachine> = (0..requests.len())
            .map(|own| {
                let mut copy = self.machine.clone();
                copy.time_decisions(&Stopwatch::default());
                let others = (requests.iter().enumerate()).filter(|(place, _)| *place != own);
                copy.request(others.map(|(_, request)| request.clone()));
                copy.submit([twin_of(&requests[own])]);
                copy
            })
            .collect();
        for copied in &mut self.copies {
            copied.machine.request(requests.iter().cloned());
        }
        self.machine.request(requests.iter().cloned());
        self.play(now + Seconds(1));
        for (request, machine) in requests.iter().zip(copies) {
            if let Some(reserved) = self.granted_start(request.id) {
                self.copies.push(Copied {
                    machine,
                    request: request.id,
                    reserved,
                });
            }
        }
    }

    fn granted_start(&self, request: RequestId) -> Option<Seconds> {
        let over = (self.reservations.iter().rev()).find(|it| it.request.id == request);
        over.map_or_else(
            || self.machine.policy().granted_start(request),
            |outcome| outcome.start,
        )
    }
}

impl Copied {
    /// When the twin job started, if it did before `until`. Event by event: a failure may end its
    /// first run.
    fn play(&mut self, until: Seconds) -> Option<Seconds> {
        while let Some(next) = self.machine.next_event().filter(|next| *next < until) {
            self.machine.advance(next + Seconds(1));
            let running = self.machine.cluster().running_since(TWIN);
            let over = self.machine.take_outcomes();
            let over = over.iter().find(|outcome| outcome.job.id == TWIN);
            let start = running.or_else(|| over.and_then(|outcome| outcome.start));
            if start.is_some() {
                return start;
            }
        }
        self.machine.advance(until);
        None
    }
}

fn twin_of(request: &ReservationRequest) -> Job {
    Job::rigid(TWIN, request.submit, request.nodes, request.duration)
        .running_for(request.runtime)
        .of_user(request.user)
}

impl Machine for TwinMachine {
    type Input = ReplanningInput;
    type Output = ReplanningOutput;
    type Service = NoService;

    fn take(&mut self, input: ReplanningInput) {
        let machines = self.copies.iter_mut().map(|copied| &mut copied.machine);
        for machine in std::iter::once(&mut self.machine).chain(machines) {
            machine.inject(&input.node_events);
            machine.submit(input.arrivals.iter().cloned());
        }
        self.pending.extend(input.requests);
    }

    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        while let Some(now) = self.pending.front().map(|request| request.submit)
            && now < until
        {
            let count = (self.pending.iter()).take_while(|request| request.submit == now);
            let requests: Vec<_> = self.pending.drain(..count.count()).collect();
            self.play(now);
            self.ask(&requests, now);
        }
        self.play(until);
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        let copies = self.copies.iter().map(|copied| copied.machine.next_event());
        let asked = self.pending.front().map(|request| request.submit);
        let events = copies.chain([asked, self.machine.next_event()]);
        events.flatten().min()
    }

    fn is_idle(&self) -> bool {
        self.pending.is_empty() && self.copies.is_empty() && self.machine.is_idle()
    }

    fn hand_out(&mut self) -> ReplanningOutput {
        ReplanningOutput {
            jobs: self.machine.take_outcomes(),
            reservations: std::mem::take(&mut self.reservations),
            twins: std::mem::take(&mut self.started),
        }
    }

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.machine.time_decisions(stopwatch);
    }
}
