//! What the writer says where it cannot write.

use std::time::Duration;

use super::Writer;
use crate::store::{
    FinishedSimulation, OutcomeDetail, RunRecord, RunSelector, RunState, Store, StoreError,
};
use crate::study::SimulationResult;
use crate::study::testing::STUDIES;
use crate::sweep::{Experiment, Point, RESULT_FORMAT, digest};

const TEXT: &str = r#"[experiment]
name = "full"
[workload]
model = "lublin-feitelson"
jobs = 5000
nodes = 128
battery_jobs = 100
load.value = 2.0
[scheduling]
strategy = "heuristic-planning"
"#;

#[test]
fn a_full_disk_is_named_as_the_reason_and_whole_simulations_stay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = Store::open(STUDIES, &path).unwrap();
    let record = RunRecord {
        name: "full".to_owned(),
        description: String::new(),
        source: None,
        configuration: TEXT.to_owned(),
        seed: 1,
        replications: 1,
        program_version: "0.1.0".to_owned(),
        program_commit: None,
        result_format: RESULT_FORMAT,
        machine_cores: 1,
        machine_os: "test".to_owned(),
        points: 1,
        axes: Vec::new(),
        inputs: Vec::new(),
        losses: Vec::new(),
        machines: Vec::new(),
    };
    let run = store.begin_run(&record).unwrap();
    let sweep = Experiment::parse(STUDIES, "full.toml", TEXT, None)
        .unwrap()
        .sweep;
    let spec = sweep.simulations.get(0);
    // SQLite reports a file that reached its size limit exactly as it reports a full disk.
    (store.connection)
        .pragma_update(None, "max_page_count", 700)
        .unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    let handle = writer.handle();
    let refused = (0..100_000).find_map(|number| {
        let finished = FinishedSimulation {
            id: digest(&format!("s{number}")),
            spec: spec.clone(),
            workload_label: "test workload".to_owned(),
            result: SimulationResult::default(),
            wall: Duration::from_millis(5),
            points: vec![Point {
                id: digest(&format!("p{number}")),
                simulation: 0,
                axes: sweep.points[0].axes.clone(),
                penalty_ratio: 1.0,
                replication: 0,
                place: number,
            }],
        };
        handle.write(finished).err()
    });
    let refused = refused.unwrap().to_string();
    assert!(
        refused.contains("full: make room and run the same command again"),
        "{refused}"
    );
    assert!(matches!(
        writer.finish(RunState::Done),
        Err(StoreError::DiskFull { .. })
    ));
    let store = Store::open(STUDIES, &path).unwrap();
    let count = |sql: &str| (store.connection).query_row(sql, [], |row| row.get::<_, i64>(0));
    let done = count("SELECT count(*) FROM simulation WHERE state = 2").unwrap();
    assert!(done > 10);
    assert_eq!(count("SELECT count(*) FROM simulation"), Ok(done));
    assert_eq!(count("SELECT count(*) FROM simulation_metrics"), Ok(done));
    assert_eq!(count("SELECT count(*) FROM run_point"), Ok(done));
    store.run(&RunSelector::Latest).unwrap();
}
