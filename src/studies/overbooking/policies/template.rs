//! A template for a policy of your own: copy it, change it, register it (`docs/policy.md`).
//!
//! Shortest job first; a job that has waited for a day comes first, so that none starves.

use bookahead_core::scheduling::queue::{QueuePass, QueuePolicy, Waiting};
use bookahead_core::units::Seconds;

/// Shortest job first; a job that has waited for [`ShortestFirst::max_wait`] comes before others.
#[derive(Clone, Copy, Debug)]
pub struct ShortestFirst {
    /// How long a job waits at most behind shorter ones that came later.
    pub max_wait: Seconds,
}

impl Default for ShortestFirst {
    fn default() -> Self {
        Self {
            max_wait: Seconds::HOUR * 24,
        }
    }
}

impl QueuePolicy for ShortestFirst {
    fn pass(&mut self, pass: &mut QueuePass<'_>) {
        let now = pass.now();
        let mut order: Vec<Waiting> = pass.waiting().to_vec();
        order.sort_by_key(|job| {
            let yields = now - job.since < self.max_wait;
            // Of equal jobs the one that came first.
            (
                yields,
                if yields { job.estimate } else { Seconds(0) },
                job.since,
                job.job,
            )
        });
        for job in order {
            // The first that does not fit keeps its place: none behind it starts.
            if !pass.fits(&job) {
                return;
            }
            pass.start(&job);
        }
    }
}

#[cfg(test)]
mod tests {
    use bookahead_core::failures::FailureTrace;
    use bookahead_core::scheduling::{JobOutcome, Queue, QueueSettings, Verdict, simulate_policy};
    use bookahead_core::units::Nodes;
    use bookahead_core::workload::{Job, JobId};

    use super::*;

    fn job(id: u32, submit: i64, nodes: u32, runtime: i64) -> Job {
        Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(runtime))
    }

    /// Runs the policy on a machine of four nodes that never fail.
    fn simulated(max_wait: i64, jobs: &[Job]) -> Vec<JobOutcome> {
        let policy = ShortestFirst {
            max_wait: Seconds(max_wait),
        };
        simulate_policy(
            Nodes(4),
            Box::new(Queue::of(policy, QueueSettings::default())),
            jobs,
            &FailureTrace::default(),
        )
        .1
    }

    fn starts(outcomes: &[JobOutcome]) -> Vec<Option<i64>> {
        let starts = outcomes.iter().map(|outcome| outcome.start);
        starts.map(|start| start.map(|start| start.0)).collect()
    }

    #[test]
    fn the_shortest_job_that_waits_starts_first() {
        let jobs = [job(0, 0, 4, 100), job(1, 1, 4, 50), job(2, 2, 4, 10)];
        let outcomes = simulated(1_000, &jobs);
        assert_eq!(starts(&outcomes), [Some(0), Some(110), Some(100)]);
    }

    #[test]
    fn a_job_that_has_waited_long_enough_is_not_passed_any_more() {
        let jobs = [job(0, 0, 4, 100), job(1, 1, 4, 50), job(2, 90, 4, 10)];
        let outcomes = simulated(60, &jobs);
        assert_eq!(starts(&outcomes), [Some(0), Some(100), Some(150)]);
    }

    #[test]
    fn a_fixed_reservation_gets_its_nodes_at_its_time_although_the_policy_says_nothing_of_it() {
        let reservation = job(1, 1, 4, 20).into_reservation(Seconds(50));
        let jobs = [job(0, 0, 2, 30), reservation, job(2, 2, 2, 60)];
        let outcomes = simulated(1_000, &jobs);
        assert_eq!(starts(&outcomes), [Some(0), Some(50), Some(70)]);
        let good = |outcome: &JobOutcome| outcome.verdict == Verdict::SuccessfulFinished;
        assert!(outcomes.iter().all(good), "{outcomes:?}");
    }
}
