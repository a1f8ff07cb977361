//! Conservative backfilling and comprehensive overbooking with lists of reservations and
//! distributions on arrays of seconds (docs/model.md, "comprehensive-overbooking").

use bookahead::scheduling::{
    Acceptance, CrashRule, EarlyStart, FailedStartRule, OverlapRule, PolicySpec, Retry,
    UnderestimatorRule, Verdict,
};
use bookahead::workload::Job;
use proptest::prelude::*;

use super::agree;
use super::slow_machine::{Fate, Phase, Planner, Recovery, SlowMachine};
use super::workloads::{Case, Kind, asking, case, of_users};

/// A job's nodes on `[start, end)`.
#[derive(Clone, Debug, PartialEq)]
struct Reservation {
    job: usize,
    nodes: Vec<usize>,
    start: i64,
    end: i64,
}

impl Reservation {
    /// It has no time of its own.
    fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Plans are ordered by start; whoever has no time of its own comes first.
    fn order(&self) -> (i64, bool, usize) {
        (self.start, !self.is_empty(), self.job)
    }

    fn touches(&self, nodes: &[usize]) -> bool {
        self.nodes.iter().any(|node| nodes.contains(node))
    }
}

struct Twin {
    overbooks: bool,
    /// Nodes are given back at the real end, and planned jobs start early.
    releases: bool,
    after_crash: Recovery,
    after_failed_start: Recovery,
    retry: Retry,
    /// Nobody is placed in front of a planned overbooked job on its nodes.
    holds: bool,
    /// Jobs are planned where one reservation follows another at once.
    overlaps: bool,
    threshold: Acceptance,
    failure_rate: f64,
    repair_rate: f64,
    /// Share of the learning jobs in each percent.
    pdf: Vec<f64>,
    /// For how long each job of an underestimator is planned first.
    longer: Vec<Option<i64>>,
    end_of_time: usize,
    reservations: Vec<Reservation>,
    /// For each accepted job, the probability that it has ended by each second; fixed at
    /// acceptance.
    completion: Vec<Vec<f64>>,
}

impl Twin {
    fn new(case: &Case, settings: &PolicySpec) -> Self {
        let overbooks = settings.strategy == "comprehensive-overbooking";
        let latest = case.jobs.iter().map(|job| job.deadline.0 + job.estimate.0);
        let longer = |job: &Job| match settings.underestimators {
            UnderestimatorRule::AsEstimated => None,
            UnderestimatorRule::MoreTime => case.longer(job),
        };
        let releases = match settings.early_start {
            EarlyStart::Strategy => overbooks,
            EarlyStart::Yes => true,
            EarlyStart::No => false,
        };
        Self {
            overbooks,
            releases,
            overlaps: releases && settings.overlap == OverlapRule::Predecessors,
            after_crash: Recovery::after_crash(settings.crash, overbooks),
            after_failed_start: Recovery::after_failed_start(settings.failed_start, overbooks),
            retry: settings.retry,
            holds: settings.hold_for_overbooked,
            threshold: settings.acceptance,
            failure_rate: case.failure_rate,
            repair_rate: settings.reliability.repair_rate_per_hour,
            pdf: (0..=100).map(|percent| case.share(percent)).collect(),
            longer: case.jobs.iter().map(longer).collect(),
            end_of_time: latest.max().unwrap_or(0) as usize + 2,
            reservations: Vec::new(),
            completion: vec![Vec::new(); case.jobs.len()],
        }
    }

    fn candidate_starts(&self, machine: &SlowMachine, job: usize) -> Vec<i64> {
        let first = machine.earliest(job);
        let ends = self.reservations.iter().map(|reservation| reservation.end);
        let mut starts: Vec<i64> = ends
            .filter(|&end| end > first && end <= machine.deadline(job))
            .chain([first])
            .collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    }

    /// Nodes without a reservation on `[start, end)`; only those that are up, if that is now.
    fn unreserved(&self, machine: &SlowMachine, start: i64, end: i64) -> Vec<usize> {
        (0..machine.up.len())
            .filter(|&node| start > machine.now || machine.up[node])
            .filter(|node| {
                !self.reservations.iter().any(|other| {
                    let overbooked = machine.fate[other.job]
                        .promise
                        .is_some_and(|promise| promise.2);
                    let held =
                        self.holds && overbooked && machine.phase[other.job] == Phase::Planned;
                    other.nodes.contains(node) && (other.start < end || held) && start < other.end
                })
            })
            .collect()
    }

    /// The first start of somebody else's reservation on these nodes from `from` on.
    fn next_start(&self, job: usize, nodes: &[usize], from: i64) -> i64 {
        self.reservations
            .iter()
            .filter(|other| other.job != job && other.touches(nodes) && other.start >= from)
            .filter(|other| other.start > from || !other.is_empty())
            .map(|other| other.start)
            .min()
            .unwrap_or(i64::MAX)
    }

    fn place_full(&self, machine: &SlowMachine, job: usize, length: i64) -> Option<Reservation> {
        for start in self.candidate_starts(machine, job) {
            let end = start + length;
            if end > machine.deadline(job) {
                break;
            }
            let mut nodes = self.unreserved(machine, start, end);
            if nodes.len() >= machine.width(job) {
                nodes.truncate(machine.width(job));
                return Some(Reservation {
                    job,
                    nodes,
                    start,
                    end,
                });
            }
        }
        None
    }

    /// The last jobs before `start` on these nodes whose windows are still open at `from`.
    fn predecessors(&self, nodes: &[usize], from: i64, start: i64) -> Vec<usize> {
        let mut last: Vec<usize> = nodes
            .iter()
            .filter_map(|node| {
                self.reservations
                    .iter()
                    .filter(|other| other.nodes.contains(node) && other.end <= start)
                    .max_by_key(|other| (other.end, other.is_empty()))
            })
            .filter(|other| other.end > from)
            .map(|other| other.job)
            .collect();
        last.sort_unstable();
        last.dedup();
        last
    }

    /// Density, second by second, of the time at which the predecessors are gone.
    fn start_density(&self, predecessors: &[usize], from: i64, start: i64) -> Vec<f64> {
        let gone = |second: i64| -> f64 {
            if second < from {
                0.0
            } else if second >= start {
                1.0
            } else {
                let ended = predecessors
                    .iter()
                    .map(|&other| self.completion[other][second as usize]);
                ended.product()
            }
        };
        (0..self.end_of_time as i64)
            .map(|second| gone(second) - gone(second - 1))
            .collect()
    }

    /// Density of the runtime in seconds: percent bin `i` ends at second `ceil(i · x / 100)`
    ///
    fn runtime_density(&self, estimate: i64) -> Vec<f64> {
        let mut density = vec![0.0; estimate as usize + 1];
        for (bin, share) in (0..).zip(&self.pdf) {
            density[((bin * estimate + 99) / 100) as usize] += share;
        }
        density
    }

    /// Density of the completion time: the direct convolution of both.
    fn convolve(&self, start: &[f64], runtime: &[f64]) -> Vec<f64> {
        let mut density = vec![0.0; self.end_of_time];
        for (second, &probability) in start.iter().enumerate() {
            if probability == 0.0 {
                continue;
            }
            for (length, &share) in runtime.iter().enumerate() {
                if second + length < density.len() {
                    density[second + length] += probability * share;
                }
            }
        }
        density
    }

    /// There is such a reservation of a node.
    fn has(&self, node: usize, is_such: impl Fn(&Reservation) -> bool) -> bool {
        let mut reservations = self.reservations.iter();
        reservations.any(|it| it.nodes.contains(&node) && is_such(it))
    }

    /// Nodes from `start` on with the longest room until the next reservation, and its end: no room
    /// at all only where jobs overlap, one of the nodes is given back at `start`, the job may start
    /// at once, and nobody else is planned there in the same way.
    fn gap(&self, machine: &SlowMachine, job: usize, start: i64) -> Option<(Vec<usize>, i64)> {
        let (width, deadline) = (machine.width(job), machine.deadline(job));
        let mut nodes = self.unreserved(machine, start, start + 1);
        if nodes.len() >= width && start < deadline {
            nodes.sort_by_key(|&node| {
                (
                    std::cmp::Reverse(self.next_start(job, &[node], start)),
                    node,
                )
            });
            nodes.truncate(width);
            nodes.sort_unstable();
            let end = deadline.min(self.next_start(job, &nodes, start));
            return Some((nodes, end));
        }
        if !self.overlaps || start == machine.now || machine.earliest(job) > machine.now {
            return None;
        }
        let is_held = |other: &Reservation| {
            let promise = machine.fate[other.job].promise;
            let overbooked = promise.is_some_and(|promise| promise.2);
            let planned = machine.phase[other.job] == Phase::Planned;
            self.holds && overbooked && planned && other.start >= start
        };
        let mut possible: Vec<usize> = (0..machine.up.len())
            .filter(|&node| !self.has(node, |it| it.start < start && start < it.end))
            .filter(|&node| !self.has(node, |it| it.is_empty() && it.start == start))
            .filter(|&node| !self.has(node, is_held))
            .collect();
        possible.sort_by_key(|&node| (!nodes.contains(&node), node));
        possible.truncate(width);
        let ends_there = |other: &Reservation| other.end == start && !other.is_empty();
        if possible.len() < width || !possible.iter().any(|&node| self.has(node, ends_there)) {
            return None;
        }
        possible.sort_unstable();
        Some((possible, start))
    }

    fn place_overbooked(&self, machine: &SlowMachine, job: usize) -> Option<(Reservation, f64)> {
        let from = machine.earliest(job);
        for start in self.candidate_starts(machine, job) {
            let Some((nodes, end)) = self.gap(machine, job, start) else {
                continue;
            };
            let density = self.start_density(&self.predecessors(&nodes, from, start), from, start);
            let runtime = self.runtime_density(machine.estimate(job));
            let within = |seconds: i64| -> f64 {
                let ended = runtime.iter().take((seconds + 1).max(0) as usize);
                ended.sum()
            };
            // Between two jobs it cannot start when the first has used all its time.
            let last_start = if start == end { end - 1 } else { end };
            let executable: f64 = (0..=last_start)
                .zip(&density)
                .filter(|&(_, &probability)| probability > 0.0)
                .map(|(second, probability)| probability * within(end - second))
                .sum();
            let width = machine.width(job) as f64;
            let room = if start == end {
                end - from
            } else {
                end - start
            };
            let length = machine.estimate(job).min(room) as f64;
            let available = (1.0 / (1.0 + self.failure_rate / self.repair_rate)).powf(width);
            let survives = (-self.failure_rate * width * length / 3_600.0).exp();
            let pof = 1.0 - available * executable * survives;
            // Every start with every run time, also those that no window has room for.
            let mut times: Vec<(f64, f64)> = Vec::new();
            for (second, &begins) in (0..).zip(&density).filter(|(_, begins)| **begins > 0.0) {
                for (length, &share) in (0..).zip(&runtime).filter(|(_, share)| **share > 0.0) {
                    times.push(((second - from + length) as f64, begins * share));
                }
            }
            times.sort_by(|one, other| one.0.total_cmp(&other.0));
            if super::accepts(self.threshold, pof, &times, (end - from) as f64) {
                let reservation = Reservation {
                    job,
                    nodes,
                    start,
                    end,
                };
                return Some((reservation, pof));
            }
        }
        None
    }

    /// Nobody counts on it that this job ends before that.
    fn expect_at(&mut self, job: usize, end: i64) {
        let seconds = 0..self.end_of_time as i64;
        let ended = seconds.map(|second| if second >= end { 1.0 } else { 0.0 });
        self.completion[job] = ended.collect();
    }

    fn accept(&mut self, machine: &mut SlowMachine, reservation: Reservation, pof: Option<f64>) {
        let Reservation {
            job, start, end, ..
        } = reservation;
        if self.longer[job].is_some() {
            self.expect_at(job, end);
        } else if self.overbooks {
            let from = machine.earliest(job);
            let predecessors = self.predecessors(&reservation.nodes, from, start);
            let density = self.start_density(&predecessors, from, start);
            let runtime = self.runtime_density(machine.estimate(job));
            let mut sum = 0.0;
            self.completion[job] = (0..)
                .zip(self.convolve(&density, &runtime))
                .map(|(second, probability)| {
                    sum += probability;
                    if second >= end { 1.0 } else { sum }
                })
                .collect();
        }
        machine.fate[job].promise = Some((start, end, pof.is_some()));
        machine.fate[job].pof = pof;
        self.reservations.push(reservation);
        machine.plan(job, start);
    }

    fn reservation_of(&self, job: usize) -> &Reservation {
        let own = self.reservations.iter().find(|own| own.job == job);
        own.expect("accepted jobs have one")
    }

    /// Starts a job now, with as much time as its nodes have.
    fn start(&mut self, machine: &mut SlowMachine, job: usize) {
        let nodes = self.reservation_of(job).nodes.clone();
        let window_end = self.window(machine, job);
        for own in &mut self.reservations {
            if own.job == job {
                (own.start, own.end) = (machine.now, window_end);
            }
        }
        machine.start(job, &nodes, window_end);
    }

    fn window(&self, machine: &SlowMachine, job: usize) -> i64 {
        let next = self.next_start(job, &self.reservation_of(job).nodes, machine.now);
        (machine.now + machine.longest(job))
            .min(machine.deadline(job))
            .min(next)
    }

    fn nodes_are_there(&self, machine: &SlowMachine, job: usize) -> bool {
        let mut nodes = self.reservation_of(job).nodes.iter();
        nodes.all(|&node| machine.is_free(node))
    }

    /// Somebody else has a node of the job now.
    fn is_taken(&self, machine: &SlowMachine, job: usize) -> bool {
        let nodes = &self.reservation_of(job).nodes;
        self.reservations.iter().any(|other| {
            other.job != job
                && other.touches(nodes)
                && other.start <= machine.now
                && machine.now < other.end
        })
    }

    fn retry_disabled(&mut self, machine: &mut SlowMachine) {
        for job in machine.in_phase(Phase::Aside) {
            let taken = self.is_taken(machine, job);
            let least = match machine.recovery[job] {
                Recovery::AnyTime => 1,
                _ => machine.estimate(job),
            };
            if !taken
                && self.nodes_are_there(machine, job)
                && self.window(machine, job) - machine.now >= least
            {
                self.start(machine, job);
                self.begin_anew(machine, job);
            }
        }
    }

    /// A restarted job runs from now, from scratch, whatever was expected of it before.
    fn begin_anew(&mut self, machine: &SlowMachine, job: usize) {
        if !self.overbooks {
            return;
        }
        let (now, end) = (machine.now, self.reservation_of(job).end);
        if self.longer[job].is_some() {
            self.expect_at(job, end);
            return;
        }
        let runtime = self.runtime_density(machine.estimate(job));
        let ended = |second: i64| -> f64 {
            let lengths = runtime.iter().take((second - now + 1).max(0) as usize);
            lengths.sum()
        };
        self.completion[job] = (0..self.end_of_time as i64)
            .map(|second| if second >= end { 1.0 } else { ended(second) })
            .collect();
    }

    fn start_early(&mut self, machine: &mut SlowMachine, freed: &[usize]) {
        if !self.releases {
            return;
        }
        let mut waiting: Vec<(i64, bool, usize)> = machine
            .in_phase(Phase::Planned)
            .into_iter()
            .filter(|&job| self.reservation_of(job).touches(freed))
            // A start that is due now is an event of its own, after the failures of this instant.
            .filter(|&job| self.reservation_of(job).start > machine.now)
            .map(|job| self.reservation_of(job).order())
            .collect();
        waiting.sort_unstable();
        for place in waiting {
            let job = place.2;
            let nodes = &self.reservation_of(job).nodes;
            let blocked = self.reservations.iter().any(|other| {
                other.job != job
                    && other.touches(nodes)
                    && other.end > machine.now
                    && other.order() < place
            });
            if !blocked
                && self.nodes_are_there(machine, job)
                && machine.earliest(job) == machine.now
            {
                self.start(machine, job);
            }
        }
    }

    fn disable(&mut self, machine: &mut SlowMachine, job: usize, recovery: Recovery) {
        if !machine.put_aside(job, recovery) {
            self.given_up(machine, job);
        }
    }

    fn nodes_freed(&mut self, machine: &mut SlowMachine) {
        if self.retry == Retry::Events {
            self.retry_disabled(machine);
        }
    }
}

impl Planner for Twin {
    fn arrived(&mut self, machine: &mut SlowMachine, job: usize) {
        let longer = self.longer[job];
        let mut lengths = longer.into_iter().chain([machine.estimate(job)]);
        if let Some(reservation) = lengths.find_map(|length| self.place_full(machine, job, length))
        {
            self.accept(machine, reservation, None);
        } else if self.overbooks
            && longer.is_none()
            && let Some((reservation, pof)) = self.place_overbooked(machine, job)
        {
            self.accept(machine, reservation, Some(pof));
        } else {
            machine.drop(job, Verdict::DroppedNoSlot);
        }
    }

    fn start_due(&mut self, machine: &mut SlowMachine, job: usize) {
        let planned = self.reservation_of(job);
        let has_no_time = planned.is_empty()
            && (self.is_taken(machine, job) || self.window(machine, job) <= machine.now);
        if has_no_time || !self.nodes_are_there(machine, job) {
            self.disable(machine, job, self.after_failed_start);
        } else if self.releases {
            self.start(machine, job);
        } else {
            let planned = self.reservation_of(job).clone();
            machine.start(job, &planned.nodes, planned.end);
        }
    }

    fn ended(&mut self, machine: &mut SlowMachine, job: usize, nodes: &[usize]) {
        if self.releases {
            self.reservations.retain(|other| other.job != job);
        }
        self.nodes_freed(machine);
        self.start_early(machine, nodes);
    }

    fn node_failed(&mut self, machine: &mut SlowMachine, _node: usize, victim: Option<usize>) {
        if let Some(job) = victim {
            self.disable(machine, job, self.after_crash);
        }
    }

    fn node_repaired(&mut self, machine: &mut SlowMachine, node: usize) {
        self.retry_disabled(machine);
        self.start_early(machine, &[node]);
    }

    fn given_up(&mut self, machine: &mut SlowMachine, job: usize) {
        let nodes = self.reservation_of(job).nodes.clone();
        self.reservations.retain(|other| other.job != job);
        self.nodes_freed(machine);
        self.start_early(machine, &nodes);
    }

    fn wished(&mut self, machine: &mut SlowMachine, job: usize, until: i64) {
        let own = self.reservation_of(job).clone();
        let end = until.min(self.next_start(job, &own.nodes, machine.now));
        let is_held = |other: &Reservation| {
            let promise = machine.fate[other.job].promise;
            let planned = machine.phase[other.job] == Phase::Planned;
            self.holds && planned && promise.is_some_and(|promise| promise.2)
        };
        let held = own.nodes.iter().any(|&node| self.has(node, is_held));
        if held || end <= own.start + machine.longest(job) {
            return;
        }
        for other in self.reservations.iter_mut().filter(|it| it.job == job) {
            other.end = end;
        }
        machine.lengthen(job, end);
        self.expect_at(job, end);
    }
}

fn twin(case: &Case, settings: &PolicySpec) -> Vec<Fate> {
    let mut planner = Twin::new(case, settings);
    let mut machine = SlowMachine::new(case.nodes, &case.jobs, &case.failures);
    machine.asks = case.asks;
    machine.run(&mut planner)
}

fn compare(case: &Case, settings: &PolicySpec) -> Result<(), TestCaseError> {
    let (_, outcomes) = case.simulate(settings);
    agree(&outcomes, &twin(case, settings))
}

/// The rules for jobs without their nodes, and when they are tried again.
fn rules() -> impl Strategy<Value = (CrashRule, FailedStartRule, Retry)> {
    (
        super::crash_rule(),
        super::failed_start_rule(),
        super::retry(),
    )
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn conservative_backfilling_agrees_with_its_oracle(case in case(Kind::NoFailures)) {
        compare(&case, &case.settings("conservative-backfilling"))?;
    }

    #[test]
    fn comprehensive_overbooking_agrees_with_its_oracle(case in case(Kind::NoFailures)) {
        compare(&case, &case.settings("comprehensive-overbooking"))?;
    }

    #[test]
    fn conservative_backfilling_agrees_with_its_oracle_when_nodes_fail(case in case(Kind::Failures)) {
        compare(&case, &case.settings("conservative-backfilling"))?;
    }

    #[test]
    fn comprehensive_overbooking_agrees_with_its_oracle_when_nodes_fail(case in case(Kind::Failures)) {
        compare(&case, &case.settings("comprehensive-overbooking"))?;
    }

    #[test]
    fn conservative_backfilling_agrees_with_its_oracle_under_every_rule_of_recovery(
        case in case(Kind::Failures), (crash, failed_start, retry) in rules(),
    ) {
        let settings = PolicySpec { crash, failed_start, retry, ..case.settings("conservative-backfilling") };
        compare(&case, &settings)?;
    }

    #[test]
    fn comprehensive_overbooking_agrees_with_its_oracle_under_every_rule_of_recovery(
        case in case(Kind::Failures), (crash, failed_start, retry) in rules(),
    ) {
        let settings = PolicySpec { crash, failed_start, retry, ..case.settings("comprehensive-overbooking") };
        compare(&case, &settings)?;
    }

    #[test]
    fn comprehensive_overbooking_agrees_with_its_oracle_when_nobody_is_placed_in_front_of_overbooked_jobs(
        case in prop_oneof![case(Kind::NoFailures), case(Kind::Failures)],
    ) {
        let settings = PolicySpec { hold_for_overbooked: true, ..case.settings("comprehensive-overbooking") };
        compare(&case, &settings)?;
    }

    #[test]
    fn comprehensive_overbooking_agrees_with_its_oracle_where_jobs_overlap_their_predecessors(
        case in prop_oneof![case(Kind::NoFailures), case(Kind::Failures)],
        (crash, failed_start, retry) in rules(), hold_for_overbooked in any::<bool>(),
    ) {
        let settings = PolicySpec {
            overlap: OverlapRule::Predecessors, crash, failed_start, retry, hold_for_overbooked,
            ..case.settings("comprehensive-overbooking")
        };
        compare(&case, &settings)?;
    }

    #[test]
    fn comprehensive_overbooking_agrees_with_its_oracle_under_rules_of_time(
        case in prop_oneof![case(Kind::NoFailures), case(Kind::Failures)], acceptance in super::rule_of_time(),
    ) {
        compare(&case, &PolicySpec { acceptance, ..case.settings("comprehensive-overbooking") })?;
    }

    #[test]
    fn both_agree_with_their_oracle_where_underestimators_get_more_time(
        case in prop_oneof![of_users(Kind::NoFailures), of_users(Kind::Failures)],
        (crash, failed_start, retry) in rules(), hold_for_overbooked in any::<bool>(),
        early_start in prop::sample::select(vec![EarlyStart::Strategy, EarlyStart::Yes, EarlyStart::No]),
        overlap in prop::sample::select(vec![OverlapRule::None, OverlapRule::Predecessors]),
    ) {
        for strategy in ["conservative-backfilling", "comprehensive-overbooking"] {
            let settings = PolicySpec {
                underestimators: UnderestimatorRule::MoreTime,
                crash, failed_start, retry, hold_for_overbooked, early_start, overlap,
                ..case.settings(strategy)
            };
            compare(&case, &settings)?;
        }
    }

    #[test]
    fn both_agree_with_their_oracle_where_users_lengthen_estimates(
        case in prop_oneof![asking(Kind::NoFailures), asking(Kind::Failures)],
        (crash, failed_start, retry) in rules(), hold_for_overbooked in any::<bool>(),
        early_start in prop::sample::select(vec![EarlyStart::Strategy, EarlyStart::Yes, EarlyStart::No]),
        overlap in prop::sample::select(vec![OverlapRule::None, OverlapRule::Predecessors]),
        underestimators in super::underestimators(),
    ) {
        for strategy in ["conservative-backfilling", "comprehensive-overbooking"] {
            let settings = PolicySpec {
                underestimators, crash, failed_start, retry, hold_for_overbooked, early_start, overlap,
                ..case.settings(strategy)
            };
            compare(&case, &settings)?;
        }
    }

    #[test]
    fn both_agree_with_their_oracle_whether_or_not_jobs_start_early(case in case(Kind::NoFailures)) {
        for strategy in ["conservative-backfilling", "comprehensive-overbooking"] {
            for early_start in [EarlyStart::Yes, EarlyStart::No] {
                compare(&case, &PolicySpec { early_start, ..case.settings(strategy) })?;
            }
        }
    }

    #[test]
    fn both_agree_with_their_oracle_whether_or_not_jobs_start_early_when_nodes_fail(
        case in case(Kind::Failures), (crash, failed_start, retry) in rules(),
    ) {
        for strategy in ["conservative-backfilling", "comprehensive-overbooking"] {
            for early_start in [EarlyStart::Yes, EarlyStart::No] {
                compare(&case, &PolicySpec { early_start, crash, failed_start, retry, ..case.settings(strategy) })?;
            }
        }
    }
}
