//! Heat maps: what a policy earns over two axes with numbers, with the best cells and the sign of
//! the surplus.

use std::collections::BTreeMap;

use super::paired::Pairs;
use super::surplus::Surplus;
use super::{MOST_FURTHER_PANELS, MOST_PANELS, condition, file_name, given, mark, number, titled};
use crate::analysis::{Analysis, Combination};
use crate::figure::{Figure, HeatCell, Marks, Scale, Section, Series, Sign, Standing};
use crate::statistics::Estimate;
use crate::table::{short, value_text};

/// Of each pair of axes with numbers a heat map for each policy and situation, as long as there are
/// few of them; none where nothing is earned.
pub(crate) fn heat_maps(
    analysis: &Analysis,
    pairs: &Pairs<'_>,
    configuration_hash: &str,
) -> Vec<Figure> {
    let Some(surplus) = Surplus::new(analysis, pairs, configuration_hash) else {
        return Vec::new();
    };
    let numeric: Vec<usize> = (0..analysis.axes.len())
        .filter(|axis| {
            let values = &analysis.axes[*axis].values;
            values.len() > 1 && values.iter().all(|value| number(value).is_some())
        })
        .collect();
    let is_tuned = |axis: &usize| analysis.tuned_axes().contains(axis);
    let mut figures = Vec::new();
    for (place, one) in numeric.iter().enumerate() {
        for other in &numeric[place + 1..] {
            // What a provider chooses stands along the rows.
            let (x, y) = match is_tuned(one) && !is_tuned(other) {
                true => (*one, *other),
                false => (*other, *one),
            };
            let maps = HeatMaps {
                surplus: &surplus,
                x,
                y,
                is_chosen: [x, y].map(|axis| is_tuned(&axis)),
            };
            figures.extend(maps.figures());
        }
    }
    figures
}

/// The maps over two axes.
struct HeatMaps<'s, 'a> {
    surplus: &'s Surplus<'a>,
    x: usize,
    y: usize,
    /// Whether a provider chooses the values of either.
    is_chosen: [bool; 2],
}

impl<'a> HeatMaps<'_, 'a> {
    /// The maps, unless there are too many of them.
    fn figures(&self) -> Vec<Figure> {
        let analysis = self.surplus.analysis;
        let others: Vec<usize> = (0..analysis.axes.len())
            .filter(|axis| ![self.x, self.y].contains(axis))
            .collect();
        let is_chosen = self.is_chosen.contains(&true);
        let reads_them = |combination: &Combination| {
            !is_chosen || analysis.studies.overbooks(analysis.policy(combination))
        };
        let mut maps: BTreeMap<Vec<Option<u32>>, Vec<&Combination>> = BTreeMap::new();
        for combination in &analysis.combinations {
            if reads_them(combination) && analysis.earned(combination).is_some() {
                let situation = others.iter().map(|axis| combination.places[*axis]);
                maps.entry(situation.collect())
                    .or_default()
                    .push(combination);
            }
        }
        // Axes that were swept together make a line and no map.
        maps.retain(|_, cells| self.is_map(cells));
        let most = if is_chosen {
            MOST_PANELS
        } else {
            MOST_FURTHER_PANELS
        };
        if maps.len() > most {
            return Vec::new();
        }
        let is_alone = maps.len() == 1;
        let maps = maps.into_iter().enumerate();
        maps.map(|(number, (places, cells))| {
            let mut figure = self.figure(&cells, given(analysis, &others, &places));
            if !is_alone {
                figure.name = format!("{}-{}", figure.name, number + 1);
            }
            figure
        })
        .collect()
    }

    fn is_map(&self, cells: &[&Combination]) -> bool {
        let place = |cell: &Combination| (cell.places[self.x], cell.places[self.y]);
        let Some((x, y)) = cells.first().map(|cell| place(cell)) else {
            return false;
        };
        let is_there = |holds: &dyn Fn((Option<u32>, Option<u32>)) -> bool| {
            cells.iter().any(|cell| holds(place(cell)))
        };
        is_there(&|(other, row)| other != x && row == y)
            && is_there(&|(other, row)| other == x && row != y)
    }

    fn figure(&self, cells: &[&'a Combination], given: Vec<(String, String)>) -> Figure {
        let (analysis, earned) = (self.surplus.analysis, &self.surplus.earned);
        let [x, y] = [self.x, self.y].map(|axis| analysis.axes[axis].key.as_str());
        // Along a row everything is chosen where only columns are; else over the whole map.
        let is_by_row = self.is_chosen == [true, false];
        let compared_with = |cell: &Combination| cell.places[self.y].filter(|_| is_by_row);
        let mut best: BTreeMap<Option<u32>, &Combination> = BTreeMap::new();
        for cell in cells {
            let known = best.entry(compared_with(cell)).or_insert(cell);
            if analysis.mean_earned(cell) > analysis.mean_earned(known) {
                *known = cell;
            }
        }
        let drawn = cells.iter().filter_map(|cell| {
            Some(HeatCell {
                mark: mark(f64::from(cell.places[self.x]?), &analysis.earned(cell)?),
                row: f64::from(cell.places[self.y]?),
                standing: self.standing(best.get(&compared_with(cell))?, cell),
                surplus: self.surplus.of(cell).and_then(sign),
            })
        });
        let policy = cells.first().map_or("", |cell| analysis.policy(cell));
        let scale = |axis: usize| {
            let axis = &analysis.axes[axis];
            Scale::categories(axis.key.as_str(), axis.values.iter().map(value_text))
        };
        // Whose map it is stands in the legend.
        let competing = analysis.competing_axis();
        let competing = competing.map(|axis| analysis.axes[axis].key.as_str());
        let others = given
            .iter()
            .filter(|(key, _)| Some(key.as_str()) != competing);
        let others: Vec<(String, String)> = others.cloned().collect();
        Figure {
            name: format!("{}-by-{}-and-{}", file_name(&earned.key), file_name(x), file_name(y)),
            section: Section::Money,
            title: titled(
                &format!("{} by {} and {}", earned.title, short(x), short(y)),
                &others,
            ),
            x: scale(self.x),
            y: scale(self.y),
            series: vec![Series::new(
                policy,
                analysis.studies.rank(policy),
                Marks::Cells(drawn.collect()),
            )],
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

    /// How a cell stands beside the best one.
    fn standing(&self, best: &Combination, cell: &Combination) -> Standing {
        if std::ptr::eq(best, cell) {
            return Standing::Best;
        }
        let difference = self
            .surplus
            .pairs
            .difference(&self.surplus.earned, best, cell);
        match difference {
            Some(found) if found.interval().is_some() && !found.is_significant() => {
                Standing::NotWorse
            }
            _ => Standing::Other,
        }
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
