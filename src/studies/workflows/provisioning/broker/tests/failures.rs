//! Failures of processors that run tasks.

use super::*;

/// A chain of three tasks that take the whole machine: whichever processor fails, the running task
/// is lost.
#[test]
fn a_lost_task_and_what_waits_for_it_is_planned_again_and_its_slots_are_paid_twice() {
    // On free rectangles what is given back is a hole of its own, too short for the task.
    let kinds = [
        (queried(), SearchMethod::Greedy, 3),
        // One slot has begun for all three, and lasts until 4 h.
        (queried(), SearchMethod::SingleSlot, 4),
        (rectangles(), SearchMethod::Moga, 4),
    ];
    for (provider, search, again) in kinds {
        let settings = settings_of(provider, search, Wish::TradeOff { alpha: 0.0 });
        let site = failing_at(workload(4, Vec::new()), HOUR * 2);
        let application = chain(4, &[1, 2, 1]);
        let run = run_one(site, application, &settings, &[Seconds::ZERO]);
        let outcome = &run.outcomes[0];
        let told: Vec<_> = outcome
            .tasks
            .iter()
            .map(|run| (run.task, run.start.0 / 3_600, run.end.0 / 3_600, run.fate))
            .collect();
        assert_eq!(
            told,
            [
                (0, 0, 1, TaskFate::Done),
                (1, 1, 2, TaskFate::Lost),
                (2, 3, 4, TaskFate::Abandoned),
                // What is left of the slot that has begun stays with the lost task.
                (1, again, again + 2, TaskFate::Done),
                (2, again + 2, again + 3, TaskFate::Done),
            ],
            "{search:?}"
        );
        let realised = outcome.realised;
        assert_eq!((realised.lost_tasks, realised.reprovisioned), (1, 1));
        assert!(realised.completed);
        assert_eq!(realised.makespan, HOUR * (again + 3));
        assert_eq!(outcome.planned.unwrap().makespan, HOUR * 4);
        // 4 + 8 + 4, and 8 + 4 once more.
        assert!((realised.cost - 28.0).abs() < 1e-9, "{}", realised.cost);
        assert!((realised.wasted - 12.0).abs() < 1e-9, "{}", realised.wasted);
    }
}

#[test]
fn an_application_that_gives_up_after_a_failure_has_paid_for_everything() {
    let mut settings = settings_of(
        queried(),
        SearchMethod::Greedy,
        Wish::TradeOff { alpha: 0.0 },
    );
    settings.after_failure = AfterFailure::Fail;
    let site = failing_at(workload(4, Vec::new()), HOUR * 2);
    let run = run_one(site, chain(4, &[1, 2, 1]), &settings, &[Seconds::ZERO]);
    let realised = run.outcomes[0].realised;
    assert!(!realised.completed);
    assert_eq!(realised.makespan, HOUR * 2);
    assert_eq!((realised.cost, realised.wasted), (16.0, 12.0));
}

#[test]
fn a_failure_of_a_processor_that_runs_no_task_hits_nothing() {
    let settings = settings_of(
        queried(),
        SearchMethod::Greedy,
        Wish::TradeOff { alpha: 0.0 },
    );
    // One of a hundred processors runs the task: the drawn one is another.
    let site = failing_at(workload(100, Vec::new()), HOUR);
    let run = run_one(site, chain(1, &[2]), &settings, &[Seconds::ZERO]);
    assert_eq!(run.outcomes[0].realised.lost_tasks, 0);
    assert!(run.outcomes[0].realised.completed);
}
