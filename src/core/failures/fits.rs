//! Distributions fitted to spans of time by maximum likelihood: exponential, Weibull, lognormal.

use serde::Serialize;

/// What distributions say of a list of positive spans.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fit {
    /// How many spans.
    pub spans: u64,
    /// Their mean, in hours.
    pub mean_hours: f64,
    /// Their median, in hours.
    pub median_hours: f64,
    /// Variance by squared mean: 1 for an exponential distribution.
    pub squared_variation: f64,
    /// α of the Weibull distribution `1 − exp(−(t/β)^α)`: below 1 the hazard falls.
    pub weibull_shape: f64,
    /// β, in hours.
    pub weibull_scale_hours: f64,
    /// Mean of the logarithm of the spans in hours.
    pub lognormal_location: f64,
    /// Standard deviation of that logarithm.
    pub lognormal_spread: f64,
    /// Negative log-likelihood a span of the exponential distribution with the same mean; less is
    /// better.
    pub exponential_loss: f64,
    /// The same of the Weibull distribution.
    pub weibull_loss: f64,
    /// The same of the lognormal distribution.
    pub lognormal_loss: f64,
}

/// Fits the distributions to spans in seconds; `None` for fewer than two different ones. A span
/// below half a minute, the resolution of tables that note minutes, counts as half a minute, as no
/// distribution with a density at 0 could hold it.
#[must_use]
pub fn fit(seconds: &[i64]) -> Option<Fit> {
    const RESOLUTION_HOURS: f64 = 30.0 / 3_600.0;
    let mut hours: Vec<f64> = seconds
        .iter()
        .map(|span| (*span as f64 / 3_600.0).max(RESOLUTION_HOURS))
        .collect();
    hours.sort_unstable_by(f64::total_cmp);
    let (&least, &most) = (hours.first()?, hours.last()?);
    if least == most {
        return None;
    }
    let count = hours.len() as f64;
    let mean = hours.iter().sum::<f64>() / count;
    let variance = hours
        .iter()
        .map(|span| (span - mean) * (span - mean))
        .sum::<f64>()
        / count;
    let logs: Vec<f64> = hours.iter().map(|span| libm::log(*span)).collect();
    let location = logs.iter().sum::<f64>() / count;
    let spread = libm::sqrt(
        logs.iter()
            .map(|log| (log - location) * (log - location))
            .sum::<f64>()
            / count,
    );
    let (shape, scale) = weibull(&logs, location);
    let weibull_loss = -libm::log(shape) + shape * libm::log(scale) - (shape - 1.0) * location
        + hours
            .iter()
            .map(|span| libm::pow(span / scale, shape))
            .sum::<f64>()
            / count;
    Some(Fit {
        spans: hours.len() as u64,
        mean_hours: mean,
        median_hours: (hours[(hours.len() - 1) / 2] + hours[hours.len() / 2]) / 2.0,
        squared_variation: variance / (mean * mean),
        weibull_shape: shape,
        weibull_scale_hours: scale,
        lognormal_location: location,
        lognormal_spread: spread,
        exponential_loss: 1.0 + libm::log(mean),
        weibull_loss,
        lognormal_loss: location
            + libm::log(spread)
            + 0.5 * libm::log(2.0 * std::f64::consts::PI)
            + 0.5,
    })
}

/// The shape α that solves `Σ t^α ln t / Σ t^α − 1/α = mean of ln t`, by bisection, and its scale.
fn weibull(logs: &[f64], location: f64) -> (f64, f64) {
    // Logarithms from their mean on, so that no power overflows.
    let weighted = |shape: f64| {
        logs.iter().fold((0.0, 0.0), |(sum, with_log), log| {
            let power = libm::exp(shape * (log - location));
            (sum + power, with_log + power * (log - location))
        })
    };
    let (mut low, mut high) = (1e-3, 1e2);
    for _ in 0..60 {
        let middle = libm::sqrt(low * high);
        let (sum, with_log) = weighted(middle);
        if with_log / sum - 1.0 / middle > 0.0 {
            high = middle;
        } else {
            low = middle;
        }
    }
    let shape = libm::sqrt(low * high);
    let (sum, _) = weighted(shape);
    let scale = libm::exp(location + libm::log(sum / logs.len() as f64) / shape);
    (shape, scale)
}

impl Fit {
    /// The name of the distribution with the highest likelihood.
    #[must_use]
    pub fn best(&self) -> &'static str {
        let losses = [
            ("exponential", self.exponential_loss),
            ("Weibull", self.weibull_loss),
            ("lognormal", self.lognormal_loss),
        ];
        let least = losses.iter().min_by(|one, other| one.1.total_cmp(&other.1));
        least.map_or("", |(name, _)| name)
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::failures::SurvivalModel;
    use crate::random;

    #[test]
    fn drawn_weibull_spans_give_their_shape_and_scale_back() {
        for shape in [0.5, 0.78, 1.0, 2.0] {
            let model = SurvivalModel::Weibull {
                shape,
                scale_hours: 300.0,
            };
            let mut stream = random::stream(1, "fit", 0, "spans");
            let spans: Vec<i64> = (0..20_000)
                .map(|_| (model.draw_hours(&mut stream) * 3_600.0) as i64)
                .collect();
            let fit = fit(&spans).unwrap();
            // The standard error of the shape is 0.78 α / √n: half a per cent.
            assert!((fit.weibull_shape / shape - 1.0).abs() < 0.02, "{fit:?}");
            assert!((fit.weibull_scale_hours / 300.0 - 1.0).abs() < 0.04);
            let is_exponential = (fit.exponential_loss - fit.weibull_loss).abs() < 1e-3;
            assert_eq!(is_exponential, shape == 1.0, "{fit:?}");
            assert!(fit.lognormal_loss > fit.weibull_loss);
        }
    }

    #[test]
    fn drawn_lognormal_spans_are_told_apart_and_give_their_parameters_back() {
        let mut stream = random::stream(1, "fit", 0, "normal");
        let spans: Vec<i64> = (0..20_000)
            .map(|_| {
                let (one, other): (f64, f64) = (stream.random(), stream.random());
                let normal = libm::sqrt(-2.0 * libm::log1p(-one))
                    * libm::cos(2.0 * std::f64::consts::PI * other);
                (libm::exp(3.0 + 0.8 * normal) * 3_600.0) as i64
            })
            .collect();
        let fit = fit(&spans).unwrap();
        assert_eq!(fit.best(), "lognormal");
        assert!((fit.lognormal_location - 3.0).abs() < 0.03, "{fit:?}");
        assert!((fit.lognormal_spread - 0.8).abs() < 0.02, "{fit:?}");
        assert!((libm::log(fit.median_hours) - 3.0).abs() < 0.03);
    }

    #[test]
    fn too_little_is_not_fitted() {
        assert_eq!(fit(&[]), None);
        assert_eq!(fit(&[60]), None);
        assert_eq!(fit(&[60, 60, 60]), None);
        assert!(fit(&[60, 120]).is_some());
    }
}
