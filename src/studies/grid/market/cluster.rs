//! A cluster of a market: the questions of the broker, and the cluster's answers.

use super::CheckpointStorage;
use super::lent::Room;
use bookahead_core::failures::NodeEvent;
use bookahead_core::kernel::{Decision, Service, Stopwatch};
use bookahead_core::plan::NodeSet;
use bookahead_core::scheduling::{ClusterMachine, JobOutcome, JobQuote, MovedJob};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

/// A cluster behind the broker of a market.
pub struct MarketCluster {
    pub(super) machine: ClusterMachine,
    pub(super) stopwatch: Stopwatch,
    /// How far ahead it says what is booked; `None` where it does not.
    pub(super) horizon: Option<Seconds>,
    /// Where checkpoints are stored.
    pub(super) storage: CheckpointStorage,
    /// How fast it is: jobs hold nodes for 1/speed of the time that they ask for.
    pub(super) speed: f64,
}

/// What comes to a cluster of a market.
#[derive(Clone, Debug)]
pub enum MarketQuestion {
    /// Nodes of it fail or are repaired.
    Nodes(Vec<NodeEvent>),
    /// What the broker asks.
    Broker {
        /// The job that went to this cluster since the last question, when it was submitted.
        taken: Option<Job>,
        /// What it asks then.
        question: BrokerQuestion,
    },
}

/// What the broker of a market asks a cluster.
#[derive(Clone, Debug)]
pub enum BrokerQuestion {
    /// Settle what happens until this job is submitted, and quote what it would be promised.
    Quote(Job),
    /// Work off what happens before this time; stop after the first instant in which jobs were
    /// interrupted, or when none is left.
    WorkOff(Seconds),
    /// Settle what happens until this instant.
    Settle(Seconds),
    /// What would leave with this interrupted job, and what is its rest promised here?
    Rest(JobId),
    /// What would this job be promised, given what was done of it?
    QuoteRest(Box<MovedJob>),
    /// How many nodes are free throughout so much time, by its start from now until `until`? A home
    /// counts what it has borrowed, a lender its own.
    Room {
        /// Settle until this instant.
        now: Seconds,
        /// For how long nodes are wanted.
        length: Seconds,
        /// When they are wanted at the latest.
        until: Seconds,
        /// Whether a home is asked for what it has itself.
        of_home: bool,
    },
    /// Lend so many nodes on `[start, end)`.
    Lend {
        /// How many.
        nodes: Nodes,
        /// From when on.
        start: Seconds,
        /// Until when.
        end: Seconds,
    },
    /// Have so many nodes of another cluster on `[start, end)`.
    Borrow {
        /// How many.
        nodes: Nodes,
        /// From when on.
        start: Seconds,
        /// Until when.
        end: Seconds,
    },
    /// This will happen to borrowed nodes.
    Happens(Vec<NodeEvent>),
    /// A loan of these nodes that was agreed in this instant is off.
    Revoke {
        /// The nodes of the lender, or the places of the borrower.
        nodes: NodeSet,
        /// When it was to begin.
        start: Seconds,
    },
    /// Let this job go, now.
    HandOver(JobId, Seconds),
    /// Take on the rest of a job, now.
    Receive(Box<MovedJob>, Seconds),
}

/// The answer of a cluster of a market to any question.
#[derive(Clone, Debug, Default)]
pub struct MarketAnswer {
    /// Its promise; `None` where it gives none, or was not asked for one.
    pub quote: Option<JobQuote>,
    /// The rest of a job that would move, if that was asked and the job has not ended.
    pub rest: Option<Box<MovedJob>>,
    /// How many nodes are free, by the start; empty unless that was asked.
    pub room: Room,
    /// How many nodes of others there is a place for.
    pub empty_places: Nodes,
    /// The nodes that are lent, or the places of those that are borrowed.
    pub nodes: Option<NodeSet>,
    /// Outcomes since the last answer, in the order in which they became final.
    pub outcomes: Vec<JobOutcome>,
    /// Jobs that were interrupted since the last answer, in the order in which they were.
    pub interrupted: Vec<JobId>,
    /// The instant until which it has settled what happens.
    pub now: Seconds,
    /// When something happens next.
    pub next_event: Option<Seconds>,
    /// The node-time that is booked within the horizon, where that is said.
    pub booked: Option<NodeSeconds>,
    /// Whether every job that it took has its outcome.
    pub is_idle: bool,
}

impl MarketCluster {
    /// A job as this cluster runs and plans it; whole seconds, at least one.
    fn at_speed(&self, job: Job) -> Job {
        if self.speed == 1.0 {
            return job;
        }
        let span = |span: Seconds| Seconds((libm::ceil(span.0 as f64 / self.speed) as i64).max(1));
        Job {
            estimate: span(job.estimate),
            runtime: span(job.runtime),
            ..job
        }
    }

    fn take(&mut self, job: Job) {
        // One that nobody took at its submission comes later.
        let now = job.submit.max(self.machine.cluster().now());
        self.machine.submit([self.at_speed(job)]);
        self.machine.settle(now);
    }

    fn answer_broker(&mut self, question: BrokerQuestion) -> MarketAnswer {
        let mut answer = MarketAnswer::default();
        let question = match question {
            BrokerQuestion::Quote(job) => BrokerQuestion::Quote(self.at_speed(job)),
            other => other,
        };
        let machine = &mut self.machine;
        match question {
            BrokerQuestion::Quote(job) => {
                machine.settle(job.submit);
                answer.quote = (self.stopwatch).time(Decision::Quote, || machine.quote_job(&job));
            }
            BrokerQuestion::WorkOff(before) => {
                while !machine.is_idle()
                    && answer.interrupted.is_empty()
                    && let Some(next) = machine.next_event().filter(|&next| next < before)
                {
                    machine.settle(next);
                    answer.interrupted = machine.take_interrupted();
                }
            }
            BrokerQuestion::Settle(now) => machine.settle(now),
            BrokerQuestion::Rest(job) => {
                let is_out_of_reach =
                    self.storage == CheckpointStorage::Local && machine.cluster().up().is_empty();
                if !is_out_of_reach {
                    answer.rest = machine.interrupted(job).map(Box::new);
                }
                if answer.rest.is_some() {
                    answer.quote = machine.quote_planned_rest(job);
                }
            }
            BrokerQuestion::QuoteRest(moved) => answer.quote = machine.quote_moved(&moved),
            BrokerQuestion::Room {
                now,
                length,
                until,
                of_home,
            } => {
                machine.settle(now);
                answer.room = machine.room(length, until, !of_home);
                answer.empty_places = machine.empty_places();
            }
            BrokerQuestion::Lend { nodes, start, end } => {
                answer.nodes = machine.lend(nodes, start, end);
            }
            BrokerQuestion::Borrow { nodes, start, end } => {
                answer.nodes = machine.borrow_nodes(nodes, start, end);
            }
            BrokerQuestion::Happens(events) => machine.inject(&events),
            BrokerQuestion::Revoke { nodes, start } => machine.revoke_loan(&nodes, start),
            BrokerQuestion::HandOver(job, now) => {
                machine.hand_over(job);
                machine.settle(now);
            }
            BrokerQuestion::Receive(moved, now) => {
                machine.receive(&moved);
                machine.settle(now);
            }
        }
        answer
    }
}

impl Service for MarketCluster {
    type Question = MarketQuestion;
    type Answer = MarketAnswer;

    fn answer(&mut self, question: MarketQuestion) -> MarketAnswer {
        let mut answer = match question {
            MarketQuestion::Nodes(events) => {
                self.machine.inject(&events);
                MarketAnswer::default()
            }
            MarketQuestion::Broker { taken, question } => {
                if let Some(job) = taken {
                    self.take(job);
                }
                self.answer_broker(question)
            }
        };
        answer.outcomes = self.machine.take_outcomes();
        answer
            .interrupted
            .append(&mut self.machine.take_interrupted());
        answer.now = self.machine.cluster().now();
        answer.next_event = self.machine.next_event();
        answer.is_idle = self.machine.is_idle();
        answer.booked =
            (self.horizon).and_then(|horizon| self.machine.booked(answer.now + horizon));
        answer
    }

    fn time_decisions(&mut self, stopwatch: &Stopwatch) {
        self.machine.time_decisions(stopwatch);
        self.stopwatch = stopwatch.clone();
    }
}
