//! Kills, full disks and other programs: whole simulations, or none.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::{connection, count, folder};
use bookahead::store::{OutcomeDetail, RunState, Store, StoreError, Writer};
use bookahead::studies::STUDIES;
use bookahead::sweep::AxisValue;
use bookahead::workload::JobId;
use bookahead_testutils::runs::{finished, point, record, result, write_run};

#[test]
fn a_writer_that_is_dropped_leaves_whole_simulations_only() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(STUDIES, &path).unwrap();
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
    let store = Store::open(STUDIES, path).unwrap();
    let connection = connection(&store);
    let transaction = connection.unchecked_transaction().unwrap();
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
    let store = Store::open(STUDIES, Path::new(&path)).unwrap();
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
                "store::writing::writes_for_ever_when_it_is_the_child_of_the_kill_test",
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
    let store = Store::open(STUDIES, &path).unwrap();
    store.begin_run(&record("after", vec![], 0)).unwrap();
    if Path::new("/proc/self").exists() {
        assert_eq!(
            count(
                &connection(&store),
                "SELECT count(*) FROM v_run WHERE state = 'interrupted'"
            ),
            6
        );
    }
    assert_eq!(
        count(
            &connection(&store),
            "SELECT count(*) FROM v_run WHERE state = 'running' AND name = 'after'"
        ),
        1
    );
}

#[test]
fn a_result_that_would_change_in_the_store_is_refused_and_the_writer_goes_on() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(STUDIES, &path).unwrap();
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
fn a_program_that_holds_the_store_too_long_is_named_as_the_reason() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(STUDIES, &path).unwrap();
    let run = store.begin_run(&record("waiting", vec![], 1)).unwrap();
    (connection(&store))
        .busy_timeout(Duration::from_millis(50))
        .unwrap();
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
fn a_slow_writer_holds_back_whoever_hands_results_to_it() {
    const QUEUE: usize = 3;
    let folder = folder();
    let path = folder.path().join("store.db");
    let store = Store::open(STUDIES, &path).unwrap();
    let run = store.begin_run(&record("slow", vec![], 20)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, QUEUE);
    // An actor that has not begun takes messages out of its mailbox and keeps them; one that
    // answers has begun.
    assert!(writer.handle().values("bookings", &[]).unwrap().is_empty());
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let handed = Arc::new(AtomicUsize::new(0));
    let worker = std::thread::spawn({
        let (handle, handed) = (writer.handle(), Arc::clone(&handed));
        move || {
            for number in 0..20 {
                let id = format!("s{number}");
                handle
                    .write(finished(&id, "fcfs", number, result(5), vec![]))
                    .unwrap();
                handed.fetch_add(1, Ordering::SeqCst);
            }
        }
    });
    // The mailbox is full, and the writer has one in its hands.
    let begun = Instant::now();
    while handed.load(Ordering::SeqCst) < QUEUE && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    let waiting = handed.load(Ordering::SeqCst);
    assert!((QUEUE..=QUEUE + 1).contains(&waiting), "{waiting}");
    other.execute_batch("ROLLBACK").unwrap();
    worker.join().unwrap();
    assert_eq!(writer.finish(RunState::Done).unwrap().simulations, 20);
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
    let store = Store::open_read_only(STUDIES, path).unwrap();
    assert_eq!(
        count(&connection(&store), "SELECT count(*) FROM job_outcome"),
        300 * 50
    );
    (
        count(
            &connection(&store),
            "SELECT count(*) FROM simulation WHERE state = 2",
        ),
        count(&connection(&store), "SELECT count(*) FROM run_point"),
    )
}

/// A measurement, not a test:
/// `cargo test --release --test main rows_a_second -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn rows_a_second_and_bytes_a_row() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let jobs = 1_000;
    let simulations = 4_000;
    for detail in [OutcomeDetail::All, OutcomeDetail::None] {
        let path = path.with_extension(format!("{detail:?}"));
        let store = Store::open(STUDIES, &path).unwrap();
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

#[test]
fn a_store_that_was_deleted_moved_or_replaced_while_it_was_written_to_is_said_to_be_gone() {
    let harms: [fn(&std::path::Path); 3] = [
        |path| std::fs::remove_file(path).unwrap(),
        |path| std::fs::rename(path, path.with_extension("moved")).unwrap(),
        |path| {
            std::fs::rename(path, path.with_extension("moved")).unwrap();
            std::fs::write(path, "").unwrap();
        },
    ];
    for harm in harms {
        let folder = folder();
        let path = folder.path().join("store.db");
        let store = Store::open(STUDIES, &path).unwrap();
        let run = store.begin_run(&record("gone", vec![], 1)).unwrap();
        let writer = Writer::start(store, run, OutcomeDetail::All, 1);
        harm(&path);
        writer
            .handle()
            .write(finished("s", "fcfs", 0, result(3), vec![]))
            .unwrap();
        let error = writer.finish(RunState::Done).unwrap_err();
        assert!(error.to_string().contains("is not at its place"), "{error}");
    }
}
