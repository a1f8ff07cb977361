//! Turns the outcomes of the jobs of a machine with partitions into the outcomes and measures that
//! all studies have.

use std::sync::Arc;

use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{
    JobOutcome, Promise, PromisedStart, SimulationMetrics, Verdict, bounded_slowdown,
    promise_measures,
};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;

use super::agreement::Agreement;
use super::{MachineQueueJob, MachineQueueOutcome, Refusal, Topology};

/// Jobs of a workload that have a place on a machine, in order of submission.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacedJobs {
    /// What they ask of the machine.
    pub jobs: Arc<[MachineQueueJob]>,
    /// The position of each in the workload.
    pub positions: Vec<usize>,
    /// The wait of each in the log; `None` where the log does not say it.
    pub recorded: Vec<Option<Seconds>>,
}

/// The outcomes of all jobs of a workload, none where they are not to be kept, and their totals.
/// Widths count cores. Jobs without a place, too long ones and those beyond a limit of submitted
/// jobs are dropped as if they had found no slot. The promise of a job is the start that was first
/// announced to it.
#[must_use]
pub fn machine_queue_outcomes(
    jobs: &[Job],
    placed: &PlacedJobs,
    outcomes: &[MachineQueueOutcome],
    processors: Nodes,
    keep: bool,
) -> (Vec<JobOutcome>, SimulationMetrics) {
    let mut metrics = SimulationMetrics::default();
    let mut found = placed.positions.iter().zip(outcomes).peekable();
    let mut all = Vec::with_capacity(if keep { jobs.len() } else { 0 });
    let mut last = None;
    for (position, job) in jobs.iter().enumerate() {
        let own = found.next_if(|(at, _)| **at == position);
        let (mut start, mut end, mut promise) = (None, None, None);
        let verdict = match own.map(|(_, outcome)| outcome) {
            Some(MachineQueueOutcome::Ran {
                start: from,
                end: until,
                announced,
                ..
            }) => {
                promise =
                    announced.map(|told| Promise::certain(told.start, told.start + job.estimate));
                (start, end) = (Some(*from), Some(*until));
                last = last.max(end);
                metrics.busy += job.nodes.for_span(*until - *from);
                if *until - *from < job.runtime {
                    Verdict::SuccessfulFullGrant
                } else {
                    Verdict::SuccessfulFinished
                }
            }
            Some(MachineQueueOutcome::Refused(Refusal::TooWide | Refusal::NeverFits)) => {
                Verdict::DroppedTooWide
            }
            _ => Verdict::DroppedNoSlot,
        };
        let outcome = JobOutcome {
            job: job.clone(),
            verdict,
            class: None,
            promise,
            start,
            end,
            restarts: 0,
            node_failures: 0,
            execution: None,
            late: None,
        };
        metrics.count(&outcome);
        if keep {
            all.push(outcome);
        }
    }
    let first = jobs.first().map_or(Seconds::ZERO, |job| job.submit);
    metrics.makespan = last.map_or(Seconds::ZERO, |last| last - first);
    metrics.capacity = processors.for_span(metrics.makespan);
    (all, metrics)
}

/// What a machine is asked beside its totals: waits, refusals, how waits agree with those of the
/// log, and how reliable announced starts were.
#[must_use]
pub fn machine_measures(
    submitted: usize,
    placed: &PlacedJobs,
    outcomes: &[MachineQueueOutcome],
) -> Measured {
    let mut measured = Measured::default();
    let mut waits = 0;
    let mut slowdowns = 0.0;
    let mut started = 0_u64;
    let (mut pairs, mut promised) = (Vec::new(), Vec::new());
    for ((job, recorded), outcome) in placed.jobs.iter().zip(&placed.recorded).zip(outcomes) {
        if let MachineQueueOutcome::Ran {
            start, announced, ..
        } = outcome
        {
            promised.extend(announced.map(|told| PromisedStart {
                given: told.at,
                promised: told.start,
                start: Some(*start),
            }));
            let wait = (*start - job.submit).0;
            waits += wait;
            slowdowns += bounded_slowdown(Seconds(wait), job.runtime);
            started += 1;
            pairs.extend(recorded.map(|recorded| (recorded.0, wait)));
        }
    }
    measured.add_ratio("queue_wait_minutes", waits as f64 / 60.0, started as f64);
    measured.add_ratio("bounded_slowdown", slowdowns, started as f64);
    let refused = placed.jobs.len() as u64 - started;
    measured.add_ratio(
        "refused_percent",
        100.0 * refused as f64,
        placed.jobs.len() as f64,
    );
    measured.add(
        "without_place_percent",
        100.0 * (submitted - placed.jobs.len()) as f64 / submitted as f64,
    );
    if let Some(agreement) = Agreement::of(&pairs) {
        let minutes = |seconds: f64| seconds / 60.0;
        measured.add(
            "recorded_wait_minutes",
            minutes(agreement.recorded_wait_seconds.mean),
        );
        measured.add(
            "compared_wait_minutes",
            minutes(agreement.simulated_wait_seconds.mean),
        );
        measured.add(
            "wait_difference_minutes",
            minutes(agreement.mean_absolute_difference_seconds),
        );
        measured.add(
            "wait_rank_correlation",
            agreement.rank_correlation.unwrap_or(f64::NAN),
        );
    }
    measured.extend(&promise_measures(started as usize, &promised));
    measured
}

/// What the places of nodes do: how many jobs run on nodes of several switches, how many are killed
/// at their request only because of it, and how long jobs take from submission to end. Nothing
/// where there is one switch.
#[must_use]
pub fn crossing_measures(
    topology: &Topology,
    placed: &PlacedJobs,
    outcomes: &[MachineQueueOutcome],
) -> Measured {
    let mut measured = Measured::default();
    if topology.nodes_per_switch.is_none() {
        return measured;
    }
    let (mut started, mut crossing, mut killed, mut response) = (0_u64, 0_u64, 0_u64, 0);
    for (job, outcome) in placed.jobs.iter().zip(outcomes) {
        if let &MachineQueueOutcome::Ran { end, crosses, .. } = outcome {
            started += 1;
            response += (end - job.submit).0;
            crossing += u64::from(crosses);
            let is_slowed_beyond = topology.runtime(job.runtime, crosses) > job.request;
            killed += u64::from(is_slowed_beyond && job.runtime <= job.request);
        }
    }
    let started = started as f64;
    measured.add_ratio("crossing_percent", 100.0 * crossing as f64, started);
    measured.add_ratio("crossing_killed_percent", 100.0 * killed as f64, started);
    measured.add_ratio("response_minutes", response as f64 / 60.0, started);
    measured
}

#[cfg(test)]
mod tests {
    use bookahead_core::workload::JobId;

    use super::*;
    use crate::machine_queue::{AccountIndex, Announcement, PartitionIndex, QualityIndex};

    fn placed(job: &Job) -> MachineQueueJob {
        MachineQueueJob {
            trace_number: job.trace_number,
            submit: job.submit,
            request: job.estimate,
            runtime: job.runtime.min(job.estimate),
            cores: job.nodes.0,
            cores_per_node: None,
            memory_megabytes_per_core: 0,
            gpus_per_node: 0,
            partition: PartitionIndex(0),
            quality: QualityIndex(0),
            account: AccountIndex(0),
            user: -1,
        }
    }

    #[test]
    fn every_job_has_an_outcome_and_those_without_a_place_are_dropped() {
        let job = |id: u32, nodes, runtime| {
            let submit = Seconds(10 * i64::from(id));
            Job::rigid(JobId(id), submit, Nodes(nodes), Seconds(100))
                .running_for(Seconds(runtime))
                .due_by(Seconds(1_000_000))
                .numbered(i64::from(id) + 1)
        };
        let jobs = [job(0, 2, 50), job(1, 1, 120), job(2, 1, 10), job(3, 9, 10)];
        let some = [0, 1, 3];
        let placed = PlacedJobs {
            jobs: some.map(|at: usize| placed(&jobs[at])).into(),
            positions: some.to_vec(),
            recorded: vec![Some(Seconds(0)), Some(Seconds(300)), None],
        };
        let ran = |start, end, told: Option<i64>| MachineQueueOutcome::Ran {
            start: Seconds(start),
            end: Seconds(end),
            announced: told.map(|told| Announcement {
                at: Seconds(10),
                start: Seconds(told),
            }),
            crosses: false,
        };
        let outcomes = [
            ran(0, 50, None),
            ran(70, 170, Some(110)),
            MachineQueueOutcome::Refused(Refusal::NeverFits),
        ];
        let (all, metrics) = machine_queue_outcomes(&jobs, &placed, &outcomes, Nodes(4), true);
        let verdicts: Vec<Verdict> = all.iter().map(|outcome| outcome.verdict).collect();
        assert_eq!(
            verdicts,
            [
                Verdict::SuccessfulFinished,
                Verdict::SuccessfulFullGrant,
                Verdict::DroppedNoSlot,
                Verdict::DroppedTooWide
            ]
        );
        assert_eq!(metrics.makespan, Seconds(170));
        assert_eq!(metrics.capacity.0, 680);
        assert_eq!(metrics.busy.0, 200);
        let measured = machine_measures(4, &placed, &outcomes);
        // Waits of 0 and 60 s; the log has 0 and 300 s.
        assert_eq!(measured.get("queue_wait_minutes"), Some(0.5));
        assert_eq!(measured.get("without_place_percent"), Some(25.0));
        assert_eq!(measured.get("refused_percent"), Some(100.0 / 3.0));
        assert_eq!(measured.get("recorded_wait_minutes"), Some(2.5));
        assert_eq!(measured.get("compared_wait_minutes"), Some(0.5));
        assert_eq!(measured.get("wait_difference_minutes"), Some(2.0));
        assert_eq!(measured.get("wait_rank_correlation"), Some(1.0));
        // One of the two that started was told 110 s, at 10 s.
        assert_eq!(measured.get("promised_percent"), Some(50.0));
        assert_eq!(measured.get("promise_ahead_seconds"), Some(100.0));
        assert_eq!(measured.get("promise_early_seconds"), Some(40.0));
        let promised = |outcome: &JobOutcome| outcome.promise.as_ref().map(|promise| promise.start);
        assert_eq!(
            all.iter().filter_map(promised).collect::<Vec<_>>(),
            [Seconds(110)]
        );
        let (none, same) = machine_queue_outcomes(&jobs, &placed, &outcomes, Nodes(4), false);
        assert!(none.is_empty() && same == metrics);
    }
}
