//! Replications folded into means and deviations, on Polars.

use polars::prelude::*;

use crate::report::statistics::Estimate;
use crate::store::PointColumns;

/// Mean, standard deviation and count of every quantity, one row a combination. Measures stand in a frame of their own: they
/// may have the name of a metric.
pub(super) struct Folded(DataFrame);

impl Folded {
    pub(super) fn estimate(&self, key: &str, row: usize) -> PolarsResult<Option<Estimate>> {
        let real = |suffix: &str| -> PolarsResult<Option<f64>> {
            Ok(self.0.column(&format!("{key}{suffix}"))?.f64()?.get(row))
        };
        let count = self.0.column(&format!("{key} count"))?.u32()?.get(row);
        Ok(Estimate::new(
            count.unwrap_or(0),
            real(" mean")?,
            real(" deviation")?,
        ))
    }
}

pub(super) fn fold(
    points: &PointColumns,
    membership: &[u32],
    gains: &[f64],
    baselines: &[Option<f64>],
    differences: &[Option<f64>],
) -> PolarsResult<Folded> {
    let real = |name: &str, values: &[f64]| Column::new(name.into(), values);
    let optional = |name: &str, values: &[Option<f64>]| Column::new(name.into(), values);
    let whole = |name: &str, values: &[i64]| {
        Column::new(
            name.into(),
            values.iter().map(|value| *value as f64).collect::<Vec<_>>(),
        )
    };
    let penalties: Vec<f64> = (0..points.len())
        .map(|index| points.penalty_ratio[index] * points.forfeited[index])
        .collect();
    let rejection: Vec<Option<f64>> = points
        .dropped
        .iter()
        .zip(&points.submitted)
        .map(|(dropped, submitted)| (*submitted > 0).then(|| *dropped as f64 / *submitted as f64))
        .collect();
    let columns = vec![
        real("gain", gains),
        real("fees", &points.fees),
        real("penalties", &penalties),
        real("booked", &points.booked),
        whole("accepted", &points.accepted),
        whole("successful", &points.successful),
        whole("failed", &points.failed),
        whole("dropped", &points.dropped),
        optional("rejection_rate", &rejection),
        whole("overbooked", &points.overbooked),
        optional("utilisation", &points.utilisation),
        optional("mean_wait", &points.mean_wait),
        optional("slowdown", &points.slowdown),
        optional("baseline", baselines),
        optional("additional", differences),
    ];
    fold_columns(points.len(), membership, columns)
}

pub(super) fn fold_measures(points: &PointColumns, membership: &[u32]) -> PolarsResult<Folded> {
    if points.measures.is_empty() {
        return Ok(Folded(DataFrame::empty()));
    }
    let columns = points
        .measures
        .iter()
        .map(|measure| Column::new(measure.name.as_str().into(), &measure.values))
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
            [
                col(key).mean().alias(format!("{key} mean")),
                col(key).std(1).alias(format!("{key} deviation")),
                col(key)
                    .count()
                    .cast(DataType::UInt32)
                    .alias(format!("{key} count")),
            ]
        })
        .collect();
    columns.insert(0, Column::new("combination".into(), membership));
    let frame = DataFrame::new(points, columns)?;
    // Stable: the rows of a group are added up in the order of the points, whatever the number of threads.
    frame
        .lazy()
        .group_by_stable([col("combination")])
        .agg(aggregates)
        .sort(["combination"], SortMultipleOptions::default())
        .collect()
        .map(Folded)
}
