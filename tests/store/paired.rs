//! Requests that one of two algorithms grants.

use std::collections::BTreeMap;

use bookahead::store::Store;
use bookahead::studies::STUDIES;
use bookahead::sweep::AxisValue;
use bookahead_testutils::runs::grid::grid;
use bookahead_testutils::runs::{axis, finished, point, record, text, write_run};

const ALGORITHM: &str = "broker.algorithm";
const CLUSTERS: &str = "grid.clusters";

#[test]
fn requests_that_one_algorithm_alone_grants_are_found_at_every_combination_of_the_other_axes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let axes = vec![
        axis(ALGORITHM, &["a2", "a3", "a3-backfill"].map(text)),
        axis(CLUSTERS, &[AxisValue::Integer(2), AxisValue::Integer(3)]),
    ];
    let mut simulations = Vec::new();
    for algorithm in ["a2", "a3", "a3-backfill"] {
        for clusters in [2_u16, 3] {
            for replication in 0..2 {
                // A3 grants 0, 2, 4 and 6, and with backfilling 0 and 4 to 7; with three
                // clusters all of them.
                let result = grid(clusters, 8, |request| match algorithm {
                    "a3" => request % 2 == 0,
                    _ if clusters == 3 => true,
                    _ => request == 0 || request >= 4,
                });
                let id = format!("{algorithm}-{clusters}-{replication}");
                let values = [
                    (ALGORITHM, text(algorithm)),
                    (CLUSTERS, AxisValue::Integer(i64::from(clusters))),
                ];
                let points = vec![point(&id, &values, replication, 1.0)];
                simulations.push(finished(&id, "co-reservation", replication, result, points));
            }
        }
    }
    let run = write_run(&path, &record("paired", axes, 12), simulations);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let of = |name: &str| BTreeMap::from([(ALGORITHM.to_owned(), text(name))]);
    let pairs = store
        .paired_requests(run, &of("a3"), &of("a3-backfill"))
        .unwrap();
    assert_eq!(pairs.len(), 4);
    let two = pairs
        .iter()
        .find(|pair| pair.replication == 1 && pair.values[CLUSTERS] == AxisValue::Integer(2))
        .unwrap();
    assert_eq!(two.values.len(), 1);
    // Only A3: request 2. Only with backfilling: 5 and 7, whose first parts have 15 and 17
    // CPUs.
    let deviation = 2.0_f64.sqrt();
    let wanted = [
        1.0,
        2.0,
        1.0 / 8.0,
        2.0 / 8.0,
        16.0,
        deviation,
        17.0,
        7.0 * 1_800.0,
        1_800.0 * deviation,
        8.0 * 1_800.0,
    ];
    for ((name, value), wanted) in two.measures.iter().zip(wanted) {
        assert!(
            (value - wanted).abs() < 1e-9,
            "{name}: {value}, not {wanted}"
        );
    }
    // Nothing is granted by the same algorithm alone: counts are 0, and there is nothing to
    // take a mean of.
    let itself = store.paired_requests(run, &of("a2"), &of("a2")).unwrap();
    assert_eq!(
        itself[0].measures,
        [
            ("only_left", 0.0),
            ("only_right", 0.0),
            ("only_left_share", 0.0),
            ("only_right_share", 0.0)
        ]
    );
    assert!(
        store
            .paired_requests(run, &of("a3"), &of("a4"))
            .unwrap()
            .is_empty()
    );
    // An axis may be named on one side and differ in kind on the other.
    let mut left = of("a3");
    left.insert(CLUSTERS.to_owned(), AxisValue::Real(2.0));
    let across = store.paired_requests(run, &left, &of("a3")).unwrap();
    assert_eq!(across.len(), 2);
    assert!(across[0].values.is_empty());
}
