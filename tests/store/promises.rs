//! The questions of `docs/schema.md` about promised starts, against the promises that the engine
//! counts.

use std::collections::BTreeMap;

use super::folder;
use super::outcomes::{answers, close, integer, number, string};
use bookahead::scheduling::{JobOutcome, PromisedStart};
use bookahead::store::Store;
use bookahead::studies::STUDIES;
use bookahead::units::Seconds;
use bookahead_testutils::runs::{finished, outcome, point, record, result, write_run};

/// Promises, starts among them, late ones, Σ |start − promise| and Σ of the delays.
#[derive(Default)]
struct Sums {
    promised: i64,
    started: i64,
    late: i64,
    error: i64,
    delay: i64,
}

const STRATEGY: &str = "heuristic-overbooking";

/// The outcomes of the simulation: of those that have started, every fourth is an hour late.
fn outcomes() -> Vec<JobOutcome> {
    let mut all: Vec<JobOutcome> = (0..300).map(outcome).collect();
    for outcome in all.iter_mut().step_by(4) {
        outcome.start = outcome.start.map(|start| start + Seconds::HOUR);
        outcome.end = outcome.end.map(|end| end + Seconds::HOUR);
    }
    all
}

/// Of the promises of the simulation, by what `group` says of a job.
fn sums(group: impl Fn(&JobOutcome) -> Option<i64>) -> BTreeMap<i64, Sums> {
    let mut groups: BTreeMap<i64, Sums> = BTreeMap::new();
    for outcome in outcomes() {
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

/// Whether the answers to a question are these groups; the last five columns are promises, error,
/// late share, delay and unstarted.
fn agree(number_of_question: usize, key_column: usize, groups: &BTreeMap<i64, Sums>) {
    let folder = folder();
    let path = folder.path().join("store.db");
    let mut simulated = result(300);
    simulated.outcomes = outcomes();
    let points = vec![point("promised", &[], 0, 1.0)];
    let simulations = vec![finished("promised", STRATEGY, 0, simulated, points)];
    write_run(&path, &record("promises", Vec::new(), 1), simulations);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let mut rows = answers(&store, number_of_question);
    rows.retain(|row| string(&row[0]) == STRATEGY);
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
