//! Which points share a schedule: values that a strategy does not read are set to their defaults (spec §3.4.4).

use super::spec::SimulationSpec;
use crate::brokering::provisioning::{Provider, ProvisioningSettings, SearchMethod};
use crate::brokering::{CoReservationSettings, Order, Repair, StudySettings};
use crate::failures::{FailureSettings, FailureSource};
use crate::scheduling::registry::{self, PlanKind, Strategy};
use crate::scheduling::reserving::{DisplacedJobs, QueueOrder, ReservingSettings};
use crate::scheduling::{
    Acceptance, CalibrationMethod, CalibrationSettings, DownHorizon, Placing, PolicySettings,
    Reliability, SlotSource,
};
use crate::units::Seconds;
use crate::workload::workflows::Network;
use crate::workload::{FurtherParts, Preference, RequestSettings};

/// A study reads neither estimates of overbooking (unless its clusters overbook) nor failures nor a policy; without requests the
/// rules of admission are not read either.
fn normalise_study(spec: SimulationSpec) -> SimulationSpec {
    if matches!(spec.study, Some(StudySettings::Provisioning(_))) {
        return normalise_provisioning(spec);
    }
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
    let spec = SimulationSpec {
        reservations,
        study,
        ..spec
    };
    let spec = normalise_grid(spec);
    let overbooks = matches!(
        &spec.study,
        Some(StudySettings::CoReservation(settings)) if settings.risk.is_some()
    );
    SimulationSpec {
        // Clusters that overbook learn from jobs; nothing else in a study does.
        estimates: spec.estimates.filter(|_| overbooks),
        failures: FailureSettings {
            source: FailureSource::None,
            ..spec.failures
        },
        scheduling: PolicySettings {
            strategy: spec.scheduling.strategy,
            ..PolicySettings::default()
        },
        ..spec
    }
}

/// Of sites that sell slots: what the search, the kind of site and a single site do not read. Failures are read.
fn normalise_provisioning(spec: SimulationSpec) -> SimulationSpec {
    let (Some(StudySettings::Provisioning(settings)), Some(mut about)) =
        (spec.study, spec.provisioning)
    else {
        return SimulationSpec {
            study: None,
            provisioning: None,
            ..spec
        };
    };
    let default = ProvisioningSettings::default();
    let mut settings = *settings;
    let best_effort = settings.search == SearchMethod::BestEffort;
    if best_effort {
        settings.wish = default.wish;
        about.relative_wish = None;
    }
    if !settings.is_genetic() {
        settings.genetic = default.genetic.clone();
        settings.site_choice = default.site_choice;
    }
    if settings.search == SearchMethod::Nsga2 {
        settings.genetic.sharing_radius = default.genetic.sharing_radius;
    }
    let source = match settings.provider {
        Provider::Advertised { source, .. } => Some(source),
        Provider::Queried => None,
    };
    if best_effort && source == Some(SlotSource::Plan) {
        // Nobody asks for slots, and the queue is the same.
        settings.provider = Provider::Queried;
    }
    if source == Some(SlotSource::FreeRectangles) {
        // The rectangles are the queue's plan.
        settings.reserving.order = default.reserving.order;
        settings.reserving.backfilling = default.reserving.backfilling;
    }
    if about.sites.len() == 1 {
        settings.site_choice = default.site_choice;
        about.application.network = Network::default();
    }
    if best_effort || settings.latency == Seconds::ZERO {
        // What is offered is never gone.
        settings.latency = Seconds::ZERO;
        settings.replans = default.replans;
    }
    if best_effort || spec.failures.source == FailureSource::None {
        settings.after_failure = default.after_failure;
    }
    SimulationSpec {
        estimates: None,
        scheduling: PolicySettings {
            strategy: spec.scheduling.strategy,
            ..PolicySettings::default()
        },
        study: Some(StudySettings::Provisioning(Box::new(settings))),
        provisioning: Some(about),
        ..spec
    }
}

/// Of several clusters: what their algorithm, their network and their requests do not read. What is measured under every
/// algorithm (backlog times, costs) is read under every algorithm.
fn normalise_grid(spec: SimulationSpec) -> SimulationSpec {
    let Some(StudySettings::CoReservation(settings)) = spec.study else {
        return spec;
    };
    let mut settings = *settings;
    let mut co_requests = spec.co_requests;
    let default = CoReservationSettings::default();
    if settings.failures.is_none() && settings.risk.is_none() {
        // Nothing is ever lost that could be asked for anew.
        settings.renegotiate = false;
    }
    if let Some(failures) = &mut settings.failures {
        // What never fails is never repaired.
        if failures.cluster_mtbf.is_none() {
            failures.cluster_repair = Seconds::ZERO;
        }
        if failures.node_mtbf.is_none() {
            failures.node_repair = Seconds::ZERO;
            failures.node_cpus = 1;
        }
    }
    let messages = &mut settings.messages;
    if messages.latency == Seconds::ZERO && messages.loss == 0.0 && settings.failures.is_none() {
        // Every answer comes at once.
        messages.timeout = default.messages.timeout;
    }
    match &mut co_requests {
        None => {
            settings.search = default.search;
            settings.messages = default.messages;
            settings.renegotiate = false;
        }
        Some(requests) => {
            let row = settings.search.algorithm.row();
            if row.order != Order::Value {
                requests.preference = Preference::default();
            }
            if row.repair != Repair::BestFirst {
                settings.search.start_tolerance = default.search.start_tolerance;
                settings.search.cost_tolerance = default.search.cost_tolerance;
            }
            if row.repair == Repair::None {
                settings.search.memoise = default.search.memoise;
            }
            if requests.parts <= 2 {
                requests.further_parts = FurtherParts::default();
            }
        }
    }
    SimulationSpec {
        study: Some(StudySettings::CoReservation(Box::new(settings))),
        co_requests,
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
    let strategy = registry::strategy(&spec.scheduling.strategy);
    let overbooks = strategy.is_none_or(|strategy| strategy.overbooks);
    let policy = match strategy {
        Some(strategy) => read_by(strategy, spec.scheduling),
        None => spec.scheduling,
    };
    let policy = PolicySettings {
        calibration: calibration_read(strategy, policy.calibration),
        ..policy
    };
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
        DownHorizon::Mttr if strategy.is_none_or(|strategy| strategy.plan == PlanKind::Counted) => {
            policy.reliability.repair_rate_per_hour
        }
        DownHorizon::Mttr | DownHorizon::Forever | DownHorizon::None => {
            default.reliability.repair_rate_per_hour
        }
    };
    SimulationSpec {
        estimates: None,
        scheduling: PolicySettings {
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
        },
        ..spec
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
