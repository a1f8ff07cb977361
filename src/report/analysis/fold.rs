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

fn fold_columns(
    points: usize,
    membership: &[u32],
    mut columns: Vec<Column>,
) -> PolarsResult<Folded> {
    let aggregates: Vec<Expr> = columns
        .iter()
        .map(|column| column.name().as_str())
        .flat_map(|key| {
            let distance = col(key) - col(key).mean();
            let cube = distance.clone() * distance.clone() * distance;
            [
                col(key).mean().alias(format!("{key} mean")),
                col(key).std(1).alias(format!("{key} deviation")),
                cube.mean().alias(format!("{key} third moment")),
                col(key)
                    .count()
                    .cast(DataType::UInt32)
                    .alias(format!("{key} count")),
            ]
        })
        .collect();
    columns.insert(0, Column::new("combination".into(), membership));
    let frame = DataFrame::new(points, columns)?;
    // Stable: the rows of a group are added up in the order of the points, whatever the number of
    // threads.
    frame
        .lazy()
        .group_by_stable([col("combination")])
        .agg(aggregates)
        .sort(["combination"], SortMultipleOptions::default())
        .collect()
        .map(Folded)
}
