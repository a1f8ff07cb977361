//! What goes wrong: simulations that panic or refuse, observers that panic, and stores that break.

use kameo::actor::{Actor, ActorRef, Spawn};
use kameo::mailbox;
use kameo::message::{Context, Message};

use super::*;

#[test]
fn a_worker_whose_simulation_panics_is_restarted_and_only_the_points_of_that_one_fail() {
    let sweep = sweep();
    for workers in [1, 3] {
        let memory = Arc::new(Memory::default());
        let threads: Arc<Mutex<HashSet<ThreadId>>> = Arc::default();
        let seen = Arc::clone(&threads);
        let simulate = Fake(move |spec| {
            let thread = std::thread::current();
            assert!(
                thread
                    .name()
                    .is_some_and(|name| name.starts_with("worker-"))
            );
            seen.lock().expect("whole").insert(thread.id());
            let planning = spec.scheduling.strategy == "heuristic-planning";
            assert!(
                !(planning && spec.replication == 2),
                "no luck with battery {}",
                spec.replication
            );
        });
        let tally = run(&sweep, workers, simulate, &memory).expect("a sound sink");
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
        if workers == 1 {
            // The one before the panic and the one after it.
            assert_eq!(threads.lock().expect("whole").len(), 2);
        }
    }
}

#[test]
fn where_every_simulation_panics_all_points_are_entered_as_failed() {
    let sweep = sweep();
    let memory = Arc::new(Memory::default());
    let simulate = Fake(|spec| panic!("battery {}", spec.replication));
    let tally = run(&sweep, 2, simulate, &memory).expect("a sound sink");
    assert_eq!((tally.failed_simulations, tally.failed_points), (35, 45));
    assert_eq!(tally.left_out, 0);
    assert_eq!(memory.failed.lock().expect("whole").len(), 35);
}

#[test]
fn an_observer_that_panics_does_not_stop_the_sweep() {
    struct Fearful;
    impl Observer for Fearful {
        fn ended(&self, _: &[&Point], _: Duration, _: Option<&str>) {
            panic!("no terminal");
        }
    }
    let sweep = sweep();
    let memory = Arc::new(Memory::default());
    let tally = work_off(SweepWork {
        observer: Arc::new(Fearful),
        ..work(&sweep, 2, Fake(|_| ()), &memory)
    });
    assert_eq!(tally.expect("a sound sink").points, 45);
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
    let memory = Arc::new(Memory::default());
    let tally = run(&sweep, 2, Refusing, &memory).expect("a sound sink");
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
fn a_broken_store_stops_the_sweep_with_its_reason() {
    let sweep = sweep();
    let (sender, receiver) = sync_channel(40);
    drop(receiver);
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let simulate = Fake(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let error = run(&sweep, 2, simulate, &Arc::new(Slow(sender))).expect_err("a broken sink");
    assert_eq!(error.to_string(), "the disk is full");
    assert!(ran.load(Ordering::SeqCst) <= 2);
}

#[test]
fn a_worker_that_panics_outside_of_a_simulation_stops_the_sweep_with_the_reason() {
    struct Broken;
    impl ResultSink for Broken {
        fn write(&self, _: FinishedSimulation) -> Result<(), SinkError> {
            Ok(())
        }
        fn fail(&self, _: FailedSimulation) -> Result<(), SinkError> {
            Ok(())
        }
        fn progress(&self, _: &str) -> SimulationProgress {
            panic!("no such table")
        }
    }
    let error = run(&sweep(), 2, Fake(|_| ()), &Arc::new(Broken)).expect_err("a broken sink");
    assert_eq!(
        error.to_string(),
        "a worker stopped outside of a simulation: no such table"
    );
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
    let picky = Arc::new(Picky(Memory::default()));
    let tally = run(&sweep, 4, Fake(|_| ()), &picky).expect("a sound sink");
    assert_eq!((tally.simulations, tally.failed_simulations), (28, 7));
}

/// A sink with an actor behind it, which dies of the third result; nobody who hands it something is
/// told.
struct Mortal(ActorRef<Keeper>);

struct Keeper(usize);

struct Keep;

impl Actor for Keeper {
    type Args = Self;
    type Error = SinkError;

    async fn on_start(keeper: Self, _: ActorRef<Self>) -> Result<Self, SinkError> {
        Ok(keeper)
    }
}

impl Message<Keep> for Keeper {
    type Reply = Result<(), SinkError>;

    async fn handle(&mut self, _: Keep, _: &mut Context<Self, Self::Reply>) -> Self::Reply {
        self.0 += 1;
        if self.0 == 3 {
            return Err(SinkError::Stopped("the disk is gone".to_owned()));
        }
        Ok(())
    }
}

impl ResultSink for Mortal {
    fn write(&self, _: FinishedSimulation) -> Result<(), SinkError> {
        let _ = self.0.tell(Keep).blocking_send();
        // Time to die in.
        std::thread::sleep(Duration::from_millis(25));
        Ok(())
    }

    fn fail(&self, _: FailedSimulation) -> Result<(), SinkError> {
        Ok(())
    }

    fn link(&self, coordinator: &ActorRef<Coordinator>) {
        self.0.blocking_link(coordinator);
    }
}

#[test]
fn a_writer_that_dies_stops_the_sweep_with_its_reason_before_anybody_finds_it_gone() {
    let sweep = sweep();
    let prepared = Keeper::prepare_with_mailbox(mailbox::bounded(1));
    let mortal = Arc::new(Mortal(prepared.actor_ref().clone()));
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(async {
            let ended = prepared.run(Keeper(0)).await;
            all_end().await;
            assert!(ended.is_ok());
        });
    });
    let ran = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&ran);
    let simulate = Fake(move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
    });
    let error = run(&sweep, 2, simulate, &mortal).expect_err("a dead sink");
    assert_eq!(error.to_string(), "the disk is gone");
    let ran = ran.load(Ordering::SeqCst);
    assert!((3..20).contains(&ran), "{ran} simulations");
    thread.join().expect("no panic");
}
