//! Groups of rows, and what values come to in each of them.

use polars::prelude::*;

use crate::statistics::Moments;

/// Mean, sample standard deviation, third central moment and count of the values of a group.
type Folded = (Option<f64>, Option<f64>, Option<f64>, u32);

/// Points in groups, in the order of their first ones.
pub(crate) struct Groups(GroupsIdx);

impl Groups {
    /// Of points with the numbers of their groups, which are those of their first points' order.
    pub(crate) fn new(numbered: impl Iterator<Item = (u32, IdxSize)>) -> Self {
        let mut groups: Vec<Vec<IdxSize>> = Vec::new();
        for (number, point) in numbered {
            if number as usize == groups.len() {
                groups.push(Vec::new());
            }
            groups[number as usize].push(point);
        }
        let groups = groups.into_iter();
        Self(groups.map(|points| (points[0], points.into())).collect())
    }

    /// The points of each.
    pub(crate) fn points(&self) -> impl Iterator<Item = Vec<usize>> {
        self.rows()
            .map(|rows| rows.iter().map(|row| *row as usize).collect())
    }

    pub(super) fn into_rows(self) -> impl Iterator<Item = Vec<IdxSize>> {
        self.0.into_iter().map(|(_, rows)| rows.to_vec())
    }

    fn rows(&self) -> impl Iterator<Item = &[IdxSize]> {
        self.0.all().iter().map(|rows| rows.as_slice())
    }

    /// The mean of each group.
    pub(crate) fn means(&self, values: &[f64]) -> PolarsResult<Vec<f64>> {
        let frame = DataFrame::new(values.len(), vec![Column::new(PlSmallStr::EMPTY, values)])?;
        Ok(self.mean(&frame)?.into_no_null_iter().collect())
    }

    /// What these values of all points come to in each group; `None` where it has none.
    pub(crate) fn moments(&self, values: &[Option<f64>]) -> PolarsResult<Vec<Option<Moments>>> {
        let moments =
            |(mean, deviation, third, count): Folded| Moments::new(count, mean?, deviation, third);
        Ok(self.folded(values)?.into_iter().map(moments).collect())
    }

    fn folded(&self, values: &[Option<f64>]) -> PolarsResult<Vec<Folded>> {
        let frame = DataFrame::new(values.len(), vec![Column::new(PlSmallStr::EMPTY, values)])?;
        let means = self.mean(&frame)?;
        #[expect(
            deprecated,
            reason = "what stands in their place needs the lazy engine, which takes as long to compile as the rest of Polars"
        )]
        let deviations = self.of(&frame).std(1)?;
        let distance = frame[0].f64()? - &means.take(&self.numbers(values.len()))?;
        let cubes = &(&distance * &distance) * &distance;
        let folded = means
            .iter()
            .zip(deviations[0].f64()?.iter())
            .zip(self.rows());
        folded
            .map(|((mean, deviation), rows)| {
                let cubes = cubes.take(rows)?;
                let count = (cubes.len() - cubes.null_count()) as u32;
                Ok((mean, deviation, cubes.mean(), count))
            })
            .collect()
    }

    fn mean(&self, frame: &DataFrame) -> PolarsResult<Float64Chunked> {
        #[expect(deprecated, reason = "as of deviations")]
        let means = self.of(frame).mean()?;
        // In one piece, or each value of it would be looked for.
        Ok(means[0].f64()?.rechunk().into_owned())
    }

    fn of<'f>(&self, frame: &'f DataFrame) -> GroupBy<'f> {
        let groups = GroupsType::Idx(self.0.clone()).into_sliceable();
        GroupBy::new(frame, Vec::new(), groups, None)
    }

    /// Of each of so many points the number of its group.
    fn numbers(&self, points: usize) -> Vec<IdxSize> {
        let mut numbers = vec![0; points];
        for (number, rows) in (0..).zip(self.rows()) {
            rows.iter().for_each(|row| numbers[*row as usize] = number);
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Of each column what it comes to in each group.
    fn folded(membership: &[u32], columns: &[Vec<Option<f64>>]) -> Vec<Vec<Folded>> {
        let groups = Groups::new(membership.iter().copied().zip(0..));
        let columns = columns.iter();
        columns
            .map(|values| groups.folded(values).unwrap())
            .collect()
    }

    /// The same for one combination, term by term.
    fn slow(values: &[f64]) -> Folded {
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
