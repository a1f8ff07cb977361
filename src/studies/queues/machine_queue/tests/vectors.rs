//! Priorities and limits, worked out by hand.

use super::*;
use crate::machine_queue::priority::Priorities;

/// The order in which jobs start, as positions.
fn order(machine: &QueueMachine, jobs: &[MachineQueueJob]) -> Vec<usize> {
    let starts = starts(machine, jobs);
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|job| starts[*job]);
    order
}

/// One node of one core.
fn narrow() -> QueueMachine {
    machine(vec![class(1, 1)])
}

fn close(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-12
}

#[test]
fn age_counts_as_a_part_of_the_oldest_wait_and_no_further() {
    let mut machine = narrow();
    machine.priority.age = 8.0;
    machine.priority.oldest = Seconds(200);
    let priorities = Priorities::new(&machine, &[job(0, 1, 1)]);
    assert!(close(priorities.of(1.0, Seconds(50), 0), 1.0 + 8.0 * 0.25));
    assert!(close(priorities.of(1.0, Seconds(200), 0), 9.0));
    assert!(close(priorities.of(1.0, Seconds(900), 0), 9.0));
}

#[test]
fn size_is_the_part_of_the_machine_or_what_is_left_of_it() {
    let mut machine = machine(vec![class(2, 8), class(1, 16)]);
    machine.priority.size = 10.0;
    let asks = job(0, 8, 1);
    let of = |machine: &QueueMachine| Priorities::new(machine, &[asks]).fixed_part(machine, &asks);
    assert!(close(of(&machine), 2.5));
    machine.priority.favours_small = true;
    assert!(close(of(&machine), 7.5));
}

#[test]
fn partition_and_quality_count_with_their_weights() {
    let mut machine = narrow();
    machine.partitions[0].factor = 0.5;
    machine.qualities[0].factor = 0.25;
    machine.priority.partition = 100.0;
    machine.priority.quality = 1_000.0;
    let asks = job(0, 1, 1);
    let priorities = Priorities::new(&machine, &[asks]);
    assert!(close(priorities.fixed_part(&machine, &asks), 300.0));
}

#[test]
fn who_used_as_much_as_the_share_has_half_and_who_used_nothing_one() {
    let mut machine = narrow();
    machine.priority.fair_share = 1.0;
    let jobs = [1, 2, 3, 4].map(|user| of_user(user, job(0, 1, 1)));
    let mut priorities = Priorities::new(&machine, &jobs);
    // Users 1, 2 and 3 use 100, 200 and 100 core-seconds; a quarter is everybody's share.
    for (holder, rate) in [(0, 1.0), (1, 2.0), (2, 1.0)] {
        priorities.charge(holder, Seconds(0), rate);
        priorities.charge(holder, Seconds(100), -rate);
    }
    priorities.refresh(Seconds(5_000));
    let factor = |holder| priorities.of(0.0, Seconds(0), holder);
    assert!(close(factor(0), 0.5));
    assert!(close(factor(1), 0.25));
    assert!(close(factor(3), 1.0));
}

#[test]
fn use_counts_half_after_one_half_life() {
    let mut machine = narrow();
    machine.priority.fair_share = 1.0;
    machine.priority.half_life = Some(Seconds(100));
    let jobs = [1, 2].map(|user| of_user(user, job(0, 1, 1)));
    let mut priorities = Priorities::new(&machine, &jobs);
    // The same use, a half-life apart: 1 to 2, whatever it is.
    priorities.charge(0, Seconds(0), 3.0);
    priorities.charge(0, Seconds(50), -3.0);
    priorities.charge(1, Seconds(100), 3.0);
    priorities.charge(1, Seconds(150), -3.0);
    priorities.refresh(Seconds(1_000));
    let factor = |holder| priorities.of(0.0, Seconds(0), holder);
    assert!(close(factor(0), libm::exp2(-2.0 / 3.0)));
    assert!(close(factor(1), libm::exp2(-4.0 / 3.0)));
}

#[test]
fn who_runs_is_charged_while_running() {
    let mut machine = narrow();
    machine.priority.fair_share = 1.0;
    machine.priority.half_life = Some(Seconds(100));
    let jobs = [1, 2].map(|user| of_user(user, job(0, 1, 1)));
    let mut priorities = Priorities::new(&machine, &jobs);
    // User 1 has run for a half-life, r·(h / ln 2)·½; user 2 for two, r·(h / ln 2)·¾: two fifths
    // and three fifths.
    priorities.charge(1, Seconds(0), 1.0);
    priorities.charge(0, Seconds(100), 1.0);
    priorities.refresh(Seconds(200));
    let factor = |holder| priorities.of(0.0, Seconds(0), holder);
    assert!(close(factor(0), libm::exp2(-0.4 / 0.5)));
    assert!(close(factor(1), libm::exp2(-0.6 / 0.5)));
}

#[test]
fn accounts_have_their_shares_and_damping_flattens() {
    let mut machine = narrow();
    machine.priority.fair_share = 1.0;
    machine.priority.damping = 2.0;
    machine.priority.holder = ShareHolder::Account;
    let account = machine.accounts[0].clone();
    machine.accounts = [3.0, 1.0, 0.0]
        .map(|shares| Account {
            shares,
            ..account.clone()
        })
        .to_vec();
    let mut priorities = Priorities::new(&machine, &[]);
    for holder in [0, 1] {
        priorities.charge(holder, Seconds(0), 1.0);
    }
    priorities.refresh(Seconds(10));
    let factor = |holder| priorities.of(0.0, Seconds(0), holder);
    assert!(close(factor(0), libm::exp2(-(0.5 / 0.75) / 2.0)));
    assert!(close(factor(1), 0.5));
    assert!(factor(2) == 0.0, "no share");
}

#[test]
fn who_used_the_machine_comes_after_who_did_not_until_that_is_long_ago() {
    let mut machine = narrow();
    machine.priority.fair_share = 1.0;
    // User 1 uses 100 long ago, user 2 uses 40 just now; then both wait for user 3.
    let jobs = [
        of_user(1, job(0, 1, 100)),
        of_user(2, job(960, 1, 40)),
        of_user(3, job(1_000, 1, 10)),
        of_user(2, job(1_001, 1, 10)),
        of_user(1, job(1_002, 1, 10)),
    ];
    assert_eq!(order(&machine, &jobs), [0, 1, 2, 3, 4]);
    machine.priority.half_life = Some(Seconds(100));
    assert_eq!(order(&machine, &jobs), [0, 1, 2, 4, 3]);
}

#[test]
fn use_for_free_is_not_held_against_anybody() {
    let mut machine = narrow();
    machine.priority.fair_share = 1.0;
    let jobs = [
        of_user(1, job(0, 1, 100)),
        of_user(1, job(1, 1, 10)),
        of_user(2, job(2, 1, 10)),
    ];
    assert_eq!(order(&machine, &jobs), [0, 2, 1]);
    machine.qualities[0].usage_factor = 0.0;
    assert_eq!(order(&machine, &jobs), [0, 1, 2]);
}

#[test]
fn a_higher_tier_comes_before_any_priority() {
    let mut machine = narrow();
    machine.priority.partition = 1_000.0;
    machine.partitions[0].factor = 1.0;
    machine.partitions.push(Partition {
        tier: 1,
        factor: 0.0,
        ..partition(&[0])
    });
    let urgent = MachineQueueJob {
        partition: PartitionIndex(1),
        ..job(2, 1, 10)
    };
    let jobs = [job(0, 1, 10), job(1, 1, 10), urgent];
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(20), Some(10)]);
}

#[test]
fn limits_make_jobs_wait_that_block_nobody() {
    // Two nodes of four cores are free for everybody else.
    let jobs = [
        job(0, 4, 10),
        job(1, 4, 10),
        of_user(2, job(2, 4, 10)),
        of_user(2, job(3, 4, 10)),
    ];
    let free = machine(vec![class(4, 4)]);
    assert_eq!(starts(&free, &jobs), [Some(0), Some(1), Some(2), Some(3)]);
    let one_job = Limits {
        running_jobs: Some(1),
        ..Limits::default()
    };
    let one_node = Limits {
        nodes: Some(1),
        ..Limits::default()
    };
    let seven_cores = Limits {
        cores: Some(7),
        ..Limits::default()
    };
    for limits in [one_job, one_node, seven_cores] {
        for by_account in [false, true] {
            let (mut per_user, mut in_all) = (free.clone(), free.clone());
            if by_account {
                per_user.accounts[0].per_user = limits;
                in_all.accounts[0].in_all = limits;
            } else {
                per_user.qualities[0].per_user = limits;
                in_all.qualities[0].in_all = limits;
            }
            let each_for_itself = [Some(0), Some(10), Some(2), Some(12)];
            assert_eq!(starts(&per_user, &jobs), each_for_itself, "{limits:?}");
            let one_by_one = [Some(0), Some(10), Some(20), Some(30)];
            assert_eq!(starts(&in_all, &jobs), one_by_one, "{limits:?}");
        }
    }
}

#[test]
fn limits_of_another_quality_or_account_stop_nobody() {
    let mut machine = machine(vec![class(2, 1)]);
    let one = Limits {
        running_jobs: Some(1),
        ..Limits::default()
    };
    machine.qualities.push(QualityOfService {
        in_all: one,
        ..machine.qualities[0].clone()
    });
    let served = MachineQueueJob {
        quality: QualityIndex(1),
        ..job(0, 1, 10)
    };
    let jobs = [served, served, job(0, 1, 10)];
    assert_eq!(starts(&machine, &jobs), [Some(0), Some(10), Some(0)]);
}

#[test]
fn requests_beyond_what_there_is_are_refused_with_the_reason() {
    let mut machine = machine(vec![class(4, 4)]);
    machine.partitions[0].longest = Some(Seconds(100));
    machine.partitions[0].widest = Some(Nodes(2));
    machine.qualities[0].per_user.submitted_jobs = Some(2);
    machine.accounts[0].in_all.cores = Some(7);
    let jobs = [
        job(0, 4, 101),
        job(0, 9, 100),
        job(0, 8, 100),
        job(0, 4, 100),
        job(0, 4, 100),
        job(0, 4, 100),
        job(150, 4, 100),
    ];
    let refused = |outcome: &MachineQueueOutcome| match outcome {
        MachineQueueOutcome::Refused(refusal) => Some(*refusal),
        MachineQueueOutcome::Ran { .. } => None,
    };
    let outcomes = outcomes_of(&machine, &jobs);
    let refusals: Vec<_> = outcomes.iter().map(refused).collect();
    let expected = [
        Some(Refusal::TooLong),
        Some(Refusal::TooWide),
        // Two whole nodes are eight cores.
        Some(Refusal::NeverFits),
        None,
        None,
        Some(Refusal::TooManySubmitted),
        // The first of them has ended.
        None,
    ];
    assert_eq!(refusals, expected);
    machine.qualities[0].longest = Some(Seconds(99));
    let outcomes = outcomes_of(&machine, &jobs);
    assert!(
        outcomes
            .iter()
            .all(|outcome| refused(outcome) == Some(Refusal::TooLong))
    );
}

#[test]
fn jobs_are_killed_at_their_request_and_run_for_a_second_at_least() {
    let machine = narrow();
    let overrun = MachineQueueJob {
        runtime: Seconds(50),
        ..job(0, 1, 20)
    };
    let nothing = MachineQueueJob {
        runtime: Seconds(0),
        ..job(0, 1, 20)
    };
    let ran = |start: i64, end: i64, announced| MachineQueueOutcome::Ran {
        start: Seconds(start),
        end: Seconds(end),
        announced,
        crosses: false,
    };
    let told = Announcement {
        at: Seconds(0),
        start: Seconds(20),
    };
    let outcomes = outcomes_of(&machine, &[overrun, nothing]);
    assert_eq!(outcomes, [ran(0, 20, None), ran(20, 21, Some(told))]);
}
