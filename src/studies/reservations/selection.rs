//! Chooses among alternatives with a cost and a time each, by the trade-off factor α (Singh 2008,
//! eqs. 15 and 20, and Figure 51).

/// Comparisons of weighted sums keep this distance, so that rounding never decides a tie (AMB-33).
pub const TIE: f64 = 1e-9;

/// The index of the alternative with the smallest
/// `α·(cost − min)/(max − min) + (1 − α)·(time − min)/(max − min)`.
///
/// α = 0 takes the earliest, α = 1 the cheapest. A term whose values are all equal counts 0. Ties
/// go to the earliest, then to the cheapest, then to the first (AMB-33). `None` when there is no
/// alternative.
#[must_use]
pub fn choose(alternatives: impl Iterator<Item = (f64, f64)> + Clone, alpha: f64) -> Option<usize> {
    let range = |value: fn((f64, f64)) -> f64| {
        alternatives
            .clone()
            .map(value)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
    };
    let (costs, times) = (range(|(cost, _)| cost), range(|(_, time)| time));
    let share = |value: f64, (low, high): (f64, f64)| {
        if high > low {
            (value - low) / (high - low)
        } else {
            0.0
        }
    };
    let mut best: Option<(usize, f64, f64, f64)> = None;
    for (index, (cost, time)) in alternatives.enumerate() {
        let sum = alpha * share(cost, costs) + (1.0 - alpha) * share(time, times);
        let better = best.is_none_or(|(_, least, earliest, cheapest)| {
            sum < least - TIE || (sum <= least + TIE && (time, cost) < (earliest, cheapest))
        });
        if better {
            best = Some((index, sum, time, cost));
        }
    }
    best.map(|(index, ..)| index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(offers: &[(f64, f64)], alpha: f64) -> f64 {
        offers[choose(offers.iter().copied(), alpha).unwrap()].1
    }

    /// Offers of a machine worked out by hand (AMB-42), `(f, start)`.
    #[test]
    fn the_list_of_section_12_4_gives_the_starts_that_it_names() {
        let offers = [
            (6.0, 1.0),
            (8.0, 2.0),
            (10.0, 3.0),
            (2.0, 4.0),
            (0.0, 5.0),
            (0.0, 8.0),
        ];
        let starts = [0.0, 0.25, 0.5, 0.75, 1.0].map(|alpha| chosen(&offers, alpha));
        assert_eq!(starts, [1.0, 1.0, 5.0, 5.0, 5.0]);
    }

    /// The prices of Singh 2008, Table 3.
    #[test]
    fn a_tie_goes_to_the_earliest_start() {
        let offers = [
            (6.0, 1.0),
            (8.0, 2.0),
            (10.0, 3.0),
            (0.0, 4.0),
            (0.0, 5.0),
            (0.0, 6.0),
        ];
        let starts = [0.0, 0.25, 0.5, 0.75, 1.0].map(|alpha| chosen(&offers, alpha));
        assert_eq!(starts, [1.0, 1.0, 1.0, 4.0, 4.0]);
    }

    #[test]
    fn equal_alternatives_give_the_first_and_none_gives_none() {
        assert_eq!(choose([(1.0, 1.0), (1.0, 1.0)].into_iter(), 0.5), Some(0));
        assert_eq!(choose(std::iter::empty(), 0.5), None);
    }
}
