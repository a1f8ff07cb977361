//! Tests of what is kept of promises and how they came true.

use super::connection;
use bookahead::scheduling::JobOutcome;
use bookahead::store::Store;
use bookahead::studies::STUDIES;
use bookahead::study::SimulationResult;
use bookahead_testutils::runs::{finished, point, promised, record, result, write_run};

fn rows(store: &Store, view: &str) -> Vec<(String, u32, u32, u32)> {
    connection(store)
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
    let store = Store::open_read_only(STUDIES, &path).unwrap();
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
