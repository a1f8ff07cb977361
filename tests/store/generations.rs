//! Simulations that are computed anew, and work under way.

use super::{connection, count, folder};
use bookahead::store::{
    OutcomeDetail, PendingSimulation, RunId, RunSelector, RunState, SimulationProgress, Store,
    Writer,
};
use bookahead::studies::STUDIES;
use bookahead_testutils::runs::{finished, identity, point, record, result, spec};

#[test]
fn a_fresh_run_begins_a_new_generation_and_leaves_the_old_one_to_older_runs() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let one = point("one", &[], 0, 1.0);
    let specification = spec("fcfs", 0);
    for (fresh, gain) in [(false, 9), (true, 11)] {
        let store = Store::open(STUDIES, &path).unwrap();
        let run = store.begin_run(&record("again", vec![], 1)).unwrap();
        let pending = [PendingSimulation {
            id: identity("s1"),
            spec: specification.clone(),
            points: vec![&one],
        }];
        store.enter_pending(run, pending.clone(), fresh).unwrap();
        assert!(
            (store
                .done_points([identity("one")], OutcomeDetail::None)
                .unwrap())
            .is_empty()
        );
        assert_eq!(store.run(&RunSelector::Id(run.0)).unwrap().points_done, 0);
        let writer = Writer::start(store, run, OutcomeDetail::Metrics, 1);
        let handle = writer.handle();
        handle.started("s1").unwrap();
        handle
            .write(finished("s1", "fcfs", 0, result(gain), vec![one.clone()]))
            .unwrap();
        assert_eq!(writer.finish(RunState::Done).unwrap().simulations, 1);
    }
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let points = |run| store.points(RunId(run)).unwrap();
    assert_eq!((points(1).len(), points(2).len()), (1, 1));
    assert_eq!(
        count(&connection(&store), "SELECT count(*) FROM simulation"),
        2
    );
    assert_eq!(
        count(&connection(&store), "SELECT max(attempts) FROM simulation"),
        1
    );
    assert_eq!(
        (store
            .done_points([identity("one")], OutcomeDetail::None)
            .unwrap())
        .len(),
        1
    );
}

#[test]
fn work_under_way_belongs_to_its_process_and_waits_again_when_that_died() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let one = point("one", &[], 0, 1.0);
    let specification = spec("fcfs", 0);
    let store = Store::open(STUDIES, &path).unwrap();
    let run = store.begin_run(&record("first", vec![], 1)).unwrap();
    let pending = [PendingSimulation {
        id: identity("s1"),
        spec: specification.clone(),
        points: vec![&one],
    }];
    store.enter_pending(run, pending.clone(), false).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::Metrics, 1);
    let handle = writer.handle();
    handle.started("s1").unwrap();
    drop(handle);
    drop(writer);
    let begun = std::time::Instant::now();
    let other = loop {
        let other = Store::open(STUDIES, &path).unwrap();
        if count(
            &connection(&other),
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
        .earlier_work(&record("second", vec![], 1), &[identity("s1")])
        .unwrap();
    assert!(work.elsewhere.contains("s1"));
    let second = other.begin_run(&record("second", vec![], 1)).unwrap();
    assert_eq!(other.run(&RunSelector::Id(run.0)).unwrap().state, "running");
    let writer = Writer::start(
        Store::open(STUDIES, &path).unwrap(),
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
    connection(&other)
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
    assert_eq!(
        count(&connection(&other), "SELECT state FROM simulation"),
        0
    );
    assert_eq!(
        count(&connection(&other), "SELECT state FROM run WHERE id = 1"),
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
        id: identity("s1"),
        spec: specification.clone(),
        points: vec![&one],
    }];
    let writers: Vec<Writer> = [false, true]
        .into_iter()
        .map(|fresh| {
            let store = Store::open(STUDIES, &path).unwrap();
            let run = store.begin_run(&record("beside", vec![], 1)).unwrap();
            store.enter_pending(run, pending.clone(), fresh).unwrap();
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
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    for run in [1, 2] {
        assert_eq!(
            store.run(&RunSelector::Id(run)).unwrap().points_done,
            1,
            "run {run}"
        );
    }
    assert_eq!(
        count(
            &connection(&store),
            "SELECT count(*) FROM simulation WHERE state = 2 AND computed_by = generation"
        ),
        2
    );
}
