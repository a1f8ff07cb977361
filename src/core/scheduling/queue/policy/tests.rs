//! Queues of the registry against the plan of the whole queue.

use proptest::prelude::*;

use super::*;
use crate::failures::FailureTrace;
use crate::scheduling::queue::PlannedQueue;
use crate::scheduling::simulate_policy;
use crate::workload::Job;

const NODES: Nodes = Nodes(8);

fn starts(policy: Box<dyn Policy>, jobs: &[Job]) -> Vec<(JobId, Option<Seconds>)> {
    let (_, outcomes) = simulate_policy(NODES, policy, jobs, &FailureTrace::default());
    let starts = outcomes
        .iter()
        .map(|outcome| (outcome.job.id, outcome.start));
    let mut starts: Vec<_> = starts.collect();
    starts.sort_unstable();
    starts
}

proptest! {
    #[test]
    fn whatever_the_backfilling_a_queue_of_the_registry_starts_whom_the_whole_plan_starts(
        drawn in prop::collection::vec((0_i64..30, 1..=NODES.0, 1_i64..60, 1_i64..60), 1..40),
    ) {
        let mut now = Seconds::ZERO;
        let drawn = (0..).zip(drawn).map(|(id, (gap, nodes, estimate, runtime))| {
            now += Seconds(gap);
            Job::rigid(JobId(id), now, Nodes(nodes), Seconds(estimate))
                .running_for(Seconds(runtime.min(estimate)))
                .numbered(id.into())
        });
        let jobs: Vec<Job> = drawn.collect();
        for rule in [Backfilling::None, Backfilling::Aggressive, Backfilling::Conservative] {
            let queue = Queue::of(rule, QueueSettings::default());
            let planned = PlannedQueue::new(NODES, rule, false);
            let starts = [starts(Box::new(queue), &jobs), starts(Box::new(planned), &jobs)];
            prop_assert_eq!(&starts[0], &starts[1], "{:?}", rule);
        }
    }
}
