//! `[scheduling]`, `[acceptance]` and `[reliability]`: the policy and what it promises.

use std::ops::Range;

use toml::Spanned;

use super::failures::{SurvivalKeys, survival};
use super::{out_of_range, real, unknown_name};
use crate::scheduling::registry::{self, STRATEGIES, Strategy};
use crate::scheduling::{Acceptance, CalibrationSettings, PolicySettings, Reliability};
use crate::studies;
use crate::sweep::problem::{ProblemKind, Problems};
use crate::sweep::raw::{RawAcceptance, RawReliability, RawScheduling};
use crate::units::Seconds;

/// More batteries before the simulated one than this cost more than they teach.
const MOST_BATTERIES_BEFORE: u32 = 20;

/// The policy and the penalty ratio of the accounting.
pub(crate) fn policy(
    scheduling: Option<&Spanned<RawScheduling>>,
    acceptance: &RawAcceptance,
    reliability: &RawReliability,
    problems: &mut Problems,
) -> Option<(PolicySettings, f64)> {
    let default = PolicySettings::default();
    let place = scheduling.map_or(0..0, Spanned::span);
    let none = RawScheduling::default();
    let raw = scheduling.map_or(&none, Spanned::get_ref);
    let strategy = match &raw.strategy {
        Some(name) if studies::is_strategy(name.get_ref()) => {
            let policy = PolicySettings {
                strategy: name.get_ref().clone(),
                ..default
            };
            return Some((policy, 1.0));
        }
        _ => strategy(raw, place, problems),
    };
    let time_step = match &raw.time_step_seconds {
        Some(step) if *step.get_ref() < 1 => {
            let message = format!("{} s is no step", step.get_ref());
            out_of_range(
                "scheduling.time_step_seconds",
                step.span(),
                &message,
                problems,
            );
            None
        }
        Some(step) => Some(Seconds(*step.get_ref())),
        None => Some(default.time_step),
    };
    let (test, ratio) = acceptance_test(acceptance, strategy, problems);
    let reliability = planner_reliability(reliability, problems);
    let calibration = calibration(acceptance, problems);
    let user_factor = real(
        "scheduling.user_factor",
        &raw.user_factor,
        default.user_factor,
        |share| (0.0..=1.0).contains(&share),
        problems,
    );
    let policy = PolicySettings {
        strategy: strategy?.name.to_owned(),
        placing: raw.placing.unwrap_or_default(),
        acceptance: test?,
        test_full_length: raw.test_full_length.unwrap_or(default.test_full_length),
        reliability: reliability?,
        time_step: time_step?,
        convolution: raw.convolution.unwrap_or_default(),
        condition_on_elapsed: raw
            .condition_on_elapsed
            .unwrap_or(default.condition_on_elapsed),
        predecessors: raw.predecessors.unwrap_or_default(),
        down_horizon: raw.down_horizon.unwrap_or_default(),
        replan_passes: raw.replan.unwrap_or_default(),
        crash: raw.crash.unwrap_or_default(),
        failed_start: raw.failed_start.unwrap_or_default(),
        retry: raw.retry.unwrap_or_default(),
        replan_failed_start: raw
            .replan_failed_start
            .unwrap_or(default.replan_failed_start),
        hold_for_overbooked: raw
            .hold_for_overbooked
            .unwrap_or(default.hold_for_overbooked),
        user_factor: user_factor?,
        calibration: calibration?,
        early_start: raw.early_start.unwrap_or_default(),
        promising: acceptance.promising.unwrap_or_default(),
        underestimators: acceptance.underestimators.unwrap_or_default(),
    };
    Some((policy, ratio?))
}

fn strategy(
    raw: &RawScheduling,
    place: Range<usize>,
    problems: &mut Problems,
) -> Option<&'static Strategy> {
    let names: Vec<&str> = STRATEGIES
        .iter()
        .map(|strategy| strategy.name)
        .chain(studies::strategies().map(|study| study.name))
        .collect();
    match &raw.strategy {
        Some(name) => {
            let found = registry::strategy(name.get_ref());
            if found.is_none() {
                unknown_name("scheduling.strategy", name, &names, problems);
            }
            found
        }
        None => {
            let help = format!(
                "add it here or as an axis; registered are: {}",
                names.join(", ")
            );
            problems.add(
                ProblemKind::Missing,
                "scheduling.strategy",
                place,
                "there is no strategy",
                help,
            );
            None
        }
    }
}

fn acceptance_test(
    raw: &RawAcceptance,
    strategy: Option<&Strategy>,
    problems: &mut Problems,
) -> (Option<Acceptance>, Option<f64>) {
    let maximum = real(
        "acceptance.pof_max",
        &raw.pof_max,
        0.2,
        |probability| (0.0..=1.0).contains(&probability),
        problems,
    );
    let ratio = real(
        "acceptance.penalty_ratio",
        &raw.penalty_ratio,
        1.0,
        |ratio| ratio >= 0.0,
        problems,
    );
    let own = strategy.map_or(1.0, |strategy| strategy.security_factor);
    let factor = real(
        "acceptance.security_factor",
        &raw.security_factor,
        own,
        |factor| factor >= 0.0,
        problems,
    );
    let test = match raw
        .test
        .as_ref()
        .map(|test| (test, test.get_ref().as_str()))
    {
        None | Some((_, "pof")) => maximum.map(|maximum| Acceptance::Pof { maximum }),
        Some((_, "risk")) => {
            ratio
                .zip(factor)
                .map(|(penalty_ratio, security_factor)| Acceptance::Risk {
                    penalty_ratio,
                    security_factor,
                })
        }
        Some((test, _)) => {
            unknown_name("acceptance.test", test, &["pof", "risk"], problems);
            None
        }
    };
    (test, ratio)
}

fn calibration(raw: &RawAcceptance, problems: &mut Problems) -> Option<CalibrationSettings> {
    let default = CalibrationSettings::default();
    let half_life_jobs = real(
        "acceptance.calibration_half_life_jobs",
        &raw.calibration_half_life_jobs,
        default.half_life_jobs,
        |jobs| jobs >= 1.0,
        problems,
    );
    let minimum_jobs = real(
        "acceptance.calibration_minimum_jobs",
        &raw.calibration_minimum_jobs,
        default.minimum_jobs,
        |jobs| jobs >= 0.0,
        problems,
    );
    let key = "acceptance.calibration_batteries";
    let batteries_before = match &raw.calibration_batteries {
        Some(given) if *given.get_ref() > MOST_BATTERIES_BEFORE => {
            let message = format!("{} batteries are too many", given.get_ref());
            out_of_range(key, given.span(), &message, problems);
            None
        }
        Some(given) => Some(*given.get_ref()),
        None => Some(default.batteries_before),
    };
    Some(CalibrationSettings {
        method: raw.calibration.unwrap_or_default(),
        half_life_jobs: half_life_jobs?,
        minimum_jobs: minimum_jobs?,
        batteries_before: batteries_before?,
    })
}

fn planner_reliability(raw: &RawReliability, problems: &mut Problems) -> Option<Reliability> {
    let default = Reliability::default();
    let model = survival("reliability", &SurvivalKeys::of_reliability(raw), problems);
    let failure = real(
        "reliability.failure_rate_per_hour",
        &raw.failure_rate_per_hour,
        default.failure_rate_per_hour,
        |rate| rate >= 0.0,
        problems,
    );
    let repair = real(
        "reliability.repair_rate_per_hour",
        &raw.repair_rate_per_hour,
        default.repair_rate_per_hour,
        |rate| rate > 0.0,
        problems,
    );
    Some(Reliability {
        survival: model?,
        failure_rate_per_hour: failure?,
        repair_rate_per_hour: repair?,
        form: raw.form.unwrap_or_default(),
    })
}
