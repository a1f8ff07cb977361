//! Experiments run for many seeds, and what their intervals are worth.

use std::thread;

use bookahead::actors::Player;
use bookahead::scheduling::SimulationMetrics;
use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, InputFolders, InputSources, Inputs};
use bookahead_report::Estimate;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Values of one setting: one list a seed, with one value a replication.
pub struct Samples {
    /// The strategy, and the penalty ratio of its accounting.
    pub setting: String,
    /// By seed, then by replication.
    pub values: Vec<Vec<f64>>,
}

/// Runs an experiment for the seeds from 1 to `seeds`, without a store, on all cores, and reads a
/// value off every point.
pub fn samples(
    experiment: &str,
    seeds: u64,
    value: fn(&SimulationMetrics, f64) -> f64,
) -> Vec<Samples> {
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    let mut runs: Vec<(u64, Vec<Setting>)> = thread::scope(|scope| {
        let begun: Vec<_> = (0..threads)
            .map(|first| {
                let own = (first + 1..=seeds).step_by(threads as usize);
                scope.spawn(move || {
                    own.map(|seed| (seed, run(experiment, seed, value)))
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        let done = begun.into_iter();
        done.flat_map(|worker| worker.join().expect("no simulation panics"))
            .collect()
    });
    runs.sort_by_key(|(seed, _)| *seed);
    let settings = runs[0].1.iter().map(|(setting, _)| setting.clone());
    let mut samples: Vec<Samples> = settings
        .map(|setting| Samples {
            setting,
            values: Vec::new(),
        })
        .collect();
    for (_, run) in runs {
        for (sample, (_, values)) in samples.iter_mut().zip(run) {
            sample.values.push(values);
        }
    }
    samples
}

/// What a setting is called, and its values by replication.
type Setting = (String, Vec<f64>);

fn run(experiment: &str, seed: u64, value: fn(&SimulationMetrics, f64) -> f64) -> Vec<Setting> {
    let sweep = Experiment::parse(STUDIES, "statistics.toml", experiment, Some(seed))
        .expect("a sound experiment")
        .sweep;
    let inputs = Inputs::new(STUDIES, InputSources::new(&InputFolders::default()), false);
    let metrics: Vec<SimulationMetrics> = (sweep.simulations.iter())
        .map(|spec| {
            let simulation = inputs.simulation(&spec).expect("the inputs can be made");
            simulation
                .run(false, &Player::by_calls())
                .expect("it runs")
                .metrics
        })
        .collect();
    // The points of a setting follow each other by replication.
    let settings = sweep.points.chunks(sweep.replications as usize);
    settings
        .map(|points| {
            let strategy = sweep
                .simulations
                .kind(points[0].simulation)
                .scheduling
                .strategy
                .clone();
            let values = points
                .iter()
                .map(|point| value(&metrics[point.simulation], point.penalty_ratio));
            (strategy, values.collect())
        })
        .collect()
}

impl Samples {
    /// The share of seeds whose 95 % interval holds the mean of all seeds.
    pub fn coverage(&self) -> f64 {
        let all: Vec<f64> = self.values.iter().flatten().copied().collect();
        let truth = Estimate::of(&all).expect("there are values").mean;
        let covers = |values: &&Vec<f64>| {
            let estimate = Estimate::of(values).expect("there are values");
            let half = estimate.half_width().expect("there are several values");
            (estimate.mean - truth).abs() <= half
        };
        self.values.iter().filter(covers).count() as f64 / self.values.len() as f64
    }

    /// The share of pairs of seeds whose means differ at p < 0.05 by Welch's test: of equal
    /// experiments, so each is a false alarm.
    pub fn false_alarms(&self) -> f64 {
        let pairs = self.values.chunks_exact(2);
        let count = pairs.len();
        let alarms = pairs.filter(|pair| welch(&pair[0], &pair[1]) < 0.05);
        alarms.count() as f64 / count as f64
    }

    /// How much more alike two replications of one seed are than those of two seeds: the intraclass
    /// correlation of a one-way analysis of variance, 0 where replications are independent.
    pub fn intraclass_correlation(&self) -> f64 {
        let each = self.values[0].len() as f64;
        let seeds = self.values.len() as f64;
        let means: Vec<f64> = self
            .values
            .iter()
            .map(|values| values.iter().sum::<f64>() / each)
            .collect();
        let all = means.iter().sum::<f64>() / seeds;
        let between = each * squares(&means, all) / (seeds - 1.0);
        let within = self
            .values
            .iter()
            .zip(&means)
            .map(|(values, mean)| squares(values, *mean))
            .sum::<f64>()
            / (seeds * (each - 1.0));
        (between - within) / (between + (each - 1.0) * within)
    }

    /// A line of what was measured.
    pub fn line(&self) -> String {
        format!(
            "{:<26} {} seeds of {} replications: coverage {:.3}, false alarms {:.3}, intraclass correlation {:+.3}",
            self.setting,
            self.values.len(),
            self.values[0].len(),
            self.coverage(),
            self.false_alarms(),
            self.intraclass_correlation()
        )
    }
}

fn squares(values: &[f64], around: f64) -> f64 {
    values.iter().map(|value| (value - around).powi(2)).sum()
}

/// The two-sided p value of Welch's test.
fn welch(one: &[f64], other: &[f64]) -> f64 {
    let error = |values: &[f64]| {
        let estimate = Estimate::of(values).expect("there are values");
        let deviation = estimate.deviation.expect("there are several values");
        (estimate.mean, deviation * deviation / values.len() as f64)
    };
    let ((mean_one, error_one), (mean_other, error_other)) = (error(one), error(other));
    let both = error_one + error_other;
    let freedom = both * both
        / (error_one * error_one / (one.len() - 1) as f64
            + error_other * error_other / (other.len() - 1) as f64);
    let t = (mean_one - mean_other).abs() / both.sqrt();
    let student = StudentsT::new(0.0, 1.0, freedom).expect("freedom is positive");
    2.0 * (1.0 - student.cdf(t))
}
