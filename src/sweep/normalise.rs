//! Which points share a schedule: values that a strategy does not read are set to their defaults (spec §3.4.4).

use super::spec::SimulationSpec;
use crate::brokering::StudySettings;
use crate::failures::{FailureSettings, FailureSource};
use crate::scheduling::registry;
use crate::scheduling::reserving::{DisplacedJobs, QueueOrder, ReservingSettings};
use crate::scheduling::{Acceptance, DownHorizon, Placing, PolicySettings, Reliability};
use crate::workload::RequestSettings;

/// A study reads neither estimates of overbooking nor failures nor a policy; without requests the rules of admission are not
/// read either.
fn normalise_study(spec: SimulationSpec) -> SimulationSpec {
    let reservations = spec
        .reservations
        .filter(|requests| requests.share_percent > 0.0);
    let study = spec.study.map(|study| match study {
        StudySettings::Replanning(settings) if reservations.is_none() => {
            StudySettings::Replanning(ReservingSettings {
                order: settings.order,
                backfilling: settings.backfilling,
                starvation_guard: settings
                    .starvation_guard
                    .filter(|_| settings.order != QueueOrder::Fcfs),
                ..ReservingSettings::default()
            })
        }
        StudySettings::Replanning(settings) if !settings.admission.moves() => {
            StudySettings::Replanning(ReservingSettings {
                displaced: DisplacedJobs::default(),
                starvation_guard: settings
                    .starvation_guard
                    .filter(|_| settings.order != QueueOrder::Fcfs),
                ..settings
            })
        }
        study => study,
    });
    SimulationSpec {
        estimates: None,
        failures: FailureSettings {
            source: FailureSource::None,
            ..spec.failures
        },
        scheduling: PolicySettings {
            strategy: spec.scheduling.strategy,
            ..PolicySettings::default()
        },
        reservations,
        study,
        ..spec
    }
}

/// Sets everything that cannot change the schedule to its default, so that equal schedules have equal specifications.
///
/// For a strategy that overbooks, a risk test becomes the PoF test with the same threshold. A strategy that does not
/// overbook reads no estimates and no time step; acceptance only where full-length slots are tested too, the planner's
/// reliability only there and where the placing compares probabilities, and 1/μ where [`DownHorizon::Mttr`] asks for it.
#[must_use]
pub fn normalise(spec: SimulationSpec) -> SimulationSpec {
    if spec.study.is_some() {
        return normalise_study(spec);
    }
    // Without requests, whatever shapes them is not read.
    let none = |requests: &RequestSettings| requests.share_percent == 0.0;
    let spec = SimulationSpec {
        reservations: spec.reservations.clone().filter(|requests| !none(requests)),
        ..spec
    };
    let overbooks =
        registry::strategy(&spec.scheduling.strategy).is_none_or(|strategy| strategy.overbooks);
    let policy = spec.scheduling;
    if overbooks {
        let acceptance = Acceptance::Pof {
            maximum: policy.acceptance.threshold(),
        };
        return SimulationSpec {
            scheduling: PolicySettings {
                acceptance,
                ..policy
            },
            ..spec
        };
    }
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
        DownHorizon::Mttr => policy.reliability.repair_rate_per_hour,
        DownHorizon::Forever | DownHorizon::None => default.reliability.repair_rate_per_hour,
    };
    SimulationSpec {
        estimates: None,
        scheduling: PolicySettings {
            strategy: policy.strategy,
            down_horizon: policy.down_horizon,
            replan_passes: policy.replan_passes,
            restart: policy.restart,
            early_start: policy.early_start,
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
            test_full_length: policy.test_full_length,
            time_step: default.time_step,
            convolution: default.convolution,
            condition_on_elapsed: default.condition_on_elapsed,
            predecessors: default.predecessors,
        },
        ..spec
    }
}
