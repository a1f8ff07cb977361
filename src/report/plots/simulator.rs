//! The time and memory of the simulator itself. They differ from machine to machine and from run to
//! run.

use crate::sql::this_run;
use crate::table::{Cell, Column, Table};
use bookahead_lab::store::SimulatorRow;

/// A row for every strategy.
pub(crate) fn simulator(rows: &[SimulatorRow], configuration_hash: &str) -> Table {
    Table {
        name: "run-simulator".to_owned(),
        title: "Time of the simulator".to_owned(),
        columns: vec![
            Column::plain("strategy", "Strategy"),
            Column::plain("simulations", "Simulations"),
            Column::number("milliseconds", "Mean (ms)", 2),
            Column::number("shortest", "Shortest (ms)", 2),
            Column::number("longest", "Longest (ms)", 2),
            Column::number("jobs_per_second", "Jobs/s on one core", 0),
        ],
        rows: rows
            .iter()
            .map(|row| {
                let total = row.mean_seconds * row.simulations as f64;
                vec![
                    Cell::Text(row.strategy.clone()),
                    Cell::Integer(row.simulations as i64),
                    Cell::Number(1e3 * row.mean_seconds),
                    Cell::Number(1e3 * row.range_seconds.0),
                    Cell::Number(1e3 * row.range_seconds.1),
                    if total > 0.0 {
                        Cell::Number(row.jobs as f64 / total)
                    } else {
                        Cell::Undefined
                    },
                ]
            })
            .collect(),
        note: "Wall time of the simulations behind this run, whenever and wherever they were computed; several ran at once."
            .to_owned(),
        sql: format!(
            "SELECT s.strategy, count(*) AS simulations, 1000.0 * avg(s.wall_seconds) AS milliseconds,
    sum(k.submitted) / sum(s.wall_seconds) AS jobs_per_second
FROM v_simulation s JOIN simulation_metrics k USING (simulation)
WHERE s.simulation IN (SELECT simulation FROM v_point WHERE run = {})
GROUP BY s.strategy ORDER BY s.strategy;",
            this_run(configuration_hash)
        ),
    }
}
