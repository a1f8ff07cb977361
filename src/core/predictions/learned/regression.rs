//! Normalised adaptive gradient descent (Ross, Mineiro, Langford, UAI 2013, with the constants of
//! Gaussier 2015).

use super::Loss;

/// η: how far a step goes.
const RATE: f64 = 5_000.0;

/// Where the sums begin, so that nothing is divided by zero.
const BEGINNING: f64 = 1e-9;

/// What belongs to one coefficient.
#[derive(Clone, Debug)]
struct Coefficients {
    /// w
    weight: Vec<f64>,
    /// s: the largest value of the feature so far.
    scale: Vec<f64>,
    /// G: sum of the squared gradients.
    gradients: Vec<f64>,
}

/// A linear model `f(x) = Σ wᵢ xᵢ` that takes one step a sample. Steps do not depend on the units
/// of the features.
#[derive(Clone, Debug)]
pub struct OnlineRegression {
    loss: Loss,
    coefficients: Coefficients,
    /// N: sum of the squared features in units of their scales.
    norm: f64,
    /// n of the publication, which grows by two a sample.
    samples: f64,
}

impl OnlineRegression {
    /// A model of so many features that has learned nothing.
    #[must_use]
    pub fn new(features: usize, loss: Loss) -> Self {
        Self {
            loss,
            coefficients: Coefficients {
                weight: vec![0.0; features],
                scale: vec![BEGINNING; features],
                gradients: vec![BEGINNING; features],
            },
            norm: BEGINNING,
            samples: 1.0,
        }
    }

    /// f(x), summed in the order of the features.
    #[must_use]
    pub fn value(&self, features: &[f64]) -> f64 {
        let terms = features.iter().zip(&self.coefficients.weight);
        terms.fold(0.0, |sum, (feature, weight)| sum + weight * feature)
    }

    /// Takes a step towards `target`; `weight` says how much the sample counts and may be negative.
    /// Returns f(x) before the step, in scales that know the sample.
    pub fn learn(&mut self, features: &[f64], target: f64, weight: f64) -> f64 {
        let Coefficients {
            weight: weights,
            scale: scales,
            gradients,
        } = &mut self.coefficients;
        // Two passes: the first is bound by the order of its two sums, which run side by side, so
        // that telling apart what is larger costs nothing; the second has none and is bound by its
        // quotients and roots.
        let (mut value, mut norm) = (0.0, 0.0);
        for ((feature, scale), coefficient) in features.iter().zip(&mut *scales).zip(&mut *weights)
        {
            let size = feature.abs();
            if size > *scale {
                *coefficient *= *scale / size;
                *scale = size;
            }
            let normal = feature / *scale;
            norm += normal * normal;
            value += *coefficient * feature;
        }
        self.norm += norm;
        let slope = weight * self.loss.slope(value - target);
        let regularisation = self.loss.regularisation;
        for (((feature, scale), coefficient), squares) in
            features.iter().zip(&*scales).zip(weights).zip(gradients)
        {
            let gradient = slope * feature + regularisation * *coefficient;
            *squares += gradient * gradient;
            *coefficient -=
                RATE * gradient / ((self.norm * *squares / self.samples).sqrt() * scale);
        }
        self.samples += 2.0;
        value
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SampleWeight, Side};
    use super::*;

    /// Takes three samples of two features; returns f before each step and the weights after it.
    fn vector(regularisation: f64) -> (OnlineRegression, Vec<f64>, Vec<[f64; 2]>) {
        let loss = Loss {
            over: Side::Square(1.0),
            under: Side::Linear(1.0),
            threshold: 0.0,
            regularisation,
        };
        let mut regression = OnlineRegression::new(2, loss);
        let (mut values, mut weights) = (Vec::new(), Vec::new());
        for (feature, target) in [(100.0, 50.0), (200.0, 20.0), (100.0, 40.0)] {
            let features = [1.0, feature];
            let weight = SampleWeight::Large.of(target, 2.0);
            values.push(regression.learn(&features, target, weight));
            weights.push([
                regression.coefficients.weight[0],
                regression.coefficients.weight[1],
            ]);
        }
        (regression, values, weights)
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 1e-9 * expected.abs().max(1.0) + 5e-7,
            "{found} for {expected}"
        );
    }

    #[test]
    fn three_steps_give_the_values_of_the_vector() {
        let (regression, values, weights) = vector(0.0);
        for (found, expected) in values.iter().zip([0.0, 7_071.067_810, -1_191.889_653]) {
            close(*found, expected);
        }
        let expected = [
            [3_535.533_905, 35.355_339_05],
            [-794.593_098, -3.972_965_547],
            [-794.195_936, -3.971_972_643],
        ];
        for (found, expected) in weights.iter().flatten().zip(expected.iter().flatten()) {
            close(*found, *expected);
        }
        close(regression.norm, 5.25);
        close(regression.samples, 7.0);
        close(regression.value(&[1.0, 150.0]), -1_389.991_833);
    }

    #[test]
    fn the_published_regularisation_gives_the_second_line_of_the_vector() {
        let (regression, values, weights) = vector(4e9);
        close(values[2], -1_191.889_670);
        close(weights[2][0], 275.360_610);
        close(weights[2][1], 1.375_850_982);
        close(regression.value(&[1.0, 150.0]), 481.738_258);
    }

    #[test]
    fn predictions_do_not_depend_on_the_unit_of_a_feature() {
        let predictions = |unit: f64| {
            let mut regression = OnlineRegression::new(
                2,
                Loss {
                    regularisation: 0.0,
                    ..Loss::default()
                },
            );
            for step in 1..50 {
                let feature = f64::from(step % 7);
                regression.learn(&[1.0, feature * unit], 100.0 + 20.0 * feature, 1.0);
            }
            regression.value(&[1.0, 3.0 * unit])
        };
        close(predictions(1.0), predictions(1024.0));
    }
}
