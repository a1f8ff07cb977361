//! Tests of what is kept of promises and how they came true.

use super::fixtures::{finished, point, promised, record, result, write_run};
use super::schema::{APPLICATION_ID, SCHEMA_VERSION};
use super::{Store, StoreError};
use crate::actors::SimulationResult;
use crate::scheduling::JobOutcome;

fn rows(store: &Store, view: &str) -> Vec<(String, u32, u32, u32)> {
    store
        .connection
        .prepare(&format!(
            "SELECT probability, bin, jobs, failed FROM {view} WHERE strategy = 'heuristic-overbooking' ORDER BY simulation, bin"
        ))
        .unwrap()
        .query_map([], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn jobs_are_counted_by_what_was_promised_and_also_by_what_the_model_gave_where_that_differs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let of = |outcomes: Vec<JobOutcome>| SimulationResult {
        outcomes,
        ..result(0)
    };
    // Nothing can be learned from the first promise; the other two are corrected.
    let calibrated = of(vec![
        promised(0, 0.02, None, false),
        promised(1, 0.12, Some(0.33), true),
        promised(2, 0.12, Some(0.33), false),
    ]);
    let plain = of(vec![promised(0, 0.12, None, true)]);
    write_run(
        &path,
        &record("kinds", vec![], 2),
        vec![
            finished(
                "calibrated",
                "heuristic-overbooking",
                0,
                calibrated,
                vec![point("c", &[], 0, 1.0)],
            ),
            finished(
                "plain",
                "heuristic-overbooking",
                1,
                plain,
                vec![point("p", &[], 1, 1.0)],
            ),
        ],
    );
    let store = Store::open_read_only(&path).unwrap();
    let row = |kind: &str, bin, jobs, failed| (kind.to_owned(), bin, jobs, failed);
    assert_eq!(
        rows(&store, "v_calibration"),
        [
            row("promised", 1, 1, 0),
            row("promised", 7, 2, 1),
            row("promised", 3, 1, 1)
        ]
    );
    assert_eq!(
        rows(&store, "v_calibration_raw"),
        [
            row("raw", 1, 1, 0),
            row("raw", 3, 2, 1),
            row("promised", 3, 1, 1)
        ]
    );
}

#[test]
fn a_store_of_version_5_keeps_its_outcomes_and_what_was_counted_as_promised() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch("PRAGMA foreign_keys = OFF;").unwrap();
    for step in [
        super::schema::VERSION_1,
        super::version_2::VERSION_2,
        super::version_3::VERSION_3,
        super::version_4::VERSION_4,
        super::version_5::VERSION_5,
    ] {
        old.execute_batch(step).unwrap();
    }
    // Somebody's own view must not stand in the way.
    old.execute_batch(&format!(
        "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 5;
         INSERT INTO strategy VALUES (1, 'heuristic-overbooking', 1, NULL);
         INSERT INTO verdict VALUES (4, 'failed-overbooked', 'failed');
         INSERT INTO workload VALUES (9, 'w', 1);
         INSERT INTO job VALUES (9, 0, 7, 0, 0, 3600, 1800, 9000, 4, NULL, NULL, 0);
         INSERT INTO simulation VALUES (5, 'done', 1, '{{}}', 'w', 9, 1, 0, 2, 2, 1, NULL, NULL, NULL, NULL);
         INSERT INTO job_outcome VALUES (5, 0, 4, NULL, 1, 0, 900, 1.0, 0.75, 1.0, 0, 0, 2700, 0, 0);
         INSERT INTO simulation_calibration VALUES (5, 5, 1, 1, 1, 0.25, 0.5625);
         CREATE VIEW mine AS SELECT sum(failed) FROM v_calibration;"
    ))
    .unwrap();
    drop(old);
    assert!(matches!(
        Store::open_read_only(&path),
        Err(StoreError::OlderVersion { found: 5, .. })
    ));
    drop(Store::open(&path).unwrap());
    let store = Store::open_read_only(&path).unwrap();
    let version: i32 = store
        .connection
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .unwrap();
    assert_eq!(version, SCHEMA_VERSION);
    for view in ["v_calibration", "v_calibration_raw"] {
        assert_eq!(rows(&store, view), [("promised".to_owned(), 5, 1, 1)]);
    }
    let (pof, raw, fee): (f64, f64, f64) = store
        .connection
        .query_row("SELECT pof, raw_pof, penalty FROM v_job", [], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .unwrap();
    assert_eq!((pof, raw, fee), (0.25, 0.25, 4.0));
    let sums: (f64, f64) = store
        .connection
        .query_row("SELECT pof_sum, brier_sum FROM v_calibration", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(sums, (0.25, 0.5625));
    let mine: i64 = store
        .connection
        .query_row("SELECT * FROM mine", [], |row| row.get(0))
        .unwrap();
    assert_eq!(mine, 1);
}
