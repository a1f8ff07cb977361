//! Shelves of jobs that are planned online (Birkenheuer et al. 2008, §2.1.1; Birkenheuer 2012,
//! §2.3.1.2).

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::plan::{ShelfFit, ShelfRule};
use bookahead_core::scheduling::{
    CheckpointInterval, CrashRule, EarlyStart, JobOutcome, PolicySpec, Verdict,
};
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};
use proptest::prelude::*;

use crate::simulate;

fn job(id: u32, submit: i64, nodes: u32, estimate: i64) -> Job {
    Job {
        deadline: Seconds::FAR,
        ..Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate))
    }
}

fn due(deadline: i64, job: Job) -> Job {
    Job {
        deadline: Seconds(deadline),
        ..job
    }
}

fn shelves(fit: ShelfFit) -> PolicySpec {
    PolicySpec {
        shelves: ShelfRule {
            fit,
            ratio: 0.5,
            height: Seconds(8),
        },
        ..PolicySpec::named("shelf-backfilling")
    }
}

/// When each job starts on four nodes, by id; `None` where it is rejected.
fn starts(spec: &PolicySpec, jobs: &[Job]) -> Vec<Option<i64>> {
    starts_with(4, spec, jobs, &FailureTrace::default())
}

/// When each job starts last.
fn starts_with(
    nodes: u32,
    spec: &PolicySpec,
    jobs: &[Job],
    failures: &FailureTrace,
) -> Vec<Option<i64>> {
    let (_, mut outcomes) =
        simulate(Nodes(nodes), spec, None, jobs, failures).expect("it is registered");
    outcomes.sort_by_key(|outcome| outcome.job.id);
    let start = |outcome: &JobOutcome| {
        assert!(
            outcome.verdict.is_successful() || outcome.verdict == Verdict::DroppedNoSlot,
            "{outcome:?}"
        );
        outcome.start.filter(|_| outcome.verdict.is_successful())
    };
    let starts = outcomes.iter().map(start);
    starts.map(|start| start.map(|start| start.0)).collect()
}

/// Seven jobs on four nodes, A to G in order of submission.
const SEVEN: [(u32, i64); 7] = [(2, 3), (3, 3), (1, 4), (2, 2), (1, 4), (1, 5), (2, 1)];

#[test]
fn seven_jobs_that_come_at_once_are_put_into_shelves_as_by_hand() {
    let jobs: Vec<Job> = (0..)
        .zip(SEVEN)
        .map(|(id, (nodes, estimate))| job(id, 0, nodes, estimate))
        .collect();
    // H = 8 and r = ½: shelves of 4 for A, B, C and E, of 2 for D, of 8 for F, of 1 for G.
    let first = [0, 4, 0, 8, 0, 10, 18].map(Some);
    assert_eq!(starts(&shelves(ShelfFit::First), &jobs), first);
    // C goes to the last shelf of its class beside B, which has no node left for E.
    let next = [0, 4, 4, 8, 10, 14, 22].map(Some);
    assert_eq!(starts(&shelves(ShelfFit::Next), &jobs), next);
}

#[test]
fn a_job_is_rejected_when_the_top_of_its_shelf_is_after_its_deadline() {
    // A job of 3 is in a shelf of 4.
    for (deadline, start) in [(3, None), (4, Some(0))] {
        let jobs = [due(deadline, job(0, 0, 4, 3))];
        assert_eq!(starts(&shelves(ShelfFit::First), &jobs), [start]);
    }
    // Beside others, too: their shelf lasts until 4.
    let jobs = [job(0, 0, 2, 4), due(3, job(1, 0, 2, 3))];
    assert_eq!(starts(&shelves(ShelfFit::First), &jobs), [Some(0), None]);
}

#[test]
fn a_job_is_put_into_a_shelf_that_has_begun_if_it_ends_within_it() {
    // The shelf is [0, 8). At 3 a job of 5 still fits beside the first, one of 6 opens another.
    for (estimate, start) in [(5, 3), (6, 8)] {
        let jobs = [job(0, 0, 2, 8), job(1, 3, 2, estimate)];
        let expected = [Some(0), Some(start)];
        assert_eq!(starts(&shelves(ShelfFit::First), &jobs), expected);
    }
    // The same by its release.
    let late = Job {
        release: Seconds(3),
        ..job(1, 0, 2, 5)
    };
    let jobs = [job(0, 0, 2, 8), late];
    assert_eq!(starts(&shelves(ShelfFit::First), &jobs), [Some(0), Some(3)]);
}

#[test]
fn nothing_is_put_above_a_job_of_a_shelf_and_an_early_end_moves_nothing() {
    // The first needs 5 of its shelf of 8, and ends after 1: its nodes are free from then on, but
    // the next job begins in a shelf of its own at 8.
    let jobs = [
        job(0, 0, 4, 5).running_for(Seconds(1)),
        job(1, 2, 4, 5),
        job(2, 3, 4, 5),
    ];
    let spec = shelves(ShelfFit::First);
    assert_eq!(starts(&spec, &jobs), [Some(0), Some(8), Some(16)]);
    let early = PolicySpec {
        early_start: EarlyStart::Yes,
        ..spec
    };
    // Early starts are those of the plan of nodes: at an end, in order of planned starts.
    assert_eq!(starts(&early, &jobs), [Some(0), Some(8), Some(13)]);
}

#[test]
fn a_fixed_reservation_takes_what_a_shelf_has_left() {
    // The shelf [0, 8) has two nodes left, and the reservation takes them from 2 to 4: the next job
    // of the class finds no node that is free for the rest of the shelf.
    let fixed = job(1, 1, 2, 2).into_reservation(Seconds(2));
    let jobs = [job(0, 0, 2, 8), fixed, job(2, 1, 2, 5), job(3, 1, 1, 5)];
    assert_eq!(
        starts(&shelves(ShelfFit::First), &jobs),
        [Some(0), Some(2), Some(8), Some(8)]
    );
}

#[test]
fn a_job_that_goes_on_after_a_crash_opens_no_shelf() {
    // Nodes 1 and 2 are down from 2 to 5, and the job that has saved 2 of its 4 goes on from 5 to
    // 7. The other comes at 6, when no shelf is left, and starts beside it at once.
    let jobs = [job(0, 0, 2, 4), job(1, 6, 1, 4)];
    let spec = PolicySpec {
        checkpoint: Some(super::settings(CheckpointInterval::Fixed(Seconds(1)), 0, 0)),
        crash: CrashRule::RestartFull,
        ..shelves(ShelfFit::First)
    };
    let outages = [1, 2].map(|node| Outage {
        node: NodeIndex(node),
        start: Seconds(2),
        end: Seconds(5),
    });
    let failures = FailureTrace::from_outages(outages).expect("they end");
    assert_eq!(starts_with(3, &spec, &jobs, &failures), [Some(5), Some(6)]);
}

/// The same with shelves that are counted: on a machine without reservations and failures.
fn slowly(fit: ShelfFit, nodes: u32, jobs: &[Job]) -> Vec<Option<i64>> {
    // Start, top, nodes that are left.
    let mut open: Vec<(i64, i64, u32)> = Vec::new();
    let mut starts = Vec::new();
    for job in jobs {
        let (now, length, wide) = (job.submit.0, job.estimate.0, job.nodes.0);
        let mut height = 8_i64;
        while height / 2 >= length {
            height /= 2;
        }
        while height < length {
            height *= 2;
        }
        let mut of_class: Vec<usize> = (0..open.len())
            .filter(|&place| open[place].1 - open[place].0 == height && open[place].1 > now)
            .collect();
        if fit == ShelfFit::Next {
            of_class = of_class.pop().into_iter().collect();
        }
        let fits = |&place: &usize| {
            let (start, top, left) = open[place];
            start.max(now) + length <= top && wide <= left
        };
        let place = of_class.into_iter().find(fits);
        let (start, top) = match place {
            Some(place) => (open[place].0.max(now), open[place].1),
            None => {
                let behind = open.last().map_or(0, |last| last.1).max(now);
                (behind, behind + height)
            }
        };
        if top > job.deadline.0 {
            starts.push(None);
            continue;
        }
        match place {
            Some(place) => open[place].2 -= wide,
            None => open.push((start, top, nodes - wide)),
        }
        starts.push(Some(start));
    }
    starts
}

proptest! {
    #[test]
    fn shelves_on_nodes_are_those_that_are_counted(
        given in prop::collection::vec((0_i64..6, 1_u32..=4, 1_i64..30, 0_i64..80), 1..40),
        next in any::<bool>(),
    ) {
        let mut now = 0;
        let jobs: Vec<Job> = (0..).zip(given).map(|(id, (gap, nodes, estimate, slack))| {
            now += gap;
            due(now + estimate + slack, job(id, now, nodes, estimate))
        }).collect();
        let fit = if next { ShelfFit::Next } else { ShelfFit::First };
        prop_assert_eq!(starts(&shelves(fit), &jobs), slowly(fit, 4, &jobs));
    }
}
