//! Jobs that are taken back before they start.

use super::*;

/// The last start of each job, by id, where one is taken back before it starts; `None` also of that
/// one.
fn starts_without(
    (time, taken_back): (i64, u32),
    nodes: u32,
    settings: &PolicySpec,
    jobs: &[Job],
    outage: Option<Outage>,
) -> Vec<Option<i64>> {
    let strategy = registry::strategy(&settings.strategy).expect("it is registered");
    let policy = (strategy.build)(Nodes(nodes), settings, None);
    let mut machine = ClusterMachine::new(Nodes(nodes), policy);
    let failures = FailureTrace::from_outages(outage).expect("they end");
    machine.submit(jobs.iter().cloned());
    machine.inject(&failures.events);
    machine.cancel([(Seconds(time), JobId(taken_back))]);
    machine.advance(Seconds::FAR);
    let outcomes = machine.take_outcomes();
    let start = |job: &Job| {
        let outcome = outcomes.iter().find(|known| known.job.id == job.id)?;
        let start = outcome.start.filter(|_| outcome.verdict.is_successful())?;
        Some(start.0)
    };
    jobs.iter().map(start).collect()
}

#[test]
fn when_a_job_is_taken_back_those_behind_it_come_forward_where_the_strategy_lets_them() {
    let jobs = [job(0, 0, 1, 100), job(1, 1, 1, 50), job(2, 2, 1, 50)];
    for (strategy, third) in [
        ("heuristic-planning", 100),
        ("comprehensive-overbooking", 100),
        ("conservative-backfilling", 150),
    ] {
        let starts = starts_without((10, 1), 1, &PolicySpec::named(strategy), &jobs, None);
        assert_eq!(starts, [Some(0), None, Some(third)], "{strategy}");
    }
}

#[test]
fn the_place_of_a_job_that_is_taken_back_is_one_of_its_shelf_again() {
    // Job 1 is alone in the shelf [8, 16). Job 2 comes when it has gone.
    let jobs = [job(0, 0, 1, 8), job(1, 1, 1, 8), job(2, 5, 1, 7)];
    let settings = super::super::named("shelf-backfilling", Seconds(8));
    let starts = |time| starts_without((time, 1), 1, &settings, &jobs, None);
    assert_eq!(starts(3), [Some(0), None, Some(8)]);
    assert_eq!(starts(6), [Some(0), None, Some(16)]);
}

#[test]
fn mapped_those_that_wait_are_tried_when_a_job_is_taken_back() {
    // The start of job 0 fails at 50, and when its node is back at 60 the 70 s until job 1 are too
    // short for it.
    let starts = |retry| {
        starts_without(
            (65, 1),
            2,
            &kept(CrashRule::RestartFull, retry),
            &both_nodes_for_two(),
            Some(down(1, 40, 60)),
        )
    };
    assert_eq!(starts(Retry::Events), [Some(65), None, Some(230)]);
    assert_eq!(starts(Retry::Repairs), [None, None, Some(230)]);
}

#[test]
fn counted_those_that_wait_are_tried_when_a_job_is_taken_back_before_slots_move_forward() {
    // Job 1 loses its node at 10 and has to start again by 180; the other node is that of job 0
    // until 100, then of job 2, then of job 3.
    let jobs = [
        job(0, 0, 1, 100),
        job(1, 0, 1, 120).due_by(Seconds(300)),
        job(2, 1, 1, 130),
        job(3, 20, 1, 30),
    ];
    let starts = |retry| starts_without((50, 2), 2, &counted(retry), &jobs, Some(down(1, 10, 900)));
    assert_eq!(starts(Retry::Events), [Some(0), Some(100), None, Some(220)]);
    // Not tried at this event, job 1 is given up, and the place is that of job 3.
    assert_eq!(starts(Retry::Repairs), [Some(0), None, None, Some(100)]);
}
