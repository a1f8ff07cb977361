//! Comparisons of made-up runs: what the page says, and that its numbers are those of its queries.

mod answers;
mod pages;

use std::path::{Path, PathBuf};

use rusqlite::Connection;

use super::*;
use crate::table::Cell;
use bookahead_core::scheduling::SimulationMetrics;
use bookahead_core::units::NodeSeconds;
use bookahead_lab::store::{FailedSimulation, OutcomeDetail, RunInput, RunState, Writer};
use bookahead_lab::study::SimulationResult;
use bookahead_lab::sweep::AxisValue;
use bookahead_studies::STUDIES;
use bookahead_testutils::runs::{axis, finished, identity, point, record, spec, text};

const THRESHOLD: &str = "acceptance.pof_max";
const KIND: &str = "failures.source";

/// What a made-up run earns, by threshold and replication; `None` fails.
type Gains<'g> = &'g dyn Fn(f64, u32) -> Option<i64>;

/// Writes a run of three thresholds and some replications.
fn made(path: &Path, name: &str, kind: &str, replications: u32, gains: Gains<'_>) {
    let thresholds = [0.1, 0.2, 0.3];
    let axes = vec![
        axis(THRESHOLD, &thresholds.map(AxisValue::Real)),
        axis(KIND, &[text(kind)]),
    ];
    let mut record = record(name, axes, 3 * u64::from(replications));
    record.configuration = format!(
        "[experiment]\nname = '{name}'\n[workload]\nnodes = {}\n",
        name.len()
    );
    record.inputs = vec![RunInput {
        source: "jobs".to_owned(),
        content: "0123456789abcdef".to_owned(),
    }];
    let store = Store::open(STUDIES, path).unwrap();
    let run = store.begin_run(&record).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::None, 4);
    let handle = writer.handle();
    for (threshold, replication) in thresholds
        .iter()
        .flat_map(|threshold| (0..replications).map(move |replication| (*threshold, replication)))
    {
        let id = format!("{name}-{threshold}-{replication}");
        let values = [(THRESHOLD, AxisValue::Real(threshold)), (KIND, text(kind))];
        let points = vec![point(&id, &values, replication, 1.0)];
        let Some(gain) = gains(threshold, replication) else {
            let spec = spec("heuristic-overbooking", replication);
            let workload_label = "made up".to_owned();
            let error = "it broke".to_owned();
            handle
                .fail(FailedSimulation {
                    id: identity(&id),
                    spec,
                    workload_label,
                    error,
                    points,
                })
                .unwrap();
            continue;
        };
        let metrics = SimulationMetrics {
            fees: NodeSeconds(gain * 3_600),
            submitted: 10,
            ..SimulationMetrics::default()
        };
        let result = SimulationResult {
            metrics,
            ..SimulationResult::default()
        };
        handle
            .write(finished(
                &id,
                "heuristic-overbooking",
                replication,
                result,
                points,
            ))
            .unwrap();
    }
    writer.finish(RunState::Done).unwrap();
}

fn read(runs: &[(&Path, i64)]) -> Vec<ComparedRun> {
    let mut runs: Vec<ComparedRun> = runs
        .iter()
        .map(|(path, id)| {
            let store = Store::open_read_only(STUDIES, path).unwrap();
            ComparedRun::read(&store, path, &RunSelector::Id(*id)).unwrap()
        })
        .collect();
    label(&mut runs);
    runs
}

/// A folder with a store of two runs, `a` and `b`: the second earns 10, 14 and 12 more in its
/// replications.
fn two_runs() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    made(&path, "a", "none", 3, &|_, replication| {
        Some(100 + i64::from(replication))
    });
    let more = [10, 14, 12];
    made(&path, "b", "none", 3, &|_, replication| {
        Some(100 + i64::from(replication) + more[replication as usize])
    });
    (folder, path)
}

#[test]
fn the_answer_says_how_much_more_a_run_earned_and_that_it_is_significant() {
    let (_folder, path) = two_runs();
    let runs = read(&[(&path, 1), (&path, 2)]);
    // Differences 10, 14 and 12: mean 12, s = 2, t(2) = 4.3027, half width 4.3027 · 2 / √3 = 4.968.
    // t = 12 / (2 / √3) = 10.39 with two degrees of freedom: p = 0.00913. The gain is judged by
    // itself, and fees and booked jobs, which moved alike, repeat its test.
    assert_eq!(
        answer::answers(&Comparison::new(&runs, &[])),
        [
            "b earned 12.00 coins more than a per replication, averaged over the 3 shared settings (± 4.97, 95 %, n = 3 pairs of \
             replications, which are few). The difference is significant at 5 % (p = 0.009). Also significant: Fees (VC) +12.00 ± 4.97."
        ]
    );
    let other_way = read(&[(&path, 2), (&path, 1)]);
    let answer = answer::answers(&Comparison::new(&other_way, &[])).remove(0);
    assert!(
        answer.starts_with("a earned 12.00 coins less than b"),
        "{answer}"
    );
    let itself = read(&[(&path, 1), (&path, 1)]);
    let answer = answer::answers(&Comparison::new(&itself, &[])).remove(0);
    assert!(
        answer.contains("share the very same stored results"),
        "{answer}"
    );
}

#[test]
fn a_difference_over_neighbouring_batteries_of_a_log_is_judged_by_the_wider_interval() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    made(&path, "a", "none", 6, &|_, _| Some(100));
    made(&path, "b", "none", 6, &|_, replication| {
        Some(101 + i64::from(replication))
    });
    let mut runs = read(&[(&path, 1), (&path, 2)]);
    let judged = |runs: &[ComparedRun]| {
        let comparison = Comparison::new(runs, &[]);
        let overall = tables::overall(&comparison, "answer", &comparison.main[..1]);
        let at = |name: &str| overall.columns.iter().position(|column| column.key == name);
        let verdict = overall.rows[0][at("verdict").unwrap()].clone();
        let log = at("difference_log").map(|at| overall.rows[0][at].clone());
        let answer = answer::answers(&comparison).remove(0);
        (answer, verdict, log, trust::trust(&comparison))
    };
    // Differences 1 to 6: 3.5 ± 1.963, p = 0.006.
    let (answer, verdict, log, trust) = judged(&runs);
    assert!(
        answer.contains("significant at 5 % (p = 0.006)"),
        "{answer}"
    );
    assert_eq!((verdict, log), (Cell::Text("higher".to_owned()), None));
    assert!(trust.iter().all(|(_, said)| !said.contains("neighbouring")));
    // Of neighbours r = 0.5, and in blocks of two 3.5 ± 3.928, p = 0.062.
    runs[0].run.configuration.push_str("trace = 'log.swf'\n");
    let (answer, verdict, log, trust) = judged(&runs);
    let why = "The difference is not significant (p = 0.062): the 95 % interval about these batteries excludes 0, the one about the log \
               contains it.";
    assert!(
        answer.contains("± 1.96") && answer.contains(why),
        "{answer}"
    );
    assert!(
        answer.contains("about the log the interval is [-0.4278, 7.428]"),
        "{answer}"
    );
    assert_eq!(verdict, Cell::Text("not significant".to_owned()));
    let Some(Cell::Estimate(log)) = log else {
        panic!("an interval about the log: {log:?}")
    };
    assert!((log.high().unwrap() - 7.4277).abs() < 1e-3, "{log:?}");
    let said = "differences in Gain (VC) of one and of the next correlate with r = 0.50, so that 6 batteries say as much of the log as 2.0 \
                independent ones; the 95 % interval of 3.500 (b − a) about these batteries is [1.537, 5.463], about the log [-0.4278, 7.428]";
    let found = trust.iter().find(|(_, own)| own.contains(said));
    assert!(found.is_some_and(|(is_good, _)| !is_good), "{trust:?}");
}

#[test]
fn settings_that_share_their_result_count_once_in_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let (thresholds, kinds) = ([0.1, 0.2, 0.3], ["baseline", "overbooking"]);
    for name in ["a", "b"] {
        let axes = vec![
            axis(THRESHOLD, &thresholds.map(AxisValue::Real)),
            axis(KIND, &kinds.map(text)),
        ];
        let store = Store::open(STUDIES, &path).unwrap();
        let run = store.begin_run(&record(name, axes, 12)).unwrap();
        let writer = Writer::start(store, run, OutcomeDetail::None, 4);
        let at = |id: &str, kind, threshold, replication| {
            let values = [(THRESHOLD, AxisValue::Real(threshold)), (KIND, text(kind))];
            point(id, &values, replication, 1.0)
        };
        for replication in 0..2 {
            let shared = format!("{name}-{replication}");
            let shared_points = thresholds
                .map(|threshold| at(&shared, kinds[0], threshold, replication))
                .to_vec();
            let mut simulations = vec![(shared, shared_points)];
            simulations.extend(thresholds.map(|threshold| {
                let id = format!("{name}-{replication}-{threshold}");
                let points = vec![at(&id, kinds[1], threshold, replication)];
                (id, points)
            }));
            for (id, points) in simulations {
                let fees = 3_600 * (100 + i64::from(replication) * i64::from(name == "b"));
                let metrics = SimulationMetrics {
                    fees: NodeSeconds(fees),
                    submitted: 10,
                    ..SimulationMetrics::default()
                };
                let result = SimulationResult {
                    metrics,
                    ..SimulationResult::default()
                };
                let done = finished(&id, "heuristic-overbooking", replication, result, points);
                writer.handle().write(done).unwrap();
            }
        }
        writer.finish(RunState::Done).unwrap();
    }
    let runs = read(&[(&path, 1), (&path, 2)]);
    let said = answer::answers(&Comparison::new(&runs, &[])).remove(0);
    let over = "averaged over the 4 distinct results of the 6 shared settings";
    assert!(said.contains(over), "{said}");
}

#[test]
fn one_replication_and_intervals_that_hold_0_are_said_to_show_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    made(&path, "a", "none", 1, &|_, _| Some(100));
    made(&path, "bb", "none", 1, &|_, _| Some(103));
    let one = read(&[(&path, 1), (&path, 2)]);
    let said = answer::answers(&Comparison::new(&one, &[])).remove(0);
    assert!(
        said.contains(
            "n = 1 pair of replications). Its significance cannot be tested: there is one replication."
        ),
        "{said}"
    );
    made(&path, "ccc", "none", 3, &|_, _| Some(100));
    let swing = [-5, 1, 6];
    made(&path, "dddd", "none", 3, &|_, replication| {
        Some(100 + swing[replication as usize])
    });
    let wide = read(&[(&path, 3), (&path, 4)]);
    let said = answer::answers(&Comparison::new(&wide, &[])).remove(0);
    assert!(
        said.contains("The difference is not significant (p = "),
        "{said}"
    );
}

#[test]
fn missing_points_are_named_in_the_answer_and_refuse_only_what_needs_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    made(&path, "a", "none", 6, &|_, replication| {
        Some(100 + i64::from(replication))
    });
    // Twelve points fail: all replications at two thresholds.
    made(&path, "b", "none", 6, &|threshold, replication| {
        (threshold < 0.15).then(|| 110 + i64::from(replication))
    });
    let runs = read(&[(&path, 1), (&path, 2)]);
    let comparison = Comparison::new(&runs, &[]);
    let said = answer::answers(&comparison).remove(0);
    assert!(
        said.starts_with(
            "a and b are not compared as wholes, because 12 shared points have no result: differences and intervals are given only at \
             settings where both runs have all results. b lacks "
        ),
        "{said}"
    );
    assert!(
        said.contains("replication 0 (failed)") && said.ends_with("; and 9 more."),
        "{said}"
    );
    let overall = tables::overall(&comparison, "main", &comparison.main);
    assert!(overall.title.ends_with("(incomplete)"), "{}", overall.title);
    // What that means for intervals stands in the answer and nowhere else.
    assert!(!overall.note.contains("points have a result"));
    let trust = trust::trust(&comparison);
    let incomplete = "b: 6 of 18 points have a result; 12 failed, 0 were not run";
    assert!(trust.contains(&(false, incomplete.to_owned())), "{trust:?}");
    let at = |name: &str| {
        overall
            .columns
            .iter()
            .position(|column| column.key == name)
            .unwrap()
    };
    assert_eq!(overall.rows[0][at("difference")], Cell::Missing);
    assert_eq!(
        overall.rows[0][at("verdict")],
        Cell::Text("refused: results are missing".to_owned())
    );
    // The threshold that is complete has its difference.
    let combinations = tables::combinations(&comparison);
    let at = combinations
        .columns
        .iter()
        .position(|column| column.key == "gain_difference")
        .unwrap();
    let found: Vec<bool> = combinations
        .rows
        .iter()
        .map(|row| row[at] != Cell::Missing)
        .collect();
    assert_eq!(found, [true, false, false]);
    let page = folder.path().join("page");
    let page = std::fs::read_to_string(write(&runs, &[], &page).unwrap().0).unwrap();
    assert!(page.contains("By shared settings (incomplete)"));
}

#[test]
fn where_shares_were_not_joined_nothing_is_said_and_points_without_a_partner_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let gains = |_, replication| Some(100 + i64::from(replication));
    made(&path, "a", "none", 4, &gains);
    made(&path, "b", "none", 3, &gains);
    let more = "UPDATE run SET points = 12 WHERE id = 2";
    Connection::open(&path).unwrap().execute(more, []).unwrap();
    let runs = read(&[(&path, 1), (&path, 2)]);
    let said = answer::answers(&Comparison::new(&runs, &[])).remove(0);
    assert!(
        said.contains("3 points of their sweeps are not in the stores"),
        "{said}"
    );
    assert_eq!(said.matches("replication 3").count(), 3, "{said}");
}

#[test]
fn runs_of_several_stores_are_told_apart_and_what_changed_between_them_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one.db", "two.db"].map(|name| folder.path().join(name));
    made(&one, "same", "none", 3, &|_, replication| {
        Some(100 + i64::from(replication))
    });
    made(&two, "same", "none", 3, &|_, replication| {
        Some(90 + i64::from(2 * replication))
    });
    made(&two, "another", "none", 3, &|_, _| Some(80));
    let content = "UPDATE run_input SET content = 'fedcba9876543210' WHERE run = 2";
    Connection::open(&two)
        .unwrap()
        .execute(content, [])
        .unwrap();
    let runs = read(&[(&one, 1), (&two, 1), (&two, 2)]);
    let labels: Vec<&str> = runs.iter().map(|run| run.label.as_str()).collect();
    assert_eq!(labels[1], format!("same (run 1 of {})", two.display()));
    let comparison = Comparison::new(&runs, &[]);
    assert_eq!(answer::answers(&comparison).len(), 2);
    let texts = |table: &crate::Table, row: usize| -> Vec<String> {
        table.rows[row].iter().map(|cell| cell.text(0)).collect()
    };
    let settings = tables::settings(&comparison);
    assert_eq!(
        texts(&settings, 1),
        ["workload.nodes", "configuration", "4", "4", "7"]
    );
    let inputs = tables::inputs(&comparison);
    assert_eq!(
        texts(&inputs, 0),
        [
            "jobs",
            "differs",
            "0123456789ab",
            "0123456789ab",
            "fedcba987654"
        ]
    );
    let trust: Vec<(bool, String)> = trust::trust(&comparison);
    assert!(
        trust
            .iter()
            .any(|(good, said)| !good && said.contains("did not read the same inputs"))
    );
    // Each store is asked for its own part.
    let sql = tables::overall(&comparison, "main", &comparison.main).sql;
    assert!(
        sql.contains("one.db\n") && sql.contains("two.db\n"),
        "{sql}"
    );
}

#[test]
fn the_quantity_of_the_answer_says_how_many_replications_count_and_others_that_have_fewer_are_named()
 {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    for (name, more) in [("a", 0), ("b", 1)] {
        let gains = move |_, replication| Some(100 + (more + 2) * i64::from(replication));
        made(&path, name, "none", 12, &gains);
    }
    let started = "UPDATE simulation_metrics SET started = 1, wait_total = simulation
        WHERE simulation IN (SELECT id FROM simulation WHERE replication < 4)";
    Connection::open(&path)
        .unwrap()
        .execute(started, [])
        .unwrap();
    let runs = read(&[(&path, 1), (&path, 2)]);
    let trust = trust::trust(&Comparison::new(&runs, &[]));
    let said = |part: &str| trust.iter().find(|(_, said)| said.contains(part)).cloned();
    let (is_good, own) = said("gain (VC)").unwrap();
    assert!(is_good, "{own}");
    assert_eq!(own, "gain (VC): 12 replications");
    let (is_good, others) = said("mean wait (s)").unwrap();
    assert!(!is_good, "{others}");
    assert_eq!(others, "mean wait (s): 4 replications, which are few");
}

#[test]
fn a_comparison_is_about_the_measure_that_all_files_name_else_about_what_studies_declare() {
    let (_folder, path) = two_runs();
    let mut runs = read(&[(&path, 1), (&path, 2)]);
    let declared = Quantity::primary(STUDIES, &runs);
    let about = |run: &mut ComparedRun, measure: &str| {
        run.run.configuration = format!("[experiment]\nname = 'a'\nprimary = '{measure}'\n");
    };
    about(&mut runs[0], "wf_cost_su");
    assert_eq!(Quantity::primary(STUDIES, &runs), declared);
    about(&mut runs[1], "wf_cost_su");
    assert_eq!(Quantity::primary(STUDIES, &runs), "wf_cost_su");
    about(&mut runs[1], "wf_makespan_hours");
    assert_eq!(Quantity::primary(STUDIES, &runs), declared);
}
