//! How the values of a line change along it, by differences within replications.

use super::drawn::Drawn;
use super::paired::Pairs;
use crate::analysis::Combination;
use crate::figure::{Change, Mark};
use crate::statistics::{holm, is_shown};

impl Pairs<'_> {
    /// What a line in order of x does from its first mark to its last. A mark between them is
    /// beyond both ends where both differences are significant after Holm's correction for the
    /// number of marks between them, since the farthest one is chosen among those. Where the
    /// replications carry no interval, the means decide. With the place where the line turns, where
    /// it does. `None` where a setting shares no replication with an end, and for a single mark.
    pub(super) fn change(
        &self,
        quantity: &Drawn,
        line: &[(Mark, &Combination)],
    ) -> Option<(Change, Option<f64>)> {
        let [(_, first), between @ .., (_, last)] = line else {
            return None;
        };
        let difference = |one: &Combination, other: &Combination| {
            let found = self.difference(quantity, one, other)?;
            let mean = found.estimate.mean;
            let p_value = match found.interval() {
                Some(_) => found.p_value().unwrap_or(1.0),
                None => f64::from(u8::from(mean == 0.0)),
            };
            Some(Difference { mean, p_value })
        };
        let mut beyond = Vec::new();
        for (mark, combination) in between {
            let before = difference(combination, first)?;
            let after = difference(combination, last)?;
            beyond.push((mark.x, before.of_both(after)));
        }
        let p_values: Vec<f64> = beyond.iter().map(|(_, both)| both.p_value).collect();
        let farthest = (beyond.iter().zip(holm(&p_values)))
            .filter(|(_, p_value)| is_shown(*p_value))
            .max_by(|((_, one), _), ((_, other), _)| one.mean.abs().total_cmp(&other.mean.abs()));
        if let Some(((at, both), _)) = farthest {
            let change = match both.mean > 0.0 {
                true => Change::Peaks,
                false => Change::Dips,
            };
            return Some((change, Some(*at)));
        }
        let ends = difference(last, first)?;
        let change = match is_shown(ends.p_value) {
            true if ends.mean > 0.0 => Change::Rises,
            true => Change::Falls,
            false => Change::Level,
        };
        Some((change, None))
    }
}

/// A mean difference, and the p-value of the hypothesis that it is 0.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Difference {
    mean: f64,
    p_value: f64,
}

impl Difference {
    /// The smaller one of two in the same direction, which is significant where both are; of two in
    /// opposite directions none.
    fn of_both(self, other: Self) -> Self {
        if self.mean * other.mean <= 0.0 {
            return Self {
                mean: 0.0,
                p_value: 1.0,
            };
        }
        let is_smaller = self.mean.abs() < other.mean.abs();
        Self {
            mean: if is_smaller { self.mean } else { other.mean },
            p_value: self.p_value.max(other.p_value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Difference;

    const fn of(mean: f64, p_value: f64) -> Difference {
        Difference { mean, p_value }
    }

    #[test]
    fn a_value_beyond_both_ends_is_as_far_as_the_nearer_end_and_as_sure_as_the_less_sure_one() {
        assert_eq!(of(3.0, 0.001).of_both(of(1.0, 0.04)), of(1.0, 0.04));
        assert_eq!(of(-1.0, 0.04).of_both(of(-3.0, 0.001)), of(-1.0, 0.04));
        assert_eq!(of(3.0, 0.001).of_both(of(-1.0, 0.001)), of(0.0, 1.0));
        assert_eq!(of(3.0, 0.001).of_both(of(0.0, 1.0)), of(0.0, 1.0));
    }
}
