//! Sweeps, results and stores for the tests of this module and of the reports.

pub mod grid;
pub mod provisioning;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bookahead_core::failures::{FailureSettings, FailureSource, FailureTrace, NodeEvent};
use bookahead_core::scheduling::{
    JobOutcome, PolicySpec, Promise, SimulationMetrics, SuccessFactors, Verdict, WorkCounters,
};
use bookahead_core::units::{NodeIndex, NodeSeconds, Nodes, Seconds};
use bookahead_core::workload::{Compression, Job, JobId, WorkloadSettings, WorkloadSource};
use bookahead_lab::store::{
    FinishedSimulation, OutcomeDetail, RunId, RunRecord, RunState, Store, Writer,
};
use bookahead_lab::study::SimulationResult;
use bookahead_lab::study::StudySpec;
use bookahead_lab::sweep::{
    Axis, AxisValue, Identity, Point, RESULT_FORMAT, Seen, SimulationSpec, digest,
};
use bookahead_studies::STUDIES;

/// A value of an axis.
pub fn text(value: &str) -> AxisValue {
    AxisValue::Text(value.to_owned())
}

/// An axis.
pub fn axis(key: &str, values: &[AxisValue]) -> Axis {
    Axis {
        key: key.to_owned(),
        values: values.to_vec(),
    }
}

/// A run that has yet to begin.
pub fn record(name: &str, axes: Vec<Axis>, points: u64) -> RunRecord {
    RunRecord {
        name: name.to_owned(),
        description: "A run for tests.".to_owned(),
        source: None,
        configuration: format!("[experiment]\nname = \"{name}\"\n"),
        seed: 1,
        replications: 2,
        program_version: "0.1.0".to_owned(),
        program_commit: None,
        result_format: RESULT_FORMAT,
        machine_cores: 4,
        machine_os: "test".to_owned(),
        points,
        axes,
        inputs: Vec::new(),
        losses: Vec::new(),
        machines: Vec::new(),
    }
}

/// A name in the place of a digest; one that is too long is digested.
pub fn identity(name: &str) -> Identity {
    Identity::from(name).unwrap_or_else(|_| digest(name))
}

/// A specification of a model workload under a policy.
pub fn spec(strategy: &str, replication: u32) -> SimulationSpec {
    SimulationSpec {
        workload: WorkloadSettings {
            evaluation_jobs: 50,
            battery_jobs: 25,
            compression: Compression::Factor { factor: 0.5 },
            ..WorkloadSettings::of(WorkloadSource::LublinFeitelson { jobs: 100 }, Nodes(64))
        },
        estimates: None,
        failures: FailureSettings {
            source: FailureSource::None,
            offset: Seconds(0),
        },
        scheduling: PolicySpec::named(strategy),
        study: StudySpec::of(bookahead_overbooking::study::OverbookingStudy::default()),
        replication,
        seed: 1,
    }
}

/// A point at these values of its axes, of a risk test with this penalty ratio.
pub fn point(id: &str, axes: &[(&str, AxisValue)], replication: u32, ratio: f64) -> Point {
    // Places only have to differ within a run; a short hash of everything that tells points apart
    // will do.
    let place = format!("{id} {axes:?} {replication}")
        .bytes()
        .fold(2_166_136_261_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(16_777_619)
        });
    Point {
        id: identity(id),
        simulation: 0,
        axes: axes
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.clone()))
            .collect(),
        penalty_ratio: ratio,
        replication,
        place,
    }
}

/// A plausible outcome of every kind in turn, but for jobs whose customers leave: their number is
/// no column of the store.
pub fn outcome(id: u32) -> JobOutcome {
    let kinds = Verdict::ALL.len() - 1;
    let verdict = Verdict::ALL[id as usize % kinds];
    let release = Seconds(i64::from(id) * 137);
    let accepted = !verdict.is_dropped();
    let overbooked = accepted && !id.is_multiple_of(3);
    let (number, submit) = (i64::from(id), release - Seconds(i64::from(id % 2) * 30));
    let job = Job::rigid(
        JobId(id),
        submit,
        Nodes(1 + id % 64),
        Seconds(3_600 + number),
    )
    .running_for(Seconds(1_800 + number))
    .released_at(release)
    .due_by(release + Seconds(7_200))
    .numbered(40_000 + number)
    .of_user((!id.is_multiple_of(5)).then_some(i64::from(id % 40)))
    .of_application((!id.is_multiple_of(4)).then_some(i64::from(id % 90)));
    JobOutcome {
        job,
        verdict,
        class: overbooked.then_some((id % 7) as u16),
        promise: accepted.then(|| Promise {
            start: release + Seconds(i64::from(id % 3_000)),
            end: release
                + Seconds(i64::from(id % 3_000) + 3_600 + i64::from(id))
                + Seconds(if overbooked { -900 } else { 0 }),
            overbooked,
            success: overbooked.then(|| SuccessFactors {
                available: 0.999 - f64::from(id) * 1e-9,
                executable: 0.8 + 0.1 / f64::from(id + 1),
                survives: 0.97,
            }),
            calibrated_pof: None,
            ratios: None,
            predecessors: id % 4,
        }),
        start: accepted.then(|| release + Seconds(i64::from(id % 2_000))),
        end: accepted.then(|| release + Seconds(i64::from(id % 2_000) + 1_800)),
        restarts: u32::from(id.is_multiple_of(50)),
        node_failures: u32::from(id.is_multiple_of(50)) * 2,
        execution: None,
        late: None,
    }
}

/// A job whose overbooked slot was promised with a raw and perhaps a calibrated probability of
/// failure.
pub fn promised(id: u32, raw: f64, calibrated: Option<f64>, failed: bool) -> JobOutcome {
    // An accepted, overbooked one of the fixtures.
    let mut made = outcome(4);
    made.job.id = JobId(id);
    made.verdict = if failed {
        Verdict::FailedOverbooked
    } else {
        Verdict::SuccessfulFinished
    };
    let promise = made.promise.as_mut().unwrap();
    promise.success = Some(SuccessFactors {
        available: 1.0,
        executable: 1.0 - raw,
        survives: 1.0,
    });
    promise.calibrated_pof = calibrated;
    made
}

/// A result with so many outcomes.
pub fn result(jobs: u32) -> SimulationResult {
    let outcomes: Vec<JobOutcome> = (0..jobs).map(outcome).collect();
    let mut metrics = SimulationMetrics {
        busy: NodeSeconds(123_456),
        makespan: Seconds(10_000),
        capacity: NodeSeconds(640_000),
        work: WorkCounters {
            pof_evaluations: 11,
            convolutions: 12,
            replans: 13,
            moves: 14,
            ..WorkCounters::default()
        },
        ..SimulationMetrics::default()
    };
    for outcome in &outcomes {
        metrics.count(outcome);
    }
    SimulationResult {
        metrics,
        outcomes,
        failures: Arc::new(FailureTrace {
            events: vec![
                NodeEvent {
                    time: Seconds(100),
                    node: NodeIndex(3),
                    up: false,
                },
                NodeEvent {
                    time: Seconds(700),
                    node: NodeIndex(3),
                    up: true,
                },
            ],
        }),
        ..SimulationResult::default()
    }
}

/// Simulations of one replication saw the same jobs, and no failures, unless the result says what
/// it saw.
pub fn finished(
    id: &str,
    strategy: &str,
    replication: u32,
    mut result: SimulationResult,
    points: Vec<Point>,
) -> FinishedSimulation {
    if !result.seen.is_known() {
        result.seen = seen(&format!("jobs {replication}"), "none");
    }
    FinishedSimulation {
        id: identity(id),
        spec: spec(strategy, replication),
        workload_label: "test workload".to_owned(),
        result,
        wall: Duration::from_millis(5),
        points,
    }
}

/// Names in the place of hashes.
pub fn seen(jobs: &str, failures: &str) -> Seen {
    Seen {
        jobs: Some(identity(jobs)),
        failures: Some(identity(failures)),
    }
}

/// Writes finished simulations into a new run.
pub fn write_run(path: &Path, record: &RunRecord, simulations: Vec<FinishedSimulation>) -> RunId {
    let store = Store::open(STUDIES, path).unwrap();
    let run = store.begin_run(record).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 4);
    let handle = writer.handle();
    for simulation in simulations {
        handle.write(simulation).unwrap();
    }
    writer.finish(RunState::Done).unwrap();
    run
}
