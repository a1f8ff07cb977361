//! What holds for any jobs and failures.

use super::*;

/// The policy with its plan and the cluster looked at after every event.
struct Watched(Shortening);

impl Watched {
    fn check(&self, cluster: &Cluster) {
        let reservations = self.0.plan.reservations();
        for (index, one) in reservations.iter().enumerate() {
            for other in &reservations[index + 1..] {
                let overlap = one.start < other.end && other.start < one.end;
                assert!(
                    !overlap || !one.nodes.intersects(&other.nodes),
                    "two reservations of a node at a time: {one:?} and {other:?}"
                );
            }
        }
        let mut taken = NodeSet::empty(cluster.nodes());
        for id in 0..JOBS {
            if cluster.phase(JobId(id)) == Phase::Running
                && let Some(nodes) = cluster.nodes_of(JobId(id))
            {
                assert!(!nodes.intersects(&taken), "a node runs two jobs");
                assert!(!nodes.intersects(cluster.idle()) && nodes.is_subset_of(cluster.up()));
                assert_eq!(nodes.count(), cluster.job(JobId(id)).nodes);
                taken.union_with(nodes);
            }
        }
    }
}

impl Policy for Watched {
    fn arrived(&mut self, cluster: &mut Cluster, job: JobId) {
        self.0.arrived(cluster, job);
        self.check(cluster);
    }
    fn start_due(&mut self, cluster: &mut Cluster, job: JobId) {
        self.0.start_due(cluster, job);
        self.check(cluster);
    }
    fn ended(&mut self, cluster: &mut Cluster, job: JobId) {
        self.0.ended(cluster, job);
        self.check(cluster);
    }
    fn node_failed(&mut self, cluster: &mut Cluster, node: NodeIndex, victim: Option<JobId>) {
        self.0.node_failed(cluster, node, victim);
        self.check(cluster);
    }
    fn node_repaired(&mut self, cluster: &mut Cluster, node: NodeIndex) {
        self.0.node_repaired(cluster, node);
        self.check(cluster);
    }
    fn give_up_due(&mut self, cluster: &mut Cluster, job: JobId) {
        self.0.give_up_due(cluster, job);
        self.check(cluster);
    }
    fn cancelled(&mut self, cluster: &mut Cluster, job: JobId) {
        self.0.cancelled(cluster, job);
        self.check(cluster);
    }
}

const JOBS: u32 = 60;
pub(super) const NODES: u32 = 8;

fn watched(
    settings: &ShorteningSettings,
    jobs: &[Job],
    failures: &FailureTrace,
) -> (SimulationMetrics, Vec<JobOutcome>) {
    watched_with(settings, history(&[20, 50, 80, 100]), jobs, failures)
}

pub(super) fn watched_with(
    settings: &ShorteningSettings,
    estimates: Arc<EstimateModel>,
    jobs: &[Job],
    failures: &FailureTrace,
) -> (SimulationMetrics, Vec<JobOutcome>) {
    let policy = Shortening::new(Nodes(NODES), settings.clone(), Some(estimates));
    let mut machine = ClusterMachine::new(Nodes(NODES), Box::new(Watched(policy)));
    machine.submit(jobs.iter().cloned());
    machine.inject(&failures.events);
    while !machine.is_idle() {
        let next = machine.next_event().expect("open jobs have events");
        machine.advance(next + Seconds(1));
    }
    let mut outcomes = machine.take_outcomes();
    outcomes.sort_unstable_by_key(|outcome| outcome.job.id);
    (machine.metrics(), outcomes)
}

/// (gap before, nodes, estimate, percent used, laxity, delay of the release) of each job.
pub(super) fn workload() -> impl Strategy<Value = Vec<Job>> {
    let drawn = (
        0_i64..40,
        1_u32..=NODES,
        1_i64..120,
        0_i64..=110,
        10_i64..40,
        0_i64..30,
    );
    prop::collection::vec(drawn, 1..JOBS as usize).prop_map(|drawn| {
        let mut submit = 0;
        drawn
            .into_iter()
            .enumerate()
            .map(|(id, (gap, nodes, estimate, percent, laxity, delay))| {
                submit += gap;
                // Half of the jobs are released at once; odd times, so that rounding shows.
                let release = submit * 7 + if id % 2 == 0 { 0 } else { delay * 7 };
                let estimate = estimate * 31;
                let id = JobId(id as u32);
                Job::rigid(id, Seconds(submit * 7), Nodes(nodes), Seconds(estimate))
                    .running_for(Seconds(1 + estimate * percent / 100))
                    .released_at(Seconds(release))
                    .due_by(Seconds(release + estimate * laxity / 10))
                    .numbered(i64::from(id.0) + 1)
            })
            .collect()
    })
}

pub(super) fn outages() -> impl Strategy<Value = FailureTrace> {
    prop::collection::vec((0_u32..NODES, 0_i64..6_000, 1_i64..2_000), 0..6).prop_map(|drawn| {
        let mut events = Vec::new();
        for node in 0..NODES {
            // One outage a node is enough.
            if let Some(&(_, down, length)) = drawn.iter().find(|outage| outage.0 == node) {
                for (time, up) in [(down, false), (down + length, true)] {
                    events.push(NodeEvent {
                        time: Seconds(time),
                        node: NodeIndex(node),
                        up,
                    });
                }
            }
        }
        events.sort_by_key(|event| (event.time, !event.up, event.node));
        FailureTrace { events }
    })
}

proptest! {
    #[test]
    fn plans_and_nodes_are_never_shared_and_only_overbooked_jobs_fail_without_failures(
        jobs in workload(), max_pof in 0.0_f64..1.0, early in any::<bool>(),
    ) {
        let settings = ShorteningSettings {
            early_start: if early { EarlyStart::Strategy } else { EarlyStart::No },
            ..settings(max_pof)
        };
        let (metrics, outcomes) = watched(&settings, &jobs, &FailureTrace::default());
        prop_assert_eq!(outcomes.len(), jobs.len());
        prop_assert_eq!(metrics.failed, metrics.failed_overbooked);
        for outcome in &outcomes {
            let Some(promise) = outcome.promise else { continue };
            let (start, end) = (outcome.start.unwrap(), outcome.end.unwrap());
            prop_assert!(start >= outcome.job.release && end <= outcome.job.deadline);
            if early {
                if !promise.overbooked {
                    prop_assert!(start <= promise.start);
                }
            } else {
                prop_assert!(start >= promise.start);
            }
            if outcome.verdict.is_failed() {
                prop_assert!(promise.overbooked && outcome.verdict == Verdict::FailedOverbooked);
                prop_assert!(end - start < outcome.job.estimate.min(outcome.job.runtime));
            }
        }
    }

    #[test]
    fn plans_and_nodes_are_never_shared_with_failures(
        jobs in workload(), failures in outages(), max_pof in 0.0_f64..1.0, early in any::<bool>(), short in any::<bool>(),
    ) {
        let settings = ShorteningSettings {
            early_start: if early { EarlyStart::Strategy } else { EarlyStart::No },
            recovery: RecoverySettings {
                crash: if short { CrashRule::RestartShort } else { CrashRule::RestartFull },
                failed_start: if short { FailedStartRule::WaitShort } else { FailedStartRule::WaitFull },
                ..RecoverySettings::default()
            },
            ..settings(max_pof)
        };
        let (metrics, outcomes) = watched(&settings, &jobs, &failures);
        prop_assert_eq!(outcomes.len(), jobs.len());
        prop_assert_eq!(metrics.submitted, metrics.accepted + metrics.dropped);
    }

    #[test]
    fn with_a_max_pof_of_zero_it_is_conservative_backfilling_with_early_starts(
        jobs in workload(), failures in outages(), early in any::<bool>(),
    ) {
        let early_start = if early { EarlyStart::Yes } else { EarlyStart::No };
        let recovery = RecoverySettings {
            crash: CrashRule::RestartShort,
            failed_start: FailedStartRule::WaitShort,
            ..RecoverySettings::default()
        };
        let shortening = ShorteningSettings { early_start, recovery, ..settings(0.0) };
        let conservative = ComprehensiveSettings {
            early_start,
            recovery,
            ..ComprehensiveSettings::default()
        };
        let model = Some(history(&[20, 50, 80, 100]));
        let mut ours = simulate(Nodes(NODES), &shortening, model, &jobs, &failures);
        let conservative = Comprehensive::backfilling(Nodes(NODES), conservative);
        let theirs = simulate_policy(Nodes(NODES), Box::new(conservative), &jobs, &failures);
        for promise in ours.1.iter_mut().filter_map(|outcome| outcome.promise.as_mut()) {
            // Conservative backfilling asks for no distribution.
            promise.ratios = None;
        }
        prop_assert_eq!(ours.1, theirs.1);
    }
}
