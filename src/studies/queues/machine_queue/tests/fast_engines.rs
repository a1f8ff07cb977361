//! One partition of equal exclusive nodes in order of submission is what the fast engines simulate.

use std::path::PathBuf;

use proptest::prelude::*;

use bookahead_core::failures::FailureTrace;
use bookahead_core::predictions::UserIndex;
use bookahead_core::scheduling::stream::{EasyStream, Listener, StreamRequest, StreamScheduler};
use bookahead_core::scheduling::{self, Queue, QueueSettings, simulate_policy};
use bookahead_core::workload::{CleaningRules, Job, JobId, ParsedTrace, TraceFolder, clean};

use super::*;

struct Starts(Vec<Option<i64>>);

impl Listener for Starts {
    fn started(&mut self, request: &StreamRequest, start: Seconds) {
        self.0[request.index as usize] = Some(start.0);
    }

    fn refused(&mut self, _request: &StreamRequest) {}
}

/// What the fast engine makes of jobs that take one core of a node each.
fn easy(nodes: u32, jobs: &[MachineQueueJob]) -> Vec<Option<i64>> {
    let mut engine = EasyStream::new(Nodes(nodes));
    let mut starts = Starts(vec![None; jobs.len()]);
    for (job, index) in jobs.iter().zip(0..) {
        let request = StreamRequest {
            index,
            submit: job.submit,
            nodes: Nodes(job.cores),
            user: UserIndex(0),
            estimate: job.request,
            runtime: job.runtime,
        };
        engine.submit(request, &mut starts);
    }
    engine.finish(&mut starts);
    starts.0
}

/// What a queue without backfilling makes of the same jobs.
fn first_come(nodes: u32, jobs: &[MachineQueueJob]) -> Vec<Option<i64>> {
    let others: Vec<Job> = jobs
        .iter()
        .zip(0..)
        .map(|(job, number)| {
            Job::rigid(JobId(number), job.submit, Nodes(job.cores), job.request)
                .running_for(job.runtime)
        })
        .collect();
    let queue = Queue::of(scheduling::Backfilling::None, QueueSettings::default());
    let failures = FailureTrace::default();
    let (_, outcomes) = simulate_policy(Nodes(nodes), Box::new(queue), &others, &failures);
    let mut starts = vec![None; jobs.len()];
    for outcome in outcomes {
        starts[outcome.job.id.0 as usize] = outcome.start.map(|start| start.0);
    }
    starts
}

fn one_core_nodes(nodes: u32) -> QueueMachine {
    machine(vec![class(nodes, 1)])
}

fn jobs_of(trace: &ParsedTrace, nodes: u32) -> Vec<MachineQueueJob> {
    let usable = clean(trace, &CleaningRules::default(), Nodes(nodes)).jobs;
    usable
        .iter()
        .filter(|job| job.nodes.0 <= nodes)
        .map(|other| MachineQueueJob {
            runtime: other.runtime.min(other.estimate),
            ..job(other.submit.0, other.nodes.0, other.estimate.0)
        })
        .collect()
}

fn random_jobs() -> impl Strategy<Value = Vec<MachineQueueJob>> {
    let one = (0_i64..12, 1_u32..=8, 1_i64..40, 1_i64..=100);
    prop::collection::vec(one, 1..120).prop_map(|drawn| {
        let mut submit = 0;
        drawn
            .into_iter()
            .map(|(gap, nodes, request, percent)| {
                submit += if gap < 4 { 0 } else { gap * gap / 8 };
                MachineQueueJob {
                    runtime: Seconds((request * percent / 100).max(1)),
                    ..job(submit, nodes, request)
                }
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn a_depth_of_one_on_equal_nodes_is_easy_backfilling(jobs in random_jobs()) {
        prop_assert_eq!(starts(&one_core_nodes(8), &jobs), easy(8, &jobs));
    }

    /// What EASY backfilling is for: the first of the queue is never delayed.
    #[test]
    fn nobody_starts_later_than_announced_in_order_of_submission(jobs in random_jobs()) {
        for outcome in outcomes_of(&one_core_nodes(8), &jobs) {
            if let MachineQueueOutcome::Ran { start, announced: Some(announced), .. } = outcome {
                prop_assert!(start <= announced.start);
            }
        }
    }

    #[test]
    fn no_backfilling_is_first_come_first_served(jobs in random_jobs()) {
        let mut strict = one_core_nodes(8);
        strict.backfilling = Backfilling::None;
        prop_assert_eq!(starts(&strict, &jobs), first_come(8, &jobs));
    }
}

#[test]
fn real_logs_are_worked_off_as_by_the_fast_engines() {
    let Some(path) = std::env::var_os(TraceFolder::VARIABLE) else {
        println!("skipped: this test needs the folder of traces that BOOKAHEAD_TRACES names");
        return;
    };
    let folder = TraceFolder {
        path: Some(PathBuf::from(path)),
        ..TraceFolder::default()
    };
    for (file, nodes) in [
        ("KTH-SP2-1996-2.1-cln.swf", 100),
        ("CTC-SP2-1996-3.1-cln.swf", 338),
    ] {
        let trace = ParsedTrace::read(&folder.find(file).unwrap()).unwrap();
        let jobs = jobs_of(&trace, nodes);
        let mut one = one_core_nodes(nodes);
        assert!(starts(&one, &jobs) == easy(nodes, &jobs), "{file}");
        one.backfilling = Backfilling::None;
        assert!(starts(&one, &jobs) == first_come(nodes, &jobs), "{file}");
    }
}
