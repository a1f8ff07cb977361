//! Replications folded into means and moments, on Polars.

use polars::prelude::*;

use crate::report::statistics::{Estimate, Moments};
use crate::scheduling::measures::QuantityKind;
use crate::store::{METRICS, PointColumns, Shown};

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
#[expect(
    deprecated,
    reason = "Polars recommends lazy aggregations, which call these and take long to compile"
)]
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
    let groups = frame.group_by_stable(["combination"])?;
    let (means, deviations) = (groups.mean()?, groups.std(1)?);
    let rows = Rows::new(groups.get_groups());
    let mut folded = Vec::with_capacity(4 * keys.len());
    for key in keys {
        let mean = means.column(&format!("{key}_mean"))?;
        let deviation = deviations.column(&format!("{key}_agg_std"))?;
        let distance = frame.column(&key)?.f64()? - &mean.f64()?.take(membership)?;
        let cubes = (&(&distance * &distance) * &distance).take(&rows.order)?;
        let (third_moments, counts): (Vec<Option<f64>>, Vec<u32>) = rows
            .groups()
            .map(|(offset, length)| cubes.slice(offset, length))
            .map(|cubes| (cubes.mean(), (cubes.len() - cubes.null_count()) as u32))
            .unzip();
        folded.extend([
            mean.clone().with_name(format!("{key} mean").into()),
            deviation
                .clone()
                .with_name(format!("{key} deviation").into()),
            Column::new(format!("{key} third moment").into(), third_moments),
            Column::new(format!("{key} count").into(), counts),
        ]);
    }
    DataFrame::new(rows.lengths.len(), folded).map(Folded)
}

/// The rows of a frame group by group, so that each group is a slice.
struct Rows {
    order: Vec<IdxSize>,
    lengths: Vec<usize>,
}

impl Rows {
    fn new(groups: &GroupsType) -> Self {
        let mut order = Vec::with_capacity(groups.num_elements());
        for group in groups.iter() {
            match group {
                GroupsIndicator::Idx((_, rows)) => order.extend_from_slice(rows),
                GroupsIndicator::Slice([first, length]) => order.extend(first..first + length),
            }
        }
        let lengths = groups.iter().map(|group| group.len()).collect();
        Self { order, lengths }
    }

    /// Offset and length of every group.
    fn groups(&self) -> impl Iterator<Item = (i64, usize)> {
        self.lengths.iter().scan(0, |offset, length| {
            let begin = *offset;
            *offset += *length as i64;
            Some((begin, *length))
        })
    }
}
