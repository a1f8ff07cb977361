//! Quantities of a check other than the mean of a measure: the standard deviation of its
//! replications, the least or the greatest of them, or the quotient of two means.

use std::collections::BTreeMap;
use std::fmt;

use super::curves::{CurveCell, MeasuredCurves, paired};
use bookahead_lab::sweep::Axis;
use bookahead_report::statistics::Estimate;

/// What stands behind `measure` in a check: the name of a measure, or one of
///
/// - `deviation of NAME`: the standard deviation over the replications (an error bar of a paper);
///   there is none of one replication;
/// - `least NAME`, `greatest NAME`: of the replications, for what must hold in every single one;
/// - `NAME / NAME`: the quotient of two means (a bar divided by another), which is not the mean of
///   quotients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity<'n> {
    /// The mean.
    Mean(&'n str),
    /// The sample's standard deviation.
    Deviation(&'n str),
    /// The least replication.
    Least(&'n str),
    /// The greatest replication.
    Greatest(&'n str),
    /// The quotient of two means.
    Quotient(&'n str, &'n str),
}

impl<'n> Quantity<'n> {
    pub(super) fn parse(text: &'n str) -> Self {
        if let Some(name) = text.strip_prefix("deviation of ") {
            Self::Deviation(name)
        } else if let Some(name) = text.strip_prefix("least ") {
            Self::Least(name)
        } else if let Some(name) = text.strip_prefix("greatest ") {
            Self::Greatest(name)
        } else if let Some((above, below)) = text.split_once(" / ") {
            Self::Quotient(above, below)
        } else {
            Self::Mean(text)
        }
    }

    /// The measures that it is made of.
    pub(super) fn measures(self) -> impl Iterator<Item = &'n str> {
        let (first, second) = match self {
            Self::Mean(name) | Self::Deviation(name) | Self::Least(name) | Self::Greatest(name) => {
                (name, None)
            }
            Self::Quotient(above, below) => (above, Some(below)),
        };
        std::iter::once(first).chain(second)
    }
}

impl fmt::Display for Quantity<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mean(name) => write!(formatter, "{name}"),
            Self::Deviation(name) => write!(formatter, "σ of {name}"),
            Self::Least(name) => write!(formatter, "least {name}"),
            Self::Greatest(name) => write!(formatter, "greatest {name}"),
            Self::Quotient(above, below) => write!(formatter, "{above} / {below}"),
        }
    }
}

/// Measured curves that know what else can be asked of replications.
pub(super) struct WithQuantities<'c>(pub(super) &'c dyn MeasuredCurves);

impl MeasuredCurves for WithQuantities<'_> {
    fn axes(&self, run: &str) -> Option<&[Axis]> {
        self.0.axes(run)
    }

    fn cells(&self, run: &str, measure: &str) -> Vec<CurveCell> {
        let each = |name: &str, fold: fn(&CurveCell) -> Option<f64>| {
            let cells = self.0.cells(run, name).into_iter();
            cells
                .filter_map(|cell| {
                    let value = fold(&cell)?;
                    Some(CurveCell {
                        estimate: Estimate::without_interval(cell.estimate.count, value),
                        values: cell.values,
                        samples: Vec::new(),
                        seen: BTreeMap::new(),
                    })
                })
                .collect()
        };
        match Quantity::parse(measure) {
            Quantity::Mean(name) => self.0.cells(run, name),
            Quantity::Deviation(name) => each(name, deviation),
            Quantity::Least(name) => each(name, |cell| samples(cell).min_by(f64::total_cmp)),
            Quantity::Greatest(name) => each(name, |cell| samples(cell).max_by(f64::total_cmp)),
            Quantity::Quotient(above, below) => {
                let below = self.0.cells(run, below);
                self.0
                    .cells(run, above)
                    .into_iter()
                    .filter_map(|cell| {
                        let other = below.iter().find(|other| other.values == cell.values)?;
                        quotient(cell, other)
                    })
                    .collect()
            }
        }
    }
}

/// Equal replications differ from their mean by rounding in its last bits: that is no deviation.
fn deviation(cell: &CurveCell) -> Option<f64> {
    let deviation = cell.estimate.deviation?;
    let is_rounding = deviation <= 1e-12 * cell.estimate.mean.abs();
    Some(if is_rounding { 0.0 } else { deviation })
}

fn samples(cell: &CurveCell) -> impl Iterator<Item = f64> + '_ {
    cell.samples.iter().map(|(_, value)| *value)
}

/// The quotient of the means over the replications that both have, of the same points. Its samples
/// are the usual linearisation of a quotient, so that their mean is the quotient, and their
/// deviations and paired differences give its interval.
fn quotient(cell: CurveCell, other: &CurveCell) -> Option<CurveCell> {
    let pairs = paired(&cell.samples, &other.samples);
    if pairs.is_empty() {
        let (above, below) = (cell.estimate.mean, other.estimate.mean);
        return Some(CurveCell {
            estimate: (below != 0.0)
                .then(|| Estimate::without_interval(cell.estimate.count, above / below))?,
            values: cell.values,
            samples: Vec::new(),
            seen: BTreeMap::new(),
        });
    }
    let (above, below): (Vec<f64>, Vec<f64>) =
        pairs.iter().map(|(_, above, below)| (above, below)).unzip();
    let (above, below) = (Estimate::of(&above)?.mean, Estimate::of(&below)?.mean);
    if below == 0.0 {
        return None;
    }
    let ratio = above / below;
    let samples = pairs
        .into_iter()
        .map(|(replication, own_above, own_below)| {
            (replication, ratio + (own_above - ratio * own_below) / below)
        })
        .collect();
    Some(CurveCell::new(cell.values, samples)?.that_saw(cell.seen))
}

#[cfg(test)]
mod tests {
    use super::super::tests::Curves;
    use super::*;
    use bookahead_lab::sweep::AxisValue;

    fn curves() -> Curves {
        let axis = [AxisValue::Integer(1), AxisValue::Integer(2)];
        let at = |value: i64| [("share", AxisValue::Integer(value))];
        Curves::default()
            .run("main", &[("share", axis.to_vec())])
            .cell("main", "makespan", &at(1), &[1.0, 2.0, 6.0])
            .cell("main", "makespan", &at(2), &[4.0])
            .cell("main", "baseline", &at(1), &[2.0, 4.0, 12.0])
            .cell("main", "baseline", &at(2), &[0.0])
    }

    fn only(measure: &str) -> CurveCell {
        let cells = WithQuantities(&curves()).cells("main", measure);
        cells
            .into_iter()
            .find(|cell| cell.values["share"] == AxisValue::Integer(1))
            .unwrap()
    }

    #[test]
    fn the_deviation_of_a_sample_is_that_of_the_sample_and_one_replication_has_none() {
        // Mean 3, squares 4 + 1 + 9 over two degrees of freedom.
        let cell = only("deviation of makespan");
        assert!((cell.estimate.mean - 7.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(cell.estimate.interval, None);
        assert_eq!(cell.estimate.count, 3);
        let cells = WithQuantities(&curves()).cells("main", "deviation of makespan");
        assert_eq!(cells.len(), 1, "one replication has no deviation");
        let equal = Curves::default()
            .run("main", &[])
            .cell("main", "cost", &[], &[194.386; 50]);
        let cells = WithQuantities(&equal).cells("main", "deviation of cost");
        assert_eq!(cells[0].estimate.mean, 0.0, "rounding is no deviation");
    }

    #[test]
    fn the_least_and_the_greatest_replication_are_what_every_single_one_must_keep() {
        assert_eq!(only("least makespan").estimate.mean, 1.0);
        assert_eq!(only("greatest makespan").estimate.mean, 6.0);
        assert_eq!(only("makespan").samples.len(), 3);
    }

    #[test]
    fn a_quotient_is_that_of_the_means_with_an_interval_and_needs_something_below() {
        let cell = only("makespan / baseline");
        assert!((cell.estimate.mean - 0.5).abs() < 1e-12);
        // Every replication has the same quotient, so nothing is left to chance.
        assert!(cell.estimate.deviation.unwrap() < 1e-12);
        let cells = WithQuantities(&curves()).cells("main", "makespan / baseline");
        assert_eq!(cells.len(), 1, "nothing is divided by 0");
        // 9/18 and not (1/3 + 2/3 + 1/2) / 3.
        let uneven = Curves::default()
            .run("main", &[])
            .cell("main", "above", &[], &[1.0, 2.0, 6.0])
            .cell("main", "below", &[], &[3.0, 3.0, 12.0]);
        let cells = WithQuantities(&uneven).cells("main", "above / below");
        assert!((cells[0].estimate.mean - 0.5).abs() < 1e-12);
        assert!(cells[0].estimate.half_width().unwrap() > 0.0);
    }

    #[test]
    fn the_words_of_a_check_name_what_is_asked() {
        for (text, shown, measures) in [
            ("a", "a", vec!["a"]),
            ("deviation of a", "σ of a", vec!["a"]),
            ("least a", "least a", vec!["a"]),
            ("greatest a", "greatest a", vec!["a"]),
            ("a / b", "a / b", vec!["a", "b"]),
        ] {
            let quantity = Quantity::parse(text);
            assert_eq!(quantity.to_string(), shown);
            assert_eq!(quantity.measures().collect::<Vec<_>>(), measures);
        }
    }
}
