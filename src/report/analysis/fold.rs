//! Replications folded into means and moments, on Polars.

use polars::prelude::*;

use crate::statistics::{Estimate, Moments};
use bookahead_core::scheduling::measures::QuantityKind;
use bookahead_lab::store::{METRICS, PointColumns, Shown};

/// Mean, standard deviation, third central moment and count of every quantity, one row a
/// combination. Measures stand in a frame of their own: they may have the name of a metric.
pub(super) struct Folded(DataFrame);

impl Folded {
    /// The estimate of a quantity of this kind; `None` where no replication has a value.
    pub(super) fn estimate(
        &self,
        key: &str,
        kind: QuantityKind,
        row: usize,
    ) -> PolarsResult<Option<Estimate>> {
        let real = |suffix: &str| -> PolarsResult<Option<f64>> {
            Ok(self.0.column(&format!("{key}{suffix}"))?.f64()?.get(row))
        };
        let count = self.0.column(&format!("{key} count"))?.u32()?.get(row);
        let Some(mean) = real(" mean")? else {
            return Ok(None);
        };
        let moments = Moments::new(
            count.unwrap_or(0),
            mean,
            real(" deviation")?,
            real(" third moment")?,
        );
        Ok(moments.map(|moments| Estimate::from_moments(&moments, kind)))
    }
}

/// The values of the points whose replication repeats no other one of its setting: what is the same
/// result is one value, however often it was computed.
fn counted(points: &PointColumns, values: &[Option<f64>]) -> Vec<Option<f64>> {
    let values = values.iter().enumerate();
    values
        .map(|(point, value)| value.filter(|_| !points.is_repetition(point)))
        .collect()
}

/// Folds the metrics, and the baseline's gain and the difference from it, of which pairs that
/// repeat another one have none.
pub(super) fn fold(
    points: &PointColumns,
    membership: &[u32],
    baselines: &[Option<f64>],
    differences: &[Option<f64>],
) -> PolarsResult<Folded> {
    let metrics = METRICS
        .iter()
        .filter(|metric| metric.shown > Shown::Store)
        .map(|metric| {
            let values = counted(points, &points.metrics[metric.name]);
            Column::new(metric.name.into(), values)
        });
    let paired = [("baseline", baselines), ("additional", differences)]
        .map(|(name, values)| Column::new(name.into(), values));
    fold_columns(points.len(), membership, metrics.chain(paired).collect())
}

pub(super) fn fold_measures(points: &PointColumns, membership: &[u32]) -> PolarsResult<Folded> {
    if points.measures.is_empty() {
        return Ok(Folded(DataFrame::empty()));
    }
    let columns = points
        .measures
        .iter()
        .map(|measure| {
            let values = counted(points, &measure.values);
            Column::new(measure.name.as_str().into(), values)
        })
        .collect();
    fold_columns(points.len(), membership, columns)
}

/// One row a combination, in the order of their numbers, which is that of their first points.
fn fold_columns(
    points: usize,
    membership: &[u32],
    mut columns: Vec<Column>,
) -> PolarsResult<Folded> {
    let keys: Vec<PlSmallStr> = columns.iter().map(|column| column.name().clone()).collect();
    columns.insert(0, Column::new("combination".into(), membership));
    let frame = DataFrame::new(points, columns)?;
    // Stable: the rows of a group are added up in the order of the points, whatever the number of
    // threads.
    let grouped = frame.group_by_stable(["combination"])?;
    #[expect(
        deprecated,
        reason = "what stands in their place needs the lazy engine, which takes as long to compile as the rest of Polars"
    )]
    let (means, deviations) = (grouped.mean()?, grouped.std(1)?);
    let combination = |row: &IdxSize| membership[*row as usize];
    let mut rows: Vec<IdxSize> = (0..).take(points).collect();
    rows.sort_by_key(combination);
    let groups: Vec<&[IdxSize]> = rows
        .chunk_by(|row, next| combination(row) == combination(next))
        .collect();
    debug_assert!(
        (0..).zip(&groups).all(|(number, group)| {
            combination(&group[0]) == number
                && (number == 0 || groups[number as usize - 1][0] < group[0])
        }),
        "combinations are numbered in the order of their first points"
    );
    let mut folded = Vec::with_capacity(4 * keys.len());
    for key in keys {
        let mean = means.column(&format!("{key}_mean"))?;
        let deviation = deviations.column(&format!("{key}_agg_std"))?;
        let distance = frame.column(&key)?.f64()? - &mean.f64()?.take(membership)?;
        let cubes = &(&distance * &distance) * &distance;
        let (third_moments, counts) = groups
            .iter()
            .map(|group| {
                let cubes = cubes.take(*group)?;
                Ok((cubes.mean(), (cubes.len() - cubes.null_count()) as u32))
            })
            .collect::<PolarsResult<(Vec<Option<f64>>, Vec<u32>)>>()?;
        folded.extend([
            mean.clone().with_name(format!("{key} mean").into()),
            deviation
                .clone()
                .with_name(format!("{key} deviation").into()),
            Column::new(format!("{key} third moment").into(), third_moments),
            Column::new(format!("{key} count").into(), counts),
        ]);
    }
    DataFrame::new(groups.len(), folded).map(Folded)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Mean, deviation, third moment and count of one combination.
    type Row = (Option<f64>, Option<f64>, Option<f64>, u32);

    fn folded(membership: &[u32], columns: &[Vec<Option<f64>>]) -> Vec<Vec<Row>> {
        let named = columns.iter().enumerate();
        let named = named.map(|(index, values)| Column::new(name(index).into(), values));
        let folded = fold_columns(membership.len(), membership, named.collect()).unwrap();
        let column = |index: usize, suffix: &str| {
            let column = folded.0.column(&format!("{}{suffix}", name(index)));
            column.unwrap().clone()
        };
        let of_column = |index: usize| {
            let real = |suffix: &str| column(index, suffix).f64().unwrap().to_vec();
            let counts = column(index, " count").u32().unwrap().to_vec();
            let (means, deviations) = (real(" mean"), real(" deviation"));
            let moments = means.into_iter().zip(deviations);
            let moments = moments.zip(real(" third moment")).zip(counts);
            moments
                .map(|(((mean, deviation), third), count)| (mean, deviation, third, count.unwrap()))
                .collect()
        };
        (0..columns.len()).map(of_column).collect()
    }

    fn name(index: usize) -> String {
        format!("quantity {index}")
    }

    /// The same for one combination, term by term.
    fn slow(values: &[f64]) -> Row {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let moment = |power| values.iter().map(move |value| (value - mean).powi(power));
        let deviation = (moment(2).sum::<f64>() / (count - 1.0)).sqrt();
        (
            (!values.is_empty()).then_some(mean),
            (values.len() > 1).then_some(deviation),
            (!values.is_empty()).then(|| moment(3).sum::<f64>() / count),
            values.len() as u32,
        )
    }

    #[test]
    fn moments_of_a_combination_are_those_worked_out_by_hand() {
        let values = [
            Some(1.0),
            Some(5.0),
            Some(2.0),
            None,
            None,
            Some(6.0),
            Some(f64::NAN),
        ];
        let folded = folded(&[0, 1, 0, 2, 1, 0, 3], &[values.to_vec()]);
        // 1, 2 and 6: mean 9/3; deviation √((4 + 1 + 9)/2); third moment (−8 − 1 + 27)/3.
        assert_eq!(folded[0][0], (Some(3.0), Some(7f64.sqrt()), Some(6.0), 3));
        // 5 and a value that is missing: one value has no deviation.
        assert_eq!(folded[0][1], (Some(5.0), None, Some(0.0), 1));
        assert_eq!(folded[0][2], (None, None, None, 0));
        let (mean, deviation, third, count) = folded[0][3];
        assert!(mean.unwrap().is_nan() && third.unwrap().is_nan());
        assert_eq!((deviation, count), (None, 1));
    }

    #[test]
    fn no_points_have_no_combination() {
        assert_eq!(folded(&[], &[vec![]]), [vec![]]);
    }

    proptest! {
        /// Values far from 0 as well: what is lost there is relative to their size.
        #[test]
        fn folds_agree_with_a_plain_one(
            offset in prop_oneof![Just(0.0), Just(1e6)],
            points in vec((0..9_u32, vec(proptest::option::weighted(0.8, -1e3..1e3), 3)), 1..120),
        ) {
            let mut numbers = Vec::new();
            let membership: Vec<u32> = points
                .iter()
                .map(|(group, _)| {
                    numbers.iter().position(|known| known == group).unwrap_or_else(|| {
                        numbers.push(*group);
                        numbers.len() - 1
                    }) as u32
                })
                .collect();
            let value = |row: &[Option<f64>], index: usize| row[index].map(|value: f64| value + offset);
            let columns: Vec<Vec<Option<f64>>> = (0..3)
                .map(|index| points.iter().map(|(_, row)| value(row, index)).collect())
                .collect();
            let folded = folded(&membership, &columns);
            for (values, rows) in columns.iter().zip(folded) {
                prop_assert_eq!(rows.len(), numbers.len());
                for (combination, row) in (0..).zip(rows) {
                    let own = values.iter().zip(&membership);
                    let own: Vec<f64> = own
                        .filter(|(_, number)| **number == combination)
                        .filter_map(|(value, _)| *value)
                        .collect();
                    let expected = slow(&own);
                    let close = |value: Option<f64>, expected: Option<f64>, scale: f64| {
                        value.is_some() == expected.is_some()
                            && value.zip(expected).is_none_or(|(value, expected)| {
                                (value - expected).abs() <= 1e-13 * scale
                            })
                    };
                    let size = 1e3 + offset;
                    prop_assert!(close(row.0, expected.0, size), "{row:?}, not {expected:?}");
                    prop_assert!(close(row.1, expected.1, size), "{row:?}, not {expected:?}");
                    prop_assert!(close(row.2, expected.2, 1e6 * size), "{row:?}, not {expected:?}");
                    prop_assert_eq!(row.3, expected.3);
                }
            }
        }
    }
}
