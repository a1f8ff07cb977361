//! The questions of `docs/schema.md` about promised starts, against the promises that the engine counts.

use std::collections::BTreeMap;

use super::folder;
use super::outcomes::{answers, close, integer, number, overbooking, policies, string};
use crate::scheduling::{JobOutcome, PromisedStart};
use crate::store::Store;

/// Promises, starts among them, late ones, Σ |start − promise| and Σ of the delays.
#[derive(Default)]
struct Sums {
    promised: i64,
    started: i64,
    late: i64,
    error: i64,
    delay: i64,
}

/// Of the promises of the simulations with overbooking, by what `group` says of a job.
fn sums(group: impl Fn(&JobOutcome) -> Option<i64>) -> BTreeMap<i64, Sums> {
    let mut groups: BTreeMap<i64, Sums> = BTreeMap::new();
    for outcome in overbooking(&[0.1, 0.2]) {
        let (Some(key), Some(promise)) = (group(&outcome), PromisedStart::of_plan(&outcome)) else {
            continue;
        };
        let sums = groups.entry(key).or_default();
        sums.promised += 1;
        if let Some(start) = promise.start {
            let behind = (start - promise.promised).0;
            sums.started += 1;
            sums.late += i64::from(behind > 0);
            sums.error += behind.abs();
            sums.delay += behind.max(0);
        }
    }
    groups
}

/// Whether the answers to a question are these groups; the last five columns are promises, error, late share, delay and unstarted.
fn agree(number_of_question: usize, key_column: usize, groups: &BTreeMap<i64, Sums>) {
    let folder = folder();
    let path = folder.path().join("store.db");
    policies(&path, "documented", "jobs");
    let store = Store::open_read_only(&path).unwrap();
    let mut rows = answers(&store, number_of_question);
    rows.retain(|row| string(&row[0]) == "heuristic-overbooking");
    assert_eq!(rows.len(), groups.len());
    assert!(groups.values().any(|sums| sums.late > 0));
    for row in rows {
        let sums = &groups[&integer(&row[key_column])];
        let found = &row[row.len() - 5..];
        assert_eq!(integer(&found[0]), sums.promised, "{row:?}");
        if sums.started > 0 {
            let started = sums.started as f64;
            assert!(close(number(&found[1]), sums.error as f64 / started));
            assert!(close(
                number(&found[2]),
                sums.late as f64 / sums.promised as f64
            ));
        }
        if sums.late > 0 {
            assert!(close(
                number(&found[3]),
                sums.delay as f64 / sums.late as f64
            ));
        }
        assert_eq!(integer(&found[4]), sums.promised - sums.started, "{row:?}");
    }
}

#[test]
fn promised_and_real_starts_by_width_are_those_of_the_outcomes() {
    agree(
        30,
        2,
        &sums(|outcome| Some(i64::from(outcome.job.nodes.0.next_power_of_two()))),
    );
}

#[test]
fn promised_and_real_starts_by_user_are_those_of_the_outcomes() {
    agree(31, 1, &sums(|outcome| outcome.job.user));
}
