//! What kinds of intervals are worth where the truth is known: series of neighbours that are alike,
//! and quantities that cannot be negative.

use bookahead::random;
use bookahead::scheduling::measures::QuantityKind;
use bookahead_report::{Estimate, Neighbours};
use rand::{Rng, RngExt};
use statrs::distribution::{ContinuousCDF, Normal};

const SAMPLES: u32 = 4_000;

/// A standard normal number.
pub fn normal(stream: &mut impl Rng) -> f64 {
    let standard = Normal::standard();
    standard.inverse_cdf(stream.random_range(1e-12..1.0))
}

/// So many neighbours of a stationary series of mean 0, each of which keeps a part of the one
/// before.
fn neighbours(count: usize, kept: f64, stream: &mut impl Rng) -> Vec<f64> {
    let mut value = normal(stream) / (1.0 - kept * kept).sqrt();
    let values = (0..count).map(|_| {
        value = kept * value + normal(stream);
        value
    });
    values.collect()
}

/// The share of samples of which something is true.
pub fn share(place: &str, mut holds: impl FnMut(&mut random::Stream) -> bool) -> f64 {
    let held = (0..SAMPLES).filter(|sample| {
        let mut stream = random::stream(29, place, *sample, "coverage");
        holds(&mut stream)
    });
    held.count() as f64 / f64::from(SAMPLES)
}

#[test]
#[ignore = "minutes"]
fn blocks_cover_the_mean_of_a_log_whose_batteries_are_alike_far_better_than_batteries_one_by_one() {
    for count in [10, 20, 40, 60] {
        for kept in [0.0, 0.3, 0.6] {
            let place = format!("{count} {kept}");
            let alone = share(&place, |stream| {
                let values = neighbours(count, kept, stream);
                let own = Estimate::of(&values).expect("there are values").interval;
                own.expect("they differ").contains(0.0)
            });
            let blocks = share(&place, |stream| {
                let values = neighbours(count, kept, stream);
                let found = Neighbours::of(&values, QuantityKind::Signed);
                found.expect("they differ").interval.contains(0.0)
            });
            println!(
                "{count} neighbours, r = {kept}: {alone:.3} one by one, {blocks:.3} in blocks"
            );
            match kept {
                // Blocks cost little where neighbours are independent.
                0.0 => assert!((0.94..=0.985).contains(&blocks)),
                0.3 => assert!(alone < 0.89 && blocks > 0.90),
                _ => assert!(alone < 0.72 && blocks > 0.84 && blocks > alone + 0.15),
            }
        }
    }
}

#[test]
#[ignore = "minutes"]
fn intervals_of_what_cannot_be_negative_never_reach_below_0_and_cover_no_less() {
    /// Draws a value, and the mean of all.
    type Drawn = (&'static str, fn(&mut random::Stream) -> f64, f64);
    let kinds: [Drawn; 3] = [
        (
            "exponential",
            |stream| -stream.random_range(1e-12..1.0_f64).ln(),
            1.0,
        ),
        (
            "lognormal, σ = 1.2",
            |stream| (1.2 * normal(stream)).exp(),
            0.72_f64.exp(),
        ),
        (
            "lognormal, σ = 2",
            |stream| (2.0 * normal(stream)).exp(),
            2.0_f64.exp(),
        ),
    ];
    for (name, draw, truth) in kinds {
        for count in [3, 5, 8, 20] {
            let place = format!("{name} {count}");
            let mut below = 0;
            let student = share(&place, |stream| {
                let values: Vec<f64> = (0..count).map(|_| draw(stream)).collect();
                let own = Estimate::of(&values).expect("there are values").interval;
                let own = own.expect("they differ");
                below += u32::from(own.low < 0.0);
                own.contains(truth)
            });
            let kind = share(&place, |stream| {
                let values: Vec<f64> = (0..count).map(|_| draw(stream)).collect();
                let found = Estimate::of_kind(&values, QuantityKind::Mean);
                let own = found
                    .expect("there are values")
                    .interval
                    .expect("they differ");
                assert!(own.low >= 0.0, "{values:?}");
                own.contains(truth)
            });
            let below = f64::from(below) / f64::from(SAMPLES);
            println!(
                "{name}, n = {count}: Student {student:.3}, {below:.3} below 0; as reported {kind:.3}"
            );
            assert!(kind >= student - 0.005);
        }
    }
}
