//! The study of overbooking: a policy on one cluster (Birkenheuer et al. 2008; Birkenheuer 2012).

use serde::{Deserialize, Serialize};

use super::reservations::with_copies;
use super::{CommonSettings, JOB_BYTES, SimulationSpec, Study, jobs_of};
use crate::scheduling::measures::Measure;
use crate::scheduling::registry::{self, PlanKind, Strategy};
use crate::scheduling::{
    Acceptance, CalibrationMethod, CalibrationSettings, DownHorizon, Placing, PolicySettings,
    Reliability,
};
use crate::workload::RequestSettings;

/// None: where a policy is named, it is simulated on a cluster.
pub const STRATEGY: Option<super::Strategy> = None;

/// Nothing: a policy has the metrics of its jobs, and with reservations the measures of their study.
pub(super) const MEASURES: &[Measure] = &[];

/// What a policy on a cluster gets beside its jobs; everything else are the common settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OverbookingStudy {
    /// Reservations that are made from the jobs, taken as jobs with a fixed window; `None` where there are none.
    #[serde(
        rename = "reservations",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub requests: Option<RequestSettings>,
}

impl Study for OverbookingStudy {
    /// For a strategy that overbooks, a risk test becomes the PoF test with the same threshold. A strategy that does not
    /// overbook reads no estimates and no time step; acceptance only where full-length slots are tested too, the planner's
    /// reliability only there and where the placing compares probabilities, and 1/μ where [`DownHorizon::Mttr`] asks for it.
    fn normalise(&mut self, common: CommonSettings<'_>) {
        self.requests = self
            .requests
            .take()
            .filter(|requests| requests.share_percent != 0.0);
        let given = std::mem::take(common.scheduling);
        let strategy = registry::strategy(&given.strategy);
        let overbooks = strategy.is_none_or(|strategy| strategy.overbooks);
        let policy = match strategy {
            Some(strategy) => read_by(strategy, given),
            None => given,
        };
        let policy = PolicySettings {
            calibration: calibration_read(strategy, policy.calibration),
            ..policy
        };
        *common.scheduling = if overbooks {
            PolicySettings {
                acceptance: Acceptance::Pof {
                    maximum: policy.acceptance.threshold(),
                },
                ..policy
            }
        } else {
            *common.estimates = None;
            without_overbooking(strategy, policy)
        };
    }

    fn takes_reservations(&self) -> bool {
        true
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        // Overbooked plans hold more jobs the higher the threshold is.
        jobs_of(&simulation.workload) * with_copies(self.requests.as_ref())
    }

    /// Orders of magnitude measured on one core at 200 % load.
    fn seconds_per_job(&self, strategy: &str) -> f64 {
        match strategy {
            "fcfs" => 1e-6,
            "easy-backfilling" | "conservative-backfilling" | "heuristic-planning" => 2e-6,
            "heuristic-overbooking" | "overbooking-2008" => 2e-5,
            _ => 5e-5,
        }
    }

    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * self.work(simulation)
    }
}

/// Of a policy that does not overbook.
fn without_overbooking(strategy: Option<&Strategy>, policy: PolicySettings) -> PolicySettings {
    let default = PolicySettings::default();
    let compares = matches!(
        policy.placing,
        Placing::HighestPos | Placing::BestOpportunity
    );
    let acceptance = if policy.test_full_length {
        Acceptance::Pof {
            maximum: policy.acceptance.threshold(),
        }
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
    PolicySettings {
        reliability: if policy.test_full_length || compares {
            policy.reliability
        } else {
            Reliability {
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
        ..policy
    }
}

/// Of a cluster's policy: what its kind of plan does not read is set to its default, rules of the strategy's own are written out.
fn read_by(strategy: &Strategy, policy: PolicySettings) -> PolicySettings {
    let default = PolicySettings::default();
    let recovering = PolicySettings {
        crash: policy.crash.written_out(strategy.overbooks),
        failed_start: policy.failed_start.written_out(strategy.overbooks),
        ..policy
    };
    let policy = match strategy.plan {
        PlanKind::Queue => PolicySettings {
            crash: default.crash,
            failed_start: default.failed_start,
            retry: default.retry,
            early_start: default.early_start,
            ..without_counts(recovering)
        },
        PlanKind::Mapped | PlanKind::Shortened => without_counts(recovering),
        PlanKind::Counted => PolicySettings {
            early_start: default.early_start,
            ..recovering
        },
    };
    let policy = match strategy.plan {
        PlanKind::Shortened => policy,
        // Only the algorithm of 2008 asks what is usual; everybody else computes probabilities.
        PlanKind::Queue | PlanKind::Mapped | PlanKind::Counted => PolicySettings {
            promising: default.promising,
            underestimators: default.underestimators,
            ..policy
        },
    };
    if strategy.overbooks && strategy.plan == PlanKind::Mapped {
        return policy;
    }
    PolicySettings {
        time_step: default.time_step,
        convolution: default.convolution,
        condition_on_elapsed: default.condition_on_elapsed,
        predecessors: default.predecessors,
        hold_for_overbooked: default.hold_for_overbooked,
        user_factor: default.user_factor,
        ..policy
    }
}

/// Only strategies that compute probabilities calibrate them, and without a method nothing shapes it.
fn calibration_read(
    strategy: Option<&Strategy>,
    calibration: CalibrationSettings,
) -> CalibrationSettings {
    let computes = strategy.is_none_or(|strategy| {
        strategy.overbooks && matches!(strategy.plan, PlanKind::Mapped | PlanKind::Counted)
    });
    if computes && calibration.method != CalibrationMethod::None {
        calibration
    } else {
        CalibrationSettings::default()
    }
}

/// Without what only a counted plan reads.
fn without_counts(policy: PolicySettings) -> PolicySettings {
    let default = PolicySettings::default();
    PolicySettings {
        down_horizon: default.down_horizon,
        replan_passes: default.replan_passes,
        replan_failed_start: default.replan_failed_start,
        ..policy
    }
}
