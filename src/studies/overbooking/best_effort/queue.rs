//! The jobs without promises: who waits, who runs on which nodes, and who gives way.

use std::collections::VecDeque;

use bookahead_core::plan::NodeSet;
use bookahead_core::scheduling::Allocation;
use bookahead_core::scheduling::victims::{Stoppable, least_lost};
use bookahead_core::units::{NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::Job;

use super::settings::{BestEffortSettings, BestEffortStart, WhenStopped};

/// How a job without a promise ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It ran to its end, or to the end of its estimate.
    Done,
    /// It was ended because others needed its nodes, or because one of them failed.
    Killed,
    /// It is wider than the machine.
    TooWide,
}

impl Fate {
    /// Every fate, in the order of their codes in the store.
    pub const ALL: &[Self] = &[Self::Done, Self::Killed, Self::TooWide];

    /// The name in the store.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Killed => "killed",
            Self::TooWide => "too-wide",
        }
    }
}

/// A job on its nodes, from a start until it ended or gave way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BestEffortRun {
    /// When it started.
    pub start: Seconds,
    /// When it left its nodes.
    pub end: Seconds,
    /// Whether what it did was not lost.
    pub kept: bool,
}

/// What became of a job without a promise.
#[derive(Clone, Debug, PartialEq)]
pub struct BestEffortOutcome {
    /// The job as it was submitted, without a deadline.
    pub job: Job,
    /// How it ended.
    pub fate: Fate,
    /// Its runs, one after the other; none of a job that is too wide.
    pub runs: Vec<BestEffortRun>,
    /// How often it gave way to other jobs.
    pub stops: u32,
    /// How often a node failed under it.
    pub node_failures: u32,
}

impl BestEffortOutcome {
    /// Its first start.
    #[must_use]
    pub fn start(&self) -> Option<Seconds> {
        Some(self.runs.first()?.start)
    }

    /// When it left its nodes for good.
    #[must_use]
    pub fn end(&self) -> Option<Seconds> {
        Some(self.runs.last()?.end)
    }

    /// Node-time of its runs until `horizon`: what was kept, and what was lost.
    #[must_use]
    pub fn held_until(&self, horizon: Seconds) -> (NodeSeconds, NodeSeconds) {
        let (mut kept, mut lost) = (Seconds::ZERO, Seconds::ZERO);
        for run in &self.runs {
            let held = (run.end.min(horizon) - run.start).max(Seconds::ZERO);
            if run.kept {
                kept += held;
            } else {
                lost += held;
            }
        }
        (self.job.nodes.for_span(kept), self.job.nodes.for_span(lost))
    }
}

/// A job that is not over.
#[derive(Clone, Debug)]
struct Entry {
    job: Job,
    /// Work that its next run need not do.
    saved: Seconds,
    runs: Vec<BestEffortRun>,
    stops: u32,
    node_failures: u32,
}

impl Entry {
    /// How long it runs if it is not stopped.
    fn rest(&self) -> Seconds {
        self.job.runtime.min(self.job.estimate) - self.saved
    }

    fn end(self, fate: Fate) -> BestEffortOutcome {
        BestEffortOutcome {
            job: self.job,
            fate,
            runs: self.runs,
            stops: self.stops,
            node_failures: self.node_failures,
        }
    }
}

/// A job on its nodes.
#[derive(Clone, Debug)]
struct Running {
    entry: Entry,
    since: Seconds,
    nodes: NodeSet,
    /// Since when it holds these nodes.
    placed: Seconds,
}

impl Running {
    fn end(&self) -> Seconds {
        self.since + self.entry.rest()
    }

    /// That it held its nodes until `now`.
    fn allocation(&self, now: Seconds, lost: bool) -> Allocation {
        Allocation {
            job: self.entry.job.id,
            nodes: self.nodes.clone(),
            start: self.placed,
            end: now,
            lost,
        }
    }
}

/// Why a job leaves its nodes before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Interruption {
    /// Others need them.
    GivesWay,
    /// One of them failed.
    NodeFailed,
}

/// The jobs without promises on one machine.
#[derive(Clone, Debug)]
pub struct BestEffortQueue {
    settings: BestEffortSettings,
    machine: Nodes,
    /// By rising release times.
    arrivals: VecDeque<Job>,
    /// In order of submission.
    waiting: VecDeque<Entry>,
    running: Vec<Running>,
    outcomes: Vec<BestEffortOutcome>,
    /// The nodes of jobs over time, if they are recorded.
    pub(super) allocations: Option<Vec<Allocation>>,
}

impl BestEffortQueue {
    pub(super) fn new(machine: Nodes, settings: BestEffortSettings) -> Self {
        Self {
            settings,
            machine,
            arrivals: VecDeque::new(),
            waiting: VecDeque::new(),
            running: Vec::new(),
            outcomes: Vec::new(),
            allocations: None,
        }
    }

    /// A job that may start from its release on.
    pub(super) fn submit(&mut self, job: Job) {
        let place = self
            .arrivals
            .partition_point(|earlier| earlier.release <= job.release);
        self.arrivals.insert(place, job);
    }

    /// When one of them is released or ends next.
    pub(super) fn next_event(&self) -> Option<Seconds> {
        let arrival = self.arrivals.front().map(|job| job.release);
        let ends = self.running.iter().map(Running::end);
        arrival.into_iter().chain(ends).min()
    }

    /// Whether all of them are over.
    pub(super) fn is_empty(&self) -> bool {
        self.arrivals.is_empty() && self.waiting.is_empty() && self.running.is_empty()
    }

    /// Whether a job starts only where the plan has room for it.
    pub(super) fn asks_the_plan(&self) -> bool {
        self.settings.start == BestEffortStart::Fits
    }

    /// What became of those that are over, in the order of their ends.
    pub(super) fn outcomes(&self) -> &[BestEffortOutcome] {
        &self.outcomes
    }

    /// What happens to them at `now`, after all that happened to the other jobs and to nodes: those
    /// that are done end, those that lost a node or are in the way leave theirs, and others start.
    ///
    /// `up` are the nodes that are up, `idle` those of them without a job that was promised
    /// something; `fits` says whether the plan would have so many nodes free for so long.
    pub(super) fn settle(
        &mut self,
        now: Seconds,
        up: &NodeSet,
        idle: &NodeSet,
        fits: impl FnMut(Nodes, Seconds) -> bool,
    ) {
        self.end_those_that_are_done(now);
        let due = self.arrivals.partition_point(|job| job.release <= now);
        for job in self.arrivals.drain(..due).collect::<Vec<_>>() {
            self.arrive(job);
        }
        for place in (0..self.running.len()).rev() {
            if !self.running[place].nodes.is_subset_of(up) {
                self.interrupt(place, now, Interruption::NodeFailed);
            }
        }
        self.give_way(now, idle);
        self.start(now, idle, fits);
    }

    fn end_those_that_are_done(&mut self, now: Seconds) {
        let (done, running) = std::mem::take(&mut self.running)
            .into_iter()
            .partition(|running| running.end() <= now);
        self.running = running;
        let done: Vec<Running> = done;
        for running in done {
            if let Some(allocations) = &mut self.allocations {
                allocations.push(running.allocation(now, false));
            }
            let Running {
                mut entry, since, ..
            } = running;
            entry.runs.push(BestEffortRun {
                start: since,
                end: now,
                kept: true,
            });
            self.outcomes.push(entry.end(Fate::Done));
        }
    }

    fn arrive(&mut self, job: Job) {
        let is_too_wide = job.nodes > self.machine;
        let entry = Entry {
            job,
            saved: Seconds::ZERO,
            runs: Vec::new(),
            stops: 0,
            node_failures: 0,
        };
        if is_too_wide {
            self.outcomes.push(entry.end(Fate::TooWide));
        } else {
            self.wait(entry);
        }
    }

    /// A job waits in its place in the order of submission.
    fn wait(&mut self, entry: Entry) {
        let place = self
            .waiting
            .partition_point(|waiting| waiting.job.id < entry.job.id);
        self.waiting.insert(place, entry);
    }

    fn interrupt(&mut self, place: usize, now: Seconds, why: Interruption) {
        let running = self.running.remove(place);
        if let Some(allocations) = &mut self.allocations {
            allocations.push(running.allocation(now, why == Interruption::NodeFailed));
        }
        let Running {
            mut entry, since, ..
        } = running;
        let is_saved =
            self.settings.when_stopped == WhenStopped::Suspend && why == Interruption::GivesWay;
        if is_saved {
            entry.saved += now - since;
        }
        entry.runs.push(BestEffortRun {
            start: since,
            end: now,
            kept: is_saved,
        });
        entry.stops += u32::from(why == Interruption::GivesWay);
        entry.node_failures += u32::from(why == Interruption::NodeFailed);
        if self.settings.when_stopped == WhenStopped::Kill {
            self.outcomes.push(entry.end(Fate::Killed));
        } else {
            self.wait(entry);
        }
    }

    /// Other jobs have started on nodes of these. They could as well have started on nodes that
    /// nobody uses, so jobs move to those as far as they suffice; where they do not, those are
    /// stopped with which least is lost.
    fn give_way(&mut self, now: Seconds, idle: &NodeSet) {
        let held: u32 = self.running.iter().map(|it| it.entry.job.nodes.0).sum();
        let excess = held.saturating_sub(idle.count().0);
        let stopped = least_lost(self.stoppable(now), |stopped| {
            stopped.iter().map(|it| it.nodes.0).sum::<u32>() >= excess
        });
        for victim in stopped.unwrap_or_default() {
            let is_victim = |running: &Running| running.entry.job.id == victim.job;
            if let Some(place) = self.running.iter().position(is_victim) {
                self.interrupt(place, now, Interruption::GivesWay);
            }
        }
        let mut free = self.free(idle);
        for running in &mut self.running {
            if running.nodes.is_subset_of(idle) {
                continue;
            }
            if let Some(allocations) = &mut self.allocations {
                allocations.push(running.allocation(now, false));
            }
            running.placed = now;
            running.nodes.intersect_with(idle);
            let lacking = Nodes(running.entry.job.nodes.0 - running.nodes.count().0);
            // What is held is no more than what is idle, so there are enough.
            if let Some(others) = free.lowest(lacking) {
                free.subtract(&others);
                running.nodes.union_with(&others);
            }
        }
    }

    fn stoppable(&self, now: Seconds) -> Vec<Stoppable> {
        let is_saved = self.settings.when_stopped == WhenStopped::Suspend;
        let stoppable = self.running.iter().map(|running| {
            let used = now - running.since;
            let lost = if is_saved { Seconds::ZERO } else { used };
            Stoppable {
                job: running.entry.job.id,
                nodes: running.entry.job.nodes,
                since: running.since,
                lost: running.entry.job.nodes.for_span(lost),
            }
        });
        stoppable.collect()
    }

    /// Idle nodes that none of these jobs holds.
    fn free(&self, idle: &NodeSet) -> NodeSet {
        let mut free = idle.clone();
        for running in &self.running {
            free.subtract(&running.nodes);
        }
        free
    }

    fn start(
        &mut self,
        now: Seconds,
        idle: &NodeSet,
        mut fits: impl FnMut(Nodes, Seconds) -> bool,
    ) {
        let mut free = self.free(idle);
        let mut held = Nodes(self.running.iter().map(|it| it.entry.job.nodes.0).sum());
        while let Some(next) = self.waiting.front() {
            let (nodes, estimate) = (next.job.nodes, next.job.estimate - next.saved);
            let Some(chosen) = free.lowest(nodes) else {
                return;
            };
            if !fits(Nodes(held.0 + nodes.0), estimate) {
                return;
            }
            let Some(entry) = self.waiting.pop_front() else {
                return;
            };
            free.subtract(&chosen);
            held.0 += nodes.0;
            self.running.push(Running {
                entry,
                since: now,
                nodes: chosen,
                placed: now,
            });
        }
    }
}
