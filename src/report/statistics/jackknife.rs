//! The value of a statistic without each single battery, and the interval that follows (the
//! jackknife).

use super::estimate::{Estimate, Moments};
use bookahead_core::scheduling::measures::QuantityKind;

impl Estimate {
    /// A statistic of several batteries that is no mean, by the delete-one jackknife: `whole` is
    /// its value over all n of them, `without` its values without each one. The deviation is that
    /// of the pseudo-values `n · whole − (n − 1) · without`, so that the standard error, deviation
    /// ÷ √n, has the jackknife's variance `(n − 1) / n · Σ (without − their mean)²`; the interval
    /// is Student's t with n − 1 degrees of freedom about `whole` (J. W. Tukey, *Bias and
    /// confidence in not-quite large samples*, Ann. Math. Statist. 29, 1958; B. Efron and R. J.
    /// Tibshirani, *An Introduction to the Bootstrap*, 1993, chapter 11). `None` where one of the
    /// values is not finite or there is none; no interval for a single battery and where they do
    /// not differ.
    #[must_use]
    pub fn jackknife(whole: f64, without: &[f64]) -> Option<Self> {
        let is_finite = without
            .iter()
            .chain([&whole])
            .all(|value| value.is_finite());
        let of_rest = Moments::of(without).filter(|_| is_finite)?;
        let factor = f64::from(of_rest.count) - 1.0;
        // Without differences between the batteries what remains is the rounding of sums.
        let deviation = of_rest
            .deviation
            .filter(|_| !of_rest.has_no_spread())
            .map(|deviation| factor * deviation);
        let moments = Moments {
            count: of_rest.count,
            mean: whole,
            deviation,
            skewness: None,
        };
        Some(Self::from_moments(&moments, QuantityKind::Signed))
    }
}
