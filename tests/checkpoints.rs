//! Jobs that save their work: what must hold of every planning strategy, against a twin that
//! watches every second of every run.

use bookahead::scheduling::registry::PlanKind;
use bookahead::scheduling::{
    Allocation, Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, Execution,
    GapEnd, JobOutcome, PenaltyFunction, PenaltySettings, PolicySpec, ResumeRule, Verdict,
};
use bookahead::units::{NodeSeconds, Nodes, Seconds};
use bookahead::workload::Job;
use bookahead_overbooking::Replay;
use bookahead_overbooking::registry::STRATEGIES;
use proptest::prelude::*;

use crate::oracles::config;
use crate::oracles::workloads::{Case, Kind, case, job, mixed};

prop_compose! {
    fn checkpoints()(
        interval in prop_oneof![3 => (1_i64..40).prop_map(|seconds| CheckpointInterval::Fixed(Seconds(seconds))),
            1 => Just(CheckpointInterval::Young), 1 => Just(CheckpointInterval::Daly)],
        cost in 0_i64..6,
        restart in 0_i64..6,
        payer in prop_oneof![Just(CheckpointPayer::Provider), Just(CheckpointPayer::Customer)],
        gap_end in prop_oneof![2 => Just(GapEnd::Checkpoint), 1 => Just(GapEnd::Kill), 2 => Just(GapEnd::Suspend)],
        resume in prop_oneof![2 => Just(ResumeRule::Any), 1 => Just(ResumeRule::Tested)],
        bandwidth in prop_oneof![2 => Just(Bandwidth::Own), 1 => Just(Bandwidth::SharedByJobs),
            1 => (1_u32..6).prop_map(|nodes| Bandwidth::SharedByNodes(Nodes(nodes)))],
    ) -> CheckpointSettings {
        CheckpointSettings { interval, cost: Seconds(cost), restart: Seconds(restart), payer, gap_end, resume, memory_price: 0.5, bandwidth }
    }
}

prop_compose! {
    fn penalties()(bound in 1_i64..60, more in 1_i64..60, refund in 0.0..1.0, kind in 0..3) -> Option<PenaltySettings> {
        let function = match kind {
            0 => return None,
            1 => PenaltyFunction::Linear { full_after: Seconds(bound) },
            _ => PenaltyFunction::Stepwise { steps: vec![(Seconds(bound), 0.1), (Seconds(bound + more), 0.6)] },
        };
        Some(PenaltySettings { function, refund })
    }
}

fn either() -> impl Strategy<Value = Case> {
    prop_oneof![
        case(Kind::NoFailures),
        case(Kind::Failures),
        mixed(Kind::Failures)
    ]
}

fn settings(case: &Case, strategy: &str, checkpoint: CheckpointSettings) -> PolicySpec {
    PolicySpec {
        checkpoint: Some(checkpoint),
        ..case.settings(strategy)
    }
}

fn planning() -> impl Iterator<Item = &'static str> {
    STRATEGIES
        .iter()
        .filter(|strategy| strategy.plan != PlanKind::Queue)
        .map(|strategy| strategy.name)
}

/// A job second by second.
#[derive(Clone)]
struct Watched {
    interval: i64,
    cost: i64,
    granted: i64,
    runs: Execution,
    /// Work that outlives a failure.
    written: i64,
    suspended_since: Option<i64>,
    latest: i64,
}

impl Watched {
    fn new(job: &Job, settings: &PolicySpec) -> Self {
        let recovery = settings.recovery();
        let checkpointing = recovery
            .checkpointing(&settings.reliability)
            .expect("jobs save their work");
        let rhythm = checkpointing.rhythm(job.nodes);
        let mut watched = Self {
            interval: rhythm.interval.0,
            cost: rhythm.cost.0,
            granted: job.estimate.0,
            runs: Execution::default(),
            written: 0,
            suspended_since: None,
            latest: job.deadline.0
                + settings
                    .penalty
                    .as_ref()
                    .map_or(0, |penalty| penalty.longest().0),
        };
        if checkpointing.settings().payer == CheckpointPayer::Customer {
            let (mut work, mut held) = (0, 0);
            while held < job.estimate.0 {
                (work, held) = (work + 1, held + 1);
                if work % watched.interval == 0 {
                    held += watched.cost;
                }
            }
            watched.granted = work;
        }
        watched
    }

    /// One run on the job's nodes; says whether all work is done at its end. Of a run that lost a
    /// node it is not known where its window would have ended: it stopped computing after `hidden`
    /// seconds, if it had begun to write for that end.
    fn run(
        &mut self,
        job: &Job,
        settings: &CheckpointSettings,
        run: &Allocation,
        ends: bool,
        hidden: Option<i64>,
    ) -> bool {
        let saved = self.runs.useful.0;
        let restart = match self.suspended_since.take() {
            Some(since) => {
                self.runs.suspended += run.start - Seconds(since);
                0
            }
            None if saved > 0 => settings.restart.0,
            None => 0,
        };
        self.runs.resumed += u32::from(saved > 0);
        let rest = self.granted - saved;
        let all = restart + rest + self.cost * ((rest - 1).max(0) / self.interval);
        let length = run.end.0 - run.start.0;
        // The end of a window is known to the policy alone; a run that reached it shows where it
        // was.
        let (closing, reopening) = match settings.gap_end {
            GapEnd::Suspend => (0, 0),
            GapEnd::Checkpoint | GapEnd::Kill => (self.cost, settings.restart.0),
        };
        let stop = hidden.unwrap_or(length - closing);
        let closes = !run.lost
            && !ends
            && settings.gap_end != GapEnd::Kill
            && length < all
            && stop > restart
            && run.end.0 + reopening < self.latest;
        let target = job.runtime.0.min(self.granted) - saved;
        let (mut computed, mut written, mut writing) = (0, 0, 0);
        for second in 0..length {
            if second < restart {
                self.runs.read += Seconds(1);
            } else if (closes || hidden.is_some()) && second >= stop {
                self.runs.written += Seconds(1);
            } else if writing > 0 {
                self.runs.written += Seconds(1);
                writing -= 1;
                if writing == 0 {
                    written = computed;
                }
            } else {
                computed += 1;
                if computed % self.interval == 0 && (!ends || computed < target) {
                    writing = self.cost;
                    if writing == 0 {
                        written = computed;
                    }
                }
            }
        }
        if written > 0 {
            self.written = saved + written;
        }
        let now = match (closes || ends, run.lost) {
            (true, _) => saved + computed,
            (false, true) => self.written,
            (false, false) => saved + written,
        };
        self.runs.useful = Seconds(now);
        self.runs.lost += Seconds(saved + computed - now);
        if closes && settings.gap_end == GapEnd::Suspend {
            self.suspended_since = Some(run.end.0);
        } else if closes {
            self.written = now;
        }
        self.runs.stops += u32::from(!run.lost && !ends);
        computed == target && ends
    }
}

/// What all runs of a job may come to if they are watched; nothing where the last one does not end
/// as its outcome says.
fn watched(outcome: &JobOutcome, settings: &PolicySpec, runs: &[&Allocation]) -> Vec<Execution> {
    let checkpoint = settings.checkpoint.as_ref().expect("jobs save their work");
    let mut twins = vec![Watched::new(&outcome.job, settings)];
    for (at, run) in runs.iter().enumerate() {
        let ends = at + 1 == runs.len() && outcome.verdict.is_successful();
        let length = (run.end - run.start).0;
        let may_close = run.lost && checkpoint.gap_end == GapEnd::Checkpoint;
        let closing = if may_close { checkpoint.cost.0 } else { 0 };
        let mut after = Vec::new();
        for twin in &twins {
            let hidden = (length - closing + 1..length).map(Some);
            for hidden in std::iter::once(None).chain(hidden.filter(|_| may_close)) {
                let mut twin = twin.clone();
                if twin.run(&outcome.job, checkpoint, run, ends, hidden) == ends {
                    after.push(twin);
                }
            }
        }
        twins = after;
    }
    let price = checkpoint.memory_price;
    let closed = twins.into_iter().map(|mut twin| {
        if let (Some(since), Some(end)) = (twin.suspended_since, outcome.end) {
            twin.runs.suspended += end - Seconds(since);
        }
        let memory = outcome.job.nodes.for_span(twin.runs.suspended).0 as f64;
        twin.runs.rent = NodeSeconds((memory * price).round() as i64);
        twin.runs
    });
    closed.collect()
}

fn never_twice(nodes: u32, replay: &Replay) -> bool {
    let mut free_from = vec![Seconds::ZERO; nodes as usize];
    let mut runs: Vec<&Allocation> = replay.allocations.iter().collect();
    runs.sort_by_key(|run| (run.start, run.end));
    runs.iter().all(|run| {
        run.nodes.iter().all(|node| {
            let before = std::mem::replace(&mut free_from[node.0 as usize], run.end);
            before <= run.start
        })
    })
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_run_saves_what_a_twin_sees_saved_and_no_node_is_used_twice(
        case in either(), checkpoint in checkpoints(), penalty in penalties(),
    ) {
        for strategy in planning() {
            let settings = PolicySpec { penalty: penalty.clone(), ..settings(&case, strategy, checkpoint) };
            let latest = penalty.as_ref().map_or(Seconds::ZERO, PenaltySettings::longest);
            let replay = case.replay(&settings);
            prop_assert!(never_twice(case.nodes, &replay), "{}", strategy);
            for outcome in &replay.outcomes {
                let job = &outcome.job;
                let runs: Vec<&Allocation> = replay.allocations.iter().filter(|run| run.job == job.id).collect();
                for run in &runs {
                    prop_assert!(run.start >= job.release && run.end <= job.deadline + latest, "{}: {:?}", strategy, run);
                    prop_assert_eq!(run.nodes.count(), job.nodes);
                }
                prop_assert!(runs.windows(2).all(|pair| pair[0].end <= pair[1].start));
                if job.is_reservation() || runs.is_empty() {
                    prop_assert!(outcome.execution.is_none(), "{}: {:?}", strategy, outcome);
                    continue;
                }
                let execution = outcome.execution.unwrap_or_default();
                // How long a shared write takes is seen in all runs together only: the twin of the
                // engine's own tests watches those.
                if checkpoint.shares_bandwidth() {
                    prop_assert!(execution.waited <= execution.written, "{}: {:?}", strategy, outcome);
                } else {
                    let possible = watched(outcome, &settings, &runs);
                    let found = outcome.execution.is_some_and(|execution| possible.contains(&execution));
                    prop_assert!(found, "{}: {:?} {:?} {:?}", strategy, outcome, runs, possible);
                }
                let held = runs.iter().fold(Seconds::ZERO, |sum, run| sum + (run.end - run.start));
                prop_assert_eq!(execution.held(), held);
                let lateness = outcome.end.unwrap_or_default() - job.deadline;
                let late = penalty.as_ref().and_then(|penalty| penalty.late(lateness));
                prop_assert_eq!(outcome.late, late.filter(|_| outcome.verdict.is_successful()));
                if outcome.verdict.is_successful() {
                    let granted = Watched::new(job, &settings).granted;
                    prop_assert_eq!(execution.useful.0, job.runtime.0.min(granted), "{}", strategy);
                }
            }
        }
    }

    #[test]
    fn a_promise_is_one_outcome_however_often_the_job_is_interrupted(
        case in either(), checkpoint in checkpoints(), penalty in penalties(),
    ) {
        for strategy in planning() {
            let settings = PolicySpec { penalty: penalty.clone(), ..settings(&case, strategy, checkpoint) };
            let (metrics, outcomes) = case.simulate(&settings);
            prop_assert_eq!(outcomes.len(), case.jobs.len());
            prop_assert!(outcomes.windows(2).all(|pair| pair[0].job.id < pair[1].job.id));
            let (mut fees, mut forfeited) = (0, 0);
            for outcome in outcomes.iter().filter(|outcome| !outcome.verdict.is_dropped()) {
                prop_assert!(outcome.promise.is_some(), "{}", strategy);
                let fee = outcome.job.fee().0;
                let share = |share: f64| (fee as f64 * share).round() as i64;
                fees -= outcome.execution.map_or(0, |runs| runs.rent.0);
                match &outcome.late {
                    _ if outcome.verdict.is_failed() => forfeited += fee,
                    None => fees += fee,
                    Some(late) => {
                        fees += fee - share(late.refund);
                        forfeited += share(late.penalty);
                    }
                }
            }
            prop_assert_eq!((metrics.fees.0, metrics.forfeited.0), (fees, forfeited), "{}", strategy);
        }
    }

    #[test]
    fn without_interruptions_free_checkpoints_change_nothing(case in case(Kind::NoFailures), interval in 1_i64..50) {
        let checkpoint = CheckpointSettings {
            interval: CheckpointInterval::Fixed(Seconds(interval)),
            cost: Seconds(0),
            restart: Seconds(0),
            payer: CheckpointPayer::Provider,
            gap_end: GapEnd::Checkpoint,
            resume: ResumeRule::Any,
            memory_price: 0.0,
            bandwidth: Bandwidth::Own,
        };
        for strategy in ["conservative-backfilling", "heuristic-planning"] {
            let plain = case.replay(&case.settings(strategy));
            let saving = case.replay(&settings(&case, strategy, checkpoint));
            prop_assert_eq!(&plain.allocations, &saving.allocations);
            let verdicts = |replay: &Replay| replay.outcomes.iter().map(|outcome| outcome.verdict).collect::<Vec<_>>();
            prop_assert_eq!(verdicts(&plain), verdicts(&saving));
        }
    }
}

/// Two nodes; job 0 holds both for 50 of 100 seconds; job 1 gets the gap of 60 seconds before the
/// reservation of job 2, and needs 80.
fn interrupted() -> Case {
    let reservation = job(1, [0, 60, 40, 40, 100, 2]).into_reservation(Seconds(60));
    Case {
        nodes: 2,
        jobs: vec![
            reservation_first(reservation),
            job(1, [1, 1, 100, 80, 220, 2]),
        ],
        failures: bookahead::failures::FailureTrace::default(),
        history: vec![50, 50, 50, 100],
        habits: Vec::new(),
        asks: None,
        threshold: 0.5,
        failure_rate: 0.0,
        mean_time_to_repair: 100,
    }
}

fn reservation_first(mut reservation: Job) -> Job {
    reservation.id = bookahead::workload::JobId(0);
    reservation
}

#[test]
fn an_overbooked_job_goes_on_behind_the_reservation_that_ended_its_gap() {
    let mut case = interrupted();
    // Behind the reservation it is 100; the full 100 s would end at 200, so that only a deadline
    // before that makes a gap worth it.
    case.jobs[1].deadline = Seconds(190);
    let checkpoint = CheckpointSettings {
        interval: CheckpointInterval::Fixed(Seconds(1_000)),
        cost: Seconds(4),
        restart: Seconds(3),
        payer: CheckpointPayer::Provider,
        gap_end: GapEnd::Checkpoint,
        resume: ResumeRule::Any,
        memory_price: 0.0,
        bandwidth: Bandwidth::Own,
    };
    for strategy in [
        "comprehensive-overbooking",
        "heuristic-overbooking",
        "overbooking-2008",
    ] {
        let mut settings = settings(&case, strategy, checkpoint);
        settings.reliability.failure_rate_per_hour = 0.0;
        if strategy == "overbooking-2008" {
            // d' = 100 / 1.8 = 56 s, which the gap of 59 holds.
            settings.acceptance = bookahead::scheduling::Acceptance::Pof { maximum: 0.8 };
            case.history = vec![40, 40, 40, 60];
        }
        let replay = case.replay(&settings);
        let outcome = &replay.outcomes[1];
        assert_eq!(
            outcome.verdict,
            Verdict::SuccessfulFinished,
            "{strategy}: {outcome:?}"
        );
        // From 1 to 56 it computes 55 s, writes until 60; from 100 it reads until 103 and computes
        // the other 25 s.
        let runs = outcome.execution.expect("it ran");
        assert_eq!(
            (runs.useful.0, runs.lost.0, runs.written.0, runs.read.0),
            (80, 0, 4, 3),
            "{strategy}"
        );
        assert_eq!(
            (runs.stops, runs.resumed, outcome.restarts),
            (1, 1, 1),
            "{strategy}"
        );
        assert_eq!(outcome.end, Some(Seconds(128)), "{strategy}");
        let lost = case.replay(&PolicySpec {
            checkpoint: None,
            ..settings
        });
        assert_eq!(
            lost.outcomes[1].verdict,
            Verdict::FailedOverbooked,
            "{strategy}"
        );
    }
}
