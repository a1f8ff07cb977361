//! What studies measured, as columns.

use bookahead::store::Store;
use bookahead::studies::STUDIES;
use bookahead_reservations::replanning::study::stored::reservation_counts;
use rusqlite::Connection;

use bookahead::scheduling::measures::Measured;
use bookahead::store::RunSelector;
use bookahead::study::SimulationResult;
use bookahead_testutils::runs::{finished, point, record, result, write_run};

#[test]
fn measures_are_columns_in_the_order_of_the_registry_and_unknown_ones_come_last() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let mut measured = Measured::default();
    measured.add("price_su", 2.5);
    measured.add("requests", 40.0);
    let with = SimulationResult {
        measured,
        ..result(0)
    };
    write_run(
        &path,
        &record("measured", vec![], 3),
        vec![
            // Two points of one simulation, which differ in what a penalty costs.
            finished(
                "a",
                "replanning",
                0,
                with,
                vec![point("a1", &[], 0, 1.0), point("a2", &[], 0, 2.0)],
            ),
            finished(
                "b",
                "replanning",
                1,
                result(0),
                vec![point("b", &[], 1, 1.0)],
            ),
        ],
    );
    let connection = Connection::open(&path).unwrap();
    for name in ["zeal", "ardour"] {
        connection
            .execute(
                "INSERT INTO measure (name, unit, title) VALUES (?1, 'z', 'Words')",
                [name],
            )
            .unwrap();
        connection
            .execute(
                "INSERT INTO simulation_measure
                 SELECT m.id, q.code, 1.0 FROM simulation m, measure q WHERE m.identity = 'b' AND q.name = ?1",
                [name],
            )
            .unwrap();
    }
    drop(connection);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    let points = store.points(run.id).unwrap();
    let names: Vec<&str> = points
        .measures
        .iter()
        .map(|column| column.name.as_str())
        .collect();
    assert_eq!(names, ["requests", "price_su", "ardour", "zeal"]);
    let prices = &points.measures[1];
    assert!(prices.values.iter().eq(&[Some(2.5), Some(2.5), None]));
    assert_eq!(
        (prices.unit.as_str(), prices.title.as_str()),
        ("SU", "Mean additive price (SU)")
    );
    assert_eq!(points.measures[3].title, "Words");
    assert!((points.measures[3].values.iter()).eq(&[None, None, Some(1.0)]));
}

#[test]
fn runs_without_measures_have_no_columns() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let simulation = finished("a", "fcfs", 0, result(3), vec![point("a", &[], 0, 1.0)]);
    write_run(&path, &record("plain", vec![], 1), vec![simulation]);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let run = store.run(&RunSelector::Latest).unwrap();
    assert_eq!(store.points(run.id).unwrap().measures, []);
    assert!(reservation_counts(&store, run.id).unwrap().is_empty());
}
