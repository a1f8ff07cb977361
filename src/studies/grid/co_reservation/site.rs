//! A cluster of a simulation, as a service of the broker.

use bookahead_core::kernel::{Decision, Stopwatch};
use bookahead_core::units::Seconds;
use bookahead_core::workload::Job;

use super::messages::{Answer, Command, Instruction, Report};
use super::{TimeLine, TimeLineSample};
use crate::co_reservation::local::{ClusterId, LocalService, LostPart, OutageEvent};

/// A cluster behind its reservation service. Every hour it is sampled: how many CPUs run jobs, and
/// how many are held by parts. A sample is taken after all events of its second except submissions.
pub struct Site {
    service: Box<dyn LocalService>,
    line: TimeLine,
    next_look: Seconds,
    /// Whether it says nothing while it is down.
    is_silent: bool,
    /// Lost parts that were not told.
    untold: Vec<LostPart>,
    stopwatch: Stopwatch,
}

impl Site {
    /// A cluster that has not processed anything yet.
    #[must_use]
    pub fn new(cluster: ClusterId, service: Box<dyn LocalService>) -> Self {
        Self {
            service,
            line: TimeLine {
                cluster,
                samples: Vec::new(),
            },
            next_look: Seconds::ZERO,
            is_silent: false,
            untold: Vec::new(),
            stopwatch: Stopwatch::default(),
        }
    }

    /// From now on says nothing while it is down: what it lost is told when it is back.
    pub fn keep_silent_while_down(&mut self) {
        self.is_silent = true;
    }

    /// Whether it has lost parts that it did not tell of.
    #[must_use]
    pub fn has_untold_losses(&self) -> bool {
        !self.untold.is_empty()
    }

    /// From now on measures with this stopwatch how long its answers to the broker take.
    pub fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.stopwatch = stopwatch.clone();
    }

    /// Hands over jobs, in order of submission.
    pub fn submit(&mut self, jobs: &[Job]) {
        self.service.submit(jobs);
    }

    /// Processes everything before `until`.
    pub fn advance(&mut self, until: Seconds) {
        self.look_before(until);
        self.service.advance(until);
    }

    /// Carries out a command. Only here does the simulation of a broker change a cluster.
    pub fn carry_out(&mut self, now: Seconds, command: &Command) -> Report {
        self.look_before(now);
        let service = self.service.as_mut();
        match command {
            // CPUs that are repaired at an instant are available to the parts that start then.
            Command::Outage(OutageEvent::ClusterUp | OutageEvent::NodesUp { .. }) => {
                service.advance(now)
            }
            _ => service.settle(now),
        }
        let mut report = Report::default();
        match command {
            Command::Outage(outage) => service.apply_outage(now, *outage),
            Command::Settle => {}
            Command::Poll => report.answered_poll = Some(service.is_up()),
            Command::Publish => report.published = service.is_up().then(|| service.free()),
            Command::Deliver(instruction) => {
                if service.is_up() {
                    let answer = || answer(service, now, instruction);
                    report.answer = self.stopwatch.time(Decision::Quote, answer);
                }
            }
        }
        self.untold.extend(service.take_lost_parts());
        if service.is_up() || !self.is_silent {
            report.lost = std::mem::take(&mut self.untold);
        }
        report.begun = service.take_begun_parts();
        report.next_look = service.next_look();
        report
    }

    /// The reservation service, for information about its state.
    pub fn service(&mut self) -> &mut dyn LocalService {
        self.service.as_mut()
    }

    /// The use of its CPUs over time.
    #[must_use]
    pub fn take_line(&mut self) -> TimeLine {
        TimeLine {
            cluster: self.line.cluster,
            samples: std::mem::take(&mut self.line.samples),
        }
    }

    fn look_before(&mut self, until: Seconds) {
        while self.next_look < until {
            self.service.settle(self.next_look);
            let seen = self.service.in_use();
            self.line.samples.push(TimeLineSample {
                time: self.next_look,
                jobs: seen.jobs,
                parts: seen.parts,
            });
            self.next_look += Seconds::HOUR;
        }
    }
}

fn answer(
    service: &mut dyn LocalService,
    now: Seconds,
    instruction: &Instruction,
) -> Option<Answer> {
    match instruction {
        Instruction::Probe { round, probe } => Some(Answer::Probed {
            request: probe.request,
            round: *round,
            offers: service.probe(now, probe),
        }),
        Instruction::Reserve(part) => Some(Answer::Reserved {
            request: part.request,
            order: part.order,
            verdict: service.reserve(now, part),
        }),
        Instruction::Queue(part) => {
            service.queue(now, part);
            None
        }
        Instruction::Proceed {
            request,
            order,
            end,
        } => {
            service.proceed(now, *request, *order, *end);
            None
        }
        Instruction::Cancel { request, order } => {
            service.cancel(now, *request, *order);
            Some(Answer::Cancelled {
                request: *request,
                order: *order,
            })
        }
    }
}
