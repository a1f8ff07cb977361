//! `[failures]`: where node failures come from, and survival models.

use crate::failures::{
    Bursts, EarlyFailures, FailurePattern, FailureSettings, FailureSource, LoadRule, RateFactors,
    SurvivalModel,
};
use crate::keys::field::Field;
use crate::keys::problem::{ProblemKind, Problems};
use crate::sweep::raw::{Given, RawFailures, RawReliability};
use crate::units::Seconds;

/// The file of the LANL table where none is named.
pub const LANL_FILE: &str = "LA-UR-05-7318-failure-data-1996-2005.csv";
/// The keys of a survival model, which two sections share.
pub(super) struct SurvivalKeys<'a> {
    survival: Field<'a, Given<String>>,
    rate_per_hour: Field<'a, Given<f64>>,
    shape: Field<'a, Given<f64>>,
    scale_hours: Field<'a, Given<f64>>,
    probabilities: Field<'a, Given<Vec<f64>>>,
    rates_per_hour: Field<'a, Given<Vec<f64>>>,
}

/// Those of a table.
macro_rules! survival_keys {
    ($raw:expr) => {
        SurvivalKeys {
            survival: $raw.survival(),
            rate_per_hour: $raw.rate_per_hour(),
            shape: $raw.shape(),
            scale_hours: $raw.scale_hours(),
            probabilities: $raw.probabilities(),
            rates_per_hour: $raw.rates_per_hour(),
        }
    };
}

impl<'a> SurvivalKeys<'a> {
    pub(super) fn of_failures(raw: &'a RawFailures) -> Self {
        survival_keys!(raw)
    }

    pub(super) fn of_reliability(raw: &'a RawReliability) -> Self {
        survival_keys!(raw)
    }
}

/// The keys of a rate that changes, which two sections share.
pub(super) struct RateKeys<'a> {
    hour_factors: Field<'a, Given<Vec<f64>>>,
    weekend_factor: Field<'a, Given<f64>>,
    early_excess: Field<'a, Given<f64>>,
    early_decay_hours: Field<'a, Given<f64>>,
}

/// The keys of a rate that follows the load, which two sections share.
pub(super) struct LoadKeys<'a> {
    load_factor: Field<'a, Given<f64>>,
    mean_load: Field<'a, Given<f64>>,
}

/// Those of a table.
macro_rules! load_keys {
    ($raw:expr) => {
        LoadKeys {
            load_factor: $raw.load_factor(),
            mean_load: $raw.mean_load(),
        }
    };
}

impl<'a> LoadKeys<'a> {
    pub(super) fn of_reliability(raw: &'a RawReliability) -> Self {
        load_keys!(raw)
    }

    /// The rule; `None` in it where the rate does not follow the load.
    pub(super) fn rule(&self, problems: &mut Problems) -> Option<Option<LoadRule>> {
        let factor = self.load_factor.or_default(problems);
        let mean = self.mean_load.or_default(problems);
        let rule = LoadRule {
            factor: factor?,
            mean: mean?,
        };
        Some((rule.factor > 0.0).then_some(rule))
    }
}

/// Those of a table.
macro_rules! rate_keys {
    ($raw:expr) => {
        RateKeys {
            hour_factors: $raw.hour_factors(),
            weekend_factor: $raw.weekend_factor(),
            early_excess: $raw.early_excess(),
            early_decay_hours: $raw.early_decay_hours(),
        }
    };
}

impl<'a> RateKeys<'a> {
    fn of_failures(raw: &'a RawFailures) -> Self {
        rate_keys!(raw)
    }

    pub(super) fn of_reliability(raw: &'a RawReliability) -> Self {
        rate_keys!(raw)
    }
}

pub(crate) fn failures(raw: &RawFailures, problems: &mut Problems) -> Option<FailureSettings> {
    let offset = raw.offset_hours().or_default(problems);
    let model = survival(&SurvivalKeys::of_failures(raw), problems);
    let repair = raw.repair_rate_per_hour().or_default(problems);
    let pattern = pattern(raw, problems);
    let source = match raw.source().name(problems)? {
        "lanl" => {
            let systems = raw.systems().or_default();
            let mut unique = systems.clone();
            unique.sort_unstable();
            unique.dedup();
            if systems.is_empty() || unique.len() != systems.len() {
                (raw.systems()).refuse("no systems, or one of them twice", problems);
                return None;
            }
            let file = raw
                .file
                .as_ref()
                .map_or_else(|| LANL_FILE.to_owned(), |file| file.get_ref().clone());
            FailureSource::Lanl { file, systems }
        }
        "generated" => FailureSource::Generated {
            survival: model?,
            repair_rate_per_hour: repair?,
            pattern: pattern?,
        },
        _ => FailureSource::None,
    };
    let offset = if source == FailureSource::None {
        Seconds::ZERO
    } else {
        Seconds::from_hours(offset?)
    };
    Some(FailureSettings { source, offset })
}

/// When drawn failures come. Parts that change nothing are left out, so that they do not tell
/// simulations apart.
fn pattern(raw: &RawFailures, problems: &mut Problems) -> Option<FailurePattern> {
    let mean_followers = raw.burst_followers().or_default(problems);
    let delay_hours = raw.burst_delay_hours().or_default(problems);
    let same_node = raw.burst_same_node().or_default(problems);
    let rate = rate(&RateKeys::of_failures(raw), problems);
    let load = load_keys!(raw).rule(problems)?;
    if load.is_some() && raw.survival().name(problems)? != "poisson" {
        let message = "only the rate of the Poisson model follows the load";
        raw.load_factor().refuse(message, problems);
        return None;
    }
    if load.is_some() && mean_followers? > 0.0 {
        let message = "failures that follow others do not follow the load";
        raw.load_factor().refuse(message, problems);
        return None;
    }
    let bursts = Bursts {
        mean_followers: mean_followers?,
        delay_hours: delay_hours?,
        same_node: same_node?,
    };
    Some(FailurePattern {
        bursts: (bursts.mean_followers > 0.0).then_some(bursts),
        rate: rate?,
        load,
    })
}

/// How a rate changes, for the injector and for the planner. Parts that change nothing are left
/// out.
pub(super) fn rate(raw: &RateKeys<'_>, problems: &mut Problems) -> Option<RateFactors> {
    let weekend = raw
        .weekend_factor
        .limited(|factor| factor <= 1e6)
        .or_default(problems);
    let excess = raw.early_excess.or_default(problems);
    let decay_hours = raw.early_decay_hours.or_default(problems);
    let given = raw.hour_factors.given.as_ref();
    let mut factors = given.map_or_else(Vec::new, |factors| factors.get_ref().clone());
    let mean = factors.iter().sum::<f64>() / 24.0;
    let are_factors = factors.len() == 24 && mean.is_finite() && mean > 0.0;
    if !(factors.is_empty() || are_factors && factors.iter().all(|factor| *factor >= 0.0)) {
        (raw.hour_factors).refuse("these are not 24 factors of 0 or more, not all 0", problems);
        return None;
    }
    for factor in &mut factors {
        *factor /= mean;
    }
    if factors.iter().all(|factor| (factor - 1.0).abs() < 1e-12) {
        factors.clear();
    }
    let (weekend, excess) = (weekend?, excess?);
    let early = EarlyFailures {
        excess,
        decay_hours: decay_hours?,
    };
    Some(RateFactors {
        hour_factors: factors,
        weekend_factor: ((weekend - 1.0).abs() > 1e-12).then_some(weekend),
        early: (excess > 0.0).then_some(early),
    })
}

pub(super) fn survival(raw: &SurvivalKeys<'_>, problems: &mut Problems) -> Option<SurvivalModel> {
    let rate = raw.rate_per_hour.or_default(problems);
    let shape = raw.shape.or_default(problems);
    let scale = raw.scale_hours.or_default(problems);
    match raw.survival.name(problems)? {
        "weibull" => Some(SurvivalModel::Weibull {
            shape: shape?,
            scale_hours: scale?,
        }),
        "hyper-exponential" => {
            let (probabilities, rates) = (raw.probabilities, raw.rates_per_hour);
            let (Some(weights), Some(list)) = (probabilities.given, rates.given) else {
                problems.add(
                    ProblemKind::Missing,
                    probabilities.key.path,
                    raw.survival.place(),
                    "this model needs its probabilities and rates",
                    "add `probabilities = […]` and `rates_per_hour = […]`",
                );
                return None;
            };
            let (weights, list) = (weights.get_ref(), list.get_ref());
            if weights.is_empty()
                || weights.iter().any(|weight| !(0.0..=1.0).contains(weight))
                || (weights.iter().sum::<f64>() - 1.0).abs() > 1e-9
            {
                probabilities.refuse("these are no probabilities that sum to 1", problems);
                return None;
            }
            if list.len() != weights.len()
                || list.iter().any(|rate| !rate.is_finite() || *rate < 0.0)
            {
                let message = format!("these are not {} rates of 0 or more", weights.len());
                rates.refuse(&message, problems);
                return None;
            }
            Some(SurvivalModel::HyperExponential {
                probabilities: weights.clone(),
                rates_per_hour: list.clone(),
            })
        }
        _ => Some(SurvivalModel::Poisson {
            rate_per_hour: rate?,
        }),
    }
}
