//! What goes into the store and comes out of it again.

use rusqlite::Row;

use super::{connection, count, folder};
use bookahead::failures::NodeEvent;
use bookahead::scheduling::{
    CheckpointTotals, DoubleTotals, JobOutcome, LateTotals, LongerTotals, Promise,
    SimulationMetrics, SuccessFactors, Verdict, WorkCounters,
};
use bookahead::store::{
    FailedSimulation, OutcomeDetail, RunId, RunSelector, RunState, Store, Writer,
};
use bookahead::studies::STUDIES;
use bookahead::sweep::AxisValue;
use bookahead::units::{Megabytes, NodeIndex, NodeSeconds, Nodes, Seconds};
use bookahead::workload::{Job, JobId, JobKind};
use bookahead_testutils::runs::{
    axis, finished, identity, outcome, point, record, result, spec, text, write_run,
};

fn read_outcome(row: &Row<'_>) -> rusqlite::Result<JobOutcome> {
    let release = Seconds(row.get("release")?);
    let estimate = Seconds(row.get("estimate")?);
    let planned_start: Option<i64> = row.get("planned_start")?;
    let available: Option<f64> = row.get("available")?;
    let promise = match planned_start {
        None => None,
        Some(start) => Some(Promise {
            start: release + Seconds(start),
            end: release + Seconds(start) + estimate - Seconds(row.get("planned_cut")?),
            overbooked: row.get("overbooked")?,
            success: match available {
                None => None,
                Some(available) => Some(SuccessFactors {
                    available,
                    executable: row.get("executable")?,
                    survives: row.get("survives")?,
                }),
            },
            calibrated_pof: row.get("calibrated_pof")?,
            ratios: None,
            predecessors: row.get("predecessors")?,
        }),
    };
    let after = |value: Option<i64>| value.map(|value| release + Seconds(value));
    Ok(JobOutcome {
        job: Job {
            id: JobId(row.get("job")?),
            trace_number: row.get("trace_number")?,
            submit: Seconds(row.get("submit")?),
            release,
            estimate,
            runtime: Seconds(row.get("runtime")?),
            deadline: Seconds(row.get("deadline")?),
            nodes: Nodes(row.get("nodes")?),
            user: row.get("user")?,
            application: row.get("application")?,
            kind: JobKind::Flexible,
            memory: Megabytes(0),
        },
        verdict: Verdict::ALL[usize::from(row.get::<_, u8>("verdict")?)],
        class: row.get("class")?,
        promise,
        start: after(row.get("start")?),
        end: after(row.get("end")?),
        restarts: row.get("restarts")?,
        node_failures: row.get("node_failures")?,
        execution: None,
        late: None,
    })
}

/// The identities of a run's points, in the order of their places.
fn identities(store: &Store, run: RunId) -> Vec<String> {
    let query = "SELECT p.identity FROM run_point rp JOIN point p ON p.id = rp.point
                 WHERE rp.run = ?1 ORDER BY rp.place";
    let read = store.rows("reading identities", query, [run.0], |row| row.get(0));
    read.unwrap()
}

#[test]
fn every_field_of_a_simulation_comes_back_as_it_went_in() {
    let folder = folder();
    let path = folder.path().join("made/on/the/way/store.db");
    let points = vec![point(
        "p",
        &[
            ("a.integer", AxisValue::Integer(7)),
            ("b.real", AxisValue::Real(1.0)),
            ("c.text", text("7")),
            ("d.flag", AxisValue::Flag(true)),
        ],
        3,
        2.5,
    )];
    let axes: Vec<_> = points[0]
        .axes
        .iter()
        .map(|(key, value)| axis(key, std::slice::from_ref(value)))
        .collect();
    let mut stored = result(60);
    stored.outcomes[11].promise.as_mut().unwrap().calibrated_pof = Some(0.1 + 0.2);
    let record = record("fields", axes.clone(), 1);
    let run = write_run(
        &path,
        &record,
        vec![finished(
            "s",
            "heuristic-overbooking",
            3,
            stored.clone(),
            points,
        )],
    );

    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let connection = &connection(&store);
    let outcomes: Vec<JobOutcome> = connection
        .prepare("SELECT * FROM job_outcome o JOIN simulation m ON m.id = o.simulation JOIN job j ON j.workload = m.workload AND j.job = o.job ORDER BY o.job")
        .unwrap()
        .query_map([], read_outcome)
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(outcomes, stored.outcomes);
    let events: Vec<NodeEvent> = connection
        .prepare("SELECT time, node, up FROM node_event ORDER BY sequence")
        .unwrap()
        .query_map([], |row| {
            Ok(NodeEvent {
                time: Seconds(row.get(0)?),
                node: NodeIndex(row.get(1)?),
                up: row.get(2)?,
            })
        })
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap();
    assert_eq!(events, stored.failures.events);
    let metrics = connection
        .query_row("SELECT * FROM simulation_metrics", [], |row| {
            let number = |name: &str| row.get::<_, i64>(name).map(i64::unsigned_abs);
            Ok(SimulationMetrics {
                submitted: number("submitted")?,
                accepted: number("accepted")?,
                dropped: number("dropped")?,
                dropped_too_wide: number("dropped_too_wide")?,
                dropped_by_customer: 0,
                overbooked: number("overbooked")?,
                successful: number("successful")?,
                failed: number("failed")?,
                failed_overbooked: number("failed_overbooked")?,
                failed_nodes: number("failed_nodes")?,
                failed_unstartable: number("failed_unstartable")?,
                restarts: number("restarts")?,
                fees: NodeSeconds(row.get("fees")?),
                forfeited: NodeSeconds(row.get("forfeited")?),
                busy: NodeSeconds(row.get("busy")?),
                useful: NodeSeconds(row.get("useful")?),
                makespan: Seconds(row.get("makespan")?),
                capacity: NodeSeconds(row.get("capacity")?),
                wait_total: Seconds(row.get("wait_total")?),
                started: number("started")?,
                weighted_response: NodeSeconds(row.get("weighted_response")?),
                weighted_run: NodeSeconds(row.get("weighted_run")?),
                checkpoints: CheckpointTotals::default(),
                late: LateTotals::default(),
                double: DoubleTotals::default(),
                longer: LongerTotals::default(),
                work: WorkCounters {
                    pof_evaluations: number("pof_evaluations")?,
                    convolutions: number("convolutions")?,
                    replans: number("replans")?,
                    moves: number("moves")?,
                    ..WorkCounters::default()
                },
            })
        })
        .unwrap();
    assert_eq!(metrics, stored.metrics);

    let read = store.run(&RunSelector::Latest).unwrap();
    assert_eq!(read.id, run);
    assert_eq!(
        (
            read.state.as_str(),
            read.points,
            read.points_done,
            read.points_failed
        ),
        ("done", 1, 1, 0)
    );
    assert_eq!(
        (read.name, read.configuration, read.seed),
        (record.name, record.configuration, 1)
    );
    assert_eq!(store.axes(run).unwrap(), axes);
    let columns = store.points(run).unwrap();
    assert_eq!(identities(&store, run), ["p"]);
    assert_eq!(
        (
            columns.strategy[0].as_str(),
            columns.replication[0],
            columns.penalty_ratio[0]
        ),
        ("heuristic-overbooking", 3, 2.5)
    );
    assert_eq!(
        columns
            .axes
            .iter()
            .map(|column| column.positions[0])
            .collect::<Vec<_>>(),
        [Some(0); 4]
    );

    // The views agree with the types' own arithmetic.
    let gain: f64 = connection
        .query_row("SELECT gain FROM v_point", [], |row| row.get(0))
        .unwrap();
    assert_eq!(gain, stored.metrics.gain(2.5).0);
    let spec_text: String = connection
        .query_row("SELECT spec FROM simulation", [], |row| row.get(0))
        .unwrap();
    assert_eq!(
        bookahead::sweep::SimulationSpec::read(&spec_text, STUDIES).unwrap(),
        spec("heuristic-overbooking", 3)
    );
    let (fee, penalty): (f64, f64) = connection
        .query_row("SELECT sum(fee), sum(penalty) FROM v_job", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert!((fee - stored.metrics.fees.coins().0).abs() < 1e-9);
    assert!((penalty - stored.metrics.forfeited.coins().0).abs() < 1e-9);
    let pof: f64 = connection
        .query_row("SELECT pof FROM v_job WHERE job = 4", [], |row| row.get(0))
        .unwrap();
    assert_eq!(pof, outcome(4).promise.unwrap().success.unwrap().pof());
    let (pof, raw): (f64, f64) = connection
        .query_row("SELECT pof, raw_pof FROM v_job WHERE job = 11", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .unwrap();
    assert_eq!(
        (Some(pof), Some(raw)),
        (Some(0.1 + 0.2), outcome(11).promise.unwrap().raw_pof())
    );
    let planned_end: i64 = connection
        .query_row("SELECT planned_end FROM v_job WHERE job = 4", [], |row| {
            row.get(0)
        })
        .unwrap();
    assert_eq!(planned_end, outcome(4).promise.unwrap().end.0);
}

#[test]
fn simulations_of_the_same_jobs_share_the_rows_of_their_jobs() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let runs = ["a", "b", "c"].map(|id| finished(id, "fcfs", 0, result(30), vec![]));
    write_run(&path, &record("shared", vec![], 0), runs.to_vec());
    let store = Store::open(STUDIES, &path).unwrap();
    assert_eq!(count(&connection(&store), "SELECT count(*) FROM job"), 30);
    assert_eq!(count(&connection(&store), "SELECT count(*) FROM v_job"), 90);
    assert_eq!(
        count(
            &connection(&store),
            "SELECT count(*) FROM pragma_foreign_key_check"
        ),
        0
    );
}

#[test]
fn points_of_an_earlier_run_are_linked_and_failures_do_not_count_as_done() {
    let folder = folder();
    let path = folder.path().join("store.db");
    let axes = vec![axis("x", &[AxisValue::Integer(1), AxisValue::Integer(2)])];
    let one = point("one", &[("x", AxisValue::Integer(1))], 0, 1.0);
    let two = point("two", &[("x", AxisValue::Integer(2))], 0, 1.0);
    let store = Store::open(STUDIES, &path).unwrap();
    let run = store.begin_run(&record("first", axes.clone(), 2)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::Metrics, 1);
    let handle = writer.handle();
    handle
        .write(finished("s1", "fcfs", 0, result(9), vec![one.clone()]))
        .unwrap();
    handle
        .fail(FailedSimulation {
            id: identity("s2"),
            spec: spec("fcfs", 0),
            workload_label: "w".to_owned(),
            error: "a policy panicked".to_owned(),
            points: vec![two.clone()],
        })
        .unwrap();
    let summary = writer.finish(RunState::Done).unwrap();
    assert_eq!(
        (
            summary.simulations,
            summary.failed,
            summary.points,
            summary.job_rows,
            summary.node_event_rows
        ),
        (1, 1, 2, 0, 0)
    );
    // A handle that outlives the writer hears why nothing is written any more.
    let refused = handle
        .write(finished("s3", "fcfs", 0, result(1), vec![]))
        .unwrap_err();
    assert!(refused.to_string().contains("finished before"), "{refused}");

    let store = Store::open(STUDIES, &path).unwrap();
    let done = store
        .done_points(["one", "two", "three"].map(identity), OutcomeDetail::None)
        .unwrap();
    assert_eq!(done.into_iter().collect::<Vec<_>>(), [identity("one")]);
    assert!(
        store
            .done_points([identity("one")], OutcomeDetail::All)
            .unwrap()
            .is_empty()
    );
    let failed = store.failed_points(run).unwrap();
    assert_eq!(
        (
            failed[0].identity.as_str(),
            failed[0].error.as_str(),
            failed[0].attempts
        ),
        ("two", "a policy panicked", 1)
    );
    assert_eq!(failed[0].axes, r#"{"x":2}"#);

    let second = store.begin_run(&record("second", axes, 2)).unwrap();
    assert_eq!(
        store
            .link_done_points(second, &[one.clone(), two.clone()])
            .unwrap(),
        1
    );
    assert_eq!(store.link_done_points(second, &[one]).unwrap(), 1);
    let writer = Writer::start(store, second, OutcomeDetail::All, 1);
    writer
        .handle()
        .write(finished("s2", "fcfs", 0, result(9), vec![two.clone()]))
        .unwrap();
    // The first simulation again, now with its jobs: the detail is added.
    writer
        .handle()
        .write(finished("s1", "fcfs", 0, result(9), vec![]))
        .unwrap();
    writer
        .handle()
        .write(finished("s1", "fcfs", 0, result(9), vec![]))
        .unwrap();
    let summary = writer.finish(RunState::Done).unwrap();
    assert_eq!((summary.simulations, summary.already_there), (2, 1));
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    assert_eq!(identities(&store, second), ["one", "two"]);
    assert_eq!(
        count(&connection(&store), "SELECT count(*) FROM job_outcome"),
        18
    );
    assert_eq!(
        count(
            &connection(&store),
            "SELECT attempts FROM simulation WHERE identity = 's2'"
        ),
        2
    );
    assert_eq!(
        count(
            &connection(&store),
            "SELECT count(*) FROM simulation WHERE error IS NOT NULL"
        ),
        0
    );
    assert_eq!(
        store
            .runs()
            .unwrap()
            .iter()
            .map(|run| run.points_done)
            .collect::<Vec<_>>(),
        [2, 2]
    );
    let missing = store
        .run(&RunSelector::Name("third".to_owned()))
        .unwrap_err();
    assert!(
        missing.to_string().contains("2 (second), 1 (first)"),
        "{missing}"
    );
}
