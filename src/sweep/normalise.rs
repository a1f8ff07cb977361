//! Which points share a schedule: values that a strategy does not read are set to their defaults (spec §3.4.4).

use super::spec::SimulationSpec;
use crate::scheduling::registry;
use crate::scheduling::{Acceptance, DownHorizon, PolicySettings, Reliability};

/// Sets everything that cannot change the schedule to its default, so that equal schedules have equal specifications.
///
/// For a strategy that overbooks, a risk test becomes the PoF test with the same threshold. A strategy that does not
/// overbook reads no estimates, acceptance, placing or time step; of the planner's reliability it reads only 1/μ, and
/// that only where [`DownHorizon::Mttr`] asks for it.
#[must_use]
pub fn normalise(spec: SimulationSpec) -> SimulationSpec {
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
            reliability: Reliability {
                repair_rate_per_hour,
                ..default.reliability
            },
            placing: default.placing,
            acceptance: default.acceptance,
            test_full_length: default.test_full_length,
            time_step: default.time_step,
            convolution: default.convolution,
            condition_on_elapsed: default.condition_on_elapsed,
            predecessors: default.predecessors,
        },
        ..spec
    }
}
