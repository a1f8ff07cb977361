//! A quantity at every combination of the axes.

use std::collections::BTreeMap;

use bookahead::store::{CurveSamples, RunId, Store};
use bookahead::store::{METRICS, metric_names};
use bookahead::studies::STUDIES;
use bookahead::study::SimulationResult;
use bookahead::sweep::AxisValue;
use bookahead::sweep::{Axis, Point};
use bookahead::units::NodeSeconds;
use bookahead_testutils::runs::seen as saw;
use bookahead_testutils::runs::{axis, finished, point, record, result, text, write_run};

const SHARE: &str = "reservations.share_percent";
const RULE: &str = "admission.rule";

fn whole(value: i64) -> AxisValue {
    AxisValue::Integer(value)
}

fn axes() -> Vec<Axis> {
    vec![
        axis(RULE, &[text("reject"), text("move")]),
        axis(SHARE, &[whole(0), whole(10)]),
    ]
}

fn at(rule: &str, share: i64, replication: u32, id: &str) -> Point {
    let axes = [(RULE, text(rule)), (SHARE, whole(share))];
    point(id, &axes, replication, 1.0)
}

fn rejecting(percent: f64, busy: i64) -> SimulationResult {
    let mut result = result(20);
    result.metrics.busy = NodeSeconds(busy);
    result.measured.add("rejected_percent", percent);
    result
}

/// Share 0 is the same simulation under both rules, share 10 is one of its own.
fn store(folder: &tempfile::TempDir) -> (Store, RunId) {
    let path = folder.path().join("store.db");
    let mut simulations = Vec::new();
    for replication in [1, 0] {
        let own = f64::from(replication);
        let busy = i64::from(replication) * 64_000;
        let id = format!("none-{replication}");
        simulations.push(finished(
            &id,
            "replanning",
            replication,
            rejecting(own, busy),
            vec![
                at("reject", 0, replication, &id),
                at("move", 0, replication, &id),
            ],
        ));
        for (rule, percent) in [("reject", 50.0), ("move", 20.0)] {
            let id = format!("{rule}-{replication}");
            simulations.push(finished(
                &id,
                "replanning",
                replication,
                rejecting(percent + own, busy),
                vec![at(rule, 10, replication, &id)],
            ));
        }
    }
    let run = write_run(&path, &record("curves", axes(), 8), simulations);
    (Store::open_read_only(STUDIES, &path).unwrap(), run)
}

#[test]
fn a_measure_of_a_cluster_comes_by_its_name_with_cluster_and_class() {
    use bookahead_testutils::runs::grid::grid;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let rules = ["reject", "move"];
    let simulations = rules.map(|rule| {
        let points = vec![point(rule, &[(RULE, text(rule))], 0, 1.0)];
        // Requests 0 and 1 are granted, then all four.
        let result = grid(3, 4, |request| request < 2 || rule == "move");
        finished(rule, "co-reservation", 0, result, points)
    });
    let axes = vec![axis(RULE, &rules.map(text))];
    let run = write_run(&path, &record("clusters", axes, 2), simulations.into());
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let values = |measure: &str| -> Vec<f64> {
        let cells = store.curve_cells(run, measure).unwrap();
        cells.iter().map(|cell| cell.samples[0].1).collect()
    };
    // Parts of request n are on the clusters n and n + 1 (of three).
    assert_eq!(values("cluster_parts@1"), [2.0, 3.0]);
    assert_eq!(values("cluster_parts@2"), [1.0, 2.0]);
    assert_eq!(values("class_parts_by_nodes@2/17-32"), [1.0, 1.0]);
    assert_eq!(values("cluster_parts@3"), [0.0; 0]);
    assert_eq!(values("cluster_parts"), [0.0; 0]);
}

type Seen = (String, AxisValue, Vec<(u32, f64)>);

fn seen(cells: &[CurveSamples]) -> Vec<Seen> {
    cells
        .iter()
        .map(|cell| {
            let AxisValue::Text(rule) = &cell.values[RULE] else {
                panic!("a name")
            };
            let share = cell.values[SHARE].clone();
            (rule.clone(), share, cell.samples.clone())
        })
        .collect()
}

#[test]
fn a_measure_comes_by_axis_values_and_a_shared_simulation_at_each_of_its_points() {
    let folder = tempfile::tempdir().unwrap();
    let (store, run) = store(&folder);
    let cells = store.curve_cells(run, "rejected_percent").unwrap();
    assert_eq!(
        seen(&cells),
        [
            ("reject".to_owned(), whole(0), vec![(0, 0.0), (1, 1.0)]),
            ("reject".to_owned(), whole(10), vec![(0, 50.0), (1, 51.0)]),
            ("move".to_owned(), whole(0), vec![(0, 0.0), (1, 1.0)]),
            ("move".to_owned(), whole(10), vec![(0, 20.0), (1, 21.0)]),
        ]
    );
}

#[test]
fn metrics_have_names_and_agree_with_the_points() {
    let folder = tempfile::tempdir().unwrap();
    let (store, run) = store(&folder);
    let busy = store.curve_cells(run, "utilisation_percent").unwrap();
    assert_eq!(busy[0].samples, [(0, 0.0), (1, 10.0)]);
    let points = store.points(run).unwrap();
    for metric in METRICS {
        let cells: Vec<Option<f64>> = store
            .curve_cells(run, metric.name)
            .unwrap()
            .iter()
            .flat_map(|cell| cell.samples.iter().map(|(_, value)| Some(*value)))
            .collect();
        let values: Vec<_> = points.metrics[metric.name].iter().copied().collect();
        assert_eq!(cells, values, "{}", metric.name);
    }
    for name in metric_names() {
        assert_eq!(store.curve_cells(run, name).unwrap().len(), 4, "{name}");
        assert!(STUDIES.measures().all(|measure| measure.name != name));
    }
}

#[test]
fn what_was_not_measured_has_no_cells_and_a_run_without_axes_has_one() {
    let folder = tempfile::tempdir().unwrap();
    let (store, run) = store(&folder);
    assert_eq!(store.curve_cells(run, "price_su").unwrap(), []);
    assert_eq!(store.curve_cells(run, "no such measure").unwrap(), []);
    let path = folder.path().join("single.db");
    let run = write_run(
        &path,
        &record("single", Vec::new(), 1),
        vec![finished(
            "s",
            "replanning",
            0,
            rejecting(7.0, 0),
            vec![point("s", &[], 0, 1.0)],
        )],
    );
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    assert_eq!(
        store.curve_cells(run, "rejected_percent").unwrap(),
        [CurveSamples {
            values: BTreeMap::new(),
            samples: vec![(0, 7.0)],
            seen: vec![saw("jobs 0", "none")],
        }]
    );
}
