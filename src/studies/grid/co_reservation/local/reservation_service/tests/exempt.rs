//! What is exempt from the backlog.

use super::*;

#[test]
fn where_nothing_runs_there_is_no_next_scheduling_event_and_every_start_is_exempt() {
    let mut machine = machine(10, LocalSettings::default());
    // The job waits because every CPU is down; the accuracy is ½, so the backlog lasts 4,500 s.
    let (first, count) = (0, 10);
    machine.apply_outage(Seconds(0), OutageEvent::NodesDown { first, count });
    machine.submit(&[job(0, 0, 10, 9_000, 9_000)]);
    machine.advance(Seconds(1));
    let mut admitted = |start, filters| {
        let filters = ProbeFilters {
            counting: false,
            ..filters
        };
        let answer = machine.probe(Seconds(0), &query(3_600, &[1], &[start], filters));
        (answer.offered.len(), answer.counts.exempt)
    };
    assert_eq!(admitted(4_499, BACKLOG), (0, 0));
    assert_eq!(admitted(4_500, BACKLOG), (1, 0));
    for start in [0, 4_499] {
        assert_eq!(admitted(start, BACKFILL), (1, 1), "{start}");
    }
}

#[test]
fn t7_what_ends_before_the_next_scheduling_event_is_exempt_from_the_backlog_test() {
    let mut machine = machine(10, LocalSettings::default());
    // The second job waits, so that the backlog is long; the CPU that is left until 1,800 is of no
    // use to it.
    machine.submit(&[job(0, 0, 2, 1_800, 900), job(1, 0, 9, 90_000, 90_000)]);
    machine.advance(Seconds(1));
    let mut answer = |duration, start, filters| {
        let answer = machine.probe(Seconds(0), &query(duration, &[1], &[start], filters));
        (answer.offered.len(), answer.counts)
    };
    let counts = FilterCounts {
        unfiltered: 1,
        ..FilterCounts::default()
    };
    let (admitted, refused) = (
        FilterCounts {
            exempt: 1,
            ..counts
        },
        FilterCounts {
            backlog: 1,
            ..counts
        },
    );
    assert_eq!(answer(1_200, 30, BACKFILL), (1, admitted));
    assert_eq!(answer(1_200, 30, BACKLOG), (0, refused));
    assert_eq!(answer(1_800, 30, BACKFILL), (0, refused));
    assert_eq!(answer(1_200, 600, BACKFILL), (0, refused));
    assert_eq!(answer(1_199, 600, BACKFILL), (1, admitted));
    assert_eq!(answer(1_200, 30, COUNTING), (1, counts));
}

#[test]
fn the_oracle_knows_that_the_next_event_is_the_true_end_of_a_job() {
    let ends_at = |next_event| {
        let settings = LocalSettings {
            next_event,
            ..LocalSettings::default()
        };
        let mut machine = machine(10, settings);
        machine.submit(&[job(0, 0, 2, 1_800, 900), job(1, 0, 9, 90_000, 90_000)]);
        machine.advance(Seconds(1));
        let admitted = |duration: i64, machine: &mut PlainCluster| {
            let probe = query(duration, &[1], &[0], BACKFILL);
            !machine.probe(Seconds(0), &probe).offered.is_empty()
        };
        (1..2_000)
            .find(|&duration| !admitted(duration, &mut machine))
            .unwrap()
    };
    use crate::co_reservation::local::NextEventSource::{Estimate, Oracle};
    assert_eq!(ends_at(Estimate), 1_800);
    assert_eq!(ends_at(Oracle), 900);
}

#[test]
fn a_part_may_reach_as_far_ahead_as_the_cluster_looks_if_it_delays_no_waiting_job() {
    let admits = |events, waiting, duration| {
        let settings = LocalSettings {
            look_ahead: LookAhead(events),
            ..LocalSettings::default()
        };
        let mut machine = machine(10, settings);
        machine.submit(&[
            job(0, 0, 4, 100, 100),
            job(1, 0, 4, 200, 200),
            job(2, 0, waiting, 100, 100),
        ]);
        machine.advance(Seconds(1));
        let probe = query(duration, &[2], &[0], BACKFILL);
        !machine.probe(Seconds(0), &probe).offered.is_empty()
    };
    assert_eq!([1, 2].map(|events| admits(events, 8, 150)), [false, true]);
    assert_eq!([2, 3].map(|events| admits(events, 8, 250)), [false, true]);
    assert_eq!([2, 3].map(|events| admits(events, 9, 250)), [false, false]);
    assert!(admits(2, 9, 150));
}
