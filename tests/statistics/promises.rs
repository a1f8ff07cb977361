//! Promises of which it is known how good they are: how often a report shows them, refutes them or
//! leaves them open.

use bookahead::store::{CalibrationRow, PofKind};
use bookahead_report::calibration::{Batteries, Scores, Verdict};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

const SEEDS: u64 = 1_000;
const BINS: usize = 20;

/// Of a 95 % interval that misses the truth, which it may in 5 of 100 cases.
const LEVEL: f64 = 0.05;

/// Overbooked jobs whose promises are drawn evenly up to a threshold. A job with promise p fails
/// with probability `middle + more + slope · (p − middle)`, where `middle` is half of the
/// threshold; in one battery all of them fail more often and in another less, the same on average.
struct Promises {
    threshold: f64,
    slope: f64,
    more: f64,
    /// Standard deviation of what a battery adds, in parts of p · (1 − p).
    apart: f64,
    /// Mean jobs of a battery.
    jobs: u32,
}

impl Promises {
    fn fails(&self, promise: f64) -> f64 {
        let middle = self.threshold / 2.0;
        let risk = middle + self.more + self.slope * (promise - middle);
        risk.clamp(0.0, 1.0)
    }

    /// The skill and the expected calibration error of infinitely many batteries.
    fn truth(&self) -> (f64, f64) {
        const STEPS: u32 = 200_000;
        let promises = (0..STEPS).map(|step| {
            let promise = self.threshold * (f64::from(step) + 0.5) / f64::from(STEPS);
            (promise, self.fails(promise))
        });
        let (mut failed, mut brier, mut gaps) = (0.0, 0.0, [0.0; BINS]);
        for (promise, fails) in promises {
            failed += fails / f64::from(STEPS);
            brier += ((promise - fails).powi(2) + fails * (1.0 - fails)) / f64::from(STEPS);
            gaps[bin(promise) - 1] += (promise - fails) / f64::from(STEPS);
        }
        let error = gaps.iter().map(|gap: &f64| gap.abs()).sum();
        (1.0 - brier / (failed * (1.0 - failed)), error)
    }

    fn scores(&self, seed: u64, batteries: u32) -> Scores {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        let mut uniform = || draws.random::<f64>();
        let mut found = Batteries::default();
        for battery in 0..batteries {
            // Evenly between ± √3 standard deviations.
            let apart = self.apart * 3.0_f64.sqrt() * (2.0 * uniform() - 1.0);
            let jobs = (f64::from(self.jobs) * (0.5 + uniform())) as u32;
            for _ in 0..jobs {
                let promise = self.threshold * uniform();
                let fails = self.fails(promise);
                let failed = uniform() < fails + apart * fails * (1.0 - fails);
                let row = CalibrationRow {
                    simulation: 1,
                    kind: PofKind::Promised,
                    bin: bin(promise) as u32,
                    jobs: 1,
                    failed: u64::from(failed),
                    failed_overbooked: 0,
                    pof_sum: promise,
                    brier_sum: (promise - f64::from(u8::from(failed))).powi(2),
                };
                found.add(battery, &row);
            }
        }
        found.scores().expect("there are jobs")
    }

    /// The shares of the seeds in which they are shown and refuted, and in which a report without
    /// intervals ticked them.
    fn said(&self, batteries: u32) -> Said {
        let (mut shown, mut refuted, mut ticked) = (0, 0, 0);
        for seed in 0..SEEDS {
            let scores = self.scores(seed, batteries);
            match scores.verdict() {
                Verdict::Shown => shown += 1,
                Verdict::Refuted => refuted += 1,
                Verdict::Open(_) => {}
            }
            let is_skilled = scores.skill.is_some_and(|skill| skill.mean > 0.0);
            ticked += u64::from(is_skilled && scores.error.mean <= 0.05);
        }
        let [shown, refuted, ticked] =
            [shown, refuted, ticked].map(|count| count as f64 / SEEDS as f64);
        let (skill, error) = self.truth();
        println!(
            "threshold {}, {batteries} batteries of {} jobs, skill {skill:.3}, error {error:.3}: \
             shown {shown:.3}, refuted {refuted:.3}, ticked without intervals {ticked:.3}",
            self.threshold, self.jobs
        );
        Said {
            shown,
            refuted,
            ticked,
        }
    }
}

struct Said {
    shown: f64,
    refuted: f64,
    ticked: f64,
}

fn bin(promise: f64) -> usize {
    ((promise * BINS as f64).ceil() as usize).clamp(1, BINS)
}

/// Half of the spread that is promised is what comes true: exactly as good as the mean, with this
/// threshold.
fn without_skill(threshold: f64) -> Promises {
    Promises {
        threshold,
        slope: 0.5,
        more: 0.0,
        apart: 0.3,
        jobs: 300,
    }
}

#[test]
#[ignore = "seconds"]
fn promises_no_better_than_the_mean_are_shown_no_more_often_than_the_level_allows() {
    for threshold in [0.1, 0.2, 0.3] {
        for batteries in [5, 8, 20] {
            let promises = without_skill(threshold);
            let (skill, error) = promises.truth();
            assert!(skill.abs() < 1e-3 && error < 0.05, "{skill} {error}");
            let said = promises.said(batteries);
            assert!(said.shown <= LEVEL && said.refuted <= LEVEL);
            // What the tick without intervals made of chance.
            assert!(said.ticked > 0.3);
            // Worse than the mean.
            let worse = Promises {
                slope: 0.4,
                ..promises
            };
            assert!(worse.said(batteries).shown <= LEVEL);
        }
    }
}

#[test]
#[ignore = "seconds"]
fn promises_that_are_just_good_enough_are_refuted_no_more_often_than_the_level_allows() {
    let at_the_edge = [
        // Off by 0.05 in all bins, and by up to 0.1 at both ends.
        (0.5, 1.0, 0.05, 300),
        (0.5, 1.0, -0.05, 300),
        (0.8, 0.75, 0.0, 60),
        // As promised, but with so few jobs a bin that chance looks like an error.
        (0.5, 1.0, 0.0, 60),
    ];
    for (threshold, slope, more, jobs) in at_the_edge {
        for batteries in [5, 8, 20] {
            let promises = Promises {
                threshold,
                slope,
                more,
                apart: 0.2,
                jobs,
            };
            let (skill, error) = promises.truth();
            assert!(skill > 0.05 && error < 0.0501, "{skill} {error}");
            let said = promises.said(batteries);
            assert!(said.refuted <= LEVEL);
            // An error of 0.05 is where good ends: what is beyond it may hardly be shown either.
            assert!(error < 0.0499 || said.shown <= LEVEL);
        }
    }
}

#[test]
#[ignore = "seconds"]
fn good_promises_are_shown_slight_ones_not_refuted_and_bad_ones_refuted() {
    let good = Promises {
        slope: 1.0,
        apart: 0.1,
        ..without_skill(0.5)
    };
    assert!(good.said(20).shown > 0.9);
    // A true skill that a tick by its measured sign alone has in most seeds.
    let slight = Promises {
        slope: 0.9,
        ..without_skill(0.3)
    };
    for batteries in [5, 8, 20] {
        assert!(slight.said(batteries).refuted <= LEVEL);
    }
    let bad = Promises {
        slope: 0.0,
        more: 0.1,
        ..without_skill(0.5)
    };
    assert!(bad.said(8).refuted > 0.9);
}
