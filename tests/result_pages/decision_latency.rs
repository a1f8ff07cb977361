//! The page about how long decisions take. Its times are those of one machine; what can be said
//! again anywhere are its counts, its orders of size, and what its queries give.

use super::*;

#[test]
fn the_query_about_decision_latency_counts_every_decision_of_each_strategy_and_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let part = shortened(
        folder.path(),
        "decision-latency/nodes.toml",
        &[("[128, 1024, 8192, 65536, 300000]", "[128, 8192]")],
    );
    let part = part.to_str().expect("UTF-8");
    let options = ["--time-decisions", "--outcomes", "metrics"];
    run_with(folder.path(), part, &options);
    let store = folder.path().join("it.db");
    let page = "measurements/decision-latency.md";
    let found = rows(&store, &queries(page)[0], |row| {
        let names: (i64, String) = (row.get("nodes")?, row.get("strategy")?);
        let times: [f64; 3] = [row.get("median")?, row.get("p99")?, row.get("longest")?];
        let over: [i64; 3] = [row.get("over_1")?, row.get("over_2")?, row.get("over_5")?];
        Ok((names, row.get::<_, i64>("decisions")?, times, over))
    });
    assert_eq!(found.len(), 2 * 5);
    for ((nodes, strategy), decisions, [median, p99, longest], over) in found {
        assert_eq!(decisions, 5_000, "{strategy}");
        // µs, µs and ms.
        assert!(
            0.0 < median && median <= p99 && p99 <= 1_000.0 * longest,
            "{strategy}"
        );
        assert!(
            over.is_sorted_by(|more, less| more >= less),
            "{nodes} nodes"
        );
        // A hundred times as long as on the page, for a machine with much else to do.
        assert!(median < 1_000.0, "{strategy}: {median} µs");
    }
}
