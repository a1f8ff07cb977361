//! Quotas of parts, for all time and for periods.

use super::*;

#[test]
fn a_quota_limits_what_parts_hold_on_average_whatever_the_algorithm() {
    let mut machine = machine(
        10,
        LocalSettings {
            quota: Some(0.5),
            ..LocalSettings::default()
        },
    );
    machine.reserve(Seconds(0), &part(1, 0, 50, 4)).unwrap();
    // On average over [0, 100) the first part holds 2 CPUs.
    let answer = machine.probe(Seconds(0), &query(100, &[4, 3], &[0], COUNTING));
    assert_eq!(offered(&answer), [(0, 1)]);
    assert_eq!((answer.counts.quota, answer.counts.counting), (1, 0));
    assert_eq!(
        machine.reserve(Seconds(0), &part(2, 0, 100, 4)),
        Err(Refusal::Quota)
    );
    assert_eq!(machine.reserve(Seconds(0), &part(3, 0, 100, 3)), Ok(()));
}

#[test]
fn a_quota_of_zero_from_an_hour_on_refuses_whatever_reaches_into_it_once_it_is_announced() {
    let period = |start, end, share| QuotaPeriod {
        start: Seconds(start),
        end: Seconds(end),
        share,
        announced: Seconds(10),
        clusters: Vec::new(),
    };
    let settings = LocalSettings {
        quota_periods: vec![period(0, 3_600, 0.2), period(3_600, 7_200, 0.0)],
        ..LocalSettings::default()
    };
    let mut machine = machine(100, settings);
    machine.reserve(Seconds(0), &part(1, 0, 1_800, 30)).unwrap();
    let mut admitted = |now, start, duration, nodes| {
        machine.settle(Seconds(now));
        let probe = query(duration, &[nodes], &[start], COUNTING);
        !machine.probe(Seconds(now), &probe).offered.is_empty()
    };
    // Nobody knows of it yet.
    assert!(admitted(0, 3_000, 1_200, 1));
    // On average over the hour, 30 CPUs for half of it and 5 are 20 of 100.
    assert!(admitted(10, 10, 3_590, 5));
    assert!(!admitted(10, 10, 3_590, 6));
    assert!(!admitted(10, 3_000, 1_200, 1));
    assert!(admitted(10, 7_200, 3_600, 20));
}
