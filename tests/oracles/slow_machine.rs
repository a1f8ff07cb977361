//! The cluster and its events, as a list that is searched (docs/model.md, "Events at equal times").

use bookahead::failures::FailureTrace;
use bookahead::scheduling::{CrashRule, FailedStartRule, JobOutcome, Verdict};
use bookahead::workload::Job;

/// What can happen, in the order of events at equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    End(usize),
    Repair(usize),
    Failure(usize),
    Start(usize),
    GiveUp(usize),
    Wish(usize),
    Arrival(usize),
}

impl Happening {
    fn class(self) -> u8 {
        match self {
            Self::End(_) => 0,
            Self::Repair(_) => 1,
            Self::Failure(_) => 2,
            Self::Start(_) => 3,
            Self::GiveUp(_) => 4,
            Self::Wish(_) => 5,
            Self::Arrival(_) => 6,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Event {
    time: i64,
    sequence: usize,
    happening: Happening,
}

/// What an accepted job without nodes needs to start again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    Never,
    FullEstimate,
    AnyTime,
}

impl Recovery {
    pub fn after_crash(rule: CrashRule, overbooks: bool) -> Self {
        match rule {
            CrashRule::Strategy | CrashRule::Restart | CrashRule::RestartShort
                if overbooks || rule == CrashRule::RestartShort =>
            {
                Self::AnyTime
            }
            CrashRule::Restart | CrashRule::RestartFull => Self::FullEstimate,
            _ => Self::Never,
        }
    }

    pub fn after_failed_start(rule: FailedStartRule, overbooks: bool) -> Self {
        match rule {
            FailedStartRule::Lost => Self::Never,
            FailedStartRule::WaitShort => Self::AnyTime,
            FailedStartRule::Strategy if overbooks => Self::AnyTime,
            FailedStartRule::Strategy | FailedStartRule::WaitFull => Self::FullEstimate,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Unseen,
    Planned,
    Running,
    /// Accepted, without nodes and (on a counted plan) without a slot.
    Aside,
    Done,
}

/// What became of a job: the part of an outcome that a twin predicts.
#[derive(Clone, Debug, PartialEq)]
pub struct Fate {
    pub verdict: Option<Verdict>,
    /// Promised start, end, whether overbooked.
    pub promise: Option<(i64, i64, bool)>,
    pub pof: Option<f64>,
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub restarts: u32,
    pub node_failures: u32,
}

impl Fate {
    pub fn of(outcome: &JobOutcome) -> Self {
        Self {
            verdict: Some(outcome.verdict),
            promise: outcome
                .promise
                .map(|promise| (promise.start.0, promise.end.0, promise.overbooked)),
            pof: outcome
                .promise
                .and_then(|promise| promise.success)
                .map(|success| success.pof()),
            start: outcome.start.map(|time| time.0),
            end: outcome.end.map(|time| time.0),
            restarts: outcome.restarts,
            node_failures: outcome.node_failures,
        }
    }
}

/// What a twin of a policy decides. The machine has already changed when it is asked.
pub trait Planner {
    fn arrived(&mut self, machine: &mut SlowMachine, job: usize);
    fn start_due(&mut self, machine: &mut SlowMachine, job: usize);
    fn ended(&mut self, machine: &mut SlowMachine, job: usize, nodes: &[usize]);
    fn node_failed(&mut self, machine: &mut SlowMachine, node: usize, victim: Option<usize>);
    fn node_repaired(&mut self, machine: &mut SlowMachine, node: usize);
    /// The job has already failed.
    fn given_up(&mut self, machine: &mut SlowMachine, job: usize);
    /// The user of a running job wishes to have its nodes until then.
    fn wished(&mut self, _machine: &mut SlowMachine, _job: usize, _until: i64) {}
    fn settled(&mut self, _machine: &mut SlowMachine) {}
}

pub struct SlowMachine<'a> {
    pub now: i64,
    pub jobs: &'a [Job],
    pub up: Vec<bool>,
    /// Who runs on each node.
    pub holder: Vec<Option<usize>>,
    pub phase: Vec<Phase>,
    pub fate: Vec<Fate>,
    /// End of the window of each running job.
    pub window_end: Vec<i64>,
    /// How long the run of each job may last since more time was granted to it; else 0.
    pub lengthened: Vec<i64>,
    /// The users of jobs with odd ids ask for more time so many seconds before the end.
    pub asks: Option<i64>,
    /// What each job that is aside needs to start again.
    pub recovery: Vec<Recovery>,
    events: Vec<Event>,
    scheduled: usize,
}

impl<'a> SlowMachine<'a> {
    pub fn new(nodes: u32, jobs: &'a [Job], failures: &FailureTrace) -> Self {
        let nodes = nodes as usize;
        let nothing = Fate {
            verdict: None,
            promise: None,
            pof: None,
            start: None,
            end: None,
            restarts: 0,
            node_failures: 0,
        };
        let mut machine = Self {
            now: 0,
            jobs,
            up: vec![true; nodes],
            holder: vec![None; nodes],
            phase: vec![Phase::Unseen; jobs.len()],
            fate: vec![nothing; jobs.len()],
            window_end: vec![0; jobs.len()],
            lengthened: vec![0; jobs.len()],
            asks: None,
            recovery: vec![Recovery::Never; jobs.len()],
            events: Vec::new(),
            scheduled: 0,
        };
        for (index, job) in jobs.iter().enumerate() {
            machine.schedule(job.submit.0, Happening::Arrival(index));
        }
        for event in &failures.events {
            let node = event.node.0 as usize;
            let happening = if event.up {
                Happening::Repair(node)
            } else {
                Happening::Failure(node)
            };
            machine.schedule(event.time.0, happening);
        }
        machine
    }

    fn schedule(&mut self, time: i64, happening: Happening) {
        self.events.push(Event {
            time,
            sequence: self.scheduled,
            happening,
        });
        self.scheduled += 1;
    }

    fn cancel(&mut self, happening: Happening) {
        self.events.retain(|event| event.happening != happening);
    }

    /// Puts one event at this time, and leaves it where it is if it already is there.
    fn reschedule(&mut self, time: i64, happening: Happening) {
        let there = self
            .events
            .iter()
            .any(|event| event.time == time && event.happening == happening);
        if !there {
            self.cancel(happening);
            self.schedule(time, happening);
        }
    }

    pub fn width(&self, job: usize) -> usize {
        self.jobs[job].nodes.0 as usize
    }

    pub fn estimate(&self, job: usize) -> i64 {
        self.jobs[job].estimate.0
    }

    /// How long the job may hold its nodes: for its estimate, or for what it was promised or
    /// granted if that is more.
    pub fn longest(&self, job: usize) -> i64 {
        let promised = self.fate[job].promise.map(|(start, end, _)| end - start);
        let planned = promised.unwrap_or(0).max(self.estimate(job));
        planned.max(self.lengthened[job])
    }

    /// Grants a running job its nodes until `end`.
    pub fn lengthen(&mut self, job: usize, end: i64) {
        self.lengthened[job] = end - self.fate[job].start.expect("it runs");
        self.set_window(job, end);
    }

    pub fn deadline(&self, job: usize) -> i64 {
        self.jobs[job].deadline.0
    }

    /// The earliest start that is possible from now on.
    pub fn earliest(&self, job: usize) -> i64 {
        self.now.max(self.jobs[job].release.0)
    }

    pub fn in_phase(&self, phase: Phase) -> Vec<usize> {
        (0..self.jobs.len())
            .filter(|&job| self.phase[job] == phase)
            .collect()
    }

    pub fn is_free(&self, node: usize) -> bool {
        self.up[node] && self.holder[node].is_none()
    }

    /// Nodes that are up and run nothing, in ascending order.
    pub fn idle(&self) -> Vec<usize> {
        (0..self.up.len())
            .filter(|&node| self.is_free(node))
            .collect()
    }

    pub fn down(&self) -> usize {
        self.up.iter().filter(|&&up| !up).count()
    }

    pub fn drop(&mut self, job: usize, verdict: Verdict) {
        self.phase[job] = Phase::Done;
        self.fate[job].verdict = Some(verdict);
    }

    /// The job is accepted and will start then.
    pub fn plan(&mut self, job: usize, start: i64) {
        self.phase[job] = Phase::Planned;
        self.cancel(Happening::GiveUp(job));
        self.reschedule(start, Happening::Start(job));
    }

    /// A start event for a job that stays aside.
    pub fn wake(&mut self, job: usize, time: i64) {
        self.reschedule(time, Happening::Start(job));
    }

    /// The job waits and is given up then.
    pub fn wait_until(&mut self, job: usize, give_up: i64) {
        self.phase[job] = Phase::Aside;
        self.cancel(Happening::Start(job));
        self.reschedule(give_up.max(self.now), Happening::GiveUp(job));
    }

    /// The job waits for nodes until it cannot start any more; whether it waits at all.
    pub fn put_aside(&mut self, job: usize, recovery: Recovery) -> bool {
        let give_up = match recovery {
            Recovery::Never => {
                self.fail(job);
                return false;
            }
            Recovery::FullEstimate => self.deadline(job) - self.estimate(job) + 1,
            Recovery::AnyTime => self.deadline(job),
        };
        self.recovery[job] = recovery;
        self.wait_until(job, give_up);
        true
    }

    pub fn start(&mut self, job: usize, nodes: &[usize], window_end: i64) {
        for &node in nodes {
            assert!(self.is_free(node), "the oracle itself uses a node twice");
            self.holder[node] = Some(job);
        }
        self.cancel(Happening::Start(job));
        self.cancel(Happening::GiveUp(job));
        self.phase[job] = Phase::Running;
        if self.fate[job].start.is_some() {
            self.fate[job].restarts += 1;
        }
        self.fate[job].start = Some(self.now);
        let longest = self.longest(job);
        if let Some(before) = self.asks
            && job % 2 == 1
            && self.jobs[job].runtime.0 > longest
        {
            let time = self.now.max(self.now + longest - before);
            self.schedule(time, Happening::Wish(job));
        }
        self.set_window(job, window_end);
    }

    /// The end of a run is entered anew with its window, even where it stays at its second.
    pub fn set_window(&mut self, job: usize, window_end: i64) {
        let start = self.fate[job].start.expect("it runs");
        self.window_end[job] = window_end;
        let granted = self.jobs[job].runtime.0.min(self.longest(job));
        self.cancel(Happening::End(job));
        self.schedule(window_end.min(start + granted), Happening::End(job));
    }

    fn release(&mut self, job: usize) -> Vec<usize> {
        let held: Vec<usize> = (0..self.holder.len())
            .filter(|&node| self.holder[node] == Some(job))
            .collect();
        for &node in &held {
            self.holder[node] = None;
        }
        self.cancel(Happening::Wish(job));
        self.lengthened[job] = 0;
        held
    }

    fn end(&mut self, job: usize) -> Vec<usize> {
        let ran = self.now - self.fate[job].start.expect("it runs");
        let verdict = if ran >= self.jobs[job].runtime.0 {
            Verdict::SuccessfulFinished
        } else if ran >= self.estimate(job) {
            Verdict::SuccessfulFullGrant
        } else {
            Verdict::FailedOverbooked
        };
        self.finish(job, verdict);
        self.release(job)
    }

    pub fn fail(&mut self, job: usize) {
        let crashed = self.fate[job].node_failures > 0;
        let verdict = if crashed {
            Verdict::FailedNodes
        } else {
            Verdict::FailedUnstartable
        };
        self.finish(job, verdict);
    }

    fn finish(&mut self, job: usize, verdict: Verdict) {
        self.phase[job] = Phase::Done;
        self.fate[job].verdict = Some(verdict);
        self.fate[job].end = Some(self.now);
        self.cancel(Happening::Start(job));
        self.cancel(Happening::End(job));
        self.cancel(Happening::GiveUp(job));
    }

    /// Works off all events and tells every job's fate.
    pub fn run(mut self, planner: &mut dyn Planner) -> Vec<Fate> {
        let mut unsettled = false;
        loop {
            let next = self
                .events
                .iter()
                .min_by_key(|event| (event.time, event.happening.class(), event.sequence))
                .copied();
            if unsettled && next.is_none_or(|event| event.time > self.now) {
                unsettled = false;
                planner.settled(&mut self);
                continue;
            }
            let Some(event) = next else { break };
            self.events.retain(|other| other.sequence != event.sequence);
            self.now = event.time;
            unsettled = true;
            match event.happening {
                Happening::End(job) => {
                    let nodes = self.end(job);
                    planner.ended(&mut self, job, &nodes);
                }
                Happening::Repair(node) => {
                    self.up[node] = true;
                    planner.node_repaired(&mut self, node);
                }
                Happening::Failure(node) => {
                    self.up[node] = false;
                    let victim = self.holder[node];
                    if let Some(job) = victim {
                        self.fate[job].node_failures += 1;
                        self.cancel(Happening::End(job));
                        self.release(job);
                    }
                    planner.node_failed(&mut self, node, victim);
                }
                Happening::Start(job) => planner.start_due(&mut self, job),
                Happening::Wish(job) => {
                    let needed = self.fate[job].start.expect("it runs") + self.jobs[job].runtime.0;
                    let until = needed.min(self.deadline(job));
                    planner.wished(&mut self, job, until);
                }
                Happening::GiveUp(job) => {
                    self.fail(job);
                    planner.given_up(&mut self, job);
                }
                Happening::Arrival(job) if self.width(job) > self.up.len() => {
                    self.drop(job, Verdict::DroppedTooWide);
                }
                Happening::Arrival(job) => planner.arrived(&mut self, job),
            }
        }
        self.fate
    }
}
