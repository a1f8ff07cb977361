//! Fixed reservations among overbooked jobs, strategy by strategy (Birkenheuer 2012, §8.2; Heine
//! 2005, §3). Times are hours.

use bookahead::failures::FailureTrace;
use bookahead::plan::ShelfRule;
use bookahead::scheduling::{JobOutcome, PolicySpec, SimulationMetrics, Verdict};
use bookahead::units::Seconds;
use bookahead::workload::{
    DurationUsed, Job, RequestOrigin, RequestSettings, StartRule, generate_requests,
};
use bookahead_overbooking::registry::STRATEGIES;

use crate::support::{job, outages, perfect, run};

const QUEUES: [&str; 2] = ["fcfs", "easy-backfilling"];
const OVERBOOKING: [&str; 3] = [
    "comprehensive-overbooking",
    "heuristic-overbooking",
    "overbooking-2008",
];

fn hours(count: i64) -> Seconds {
    Seconds::HOUR * count
}

fn planning() -> impl Iterator<Item = &'static str> {
    let names = STRATEGIES.iter().map(|strategy| strategy.name);
    names.filter(|name| !QUEUES.contains(name))
}

/// A reservation of `[start, start + estimate)`.
fn reservation(id: u32, submit: i64, nodes: u32, start: i64, estimate: i64, runtime: i64) -> Job {
    job(id, submit, nodes, estimate, runtime).into_reservation(hours(start))
}

/// A job that may take its time.
fn patient(id: u32, submit: i64, nodes: u32, estimate: i64, runtime: i64) -> Job {
    job(id, submit, nodes, estimate, runtime).due_by(hours(1_000))
}

/// Users need half of what they ask for.
fn halves() -> Vec<Job> {
    (0..4).map(|id| job(id, 0, 1, 10, 5)).collect()
}

/// On four nodes, with shelves of eight hours where there are any.
fn on_four(strategy: &str, jobs: &[Job]) -> (SimulationMetrics, Vec<JobOutcome>) {
    let settings = PolicySpec {
        shelves: ShelfRule {
            height: hours(8),
            ..ShelfRule::default()
        },
        ..perfect(strategy, 0.4)
    };
    let healthy = FailureTrace::default();
    run(4, &settings, &halves(), jobs, &healthy)
}

fn failing(strategy: &str, jobs: &[Job], down: &[(u32, i64, i64)]) -> Vec<JobOutcome> {
    run(4, &perfect(strategy, 0.4), &halves(), jobs, &outages(down)).1
}

/// (start, end) of a job that ran.
fn ran(outcome: &JobOutcome) -> Option<(Seconds, Seconds)> {
    Some((outcome.start?, outcome.end?))
}

#[test]
fn a_reservation_of_an_empty_machine_starts_exactly_at_its_time_and_earns_its_fee() {
    for strategy in STRATEGIES {
        for (runtime, end, verdict) in [
            (3, 13, Verdict::SuccessfulFinished),
            (9, 14, Verdict::SuccessfulFullGrant),
        ] {
            let (metrics, outcomes) =
                on_four(strategy.name, &[reservation(0, 0, 4, 10, 4, runtime)]);
            let outcome = &outcomes[0];
            assert_eq!(
                ran(outcome),
                Some((hours(10), hours(end))),
                "{}",
                strategy.name
            );
            assert_eq!(outcome.verdict, verdict, "{}", strategy.name);
            let promise = outcome.promise.unwrap();
            assert_eq!((promise.start, promise.end), (hours(10), hours(14)));
            assert!(!promise.overbooked && promise.success.is_none());
            assert_eq!(metrics.gain(1.0).0, 16.0, "{}", strategy.name);
        }
    }
}

#[test]
fn a_planned_job_is_not_moved_for_a_reservation() {
    // [0, 8) runs, [8, 16) is planned; four hours of two nodes from 10 on are not there, even
    // though the second job could wait.
    let jobs = [
        patient(0, 0, 4, 8, 8),
        patient(1, 1, 4, 8, 8),
        reservation(2, 2, 2, 10, 4, 4),
        reservation(3, 2, 4, 16, 4, 4),
    ];
    for strategy in planning() {
        let (_, outcomes) = on_four(strategy, &jobs);
        assert_eq!(outcomes[2].verdict, Verdict::DroppedNoSlot, "{strategy}");
        assert_eq!(ran(&outcomes[1]), Some((hours(8), hours(16))), "{strategy}");
        assert_eq!(
            ran(&outcomes[3]),
            Some((hours(16), hours(20))),
            "{strategy}"
        );
    }
}

#[test]
fn a_reservation_is_rejected_where_a_running_job_may_still_need_its_nodes() {
    // The estimate counts: the job ends after an hour, but the request comes before.
    let jobs = [
        patient(0, 0, 4, 8, 2),
        reservation(1, 1, 1, 7, 4, 4),
        reservation(2, 1, 1, 8, 4, 4),
    ];
    for strategy in STRATEGIES {
        let (_, outcomes) = on_four(strategy.name, &jobs);
        assert_eq!(
            outcomes[1].verdict,
            Verdict::DroppedNoSlot,
            "{}",
            strategy.name
        );
        assert_eq!(outcomes[2].start, Some(hours(8)), "{}", strategy.name);
    }
}

#[test]
fn accepted_reservations_are_in_each_others_way() {
    let jobs = [
        reservation(0, 0, 3, 10, 4, 1),
        reservation(1, 0, 2, 13, 4, 4),
        reservation(2, 0, 1, 13, 4, 4),
        reservation(3, 0, 3, 14, 2, 2),
    ];
    for strategy in STRATEGIES {
        let (_, outcomes) = on_four(strategy.name, &jobs);
        let starts: Vec<_> = outcomes.iter().map(|outcome| outcome.start).collect();
        let expected = [Some(hours(10)), None, Some(hours(13)), Some(hours(14))];
        assert_eq!(starts, expected, "{}", strategy.name);
    }
}

#[test]
fn the_past_cannot_be_reserved_but_the_present_can() {
    let jobs = [
        reservation(0, 5, 1, 4, 2, 2),
        reservation(1, 5, 1, 5, 2, 2),
        reservation(2, 5, 5, 9, 2, 2),
    ];
    for strategy in STRATEGIES {
        let (_, outcomes) = on_four(strategy.name, &jobs);
        assert_eq!(
            outcomes[0].verdict,
            Verdict::DroppedNoSlot,
            "{}",
            strategy.name
        );
        assert_eq!(
            ran(&outcomes[1]),
            Some((hours(5), hours(7))),
            "{}",
            strategy.name
        );
        assert_eq!(outcomes[2].verdict, Verdict::DroppedTooWide);
    }
}

#[test]
fn an_overbooked_job_in_front_is_cut_at_the_start_of_the_reservation() {
    // After the reservation of [6, 10) the job of 8 h would end at 18, its deadline is 16: it gets
    // [0, 6).
    for strategy in OVERBOOKING {
        for (runtime, end, verdict) in [
            (5, 5, Verdict::SuccessfulFinished),
            (7, 6, Verdict::FailedOverbooked),
        ] {
            let jobs = [reservation(0, 0, 4, 6, 4, 4), job(1, 0, 4, 8, runtime)];
            let (metrics, outcomes) = on_four(strategy, &jobs);
            assert!(outcomes[1].promise.unwrap().overbooked, "{strategy}");
            assert_eq!(ran(&outcomes[1]), Some((hours(0), hours(end))));
            assert_eq!(outcomes[1].verdict, verdict, "{strategy}");
            assert_eq!(
                ran(&outcomes[0]),
                Some((hours(6), hours(10))),
                "{strategy}: not a second late, and not early either"
            );
            let penalty = if end == 6 { -32.0 } else { 32.0 };
            assert_eq!(metrics.gain(1.0).0, 16.0 + penalty, "{strategy}");
        }
    }
}

#[test]
fn a_job_that_starts_early_in_front_of_a_reservation_is_cut_at_its_start() {
    // [0, 4) runs for 2 h; 9 h are overbooked in [4, 10), in front of the reservation, and start at
    // 2 instead: 8 of 9 h.
    let jobs = [
        patient(0, 0, 4, 4, 2),
        reservation(1, 0, 4, 10, 4, 4),
        job(2, 0, 4, 9, 9),
    ];
    for strategy in OVERBOOKING {
        let (_, outcomes) = on_four(strategy, &jobs);
        assert_eq!(ran(&outcomes[2]), Some((hours(2), hours(10))), "{strategy}");
        assert_eq!(outcomes[2].verdict, Verdict::FailedOverbooked);
        assert_eq!(outcomes[1].start, Some(hours(10)), "{strategy}");
    }
}

#[test]
fn a_reservation_is_neither_shortened_nor_put_on_top_of_its_predecessor() {
    // Between [0, 6) and [12, 18) there is room for 6 h. A reservation of 7 h would nearly
    // certainly need only half of it, and a flexible job of 8 h is taken.
    let front = [patient(0, 0, 4, 6, 3), reservation(1, 0, 4, 12, 6, 6)];
    for strategy in OVERBOOKING {
        for (start, estimate) in [(6, 7), (5, 7), (5, 1)] {
            let request = reservation(2, 0, 4, start, estimate, 1);
            let jobs = [front[0].clone(), front[1].clone(), request];
            let (_, outcomes) = on_four(strategy, &jobs);
            assert_eq!(outcomes[2].verdict, Verdict::DroppedNoSlot, "{strategy}");
        }
        let jobs = [front[0].clone(), front[1].clone(), job(2, 0, 4, 8, 3)];
        assert_eq!(
            on_four(strategy, &jobs).1[2].verdict,
            Verdict::SuccessfulFinished
        );
    }
}

#[test]
fn whether_a_reservation_is_accepted_does_not_depend_on_probabilities() {
    for strategy in OVERBOOKING {
        let mut settings = perfect(strategy, 0.0);
        settings.test_full_length = true;
        settings.reliability.failure_rate_per_hour = 1.0;
        let jobs = [reservation(0, 0, 4, 3, 9, 9)];
        let (_, outcomes) = run(4, &settings, &halves(), &jobs, &FailureTrace::default());
        assert_eq!(outcomes[0].start, Some(hours(3)), "{strategy}");
    }
}

#[test]
fn a_reservation_in_front_is_expected_to_hold_its_nodes_until_its_window_ends() {
    // Half of the jobs run for 50 % of their estimate, half for 70 %. Between the first, [0, 6),
    // and the reservation from 12 on, a job of 10 h has 6 h for certain, so P = 0.5; if the first
    // is a job that may end after 3 or 4.2 h, 7 h are needed and are there after 5 h: P = 1.
    let mixed: Vec<Job> = (0..4)
        .map(|id| job(id, 0, 1, 10, if id < 2 { 5 } else { 7 }))
        .collect();
    let executable = |first: Job| {
        let jobs = [
            first,
            reservation(1, 0, 4, 12, 6, 6),
            job(2, 0, 4, 10, 5).due_by(hours(20)),
        ];
        let settings = perfect("comprehensive-overbooking", 0.9);
        let (_, outcomes) = run(4, &settings, &mixed, &jobs, &FailureTrace::default());
        let promise = outcomes[2].promise.unwrap();
        assert_eq!((promise.start, promise.end), (hours(6), hours(12)));
        promise.success.unwrap().executable
    };
    assert!((executable(reservation(0, 0, 4, 0, 6, 3)) - 0.5).abs() < 1e-9);
    assert!((executable(patient(0, 0, 4, 6, 3)) - 1.0).abs() < 1e-9);
}

#[test]
fn nobody_is_placed_on_top_of_a_reservation() {
    // Birkenheuer 2008, §3.1.2: 6 h between the first and the reservation; d' = 9 / 1.4 = 6.43 h
    // needs half an hour of the first one's time, of which 6 − 6 / 1.4 = 1.71 h may be cut if it is
    // a job.
    let jobs = |first: Job| {
        [
            first,
            reservation(1, 0, 4, 12, 9, 9),
            job(2, 0, 4, 9, 4).due_by(hours(20)),
        ]
    };
    let verdict = |first| on_four("overbooking-2008", &jobs(first)).1[2].verdict;
    assert_eq!(verdict(patient(0, 0, 4, 6, 3)), Verdict::SuccessfulFinished);
    assert_eq!(
        verdict(reservation(0, 0, 4, 0, 6, 3)),
        Verdict::DroppedNoSlot
    );
}

#[test]
fn the_early_end_of_a_reservation_is_used_when_it_comes() {
    // [0, 8) ends at 2. Only these two keep reservations until their planned end.
    let keep = ["conservative-backfilling", "shelf-backfilling"];
    let jobs = [reservation(0, 0, 4, 0, 8, 2), patient(1, 1, 4, 4, 4)];
    for strategy in STRATEGIES {
        let (_, outcomes) = on_four(strategy.name, &jobs);
        let expected = if keep.contains(&strategy.name) { 8 } else { 2 };
        assert_eq!(
            outcomes[1].start,
            Some(hours(expected)),
            "{}",
            strategy.name
        );
    }
}

#[test]
fn a_reservation_that_uses_all_of_its_slot_holds_its_nodes_to_the_end_under_every_strategy() {
    // Made from a job of 8 h that ends after 2: from 0 to 2, or to 8. Somebody else waits.
    let jobs = |duration_used| {
        let settings = RequestSettings {
            share_percent: 100.0,
            origin: RequestOrigin::Instead,
            start: StartRule::Lead {
                seconds: Seconds::ZERO,
            },
            duration_used,
            ..RequestSettings::default()
        };
        let mixed = generate_requests(&[job(0, 0, 4, 8, 2)], &settings, 1, "w", 0);
        let mut jobs = mixed.into_jobs();
        jobs.push(patient(1, 1, 4, 4, 4));
        jobs
    };
    for strategy in STRATEGIES {
        let name = strategy.name;
        let (metrics, ends_early) = on_four(name, &jobs(DurationUsed::Job));
        assert_eq!(ran(&ends_early[0]), Some((hours(0), hours(2))), "{name}");
        let (of_window, uses_all) = on_four(name, &jobs(DurationUsed::Window));
        assert_eq!(ran(&uses_all[0]), Some((hours(0), hours(8))), "{name}");
        assert_eq!(ran(&uses_all[1]), Some((hours(8), hours(12))), "{name}");
        assert_eq!(uses_all[0].verdict, Verdict::SuccessfulFinished, "{name}");
        assert_eq!(metrics.fees, of_window.fees, "{name}");
        // Six hours of four nodes more.
        let more = of_window.busy.0 - metrics.busy.0;
        assert_eq!(more, 4 * hours(6).0, "{name}");
    }
}

#[test]
fn in_a_queue_a_job_that_would_run_into_a_reservation_waits() {
    // Three nodes are reserved from 10 to 14. The head needs four of 8 h: not before 14.
    let jobs = [
        reservation(0, 0, 3, 10, 4, 4),
        patient(1, 1, 2, 7, 7),
        patient(2, 1, 4, 4, 4),
        patient(3, 2, 2, 5, 5),
        patient(4, 2, 1, 10, 10),
        patient(5, 3, 1, 3, 3),
    ];
    let starts = |strategy| -> Vec<i64> {
        let (_, outcomes) = on_four(strategy, &jobs);
        let starts = outcomes.iter().map(|outcome| outcome.start.unwrap());
        starts.map(|start| start.0 / Seconds::HOUR.0).collect()
    };
    // The first ends at 8, and two hours before the reservation are too short for the head: 14.
    // Nobody passes it.
    assert_eq!(starts("fcfs"), [10, 1, 14, 18, 18, 18]);
    // With backfilling two nodes are idle from 2 on: the fourth job fits until 7. The fifth would
    // run into the reservation beside nobody, one node is left then: it ends at 18 and would delay
    // the head (14), so it waits; the sixth fits until 10.
    assert_eq!(starts("easy-backfilling"), [10, 1, 14, 2, 18, 7]);
}

#[test]
fn behind_the_reservations_the_head_of_the_queue_is_not_delayed() {
    // The head's place is [14, 18) on three nodes: a job of one node may run beside the reservation
    // and the head.
    let jobs = [
        reservation(0, 0, 3, 10, 4, 4),
        patient(1, 1, 2, 7, 7),
        patient(2, 1, 3, 4, 4),
        patient(3, 2, 1, 20, 20),
        patient(4, 2, 1, 20, 20),
    ];
    let (_, outcomes) = on_four("easy-backfilling", &jobs);
    assert_eq!(outcomes[3].start, Some(hours(2)));
    assert_eq!(outcomes[0].start, Some(hours(10)));
    assert_eq!(outcomes[2].start, Some(hours(14)));
    assert_eq!(outcomes[4].start, Some(hours(18)));
}

#[test]
fn waiting_jobs_of_a_queue_are_passed_by_a_reservation() {
    // Both jobs wait or run until 16 in a plan; a queue has promised the second nothing.
    let jobs = [
        patient(0, 0, 4, 8, 8),
        patient(1, 1, 4, 8, 8),
        reservation(2, 2, 2, 10, 4, 4),
    ];
    for strategy in QUEUES {
        let (_, outcomes) = on_four(strategy, &jobs);
        assert_eq!(outcomes[2].start, Some(hours(10)), "{strategy}");
        assert_eq!(outcomes[1].start, Some(hours(14)), "{strategy}");
    }
}

#[test]
fn a_reservation_whose_nodes_are_down_takes_others_or_fails_at_once() {
    for strategy in STRATEGIES {
        // Its own nodes would be 0 and 1.
        let alone = failing(
            strategy.name,
            &[reservation(0, 0, 2, 10, 4, 4)],
            &[(0, 5, 100)],
        );
        assert_eq!(alone[0].start, Some(hours(10)), "{}", strategy.name);
        assert_eq!(alone[0].verdict, Verdict::SuccessfulFinished);
        let all = failing(
            strategy.name,
            &[reservation(0, 0, 4, 10, 4, 4)],
            &[(0, 5, 11)],
        );
        assert_eq!(
            all[0].verdict,
            Verdict::FailedUnstartable,
            "{}",
            strategy.name
        );
        assert_eq!((all[0].start, all[0].end), (None, Some(hours(10))));
        let repaired = failing(
            strategy.name,
            &[reservation(0, 0, 4, 10, 4, 4)],
            &[(0, 5, 10)],
        );
        assert_eq!(repaired[0].start, Some(hours(10)), "{}", strategy.name);
    }
}

#[test]
fn other_nodes_that_are_planned_for_somebody_are_not_taken() {
    // Nodes 0 and 1 are the reservation's, 2 and 3 those of the other one from 12 on.
    let jobs = [
        reservation(0, 0, 2, 10, 4, 4),
        reservation(1, 0, 2, 12, 4, 4),
    ];
    for strategy in planning().filter(|name| !name.starts_with("heuristic")) {
        let outcomes = failing(strategy, &jobs, &[(0, 5, 100)]);
        assert_eq!(
            outcomes[0].verdict,
            Verdict::FailedUnstartable,
            "{strategy}"
        );
        assert_eq!(outcomes[1].start, Some(hours(12)), "{strategy}");
    }
}

#[test]
fn a_node_failure_under_a_reservation_ends_it_for_good() {
    // There would be time and there would be nodes, but its window is fixed.
    let jobs = [reservation(0, 0, 2, 10, 8, 2), patient(1, 1, 4, 20, 5)];
    for strategy in STRATEGIES {
        let outcomes = failing(strategy.name, &jobs, &[(0, 11, 12), (1, 11, 12)]);
        let lost = &outcomes[0];
        assert_eq!(lost.verdict, Verdict::FailedNodes, "{}", strategy.name);
        assert_eq!(ran(lost), Some((hours(10), hours(11))), "{}", strategy.name);
        assert_eq!((lost.restarts, lost.node_failures), (0, 1));
        assert!(outcomes[1].verdict.is_successful(), "{}", strategy.name);
    }
}
