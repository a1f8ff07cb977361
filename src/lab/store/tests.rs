use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Row};

use super::fixtures::{axis, finished, outcome, point, record, result, spec, text, write_run};
use super::{
    APPLICATION_ID, FailedSimulation, OutcomeDetail, PendingSimulation, RunId, RunSelector,
    RunState, SCHEMA_VERSION, SimulationProgress, Store, StoreError, Writer,
};
use crate::actors::SimulationResult;
use crate::failures::NodeEvent;
use crate::scheduling::measures::Measured;
use crate::scheduling::reserving::{Offer, RequestVerdict, ReservationOutcome};
use crate::scheduling::{
    JobOutcome, Promise, SimulationMetrics, SuccessFactors, Verdict, VirtualTrial, WorkCounters,
    combine,
};
use crate::sweep::AxisValue;
use crate::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use crate::workload::{Job, JobId, JobKind, RequestId, ReservationRequest, WantedStart};

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn read_outcome(row: &Row<'_>) -> rusqlite::Result<JobOutcome> {
    let release = Seconds(row.get("release")?);
    let estimate = Seconds(row.get("estimate")?);
    let planned_start: Option<i64> = row.get("planned_start")?;
    let available: Option<f64> = row.get("available")?;
    let promise = match planned_start {
        None => None,
        Some(start) => Some(Promise {
            start: release + Seconds(start),
            end: release + Seconds(start) + estimate - Seconds(row.get("planned_cut")?),
            overbooked: row.get("overbooked")?,
            success: match available {
                None => None,
                Some(available) => Some(SuccessFactors {
                    available,
                    executable: row.get("executable")?,
                    survives: row.get("survives")?,
                }),
            },
            calibrated_pof: row.get("calibrated_pof")?,
            predecessors: row.get("predecessors")?,
        }),
    };
    let after = |value: Option<i64>| value.map(|value| release + Seconds(value));
    Ok(JobOutcome {
        job: Job {
            id: JobId(row.get("job")?),
            trace_number: row.get("trace_number")?,
            submit: Seconds(row.get("submit")?),
            release,
            estimate,
            runtime: Seconds(row.get("runtime")?),
            deadline: Seconds(row.get("deadline")?),
            nodes: Nodes(row.get("nodes")?),
            user: row.get("user")?,
            application: row.get("application")?,
            kind: JobKind::Flexible,
        },
        verdict: Verdict::ALL[usize::from(row.get::<_, u8>("verdict")?)],
        class: row.get("class")?,
        promise,
        start: after(row.get("start")?),
        end: after(row.get("end")?),
        restarts: row.get("restarts")?,
        node_failures: row.get("node_failures")?,
    })
}

fn count(connection: &Connection, sql: &str) -> i64 {
    connection.query_row(sql, [], |row| row.get(0)).unwrap()
}

#[test]
fn every_field_of_a_simulation_comes_back_as_it_went_in() {
    let folder = folder();
    let path = folder.path().join("made/on/the/way/store.db");
    let points = vec![point(
        "p",
        &[
            ("a.integer", AxisValue::Integer(7)),
            ("b.real", AxisValue::Real(1.0)),
            ("c.text", text("7")),
            ("d.flag", AxisValue::Flag(true)),
        ],
        3,
        2.5,
    )];
    let axes: Vec<_> = points[0]
        .axes
        .iter()
        .map(|(key, value)| axis(key, std::slice::from_ref(value)))
        .collect();
    let mut stored = result(60);
    stored.outcomes[11].promise.as_mut().unwrap().calibrated_pof = Some(0.1 + 0.2);
    let record = record("fields", axes.clone(), 1);
    let run = write_run(
        &path,
        &record,
        vec![finished(
            "s",
            "heuristic-overbooking",
            3,
            stored.clone(),
            points,
        )],
    );

    let store = Store::open_read_only(&path).unwrap();
    let connection = &store.connection;
    let outcomes: Vec<JobOutcome> = connection
        .prepare("SELECT * FROM job_outcome o JOIN simulation m ON m.id = o.simulation JOIN job j ON j.workload = m.workload AND j.job = o.job ORDER BY o.job")
        .unwrap()
        .query_map([], read_outcome)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(outcomes, stored.outcomes);
    let events: Vec<NodeEvent> = connection
        .prepare("SELECT time, node, up FROM node_event ORDER BY sequence")
        .unwrap()
        .query_map([], |row| {
            Ok(NodeEvent {
                time: Seconds(row.get(0)?),
                node: NodeIndex(row.get(1)?),
                up: row.get(2)?,
            })
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(events, stored.node_events);
    let metrics = connection
        .query_row("SELECT * FROM simulation_metrics", [], |row| {
            let number = |name: &str| row.get::<_, i64>(name).map(i64::unsigned_abs);
            Ok(SimulationMetrics {
                submitted: number("submitted")?,
                accepted: number("accepted")?,
                dropped: number("dropped")?,
                dropped_too_wide: number("dropped_too_wide")?,
                overbooked: number("overbooked")?,
                successful: number("successful")?,
                failed: number("failed")?,
                failed_overbooked: number("failed_overbooked")?,
                failed_nodes: number("failed_nodes")?,
                failed_unstartable: number("failed_unstartable")?,
                restarts: number("restarts")?,
                fees: NodeSeconds(row.get("fees")?),
                forfeited: NodeSeconds(row.get("forfeited")?),
                busy: NodeSeconds(row.get("busy")?),
                useful: NodeSeconds(row.get("useful")?),
                makespan: Seconds(row.get("makespan")?),
                capacity: NodeSeconds(row.get("capacity")?),
                wait_total: Seconds(row.get("wait_total")?),
                started: number("started")?,
                weighted_response: NodeSeconds(row.get("weighted_response")?),
                weighted_run: NodeSeconds(row.get("weighted_run")?),
                work: WorkCounters {
                    pof_evaluations: number("pof_evaluations")?,
                    convolutions: number("convolutions")?,
                    replans: number("replans")?,
                    moves: number("moves")?,
                },
            })
        })
        .unwrap();
    assert_eq!(metrics, stored.metrics);

    let read = store.run(&RunSelector::Latest).unwrap();
    assert_eq!(read.id, run);
    assert_eq!(
        (
            read.state.as_str(),
            read.points,
            read.points_done,
            read.points_failed
        ),
        ("done", 1, 1, 0)
    );
    assert_eq!(
        (read.name, read.configuration, read.seed),
        (record.name, record.configuration, 1)
    );
    assert_eq!(store.axes(run).unwrap(), axes);
    let columns = store.points(run).unwrap();
    assert_eq!(columns.identity, ["p"]);
    assert_eq!(
        (
            columns.strategy[0].as_str(),
            columns.replication[0],
            columns.penalty_ratio[0]
        ),
        ("heuristic-overbooking", 3, 2.5)
    );
    assert_eq!(
        columns
            .axes
            .iter()
            .map(|column| column.positions[0])
            .collect::<Vec<_>>(),
        [Some(0); 4]
    );

    // The views agree with the types' own arithmetic.
    let gain: f64 = connection
        .query_row("SELECT gain FROM v_point", [], |row| row.get(0))
        .unwrap();
    assert_eq!(gain, stored.metrics.gain(2.5).0);
    let spec_text: String = connection
        .query_row("SELECT spec FROM simulation", [], |row| row.get(0))
        .unwrap();
    assert_eq!(
        serde_json::from_str::<crate::sweep::SimulationSpec>(&spec_text).unwrap(),
        spec("heuristic-overbooking", 3)
    );
    let (fee, penalty): (f64, f64) = connection
        .query_row("SELECT sum(fee), sum(penalty) FROM v_job", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert!((fee - stored.metrics.fees.coins().0).abs() < 1e-9);
    assert!((penalty - stored.metrics.forfeited.coins().0).abs() < 1e-9);
    let pof: f64 = connection
        .query_row("SELECT pof FROM v_job WHERE job = 4", [], |row| row.get(0))
        .unwrap();
    assert_eq!(pof, outcome(4).promise.unwrap().success.unwrap().pof());
    let (pof, raw): (f64, f64) = connection
        .query_row("SELECT pof, raw_pof FROM v_job WHERE job = 11", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(
        (Some(pof), Some(raw)),
        (Some(0.1 + 0.2), outcome(11).promise.unwrap().raw_pof())
    );
    let planned_end: i64 = connection
        .query_row("SELECT planned_end FROM v_job WHERE job = 4", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(planned_end, outcome(4).promise.unwrap().end.0);
}

#[test]
fn simulations_of_the_same_jobs_share_the_rows_of_their_jobs() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let runs = ["a", "b", "c"].map(|id| finished(id, "fcfs", 0, result(30), vec![]));
    write_run(&path, &record("shared", vec![], 0), runs.to_vec());
    let store = Store::open(&path).unwrap();
    assert_eq!(count(&store.connection, "SELECT count(*) FROM job"), 30);
    assert_eq!(count(&store.connection, "SELECT count(*) FROM v_job"), 90);
    assert_eq!(
        count(
            &store.connection,
            "SELECT count(*) FROM pragma_foreign_key_check"
        ),
        0
    );
}

#[test]
fn a_writer_that_is_dropped_leaves_whole_simulations_only() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(&path).unwrap();
    let run = store.begin_run(&record("dropped", vec![], 40)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 2);
    let handle = writer.handle();
    for number in 0..40 {
        let id = format!("s{number}");
        handle
            .write(finished(
                &id,
                "fcfs",
                number,
                result(2_000),
                vec![point(&id, &[], number, 1.0)],
            ))
            .unwrap();
    }
    drop(writer);
    // Read at once, while the thread may still be at work.
    check_whole(&path, 2_000);
    drop(handle);
}

/// Every simulation is there with all of its rows and its points, or not at all.
fn check_whole(path: &Path, jobs: i64) -> i64 {
    let store = Store::open(path).unwrap();
    let transaction = store.connection.unchecked_transaction().unwrap();
    let whole = count(
        &transaction,
        &format!(
            "SELECT count(*) FROM simulation m WHERE m.state = 2
             AND (SELECT count(*) FROM job_outcome o WHERE o.simulation = m.id) = {jobs}
             AND (SELECT count(*) FROM node_event o WHERE o.simulation = m.id) = 2
             AND (SELECT count(*) FROM simulation_metrics o WHERE o.simulation = m.id) = 1
             AND (SELECT count(*) FROM v_job o WHERE o.simulation = m.id) = {jobs}
             AND (SELECT count(*) FROM run_point rp JOIN point p ON p.id = rp.point WHERE p.simulation = m.id) = 1"
        ),
    );
    assert_eq!(
        whole,
        count(&transaction, "SELECT count(*) FROM simulation")
    );
    assert_eq!(
        whole * jobs,
        count(&transaction, "SELECT count(*) FROM job_outcome")
    );
    assert_eq!(
        count(
            &transaction,
            "SELECT count(*) FROM pragma_foreign_key_check"
        ),
        0
    );
    assert_eq!(
        transaction
            .query_row("PRAGMA integrity_check", [], |row| row.get::<_, String>(0))
            .unwrap(),
        "ok"
    );
    whole
}

/// Not a test by itself: the process that the next test kills.
#[test]
fn writes_for_ever_when_it_is_the_child_of_the_kill_test() {
    let Ok(path) = std::env::var("BOOKAHEAD_TEST_KILLED_STORE") else {
        return;
    };
    let store = Store::open(Path::new(&path)).unwrap();
    let run = store.begin_run(&record("killed", vec![], 1)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 2);
    let handle = writer.handle();
    for number in 0..1_000_000 {
        let id = format!("{}-{number}", run.0);
        handle
            .write(finished(
                &id,
                "fcfs",
                number,
                result(700),
                vec![point(&id, &[], number, 1.0)],
            ))
            .unwrap();
    }
}

#[test]
fn a_killed_process_leaves_whole_simulations_only_and_its_run_is_found_interrupted() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let mut before = 0;
    for round in 0..6u64 {
        let mut child = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "store::tests::writes_for_ever_when_it_is_the_child_of_the_kill_test",
            ])
            .env("BOOKAHEAD_TEST_KILLED_STORE", &path)
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        // Killed at odd instants, but not before the run has begun to write.
        let begun = Instant::now();
        loop {
            std::thread::sleep(Duration::from_millis(20 + 37 * round));
            let grown = path.exists()
                && Connection::open(&path)
                    .and_then(|file| {
                        file.query_row("SELECT count(*) FROM simulation", [], |row| {
                            row.get::<_, i64>(0)
                        })
                    })
                    .is_ok_and(|simulations| simulations > before);
            if grown {
                break;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "the child writes nothing"
            );
        }
        child.kill().unwrap();
        child.wait().unwrap();
        let whole = check_whole(&path, 700);
        assert!(whole > before);
        before = whole;
    }
    let store = Store::open(&path).unwrap();
    store.begin_run(&record("after", vec![], 0)).unwrap();
    if Path::new("/proc/self").exists() {
        assert_eq!(
            count(
                &store.connection,
                "SELECT count(*) FROM v_run WHERE state = 'interrupted'"
            ),
            6
        );
    }
    assert_eq!(
        count(
            &store.connection,
            "SELECT count(*) FROM v_run WHERE state = 'running' AND name = 'after'"
        ),
        1
    );
}

#[test]
fn points_of_an_earlier_run_are_linked_and_failures_do_not_count_as_done() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let axes = vec![axis("x", &[AxisValue::Integer(1), AxisValue::Integer(2)])];
    let one = point("one", &[("x", AxisValue::Integer(1))], 0, 1.0);
    let two = point("two", &[("x", AxisValue::Integer(2))], 0, 1.0);
    let store = Store::open(&path).unwrap();
    let run = store.begin_run(&record("first", axes.clone(), 2)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::Metrics, 1);
    let handle = writer.handle();
    handle
        .write(finished("s1", "fcfs", 0, result(9), vec![one.clone()]))
        .unwrap();
    handle
        .fail(FailedSimulation {
            id: "s2".to_owned(),
            spec: spec("fcfs", 0),
            workload_label: "w".to_owned(),
            error: "a policy panicked".to_owned(),
            points: vec![two.clone()],
        })
        .unwrap();
    let summary = writer.finish(RunState::Done).unwrap();
    assert_eq!(
        (
            summary.simulations,
            summary.failed,
            summary.points,
            summary.job_rows,
            summary.node_event_rows
        ),
        (1, 1, 2, 0, 0)
    );
    // A handle that outlives the writer hears why nothing is written any more.
    let refused = handle
        .write(finished("s3", "fcfs", 0, result(1), vec![]))
        .unwrap_err();
    assert!(refused.to_string().contains("finished before"), "{refused}");

    let store = Store::open(&path).unwrap();
    let done = store.done_points(&["one", "two", "three"]).unwrap();
    assert_eq!(done.into_iter().collect::<Vec<_>>(), ["one"]);
    assert!(
        store
            .done_points_in_detail(&["one"], OutcomeDetail::All)
            .unwrap()
            .is_empty()
    );
    let failed = store.failed_points(run).unwrap();
    assert_eq!(
        (
            failed[0].identity.as_str(),
            failed[0].error.as_str(),
            failed[0].attempts
        ),
        ("two", "a policy panicked", 1)
    );
    assert_eq!(failed[0].axes, r#"{"x":2}"#);

    let second = store.begin_run(&record("second", axes, 2)).unwrap();
    assert_eq!(
        store
            .link_done_points(second, &[one.clone(), two.clone()])
            .unwrap(),
        1
    );
    assert_eq!(store.link_done_points(second, &[one]).unwrap(), 1);
    let writer = Writer::start(store, second, OutcomeDetail::All, 1);
    writer
        .handle()
        .write(finished("s2", "fcfs", 0, result(9), vec![two.clone()]))
        .unwrap();
    // The first simulation again, now with its jobs: the detail is added.
    writer
        .handle()
        .write(finished("s1", "fcfs", 0, result(9), vec![]))
        .unwrap();
    writer
        .handle()
        .write(finished("s1", "fcfs", 0, result(9), vec![]))
        .unwrap();
    let summary = writer.finish(RunState::Done).unwrap();
    assert_eq!((summary.simulations, summary.already_there), (2, 1));
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(store.points(second).unwrap().identity, ["one", "two"]);
    assert_eq!(
        count(&store.connection, "SELECT count(*) FROM job_outcome"),
        18
    );
    assert_eq!(
        count(
            &store.connection,
            "SELECT attempts FROM simulation WHERE identity = 's2'"
        ),
        2
    );
    assert_eq!(
        count(
            &store.connection,
            "SELECT count(*) FROM simulation WHERE error IS NOT NULL"
        ),
        0
    );
    assert_eq!(
        store
            .runs()
            .unwrap()
            .iter()
            .map(|run| run.points_done)
            .collect::<Vec<_>>(),
        [2, 2]
    );
    let missing = store
        .run(&RunSelector::Name("third".to_owned()))
        .unwrap_err();
    assert!(
        missing.to_string().contains("2 (second), 1 (first)"),
        "{missing}"
    );
}

#[test]
fn a_result_that_would_change_in_the_store_is_refused_and_the_writer_goes_on() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(&path).unwrap();
    let run = store.begin_run(&record("refused", vec![], 1)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    let handle = writer.handle();
    let mut twice = result(3);
    twice.outcomes[2].job.id = JobId(1);
    assert!(matches!(
        handle.write(finished("s", "fcfs", 0, twice, vec![])),
        Err(StoreError::InvalidResult { .. })
    ));
    let mut unknown = result(9);
    unknown.outcomes[4]
        .promise
        .as_mut()
        .unwrap()
        .success
        .as_mut()
        .unwrap()
        .survives = f64::NAN;
    let error = handle
        .write(finished("s", "fcfs", 0, unknown, vec![]))
        .unwrap_err();
    assert!(
        error.to_string().contains("job 4 is not a number"),
        "{error}"
    );
    handle
        .write(finished("s", "fcfs", 0, result(3), vec![]))
        .unwrap();
    assert_eq!(writer.finish(RunState::Done).unwrap().simulations, 1);
}

#[test]
fn a_newer_store_is_refused_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("store.db");
    drop(Store::open(&path).unwrap());
    let connection = Connection::open(&path).unwrap();
    connection
        .pragma_update(None, "user_version", SCHEMA_VERSION + 1)
        .unwrap();
    drop(connection);
    let bytes = std::fs::read(&path).unwrap();
    for error in [
        Store::open(&path).unwrap_err(),
        Store::open_read_only(&path).unwrap_err(),
    ] {
        assert!(
            matches!(error, StoreError::NewerVersion { found, .. } if found == SCHEMA_VERSION + 1)
        );
        assert!(
            error.to_string().contains("use the newer bookahead"),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn files_that_are_not_stores_are_refused_and_left_alone() {
    let folder = folder();
    let text = folder.path().join("notes.txt");
    std::fs::write(
        &text,
        "these are my notes, and quite a few of them\n".repeat(60),
    )
    .unwrap();
    let other = folder.path().join("other.db");
    let connection = Connection::open(&other).unwrap();
    connection
        .execute_batch("CREATE TABLE mine (x); INSERT INTO mine VALUES (1);")
        .unwrap();
    drop(connection);
    for path in [&text, &other] {
        let bytes = std::fs::read(path).unwrap();
        for error in [
            Store::open(path).unwrap_err(),
            Store::open_read_only(path).unwrap_err(),
        ] {
            assert!(
                matches!(
                    error,
                    StoreError::NotADatabase { .. } | StoreError::NotOurs { .. }
                ),
                "{error}"
            );
            assert!(error.to_string().contains(path.to_str().unwrap()));
            assert!(error.to_string().contains("--store"));
        }
        assert_eq!(&std::fs::read(path).unwrap(), &bytes);
    }
    let folder_as_file = Store::open(folder.path()).unwrap_err();
    assert!(
        matches!(folder_as_file, StoreError::CannotOpen { .. }),
        "{folder_as_file:?}"
    );
    let missing = Store::open_read_only(&folder.path().join("none.db")).unwrap_err();
    assert!(
        missing.to_string().contains("there is no store at"),
        "{missing}"
    );
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "x").unwrap();
    let error = Store::open(&file.join("below/store.db")).unwrap_err();
    assert!(matches!(error, StoreError::Folder { .. }), "{error}");
    assert!(error.to_string().contains("below"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_read_only_folder_can_be_read_and_says_so_when_written() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let inner = folder.path().join("archive");
    let path = inner.join("store.db");
    write_run(
        &path,
        &record("archived", vec![], 0),
        vec![finished("s", "fcfs", 0, result(5), vec![])],
    );
    let mode = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap()
    };
    mode(&path, 0o444);
    mode(&inner, 0o555);
    let read = Store::open_read_only(&path).map(|store| store.runs().unwrap().len());
    let written = Store::open(&path).map(|_| ());
    // The superuser may write into any folder: then only the read-only file can refuse.
    let may_write_anyway = std::fs::write(inner.join("probe"), "x").is_ok();
    let new = Store::open(&inner.join("new.db")).map(|_| ());
    mode(&inner, 0o755);
    assert_eq!(read.unwrap(), 1);
    let error = written.unwrap_err();
    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("read-only; change its permissions"),
        "{error}"
    );
    if may_write_anyway {
        eprintln!("skipped: a read-only folder does not stop this user");
    } else {
        assert!(matches!(new.unwrap_err(), StoreError::ReadOnly { .. }));
    }
}

#[test]
fn a_program_that_holds_the_store_too_long_is_named_as_the_reason() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(&path).unwrap();
    let run = store.begin_run(&record("waiting", vec![], 1)).unwrap();
    store.set_busy_timeout(Duration::from_millis(50)).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    let handle = writer.handle();
    let mut refused = None;
    for number in 0..1_000 {
        if let Err(error) = handle.write(finished(
            &format!("s{number}"),
            "fcfs",
            0,
            result(1),
            vec![],
        )) {
            refused = Some(error.to_string());
            break;
        }
    }
    assert!(
        refused
            .unwrap()
            .contains("another program has been writing")
    );
    assert!(matches!(
        writer.finish(RunState::Done),
        Err(StoreError::Busy { .. })
    ));
}

#[test]
fn two_programs_write_to_one_store_in_turns() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let threads: Vec<_> = (0..2)
        .map(|program| {
            let path = path.clone();
            std::thread::spawn(move || {
                let simulations = (0..200).map(|number| {
                    // Half of the simulations are the same for both.
                    let id = if number % 2 == 0 {
                        format!("{number}")
                    } else {
                        format!("{program}-{number}")
                    };
                    finished(&id, "fcfs", 0, result(50), vec![point(&id, &[], 0, 1.0)])
                });
                write_run(&path, &record("two", vec![], 200), simulations.collect());
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    assert_eq!(check_two(&path), (300, 400));
}

fn check_two(path: &Path) -> (i64, i64) {
    let store = Store::open_read_only(path).unwrap();
    assert_eq!(
        count(&store.connection, "SELECT count(*) FROM job_outcome"),
        300 * 50
    );
    (
        count(
            &store.connection,
            "SELECT count(*) FROM simulation WHERE state = 2",
        ),
        count(&store.connection, "SELECT count(*) FROM run_point"),
    )
}

#[test]
fn a_full_disk_is_named_as_the_reason_and_whole_simulations_stay() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(&path).unwrap();
    let run = store.begin_run(&record("full", vec![], 1)).unwrap();
    // SQLite reports a file that reached its size limit exactly as it reports a full disk.
    store
        .connection
        .pragma_update(None, "max_page_count", 700)
        .unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    let handle = writer.handle();
    let mut refused = None;
    for number in 0..10_000 {
        let id = format!("s{number}");
        if let Err(error) = handle.write(finished(
            &id,
            "fcfs",
            0,
            result(700),
            vec![point(&id, &[], 0, 1.0)],
        )) {
            refused = Some(error.to_string());
            break;
        }
    }
    assert!(
        refused
            .unwrap()
            .contains("full: make room and run the same command again")
    );
    assert!(matches!(
        writer.finish(RunState::Done),
        Err(StoreError::DiskFull { .. })
    ));
    assert!(check_whole(&path, 700) > 10);
}

#[test]
fn a_store_is_marked_as_ours_and_its_tables_are_strict() {
    let folder = folder();
    let store = Store::open(&folder.path().join("store.db")).unwrap();
    assert_eq!(
        count(&store.connection, "PRAGMA application_id"),
        i64::from(APPLICATION_ID)
    );
    assert_eq!(
        count(&store.connection, "PRAGMA user_version"),
        i64::from(SCHEMA_VERSION)
    );
    assert_eq!(count(&store.connection, "PRAGMA foreign_keys"), 1);
    let loose: i64 = count(
        &store.connection,
        "SELECT count(*) FROM pragma_table_list WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND NOT strict",
    );
    assert_eq!(loose, 0);
    let names: HashMap<String, String> = store
        .connection
        .prepare("SELECT name, outcome FROM verdict")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(names.len(), Verdict::ALL.len());
    assert_eq!(names["failed-overbooked"], "failed");
    assert_eq!(names["successful-full-grant"], "successful");
    assert_eq!(names["dropped-too-wide"], "dropped");
}

/// A measurement, not a test: `cargo test --release --lib store -- --ignored --nocapture rows_a_second`.
#[test]
#[ignore = "a measurement"]
fn rows_a_second_and_bytes_a_row() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let jobs = 1_000;
    let simulations = 4_000;
    for detail in [OutcomeDetail::All, OutcomeDetail::None] {
        let path = path.with_extension(format!("{detail:?}"));
        let store = Store::open(&path).unwrap();
        let run = store.begin_run(&record("speed", vec![], 1)).unwrap();
        let template = result(jobs);
        let begun = Instant::now();
        let writer = Writer::start(store, run, detail, 8);
        std::thread::scope(|scope| {
            for worker in 0..3 {
                let handle = writer.handle();
                let template = &template;
                scope.spawn(move || {
                    for number in (worker..simulations).step_by(3) {
                        let id = format!("{number:064x}");
                        // Twenty batteries: the jobs differ by battery only.
                        let mut result = template.clone();
                        for outcome in &mut result.outcomes {
                            outcome.job.trace_number += i64::from(number % 20) * 1_000;
                        }
                        let points = vec![point(
                            &id,
                            &[(
                                "acceptance.pof_max",
                                AxisValue::Integer(i64::from(number / 20)),
                            )],
                            number % 20,
                            1.0,
                        )];
                        handle
                            .write(finished(&id, "fcfs", number % 20, result, points))
                            .unwrap();
                    }
                });
            }
        });
        let summary = writer.finish(RunState::Done).unwrap();
        let seconds = begun.elapsed().as_secs_f64();
        let connection = Connection::open(&path).unwrap();
        let size = |table: &str| {
            count(
                &connection,
                &format!("SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE name = '{table}'"),
            )
        };
        let rows = (i64::from(jobs) * i64::from(simulations)) as f64;
        println!(
            "{detail:?}: {} rows in {seconds:.2} s = {:.0} rows/s, {} transactions; job_outcome {:.1} B a row, job {:.2} B an outcome, file {:.1} B an outcome",
            summary.job_rows,
            summary.job_rows as f64 / seconds,
            summary.transactions,
            size("job_outcome") as f64 / rows,
            size("job") as f64 / rows,
            std::fs::metadata(&path).unwrap().len() as f64 / rows,
        );
    }
}

const DOCUMENT: &str = include_str!("../../../docs/schema.md");

#[test]
fn the_first_ten_queries_of_the_schema_document_give_answers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let thresholds = [0.1, 0.2].map(AxisValue::Real);
    let strategies = ["heuristic-planning", "heuristic-overbooking"];
    let axes = vec![
        axis("scheduling.strategy", &strategies.map(text)),
        axis("acceptance.pof_max", &thresholds),
    ];
    let mut simulations = Vec::new();
    for strategy in strategies {
        for threshold in &thresholds {
            for replication in 0..2 {
                let id = format!("{strategy}-{threshold:?}-{replication}");
                let values = [
                    ("scheduling.strategy", text(strategy)),
                    ("acceptance.pof_max", threshold.clone()),
                ];
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(finished(
                    &id,
                    strategy,
                    replication,
                    result(100 + 10 * replication),
                    points,
                ));
            }
        }
    }
    write_run(&path, &record("documented", axes, 8), simulations);
    let store = Store::open_read_only(&path).unwrap();
    assert_eq!(
        rows_of_documented_queries(&store, 1..=10),
        [1, 4, 2, 2, 2, 4, 20, 3, 2, 8]
    );
}

/// How many rows the queries with these numbers give.
fn rows_of_documented_queries(
    store: &Store,
    numbers: std::ops::RangeInclusive<usize>,
) -> Vec<usize> {
    let queries: Vec<&str> = DOCUMENT
        .split("```sql\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap())
        .collect();
    assert_eq!(queries.len(), 24);
    numbers
        .map(|number| {
            store
                .connection
                .prepare(queries[number - 1])
                .and_then(|mut statement| {
                    statement
                        .query_map([], |_| Ok(()))?
                        .collect::<Result<Vec<_>, _>>()
                })
                .unwrap_or_else(|error| panic!("query {number}: {error}"))
                .len()
        })
        .collect()
}

/// Six requests of growing width: the even ones are granted, at a price, from two offers, and push a job away.
fn asked_for() -> Vec<ReservationOutcome> {
    (0..6_u32)
        .map(|id| {
            let submit = Seconds(i64::from(id) * 100);
            let granted = id.is_multiple_of(2);
            let offer = |start, price| Offer {
                start: submit + Seconds(start),
                price: NodeSeconds(price),
            };
            ReservationOutcome {
                request: ReservationRequest {
                    id: RequestId(id),
                    trace_number: 7,
                    submit,
                    nodes: Nodes(1 + 8 * id),
                    duration: Seconds(3_600),
                    runtime: Seconds(1_800),
                    wanted: WantedStart::From {
                        earliest: submit,
                        alpha: 0.5,
                    },
                },
                verdict: if granted {
                    RequestVerdict::Granted
                } else {
                    RequestVerdict::ConflictsWithFixed
                },
                start: granted.then_some(submit),
                end: granted.then_some(submit + Seconds(1_800)),
                price: granted.then_some(NodeSeconds(7_200 * i64::from(id))),
                offers: if granted {
                    vec![offer(0, 7_200 * i64::from(id)), offer(60, 0)]
                } else {
                    Vec::new()
                },
                displaced_jobs: granted.then_some(1),
                displaced: granted.then_some(Seconds(60 + i64::from(id))),
            }
        })
        .collect()
}

/// A trial with a lead of 1 h and one with 4 h, in which the virtual one fails.
fn tried_out() -> Vec<VirtualTrial> {
    [1, 4]
        .map(|lead| {
            let wanted_start = Seconds::HOUR * lead;
            let virtual_start = (lead == 1).then_some(Seconds(1_800));
            VirtualTrial {
                asked_at: Seconds(0),
                wanted_start,
                nodes: Nodes(4),
                duration: Seconds::HOUR,
                submission: None,
                virtual_start,
                combined_virtual_start: virtual_start,
                price: Some(NodeSeconds(3_600)),
                combined: combine(
                    Some(NodeSeconds(3_600)),
                    0.1,
                    Nodes(4),
                    wanted_start,
                    virtual_start,
                ),
            }
        })
        .to_vec()
}

#[test]
fn the_six_queries_of_the_schema_document_about_reservations_give_answers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let rules = ["reject", "move"];
    let shares = [10.0, 20.0].map(AxisValue::Real);
    let axes = vec![
        axis("admission.rule", &rules.map(text)),
        axis("reservations.share_percent", &shares),
    ];
    let mut simulations = Vec::new();
    for rule in rules {
        for share in &shares {
            for replication in 0..2 {
                let id = format!("{rule}-{share:?}-{replication}");
                let values = [
                    ("admission.rule", text(rule)),
                    ("reservations.share_percent", share.clone()),
                ];
                let mut measured = Measured::default();
                measured.add("rejected_percent", 50.0);
                measured.add("price_su", 2.0);
                let result = SimulationResult {
                    measured,
                    reservations: asked_for(),
                    trials: tried_out(),
                    ..result(10)
                };
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(finished(&id, "replanning", replication, result, points));
            }
        }
    }
    write_run(&path, &record("documented", axes, 8), simulations);
    let store = Store::open_read_only(&path).unwrap();
    // Rules × shares; no axis of α; the offers of the dearest; three sizes; two leads; the first twenty of 8 × 3.
    assert_eq!(
        rows_of_documented_queries(&store, 11..=16),
        [4, 1, 2, 3, 2, 20]
    );
}

/// Two algorithms, two replications each, on three clusters with eight requests.
fn several_clusters(path: &Path, detail: OutcomeDetail) -> RunId {
    let algorithms = ["a3", "a3-backfill"];
    let store = Store::open(path).unwrap();
    let axes = vec![axis("broker.algorithm", &algorithms.map(text))];
    let run = store.begin_run(&record("clusters", axes, 4)).unwrap();
    let writer = Writer::start(store, run, detail, 4);
    for algorithm in algorithms {
        for replication in 0..2 {
            let id = format!("{algorithm}-{replication}");
            let values = [("broker.algorithm", text(algorithm))];
            let result = super::fixtures::grid::grid(3, 8, |request| {
                request % 2 == 0 || algorithm == "a3-backfill"
            });
            let points = vec![point(&id, &values, replication, 1.0)];
            let done = finished(&id, "co-reservation", replication, result, points);
            writer.handle().write(done).unwrap();
        }
    }
    writer.finish(RunState::Done).unwrap();
    run
}

#[test]
fn the_four_queries_of_the_schema_document_about_clusters_give_answers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    several_clusters(&path, OutcomeDetail::All);
    let store = Store::open_read_only(&path).unwrap();
    // Algorithms; algorithms × clusters × classes; the first twenty of 4 × 8; requests of one simulation.
    assert_eq!(
        rows_of_documented_queries(&store, 17..=20),
        [2, 2 * 3 * 5, 20, 8]
    );
}

#[test]
fn a_run_of_several_clusters_is_in_the_store_as_it_was_with_time_lines_of_the_first_replication() {
    let folder = folder();
    let path = folder.path().join("store.db");
    several_clusters(&path, OutcomeDetail::All);
    let store = Store::open_read_only(&path).unwrap();
    let number = |sql: &str| -> f64 {
        store
            .connection
            .query_row(sql, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    };
    let whole = |sql: &str| count(&store.connection, sql);
    assert_eq!(whole("SELECT count(*) FROM cluster"), 4 * 3);
    assert_eq!(whole("SELECT count(*) FROM co_request"), 4 * 8);
    assert_eq!(whole("SELECT count(*) FROM co_part"), 4 * 8 * 2);
    assert_eq!(whole("SELECT count(*) FROM co_probe"), 4 * 8 * 3);
    assert_eq!(whole("SELECT count(*) FROM time_line"), 2 * 3 * 361);
    assert_eq!(
        whole(
            "SELECT count(DISTINCT simulation) FROM time_line JOIN simulation m ON m.id = simulation WHERE replication = 0"
        ),
        2
    );
    let jobs = "SELECT count(*) FROM v_cluster c JOIN v_job j ON j.simulation = c.simulation
        AND j.job >= c.first_job AND j.job < c.first_job + c.jobs WHERE c.cluster = 2";
    assert_eq!(whole(jobs), 4 * 5);
    let of = "FROM v_co_request WHERE request = 6 AND simulation = (SELECT min(simulation) FROM cluster)";
    // Request 6 of the fixture: asked at 300,000 s, earliest an hour later, starts 2 · 1,080 s after that.
    assert_eq!(
        whole(&format!("SELECT start {of}")),
        300_000 + 3_600 + 2_160
    );
    assert_eq!(whole(&format!("SELECT slack {of}")), 21_600);
    let near = |sql: String, wanted: f64| {
        let found = number(&sql);
        assert!((found - wanted).abs() < 1e-12, "{sql}: {found}");
    };
    near(format!("SELECT relative_start {of}"), 2_160.0 / 20_520.0);
    near(format!("SELECT relative_cost {of}"), 16.0 / 200.0);
    near(format!("SELECT unfairness {of}"), 1.0 / 4.0);
    near(format!("SELECT efficiency {of}"), 1.0 - 2.0 / 400.0);
    assert_eq!(
        whole(
            "SELECT min(cluster) * 10 + max(cluster) FROM v_co_part WHERE request = 4 AND cluster IS NOT NULL"
        ),
        12
    );
    assert_eq!(
        whole("SELECT sum(lost) FROM co_part WHERE part = 1"),
        4,
        "the larger part of the first request, of four simulations"
    );
    near(
        "SELECT avg(filtering_degree) FROM v_co_probe WHERE request = 3".to_owned(),
        1.0,
    );
    // What the view reckons is what was measured.
    for (view, measure) in [
        ("avg(relative_start)", "co_relative_start_mean"),
        ("avg(unfairness)", "unfairness_mean"),
        ("avg(efficiency)", "reservation_efficiency_mean"),
        ("1.0 - avg(granted)", "co_failure_rate"),
        ("avg(lead) / 3600.0", "co_lead_hours"),
    ] {
        let simulation = "(SELECT min(simulation) FROM cluster)";
        near(
            format!("SELECT {view} FROM v_co_request WHERE simulation = {simulation}"),
            number(&format!(
                "SELECT value FROM v_measure WHERE measure = '{measure}' AND simulation = {simulation}"
            )),
        );
    }
    near(
        "SELECT avg(value) FROM v_cluster_measure WHERE measure = 'infeasibility_rate' AND cluster = 1".to_owned(),
        0.25,
    );
}

#[test]
fn without_outcomes_requests_stay_and_probes_and_time_lines_of_the_first_replication() {
    let folder = folder();
    let path = folder.path().join("store.db");
    several_clusters(&path, OutcomeDetail::Metrics);
    let connection = rusqlite::Connection::open(&path).unwrap();
    for (table, rows) in [
        ("co_request", 4 * 8),
        ("co_part", 4 * 8 * 2),
        ("co_probe", 2 * 8 * 3),
        ("time_line", 2 * 3 * 361),
        ("job_outcome", 0),
    ] {
        assert_eq!(
            count(&connection, &format!("SELECT count(*) FROM {table}")),
            rows,
            "{table}"
        );
    }
    let measures = count(&connection, "SELECT count(*) FROM cluster_measure");
    drop(connection);
    // Asked for, they are added, and nothing is there twice.
    several_clusters(&path, OutcomeDetail::All);
    let connection = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(count(&connection, "SELECT count(*) FROM co_request"), 32);
    assert_eq!(
        count(&connection, "SELECT count(*) FROM co_probe"),
        4 * 8 * 3
    );
    assert_eq!(
        count(&connection, "SELECT count(*) FROM cluster_measure"),
        measures
    );
}

#[test]
fn a_request_whose_numbers_are_none_is_refused() {
    let mut result = super::fixtures::grid::grid(2, 2, |_| true);
    result.grid.as_mut().unwrap().requests[1].worst_case = f64::INFINITY;
    let done = finished("x", "co-reservation", 0, result, Vec::new());
    let error = super::rows::Prepared::new(done, OutcomeDetail::All)
        .err()
        .expect("it is refused");
    assert!(
        error.to_string().contains("of request 1 is not a number"),
        "{error}"
    );
}

#[test]
fn a_store_of_version_3_gets_the_tables_of_several_clusters_and_keeps_its_reservations() {
    use super::schema::VERSION_1;
    let folder = folder();
    let path = folder.path().join("old.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch("PRAGMA foreign_keys = OFF;").unwrap();
    for step in [
        VERSION_1,
        super::version_2::VERSION_2,
        super::version_3::VERSION_3,
    ] {
        old.execute_batch(step).unwrap();
    }
    old.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 3;
         INSERT INTO strategy VALUES (1, 'replanning', NULL, NULL);
         INSERT INTO measure VALUES (1, 'price_su', 'SU', 'Mean additive price (SU)');
         INSERT INTO request_verdict VALUES (0, 'granted', 1);
         INSERT INTO simulation VALUES (5, 'done', 1, '{{}}', 'w', NULL, 1, 0, 2, 2, 1, NULL, NULL, NULL, NULL);
         INSERT INTO simulation_measure VALUES (5, 1, 2.5);
         INSERT INTO reservation_outcome VALUES (5, 0, 7, 10, 0, 0.5, 60, 0, 4, 0, 0, 60, 3600, 1, 0, 0);
         INSERT INTO offer VALUES (5, 0, 0, 3600);"
    ))
    .unwrap();
    drop(old);
    assert!(matches!(
        Store::open_read_only(&path),
        Err(StoreError::OlderVersion { found: 3, .. })
    ));
    drop(Store::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(
        count(&connection, "PRAGMA user_version"),
        i64::from(SCHEMA_VERSION)
    );
    assert_eq!(
        count(&connection, "SELECT CAST(price_su AS INTEGER) FROM v_offer"),
        1
    );
    assert_eq!(
        count(
            &connection,
            "SELECT code FROM measure WHERE name = 'price_su'"
        ),
        1
    );
    assert_eq!(
        count(
            &connection,
            "SELECT count(*) FROM sqlite_schema WHERE name IN ('co_reservation', 'co_reservation_part', 'admission')"
        ),
        0
    );
    assert_eq!(count(&connection, "SELECT count(*) FROM v_co_request"), 0);
    assert_eq!(
        count(&connection, "SELECT count(*) FROM co_verdict WHERE granted"),
        1
    );
    assert_eq!(
        count(
            &connection,
            "SELECT count(*) FROM measure WHERE name = 'infeasibility_rate'"
        ),
        1
    );
}

/// Two searches with two α, two replications each.
fn workflows(path: &Path, detail: OutcomeDetail) -> RunId {
    use crate::brokering::provisioning::SearchMethod;
    let store = Store::open(path).unwrap();
    let alphas = [0.0, 1.0].map(AxisValue::Real);
    let axes = vec![
        axis("provisioning.search", &["moga", "greedy"].map(text)),
        axis("provisioning.alpha", &alphas),
    ];
    let run = store.begin_run(&record("workflows", axes, 8)).unwrap();
    let writer = Writer::start(store, run, detail, 4);
    for (name, search) in [
        ("moga", SearchMethod::Moga),
        ("greedy", SearchMethod::Greedy),
    ] {
        for alpha in [0.0, 1.0] {
            for replication in 0..2 {
                let id = format!("{name}-{alpha}-{replication}");
                let values = [
                    ("provisioning.search", text(name)),
                    ("provisioning.alpha", AxisValue::Real(alpha)),
                ];
                let points = vec![point(&id, &values, replication, 1.0)];
                let done = super::fixtures::provisioning::provisioned(
                    &id,
                    search,
                    alpha,
                    replication,
                    points,
                );
                writer.handle().write(done).unwrap();
            }
        }
    }
    writer.finish(RunState::Done).unwrap();
    run
}

#[test]
fn the_four_queries_of_the_schema_document_about_workflows_give_answers() {
    let folder = folder();
    let path = folder.path().join("store.db");
    workflows(&path, OutcomeDetail::All);
    let store = Store::open_read_only(&path).unwrap();
    // Combinations; the front of one submission; the submissions that lost a task; sites with and without slots.
    assert_eq!(
        rows_of_documented_queries(&store, 21..=24),
        [4, 4, 4, 2 * 2]
    );
}

#[test]
fn a_run_of_provisioning_is_in_the_store_as_it_was() {
    let folder = folder();
    let path = folder.path().join("store.db");
    workflows(&path, OutcomeDetail::All);
    let store = Store::open_read_only(&path).unwrap();
    let whole = |sql: &str| count(&store.connection, sql);
    for (table, rows) in [
        ("v_workflow_site", 8 * 2),
        ("v_workflow_submission", 8),
        ("v_workflow_front", 4 * 4),
        ("v_workflow_slot", 8 * 2),
        // Two tasks, and a lost run in replication 1.
        ("v_workflow_task", 8 * 2 + 4),
        ("v_workflow_effect", 8),
    ] {
        assert_eq!(
            whole(&format!("SELECT count(*) FROM {table}")),
            rows,
            "{table}"
        );
    }
    let of = "WHERE simulation = (SELECT id FROM simulation WHERE identity = 'moga-1-1')";
    let row: (String, String, f64, i64, f64, i64, f64, i64) = store
        .connection
        .query_row(
            &format!(
                "SELECT provider, search, alpha, submitted, planned_cost_su, planned_makespan, cost_ratio, lost_tasks
                 FROM v_workflow_submission {of}"
            ),
            [],
            |row| {
                Ok((
                    row.get(0)?,
                    row.get(1)?,
                    row.get(2)?,
                    row.get(3)?,
                    row.get(4)?,
                    row.get(5)?,
                    row.get(6)?,
                    row.get(7)?,
                ))
            },
        )
        .unwrap();
    let queried = "queried".to_owned();
    assert_eq!(
        row,
        (
            queried,
            "moga".to_owned(),
            1.0,
            150_000,
            11.0,
            25_200,
            1.1,
            1
        )
    );
    assert_eq!(
        whole(&format!(
            "SELECT start FROM v_workflow_task {of} AND fate = 'lost'"
        )),
        150_000
    );
    assert_eq!(
        whole(&format!(
            "SELECT \"end\" - start FROM v_workflow_slot {of} AND slot = 1"
        )),
        3 * 3_600
    );
    // What the views reckon is what was measured.
    for (view, measure) in [
        ("planned_cost_su", "wf_cost_su"),
        ("cost_ratio", "wf_cost_ratio"),
        ("makespan_ratio", "wf_makespan_ratio"),
        ("hypervolume", "wf_hypervolume"),
        ("best_effort_makespan / 3600.0", "be_makespan_hours"),
        ("slots_offered", "wf_slots_offered"),
    ] {
        let apart: f64 = store
            .connection
            .query_row(
                &format!(
                    "SELECT max(abs(v.value - s.{view})) FROM v_workflow_submission s
                     JOIN v_measure v ON v.simulation = s.simulation AND v.measure = '{measure}'"
                ),
                [],
                |row| row.get(0),
            )
            .unwrap();
        assert!(apart < 1e-12, "{measure}: {apart}");
    }
    let simulation = whole("SELECT id FROM simulation WHERE identity = 'moga-1-1'");
    let submission = store.first_submission(simulation).unwrap().unwrap();
    assert_eq!(submission.planned, Some((11.0, 25_200)));
    assert_eq!(submission.best_effort, Some((10.0, 30_600)));
    assert_eq!(store.workflow_tasks(simulation, 0).unwrap().len(), 3);
    assert_eq!(store.workflow_slots(simulation, 0).unwrap()[1].site, 1);
    assert_eq!(
        store.workflow_sites(simulation).unwrap()[0].label,
        "CTC".to_owned()
    );
    let front = store.workflow_front(simulation, 0).unwrap();
    assert_eq!(front.iter().filter(|plan| plan.chosen).count(), 1);
}

#[test]
fn without_outcomes_submissions_stay_and_tasks_of_the_first_replication() {
    let folder = folder();
    let path = folder.path().join("store.db");
    workflows(&path, OutcomeDetail::Metrics);
    let counts = |wanted: [i64; 4]| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        let tables = [
            "workflow_submission",
            "workflow_front",
            "workflow_slot",
            "workflow_task",
        ];
        let found =
            tables.map(|table| count(&connection, &format!("SELECT count(*) FROM {table}")));
        assert_eq!(found, wanted);
    };
    counts([8, 16, 8, 8]);
    // Asked for, they are added, and nothing is there twice.
    workflows(&path, OutcomeDetail::All);
    counts([8, 16, 16, 20]);
}

#[test]
fn an_application_whose_cost_is_no_number_is_refused() {
    use crate::brokering::provisioning::SearchMethod;
    let mut done =
        super::fixtures::provisioning::provisioned("x", SearchMethod::Moga, 0.5, 0, Vec::new());
    let run = done.result.provisioning.as_mut().unwrap();
    run.outcomes[0].realised.cost = f64::NAN;
    let error = super::rows::Prepared::new(done, OutcomeDetail::All)
        .err()
        .expect("it is refused");
    assert!(
        error
            .to_string()
            .contains("a cost of submission 0 is not a number"),
        "{error}"
    );
}

#[test]
fn a_store_of_version_4_gets_the_tables_of_workflows_and_keeps_its_requests() {
    let folder = folder();
    let path = folder.path().join("old.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch("PRAGMA foreign_keys = OFF;").unwrap();
    for step in [
        super::schema::VERSION_1,
        super::version_2::VERSION_2,
        super::version_3::VERSION_3,
        super::version_4::VERSION_4,
    ] {
        old.execute_batch(step).unwrap();
    }
    old.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 4;
         INSERT INTO strategy VALUES (1, 'co-reservation', NULL, NULL);
         INSERT INTO simulation VALUES (5, 'done', 1, '{{}}', 'w', NULL, 1, 0, 2, 2, 1, NULL, NULL, NULL, NULL);
         INSERT INTO cluster VALUES (5, 0, 64, 0, 0, 0, 0.5, 100);"
    ))
    .unwrap();
    drop(old);
    assert!(matches!(
        Store::open_read_only(&path),
        Err(StoreError::OlderVersion { found: 4, .. })
    ));
    drop(Store::open(&path).unwrap());
    let connection = rusqlite::Connection::open(&path).unwrap();
    for (sql, wanted) in [
        ("PRAGMA user_version", i64::from(SCHEMA_VERSION)),
        ("SELECT nodes FROM v_cluster", 64),
        ("SELECT count(*) FROM v_workflow_submission", 0),
        ("SELECT count(*) FROM sqlite_schema WHERE name = 'slot'", 0),
        ("SELECT count(*) FROM task_fate", 3),
        ("SELECT count(*) FROM measure WHERE name = 'wf_cost_su'", 1),
    ] {
        assert_eq!(count(&connection, sql), wanted, "{sql}");
    }
}

#[test]
fn the_schema_document_names_every_table_and_column() {
    let folder = folder();
    let store = Store::open(&folder.path().join("store.db")).unwrap();
    let mut columns = store
        .connection
        .prepare(
            "SELECT l.name, i.name FROM pragma_table_list l, pragma_table_info(l.name) i
             WHERE l.schema = 'main' AND l.name NOT LIKE 'sqlite%'",
        )
        .unwrap();
    let mut rows = columns.query([]).unwrap();
    let mut checked = 0;
    while let Some(row) = rows.next().unwrap() {
        let (table, column): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        let section = DOCUMENT
            .split("\n### ")
            .find(|section| {
                section
                    .lines()
                    .next()
                    .is_some_and(|heading| heading.contains(&format!("`{table}`")))
            })
            .unwrap_or_else(|| panic!("no section about {table}"));
        assert!(
            section.contains(&format!("`{column}`")),
            "{table}.{column} is not explained"
        );
        checked += 1;
    }
    assert!(checked > 150, "{checked}");
}

#[test]
fn a_store_of_version_1_is_brought_forward_with_everything_in_it() {
    let folder = folder();
    let path = folder.path().join("old.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(super::schema::VERSION_1).unwrap();
    old.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1;
         INSERT INTO strategy VALUES (1, 'fcfs', 0, NULL);
         INSERT INTO run VALUES (1, 'old', '', NULL, 'x', 'h', 1, 1, '0.1.0', NULL, 1, 4, 'linux', 2, 1, 10, 20, 99);
         INSERT INTO axis VALUES (1, 0, 'x');
         INSERT INTO axis_value VALUES (1, 0, 0, 'integer', 7);
         INSERT INTO simulation VALUES (5, 'done', '{{}}', 'w', NULL, 1, 0, 2, 1, 1, NULL, NULL, NULL),
            (6, 'failed', '{{}}', 'w', NULL, 1, 0, 3, 0, 2, 'why', NULL, NULL);
         INSERT INTO simulation_metrics VALUES (5, 9, 9, 0, 0, 0, 9, 0, 0, 0, 0, 0, 7200, 0, 1, 1, 1, 2, 0, 9, 1, 1, 0, 0, 0, 0);
         INSERT INTO point VALUES (3, 'p-done', 5, 1.0, 0), (4, 'p-failed', 6, 1.0, 0);
         INSERT INTO run_point VALUES (1, 0, 3), (1, 1, 4);
         INSERT INTO point_axis VALUES (1, 0, 0, 0), (1, 1, 0, 0);
         CREATE VIEW v_run AS SELECT 1 AS run;"
    ))
    .unwrap();
    drop(old);
    // Readers do not change a file; the next writer does.
    assert!(matches!(
        Store::open_read_only(&path),
        Err(StoreError::OlderVersion { found: 1, .. })
    ));
    drop(Store::open(&path).unwrap());
    let store = Store::open_read_only(&path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    assert_eq!(
        (run.points_done, run.points_failed, run.state.as_str()),
        (1, 1, "done")
    );
    let points = store.points(run.id).unwrap();
    assert_eq!(
        (points.identity, points.fees),
        (vec!["p-done".to_owned()], vec![2.0])
    );
    assert_eq!(store.failed_points(run.id).unwrap()[0].attempts, 2);
    assert_eq!(
        count(
            &store.connection,
            "SELECT computed_by FROM simulation WHERE identity = 'done'"
        ),
        1
    );
}

#[test]
fn a_fresh_run_begins_a_new_generation_and_leaves_the_old_one_to_older_runs() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let one = point("one", &[], 0, 1.0);
    let specification = spec("fcfs", 0);
    for (fresh, gain) in [(false, 9), (true, 11)] {
        let store = Store::open(&path).unwrap();
        let run = store.begin_run(&record("again", vec![], 1)).unwrap();
        let pending = [PendingSimulation {
            id: "s1",
            spec: &specification,
            points: vec![&one],
        }];
        store.enter_pending(run, &pending, fresh).unwrap();
        assert!(store.done_points(&["one"]).unwrap().is_empty());
        assert_eq!(store.run(&RunSelector::Id(run.0)).unwrap().points_done, 0);
        let writer = Writer::start(store, run, OutcomeDetail::Metrics, 1);
        let handle = writer.handle();
        handle.started("s1").unwrap();
        handle
            .write(finished("s1", "fcfs", 0, result(gain), vec![one.clone()]))
            .unwrap();
        assert_eq!(writer.finish(RunState::Done).unwrap().simulations, 1);
    }
    let store = Store::open_read_only(&path).unwrap();
    let submitted = |run| store.points(RunId(run)).unwrap().submitted;
    assert_eq!((submitted(1).len(), submitted(2).len()), (1, 1));
    assert_eq!(
        count(&store.connection, "SELECT count(*) FROM simulation"),
        2
    );
    assert_eq!(
        count(&store.connection, "SELECT max(attempts) FROM simulation"),
        1
    );
    assert_eq!(store.done_points(&["one"]).unwrap().len(), 1);
}

#[test]
fn work_under_way_belongs_to_its_process_and_waits_again_when_that_died() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let one = point("one", &[], 0, 1.0);
    let specification = spec("fcfs", 0);
    let store = Store::open(&path).unwrap();
    let run = store.begin_run(&record("first", vec![], 1)).unwrap();
    let pending = [PendingSimulation {
        id: "s1",
        spec: &specification,
        points: vec![&one],
    }];
    store.enter_pending(run, &pending, false).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::Metrics, 1);
    let handle = writer.handle();
    handle.started("s1").unwrap();
    drop(handle);
    drop(writer);
    let begun = std::time::Instant::now();
    let other = loop {
        let other = Store::open(&path).unwrap();
        if count(
            &other.connection,
            "SELECT count(*) FROM simulation WHERE state = 1",
        ) == 1
        {
            break other;
        }
        assert!(begun.elapsed().as_secs() < 20, "the mark is committed");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    // This process lives: another run would leave the simulation to it.
    let work = other
        .earlier_work(&record("second", vec![], 1), &["s1"])
        .unwrap();
    assert!(work.elsewhere.contains("s1"));
    let second = other.begin_run(&record("second", vec![], 1)).unwrap();
    assert_eq!(other.run(&RunSelector::Id(run.0)).unwrap().state, "running");
    let writer = Writer::start(
        Store::open(&path).unwrap(),
        second,
        OutcomeDetail::Metrics,
        1,
    );
    assert_eq!(
        writer.handle().progress("s1"),
        SimulationProgress::Elsewhere
    );
    drop(writer);
    // As if it had been another process, which has gone.
    other
        .connection
        .execute(
            "UPDATE run SET process_started = 1, boot = 'gone' WHERE id = ?1",
            [run.0],
        )
        .unwrap();
    assert_eq!(
        other.run(&RunSelector::Id(run.0)).unwrap().state,
        "interrupted"
    );
    other.begin_run(&record("third", vec![], 1)).unwrap();
    assert_eq!(count(&other.connection, "SELECT state FROM simulation"), 0);
    assert_eq!(
        count(&other.connection, "SELECT state FROM run WHERE id = 1"),
        2
    );
}

#[test]
fn a_run_keeps_its_generation_while_another_one_begins_anew_beside_it() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let one = point("one", &[], 0, 1.0);
    let specification = spec("fcfs", 0);
    let pending = [PendingSimulation {
        id: "s1",
        spec: &specification,
        points: vec![&one],
    }];
    let writers: Vec<Writer> = [false, true]
        .into_iter()
        .map(|fresh| {
            let store = Store::open(&path).unwrap();
            let run = store.begin_run(&record("beside", vec![], 1)).unwrap();
            store.enter_pending(run, &pending, fresh).unwrap();
            Writer::start(store, run, OutcomeDetail::Metrics, 1)
        })
        .collect();
    for (writer, gain) in writers.into_iter().zip([9, 11]) {
        let handle = writer.handle();
        assert_eq!(handle.progress("s1"), SimulationProgress::Open);
        handle.started("s1").unwrap();
        handle
            .write(finished("s1", "fcfs", 0, result(gain), vec![one.clone()]))
            .unwrap();
        let summary = writer.finish(RunState::Done).unwrap();
        assert_eq!((summary.simulations, summary.already_there), (1, 0));
    }
    let store = Store::open_read_only(&path).unwrap();
    for run in [1, 2] {
        assert_eq!(
            store.run(&RunSelector::Id(run)).unwrap().points_done,
            1,
            "run {run}"
        );
    }
    assert_eq!(
        count(
            &store.connection,
            "SELECT count(*) FROM simulation WHERE state = 2 AND computed_by = generation"
        ),
        2
    );
}
