//! Readers of what was counted when simulations finished: distributions, calibration, times. None
//! of them reads a job row.

use rusqlite::params;

use super::tables::distributions;
use super::{RunId, Store, StoreError};

/// The number of a quantity in the table `quantity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Last start − release of jobs that started, seconds.
    Wait,
    /// Response ÷ run of successful jobs.
    Slowdown,
}

/// A bin of a histogram: how many jobs had a value from `low` up to, but without, `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bin {
    /// Lower edge; 0 for the bin of everything below 1.
    pub low: f64,
    /// Upper edge; 0 for the bin of everything below 1.
    pub high: f64,
    /// Jobs.
    pub count: u64,
}

/// Values that are counted in the bins of the store's histograms: a sixteenth of a decade each, and
/// one for everything below 1.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BinCounts(Vec<u64>);

impl BinCounts {
    /// Counts a value.
    pub fn add(&mut self, value: f64) {
        let bin = distributions::bin(value);
        if self.0.len() <= bin {
            self.0.resize(bin + 1, 0);
        }
        self.0[bin] += 1;
    }

    /// The bins up to the last that has a value, with edges in a unit of which this much is one of
    /// the counted values.
    #[must_use]
    pub fn bins(&self, unit: f64) -> Vec<Bin> {
        distributions::bins()
            .zip(&self.0)
            .map(|((low, high), count)| Bin {
                low: low * unit,
                high: high * unit,
                count: *count,
            })
            .collect()
    }
}

/// Which probability of failure jobs are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PofKind {
    /// The one that was promised: calibrated where the strategy calibrates.
    Promised,
    /// The one before calibration; counted only where a promise of the simulation was calibrated.
    Raw,
}

/// Predicted against realised failures of the overbooked jobs of one simulation in one bin of
/// predictions.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationRow {
    /// The simulation: a number that means something inside one store only.
    pub simulation: i64,
    /// What the jobs are counted by.
    pub kind: PofKind,
    /// The predictions lie above (bin − 1)/20 up to bin/20.
    pub bin: u32,
    /// Jobs.
    pub jobs: u64,
    /// Of those, failed for whatever reason.
    pub failed: u64,
    /// Of the failed, killed at the end of their window.
    pub failed_overbooked: u64,
    /// Σ PoF.
    pub pof_sum: f64,
    /// Σ (PoF − failed)².
    pub brier_sum: f64,
}

/// What the simulations of a strategy took.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatorRow {
    /// Strategy.
    pub strategy: String,
    /// Simulations with a time.
    pub simulations: u64,
    /// Mean wall time of a simulation, seconds.
    pub mean_seconds: f64,
    /// Shortest and longest.
    pub range_seconds: (f64, f64),
    /// Submitted jobs of all of them.
    pub jobs: u64,
}

/// A point of a run that has no result, whether it failed or was not run.
#[derive(Clone, Debug, PartialEq)]
pub struct MissingPoint {
    /// Its place in the sweep.
    pub place: u32,
    /// Its axes as JSON.
    pub axes: String,
    /// Strategy.
    pub strategy: String,
    /// Replication.
    pub replication: u32,
    /// `pending` or `running`.
    pub state: String,
}

/// The distinct simulations of a run, as SQL whose first parameter is the number of the run.
pub const OF_RUN: &str = "(SELECT DISTINCT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = ?1)";

impl Store {
    /// The histogram of a quantity over simulations (by number), in order of the bins; empty where
    /// nothing was counted.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn histogram(
        &self,
        simulations: &[i64],
        quantity: Quantity,
    ) -> Result<Vec<Bin>, StoreError> {
        let sql = |error| self.error("reading distributions", error);
        let mut counts: Vec<u64> = Vec::new();
        let mut statement = self
            .connection
            .prepare_cached(
                "SELECT bin, count FROM simulation_histogram WHERE simulation = ?1 AND quantity = ?2",
            )
            .map_err(sql)?;
        for simulation in simulations {
            let mut rows = statement
                .query(params![simulation, quantity as i64])
                .map_err(sql)?;
            while let Some(row) = rows.next().map_err(sql)? {
                let bin = row.get::<_, u32>(0).map_err(sql)? as usize;
                if counts.len() <= bin {
                    counts.resize(bin + 1, 0);
                }
                counts[bin] += row.get::<_, i64>(1).map_err(sql)?.unsigned_abs();
            }
        }
        Ok(super::tables::distributions::bins()
            .zip(counts)
            .map(|((low, high), count)| Bin { low, high, count })
            .collect())
    }

    /// Predicted against realised failures of a run, each simulation once. In order of the
    /// simulations' identities, so that sums of fractions over them do not depend on who wrote
    /// first; then by kind and bin.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn calibration(&self, run: RunId) -> Result<Vec<CalibrationRow>, StoreError> {
        let query = format!(
            "SELECT c.simulation, c.kind, c.bin, c.jobs, c.failed, c.failed_overbooked, c.pof_sum, c.brier_sum
             FROM simulation_calibration c
             JOIN simulation m ON m.id = c.simulation
             WHERE c.simulation IN {OF_RUN} ORDER BY m.identity, m.generation, c.kind, c.bin"
        );
        self.connection
            .prepare(&query)
            .and_then(|mut statement| {
                statement
                    .query_map([run.0], |row| {
                        let whole = |column| row.get::<_, i64>(column).map(i64::unsigned_abs);
                        Ok(CalibrationRow {
                            simulation: row.get(0)?,
                            kind: match row.get::<_, i64>(1)? {
                                0 => PofKind::Promised,
                                _ => PofKind::Raw,
                            },
                            bin: row.get(2)?,
                            jobs: whole(3)?,
                            failed: whole(4)?,
                            failed_overbooked: whole(5)?,
                            pof_sum: row.get(6)?,
                            brier_sum: row.get(7)?,
                        })
                    })
                    .and_then(Iterator::collect)
            })
            .map_err(|error| self.error("reading the calibration", error))
    }

    /// What the simulations of a run took, in order of strategy.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn simulator_times(&self, run: RunId) -> Result<Vec<SimulatorRow>, StoreError> {
        let query = format!(
            "SELECT s.name, count(*), avg(t.wall_seconds), min(t.wall_seconds), max(t.wall_seconds), sum(k.submitted)
             FROM simulation_timing t
             JOIN simulation m ON m.id = t.simulation
             JOIN strategy s ON s.code = m.strategy
             JOIN simulation_metrics k ON k.simulation = m.id
             WHERE t.simulation IN {OF_RUN} GROUP BY s.name ORDER BY s.name"
        );
        self.connection
            .prepare(&query)
            .and_then(|mut statement| {
                statement
                    .query_map([run.0], |row| {
                        Ok(SimulatorRow {
                            strategy: row.get(0)?,
                            simulations: row.get::<_, i64>(1)?.unsigned_abs(),
                            mean_seconds: row.get(2)?,
                            range_seconds: (row.get(3)?, row.get(4)?),
                            jobs: row.get::<_, i64>(5)?.unsigned_abs(),
                        })
                    })
                    .and_then(Iterator::collect)
            })
            .map_err(|error| self.error("reading how long simulations took", error))
    }

    /// The points of a run that were neither done nor failed, in the order of the sweep; at most
    /// `most`.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn missing_points(&self, run: RunId, most: u32) -> Result<Vec<MissingPoint>, StoreError> {
        self.connection
            .prepare(
                "SELECT place, axes, strategy, replication, state FROM v_point
                 WHERE run = ?1 AND state IN ('pending', 'running') ORDER BY place LIMIT ?2",
            )
            .and_then(|mut statement| {
                statement
                    .query_map(params![run.0, most], |row| {
                        Ok(MissingPoint {
                            place: row.get(0)?,
                            axes: row.get(1)?,
                            strategy: row.get(2)?,
                            replication: row.get(3)?,
                            state: row.get(4)?,
                        })
                    })
                    .and_then(Iterator::collect)
            })
            .map_err(|error| self.error("reading missing points", error))
    }
}
