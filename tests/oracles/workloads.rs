//! Random workloads of a few minutes on a few nodes.

use std::fmt;
use std::sync::Arc;

use bookahead::estimates::{
    Binning, ClassFamily, EstimateModel, EstimateSettings, LearningJobs, Overrun,
};
use bookahead::failures::{FailureTrace, NodeEvent, SurvivalModel};
use bookahead::scheduling::{
    Acceptance, ClusterMachine, JobOutcome, LongerEstimates, PolicySpec, Reliability,
    SimulationMetrics, Verdict,
};
use bookahead::units::{NodeIndex, Nodes, Seconds};
use bookahead::workload::{Job, JobId};
use bookahead_overbooking::Work;
use bookahead_overbooking::registry;
use bookahead_overbooking::{Replay, replay};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Everything that a simulation is told, except its strategy.
#[derive(Clone)]
pub struct Case {
    pub nodes: u32,
    pub jobs: Vec<Job>,
    pub failures: FailureTrace,
    /// Ratio of runtime to estimate of each learning job, in percent.
    pub history: Vec<i64>,
    /// The same of further learning jobs, each with its user.
    pub habits: Vec<(i64, i64)>,
    /// The users of jobs with odd ids ask for more time so many seconds before the end.
    pub asks: Option<i64>,
    pub threshold: f64,
    /// λ per node-hour.
    pub failure_rate: f64,
    /// 1/μ in seconds.
    pub mean_time_to_repair: i64,
}

/// As it would be written in a test, a line a job and a line a node event.
impl fmt::Debug for Case {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{} nodes, PoF_max {:?}",
            self.nodes, self.threshold
        )?;
        let (rate, repair) = (self.failure_rate, self.mean_time_to_repair);
        writeln!(
            formatter,
            "failure_rate {rate:?}, mean_time_to_repair {repair}"
        )?;
        writeln!(formatter, "history {:?}", self.history)?;
        writeln!(formatter, "habits {:?}, asks {:?}", self.habits, self.asks)?;
        for job in &self.jobs {
            let times = [
                job.submit,
                job.release,
                job.estimate,
                job.runtime,
                job.deadline,
            ];
            let [submit, release, estimate, runtime, deadline] = times.map(|time| time.0);
            let (id, nodes) = (job.id.0, job.nodes.0);
            writeln!(
                formatter,
                "job({id}, [{submit}, {release}, {estimate}, {runtime}, {deadline}, {nodes}]) {:?} {:?}",
                job.kind, job.user
            )?;
        }
        for event in &self.failures.events {
            let state = if event.up { "up" } else { "down" };
            writeln!(formatter, "{}: node {} {state}", event.time.0, event.node.0)?;
        }
        Ok(())
    }
}

impl Case {
    /// As it is, and some jobs are fixed reservations: `starts` says for each how long after its
    /// submission, if it is one.
    pub fn with_reservations(mut self, starts: &[Option<i64>]) -> Self {
        for (job, start) in self.jobs.iter_mut().zip(starts) {
            if let Some(delay) = start {
                let start = job.submit + Seconds(*delay);
                *job = job.clone().into_reservation(start);
            }
        }
        self
    }

    /// Share of the learning jobs that use this percent of their estimates; who uses more than all
    /// is stopped then.
    pub fn share(&self, percent: i64) -> f64 {
        let of_users = self.habits.iter().map(|&(_, ratio)| ratio);
        let all = || self.history.iter().copied().chain(of_users.clone());
        all().filter(|&ratio| ratio.min(100) == percent).count() as f64 / all().count() as f64
    }

    /// For how long a job of an underestimator is planned if a slot takes that: more than half of
    /// the learning jobs of its user ran longer than estimated, and these are the mean of it.
    pub fn longer(&self, job: &Job) -> Option<i64> {
        let of_user = (self.habits.iter()).filter(|&&(user, _)| job.user == Some(user));
        let over: Vec<i64> = of_user
            .clone()
            .map(|it| it.1)
            .filter(|it| *it > 100)
            .collect();
        let (count, sum) = (
            over.len() as i64,
            over.iter().map(|it| *it.min(&200)).sum::<i64>(),
        );
        (2 * over.len() > of_user.count())
            .then(|| (job.estimate.0 * sum + 100 * count - 1) / (100 * count))
    }

    pub fn settings(&self, strategy: &str) -> PolicySpec {
        PolicySpec {
            acceptance: Acceptance::Pof {
                maximum: self.threshold,
            },
            reliability: Reliability {
                survival: SurvivalModel::Poisson {
                    rate_per_hour: self.failure_rate,
                },
                failure_rate_per_hour: self.failure_rate,
                repair_rate_per_hour: 3_600.0 / self.mean_time_to_repair as f64,
                ..Reliability::default()
            },
            time_step: Seconds(1),
            ..PolicySpec::named(strategy)
        }
    }

    pub fn simulate(&self, settings: &PolicySpec) -> (SimulationMetrics, Vec<JobOutcome>) {
        let replay = self.replay(settings);
        (replay.metrics, replay.outcomes)
    }

    pub fn replay(&self, settings: &PolicySpec) -> Replay {
        let learning: Vec<Job> = (0..)
            .zip(&self.history)
            .map(|(id, &percent)| job(id, [0, 0, 100, percent, 200, 1]))
            .chain(
                self.habits
                    .iter()
                    .map(|&(user, percent)| job(0, [0, 0, 100, percent, 200, 1]).of_user(user)),
            )
            .collect();
        let rules = EstimateSettings {
            family: ClassFamily::All,
            binning: Binning::Round,
            learn_from: LearningJobs::Before,
            overrun: Overrun::Clamp,
            minimum_class_size: 1,
            ..EstimateSettings::default()
        };
        let model = EstimateModel::learn(&learning, &rules).expect("there are learning jobs");
        let strategy = registry::strategy(&settings.strategy).expect("a registered strategy");
        let (nodes, model) = (Nodes(self.nodes), Arc::new(model));
        let policy = (strategy.build)(nodes, settings, Some(model));
        let jobs = Work::Jobs(self.jobs.as_slice().into());
        let failures = self.failures.clone().into();
        let mut machine = ClusterMachine::new(nodes, policy);
        if let Some(before) = self.asks {
            let odd = (0..self.jobs.len()).map(|id| id % 2 == 1);
            machine.let_ask(LongerEstimates::of(odd.collect(), Seconds(before)));
        }
        replay(machine, jobs, &failures)
    }
}

/// A job from `[submit, release, estimate, runtime, deadline, nodes]` in seconds.
pub fn job(id: u32, [submit, release, estimate, runtime, deadline, nodes]: [i64; 6]) -> Job {
    Job::rigid(
        JobId(id),
        Seconds(submit),
        Nodes(nodes as u32),
        Seconds(estimate),
    )
    .running_for(Seconds(runtime))
    .released_at(Seconds(release))
    .due_by(Seconds(deadline))
    .numbered(i64::from(id) + 1)
}

/// Outages of nodes, `(node, down, up)` in seconds.
pub fn outages(outages: impl IntoIterator<Item = (u32, i64, i64)>) -> FailureTrace {
    let mut events: Vec<NodeEvent> = outages
        .into_iter()
        .flat_map(|(node, down, up)| {
            [(down, false), (up, true)].map(|(time, up)| NodeEvent {
                time: Seconds(time),
                node: NodeIndex(node),
                up,
            })
        })
        .collect();
    events.sort_by_key(|event| (event.time, !event.up, event.node));
    FailureTrace { events }
}

/// Which workloads are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    NoFailures,
    Failures,
}

prop_compose! {
    fn shape(nodes: u32)(
        gap in prop_oneof![2 => Just(0_i64), 5 => 1_i64..12, 1 => 12_i64..80],
        delay in prop_oneof![5 => Just(0_i64), 1 => 1_i64..60],
        estimate in prop_oneof![1 => 1_i64..6, 3 => (1_i64..7).prop_map(|tens| 10 * tens), 4 => 5_i64..90],
        percent in prop_oneof![1 => Just(0_i64), 1 => Just(100_i64), 6 => 1_i64..120],
        laxity in prop_oneof![1 => 20_i64..100, 2 => Just(200_i64), 3 => 100_i64..300],
        width in prop_oneof![12 => 1..=nodes, 6 => 1..=nodes.div_ceil(3), 1 => Just(nodes), 1 => Just(nodes + 1)],
    ) -> [i64; 6] {
        let runtime = (estimate * percent + 50) / 100;
        [gap, delay, estimate, runtime, (estimate * laxity + 99) / 100, i64::from(width)]
    }
}

prop_compose! {
    fn outages_of(nodes: u32, kind: Kind)(
        spells in prop::collection::vec((0..nodes, 1_i64..250, 1_i64..90), match kind {
            Kind::NoFailures => 0..1,
            Kind::Failures => 1..16,
        }),
    ) -> FailureTrace {
        let mut clock = vec![-1; nodes as usize];
        outages(spells.into_iter().map(|(node, gap, down)| {
            let fails = clock[node as usize] + gap;
            clock[node as usize] = fails + down;
            (node, fails, fails + down)
        }).collect::<Vec<_>>())
    }
}

prop_compose! {
    /// A machine of 1 to 16 nodes with 1 to 40 jobs on it.
    pub fn case(kind: Kind)(nodes in prop_oneof![1_u32..6, 1_u32..17])(
        shapes in prop::collection::vec(shape(nodes), 1..=40),
        failures in outages_of(nodes, kind),
        history in prop::collection::vec(prop_oneof![0_i64..=100, Just(100_i64), 0_i64..30], 1..25),
        threshold in prop_oneof![
            (1_i32..=20).prop_map(|step| f64::from(step) / 20.0),
            0.05_f64..=1.0,
        ],
        failure_rate in prop_oneof![Just(0.0), Just(1.2904e-4), 0.0_f64..1.5],
        mean_time_to_repair in prop_oneof![1_i64..200, 20_i64..60],
        nodes in Just(nodes),
    ) -> Case {
        let mut submit = 0;
        let jobs = (0..).zip(shapes).map(|(id, [gap, delay, estimate, runtime, laxity, width])| {
            submit += gap;
            let release = submit + delay;
            job(id, [submit, release, estimate, runtime, release + laxity, width])
        }).collect();
        Case { nodes, jobs, failures, history, threshold, habits: Vec::new(), asks: None, failure_rate, mean_time_to_repair }
    }
}

prop_compose! {
    /// As [`case`], with jobs of four users, of whom three are known and some underestimate.
    pub fn of_users(kind: Kind)(
        case in case(kind),
        users in prop::collection::vec(0_i64..4, 40),
        habits in prop::collection::vec((0_i64..3, prop_oneof![40_i64..=100, 101_i64..260]), 1..9),
    ) -> Case {
        let jobs = case.jobs.iter().zip(users).map(|(job, user)| job.clone().of_user(user));
        Case { jobs: jobs.collect(), habits, ..case.clone() }
    }
}

prop_compose! {
    /// As [`of_users`]; many jobs need more than they ask for, and some users ask for more time.
    pub fn asking(kind: Kind)(
        case in of_users(kind), more in prop::collection::vec(0_i64..60, 40), before in 1_i64..60,
    ) -> Case {
        let jobs = case.jobs.iter().zip(more).map(|(job, more)| {
            job.clone().running_for(job.runtime + Seconds(more))
        });
        Case { jobs: jobs.collect(), asks: Some(before), ..case.clone() }
    }
}

prop_compose! {
    /// As [`case`], with a third of the jobs fixed reservations, now or later.
    pub fn mixed(kind: Kind)(
        case in case(kind),
        starts in prop::collection::vec(
            prop::option::weighted(0.35, prop_oneof![1 => Just(0_i64), 5 => 1_i64..150]),
            40,
        ),
    ) -> Case {
        case.with_reservations(&starts)
    }
}

#[test]
fn the_random_mixes_accept_and_reject_reservations_and_lose_some_to_nodes() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let cases: Vec<Case> = (0..256)
        .map(|_| {
            let tree = mixed(Kind::Failures).new_tree(&mut runner);
            tree.expect("nothing is filtered").current()
        })
        .collect();
    for strategy in bookahead_overbooking::registry::STRATEGIES {
        let outcomes: Vec<JobOutcome> = cases
            .iter()
            .flat_map(|case| case.simulate(&case.settings(strategy.name)).1)
            .filter(|outcome| outcome.job.is_reservation())
            .collect();
        for &verdict in Verdict::ALL {
            let count = outcomes
                .iter()
                .filter(|outcome| outcome.verdict == verdict)
                .count();
            // Reservations are not overbooked, and nobody here refuses a late end.
            if let Verdict::FailedOverbooked | Verdict::DroppedByCustomer = verdict {
                assert_eq!(count, 0, "{}", strategy.name);
            } else {
                assert!(count >= 20, "{count} {} {}", strategy.name, verdict.name());
            }
        }
    }
}

#[test]
fn the_random_workloads_reach_every_verdict_and_restarts() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let cases: Vec<Case> = (0..256)
        .map(|_| {
            let tree = case(Kind::Failures).new_tree(&mut runner);
            tree.expect("nothing is filtered").current()
        })
        .collect();
    for strategy in ["heuristic-overbooking", "comprehensive-overbooking"] {
        let outcomes: Vec<JobOutcome> = cases
            .iter()
            .flat_map(|case| case.simulate(&case.settings(strategy)).1)
            .collect();
        for &verdict in Verdict::ALL {
            let found = outcomes.iter().filter(|outcome| outcome.verdict == verdict);
            // Nobody here refuses a late end.
            let (count, is_reached) = (found.count(), verdict != Verdict::DroppedByCustomer);
            assert_eq!(
                count >= 20,
                is_reached,
                "{count} {strategy} {}",
                verdict.name()
            );
        }
        let restarted = outcomes.iter().filter(|outcome| outcome.restarts > 0);
        assert!(restarted.count() >= 20, "{strategy}");
        let regained = outcomes.iter().filter(|outcome| {
            outcome.verdict.is_successful()
                && outcome.promise.is_some_and(|promise| promise.overbooked)
                && outcome
                    .start
                    .zip(outcome.end)
                    .zip(outcome.promise)
                    .is_some_and(|((start, end), promise)| {
                        end - start > promise.end - promise.start
                    })
        });
        assert!(regained.count() >= 20, "{strategy}");
    }
}
