//! More time for users who underestimate, in the strategies of the dissertation.

use std::sync::Arc;

use bookahead_core::estimates::{ClassFamily, EstimateModel, EstimateSettings, Overrun};
use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::scheduling::{
    Acceptance, ClusterMachine, CrashRule, JobOutcome, PolicySpec, UnderestimatorRule, Verdict,
};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::registry::{self, STRATEGIES};
use crate::simulate;

const STRATEGIES_OF_2012: [&str; 4] = [
    "conservative-backfilling",
    "heuristic-planning",
    "comprehensive-overbooking",
    "heuristic-overbooking",
];

/// A job of a user on this many nodes: its estimate, run time and deadline in minutes.
fn job(id: u32, user: i64, nodes: u32, [minutes, ran, deadline]: [i64; 3]) -> Job {
    Job::rigid(JobId(id), Seconds(0), Nodes(nodes), Seconds(60 * minutes))
        .running_for(Seconds(60 * ran))
        .due_by(Seconds(60 * deadline))
        .of_user(user)
}

/// Two of three jobs of user 5 ran for 130 and 110 % of their estimates, the third for 5 %: the
/// factor is 1.2. User 6 always needed 10 %.
fn known() -> Arc<EstimateModel> {
    let of_five = [130, 110, 5].map(|ratio| (5, ratio));
    let learned = of_five.into_iter().chain([(6, 10); 8]);
    let jobs: Vec<Job> = learned
        .map(|(user, ratio)| job(0, user, 1, [100, ratio, 200]))
        .collect();
    let settings = EstimateSettings {
        family: ClassFamily::All,
        overrun: Overrun::Clamp,
        ..EstimateSettings::default()
    };
    Arc::new(EstimateModel::learn(&jobs, &settings).unwrap())
}

fn more_time(strategy: &str) -> PolicySpec {
    PolicySpec {
        underestimators: UnderestimatorRule::MoreTime,
        acceptance: Acceptance::Pof { maximum: 0.4 },
        ..PolicySpec::named(strategy)
    }
}

fn go(
    settings: &PolicySpec,
    nodes: u32,
    jobs: &[Job],
    down: Option<(i64, i64)>,
) -> Vec<JobOutcome> {
    let outage = down.map(|(start, end)| Outage {
        node: NodeIndex(0),
        start: Seconds(60 * start),
        end: Seconds(60 * end),
    });
    let failures = FailureTrace::from_outages(outage).expect("it ends");
    let result = simulate(Nodes(nodes), settings, Some(known()), jobs, &failures);
    result.expect("a registered strategy").1
}

/// What a job was promised, in minutes.
fn promised(outcome: &JobOutcome) -> Option<(i64, i64)> {
    let promise = outcome.promise?;
    Some((promise.start.0 / 60, promise.end.0 / 60))
}

/// Its last run, in minutes.
fn ran(outcome: &JobOutcome) -> Option<(i64, i64)> {
    Some((outcome.start?.0 / 60, outcome.end?.0 / 60))
}

#[test]
fn the_job_of_an_underestimator_may_run_for_what_was_planned_and_pays_for_its_estimate() {
    for strategy in STRATEGIES_OF_2012 {
        let one = |settings: &PolicySpec, runtime, user| {
            let jobs = [job(0, user, 4, [100, runtime, 400])];
            go(settings, 4, &jobs, None).remove(0)
        };
        // As estimated, it is killed after 100 of 110 min.
        let short = one(&PolicySpec::named(strategy), 110, 5);
        assert_eq!(ran(&short), Some((0, 100)), "{strategy}");
        assert_eq!(short.verdict, Verdict::SuccessfulFullGrant);
        // 1.2 · 100 min are planned, and 110 suffice.
        let long = one(&more_time(strategy), 110, 5);
        assert_eq!(promised(&long), Some((0, 120)), "{strategy}");
        assert_eq!(ran(&long), Some((0, 110)), "{strategy}");
        assert_eq!(long.verdict, Verdict::SuccessfulFinished);
        assert!(!long.promise.unwrap().overbooked);
        assert_eq!(long.job.fee(), short.job.fee());
        // Never more than was promised.
        let killed = one(&more_time(strategy), 130, 5);
        assert_eq!(ran(&killed), Some((0, 120)), "{strategy}");
        assert_eq!(killed.verdict, Verdict::SuccessfulFullGrant);
        // Others, and somebody of whom nothing is known, get the estimate.
        for user in [6, 8] {
            let other = one(&more_time(strategy), 110, user);
            assert_eq!(ran(&other), Some((0, 100)), "{strategy}");
        }
    }
}

#[test]
fn more_time_comes_before_an_early_start_and_is_forgone_where_no_slot_has_it_by_the_deadline() {
    // All nodes are taken 110–130: 120 min fit behind that only.
    let fixed = || job(0, 6, 4, [20, 20, 130]).into_reservation(Seconds(60 * 110));
    for strategy in STRATEGIES_OF_2012 {
        let asked = |deadline| {
            let jobs = [fixed(), job(1, 5, 4, [100, 130, deadline])];
            go(&more_time(strategy), 4, &jobs, None).remove(1)
        };
        let later = asked(250);
        assert_eq!(promised(&later), Some((130, 250)), "{strategy}");
        assert_eq!(ran(&later), Some((130, 250)), "{strategy}");
        // With a deadline one minute earlier they fit nowhere: the estimate is what was asked for,
        // and no more than that is granted, although the nodes are free for ten minutes more.
        let at_once = asked(249);
        assert_eq!(promised(&at_once), Some((0, 100)), "{strategy}");
        assert_eq!(ran(&at_once), Some((0, 100)), "{strategy}");
        assert_eq!(at_once.verdict, Verdict::SuccessfulFullGrant);
    }
}

#[test]
fn a_longer_plan_moves_forward_with_its_length_and_is_kept_through_a_crash() {
    let jobs = [job(0, 6, 2, [60, 30, 60]), job(1, 5, 2, [100, 130, 400])];
    for strategy in STRATEGIES_OF_2012 {
        // The first job ends 30 min early. Only conservative backfilling keeps its reservation.
        let early = go(&more_time(strategy), 2, &jobs, None).remove(1);
        let start = if strategy == "conservative-backfilling" {
            60
        } else {
            30
        };
        assert_eq!(promised(&early), Some((60, 180)), "{strategy}");
        assert_eq!(ran(&early), Some((start, start + 120)), "{strategy}");
        // A node is down from 70 to 150 min; then there are 120 min again.
        let restarting = PolicySpec {
            crash: CrashRule::RestartFull,
            ..more_time(strategy)
        };
        let crashed = go(&restarting, 2, &jobs, Some((70, 150))).remove(1);
        assert_eq!(ran(&crashed), Some((150, 270)), "{strategy}");
        assert_eq!(crashed.restarts, 1, "{strategy}");
        // With a deadline at 255 the estimate still fits, and it may use what is left.
        let mut urgent = jobs.clone();
        urgent[1].deadline = Seconds(60 * 255);
        let crashed = go(&restarting, 2, &urgent, Some((70, 150))).remove(1);
        assert_eq!(ran(&crashed), Some((150, 255)), "{strategy}");
        assert_eq!(crashed.verdict, Verdict::SuccessfulFullGrant);
        // At 249 it does not: the job waits until 249 − 100 + 1 s and is lost.
        urgent[1].deadline = Seconds(60 * 249);
        let lost = go(&restarting, 2, &urgent, Some((70, 150))).remove(1);
        assert_eq!(lost.verdict, Verdict::FailedNodes, "{strategy}");
    }
}

#[test]
fn a_longer_plan_that_fits_no_more_after_a_crash_takes_the_longest_stretch_that_is_left() {
    // Job 1 has both nodes, is planned for 120 min, and loses one at 10, which is back at 20. A
    // reservation holds a node at 125–130, so 105 min are left.
    let jobs = [
        job(0, 6, 1, [5, 5, 130]).into_reservation(Seconds(60 * 125)),
        job(1, 5, 2, [100, 130, 140]),
    ];
    for strategy in ["heuristic-planning", "heuristic-overbooking"] {
        let restarting = PolicySpec {
            crash: CrashRule::RestartShort,
            ..more_time(strategy)
        };
        let cut = go(&restarting, 2, &jobs, Some((10, 20))).remove(1);
        assert_eq!(promised(&cut), Some((0, 120)), "{strategy}");
        assert_eq!(ran(&cut), Some((20, 125)), "{strategy}");
        assert_eq!(cut.verdict, Verdict::SuccessfulFullGrant, "{strategy}");
    }
}

#[test]
fn the_job_of_an_underestimator_is_never_overbooked_by_any_strategy() {
    // The node is taken for 100 min. The second job asks for 100 more and has 80 until its
    // deadline. Of the learning jobs 9 of 11 needed 10 % or less.
    let is_accepted = |settings: &PolicySpec, user| {
        let jobs = [
            job(0, 6, 1, [100, 100, 100]),
            job(1, user, 1, [100, 30, 180]),
        ];
        go(settings, 1, &jobs, None)[1].promise.is_some()
    };
    let overbooking = STRATEGIES.iter().filter(|known| known.overbooks);
    for name in overbooking.map(|known| known.name) {
        let as_estimated = PolicySpec {
            underestimators: UnderestimatorRule::AsEstimated,
            ..more_time(name)
        };
        assert!(is_accepted(&as_estimated, 5), "{name}");
        assert!(is_accepted(&more_time(name), 6), "{name}");
        assert!(!is_accepted(&more_time(name), 5), "{name}");
    }
}

#[test]
fn nobody_counts_on_the_time_that_an_underestimator_may_leave() {
    // Job 0 is planned for 120 min. Job 1 asks for 100 and has until 125: five minutes of its own,
    // which 1 of 11 learning jobs needed at most (q = 0.91). Behind a job of user 6 that asks for
    // 120 min, and needs 12 at most with probability 9/11, q = 2/11 · 10/11 = 0.17.
    let is_accepted = |user| {
        let jobs = [
            job(0, user, 1, [if user == 5 { 100 } else { 120 }, 100, 400]),
            job(1, 6, 1, [100, 10, 125]),
        ];
        let settings = more_time("comprehensive-overbooking");
        go(&settings, 1, &jobs, None)[1].promise.is_some()
    };
    assert!(!is_accepted(5));
    assert!(is_accepted(6));
}

#[test]
fn no_window_is_sold_over_the_tail_of_an_underestimator() {
    // One node is held by job 0. A window of 10 min from 50 on would be sold over the tail of a job
    // of which 9 of 11 have ended by then, and is not over that of an underestimator.
    let quoted = |user| {
        let strategy = registry::strategy("heuristic-overbooking").expect("registered");
        let settings = more_time(strategy.name);
        let policy = (strategy.build)(Nodes(1), &settings, Some(known()));
        let mut machine = ClusterMachine::new(Nodes(1), policy);
        machine.submit([job(0, user, 1, [100, 100, 400])]);
        machine.advance(Seconds(1));
        let window = (Seconds(60 * 50), Seconds(60 * 60));
        machine.quote_window(Nodes(1), window.0, window.1).is_some()
    };
    assert!(quoted(6));
    assert!(!quoted(5));
}

#[test]
fn without_the_rule_nothing_is_asked_of_the_users() {
    for strategy in STRATEGIES_OF_2012 {
        let jobs = [job(0, 5, 2, [60, 90, 200]), job(1, 5, 2, [100, 130, 400])];
        let failures = FailureTrace::default();
        let settings = PolicySpec::named(strategy);
        let with = |known| {
            simulate(Nodes(2), &settings, known, &jobs, &failures)
                .unwrap()
                .1
        };
        let known = with(Some(known()));
        let ends: Vec<_> = known.iter().map(ran).collect();
        assert_eq!(ends, [Some((0, 60)), Some((60, 160))], "{strategy}");
        let unknown = with(None);
        assert_eq!(
            unknown.iter().map(ran).collect::<Vec<_>>(),
            ends,
            "{strategy}"
        );
    }
}
