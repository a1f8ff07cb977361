//! The coordinator with simulations that are made up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::*;
use crate::scheduling::SimulationMetrics;
use crate::sweep::{ContentHashes, Experiment};

const TEXT: &str = r#"[experiment]
name = "fake"
replications = 5
[workload]
model = "lublin-feitelson"
jobs = 5000
nodes = 128
battery_jobs = 100
target_load = 2.0
[[axis]]
key = "scheduling.strategy"
values = ["heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.2, 0.3]
"#;

fn sweep() -> Sweep {
    let mut sweep = Experiment::parse("fake.toml", TEXT, None)
        .expect("valid")
        .sweep;
    let hashes = |_: &SimulationSpec| -> Result<_, std::convert::Infallible> {
        Ok(ContentHashes {
            workload: "fake".to_owned(),
            ..Default::default()
        })
    };
    let Ok(()) = sweep.identify(|specs| specs.iter().map(hashes).collect());
    sweep
}

fn all_tasks(sweep: &Sweep) -> Vec<Task> {
    tasks(sweep, &HashSet::new(), &CostModel::default())
}

/// A result that follows from the specification alone.
struct Fake<F: Fn(&SimulationSpec) + Sync>(F);

impl<F: Fn(&SimulationSpec) + Sync> Simulate for Fake<F> {
    fn simulate(&self, spec: &SimulationSpec) -> Result<SimulationResult, String> {
        (self.0)(spec);
        let threshold = (spec.scheduling.acceptance.threshold() * 1000.0) as u64;
        let metrics = SimulationMetrics {
            submitted: u64::from(spec.replication),
            accepted: threshold + spec.scheduling.strategy.len() as u64,
            ..SimulationMetrics::default()
        };
        Ok(SimulationResult {
            metrics,
            ..SimulationResult::default()
        })
    }

    fn workload_label(&self, _: &SimulationSpec) -> String {
        "fake".to_owned()
    }
}

#[derive(Default)]
struct Memory {
    done: Mutex<Vec<FinishedSimulation>>,
    failed: Mutex<Vec<FailedSimulation>>,
}

impl ResultSink for Memory {
    fn write(&self, finished: FinishedSimulation) -> Result<(), SinkError> {
        self.done.lock().expect("whole").push(finished);
        Ok(())
    }

    fn fail(&self, failed: FailedSimulation) -> Result<(), SinkError> {
        self.failed.lock().expect("whole").push(failed);
        Ok(())
    }
}

impl Memory {
    /// What a store would hold, in an order of its own: point by identity and axes, with its numbers.
    fn content(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for finished in self.done.lock().expect("whole").iter() {
            for point in &finished.points {
                lines.push(format!(
                    "{} {} {:?} {:?}",
                    finished.id, point.id, point.axes, finished.result.metrics
                ));
            }
        }
        lines.sort();
        lines
    }
}

fn run(
    sweep: &Sweep,
    workers: usize,
    simulate: &dyn Simulate,
    sink: &dyn ResultSink,
) -> Result<Tally, SinkError> {
    work_off(
        sweep,
        &all_tasks(sweep),
        workers,
        simulate,
        sink,
        &(),
        &Interrupt::new(),
    )
}

#[test]
fn one_worker_and_four_give_the_same_content() {
    let sweep = sweep();
    let mut contents = Vec::new();
    for workers in [1, 4] {
        let memory = Memory::default();
        let tally = run(&sweep, workers, &Fake(|_| ()), &memory).expect("a sound sink");
        // 5 batteries × (1 baseline + 2 × 3 thresholds); every combination has its points.
        assert_eq!((tally.simulations, tally.points), (35, 45));
        contents.push(memory.content());
    }
    assert_eq!(contents[0].len(), 45);
    assert_eq!(contents[0], contents[1]);
}

#[test]
fn the_dearest_simulations_come_first() {
    let sweep = sweep();
    let tasks = all_tasks(&sweep);
    assert!(
        tasks
            .windows(2)
            .all(|pair| pair[0].seconds >= pair[1].seconds)
    );
    let first = &sweep.simulations.kind(tasks[0].simulation).scheduling;
    assert_eq!(
        (first.strategy.as_str(), first.acceptance.threshold()),
        ("comprehensive-overbooking", 0.3)
    );
    let recorded = BTreeMap::from([("heuristic-planning".to_owned(), 1.0)]);
    let tasks = super::tasks(&sweep, &HashSet::new(), &CostModel::new(recorded));
    assert_eq!(
        sweep
            .simulations
            .kind(tasks[0].simulation)
            .scheduling
            .strategy,
        "heuristic-planning"
    );
}

#[test]
fn points_that_are_done_are_not_run_again() {
    let sweep = sweep();
    let done: HashSet<Identity> = sweep.points.iter().take(44).map(|point| point.id).collect();
    let tasks = tasks(&sweep, &done, &CostModel::default());
    assert_eq!(tasks.len(), 1);
    assert_eq!(tasks[0].points, [44]);
}

#[test]
fn a_panic_fails_its_own_points_and_nothing_else() {
    let sweep = sweep();
    let simulate = Fake(|spec| {
        let planning = spec.scheduling.strategy == "heuristic-planning";
        assert!(
            !(planning && spec.replication == 2),
            "no luck with battery {}",
            spec.replication
        );
    });
    for workers in [1, 3] {
        let memory = Memory::default();
        let tally = run(&sweep, workers, &simulate, &memory).expect("a sound sink");
        assert_eq!(
            (
                tally.simulations,
                tally.failed_simulations,
                tally.failed_points
            ),
            (34, 1, 3)
        );
        let failed = memory.failed.lock().expect("whole");
        assert_eq!(
            failed[0].error,
            "the simulation panicked: no luck with battery 2"
        );
        assert_eq!(failed[0].points.len(), 3);
    }
}

#[test]
fn an_error_of_a_simulation_is_kept_with_its_points() {
    struct Refusing;
    impl Simulate for Refusing {
        fn simulate(&self, _: &SimulationSpec) -> Result<SimulationResult, String> {
            Err("not today".to_owned())
        }
        fn workload_label(&self, _: &SimulationSpec) -> String {
            String::new()
        }
    }
    let sweep = sweep();
    let memory = Memory::default();
    let tally = run(&sweep, 2, &Refusing, &memory).expect("a sound sink");
    assert_eq!((tally.failed_simulations, tally.failed_points), (35, 45));
    assert!(
        memory
            .failed
            .lock()
            .expect("whole")
            .iter()
            .all(|failed| failed.error == "not today")
    );
}

#[test]
fn a_wish_to_stop_ends_the_simulations_under_way_and_begins_no_other() {
    let sweep = sweep();
    let interrupt = Interrupt::new();
    let begun = AtomicUsize::new(0);
    let simulate = Fake(|_| {
        if begun.fetch_add(1, Ordering::SeqCst) == 3 {
            interrupt.request();
        }
    });
    let memory = Memory::default();
    let tally = work_off(
        &sweep,
        &all_tasks(&sweep),
        1,
        &simulate,
        &memory,
        &(),
        &interrupt,
    )
    .expect("a sound sink");
    assert_eq!((tally.simulations, tally.left_out), (4, 31));
    assert_eq!(memory.done.lock().expect("whole").len(), 4);
}

/// A store whose writer is slow: a bounded queue with a consumer behind it.
struct Slow(SyncSender<FinishedSimulation>);

impl ResultSink for Slow {
    fn write(&self, finished: FinishedSimulation) -> Result<(), SinkError> {
        self.0
            .send(finished)
            .map_err(|_| SinkError::Stopped("the disk is full".to_owned()))
    }

    fn fail(&self, _: FailedSimulation) -> Result<(), SinkError> {
        Ok(())
    }
}

#[test]
fn workers_wait_for_a_slow_store_instead_of_piling_up_results() {
    let sweep = sweep();
    let (sender, receiver): (_, Receiver<FinishedSimulation>) = sync_channel(2);
    let made = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&made);
    let consumer = std::thread::spawn(move || {
        let mut taken = 0;
        let mut most = 0;
        while receiver.recv().is_ok() {
            std::thread::sleep(Duration::from_millis(2));
            taken += 1;
            most = most.max(counter.load(Ordering::SeqCst).saturating_sub(taken));
        }
        (taken, most)
    });
    let simulate = Fake(|_| {
        made.fetch_add(1, Ordering::SeqCst);
    });
    run(&sweep, 3, &simulate, &Slow(sender)).expect("a sound sink");
    let (taken, most) = consumer.join().expect("no panic");
    assert_eq!(taken, 35);
    // Two in the queue, and one in the hands of each of three workers.
    assert!(most <= 2 + 3, "{most} results waited");
}

#[test]
fn a_broken_store_stops_the_sweep_with_its_reason() {
    let sweep = sweep();
    let (sender, receiver) = sync_channel(40);
    drop(receiver);
    let ran = AtomicUsize::new(0);
    let simulate = Fake(|_| {
        ran.fetch_add(1, Ordering::SeqCst);
    });
    let error = run(&sweep, 2, &simulate, &Slow(sender)).expect_err("a broken sink");
    assert_eq!(error.to_string(), "the disk is full");
    assert!(ran.load(Ordering::SeqCst) <= 2);
}

#[test]
fn a_refused_result_fails_its_points_only() {
    struct Picky(Memory);
    impl ResultSink for Picky {
        fn write(&self, finished: FinishedSimulation) -> Result<(), SinkError> {
            if finished.spec.replication == 0 {
                return Err(SinkError::Refused("no number".to_owned()));
            }
            self.0.write(finished)
        }
        fn fail(&self, failed: FailedSimulation) -> Result<(), SinkError> {
            self.0.fail(failed)
        }
    }
    let sweep = sweep();
    let picky = Picky(Memory::default());
    let tally = run(&sweep, 4, &Fake(|_| ()), &picky).expect("a sound sink");
    assert_eq!((tally.simulations, tally.failed_simulations), (28, 7));
}
