//! The mean of one long log, whose weeks are like their neighbours: what intervals over weeks of
//! submission cover, with blocks and without.

use bookahead::scheduling::measures::QuantityKind;
use bookahead_report::{Blocks, Estimate, Weekly};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use statrs::distribution::{ContinuousCDF as _, Normal};

const SEEDS: u64 = 4_000;
/// The mean wait in all logs.
const TRUTH: f64 = 100.0;

/// How much longer jobs wait in the other setting.
const MORE: f64 = 10.0;

/// Two settings of one log, and the weekly sums of the first.
#[derive(Default)]
struct Log {
    one: Weekly,
    other: Weekly,
    sums: Vec<(f64, f64)>,
}

/// Weeks of 200 to 800 jobs, whose mean waits are a first-order autoregression
/// with this correlation of neighbours; the other setting adds noise of its own.
fn log(weeks: u32, correlation: f64, seed: u64) -> Log {
    let mut draws = ChaCha8Rng::seed_from_u64(seed);
    let standard = Normal::standard();
    let mut normal = || standard.inverse_cdf(draws.random_range(1e-9..1.0));
    let mut log = Log::default();
    let mut level = normal();
    for week in 0..weeks {
        if week > 0 {
            level = correlation * level + (1.0 - correlation.powi(2)).sqrt() * normal();
        }
        let jobs = (500.0 + 100.0 * normal()).clamp(200.0, 800.0).round();
        let wait = TRUTH + 60.0 * level;
        let longer = wait + MORE + 5.0 * normal();
        log.sums.push((jobs * wait, jobs));
        log.one.add(week, jobs * wait, jobs);
        log.other.add(week, jobs * longer, jobs);
    }
    log
}

/// Shares of intervals that hold the truth.
struct Coverage {
    with_blocks: f64,
    /// With weeks as units whatever their correlation.
    without: f64,
    of_differences: f64,
    /// The share of logs whose mean has an interval.
    made: f64,
}

fn coverage(weeks: u32, correlation: f64) -> Coverage {
    let (mut held, mut made) = ([0.0; 3], [0.0_f64; 3]);
    for seed in 0..SEEDS {
        let Log { one, other, sums } = log(weeks, correlation, seed);
        let estimates = [
            (
                one.quotient(&Blocks::of(&[&one]), QuantityKind::Mean),
                TRUTH,
            ),
            (Estimate::quotient(&sums, QuantityKind::Mean), TRUTH),
            (other.more_than(&one, &Blocks::of(&[&one, &other])), MORE),
        ];
        for ((estimate, truth), place) in estimates.into_iter().zip(0..) {
            if let Some(interval) = estimate.and_then(|estimate| estimate.interval) {
                made[place] += 1.0;
                held[place] += f64::from(interval.contains(truth));
            }
        }
    }
    let share = |place: usize| held[place] / made[place];
    let coverage = Coverage {
        with_blocks: share(0),
        without: share(1),
        of_differences: share(2),
        made: made[0] / SEEDS as f64,
    };
    println!(
        "{weeks:>3} weeks, correlation {correlation:.1}: {:.3} with blocks, {:.3} without, {:.3} of differences; {:.0} % have an interval",
        coverage.with_blocks,
        coverage.without,
        coverage.of_differences,
        100.0 * coverage.made
    );
    coverage
}

#[test]
#[ignore = "seconds"]
fn intervals_over_independent_weeks_cover_the_mean_of_all_logs() {
    for weeks in [12, 26, 52, 104] {
        let found = coverage(weeks, 0.0);
        for share in [found.with_blocks, found.without, found.of_differences] {
            assert!((0.93..=0.97).contains(&share), "{weeks} weeks: {share}");
        }
    }
}

#[test]
#[ignore = "seconds"]
fn blocks_of_weeks_mend_most_of_what_alike_weeks_break() {
    for (weeks, correlation, least) in [
        (104, 0.2, 0.93),
        (104, 0.4, 0.92),
        (104, 0.6, 0.89),
        (52, 0.2, 0.90),
        (52, 0.4, 0.90),
        (52, 0.6, 0.86),
        (26, 0.4, 0.87),
    ] {
        let Coverage {
            with_blocks,
            without,
            of_differences,
            ..
        } = coverage(weeks, correlation);
        assert!((0.93..=0.97).contains(&of_differences));
        let told = format!("{weeks} weeks, correlation {correlation}: {with_blocks}");
        assert!(with_blocks >= least, "{told}");
        // A third of the way from what weeks alone cover to 95 %, at least.
        assert!(
            with_blocks > without + (0.95 - without) / 3.0,
            "{told} and {without}"
        );
    }
}

#[test]
#[ignore = "seconds"]
fn twelve_weeks_that_are_alike_are_too_few() {
    // Blocks of two weeks are the longest that leave five; docs/advise.md says what they cover.
    let found = coverage(12, 0.4);
    assert_eq!(found.made, 1.0);
    assert!(found.with_blocks > found.without && found.with_blocks < 0.92);
}
