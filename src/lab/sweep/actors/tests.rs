//! The actors of a sweep with simulations that are made up.

mod failures;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use super::*;
use crate::scheduling::SimulationMetrics;
use crate::study::SimulationResult;
use crate::study::testing::STUDIES;
use crate::sweep::{
    ContentHashes, CostModel, Experiment, FailedSimulation, FinishedSimulation, Identity,
    Interrupt, Point, SimulationProgress, SimulationSpec, Sweep, Task, tasks,
};

const TEXT: &str = r#"[experiment]
name = "fake"
replications = 5
[workload]
model = "lublin-feitelson"
jobs = 5000
nodes = 128
battery_jobs = 100
load.value = 2.0
[[axis]]
key = "scheduling.strategy"
values = ["heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
values = [0.1, 0.2, 0.3]
"#;

fn sweep() -> Arc<Sweep> {
    let mut sweep = Experiment::parse(STUDIES, "fake.toml", TEXT, None)
        .expect("valid")
        .sweep;
    let hashes = |_: &SimulationSpec| -> Result<_, std::convert::Infallible> {
        Ok(ContentHashes {
            workload: "fake".to_owned(),
            ..Default::default()
        })
    };
    let Ok(()) = sweep.identify(|specs| specs.iter().map(hashes).collect());
    Arc::new(sweep)
}

fn all(sweep: &Sweep) -> Vec<usize> {
    (0..sweep.points.len()).collect()
}

fn all_tasks(sweep: &Sweep) -> Vec<Task> {
    tasks(sweep, &all(sweep), &HashSet::new(), &CostModel::default())
}

/// A result that follows from the specification alone.
struct Fake<F: Fn(&SimulationSpec)>(F);

impl<F: Fn(&SimulationSpec) + Send + Sync> Simulate for Fake<F> {
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
    /// What a store would hold, in an order of its own: point by identity and axes, with its
    /// numbers.
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

fn work(
    sweep: &Arc<Sweep>,
    workers: usize,
    simulate: impl Simulate + 'static,
    sink: &Arc<impl ResultSink + 'static>,
) -> SweepWork {
    SweepWork {
        sweep: Arc::clone(sweep),
        tasks: all_tasks(sweep).into(),
        workers,
        simulate: Arc::new(simulate),
        sink: Arc::clone(sink) as _,
        observer: Arc::new(()),
        interrupt: Interrupt::new(),
    }
}

fn run(
    sweep: &Arc<Sweep>,
    workers: usize,
    simulate: impl Simulate + 'static,
    sink: &Arc<impl ResultSink + 'static>,
) -> Result<Tally, SinkError> {
    work_off(work(sweep, workers, simulate, sink))
}

#[test]
fn one_worker_and_four_give_the_same_content() {
    let sweep = sweep();
    let mut contents = Vec::new();
    for workers in [1, 4] {
        let memory = Arc::new(Memory::default());
        let tally = run(&sweep, workers, Fake(|_| ()), &memory).expect("a sound sink");
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
    let tasks = crate::sweep::tasks(
        &sweep,
        &all(&sweep),
        &HashSet::new(),
        &CostModel::new(recorded),
    );
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
    let tasks = tasks(&sweep, &all(&sweep), &done, &CostModel::default());
    assert_eq!(tasks.len(), 1);
    assert_eq!(tasks[0].points, [44]);
}

#[test]
fn every_simulation_is_seen_to_begin_or_to_travel_with_one_that_does_and_to_end() {
    #[derive(Default)]
    struct Counting {
        begun: AtomicUsize,
        points: AtomicUsize,
    }
    impl Observer for Counting {
        fn started(&self, points: &[&Point]) {
            assert!(!points.is_empty());
            self.begun.fetch_add(1, Ordering::SeqCst);
        }
        fn ended(&self, points: &[&Point], _: Duration, error: Option<&str>) {
            assert_eq!(error, None);
            self.points.fetch_add(points.len(), Ordering::SeqCst);
        }
    }
    let sweep = sweep();
    let memory = Arc::new(Memory::default());
    let counting = Arc::new(Counting::default());
    let tally = work_off(SweepWork {
        observer: Arc::clone(&counting) as _,
        ..work(&sweep, 2, Fake(|_| ()), &memory)
    });
    assert_eq!(tally.expect("a sound sink").points, 45);
    assert_eq!(counting.points.load(Ordering::SeqCst), 45);
    assert!((1..=35).contains(&counting.begun.load(Ordering::SeqCst)));
}

#[test]
fn a_wish_to_stop_ends_the_simulations_under_way_and_begins_no_other() {
    let sweep = sweep();
    let memory = Arc::new(Memory::default());
    let interrupt = Interrupt::new();
    let wish = interrupt.clone();
    let begun = AtomicUsize::new(0);
    let simulate = Fake(move |_| {
        if begun.fetch_add(1, Ordering::SeqCst) == 3 {
            wish.request();
        }
    });
    let tally = work_off(SweepWork {
        interrupt,
        ..work(&sweep, 1, simulate, &memory)
    })
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
        while receiver.recv_timeout(Duration::from_secs(60)).is_ok() {
            std::thread::sleep(Duration::from_millis(2));
            taken += 1;
            most = most.max(counter.load(Ordering::SeqCst).saturating_sub(taken));
        }
        (taken, most)
    });
    let simulate = Fake(move |_| {
        made.fetch_add(1, Ordering::SeqCst);
    });
    run(&sweep, 3, simulate, &Arc::new(Slow(sender))).expect("a sound sink");
    let (taken, most) = consumer.join().expect("no panic");
    assert_eq!(taken, 35);
    // Two in the queue, and one in the hands of each of three workers.
    assert!(most <= 2 + 3, "{most} results waited");
}

#[test]
fn when_a_sweep_is_over_nothing_of_it_is_kept() {
    let sweep = sweep();
    let memory = Arc::new(Memory::default());
    let simulate = Fake(|spec| assert_ne!(spec.replication, 3));
    run(&sweep, 2, simulate, &memory).expect("a sound sink");
    assert_eq!(Arc::strong_count(&memory), 1);
    assert_eq!(Arc::strong_count(&sweep), 1);
}

#[test]
fn what_another_program_has_under_way_is_looked_at_again_until_it_is_done() {
    /// The first looks find everything under way elsewhere, later ones find it done.
    #[derive(Default)]
    struct Shared {
        looks: AtomicUsize,
        adopted: AtomicUsize,
    }
    impl ResultSink for Shared {
        fn write(&self, _: FinishedSimulation) -> Result<(), SinkError> {
            panic!("nothing is left to simulate");
        }
        fn fail(&self, _: FailedSimulation) -> Result<(), SinkError> {
            panic!("nothing is left to fail");
        }
        fn adopt(&self, _: &str, points: Vec<Point>) -> Result<(), SinkError> {
            self.adopted.fetch_add(points.len(), Ordering::SeqCst);
            Ok(())
        }
        fn progress(&self, _: &str) -> SimulationProgress {
            if self.looks.fetch_add(1, Ordering::SeqCst) < 80 {
                SimulationProgress::Elsewhere
            } else {
                SimulationProgress::Done
            }
        }
    }
    let sweep = sweep();
    let shared = Arc::new(Shared::default());
    let tally = run(&sweep, 2, Fake(|_| ()), &shared).expect("a sound sink");
    assert_eq!((tally.adopted_points, tally.left_out), (45, 0));
    assert_eq!(shared.adopted.load(Ordering::SeqCst), 45);
    assert_eq!(shared.looks.load(Ordering::SeqCst), 80 + 35);
}
