//! Sites of unlike speed and price.

use std::ops::RangeBounds as _;

use super::RawSites;
use bookahead_lab::keys::declaration::Given;
use bookahead_lab::keys::field::Field;
use bookahead_lab::keys::problem::Problems;

/// How fast each of so many sites is, and what a processor-hour costs there: its speed where
/// nothing is said. Empty where that is 1 everywhere.
pub(super) fn unlike(
    raw: &RawSites,
    count: usize,
    problems: &mut Problems,
) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut of_each = |field: Field<'_, Given<Vec<f64>>>| {
        let values = field.or_default();
        if !values.iter().all(|value| field.key.range.contains(value)) {
            field.refuse("one of these numbers is out of range", problems);
            return None;
        }
        Some(values.into_iter().cycle().take(count).collect::<Vec<f64>>())
    };
    let (speeds, prices) = (of_each(raw.speeds()), of_each(raw.prices()));
    let (speeds, mut prices) = (speeds?, prices?);
    if prices.is_empty() {
        prices.clone_from(&speeds);
    }
    let unlike = |values: Vec<f64>| match values.iter().all(|value| *value == 1.0) {
        true => Vec::new(),
        false => values,
    };
    Some((unlike(speeds), unlike(prices)))
}
