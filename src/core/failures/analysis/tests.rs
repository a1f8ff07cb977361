use std::path::PathBuf;

use super::super::find_table;
use super::*;

fn log(nodes: u32, failures: &[(u32, i64)]) -> FailureLog {
    let mut records: Vec<FailureRecord> = failures
        .iter()
        .map(|&(node, start)| FailureRecord {
            system: 1,
            node,
            start,
            repaired: Some(start + 1_800),
            cause: Some(Cause::Hardware),
        })
        .collect();
    records.sort_by_key(|record| (record.start, record.node));
    FailureLog {
        records,
        nodes: BTreeMap::from([(1, nodes)]),
        incomplete: 0,
    }
}

#[test]
fn follow_ups_are_counted_by_hand_on_a_small_log() {
    // Ten days; node 0 fails again after 30 minutes, and node 1 at the same time as node 0's first
    // failure.
    let analysis = analyse(&log(
        4,
        &[(0, 0), (1, 0), (0, 1_800), (2, 5 * DAY), (3, 10 * DAY)],
    ));
    let found = |whose, window| {
        let matching = |row: &&FollowUps| row.whose == whose && row.within_seconds == window;
        *analysis.follow_ups.iter().find(matching).unwrap()
    };
    let day = found(Whose::SameNode, DAY);
    // The failure at the very end has no day behind it.
    assert_eq!((day.failures, day.after_failure), (4, 0.25));
    // 4 nodes times 10 days; nodes 0 and 1 fail on the first day, node 2 on the sixth.
    assert_eq!(day.at_random, 3.0 / 40.0);
    let hour = found(Whose::OtherNodes, HOUR);
    // After the first failure of node 0: node 1. After that of node 1: node 0, once. After the
    // second of node 0: nobody.
    assert_eq!((hour.failures, hour.after_failure), (4, 2.0 / 12.0));
    assert_eq!(analysis.hours[0], 5);
    assert_eq!(analysis.weekdays[3], 3);
}

#[test]
fn nodes_that_fail_at_one_rate_follow_nobody() {
    // Node n fails every eighth day from day n on, always at noon: after a failure of a node its
    // next one is eight days away.
    let regular: Vec<(u32, i64)> = (0..800)
        .map(|day| ((day % 8) as u32, day * DAY + DAY / 2))
        .collect();
    let analysis = analyse(&log(8, &regular));
    assert_eq!(analysis.follow_ups[2].after_failure, 0.0);
    let other_day = analysis.follow_ups[4];
    assert!(
        (other_day.factor() - 8.0 / 7.0).abs() < 0.02,
        "{other_day:?}"
    );
    let system = &analysis.systems[0];
    assert!(system.dispersion.abs() < 1e-9 && system.gaps.is_none());
    assert!((system.first_year_ratio.unwrap() - 1.0).abs() < 0.01);
}

/// The real table, where it is at hand.
fn table() -> Option<FailureLog> {
    let folder = std::env::var_os("BOOKAHEAD_FAILURES").map(PathBuf::from);
    let file = find_table(
        "LA-UR-05-7318-failure-data-1996-2005.csv",
        folder.as_deref(),
    );
    match file {
        Ok(file) => Some(FailureLog::read(&file, crate::memory::MemoryBudget::UNLIMITED).unwrap()),
        Err(_) => {
            eprintln!("skipped: BOOKAHEAD_FAILURES does not hold the table");
            None
        }
    }
}

/// What `docs/measurements/failures.md` says of Schroeder and Gibson (DSN 2006): (what, measured,
/// lowest, highest).
#[test]
fn the_published_figures_of_2006_hold_on_the_real_table() {
    let Some(log) = table() else { return };
    let all = analyse(&log);
    let cause = |wanted| {
        let found = all.causes.iter().find(|count| count.cause == wanted);
        found.unwrap().share
    };
    let of = |number| {
        let found = all.systems.iter().find(|system| system.system == number);
        found.unwrap()
    };
    let repair = all.repair.unwrap();
    let most = *all.hours.iter().max().unwrap() as f64;
    let fewest = *all.hours.iter().min().unwrap() as f64;
    let working: u64 = all.weekdays[..5].iter().sum();
    let weekend: u64 = all.weekdays[5..].iter().sum();
    let rates: Vec<f64> = all.systems.iter().map(|system| system.per_year).collect();
    let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let greatest = rates.iter().copied().fold(0.0, f64::max);
    // 2000-01-01 in seconds from 1970.
    let late = 946_684_800;
    let mut numa = log.clone().of_systems(&[2]);
    let mut early = numa.clone();
    numa.records.retain(|record| record.start >= late);
    early.records.retain(|record| record.start < late);
    let numa_late = analyse(&numa).systems[0].gaps.unwrap();
    numa.records.retain(|record| record.node == 22);
    let node_late = analyse(&numa).systems[0].gaps.unwrap();
    let shortest = |system: &&SystemFailures| system.repair.unwrap().mean_hours;
    let repairs: Vec<f64> = all.systems.iter().map(|system| shortest(&system)).collect();
    for (what, measured, low, high) in [
        ("failures", all.failures as f64, 23_000.0, 24_000.0),
        ("fewest failures a year", least, 17.0, 23.0),
        ("most failures a year", greatest, 1_000.0, 1_200.0),
        ("share of hardware", cause(Some(Cause::Hardware)), 0.5, 0.65),
        (
            "share of software",
            cause(Some(Cause::Software)),
            0.15,
            0.25,
        ),
        (
            "shape, system 2 from 2000",
            numa_late.weibull_shape,
            0.7,
            0.8,
        ),
        (
            "shape, its node 22 from 2000",
            node_late.weibull_shape,
            0.7,
            0.8,
        ),
        (
            "simultaneous before 2000",
            analyse(&early).systems[0].simultaneous,
            0.3,
            1.0,
        ),
        ("peak hour by lowest hour", most / fewest, 1.9, 2.3),
        (
            "working day by weekend day",
            working as f64 * 2.0 / (weekend as f64 * 5.0),
            1.5,
            2.0,
        ),
        (
            "mean repair in minutes",
            repair.mean_hours * 60.0,
            345.0,
            365.0,
        ),
        (
            "longest mean repair in hours",
            repairs.iter().copied().fold(0.0, f64::max),
            24.0,
            100.0,
        ),
        (
            "system 18, failures a year",
            of(18).per_year,
            1_000.0,
            1_200.0,
        ),
    ] {
        assert!((low..=high).contains(&measured), "{what}: {measured}");
    }
    assert_eq!(repair.best(), "lognormal");
    assert!(numa_late.weibull_loss < numa_late.exponential_loss);
    assert!(node_late.weibull_loss < node_late.exponential_loss);
}

/// What `docs/measurements/failures.md` says of El-Sayed and Schroeder (DSN 2013).
#[test]
fn the_published_follow_ups_of_2013_hold_on_the_real_table() {
    let Some(log) = table() else { return };
    for (systems, day, week) in [
        (
            &[3, 4, 5, 6, 18, 19, 20][..],
            (0.0031, 0.072),
            (0.0204, 0.1564),
        ),
        (&[2, 16, 23][..], (0.046, 0.2145), (0.225, 0.604)),
    ] {
        let found = analyse(&log.clone().of_systems(systems)).follow_ups;
        for (row, (at_random, after)) in [(found[1], day), (found[2], week)] {
            assert!((row.at_random / at_random - 1.0).abs() < 0.05, "{row:?}");
            assert!((row.after_failure / after - 1.0).abs() < 0.05, "{row:?}");
        }
    }
}
