//! Does the predicted probability of failure come true?

use crate::report::analysis::strategy_rank;
use crate::report::figure::{Figure, Mark, Marks, Scale, ScaleKind, Section, Series};
use crate::report::sql::this_run;
use crate::report::table::{Cell, Column, Table};
use crate::store::CalibrationRow;

/// The plot, the table of scores, and the one number for the first screen.
pub(in crate::report) struct Calibration {
    pub(in crate::report) figure: Figure,
    pub(in crate::report) table: Table,
    /// Brier score over all strategies.
    pub(in crate::report) brier: f64,
    /// The Brier score of always predicting the share of jobs that failed.
    pub(in crate::report) reference: f64,
}

/// Sums over bins.
#[derive(Clone, Copy, Default)]
struct Sums {
    jobs: f64,
    failed: f64,
    killed: f64,
    pof: f64,
    brier: f64,
    /// Σ n (mean prediction − share that failed)² and Σ n (share that failed − base rate)² over bins.
    reliability: f64,
    resolution: f64,
}

impl Sums {
    fn of<'r>(rows: impl Iterator<Item = &'r CalibrationRow> + Clone) -> Self {
        let mut sums = Self::default();
        for row in rows.clone() {
            sums.jobs += row.jobs as f64;
            sums.failed += row.failed as f64;
            sums.killed += row.failed_overbooked as f64;
            sums.pof += row.pof_sum;
            sums.brier += row.brier_sum;
        }
        let base = sums.failed / sums.jobs;
        for row in rows {
            let jobs = row.jobs as f64;
            let (predicted, happened) = (row.pof_sum / jobs, row.failed as f64 / jobs);
            sums.reliability += jobs * (predicted - happened).powi(2);
            sums.resolution += jobs * (happened - base).powi(2);
        }
        sums
    }

    fn reference(&self) -> f64 {
        let base = self.failed / self.jobs;
        base * (1.0 - base)
    }
}

/// From the counts of a run; `None` where no job was overbooked with a prediction.
pub(in crate::report) fn calibration(
    rows: &[CalibrationRow],
    configuration_hash: &str,
) -> Option<Calibration> {
    if rows.iter().all(|row| row.jobs == 0) {
        return None;
    }
    let mut strategies: Vec<&str> = rows.iter().map(|row| row.strategy.as_str()).collect();
    strategies.dedup();
    strategies.sort_by_key(|name| (strategy_rank(name), *name));
    let of = |name: &str| {
        let name = name.to_owned();
        rows.iter()
            .filter(move |row| row.strategy == name && row.jobs > 0)
    };
    let mut series: Vec<Series> = strategies
        .iter()
        .map(|name| Series {
            label: (*name).to_owned(),
            rank: strategy_rank(name),
            marks: Marks::Points(of(name).map(mark).collect()),
        })
        .collect();
    series.push(Series {
        label: "as predicted".to_owned(),
        rank: 6,
        marks: Marks::Steps(Vec::new()),
    });
    if let Some(reference) = series.last_mut() {
        let end = |at: f64| Mark {
            x: at,
            mean: at,
            low: at,
            high: at,
            count: 0,
        };
        reference.marks = Marks::Curve(vec![end(0.0), end(1.0)]);
    }
    let run = this_run(configuration_hash);
    let sql = format!(
        "SELECT strategy, bin, sum(jobs) AS jobs, sum(pof_sum) / sum(jobs) AS predicted,
    1.0 * sum(failed) / sum(jobs) AS happened, sum(brier_sum) / sum(jobs) AS brier
FROM v_calibration
WHERE simulation IN (SELECT simulation FROM v_point WHERE run = {run})
GROUP BY strategy, bin ORDER BY strategy, bin;"
    );
    let note = "Overbooked jobs by the probability of failure that was predicted at their acceptance, in bins of 0.05, against the \
                share that failed, with 95 % intervals after Wilson. A job counts as failed when its SLA was broken, whatever the \
                reason (killed at the end of a shortened window, lost to node failures, not startable). Jobs of one simulation are \
                not independent, so the intervals are too narrow. The Brier score is the mean of (PoF − failed)²; its reference \
                always predicts the share that failed; skill = 1 − Brier ÷ reference; reliability (smaller is better) and \
                resolution (larger is better) are Murphy's, over the bins."
        .to_owned();
    let all = Sums::of(rows.iter().filter(|row| row.jobs > 0));
    Some(Calibration {
        table: table(&strategies, of, &sql, &note),
        figure: Figure {
            name: "calibration".to_owned(),
            section: Section::Calibration,
            title: "Predicted probability of failure against what happened".to_owned(),
            given: Vec::new(),
            x: Scale {
                title: "mean predicted PoF of the bin".to_owned(),
                kind: ScaleKind::Linear,
            },
            y: Scale {
                title: "share of jobs that failed".to_owned(),
                kind: ScaleKind::Linear,
            },
            series,
            note,
            sql,
        },
        brier: all.brier / all.jobs,
        reference: all.reference(),
    })
}

fn table<'r, I: Iterator<Item = &'r CalibrationRow> + Clone>(
    strategies: &[&str],
    of: impl Fn(&str) -> I,
    sql: &str,
    note: &str,
) -> Table {
    let rows = strategies
        .iter()
        .map(|name| {
            let sums = Sums::of(of(name));
            let (brier, reference) = (sums.brier / sums.jobs, sums.reference());
            vec![
                Cell::Text((*name).to_owned()),
                Cell::Integer(sums.jobs as i64),
                Cell::Number(sums.pof / sums.jobs),
                Cell::Number(sums.failed / sums.jobs),
                Cell::Number(sums.killed / sums.jobs),
                Cell::Number(brier),
                Cell::Number(reference),
                if reference > 0.0 {
                    Cell::Number(1.0 - brier / reference)
                } else {
                    Cell::Undefined
                },
                Cell::Number(sums.reliability / sums.jobs),
                Cell::Number(sums.resolution / sums.jobs),
            ]
        })
        .collect();
    Table {
        name: "calibration".to_owned(),
        title: "How good the predictions were".to_owned(),
        columns: vec![
            Column::plain("strategy", "Strategy"),
            Column::plain("jobs", "Overbooked jobs"),
            Column::number("predicted", "Mean PoF", 3),
            Column::number("failed", "Failed", 3),
            Column::number("killed", "Killed at window end", 3),
            Column::number("brier", "Brier", 4),
            Column::number("brier_reference", "Reference", 4),
            Column::number("skill", "Skill", 3),
            Column::number("reliability", "Reliability", 4),
            Column::number("resolution", "Resolution", 4),
        ],
        rows,
        note: note.to_owned(),
        sql: sql.to_owned(),
    }
}

fn mark(row: &CalibrationRow) -> Mark {
    let jobs = row.jobs as f64;
    let happened = row.failed as f64 / jobs;
    let (low, high) = wilson(happened, jobs);
    Mark {
        x: row.pof_sum / jobs,
        mean: happened,
        low,
        high,
        count: row.jobs,
    }
}

/// The 95 % interval of a share after Wilson (1927).
fn wilson(share: f64, count: f64) -> (f64, f64) {
    const Z: f64 = 1.959_963_984_540_054;
    let spread = Z * Z / count;
    let centre = (share + spread / 2.0) / (1.0 + spread);
    let half = Z * (share * (1.0 - share) / count + spread / (4.0 * count)).sqrt() / (1.0 + spread);
    ((centre - half).max(0.0), (centre + half).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(bin: u32, jobs: u64, failed: u64, pof: f64) -> CalibrationRow {
        CalibrationRow {
            strategy: "heuristic-overbooking".to_owned(),
            bin,
            jobs,
            failed,
            failed_overbooked: failed,
            pof_sum: pof * jobs as f64,
            // (p − 1)² for the failed, p² for the others.
            brier_sum: failed as f64 * (pof - 1.0).powi(2) + (jobs - failed) as f64 * pof * pof,
        }
    }

    #[test]
    fn the_brier_score_is_reliability_minus_resolution_plus_the_reference() {
        // Murphy's decomposition is exact where all predictions of a bin are equal.
        let rows = [row(2, 100, 10, 0.1), row(8, 50, 30, 0.4)];
        let sums = Sums::of(rows.iter());
        let parts = sums.reliability / sums.jobs - sums.resolution / sums.jobs + sums.reference();
        assert!((sums.brier / sums.jobs - parts).abs() < 1e-12);
        let found = calibration(&rows, "h").unwrap();
        assert!((found.brier - (0.09 * 100.0 + (30.0 * 0.36 + 20.0 * 0.16)) / 150.0).abs() < 1e-12);
        assert!(calibration(&[], "h").is_none());
    }

    #[test]
    fn wilson_intervals_are_those_of_the_textbook() {
        let (low, high) = wilson(0.1, 100.0);
        assert!(
            (low - 0.0552).abs() < 5e-4 && (high - 0.1744).abs() < 5e-4,
            "{low} {high}"
        );
        assert_eq!(wilson(0.0, 10.0).0, 0.0);
    }
}
