//! Users who ask for more time while their jobs run (Birkenheuer 2012, §4.2).

use std::sync::Arc;

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::scheduling::{
    ClusterMachine, CrashRule, JobOutcome, LongerEstimates, LongerTotals, PolicySpec,
    SimulationMetrics, Verdict,
};
use bookahead_core::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use crate::registry::{PlanKind, STRATEGIES};
use crate::{Work, registry, replay};

fn planning() -> impl Iterator<Item = &'static str> {
    let planning = STRATEGIES
        .iter()
        .filter(|known| known.plan != PlanKind::Queue);
    planning.map(|known| known.name)
}

/// A policy for jobs of four hours.
fn four_hours(strategy: &str) -> PolicySpec {
    super::named(strategy, Seconds::HOUR * 4)
}

/// A job on this many nodes that is submitted at 0: its estimate, run time and deadline in hours.
fn job(id: u32, nodes: u32, [estimate, ran, deadline]: [i64; 3]) -> Job {
    let hours = |hours: i64| Seconds::HOUR * hours;
    Job::rigid(JobId(id), Seconds(0), Nodes(nodes), hours(estimate))
        .running_for(hours(ran))
        .due_by(hours(deadline))
}

/// A reservation of two nodes from this hour on, for two hours.
fn reserved_from(id: u32, hour: i64) -> Job {
    job(id, 2, [2, 2, 100]).into_reservation(Seconds::HOUR * hour)
}

/// Two nodes; every user asks an hour before the end. Node 0 may be down for a time.
fn played(
    settings: &PolicySpec,
    jobs: &[Job],
    asks: bool,
    down: Option<[i64; 2]>,
) -> (SimulationMetrics, Vec<JobOutcome>) {
    let strategy = registry::strategy(&settings.strategy).expect("a registered strategy");
    let policy = (strategy.build)(Nodes(2), settings, None);
    let mut machine = ClusterMachine::new(Nodes(2), policy);
    machine.let_ask(LongerEstimates::of(vec![asks; jobs.len()], Seconds::HOUR));
    let outage = down.map(|[start, end]| Outage {
        node: NodeIndex(0),
        start: Seconds::HOUR * start,
        end: Seconds::HOUR * end,
    });
    let failures = FailureTrace::from_outages(outage).expect("it ends");
    let replay = replay(machine, Work::Jobs(Arc::from(jobs)), &failures.into());
    (replay.metrics, replay.outcomes)
}

/// The last run of a job, in hours.
fn ran(outcome: &JobOutcome) -> (i64, i64) {
    let hours = |time: Option<Seconds>| time.expect("it ran").0 / Seconds::HOUR.0;
    (hours(outcome.start), hours(outcome.end))
}

#[test]
fn time_is_granted_up_to_the_next_reservation_and_paid_for() {
    // n = 2, x = 4, ω = 6. The reservation of two hours costs 4.
    for strategy in planning() {
        let with = |reserved, deadline, asks| {
            let jobs = [job(0, 2, [4, 6, deadline]), reserved_from(1, reserved)];
            let (metrics, outcomes) = played(&four_hours(strategy), &jobs, asks, None);
            assert!(outcomes[1].verdict.is_successful(), "{strategy}");
            let fee = metrics.fees.coins().0 - 4.0;
            (
                ran(&outcomes[0]).1,
                outcomes[0].verdict,
                fee,
                metrics.longer,
            )
        };
        let granted = |in_full, in_part, node_hours: i64| LongerTotals {
            asked: 1,
            in_full,
            in_part,
            granted: NodeSeconds(3_600 * node_hours),
        };
        let finished = Verdict::SuccessfulFinished;
        let cut = Verdict::SuccessfulFullGrant;
        // Granted to 6: fee 2 · 6. Without, ended at 4: fee 2 · 4.
        let all = (6, finished, 12.0, granted(1, 0, 4));
        assert_eq!(with(6, 8, true), all, "{strategy}");
        let none = (4, cut, 8.0, LongerTotals::default());
        assert_eq!(with(6, 8, false), none, "{strategy}");
        // An hour more where the nodes are reserved from 5 on, or the deadline is then.
        let part = (5, cut, 10.0, granted(0, 1, 2));
        assert_eq!(with(5, 8, true), part, "{strategy}");
        assert_eq!(with(6, 5, true), part, "{strategy}");
        // Nothing where they are reserved from 4 on.
        assert_eq!(
            with(4, 8, true),
            (4, cut, 8.0, granted(0, 0, 0)),
            "{strategy}"
        );
    }
}

#[test]
fn who_has_not_overrun_does_not_ask_and_a_job_that_was_planned_waits_for_none() {
    for strategy in planning() {
        // The first uses exactly its estimate. The second is planned at 4 on both nodes, and nobody
        // in front of it is lengthened.
        let jobs = [job(0, 2, [4, 4, 8]), job(1, 2, [4, 6, 20])];
        let (metrics, outcomes) = played(&four_hours(strategy), &jobs, true, None);
        assert_eq!(metrics.longer.asked, 1, "{strategy}");
        assert_eq!(ran(&outcomes[1]), (4, 10), "{strategy}");
        let jobs = [job(0, 2, [4, 6, 8]), job(1, 2, [4, 4, 20])];
        let (metrics, outcomes) = played(&four_hours(strategy), &jobs, true, None);
        assert_eq!(metrics.longer.asked, 1, "{strategy}");
        assert_eq!(ran(&outcomes[0]), (0, 4), "{strategy}");
        assert_eq!(ran(&outcomes[1]), (4, 8), "{strategy}");
    }
}

#[test]
fn who_asks_late_loses_to_whoever_was_planned_before_and_binds_those_who_come_after() {
    // The job asks at 3. Another one that is submitted at 2 has the nodes from 4 on; one at 3 comes
    // after the wish of that second, and is planned behind 6.
    for strategy in planning() {
        let with = |hour: i64| {
            let other = Job {
                submit: Seconds::HOUR * hour,
                release: Seconds::HOUR * hour,
                ..job(1, 2, [4, 4, 40])
            };
            let jobs = [job(0, 2, [4, 6, 8]), other];
            let (_, outcomes) = played(&four_hours(strategy), &jobs, true, None);
            (ran(&outcomes[0]).1, ran(&outcomes[1]).0)
        };
        assert_eq!(with(2), (4, 4), "{strategy}");
        assert_eq!(with(3), (6, 6), "{strategy}");
    }
}

#[test]
fn what_was_granted_is_gone_with_a_run_that_is_lost_and_asked_for_again() {
    // Lengthened at 3 to 6, it loses a node at 5, which is back at 7. Started again at 7, it asks
    // at 10 and ends at 13; with a deadline at 12, then. At 10 it would have had all of its
    // estimate: a job that is lost for good pays nothing.
    for strategy in planning() {
        let with = |deadline| {
            let settings = PolicySpec {
                crash: CrashRule::RestartFull,
                ..four_hours(strategy)
            };
            let jobs = [job(0, 2, [4, 6, deadline])];
            let (metrics, outcomes) = played(&settings, &jobs, true, Some([5, 7]));
            let end = ran(&outcomes[0]).1;
            (
                end,
                outcomes[0].verdict,
                metrics.fees.coins().0,
                metrics.longer.asked,
            )
        };
        let finished = Verdict::SuccessfulFinished;
        assert_eq!(with(20), (13, finished, 12.0, 2), "{strategy}");
        let cut = Verdict::SuccessfulFullGrant;
        assert_eq!(with(12), (12, cut, 10.0, 2), "{strategy}");
        let (_, verdict, fee, asked) = with(10);
        assert_eq!(
            (verdict, fee, asked),
            (Verdict::FailedNodes, 0.0, 1),
            "{strategy}"
        );
    }
}
