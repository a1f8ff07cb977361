use super::*;
use rand::RngExt;

use bookahead_core::failures::{FailureTrace, NodeEvent, Outage};
use bookahead_core::scheduling::{
    ClusterMachine, CrashRule, FailedStartRule, JobOutcome, Policy, PolicySpec, Promise, Verdict,
    simulate_policy,
};
use bookahead_core::units::{NodeIndex, Nodes};
use bookahead_core::workload::Job;

use crate::policies::{Comprehensive, ComprehensiveSettings};
use crate::registry;

/// Gives every job the whole machine at its release, and does nothing else with it than what the
/// list of disabled jobs says.
struct WholeMachine {
    plan: NodePlan,
    disabled: DisabledJobs,
}

impl WholeMachine {
    fn disable(&mut self, cluster: &mut Cluster, job: JobId, cause: Cause) {
        let nodes = NodeSet::full(cluster.nodes());
        if self.disabled.wait(cluster, job, nodes, cause).is_err() {
            cluster.fail(job);
        }
    }

    fn retry(&mut self, cluster: &mut Cluster, occasion: Occasion) {
        for job in self.disabled.due(occasion) {
            if let Some(nodes) = self.disabled.take_startable(cluster, &self.plan, job) {
                let end = latest_end(cluster, &self.plan, job, &nodes);
                cluster.start(job, nodes, end);
            }
        }
    }
}

impl Policy for WholeMachine {
    fn arrived(&mut self, cluster: &mut Cluster, id: JobId) {
        let job = cluster.job(id);
        let (start, end) = (job.release, job.release + job.estimate);
        self.plan.insert(Reservation {
            job: id,
            nodes: NodeSet::full(cluster.nodes()),
            start,
            end,
        });
        cluster.promise(id, Promise::certain(start, end), None);
        cluster.plan(id, start);
    }

    fn start_due(&mut self, cluster: &mut Cluster, job: JobId) {
        let nodes = NodeSet::full(cluster.nodes());
        if nodes.is_subset_of(cluster.idle()) {
            let end = latest_end(cluster, &self.plan, job, &nodes);
            cluster.start(job, nodes, end);
        } else {
            self.disable(cluster, job, Cause::FailedStart);
        }
    }

    fn ended(&mut self, cluster: &mut Cluster, _: JobId) {
        self.retry(cluster, Occasion::NodesFreed);
    }

    fn node_failed(&mut self, cluster: &mut Cluster, _: NodeIndex, victim: Option<JobId>) {
        if let Some(job) = victim {
            self.disable(cluster, job, Cause::Crash);
        }
    }

    fn node_repaired(&mut self, cluster: &mut Cluster, _: NodeIndex) {
        self.retry(cluster, Occasion::Repair);
    }

    fn give_up_due(&mut self, cluster: &mut Cluster, job: JobId) {
        self.disabled.remove(job);
        cluster.fail(job);
    }

    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        self.disabled.remove(job);
        self.plan.remove(job);
        cluster.withdraw(job);
    }
}

/// A job of 100 s on both nodes, to be done by 300.
fn job(id: u32, release: i64) -> Job {
    Job::rigid(JobId(id), Seconds(0), Nodes(2), Seconds(100))
        .due_by(Seconds(300))
        .released_at(Seconds(release))
        .numbered(1)
}

fn outcomes(settings: &RecoverySettings, jobs: &[Job], down: (i64, i64)) -> Vec<JobOutcome> {
    let policy = WholeMachine {
        plan: NodePlan::new(Nodes(2)),
        disabled: DisabledJobs::new(settings, false),
    };
    let mut machine = ClusterMachine::new(Nodes(2), Box::new(policy));
    machine.submit(jobs.iter().cloned());
    let event = |time, up| NodeEvent {
        time: Seconds(time),
        node: NodeIndex(0),
        up,
    };
    machine.inject(&[event(down.0, false), event(down.1, true)]);
    machine.advance(Seconds::FAR);
    let mut outcomes = machine.take_outcomes();
    outcomes.sort_by_key(|outcome| outcome.job.id);
    outcomes
}

fn after_crash(crash: CrashRule) -> RecoverySettings {
    RecoverySettings {
        crash,
        ..RecoverySettings::default()
    }
}

/// Verdict and last start of the only job, whose node is down from 50 to `repair`.
fn crashed(crash: CrashRule, repair: i64) -> (Verdict, Option<Seconds>, Option<Seconds>) {
    let only = &outcomes(&after_crash(crash), &[job(0, 0)], (50, repair))[0];
    (only.verdict, only.start, only.end)
}

#[test]
fn a_job_that_crashed_starts_again_when_its_nodes_are_back_and_its_estimate_still_fits() {
    // 200 + 100 is the deadline.
    assert_eq!(
        crashed(CrashRule::RestartFull, 200),
        (
            Verdict::SuccessfulFinished,
            Some(Seconds(200)),
            Some(Seconds(300))
        )
    );
}

#[test]
fn a_job_whose_estimate_no_longer_fits_before_its_deadline_is_given_up() {
    // 300 − 100 + 1: the first second from which the estimate does not fit.
    assert_eq!(
        crashed(CrashRule::RestartFull, 202),
        (Verdict::FailedNodes, Some(Seconds(0)), Some(Seconds(201)))
    );
}

#[test]
fn a_job_that_may_run_shorter_starts_again_at_any_time_before_its_deadline() {
    assert_eq!(
        crashed(CrashRule::RestartShort, 299),
        (
            Verdict::FailedOverbooked,
            Some(Seconds(299)),
            Some(Seconds(300))
        )
    );
    assert_eq!(
        crashed(CrashRule::RestartShort, 300),
        (Verdict::FailedNodes, Some(Seconds(0)), Some(Seconds(300)))
    );
}

#[test]
fn a_job_without_another_start_fails_at_once() {
    assert_eq!(
        crashed(CrashRule::Final, 60),
        (Verdict::FailedNodes, Some(Seconds(0)), Some(Seconds(50)))
    );
}

#[test]
fn the_rule_for_failed_starts_is_not_the_rule_for_crashes() {
    let settings = RecoverySettings {
        crash: CrashRule::Final,
        failed_start: FailedStartRule::WaitFull,
        ..RecoverySettings::default()
    };
    let late = &outcomes(&settings, &[job(0, 10)], (5, 30))[0];
    assert_eq!(
        (late.verdict, late.start),
        (Verdict::SuccessfulFinished, Some(Seconds(30)))
    );
}

#[test]
fn a_job_does_not_start_again_where_its_window_ends_at_the_next_reservation_too_early() {
    // The first job would have to be done by 150, when the second has the machine: it waits until
    // 250, and is given up at 201.
    let both = outcomes(
        &after_crash(CrashRule::RestartFull),
        &[job(0, 0), job(1, 150)],
        (40, 60),
    );
    assert_eq!(
        (both[0].verdict, both[0].end),
        (Verdict::FailedNodes, Some(Seconds(201)))
    );
    assert_eq!(
        (both[1].verdict, both[1].start),
        (Verdict::SuccessfulFinished, Some(Seconds(150)))
    );
}

#[test]
fn disabled_jobs_are_tried_at_repairs_always_and_at_other_events_only_where_that_is_the_rule() {
    for (retry, at_events) in [
        (Retry::Events, vec![JobId(3)]),
        (Retry::Repairs, Vec::new()),
    ] {
        let settings = RecoverySettings {
            retry,
            ..RecoverySettings::default()
        };
        let mut disabled = DisabledJobs::new(&settings, true);
        let waiting = Disabled {
            nodes: NodeSet::full(Nodes(2)),
            recovery: Recovery::Full,
            has_no_deadline: false,
        };
        disabled.jobs.insert(JobId(3), waiting);
        assert!(disabled.contains(JobId(3)));
        assert_eq!(disabled.due(Occasion::NodesFreed), at_events);
        assert_eq!(disabled.due(Occasion::Repair), [JobId(3)]);
        assert_eq!(disabled.remove(JobId(3)), Some(NodeSet::full(Nodes(2))));
        assert!(disabled.due(Occasion::Repair).is_empty());
    }
}

#[test]
fn a_job_without_a_deadline_starts_when_what_is_held_in_front_of_it_was_held_for_nobody() {
    // The node is down when both later jobs should start, and back after 120 s. Only the last one
    // has the node reserved then; it runs for 5 s, and keeps it until 303 s in a plan that gives
    // nothing back.
    let of = |id, submit, estimate, runtime| {
        Job::rigid(JobId(id), Seconds(submit), Nodes(1), Seconds(estimate))
            .running_for(Seconds(runtime))
            .numbered(1)
    };
    let jobs = [of(0, 0, 100, 10), of(1, 1, 17, 16), of(2, 2, 183, 5)];
    let node = NodeIndex(0);
    let (start, end) = (Seconds(95), Seconds(120));
    let failures = FailureTrace::from_outages([Outage { node, start, end }]).unwrap();
    let policy = Comprehensive::backfilling(Nodes(1), ComprehensiveSettings::default());
    let (_, outcomes) = simulate_policy(Nodes(1), Box::new(policy), &jobs, &failures);
    let starts: Vec<_> = outcomes.iter().map(|outcome| outcome.start).collect();
    assert_eq!(starts, [0, 303, 120].map(|start| Some(Seconds(start))));
}

#[test]
fn no_job_without_a_deadline_is_forgotten_whatever_fails() {
    for number in 0..200 {
        let mut stream = bookahead_core::random::stream(number, "disabled", 0, "jobs");
        let mut submit = 0;
        let mut drawn = |id| {
            submit += stream.random_range(0..60);
            let estimate = stream.random_range(1..80);
            let runtime = Seconds(stream.random_range(1..=estimate));
            let nodes = Nodes(stream.random_range(1..=4));
            Job::rigid(JobId(id), Seconds(submit), nodes, Seconds(estimate))
                .running_for(runtime)
                .numbered(1)
        };
        let jobs: Vec<Job> = (0..20).map(&mut drawn).collect();
        let outages: Vec<Outage> = (0..stream.random_range(1..8))
            .map(|_| {
                let start = Seconds(stream.random_range(0..900));
                Outage {
                    node: NodeIndex(stream.random_range(0..4)),
                    start,
                    end: start + Seconds(stream.random_range(1..100)),
                }
            })
            .collect();
        let failures = FailureTrace::from_outages(outages).unwrap();
        for strategy in registry::STRATEGIES.iter().filter(|it| !it.overbooks) {
            let settings = PolicySpec {
                crash: CrashRule::Restart,
                ..PolicySpec::named(strategy.name)
            };
            let policy = (strategy.build)(Nodes(4), &settings, None);
            let (_, outcomes) = simulate_policy(Nodes(4), policy, &jobs, &failures);
            assert_eq!(outcomes.len(), 20, "{} {number}", strategy.name);
            // A job that does not fit beside the nodes that are down is not accepted.
            let fine = |outcome: &&JobOutcome| {
                outcome.verdict.is_successful() || outcome.verdict == Verdict::DroppedNoSlot
            };
            let failed = outcomes.iter().find(|outcome| !fine(outcome));
            assert_eq!(failed, None, "{} {number}", strategy.name);
        }
    }
}
