//! What is kept of the distributions of one simulation, so that no report has to read its job rows:
//! counts of waits and slowdowns in logarithmic bins, sums by width, and of predicted against
//! realised failures.
//!
//! A bin is a sixteenth of a decade: a quantile that is read off the counts is at most 15.5 % above
//! the bin's lower edge.

use std::sync::LazyLock;

use rusqlite::{Connection, params};

use super::TableGroup;
use crate::scheduling::measures::Measure;
use crate::scheduling::{JobOutcome, Verdict};
use crate::store::rows::Prepared;
use crate::tables::{Definition, ExportKind, ExportSource, RowWriter, View};
use crate::units::{Nodes, Seconds};

/// The tables of distributions.
pub(super) struct DistributionTables;

impl TableGroup for DistributionTables {
    fn definition(&self) -> Definition {
        Definition {
            sql: SQL,
            results: &[
                "simulation_histogram",
                "simulation_width",
                "simulation_calibration",
            ],
            views: VIEWS,
            exports: EXPORTS,
            enter_lookups,
            ..Definition::NONE
        }
    }

    fn write(&self, writer: &RowWriter<'_>, prepared: &Prepared) -> rusqlite::Result<u64> {
        match &prepared.distributions {
            Some(distributions) => distributions.write(writer),
            None => Ok(0),
        }
    }
}

impl Distributions {
    /// Writes the rows of a simulation; returns how many.
    pub(in crate::store) fn write(&self, writer: &RowWriter<'_>) -> rusqlite::Result<u64> {
        let distributions = self;
        let mut rows = 0;
        let mut insert = writer.table("simulation_histogram")?;
        for (quantity, counts) in distributions.histograms.iter().enumerate() {
            for (bin, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
                insert.insert(params![
                    writer.simulation(),
                    quantity as i64,
                    bin as i64,
                    count
                ])?;
                rows += 1;
            }
        }
        let mut insert = writer.table("simulation_width")?;
        let widths = distributions.widths.iter().enumerate();
        for (width, sums) in widths.filter(|(_, sums)| sums.jobs > 0) {
            insert.insert(params![
                writer.simulation(),
                width as i64,
                sums.jobs as i64,
                sums.successful as i64,
                sums.failed as i64,
                sums.started as i64,
                sums.wait_total.0
            ])?;
            rows += 1;
        }
        let mut insert = writer.table("simulation_calibration")?;
        let raw = distributions.calibrated.then_some(&distributions.raw);
        let kinds = [Some(&distributions.promised), raw];
        for (kind, bins) in kinds.into_iter().enumerate() {
            for (index, entry) in bins.into_iter().flatten().enumerate() {
                if entry.jobs > 0 {
                    insert.insert(params![
                        writer.simulation(),
                        kind as i64,
                        index as i64 + 1,
                        entry.jobs as i64,
                        entry.failed as i64,
                        entry.failed_overbooked as i64,
                        entry.pof_sum,
                        entry.brier_sum
                    ])?;
                    rows += 1;
                }
            }
        }
        Ok(rows)
    }
}

fn enter_lookups(connection: &Connection, _: &[&'static Measure]) -> rusqlite::Result<()> {
    for (bin, (low, high)) in bins().enumerate() {
        connection.execute(
            "INSERT INTO histogram_bin (bin, low, high) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING",
            params![bin as i64, low, high],
        )?;
    }
    Ok(())
}

const SQL: &str = "
CREATE TABLE quantity (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    unit TEXT NOT NULL
) STRICT;
INSERT INTO quantity VALUES (0, 'wait', 's'), (1, 'slowdown', '');

CREATE TABLE histogram_bin (
    bin INTEGER PRIMARY KEY,
    low REAL NOT NULL,
    high REAL NOT NULL
) STRICT;

CREATE TABLE simulation_histogram (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    quantity INTEGER NOT NULL REFERENCES quantity (code),
    bin INTEGER NOT NULL REFERENCES histogram_bin (bin),
    count INTEGER NOT NULL,
    PRIMARY KEY (simulation, quantity, bin)
) STRICT, WITHOUT ROWID;

CREATE TABLE simulation_width (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    width INTEGER NOT NULL,
    jobs INTEGER NOT NULL,
    successful INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    started INTEGER NOT NULL,
    wait_total INTEGER NOT NULL,
    PRIMARY KEY (simulation, width)
) STRICT, WITHOUT ROWID;

CREATE TABLE calibration_kind (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT;
INSERT INTO calibration_kind VALUES (0, 'promised'), (1, 'raw');

CREATE TABLE simulation_calibration (
    simulation INTEGER NOT NULL REFERENCES simulation (id),
    kind INTEGER NOT NULL REFERENCES calibration_kind (code),
    bin INTEGER NOT NULL CHECK (bin BETWEEN 1 AND 20),
    jobs INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    failed_overbooked INTEGER NOT NULL,
    pof_sum REAL NOT NULL,
    brier_sum REAL NOT NULL,
    PRIMARY KEY (simulation, kind, bin)
) STRICT, WITHOUT ROWID;
";

const VIEWS: &[View] = &[
    (
        "v_histogram",
        "SELECT h.simulation, q.name AS quantity, q.unit, h.bin, b.low, b.high, h.count
         FROM simulation_histogram h
         JOIN quantity q ON q.code = h.quantity
         JOIN histogram_bin b ON b.bin = h.bin",
    ),
    (
        "v_width",
        "SELECT w.simulation, m.computed_by, s.name AS strategy, 1 + ((1 << w.width) >> 1) AS nodes_from,
            1 << w.width AS nodes_to, w.jobs, w.successful, w.failed, w.started, w.wait_total,
            CAST(w.wait_total AS REAL) / nullif(w.started, 0) AS mean_wait
         FROM simulation_width w
         JOIN simulation m ON m.id = w.simulation
         JOIN strategy s ON s.code = m.strategy",
    ),
    (
        "v_calibration",
        "SELECT c.simulation, s.name AS strategy, k.name AS probability, c.bin, (c.bin - 1) / 20.0 AS pof_from,
            c.bin / 20.0 AS pof_to, c.jobs, c.failed, c.failed_overbooked, c.pof_sum, c.brier_sum
         FROM simulation_calibration c
         JOIN simulation m ON m.id = c.simulation
         JOIN strategy s ON s.code = m.strategy
         JOIN calibration_kind k ON k.code = c.kind
         WHERE c.kind = 0",
    ),
    // Where nothing was calibrated, what was promised is what the model gave.
    (
        "v_calibration_raw",
        "SELECT c.simulation, s.name AS strategy, k.name AS probability, c.bin, (c.bin - 1) / 20.0 AS pof_from,
            c.bin / 20.0 AS pof_to, c.jobs, c.failed, c.failed_overbooked, c.pof_sum, c.brier_sum
         FROM simulation_calibration c
         JOIN simulation m ON m.id = c.simulation
         JOIN strategy s ON s.code = m.strategy
         JOIN calibration_kind k ON k.code = c.kind
         WHERE c.kind = 1 OR NOT EXISTS
             (SELECT 1 FROM simulation_calibration r WHERE r.simulation = c.simulation AND r.kind = 1)",
    ),
];

const EXPORTS: &[ExportKind] = &[
    ExportKind {
        name: "histograms",
        about: "One row for each range of waits and slowdowns of jobs",
        of_outcomes: false,
        source: ExportSource::Simulations("v_histogram"),
        columns: "simulation, quantity text, unit text, bin, low number, high number, count",
    },
    ExportKind {
        name: "widths",
        about: "One row for each class of widths of jobs",
        of_outcomes: false,
        source: ExportSource::Simulations("v_width"),
        columns: "simulation, computed_by, strategy text, nodes_from, nodes_to, jobs, successful, failed, started, wait_total, \
            mean_wait number",
    },
    ExportKind {
        name: "calibration",
        about: "One row for each range of promised probabilities of failure",
        of_outcomes: false,
        source: ExportSource::Simulations("v_calibration"),
        columns: "simulation, strategy text, probability text, bin, pof_from number, pof_to number, jobs, failed, \
            failed_overbooked, pof_sum number, brier_sum number",
    },
    ExportKind {
        name: "raw-calibration",
        about: "One row for each range of probabilities of failure before their calibration",
        of_outcomes: false,
        source: ExportSource::Simulations("v_calibration_raw"),
        columns: "simulation, strategy text, probability text, bin, pof_from number, pof_to number, jobs, failed, \
            failed_overbooked, pof_sum number, brier_sum number",
    },
];

/// Bins a decade.
const PER_DECADE: f64 = 16.0;
/// Nine decades: a thousand million seconds are 31 years.
const BINS: usize = 144;
/// Bins of the predicted probability of failure, 0.05 wide each.
const POF_BINS: usize = 20;

/// `EDGES[k]` = 10^(k / 16): the lower edge of bin k + 1.
static EDGES: LazyLock<Vec<f64>> = LazyLock::new(|| {
    (0..=BINS)
        .map(|edge| libm::pow(10.0, edge as f64 / PER_DECADE))
        .collect()
});

/// Lower and upper edge of every bin. Bin 0 holds everything below 1 (a wait of zero seconds); bin
/// k ≥ 1 holds values from 10^((k − 1)/16) up to, but without, 10^(k/16); the last one holds what
/// is larger, too.
pub(in crate::store) fn bins() -> impl Iterator<Item = (f64, f64)> {
    std::iter::once((0.0, 0.0)).chain(EDGES.windows(2).map(|pair| (pair[0], pair[1])))
}

/// `FIRST_EDGES[e]`: how many edges are at most 2^e.
static FIRST_EDGES: LazyLock<[usize; 31]> = LazyLock::new(|| {
    std::array::from_fn(|exponent| {
        let power = (1_u64 << exponent) as f64;
        EDGES.partition_point(|edge| *edge <= power)
    })
});

pub(in crate::store) fn bin(value: f64) -> usize {
    if value.is_nan() || value < 1.0 {
        return 0;
    }
    // The exponent of the number leaves five edges at most.
    let exponent = (value.to_bits() >> 52) as usize - 1023;
    let Some(first) = FIRST_EDGES.get(exponent) else {
        return BINS;
    };
    let within = EDGES[*first..].iter().take_while(|edge| **edge <= value);
    (first + within.count()).min(BINS)
}

/// Predicted against realised failures of overbooked jobs by bin of the prediction: bin i, from 1,
/// holds predictions above (i − 1)/20 up to i/20, the first one 0 as well.
type CalibrationBins = [Calibration; POF_BINS];

/// Predicted against realised failures of the overbooked jobs whose probability of failure lay in
/// one bin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Calibration {
    jobs: u64,
    /// Jobs that failed for whatever reason: what the probability of failure predicts.
    failed: u64,
    /// Of those, killed at the end of their window.
    failed_overbooked: u64,
    pof_sum: f64,
    /// Σ (PoF − failed)².
    brier_sum: f64,
}

/// Sums over the jobs of one class of widths.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct WidthSums {
    jobs: u64,
    successful: u64,
    failed: u64,
    started: u64,
    /// Σ (last start − release) over started jobs.
    wait_total: Seconds,
}

/// The class of widths of a job: i holds what needs more than half of 2^i nodes and at most all of
/// them.
fn width_class(nodes: Nodes) -> usize {
    u64::from(nodes.0).next_power_of_two().trailing_zeros() as usize
}

/// Classes of widths that there can be.
const WIDTHS: usize = 33;

/// The distributions of one simulation.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::store) struct Distributions {
    /// Counts by bin, one list a quantity: waits (last start − release) in seconds of jobs that
    /// started; slowdown is response ÷ run of successful jobs that ran at least a second.
    histograms: [Vec<u32>; 2],
    /// By the class of widths.
    widths: [WidthSums; WIDTHS],
    /// By the probability of failure that was promised.
    promised: CalibrationBins,
    /// The same jobs by the probability before its calibration.
    raw: CalibrationBins,
    /// Whether any promise was calibrated: the two are the same otherwise.
    calibrated: bool,
}

impl Default for Distributions {
    fn default() -> Self {
        Self {
            histograms: std::array::from_fn(|_| vec![0; BINS + 1]),
            widths: [WidthSums::default(); WIDTHS],
            promised: CalibrationBins::default(),
            raw: CalibrationBins::default(),
            calibrated: false,
        }
    }
}

impl Distributions {
    /// Counts the outcomes of a simulation.
    pub(in crate::store) fn of(outcomes: &[JobOutcome]) -> Self {
        let mut distributions = Self::default();
        for outcome in outcomes {
            distributions.count(outcome);
        }
        distributions
    }

    /// Counts one more outcome.
    pub(in crate::store) fn count(&mut self, outcome: &JobOutcome) {
        let release = outcome.job.release;
        let sums = &mut self.widths[width_class(outcome.job.nodes)];
        sums.jobs += 1;
        sums.successful += u64::from(outcome.verdict.is_successful());
        sums.failed += u64::from(outcome.verdict.is_failed());
        if let Some(start) = outcome.start {
            self.histograms[0][bin((start - release).0 as f64)] += 1;
            sums.started += 1;
            sums.wait_total += start - release;
        }
        if let (true, Some(start), Some(end)) =
            (outcome.verdict.is_successful(), outcome.start, outcome.end)
        {
            let (response, run) = ((end - release).0 as f64, (end - start).0 as f64);
            if run >= 1.0 {
                self.histograms[1][bin(response / run)] += 1;
            }
        }
        let Some(promise) = outcome.promise.filter(|promise| promise.overbooked) else {
            return;
        };
        // A calibrated promise without the model's own probability could not be compared with its
        // raw one.
        if let (Some(given), Some(before)) = (promise.pof(), promise.raw_pof()) {
            self.calibrated |= promise.calibrated_pof.is_some();
            count(&mut self.promised, given, outcome.verdict);
            count(&mut self.raw, before, outcome.verdict);
        }
    }
}

/// Counts a job with its probability of failure among the jobs of its bin.
fn count(bins: &mut CalibrationBins, pof: f64, verdict: Verdict) {
    let failed = verdict.is_failed();
    let place = libm::ceil(pof * POF_BINS as f64).clamp(1.0, POF_BINS as f64) as usize;
    let entry = &mut bins[place - 1];
    let miss = pof - f64::from(u8::from(failed));
    entry.jobs += 1;
    entry.failed += u64::from(failed);
    entry.failed_overbooked += u64::from(verdict == Verdict::FailedOverbooked);
    entry.pof_sum += pof;
    entry.brier_sum += miss * miss;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_of_widths_ends_with_a_power_of_two() {
        for (nodes, class) in [
            (1, 0),
            (2, 1),
            (3, 2),
            (4, 2),
            (5, 3),
            (8, 3),
            (9, 4),
            (32, 5),
            (33, 6),
        ] {
            assert_eq!(width_class(Nodes(nodes)), class, "{nodes}");
        }
        assert_eq!(width_class(Nodes(u32::MAX)), 32);
    }

    #[test]
    fn a_value_lies_within_the_edges_of_its_bin() {
        let edges: Vec<(f64, f64)> = bins().collect();
        for value in [1.0, 1.1, 9.99, 10.0, 3_600.0, 86_399.0, 1e8] {
            let (low, high) = edges[bin(value)];
            assert!(low <= value && value < high, "{value}: {low} to {high}");
        }
        assert_eq!((bin(0.0), bin(0.5), bin(1e12)), (0, 0, BINS));
        assert_eq!((bin(-1.0), bin(f64::NAN)), (0, 0));
        let searched = |value: f64| EDGES.partition_point(|edge| *edge <= value).min(BINS);
        let near_edges = EDGES
            .iter()
            .flat_map(|edge| [edge.next_down(), *edge, edge.next_up()]);
        let powers = (0..40).map(|exponent| f64::from(exponent).exp2());
        for value in near_edges.chain(powers).chain([1e300, f64::INFINITY]) {
            assert_eq!(bin(value), searched(value), "{value}");
        }
        assert!(edges[2..].iter().all(|(low, high)| high / low < 1.155));
    }
}
