//! `[failures]`: where node failures come from, and survival models.

use super::{first_span, out_of_range, real, unknown_name};
use crate::failures::{FailureSettings, FailureSource, SurvivalModel};
use crate::sweep::problem::{ProblemKind, Problems};
use crate::sweep::raw::{Given, RawFailures, RawReliability};
use crate::units::Seconds;

/// The file of the LANL table where none is named.
pub const LANL_FILE: &str = "LA-UR-05-7318-failure-data-1996-2005.csv";
/// λ of the thesis, failures per node-hour (spec §5.5).
const FAILURE_RATE: f64 = 1.2904e-4;
/// μ of the thesis, repairs per hour (spec §5.5).
const REPAIR_RATE: f64 = 0.4333;

/// The keys of a survival model, which two sections share.
pub(super) struct SurvivalKeys<'a> {
    survival: &'a Given<String>,
    rate_per_hour: &'a Given<f64>,
    shape: &'a Given<f64>,
    scale_hours: &'a Given<f64>,
    probabilities: &'a Given<Vec<f64>>,
    rates_per_hour: &'a Given<Vec<f64>>,
}

impl<'a> SurvivalKeys<'a> {
    pub(super) fn of_failures(raw: &'a RawFailures) -> Self {
        Self {
            survival: &raw.survival,
            rate_per_hour: &raw.rate_per_hour,
            shape: &raw.shape,
            scale_hours: &raw.scale_hours,
            probabilities: &raw.probabilities,
            rates_per_hour: &raw.rates_per_hour,
        }
    }

    pub(super) fn of_reliability(raw: &'a RawReliability) -> Self {
        Self {
            survival: &raw.survival,
            rate_per_hour: &raw.rate_per_hour,
            shape: &raw.shape,
            scale_hours: &raw.scale_hours,
            probabilities: &raw.probabilities,
            rates_per_hour: &raw.rates_per_hour,
        }
    }
}

pub(crate) fn failures(raw: &RawFailures, problems: &mut Problems) -> Option<FailureSettings> {
    let offset = real(
        "failures.offset_hours",
        &raw.offset_hours,
        0.0,
        |_| true,
        problems,
    );
    let model = survival("failures", &SurvivalKeys::of_failures(raw), problems);
    let repair = real(
        "failures.repair_rate_per_hour",
        &raw.repair_rate_per_hour,
        REPAIR_RATE,
        |rate| rate > 0.0,
        problems,
    );
    let source = match raw
        .source
        .as_ref()
        .map(|source| (source, source.get_ref().as_str()))
    {
        None | Some((_, "none")) => FailureSource::None,
        Some((_, "lanl")) => {
            let systems = raw
                .systems
                .as_ref()
                .map_or_else(|| vec![18, 19], |systems| systems.get_ref().clone());
            let mut unique = systems.clone();
            unique.sort_unstable();
            unique.dedup();
            if systems.is_empty() || unique.len() != systems.len() {
                let span = first_span(&[&raw.systems], &(0..0));
                out_of_range(
                    "failures.systems",
                    span,
                    "no systems, or one of them twice",
                    problems,
                );
                return None;
            }
            let file = raw
                .file
                .as_ref()
                .map_or_else(|| LANL_FILE.to_owned(), |file| file.get_ref().clone());
            FailureSource::Lanl { file, systems }
        }
        Some((_, "generated")) => FailureSource::Generated {
            survival: model?,
            repair_rate_per_hour: repair?,
        },
        Some((source, _)) => {
            unknown_name(
                "failures.source",
                source,
                &["none", "lanl", "generated"],
                problems,
            );
            return None;
        }
    };
    let offset = if source == FailureSource::None {
        Seconds::ZERO
    } else {
        Seconds::from_hours(offset?)
    };
    Some(FailureSettings { source, offset })
}

pub(super) fn survival(
    section: &str,
    raw: &SurvivalKeys<'_>,
    problems: &mut Problems,
) -> Option<SurvivalModel> {
    let key = |name: &str| format!("{section}.{name}");
    let rate = real(
        &key("rate_per_hour"),
        raw.rate_per_hour,
        FAILURE_RATE,
        |rate| rate >= 0.0,
        problems,
    );
    let shape = real(&key("shape"), raw.shape, 0.7, |shape| shape > 0.0, problems);
    let scale = real(
        &key("scale_hours"),
        raw.scale_hours,
        7749.5,
        |scale| scale > 0.0,
        problems,
    );
    match raw
        .survival
        .as_ref()
        .map(|model| (model, model.get_ref().as_str()))
    {
        None | Some((_, "poisson")) => Some(SurvivalModel::Poisson {
            rate_per_hour: rate?,
        }),
        Some((_, "weibull")) => Some(SurvivalModel::Weibull {
            shape: shape?,
            scale_hours: scale?,
        }),
        Some((model, "hyper-exponential")) => {
            let (Some(probabilities), Some(rates)) = (raw.probabilities, raw.rates_per_hour) else {
                let help = "add `probabilities = […]` and `rates_per_hour = […]`";
                let message = "this model needs its probabilities and rates";
                problems.add(
                    ProblemKind::Missing,
                    &key("probabilities"),
                    model.span(),
                    message,
                    help,
                );
                return None;
            };
            let (weights, list) = (probabilities.get_ref(), rates.get_ref());
            if weights.is_empty()
                || weights.iter().any(|weight| !(0.0..=1.0).contains(weight))
                || (weights.iter().sum::<f64>() - 1.0).abs() > 1e-9
            {
                let message = "these are no probabilities that sum to 1";
                out_of_range(
                    &key("probabilities"),
                    probabilities.span(),
                    message,
                    problems,
                );
                return None;
            }
            if list.len() != weights.len()
                || list.iter().any(|rate| !rate.is_finite() || *rate < 0.0)
            {
                let message = format!("these are not {} rates of 0 or more", weights.len());
                out_of_range(&key("rates_per_hour"), rates.span(), &message, problems);
                return None;
            }
            Some(SurvivalModel::HyperExponential {
                probabilities: weights.clone(),
                rates_per_hour: list.clone(),
            })
        }
        Some((model, _)) => {
            unknown_name(
                &key("survival"),
                model,
                &["poisson", "weibull", "hyper-exponential"],
                problems,
            );
            None
        }
    }
}
