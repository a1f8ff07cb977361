//! How far a run is.

use bookahead::store::{FailedSimulation, OutcomeDetail, RunState, Writer};
use bookahead::store::{RunProgress, Store};
use bookahead::studies::STUDIES;
use bookahead_testutils::runs::{finished, point, record, result, write_run};

#[test]
fn progress_is_what_the_list_of_runs_counts_point_by_point() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let before = Store::stamp(&path);
    let of = |id: &str, count: u32| {
        let points = (0..count).map(|at| point(&format!("{id} {at}"), &[], at, 1.0));
        finished(id, "easy", 0, result(3), points.collect())
    };
    write_run(
        &path,
        &record("whole", Vec::new(), 3),
        vec![of("a", 2), of("b", 1)],
    );
    let store = Store::open(STUDIES, &path).unwrap();
    let run = store.begin_run(&record("broken", Vec::new(), 5)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    writer.handle().write(of("c", 3)).unwrap();
    let lost = of("d", 2);
    let failed = FailedSimulation {
        id: lost.id,
        workload_label: lost.workload_label,
        spec: lost.spec,
        error: "gone".to_owned(),
        points: lost.points,
    };
    writer.handle().fail(failed).unwrap();
    writer.finish(RunState::Failed).unwrap();
    assert_ne!(Store::stamp(&path), before);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let counted: Vec<RunProgress> = store
        .runs()
        .unwrap()
        .into_iter()
        .map(|run| RunProgress {
            id: run.id,
            name: run.name,
            state: run.state,
            points: run.points,
            points_done: run.points_done,
            points_failed: run.points_failed,
            started: run.started,
            ended: run.ended,
            labels: run.labels,
        })
        .collect();
    let found = store.run_progress().unwrap();
    assert_eq!(found, counted);
    let done: Vec<_> = found
        .iter()
        .map(|run| (run.points_done, run.points_failed, run.state.as_str()))
        .collect();
    assert_eq!(done, [(3, 0, "done"), (3, 2, "failed")]);
    assert_eq!(Store::stamp(&path), Store::stamp(&path));
}
