//! The study of overbooking: a policy on one cluster (Birkenheuer et al. 2008; Birkenheuer 2012).

use serde::{Deserialize, Serialize};

use crate::ClientSettings;
use crate::best_effort::BestEffortSettings;
use bookahead_core::estimates::EstimateSettings;
use bookahead_core::failures::{FailureSettings, FailureSource};
use bookahead_core::scheduling::registry::{PlanKind, Strategy};
use bookahead_core::scheduling::{
    CalibrationMethod, CalibrationSettings, CheckpointInterval, CheckpointSettings, DownHorizon,
    EarlyStart, NodeKnowledge, NodeOrder, Placing, PolicySpec, Reliability, ShorteningRule,
    UnderestimatorRule,
};
use bookahead_core::units::Seconds;
use bookahead_core::workload::{ReleaseSettings, RequestSettings};
use bookahead_lab::study::with_copies;
use bookahead_lab::study::{CommonSettings, SimulationSpec, jobs_of};

/// None: where a policy is named, it is simulated on a cluster.
pub const STRATEGY: Option<bookahead_lab::study::Strategy> = None;

/// What a policy on a cluster gets beside its jobs; everything else are the common settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverbookingStudy {
    /// Reservations that are made from the jobs, taken as jobs with a fixed window; `None` where
    /// there are none.
    #[serde(
        rename = "reservations",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub requests: Option<RequestSettings>,
    /// Jobs that may not start at their submission; `None` where all may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub releases: Option<ReleaseSettings>,
    /// How users react to what becomes of their jobs.
    #[serde(default, skip_serializing_if = "ClientSettings::is_default")]
    pub client: ClientSettings,
    /// Jobs that are promised nothing and run where the others leave nodes; `None` where all are
    /// promised their slots.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_effort: Option<BestEffortSettings>,
}

/// How much longer a job takes than with the default settings, about: measured on CTC SP2 in
/// batteries of 1,000 jobs, where placing rules took 56, 316, 387 and 641 µs a job with node plans,
/// and 17, 31, 34 and 32 µs with counts.
pub(super) fn per_job(policy: &PolicySpec) -> f64 {
    let is_counted = policy.strategy == "heuristic-overbooking";
    let is_mapped = policy.strategy == "comprehensive-overbooking";
    // Rules that compare all places weigh each; the others take the first that will do.
    let places = match policy.placing {
        Placing::HighestPos | Placing::BestOpportunity | Placing::LastFit if is_counted => 2.0,
        Placing::HighestPos | Placing::BestOpportunity if is_mapped => 6.0,
        Placing::LastFit if is_mapped => 11.0,
        _ => 1.0,
    };
    let conditions = if is_mapped && policy.condition_on_elapsed {
        2.0
    } else {
        1.0
    };
    places * conditions
}

impl OverbookingStudy {
    /// How many batteries are run before the simulated one, to learn from them: promises also from
    /// those that the statistics know already, the statistics only from those after their learning
    /// jobs.
    #[must_use]
    pub fn batteries_before(simulation: &SimulationSpec) -> u32 {
        if simulation.workload.whole.is_some() {
            return 0;
        }
        let of_promises = simulation.scheduling.promise_batteries();
        let of_statistics = simulation
            .estimates
            .as_ref()
            .map_or(0, EstimateSettings::batteries_before);
        of_promises.max(of_statistics.min(Self::replications_before(simulation)))
    }

    /// How many replications take batteries between the learning jobs and the simulated battery. A
    /// fresh replication learns from all jobs before its own.
    #[must_use]
    pub fn replications_before(simulation: &SimulationSpec) -> u32 {
        if simulation.workload.fresh {
            0
        } else {
            simulation.replication
        }
    }

    /// Jobs and requests of a simulation.
    pub(super) fn jobs(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload) * with_copies(self.requests.as_ref())
    }
}

/// Whether intervals of checkpoints follow from the failure rate.
fn needs_rate(checkpoint: Option<&CheckpointSettings>) -> bool {
    checkpoint.is_some_and(|settings| !matches!(settings.interval, CheckpointInterval::Fixed(_)))
}

/// Of a policy that does not overbook.
fn without_overbooking(strategy: Option<&Strategy>, policy: PolicySpec) -> PolicySpec {
    let default = PolicySpec::default();
    let compares = matches!(
        policy.placing,
        Placing::HighestPos | Placing::BestOpportunity
    );
    let test_full_length = policy.test_full_length && !policy.acceptance.is_of_time();
    let acceptance = if test_full_length {
        policy.acceptance.normalised()
    } else {
        default.acceptance
    };
    let repair_rate_per_hour = match policy.down_horizon {
        DownHorizon::Mttr if strategy.is_none_or(|strategy| strategy.plan == PlanKind::Counted) => {
            policy.reliability.repair_rate_per_hour
        }
        DownHorizon::Mttr | DownHorizon::Forever | DownHorizon::None => {
            default.reliability.repair_rate_per_hour
        }
    };
    let failure_rate_per_hour = if needs_rate(policy.checkpoint.as_ref()) {
        policy.reliability.failure_rate_per_hour
    } else {
        default.reliability.failure_rate_per_hour
    };
    PolicySpec {
        test_full_length,
        reliability: if test_full_length || compares || policy.double_execution.is_some() {
            policy.reliability
        } else {
            Reliability {
                failure_rate_per_hour,
                repair_rate_per_hour,
                ..default.reliability
            }
        },
        // Without overbooking, first fit finds what near best fit finds.
        placing: match policy.placing {
            Placing::FirstFit => Placing::NearBestFit,
            placing => placing,
        },
        acceptance,
        excluded: default.excluded,
        ..policy
    }
}

/// What of these settings the policy of a cluster reads; the rest is set to its default, and tests
/// that say the same become one.
#[must_use]
pub fn policy_read(
    strategy: Option<&Strategy>,
    failures: &FailureSettings,
    given: PolicySpec,
) -> PolicySpec {
    let policy = match strategy {
        Some(strategy) => read_by(strategy, given),
        None => given,
    };
    let computes = computes_probabilities(strategy);
    let adapts = computes && policy.adapt_security_factor;
    let policy = PolicySpec {
        calibration: calibration_read(computes, adapts, policy.calibration),
        adapt_security_factor: adapts,
        ..policy
    };
    let policy = nodes_read(strategy, failures, policy);
    if !strategy.is_none_or(|strategy| strategy.overbooks) {
        return without_overbooking(strategy, policy);
    }
    PolicySpec {
        acceptance: policy.acceptance.normalised(),
        test_full_length: policy.test_full_length && !policy.acceptance.is_of_time(),
        ..policy
    }
}

/// Of a cluster's policy: what its kind of plan does not read is set to its default, rules of the
/// strategy's own are written out.
fn read_by(strategy: &Strategy, policy: PolicySpec) -> PolicySpec {
    let default = PolicySpec::default();
    let recovering = PolicySpec {
        crash: policy
            .crash
            .written_out(strategy.overbooks, policy.checkpoint.is_some()),
        failed_start: policy.failed_start.written_out(strategy.overbooks),
        ..policy
    };
    let policy = match strategy.plan {
        PlanKind::Queue => PolicySpec {
            checkpoint: None,
            penalty: None,
            crash: default.crash,
            failed_start: default.failed_start,
            retry: default.retry,
            early_start: default.early_start,
            ..without_load(without_counts(recovering))
        },
        PlanKind::Mapped => PolicySpec {
            double_execution: recovering.double_execution,
            ..without_counts(recovering)
        },
        PlanKind::Shortened => without_load(without_counts(recovering)),
        // A place on a shelf is the only one that is looked at, and nobody tests it.
        PlanKind::Shelves => PolicySpec {
            placing: default.placing,
            test_full_length: default.test_full_length,
            ..without_load(without_counts(recovering))
        },
        PlanKind::Counted => PolicySpec {
            early_start: default.early_start,
            ..recovering
        },
    };
    let policy = PolicySpec {
        backfill_risk: if strategy.backfills {
            policy.backfill_risk
        } else {
            default.backfill_risk
        },
        shelves: if strategy.plan == PlanKind::Shelves {
            policy.shelves
        } else {
            default.shelves
        },
        checkpoint: policy.checkpoint.map(CheckpointSettings::normalised),
        ..policy
    };
    let policy = match strategy.plan {
        PlanKind::Shortened if policy.shortening == ShorteningRule::MaxPof => policy,
        // Whoever overestimates is promising, and maxPoF cuts nothing.
        PlanKind::Shortened => PolicySpec {
            promising: default.promising,
            acceptance: if policy.test_full_length {
                policy.acceptance
            } else {
                default.acceptance
            },
            ..policy
        },
        // Only the algorithm of 2008 asks what is usual; everybody else computes probabilities, or
        // plans nothing.
        PlanKind::Queue | PlanKind::Mapped | PlanKind::Counted | PlanKind::Shelves => PolicySpec {
            promising: default.promising,
            underestimators: if strategy.plan == PlanKind::Queue {
                default.underestimators
            } else {
                policy.underestimators
            },
            shortening: default.shortening,
            ..policy
        },
    };
    if strategy.overbooks && strategy.plan == PlanKind::Mapped {
        return match policy.early_start {
            // Whoever overlaps others runs only where these end early.
            EarlyStart::No => PolicySpec {
                overlap: default.overlap,
                ..policy
            },
            EarlyStart::Strategy | EarlyStart::Yes => policy,
        };
    }
    PolicySpec {
        time_step: default.time_step,
        convolution: default.convolution,
        condition_on_elapsed: default.condition_on_elapsed,
        predecessors: default.predecessors,
        hold_for_overbooked: default.hold_for_overbooked,
        user_factor: default.user_factor,
        overlap: default.overlap,
        ..policy
    }
}

/// Rates of single nodes are read where jobs are bound to nodes, and there is something to learn
/// from where failures came before the simulation starts.
fn nodes_read(
    strategy: Option<&Strategy>,
    failures: &FailureSettings,
    mut policy: PolicySpec,
) -> PolicySpec {
    let is_seen = failures.source != FailureSource::None && failures.offset > Seconds::ZERO;
    if !is_seen {
        policy.node_order = NodeOrder::Index;
    }
    if !is_seen || strategy.is_some_and(|strategy| strategy.plan != PlanKind::Mapped) {
        policy.reliability.nodes = NodeKnowledge::Common;
    }
    policy.reliability = on_the_failure_clock(policy.reliability, failures);
    policy
}

/// A planner that believes in a changing rate knows what time it is on the failure clock.
fn on_the_failure_clock(mut believed: Reliability, failures: &FailureSettings) -> Reliability {
    believed.rate.offset = if believed.rate.factors.is_constant() {
        Seconds::ZERO
    } else {
        failures.offset
    };
    believed
}

/// What planners of this strategy believe of nodes (`[reliability]`, common to all nodes); `None`
/// where no node fails or the strategy computes nothing from it.
#[must_use]
pub fn believed(common: &CommonSettings<'_>, strategy: &str) -> Option<Reliability> {
    let reads = common.failures.source != FailureSource::None
        && computes_probabilities(common.studies.policy(strategy));
    reads.then(|| {
        let believed = Reliability {
            nodes: NodeKnowledge::Common,
            ..common.scheduling.reliability.clone()
        };
        on_the_failure_clock(believed, common.failures)
    })
}

/// Whether a policy reads how much of their estimates jobs use: to overbook, to let jobs pass the
/// first of a queue, or to plan more time for underestimators.
pub(super) fn reads_estimates(strategy: Option<&Strategy>, policy: &PolicySpec) -> bool {
    let gives_more_time = policy.underestimators == UnderestimatorRule::MoreTime;
    strategy.is_none_or(|strategy| {
        strategy.overbooks
            || (strategy.backfills && policy.backfill_risk > 0.0)
            || (strategy.plan != PlanKind::Queue && gives_more_time)
    })
}

/// Whether a strategy computes probabilities of failure.
pub(crate) fn computes_probabilities(strategy: Option<&Strategy>) -> bool {
    strategy.is_none_or(|strategy| {
        strategy.overbooks && matches!(strategy.plan, PlanKind::Mapped | PlanKind::Counted)
    })
}

/// Only strategies that compute probabilities calibrate them, and without a method nothing shapes
/// it; a security factor that adapts only looks back over its half-life, on what the batteries
/// before teach.
fn calibration_read(
    computes: bool,
    adapts: bool,
    calibration: CalibrationSettings,
) -> CalibrationSettings {
    let default = CalibrationSettings::default();
    if computes && calibration.method != CalibrationMethod::None {
        calibration
    } else if adapts {
        CalibrationSettings {
            minimum_jobs: default.minimum_jobs,
            ..calibration
        }
    } else {
        default
    }
}

/// Without what only a counted plan reads, and second runs, which one of nodes has, too.
fn without_counts(policy: PolicySpec) -> PolicySpec {
    let default = PolicySpec::default();
    PolicySpec {
        down_horizon: default.down_horizon,
        replan_passes: default.replan_passes,
        replan_failed_start: default.replan_failed_start,
        double_execution: default.double_execution,
        ..policy
    }
}

/// Without what a planner believes of failures that follow the load, which plans of another kind do
/// not tell.
fn without_load(mut policy: PolicySpec) -> PolicySpec {
    policy.reliability.rate.load = None;
    policy
}
