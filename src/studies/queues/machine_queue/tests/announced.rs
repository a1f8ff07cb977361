//! The first start that is reserved for a waiting job, worked out by hand.

use super::*;

/// Of each job: when it was first told a start, and which.
fn announced(machine: &QueueMachine, jobs: &[MachineQueueJob]) -> Vec<Option<(i64, i64)>> {
    let outcomes = outcomes_of(machine, jobs);
    let announced = |outcome: &MachineQueueOutcome| match outcome {
        MachineQueueOutcome::Ran { announced, .. } => {
            announced.map(|told| (told.at.0, told.start.0))
        }
        MachineQueueOutcome::Refused(_) => None,
    };
    outcomes.iter().map(announced).collect()
}

fn reserving(depth: u32) -> Backfilling {
    Backfilling::Reserving {
        depth,
        tested: None,
        interval: Seconds::ZERO,
        window: None,
    }
}

/// Ends after half of its request.
fn half(job: MachineQueueJob) -> MachineQueueJob {
    MachineQueueJob {
        runtime: Seconds(job.request.0 / 2),
        ..job
    }
}

#[test]
fn the_first_who_waits_is_told_when_others_have_to_be_gone_and_the_next_when_it_is_first() {
    let machine = machine(vec![class(4, 1)]);
    let jobs = [
        half(job(0, 4, 10)),
        job(1, 4, 20),
        job(2, 4, 30),
        job(3, 4, 5),
    ];
    let starts = starts(&machine, &jobs);
    assert_eq!(starts, [Some(0), Some(5), Some(25), Some(55)]);
    // The third becomes the first of the queue when the second starts, and is told then.
    let told = [None, Some((1, 10)), Some((5, 25)), Some((25, 55))];
    assert_eq!(announced(&machine, &jobs), told);
}

#[test]
fn at_full_depth_all_who_wait_are_told_when_they_come_even_if_nobody_may_start() {
    let mut machine = machine(vec![class(4, 1)]);
    machine.backfilling = reserving(u32::MAX);
    let jobs = [
        half(job(0, 4, 10)),
        job(1, 4, 20),
        job(2, 4, 30),
        job(3, 4, 5),
    ];
    let told = [None, Some((1, 10)), Some((2, 30)), Some((3, 60))];
    assert_eq!(announced(&machine, &jobs), told);
}

#[test]
fn the_first_word_stays_however_often_the_reservation_moves() {
    let mut machine = machine(vec![class(2, 1), class(1, 1)]);
    machine.priority.partition = 1.0;
    machine.partitions = vec![
        partition(&[0]),
        Partition {
            factor: 1.0,
            ..partition(&[0])
        },
    ];
    let urgent = |job| MachineQueueJob {
        partition: PartitionIndex(1),
        ..job
    };
    // Told 10 at first; two others come before it.
    let jobs = [
        job(0, 2, 10),
        job(1, 2, 10),
        urgent(job(2, 2, 10)),
        urgent(job(3, 2, 10)),
    ];
    assert_eq!(
        starts(&machine, &jobs),
        [Some(0), Some(30), Some(10), Some(20)]
    );
    // Each partition has a first one of its own: the last is the first of its partition at 10.
    let told = [None, Some((1, 10)), Some((2, 10)), Some((10, 20))];
    assert_eq!(announced(&machine, &jobs), told);
}

#[test]
fn who_starts_at_once_or_is_never_reserved_for_is_told_nothing() {
    let mut machine = machine(vec![class(4, 1)]);
    // The last one fits beside the first and in front of the second, when it comes.
    let jobs = [job(0, 3, 10), job(1, 4, 10), job(2, 1, 8)];
    assert_eq!(announced(&machine, &jobs), [None, Some((1, 10)), None]);
    machine.backfilling = Backfilling::None;
    assert_eq!(announced(&machine, &jobs), [None; 3]);
    // Who waits for a limit has no reservation; it is told nothing and starts when it may.
    machine.backfilling = EASY;
    machine.qualities[0].per_user.running_jobs = Some(1);
    assert_eq!(announced(&machine, &jobs), [None; 3]);
}

#[test]
fn reservations_are_made_in_passes_that_backfill_and_of_those_who_are_tested() {
    let mut machine = machine(vec![class(4, 1)]);
    let jobs = [job(0, 4, 100), job(1, 4, 10), job(2, 4, 10)];
    machine.backfilling = Backfilling::Reserving {
        depth: 5,
        tested: None,
        interval: Seconds(60),
        window: None,
    };
    assert_eq!(
        announced(&machine, &jobs),
        [None, Some((60, 100)), Some((60, 110))]
    );
    machine.backfilling = Backfilling::Reserving {
        depth: 5,
        tested: Some(1),
        interval: Seconds::ZERO,
        window: None,
    };
    assert_eq!(
        announced(&machine, &jobs),
        [None, Some((1, 100)), Some((100, 110))]
    );
}

#[test]
fn who_cannot_start_within_the_window_gets_no_reservation_and_keeps_nobody_back() {
    let mut machine = machine(vec![class(4, 1)]);
    let within = |window| Backfilling::Reserving {
        depth: 1,
        tested: None,
        interval: Seconds::ZERO,
        window: Some(Seconds(window)),
    };
    // The wide one could start at 100; the long one is in its way.
    let jobs = [job(0, 3, 100), job(10, 4, 10), job(20, 1, 500)];
    machine.backfilling = within(90);
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(100), Some(110)]);
    assert_eq!(announced(&machine, &jobs)[1], Some((10, 100)));
    // A second less, and at 10 it gets none; at 20 it does.
    machine.backfilling = within(89);
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(100), Some(110)]);
    assert_eq!(announced(&machine, &jobs)[1], Some((20, 100)));
    machine.backfilling = within(79);
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(520), Some(20)]);
    // Not before something happens in front of its start is it told one.
    assert_eq!(announced(&machine, &jobs), [None; 3]);
}

#[test]
fn the_reservation_that_one_cannot_have_goes_to_the_next_of_the_partition() {
    let mut machine = machine(vec![class(4, 1)]);
    machine.backfilling = Backfilling::Reserving {
        depth: 1,
        tested: None,
        interval: Seconds::ZERO,
        window: Some(Seconds(50)),
    };
    // Two nodes are free at 40, all at 100. When the last one starts, all are free at 140, which is
    // near enough at 100.
    let jobs = [job(0, 2, 100), job(0, 2, 40), job(1, 4, 10), job(2, 2, 100)];
    let told = [None, None, Some((100, 140)), Some((2, 40))];
    assert_eq!(announced(&machine, &jobs), told);
}
