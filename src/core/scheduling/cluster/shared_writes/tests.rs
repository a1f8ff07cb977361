//! Runs that share bandwidth: by hand, and against a twin that watches every second of every job.

mod twin;

use proptest::prelude::*;

use self::twin::watch;
use crate::failures::{FailureTrace, NodeEvent};
use crate::plan::NodeSet;
use crate::scheduling::{
    Bandwidth, CheckpointInterval, CheckpointPayer, CheckpointSettings, Checkpointing, Cluster,
    Execution, GapEnd, JobOutcome, Phase, Policy, Promise, ResumeRule, SimulationMetrics, Verdict,
    simulate_policy,
};
use crate::units::{NodeIndex, Nodes, Seconds};
use crate::workload::{Job, JobId};

/// Nodes of which only one job gets any.
const BLOCK: u32 = 8;

/// Starts each job at once, and again when it was interrupted, in windows of fixed length; each
/// arrival lengthens those that run.
struct Scripted {
    checkpointing: Checkpointing,
    /// How long each job's windows are; `None` for as long as it needs alone.
    windows: Vec<Option<i64>>,
    longer: i64,
    ends: Vec<Seconds>,
}

impl Scripted {
    fn run(&mut self, cluster: &mut Cluster, id: JobId) {
        let block = id.0 * BLOCK..(id.0 + 1) * BLOCK;
        let idle = block
            .map(NodeIndex)
            .filter(|&node| cluster.idle().contains(node));
        let width = cluster.job(id).nodes;
        let mut nodes = NodeSet::empty(cluster.nodes());
        for node in idle.take(width.0 as usize) {
            nodes.insert(node);
        }
        if nodes.count() < width {
            cluster.fail(id);
            return;
        }
        let length = self.windows[id.0 as usize].map_or(cluster.longest_run(id), Seconds);
        let end = (cluster.now() + length).min(cluster.job(id).deadline);
        self.ends[id.0 as usize] = end;
        cluster.start(id, nodes, end);
    }
}

impl Policy for Scripted {
    fn arrived(&mut self, cluster: &mut Cluster, job: JobId) {
        let now = cluster.now();
        cluster.promise(job, Promise::certain(now, cluster.job(job).deadline), None);
        self.run(cluster, job);
        for other in (0..job.0).map(JobId) {
            if self.longer > 0
                && cluster.phase(other) == Phase::Running
                && !cluster.is_closing(other)
            {
                let end = &mut self.ends[other.0 as usize];
                *end = (*end + Seconds(self.longer)).min(cluster.job(other).deadline);
                cluster.set_window_end(other, *end);
            }
        }
    }

    fn start_due(&mut self, _cluster: &mut Cluster, _job: JobId) {}

    fn ended(&mut self, _cluster: &mut Cluster, _job: JobId) {}

    fn stopped(&mut self, cluster: &mut Cluster, job: JobId) {
        self.run(cluster, job);
    }

    fn checkpointing(&self) -> Option<Checkpointing> {
        Some(self.checkpointing)
    }

    fn node_failed(&mut self, cluster: &mut Cluster, _node: NodeIndex, victim: Option<JobId>) {
        if let Some(job) = victim {
            self.run(cluster, job);
        }
    }

    fn node_repaired(&mut self, _cluster: &mut Cluster, _node: NodeIndex) {}

    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        cluster.withdraw(job);
    }
}

#[derive(Clone, Debug)]
struct Case {
    settings: CheckpointSettings,
    jobs: Vec<Job>,
    windows: Vec<Option<i64>>,
    longer: i64,
    failures: Vec<NodeEvent>,
}

impl Case {
    fn simulate(&self) -> (SimulationMetrics, Vec<JobOutcome>) {
        let policy = Scripted {
            checkpointing: Checkpointing::new(self.settings, 0.0),
            windows: self.windows.clone(),
            longer: self.longer,
            ends: vec![Seconds::ZERO; self.jobs.len()],
        };
        let nodes = Nodes(BLOCK * self.jobs.len() as u32);
        let failures = FailureTrace {
            events: self.failures.clone(),
        };
        simulate_policy(nodes, Box::new(policy), &self.jobs, &failures)
    }
}

fn shared(interval: i64, cost: i64, restart: i64, gap_end: GapEnd) -> CheckpointSettings {
    CheckpointSettings {
        interval: CheckpointInterval::Fixed(Seconds(interval)),
        cost: Seconds(cost),
        restart: Seconds(restart),
        payer: CheckpointPayer::Provider,
        gap_end,
        resume: ResumeRule::Any,
        memory_price: 0.0,
        bandwidth: Bandwidth::SharedByJobs,
    }
}

fn together(k: usize, window: Option<i64>, gap_end: GapEnd) -> Case {
    Case {
        settings: shared(100, 10, 5, gap_end),
        jobs: (0..k as u32)
            .map(|id| {
                Job::rigid(JobId(id), Seconds(0), Nodes(2), Seconds(150))
                    .due_by(Seconds(5_000))
                    .numbered(1)
            })
            .collect(),
        windows: vec![window; k],
        longer: 0,
        failures: Vec::new(),
    }
}

#[test]
fn k_equal_jobs_that_start_together_each_write_k_times_as_long() {
    for k in 1..=16 {
        let (metrics, outcomes) = together(k, Some(1_000), GapEnd::Checkpoint).simulate();
        for outcome in &outcomes {
            assert_eq!(outcome.verdict, Verdict::SuccessfulFinished);
            // 100 s of work, k · 10 s of writing, 50 s of work.
            assert_eq!(outcome.end, Some(Seconds(150 + 10 * k as i64)), "{k}");
            let runs = outcome.execution.expect("it ran");
            assert_eq!(runs.waited, Seconds(10 * (k as i64 - 1)));
        }
        let totals = metrics.checkpoints.shared.expect("bandwidth is shared");
        assert_eq!(totals.most_writers, k as u32);
        let waited = 2 * k as i64 * 10 * (k as i64 - 1);
        assert_eq!(totals.waited.0, waited);
    }
}

#[test]
fn a_window_that_a_stretched_write_made_too_short_ends_as_any_other() {
    // Planned for 160 s. The first write ends at 120, not at 110; 50 s of work do not fit any more,
    // so that both stop at 150 to write for the end of the window, and come half as far as they
    // must by then: 30 s are lost. They go on at 160, read until 165, and have done the last 50 s
    // at 215.
    for outcome in together(2, None, GapEnd::Checkpoint).simulate().1 {
        let runs = outcome.execution.expect("it ran");
        assert_eq!(outcome.end, Some(Seconds(215)));
        assert_eq!((runs.useful.0, runs.lost.0, runs.read.0), (150, 30, 5));
        assert_eq!((runs.written.0, runs.waited.0, runs.stops), (30, 15, 1));
    }
    // Suspended at 160 with 40 of the 50 s done, they need the other 10.
    for outcome in together(2, None, GapEnd::Suspend).simulate().1 {
        let runs = outcome.execution.expect("it ran");
        assert_eq!(outcome.end, Some(Seconds(170)));
        assert_eq!((runs.useful.0, runs.lost.0, runs.read.0), (150, 0, 0));
    }
}

#[test]
fn of_two_last_checkpoints_that_overlap_the_second_is_late() {
    // Windows of 60 and 65 s: writes for their ends begin at 50 and 55. By 60 the first has 5 + 2.5
    // of 10 s; the second has 2.5 s then, and writes alone until 65: 7.5 s. Neither counts.
    let mut case = together(2, Some(60), GapEnd::Checkpoint);
    case.windows[1] = Some(65);
    for job in &mut case.jobs {
        job.deadline = Seconds(72);
    }
    let first_runs: Vec<Execution> = (case.simulate().1.iter())
        .map(|outcome| outcome.execution.expect("it ran"))
        .collect();
    assert_eq!((first_runs[0].useful.0, first_runs[1].useful.0), (0, 0));
    assert_eq!((first_runs[0].waited.0, first_runs[1].waited.0), (2, 2));
    // Alone, the first one's counts.
    case.jobs.truncate(1);
    case.windows.truncate(1);
    let alone = case.simulate().1[0].execution.expect("it ran");
    assert_eq!((alone.useful.0, alone.waited.0), (50, 0));
}

prop_compose! {
    fn jobs()(
        shapes in prop::collection::vec(
            (0_i64..12, 1_i64..90, 1_i64..110, 0_i64..160, 1_u32..4, prop::option::weighted(0.7, 1_i64..70)),
            1..9,
        ),
    ) -> (Vec<Job>, Vec<Option<i64>>) {
        let mut submit = Seconds(0);
        let all = (0..).zip(shapes).map(|(id, (later, estimate, runtime, slack, nodes, window))| {
            submit += Seconds(later);
            let job = Job::rigid(JobId(id), submit, Nodes(nodes), Seconds(estimate))
                .running_for(Seconds(runtime))
                .due_by(submit + Seconds(estimate + slack))
                .numbered(1);
            (job, window)
        });
        all.unzip()
    }
}

prop_compose! {
    fn cases()(
        (jobs, windows) in jobs(),
        interval in 1_i64..40,
        cost in 1_i64..14,
        restart in 0_i64..6,
        most in prop::option::of(1_u32..6),
        gap_end in prop_oneof![3 => Just(GapEnd::Checkpoint), 1 => Just(GapEnd::Kill), 2 => Just(GapEnd::Suspend)],
        longer in prop_oneof![2 => Just(0_i64), 1 => 1_i64..40],
        struck in prop::collection::vec((1_i64..150, 0_u32..8 * BLOCK), 0..8),
    ) -> Case {
        let mut failures: Vec<NodeEvent> = struck
            .into_iter()
            .filter(|&(_, node)| node < BLOCK * jobs.len() as u32)
            .map(|(time, node)| NodeEvent { time: Seconds(time), node: NodeIndex(node), up: false })
            .collect();
        failures.sort_by_key(|event| (event.time, event.node));
        let bandwidth = most.map_or(Bandwidth::SharedByJobs, |most| Bandwidth::SharedByNodes(Nodes(most)));
        let settings = CheckpointSettings { bandwidth, ..shared(interval, cost, restart, gap_end) };
        Case { settings, jobs, windows, longer, failures }
    }
}

proptest! {
    #[test]
    fn runs_are_those_of_a_twin_that_watches_every_second(case in cases()) {
        let (metrics, outcomes) = case.simulate();
        let (watched, most) = watch(&case);
        for (outcome, twin) in outcomes.iter().zip(&watched) {
            let ended = outcome.end.map(|end| (outcome.verdict, end.0));
            prop_assert_eq!(ended, twin.outcome, "{:?}", outcome);
            prop_assert_eq!(outcome.execution.unwrap_or_default(), twin.runs, "{:?}", outcome);
        }
        prop_assert_eq!(metrics.checkpoints.shared.map(|shared| shared.most_writers), Some(most));
    }

    #[test]
    fn a_job_that_is_alone_runs_as_with_bandwidth_of_its_own(case in cases()) {
        // One job, whose window is not lengthened, and no failure behind a write for its end that
        // another one began.
        let mut alone = Case { longer: 0, failures: Vec::new(), ..case };
        alone.jobs.truncate(1);
        alone.windows.truncate(1);
        let width = alone.jobs[0].nodes;
        if let Bandwidth::SharedByNodes(most) = &mut alone.settings.bandwidth {
            *most = width.max(*most);
        }
        let (mut shared, of_shared) = alone.simulate();
        alone.settings.bandwidth = Bandwidth::Own;
        let (own, of_own) = alone.simulate();
        shared.checkpoints.shared = None;
        prop_assert_eq!(shared, own);
        prop_assert_eq!(of_shared, of_own);
    }
}
