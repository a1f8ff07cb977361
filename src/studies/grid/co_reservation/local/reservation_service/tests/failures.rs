//! What outages do.

use super::*;

fn settle_and_apply(machine: &mut PlainCluster, now: i64, outage: OutageEvent) {
    machine.settle(Seconds(now));
    machine.apply_outage(Seconds(now), outage);
}

#[test]
fn an_outage_of_the_cluster_sends_running_jobs_back_and_loses_the_parts_that_it_overlaps() {
    let mut machine = machine(10, LocalSettings::default());
    for order in [
        part(1, 0, 100, 2),
        part(2, 60, 100, 2),
        part(3, 80, 10, 2),
        part(4, 110, 100, 2),
    ] {
        machine.reserve(Seconds(0), &order).unwrap();
    }
    machine.submit(&[
        job(0, 0, 3, 100, 90),
        job(1, 10, 1, 100, 90),
        job(2, 55, 1, 9, 9),
    ]);
    settle_and_apply(&mut machine, 50, OutageEvent::ClusterDown);
    assert!(!machine.is_up());
    assert_eq!(machine.in_use().jobs + machine.in_use().parts, 0);
    let queue: Vec<u32> = machine.queue().iter().map(|job| job.0).collect();
    assert_eq!(queue, [0, 1]);
    assert_eq!(
        machine.reserve(Seconds(55), &part(5, 200, 10, 1)),
        Err(Refusal::Occupied),
        "nothing is promised by a cluster that is down"
    );
    machine.advance(Seconds(100));
    assert_eq!(machine.in_use().jobs, 0, "nothing starts");
    let lost: Vec<_> = machine
        .take_lost_parts()
        .iter()
        .map(|lost| (lost.request.0, lost.at.0, lost.running))
        .collect();
    assert_eq!(lost, [(1, 50, true), (2, 60, false), (3, 80, false)]);
    assert!(
        !machine.cancel(Seconds(100), CoRequestId(1), 0),
        "it is gone"
    );
    settle_and_apply(&mut machine, 100, OutageEvent::ClusterUp);
    assert!(machine.is_up());
    machine.advance(Seconds::FAR);
    let outcomes = machine.take_job_outcomes();
    let restarts: Vec<_> = outcomes
        .iter()
        .map(|outcome| (outcome.job.id.0, outcome.restarts, outcome.node_failures))
        .collect();
    assert_eq!(restarts, [(2, 0, 0), (0, 1, 1), (1, 1, 1)]);
    assert_eq!(machine.metrics().restarts, 2);
    machine.job_outcomes = outcomes;
    assert_eq!(
        lives(&mut machine),
        [(0, 100, 190), (1, 100, 190), (2, 100, 109)]
    );
    let kept: Vec<_> = machine
        .take_part_outcomes()
        .iter()
        .map(|part| (part.order.request.0, part.lost))
        .collect();
    assert_eq!(kept, [(1, true), (2, true), (3, true), (4, false)]);
    let totals = machine.totals();
    assert_eq!((totals.restarts, totals.lost_parts), (2, 3));
    // Lost runs held their CPUs: 3 · 50 + 1 · 40, and then 4 · 90 + 9.
    assert_eq!(totals.job_work.0, 190 + 369);
    assert!(machine.is_idle() && is_free(&machine));
}

#[test]
fn a_part_that_starts_when_the_cluster_is_repaired_is_kept() {
    let mut machine = machine(10, LocalSettings::default());
    machine.reserve(Seconds(0), &part(1, 50, 10, 10)).unwrap();
    machine.apply_outage(Seconds(10), OutageEvent::ClusterDown);
    machine.apply_outage(Seconds(50), OutageEvent::ClusterUp);
    assert_eq!(machine.in_use().parts, 10);
    machine.advance(Seconds::FAR);
    assert!(machine.take_lost_parts().is_empty());
}

#[test]
fn cpus_are_given_out_from_the_lowest_number_and_only_their_holders_are_hit() {
    let mut machine = machine(10, LocalSettings::default());
    machine.reserve(Seconds(0), &part(1, 0, 100, 3)).unwrap();
    machine.submit(&[job(0, 0, 3, 100, 100), job(1, 0, 4, 100, 100)]);
    // 0–2 are held by the part, 3–5 by the first job, 6–9 by the second.
    settle_and_apply(
        &mut machine,
        20,
        OutageEvent::NodesDown { first: 5, count: 1 },
    );
    assert_eq!((machine.in_use().jobs, machine.in_use().parts), (4, 3));
    // Two are left: too few for the job that was hit, and no more is promised.
    assert_eq!(machine.queue().len(), 1);
    assert_eq!(
        machine.reserve(Seconds(20), &part(2, 20, 10, 3)),
        Err(Refusal::Occupied)
    );
    assert_eq!(machine.reserve(Seconds(20), &part(3, 20, 10, 2)), Ok(()));
    settle_and_apply(
        &mut machine,
        40,
        OutageEvent::NodesDown { first: 2, count: 2 },
    );
    let lost = machine.take_lost_parts();
    assert_eq!(lost.len(), 1);
    assert_eq!((lost[0].request, lost[0].running), (CoRequestId(1), true));
    // CPUs 0, 1 and 4 are free and up: the job starts anew.
    assert_eq!((machine.in_use().jobs, machine.in_use().parts), (7, 0));
    machine.apply_outage(
        Seconds(60),
        OutageEvent::NodesUp {
            first: 0,
            count: 99,
        },
    );
    machine.advance(Seconds::FAR);
    assert_eq!(lives(&mut machine), [(0, 40, 140), (1, 0, 100)]);
    assert!(machine.is_idle() && is_free(&machine));
}

#[test]
fn a_part_that_finds_too_few_cpus_up_is_lost_and_nobody_is_displaced_for_it() {
    let mut machine = machine(10, LocalSettings::default());
    machine.reserve(Seconds(0), &part(1, 50, 20, 5)).unwrap();
    machine.reserve(Seconds(0), &part(2, 50, 20, 1)).unwrap();
    machine.submit(&[job(0, 0, 4, 100, 100)]);
    settle_and_apply(
        &mut machine,
        10,
        OutageEvent::NodesDown { first: 9, count: 1 },
    );
    machine.advance(Seconds(51));
    assert_eq!(machine.in_use().jobs, 4);
    assert_eq!(
        machine.in_use().parts,
        5,
        "the first of them finds its CPUs"
    );
    let lost = machine.take_lost_parts();
    assert_eq!(lost.len(), 1);
    assert_eq!((lost[0].request, lost[0].running), (CoRequestId(2), false));
    assert_eq!(
        machine.reserve(Seconds(60), &part(2, 50, 20, 1)),
        Err(Refusal::Occupied),
        "a repeated order does not bring a lost part back"
    );
    machine.apply_outage(Seconds(80), OutageEvent::NodesUp { first: 9, count: 1 });
    machine.advance(Seconds::FAR);
    assert!(is_free(&machine));
}

#[test]
fn outages_that_change_nothing_are_without_effect() {
    let mut machine = machine(10, LocalSettings::default());
    for outage in [
        OutageEvent::ClusterUp,
        OutageEvent::NodesUp {
            first: 0,
            count: 10,
        },
        OutageEvent::NodesDown {
            first: 10,
            count: 5,
        },
        OutageEvent::NodesDown {
            first: u32::MAX,
            count: u32::MAX,
        },
    ] {
        machine.apply_outage(Seconds(5), outage);
    }
    assert!(machine.is_up() && is_free(&machine));
    for _ in 0..2 {
        machine.apply_outage(Seconds(6), OutageEvent::NodesDown { first: 0, count: 4 });
    }
    assert_eq!(machine.fixed().free_at(Seconds(6)), 6);
    machine.apply_outage(Seconds(7), OutageEvent::NodesUp { first: 0, count: 4 });
    assert!(is_free(&machine));
}
