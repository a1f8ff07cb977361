//! Heat maps: what a policy earns over two axes with numbers, with the best cells and the sign of
//! the surplus.

use std::collections::BTreeMap;

use super::drawn::{Drawn, drawn};
use super::paired::Pairs;
use super::surplus::{competing_axis, surpluses};
use super::{MOST_FURTHER_PANELS, MOST_PANELS, condition, file_name, given, mark, number, titled};
use crate::analysis::{Analysis, Combination};
use crate::figure::{Figure, HeatCell, Marks, Scale, Section, Series, Sign, Standing};
use crate::statistics::{Estimate, Replicated};
use crate::table::{short, value_text};

/// Of each pair of axes with numbers a heat map for each policy and situation, as long as there are
/// few of them; none where nothing is earned.
pub(crate) fn heat_maps(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    configuration_hash: &str,
) -> Vec<Figure> {
    let earned = drawn(analysis, configuration_hash).into_iter().next();
    let (true, Some(earned)) = (analysis.is_earning(), earned) else {
        return Vec::new();
    };
    let surpluses = surpluses(analysis, pairs, configuration_hash);
    let numeric: Vec<usize> = (0..analysis.axes.len())
        .filter(|axis| {
            let values = &analysis.axes[*axis].values;
            values.len() > 1 && values.iter().all(|value| number(value).is_some())
        })
        .collect();
    let tuned = analysis.tuned_axes();
    let mut figures = Vec::new();
    for (place, one) in numeric.iter().enumerate() {
        for other in &numeric[place + 1..] {
            // What a provider chooses stands along the rows.
            let (x, y) = match tuned.contains(one) && !tuned.contains(other) {
                true => (*one, *other),
                false => (*other, *one),
            };
            let axes = HeatAxes { x, y };
            figures.extend(axes.maps(analysis, pairs, &earned, &surpluses));
        }
    }
    figures
}

/// Two axes of a heat map.
#[derive(Clone, Copy)]
struct HeatAxes {
    x: usize,
    y: usize,
}

/// The combinations of one map, each with its surplus.
type Cells<'a> = Vec<(&'a Combination, Option<Estimate>)>;

impl HeatAxes {
    /// The maps, unless there are too many of them.
    fn maps(
        self,
        analysis: &Analysis,
        pairs: &Pairs<'_>,
        earned: &Drawn,
        surpluses: &[Option<Estimate>],
    ) -> Vec<Figure> {
        let others: Vec<usize> = (0..analysis.axes.len())
            .filter(|axis| ![self.x, self.y].contains(axis))
            .collect();
        let is_tuned = |axis| analysis.tuned_axes().contains(&axis);
        let reads_no_axis = |combination: &Combination| {
            [self.x, self.y].into_iter().any(is_tuned)
                && !analysis.studies.overbooks(analysis.policy(combination))
        };
        let mut maps: BTreeMap<Vec<Option<u32>>, Cells<'_>> = BTreeMap::new();
        for (combination, surplus) in analysis.combinations.iter().zip(surpluses) {
            if !reads_no_axis(combination) && earned.estimate(combination).is_some() {
                let situation = others.iter().map(|axis| combination.places[*axis]);
                let cells = maps.entry(situation.collect()).or_default();
                cells.push((combination, *surplus));
            }
        }
        // Axes that were swept together make a line and no map.
        maps.retain(|_, cells| self.is_map(cells));
        let most = match [self.x, self.y].into_iter().any(is_tuned) {
            true => MOST_PANELS,
            false => MOST_FURTHER_PANELS,
        };
        if maps.len() > most {
            return Vec::new();
        }
        let is_alone = maps.len() == 1;
        let maps = maps.into_iter().enumerate();
        maps.map(|(number, (places, cells))| {
            let suffix = match is_alone {
                true => String::new(),
                false => format!("-{}", number + 1),
            };
            let given = given(analysis, &others, &places);
            self.map(analysis, pairs, earned, (cells, given, suffix))
        })
        .collect()
    }

    fn is_map(self, cells: &Cells<'_>) -> bool {
        let mut places = cells
            .iter()
            .map(|(cell, _)| (cell.places[self.x], cell.places[self.y]));
        let Some((x, y)) = places.next() else {
            return false;
        };
        let others: Vec<_> = places.collect();
        others.iter().any(|(other, row)| *other != x && *row == y)
            && others.iter().any(|(other, row)| *other == x && *row != y)
    }

    fn map(
        self,
        analysis: &Analysis,
        pairs: &Pairs<'_>,
        earned: &Drawn,
        (cells, given, suffix): (Cells<'_>, Vec<(String, String)>, String),
    ) -> Figure {
        let [x, y] = [self.x, self.y].map(|axis| analysis.axes[axis].key.as_str());
        let is_by_row =
            analysis.tuned_axes().contains(&self.x) && !analysis.tuned_axes().contains(&self.y);
        let mut best: BTreeMap<Option<u32>, &Combination> = BTreeMap::new();
        for (cell, _) in &cells {
            let row = cell.places[self.y].filter(|_| is_by_row);
            let known = best.entry(row).or_insert(*cell);
            if analysis.mean_earned(cell) > analysis.mean_earned(known) {
                *known = *cell;
            }
        }
        let drawn = cells.iter().filter_map(|(cell, surplus)| {
            let best = best.get(&cell.places[self.y].filter(|_| is_by_row))?;
            Some(HeatCell {
                mark: mark(f64::from(cell.places[self.x]?), &earned.estimate(cell)?),
                row: f64::from(cell.places[self.y]?),
                standing: standing(pairs, earned, best, cell),
                surplus: surplus.and_then(sign),
            })
        });
        let policy = cells.first().map_or("", |(cell, _)| analysis.policy(cell));
        let scale = |axis: usize| {
            let axis = &analysis.axes[axis];
            Scale::categories(axis.key.as_str(), axis.values.iter().map(value_text))
        };
        let series = Series::new(
            policy,
            analysis.studies.rank(policy),
            Marks::Cells(drawn.collect()),
        );
        let title = format!("{} by {} and {}", earned.title, short(x), short(y));
        // Whose map it is stands in the legend.
        let competing = competing_axis(analysis).map(|axis| analysis.axes[axis].key.as_str());
        let others: Vec<(String, String)> = (given.iter())
            .filter(|(key, _)| Some(key.as_str()) != competing)
            .cloned()
            .collect();
        Figure {
            name: format!("{}-by-{}-and-{}{suffix}", file_name(&earned.key), file_name(x), file_name(y)),
            section: Section::Money,
            title: titled(&title, &others),
            x: scale(self.x),
            y: scale(self.y),
            series: vec![series],
            note: format!(
                "The more, the darker. A thick frame is around the best of {}, a dashed one around what \
                 is not significantly worse, paired by replication. + or −: significantly more or less \
                 than the baseline.",
                if is_by_row { "each row" } else { "all cells" }
            ),
            sql: format!(
                "SELECT axes ->> '$.\"{x}\"' AS x, axes ->> '$.\"{y}\"' AS y, count(*) AS n, avg({0}) AS mean
FROM (SELECT * FROM {1}){2}
GROUP BY axes
ORDER BY y, x;",
                earned.key,
                earned.from,
                condition(&given).replacen("\n    AND", "\nWHERE", 1)
            ),
            given,
        }
    }
}

/// How a cell stands beside the best one.
fn standing(pairs: &Pairs<'_>, earned: &Drawn, best: &Combination, cell: &Combination) -> Standing {
    if std::ptr::eq(best, cell) {
        return Standing::Best;
    }
    let is_open =
        |difference: &Replicated| difference.interval().is_some() && !difference.is_significant();
    match pairs
        .difference(earned, best, cell)
        .as_ref()
        .is_some_and(is_open)
    {
        true => Standing::NotWorse,
        false => Standing::Other,
    }
}

/// The sign of a difference that is significant.
fn sign(difference: Estimate) -> Option<Sign> {
    difference
        .is_significant()
        .then_some(match difference.mean > 0.0 {
            true => Sign::Plus,
            false => Sign::Minus,
        })
}
