//! Heuristic planning and heuristic overbooking on an array of free node counts a second
//! (docs/counted-plan.md).

use bookahead::failures::FailureTrace;
use bookahead::scheduling::{
    Acceptance, CrashRule, DownHorizon, FailedStartRule, PolicySpec, ReplanPasses, Retry,
    UnderestimatorRule, Verdict,
};
use bookahead::workload::Job;
use proptest::prelude::*;

use super::agree;
use super::slow_machine::{Fate, Phase, Planner, Recovery, SlowMachine};
use super::workloads::{Case, Kind, asking, case, of_users};

/// A reservation of `n` nodes on `[start, end)`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Slot {
    start: i64,
    end: i64,
}

struct Twin {
    overbooks: bool,
    after_crash: Recovery,
    after_failed_start: Recovery,
    retry: Retry,
    replans_after_failed_start: bool,
    to_fixed_point: bool,
    threshold: Acceptance,
    /// For how long a node that is down now counts as missing.
    horizon: i64,
    failure_rate: f64,
    repair_rate: f64,
    /// Share of the learning jobs that end within each percent.
    cdf: Vec<f64>,
    /// For how long each job of an underestimator is planned first.
    longer: Vec<Option<i64>>,
    /// Nothing happens from here on.
    end_of_time: i64,
    slots: Vec<Option<Slot>>,
    /// Running jobs, in the order in which they were started.
    running: Vec<usize>,
}

impl Twin {
    fn new(case: &Case, settings: &PolicySpec) -> Self {
        let overbooks = settings.strategy == "heuristic-overbooking";
        let end_of_time = case.jobs.iter().map(|job| job.deadline.0).max();
        let within = |percent: i64| (0..=percent).map(|up_to| case.share(up_to)).sum();
        let longer = |job: &Job| match settings.underestimators {
            UnderestimatorRule::AsEstimated => None,
            UnderestimatorRule::MoreTime => case.longer(job),
        };
        Self {
            overbooks,
            after_crash: Recovery::after_crash(settings.crash, overbooks),
            after_failed_start: Recovery::after_failed_start(settings.failed_start, overbooks),
            retry: settings.retry,
            replans_after_failed_start: settings.replan_failed_start,
            to_fixed_point: settings.replan_passes == ReplanPasses::FixedPoint,
            threshold: settings.acceptance,
            horizon: match settings.down_horizon {
                DownHorizon::Mttr => case.mean_time_to_repair,
                DownHorizon::Forever => i64::MAX / 2,
                DownHorizon::None => 0,
            },
            failure_rate: case.failure_rate,
            repair_rate: settings.reliability.repair_rate_per_hour,
            cdf: (0..=100).map(within).collect(),
            longer: case.jobs.iter().map(longer).collect(),
            end_of_time: end_of_time.unwrap_or(0) + 1,
            slots: vec![None; case.jobs.len()],
            running: Vec::new(),
        }
    }

    /// Nodes that are free in each second from now on.
    fn free(&self, machine: &SlowMachine) -> Vec<i64> {
        let mut free =
            vec![machine.up.len() as i64; (self.end_of_time - machine.now).max(1) as usize];
        let mut occupy = |from: i64, to: i64, nodes: i64| {
            for second in from.max(machine.now)..to.min(self.end_of_time) {
                free[(second - machine.now) as usize] -= nodes;
            }
        };
        occupy(
            machine.now,
            machine.now + self.horizon,
            machine.down() as i64,
        );
        for (job, slot) in self.slots.iter().enumerate() {
            if let Some(slot) = slot {
                occupy(slot.start, slot.end, machine.width(job) as i64);
            }
        }
        free
    }

    /// For each second from now on, how long `job` could stay from then: until its nodes are
    /// needed, its deadline or for all that is `wanted`; 0 before its release.
    fn stays(&self, machine: &SlowMachine, job: usize, wanted: i64) -> Vec<i64> {
        let free = self.free(machine);
        let width = machine.width(job) as i64;
        (0..free.len())
            .map(|from| {
                let start = machine.now + from as i64;
                if start < machine.jobs[job].release.0 {
                    return 0;
                }
                let fits = free[from..].iter().take_while(|&&free| free >= width);
                let mut stay = 0;
                for _ in fits {
                    if stay == wanted || start + stay >= machine.deadline(job) {
                        break;
                    }
                    stay += 1;
                }
                stay
            })
            .collect()
    }

    fn pof(&self, machine: &SlowMachine, job: usize, length: i64) -> f64 {
        let nodes = machine.width(job) as f64;
        let available = (1.0 / (1.0 + self.failure_rate / self.repair_rate)).powf(nodes);
        let executable = self.cdf[(100 * length / machine.estimate(job)) as usize];
        let survives = (-self.failure_rate * nodes * length as f64 / 3_600.0).exp();
        1.0 - available * executable * survives
    }

    fn accepts(&self, machine: &SlowMachine, job: usize, length: i64, pof: f64) -> bool {
        let estimate = machine.estimate(job) as f64;
        let times: Vec<(f64, f64)> = (0..=100)
            .map(|percent: usize| {
                let before = percent
                    .checked_sub(1)
                    .map_or(0.0, |before| self.cdf[before]);
                (
                    estimate * percent as f64 / 100.0,
                    self.cdf[percent] - before,
                )
            })
            .filter(|&(_, share)| share > 0.0)
            .collect();
        super::accepts(self.threshold, pof, &times, length as f64)
    }

    fn place_overbooked(&self, machine: &SlowMachine, job: usize) -> Option<(Slot, f64)> {
        let free = self.free(machine);
        let width = machine.width(job) as i64;
        let first = machine.earliest(job);
        for start in first..machine.deadline(job) {
            let at = (start - machine.now) as usize;
            let rises = at > 0 && free[at] > free[at - 1];
            if !(start == first || rises) || free[at] < width {
                continue;
            }
            let length = free[at..].iter().take_while(|&&free| free >= width).count() as i64;
            let end = machine.deadline(job).min(start + length);
            let pof = self.pof(machine, job, end - start);
            if self.accepts(machine, job, end - start, pof) {
                return Some((Slot { start, end }, pof));
            }
        }
        None
    }

    /// A place for an accepted job: all that is `wanted` as early as possible, else (if `short`)
    /// the longest stay, the earliest of equally long ones.
    fn place(
        &self,
        machine: &SlowMachine,
        job: usize,
        wanted: i64,
        short: bool,
        latest: i64,
    ) -> Option<Slot> {
        let stays = self.stays(machine, job, wanted);
        let seconds = (0..).map(|from| machine.now + from).zip(stays);
        let within: Vec<(i64, i64)> = seconds.filter(|&(start, _)| start <= latest).collect();
        let full = within.iter().find(|&&(_, stay)| stay == wanted);
        let longest = within.iter().map(|&(_, stay)| stay).max().unwrap_or(0);
        let found = full.or_else(|| {
            within
                .iter()
                .find(|&&(_, stay)| short && stay > 0 && stay == longest)
        });
        found.map(|&(start, stay)| Slot {
            start,
            end: start + stay,
        })
    }

    fn put_aside(&mut self, machine: &mut SlowMachine, job: usize, recovery: Recovery) {
        self.slots[job] = None;
        machine.put_aside(job, recovery);
    }

    fn try_all_aside(&mut self, machine: &mut SlowMachine) {
        for job in machine.in_phase(Phase::Aside) {
            let (longest, short) = (
                machine.longest(job),
                machine.recovery[job] == Recovery::AnyTime,
            );
            let found = self.place(machine, job, longest, short, i64::MAX);
            // All that it was promised, if it can be had; its estimate is all that it needs.
            let least = || self.place(machine, job, machine.estimate(job), short, i64::MAX);
            if let Some(slot) = found.or_else(least) {
                self.slots[job] = Some(slot);
                machine.plan(job, slot.start);
            }
        }
    }

    /// One pass over the planned jobs; whether anything moved.
    fn compress(&mut self, machine: &mut SlowMachine) -> bool {
        let mut planned: Vec<(i64, usize)> = machine
            .in_phase(Phase::Planned)
            .into_iter()
            .map(|job| (self.slots[job].expect("it is planned").start, job))
            .collect();
        planned.sort_unstable();
        let mut moved = false;
        for (_, job) in planned {
            let before = self.slots[job].take().expect("it is planned");
            let length = before.end - before.start;
            let longest = machine.longest(job);
            let found = self.place(machine, job, longest, length < longest, before.start);
            let now = match found {
                Some(slot) if slot.end - slot.start >= length => slot,
                _ => before,
            };
            moved |= now != before;
            self.slots[job] = Some(now);
            machine.plan(job, now.start);
        }
        moved
    }

    fn extend_windows(&mut self, machine: &mut SlowMachine) {
        for job in self.running.clone() {
            let start = machine.fate[job].start.expect("it runs");
            let wanted = (start + machine.longest(job)).min(machine.deadline(job));
            let window = machine.window_end[job];
            let free = self.free(machine);
            let extra = free[(window - machine.now) as usize..]
                .iter()
                .take_while(|&&free| free >= machine.width(job) as i64)
                .count() as i64;
            let extended = wanted.min(window + extra);
            if extended > window {
                machine.set_window(job, extended);
                self.slots[job] = Some(Slot {
                    start,
                    end: extended,
                });
            }
        }
    }

    fn replan(&mut self, machine: &mut SlowMachine) {
        if self.retry == Retry::Events {
            self.try_all_aside(machine);
        }
        self.pull_forward(machine);
    }

    fn pull_forward(&mut self, machine: &mut SlowMachine) {
        while self.compress(machine) && self.to_fixed_point {}
        self.extend_windows(machine);
    }
}

impl Planner for Twin {
    fn arrived(&mut self, machine: &mut SlowMachine, job: usize) {
        let longer = self.longer[job];
        let lengths = longer.into_iter().chain([machine.estimate(job)]);
        let place = |length| self.place(machine, job, length, false, i64::MAX);
        if let Some(slot) = lengths.into_iter().find_map(place) {
            self.slots[job] = Some(slot);
            machine.fate[job].promise = Some((slot.start, slot.end, false));
            machine.plan(job, slot.start);
        } else if self.overbooks
            && longer.is_none()
            && let Some((slot, pof)) = self.place_overbooked(machine, job)
        {
            self.slots[job] = Some(slot);
            machine.fate[job].promise = Some((slot.start, slot.end, true));
            machine.fate[job].pof = Some(pof);
            machine.plan(job, slot.start);
        } else {
            machine.drop(job, Verdict::DroppedNoSlot);
        }
    }

    fn start_due(&mut self, machine: &mut SlowMachine, job: usize) {
        let idle = machine.idle();
        if idle.len() >= machine.width(job) {
            let slot = self.slots[job].expect("it is planned");
            let nodes = &idle[..machine.width(job)];
            machine.start(job, nodes, slot.end);
            self.running.push(job);
        } else {
            self.put_aside(machine, job, self.after_failed_start);
            // Where nodes that are down count as free, the same slot would be found again, for
            // ever: wait for the next end, failure or repair.
            if self.retry == Retry::Events && self.horizon > 0 {
                self.try_all_aside(machine);
            }
            if self.replans_after_failed_start {
                self.pull_forward(machine);
            }
        }
    }

    fn ended(&mut self, machine: &mut SlowMachine, job: usize, _nodes: &[usize]) {
        self.slots[job] = None;
        self.running.retain(|&other| other != job);
        self.replan(machine);
    }

    fn node_failed(&mut self, machine: &mut SlowMachine, _node: usize, victim: Option<usize>) {
        if let Some(job) = victim {
            self.running.retain(|&other| other != job);
            self.put_aside(machine, job, self.after_crash);
        }
        self.replan(machine);
    }

    fn node_repaired(&mut self, machine: &mut SlowMachine, _node: usize) {
        self.try_all_aside(machine);
        self.pull_forward(machine);
    }

    fn given_up(&mut self, _machine: &mut SlowMachine, _job: usize) {}

    fn wished(&mut self, machine: &mut SlowMachine, job: usize, until: i64) {
        let start = machine.fate[job].start.expect("it runs");
        let window = machine.window_end[job];
        let free = self.free(machine);
        let fits = |free: &&i64| **free >= machine.width(job) as i64;
        let extra = free
            .iter()
            .skip((window - machine.now) as usize)
            .take_while(fits);
        let end = until.min(window + extra.count() as i64);
        if end > start + machine.longest(job) {
            machine.lengthen(job, end);
            self.slots[job] = Some(Slot { start, end });
        }
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

/// The settings that only matter when nodes fail or jobs move.
type Knobs = (
    DownHorizon,
    ReplanPasses,
    CrashRule,
    FailedStartRule,
    (Retry, bool),
);

fn knobs() -> impl Strategy<Value = Knobs> {
    (
        // `None` has a property of its own.
        prop_oneof![Just(DownHorizon::Mttr), Just(DownHorizon::Forever)],
        prop_oneof![Just(ReplanPasses::Once), Just(ReplanPasses::FixedPoint)],
        super::crash_rule(),
        super::failed_start_rule(),
        (super::retry(), any::<bool>()),
    )
}

fn with_knobs(
    case: &Case,
    strategy: &str,
    (down_horizon, replan_passes, crash, failed_start, (retry, replan_failed_start)): Knobs,
) -> PolicySpec {
    PolicySpec {
        down_horizon,
        replan_passes,
        crash,
        failed_start,
        retry,
        replan_failed_start,
        ..case.settings(strategy)
    }
}

proptest! {
    #![proptest_config(super::config())]

    #[test]
    fn heuristic_planning_agrees_with_its_oracle(case in case(Kind::NoFailures)) {
        compare(&case, &case.settings("heuristic-planning"))?;
    }

    #[test]
    fn heuristic_overbooking_agrees_with_its_oracle(case in case(Kind::NoFailures)) {
        compare(&case, &case.settings("heuristic-overbooking"))?;
    }

    #[test]
    fn heuristic_planning_agrees_with_its_oracle_when_nodes_fail(case in case(Kind::Failures)) {
        compare(&case, &case.settings("heuristic-planning"))?;
    }

    #[test]
    fn heuristic_overbooking_agrees_with_its_oracle_when_nodes_fail(case in case(Kind::Failures)) {
        compare(&case, &case.settings("heuristic-overbooking"))?;
    }

    #[test]
    fn heuristic_planning_agrees_with_its_oracle_whatever_the_knobs(
        case in case(Kind::Failures), knobs in knobs(),
    ) {
        compare(&case, &with_knobs(&case, "heuristic-planning", knobs))?;
    }

    #[test]
    fn heuristic_overbooking_agrees_with_its_oracle_whatever_the_knobs(
        case in case(Kind::Failures), knobs in knobs(),
    ) {
        compare(&case, &with_knobs(&case, "heuristic-overbooking", knobs))?;
    }

    #[test]
    fn heuristic_overbooking_agrees_with_its_oracle_under_rules_of_time(
        case in prop_oneof![case(Kind::NoFailures), case(Kind::Failures)], acceptance in super::rule_of_time(),
    ) {
        compare(&case, &PolicySpec { acceptance, ..case.settings("heuristic-overbooking") })?;
    }

    #[test]
    fn both_agree_with_their_oracle_where_underestimators_get_more_time(
        case in prop_oneof![of_users(Kind::NoFailures), of_users(Kind::Failures)], knobs in knobs(),
    ) {
        for strategy in ["heuristic-planning", "heuristic-overbooking"] {
            let underestimators = UnderestimatorRule::MoreTime;
            compare(&case, &PolicySpec { underestimators, ..with_knobs(&case, strategy, knobs) })?;
        }
    }

    #[test]
    fn both_agree_with_their_oracle_where_users_lengthen_estimates(
        case in prop_oneof![asking(Kind::NoFailures), asking(Kind::Failures)], knobs in knobs(),
        underestimators in super::underestimators(),
    ) {
        for strategy in ["heuristic-planning", "heuristic-overbooking"] {
            compare(&case, &PolicySpec { underestimators, ..with_knobs(&case, strategy, knobs) })?;
        }
    }

    #[test]
    fn both_agree_with_their_oracle_when_down_nodes_count_as_free(
        case in case(Kind::Failures), (_, passes, crash, failed_start, retry) in knobs(),
    ) {
        for strategy in ["heuristic-planning", "heuristic-overbooking"] {
            compare(&case, &with_knobs(&case, strategy, (DownHorizon::None, passes, crash, failed_start, retry)))?;
        }
    }
}

#[test]
fn the_oracle_itself_overbooks_the_gap_of_golden_scenario_g1() {
    // G1 of `golden_scenarios.rs` in seconds instead of hours, scaled by 100; PoF_max 0.25; the
    // fourth job gets 4–10 and ends at 9.
    use super::workloads::job;
    let hundred = |values: [i64; 6]| {
        let [submit, nodes, estimate, runtime, ..] = values;
        [
            100 * submit,
            100 * submit,
            100 * estimate,
            100 * runtime,
            100 * (submit + 2 * estimate),
            nodes,
        ]
    };
    let case = Case {
        nodes: 2,
        jobs: vec![
            job(0, hundred([0, 2, 8, 2, 0, 0])),
            job(1, hundred([1, 1, 8, 4, 0, 0])),
            job(2, hundred([3, 2, 8, 8, 0, 0])),
            job(3, hundred([4, 1, 8, 5, 0, 0])),
        ],
        failures: FailureTrace::default(),
        history: vec![25, 25, 25, 25, 25, 50, 50, 50, 100, 100],
        habits: Vec::new(),
        asks: None,
        threshold: 0.25,
        failure_rate: 0.0,
        mean_time_to_repair: 100,
    };
    let fates = twin(&case, &case.settings("heuristic-overbooking"));
    assert_eq!(fates[3].promise, Some((400, 1_000, true)));
    assert_eq!((fates[3].start, fates[3].end), (Some(400), Some(900)));
    assert_eq!((fates[2].start, fates[2].end), (Some(900), Some(1_700)));
}

#[test]
fn the_end_of_a_run_comes_behind_others_of_its_second_once_its_window_was_lengthened() {
    // Jobs 1 and 2 start at 1 with windows until 37, when job 0 takes what is not down. Node 0
    // comes back at 2, and job 1 may stay until 41. Both end at 37: job 2 first, at the end of its
    // window, as the end of job 1 was entered again; had job 1 come first, job 2 would have gone
    // on.
    use super::workloads::{job, outages};
    let case = Case {
        nodes: 4,
        jobs: vec![
            job(0, [0, 37, 1, 1, 38, 3]),
            job(1, [1, 1, 40, 36, 41, 1]),
            job(2, [1, 1, 43, 43, 44, 1]),
        ],
        failures: outages([(0, 0, 2)]),
        history: vec![0],
        habits: Vec::new(),
        asks: None,
        threshold: 0.25,
        failure_rate: 0.0,
        mean_time_to_repair: 37,
    };
    let settings = case.settings("heuristic-overbooking");
    let fates = twin(&case, &settings);
    assert_eq!(fates[1].promise, Some((1, 37, true)));
    assert_eq!(fates[1].verdict, Some(Verdict::SuccessfulFinished));
    assert_eq!(fates[2].verdict, Some(Verdict::FailedOverbooked));
    assert_eq!(fates[2].end, Some(37));
    compare(&case, &settings).expect("the engine agrees");
}
