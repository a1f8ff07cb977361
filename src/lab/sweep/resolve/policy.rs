//! `[scheduling]`, `[acceptance]`, `[reliability]`, `[checkpoint]` and `[penalty]`: the policy,
//! what it promises, how jobs save their work, and what those owe that end late.

use std::ops::Range;

use toml::Spanned;

use super::failures::{LoadKeys, RateKeys, SurvivalKeys, rate, survival};
use crate::keys::problem::{ProblemKind, Problems};
use crate::scheduling::registry::Strategy;
use crate::scheduling::{
    Acceptance, AccurateUserRule, AccurateUsers, Bandwidth, BelievedRate, CalibrationSettings,
    CheckpointInterval, CheckpointSettings, DoubleExecution, ExcludedUsers, NodeKnowledge,
    NodeOrder, OverlapRule, PenaltyFunction, PenaltySettings, PolicySpec, Reliability,
    ShorteningRule, UnderestimatorRule,
};
use crate::study::Studies;
use crate::sweep::raw::{RawAcceptance, RawCheckpoint, RawPenalty, RawReliability, RawScheduling};
use crate::units::{Nodes, Seconds};
use bookahead_core::plan::ShelfRule;

/// The policy and the penalty ratio of the accounting.
pub(crate) fn policy(
    studies: Studies,
    scheduling: Option<&Spanned<RawScheduling>>,
    acceptance: &RawAcceptance,
    reliability: &RawReliability,
    checkpoint: &RawCheckpoint,
    penalty: &RawPenalty,
    problems: &mut Problems,
) -> Option<(PolicySpec, f64)> {
    let place = scheduling.map_or(0..0, Spanned::span);
    let none = RawScheduling::default();
    let raw = scheduling.map_or(&none, Spanned::get_ref);
    let study = (raw.strategy.as_ref()).filter(|name| studies.is_strategy(name.get_ref()));
    let no_test = RawAcceptance::default();
    let (name, strategy, acceptance) = match study {
        // What it accepts is a matter of its own tables.
        Some(study) => (Some(study.get_ref().as_str()), None, &no_test),
        None => {
            let strategy = strategy(studies, raw, place, problems);
            (strategy.map(|known| known.name), strategy, acceptance)
        }
    };
    let time_step = raw.time_step_seconds().or_default(problems);
    let (test, ratio) = acceptance_test(acceptance, strategy, problems);
    let node_order = node_order(reliability, problems);
    let reliability = planner_reliability(reliability, problems);
    let calibration = calibration(acceptance, problems);
    let user_factor = raw.user_factor().or_default(problems);
    let backfill_risk = raw.backfill_risk().or_default(problems);
    let shelves = shelves(raw, problems);
    let overlap = overlap(raw, checkpoint, problems);
    let double = double_execution(raw, checkpoint, ratio, problems);
    let checkpoint = checkpoints(checkpoint, acceptance, problems);
    let penalty = late_penalty(penalty, problems);
    let shortening = shortening(acceptance, problems);
    let excluded = excluded_users(acceptance, problems);
    let policy = PolicySpec {
        strategy: name?.to_owned(),
        placing: raw.placing.unwrap_or_default(),
        acceptance: test?,
        test_full_length: raw.test_full_length().is_on(),
        reliability: reliability?,
        time_step: Seconds(time_step?),
        convolution: raw.convolution.unwrap_or_default(),
        condition_on_elapsed: raw.condition_on_elapsed().is_on(),
        predecessors: raw.predecessors.unwrap_or_default(),
        down_horizon: raw.down_horizon.unwrap_or_default(),
        replan_passes: raw.replan.unwrap_or_default(),
        crash: raw.crash.unwrap_or_default(),
        failed_start: raw.failed_start.unwrap_or_default(),
        retry: raw.retry.unwrap_or_default(),
        replan_failed_start: raw.replan_failed_start().is_on(),
        hold_for_overbooked: raw.hold_for_overbooked().is_on(),
        user_factor: user_factor?,
        calibration: calibration?,
        adapt_security_factor: acceptance.adapt_security_factor().is_on(),
        early_start: raw.early_start.unwrap_or_default(),
        promising: acceptance.promising.unwrap_or_default(),
        underestimators: acceptance.underestimators.unwrap_or_default(),
        shortening: shortening?,
        excluded: excluded?,
        node_order: node_order?,
        checkpoint: checkpoint?,
        penalty: penalty?,
        overlap: overlap?,
        double_execution: double?,
        backfill_risk: backfill_risk?,
        shelves: shelves?,
    };
    Some((policy, ratio?))
}

/// Which shelves are reserved: of at least a second, and of at most a century or so.
fn shelves(raw: &RawScheduling, problems: &mut Problems) -> Option<ShelfRule> {
    let ratio = raw.shelf_ratio().or_default(problems);
    let hours = (raw.shelf_hours())
        .limited(|hours| (1.0 / 3_600.0..=1e6).contains(&hours))
        .or_default(problems);
    Some(ShelfRule {
        fit: raw.shelf_fit.unwrap_or_default(),
        ratio: ratio?,
        height: Seconds::from_hours(hours?),
    })
}

/// The rule for second runs. Which of two runs would save the work of a job is not known.
fn double_execution(
    raw: &RawScheduling,
    checkpoint: &RawCheckpoint,
    ratio: Option<f64>,
    problems: &mut Problems,
) -> Option<Option<DoubleExecution>> {
    let price = raw.node_hour_price().or_default(problems);
    if !raw.double_execution().is_on() {
        return price.map(|_| None);
    }
    if saves(checkpoint) {
        let message = "jobs that save their work do not run on two sets of nodes";
        checkpoint.interval().refuse(message, problems);
        return None;
    }
    Some(Some(DoubleExecution::at(price?, ratio?)))
}

fn saves(checkpoint: &RawCheckpoint) -> bool {
    let interval = checkpoint.interval.as_ref().map(|name| name.get_ref());
    interval.is_some_and(|name| name != "none")
}

/// When a job that is planned on top of others could save its work is not known.
fn overlap(
    raw: &RawScheduling,
    checkpoint: &RawCheckpoint,
    problems: &mut Problems,
) -> Option<OverlapRule> {
    let rule = raw.overlap.unwrap_or_default();
    if rule != OverlapRule::None && saves(checkpoint) {
        let message = "jobs that save their work are not planned on top of others";
        checkpoint.interval().refuse(message, problems);
        return None;
    }
    Some(rule)
}

fn strategy(
    studies: Studies,
    raw: &RawScheduling,
    place: Range<usize>,
    problems: &mut Problems,
) -> Option<&'static Strategy> {
    match &raw.strategy {
        Some(_) => {
            let names = studies.strategy_names();
            let name = raw.strategy().name_among(&names, problems)?;
            studies.policy(name)
        }
        None => {
            let names = studies.strategy_names();
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
    let maximum = raw.pof_max().or_default(problems);
    let sigmas = raw.sigmas().or_default(problems);
    let percentile = raw.percentile().or_default(problems);
    let ratio = raw.penalty_ratio().or_default(problems);
    let own = strategy.map_or(1.0, |strategy| strategy.security_factor);
    let factor = raw.security_factor().or(own, problems);
    let test = raw.test().name(problems).and_then(|test| match test {
        "risk" => ratio
            .zip(factor)
            .map(|(penalty_ratio, security_factor)| Acceptance::Risk {
                penalty_ratio,
                security_factor,
            }),
        "mean-sigma" => sigmas.map(|sigmas| Acceptance::MeanSigma { sigmas }),
        "percentile" => percentile.map(|percentile| Acceptance::Percentile { percentile }),
        "maximum" => sigmas
            .zip(percentile)
            .map(|(sigmas, percentile)| Acceptance::Maximum { sigmas, percentile }),
        _ => maximum.map(|maximum| Acceptance::Pof { maximum }),
    });
    (test, ratio)
}

fn shortening(raw: &RawAcceptance, problems: &mut Problems) -> Option<ShorteningRule> {
    let share = raw.shortening_share().or_default(problems);
    Some(match raw.shortening().name(problems)? {
        "own-excess" => ShorteningRule::OwnExcess { share: share? },
        "estimate" => ShorteningRule::Estimate { share: share? },
        _ => ShorteningRule::MaxPof,
    })
}

fn excluded_users(raw: &RawAcceptance, problems: &mut Problems) -> Option<ExcludedUsers> {
    let share = raw.accurate_share().or_default(problems);
    let least_jobs = raw.accurate_least_jobs().or_default(problems);
    let mut numbers = raw.exclude_users().or_default();
    if let Some(number) = numbers.iter().find(|number| **number < 0) {
        let message = format!("no user of a log has the number {number}");
        raw.exclude_users().refuse(&message, problems);
        return None;
    }
    numbers.sort_unstable();
    numbers.dedup();
    let (share, least_jobs) = (share?, least_jobs?);
    let accurate = match raw.accurate_users.unwrap_or_default() {
        AccurateUserRule::AsOthers => None,
        AccurateUserRule::NotOverbooked => Some(AccurateUsers { share, least_jobs }),
    };
    Some(ExcludedUsers { accurate, numbers })
}

fn calibration(raw: &RawAcceptance, problems: &mut Problems) -> Option<CalibrationSettings> {
    let half_life_jobs = raw.calibration_half_life_jobs().or_default(problems);
    let minimum_jobs = raw.calibration_minimum_jobs().or_default(problems);
    let batteries_before = raw.calibration_batteries().or_default(problems);
    Some(CalibrationSettings {
        method: raw.calibration.unwrap_or_default(),
        half_life_jobs: half_life_jobs?,
        minimum_jobs: minimum_jobs?,
        batteries_before: batteries_before?,
    })
}

fn planner_reliability(raw: &RawReliability, problems: &mut Problems) -> Option<Reliability> {
    let model = survival(&SurvivalKeys::of_reliability(raw), problems);
    let failure = raw.failure_rate_per_hour().or_default(problems);
    let repair = raw.repair_rate_per_hour().or_default(problems);
    let factors = rate(&RateKeys::of_reliability(raw), problems);
    let load = LoadKeys::of_reliability(raw).rule(problems);
    Some(Reliability {
        survival: model?,
        failure_rate_per_hour: failure?,
        repair_rate_per_hour: repair?,
        form: raw.form.unwrap_or_default(),
        nodes: match raw.nodes().name(problems)? {
            "learned" => NodeKnowledge::Learned {
                prior_failures: raw.prior_failures().or_default(problems)?,
                rates: None,
            },
            _ => NodeKnowledge::Common,
        },
        rate: BelievedRate {
            factors: factors?,
            load: load?,
            ..BelievedRate::default()
        },
    })
}

fn node_order(raw: &RawReliability, problems: &mut Problems) -> Option<NodeOrder> {
    Some(match raw.node_order().name(problems)? {
        "reliability" => NodeOrder::Reliability {
            prior_failures: raw.prior_failures().or_default(problems)?,
        },
        _ => NodeOrder::Index,
    })
}

fn checkpoints(
    raw: &RawCheckpoint,
    acceptance: &RawAcceptance,
    problems: &mut Problems,
) -> Option<Option<CheckpointSettings>> {
    let seconds = raw.interval_seconds().or_default(problems);
    let cost = raw.cost_seconds().or_default(problems);
    let restart = raw.restart_seconds().or_default(problems);
    let memory_price = raw.memory_price().or_default(problems);
    let bandwidth_nodes = raw.bandwidth_nodes().or_default(problems);
    let bandwidth = raw.bandwidth().name(problems).and_then(|name| match name {
        "shared-by-jobs" => Some(Bandwidth::SharedByJobs),
        "shared-by-nodes" => {
            let nodes = u32::try_from(bandwidth_nodes?).ok()?;
            Some(Bandwidth::SharedByNodes(Nodes(nodes)))
        }
        _ => Some(Bandwidth::Own),
    });
    let interval = match raw.interval().name(problems)? {
        "fixed" => CheckpointInterval::Fixed(Seconds(seconds?)),
        "young" => CheckpointInterval::Young,
        "daly" => CheckpointInterval::Daly,
        _ => return Some(None),
    };
    if acceptance.underestimators == Some(UnderestimatorRule::MoreTime) {
        let message = "with checkpoints nobody is planned more than the estimate";
        raw.interval().refuse(message, problems);
        return None;
    }
    let test = acceptance.test.as_ref().map(|test| test.get_ref().as_str());
    if matches!(test, Some("mean-sigma" | "percentile" | "maximum")) {
        let message =
            "tests of time know nothing of work that was saved: choose the test pof or risk";
        raw.interval().refuse(message, problems);
        return None;
    }
    Some(Some(CheckpointSettings {
        interval,
        cost: Seconds(cost?),
        restart: Seconds(restart?),
        payer: raw.payer.unwrap_or_default(),
        gap_end: raw.gap_end.unwrap_or_default(),
        resume: raw.resume.unwrap_or_default(),
        memory_price: memory_price?,
        bandwidth: bandwidth?,
    }))
}

fn late_penalty(raw: &RawPenalty, problems: &mut Problems) -> Option<Option<PenaltySettings>> {
    /// From a second to a century or so.
    fn is_lateness(hours: f64) -> bool {
        (1.0 / 3_600.0..=1e6).contains(&hours)
    }
    let full_after = raw
        .full_after_hours()
        .limited(is_lateness)
        .or_default(problems);
    let refund = raw.refund().or_default(problems);
    let hours = raw.step_hours().or_default();
    let shares = raw.step_shares().or_default();
    let ascends = |values: &[f64]| values.windows(2).all(|pair| pair[0] < pair[1]);
    let function = match raw.function().name(problems)? {
        "linear" => PenaltyFunction::Linear {
            full_after: Seconds::from_hours(full_after?),
        },
        "stepwise" => {
            if hours.is_empty() || !ascends(&hours) || !hours.iter().copied().all(is_lateness) {
                let message = "this list is empty, does not ascend, or begins below a second";
                raw.step_hours().refuse(message, problems);
                return None;
            }
            let are_shares = shares.iter().all(|share| (0.0..1.0).contains(share));
            if shares.len() != hours.len() || !ascends(&shares) || !are_shares {
                let message =
                    "these are not as many ascending shares below 1 as step_hours has steps";
                raw.step_shares().refuse(message, problems);
                return None;
            }
            let bounds = hours.into_iter().map(Seconds::from_hours);
            PenaltyFunction::Stepwise {
                steps: bounds.zip(shares).collect(),
            }
        }
        _ => return Some(None),
    };
    Some(Some(PenaltySettings {
        function,
        refund: refund?,
    }))
}
