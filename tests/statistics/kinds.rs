//! How often each kind of interval contains the truth, where it is known.

use bookahead::random;
use bookahead::scheduling::measures::QuantityKind::{
    self, Fraction, Mean, RareCount, Signed, SkewedSum,
};
use bookahead_report::{Estimate, Welch};
use rand::{Rng, RngExt};

use super::intervals::{normal, share};

/// A number of events at this rate (Knuth).
fn poisson(rate: f64, stream: &mut impl Rng) -> f64 {
    let limit = (-rate).exp();
    let (mut product, mut events) = (1.0, 0.0);
    loop {
        product *= stream.random_range(0.0..1.0_f64);
        if product <= limit {
            return events;
        }
        events += 1.0;
    }
}

/// So many lognormal amounts on average, and what each is worth.
fn amounts(rate: f64, sigma: f64, stream: &mut impl Rng) -> f64 {
    let count = poisson(rate, stream) as u32;
    (0..count).map(|_| (sigma * normal(stream)).exp()).sum()
}

/// The share of 200 jobs, where replications differ in how many they are on average.
fn jobs(mean: f64, sigma: f64, stream: &mut impl Rng) -> f64 {
    let own = mean * (sigma * normal(stream) - sigma * sigma / 2.0).exp();
    let own = own.min(1.0);
    let counted = (0..200).filter(|_| stream.random_range(0.0..1.0) < own);
    counted.count() as f64 / 200.0
}

/// What is drawn, its mean, and between what its coverage lies.
struct Kind {
    name: &'static str,
    kind: QuantityKind,
    replications: u32,
    truth: f64,
    draw: fn(&mut random::Stream) -> f64,
    covers: std::ops::RangeInclusive<f64>,
}

const CLOSE: std::ops::RangeInclusive<f64> = 0.93..=0.97;

fn kinds() -> Vec<Kind> {
    let of = |name, kind, replications, truth, draw, covers| Kind {
        name,
        kind,
        replications,
        truth,
        draw,
        covers,
    };
    vec![
        of("gains (normal)", Signed, 5, 0.0, normal, CLOSE),
        of("gains (normal)", Signed, 8, 0.0, normal, CLOSE),
        of("gains (normal)", Signed, 20, 0.0, normal, CLOSE),
        of(
            "waits (lognormal, σ = 0.5)",
            Mean,
            20,
            0.125_f64.exp(),
            |s| (0.5 * normal(s)).exp(),
            0.925..=0.97,
        ),
        of(
            "shares about 10 %",
            Fraction,
            8,
            0.1,
            |s| jobs(0.1, 0.3, s),
            CLOSE,
        ),
        of(
            "shares about 2 %",
            Fraction,
            8,
            0.02,
            |s| jobs(0.02, 0.3, s),
            CLOSE,
        ),
        of(
            "shares about 50 %",
            Fraction,
            20,
            0.5,
            |s| jobs(0.5, 0.1, s),
            CLOSE,
        ),
        of(
            "counts, Poisson of mean 5",
            RareCount,
            8,
            5.0,
            |s| poisson(5.0, s),
            CLOSE,
        ),
        // Never seen, or hardly ever: the bound is on the safe side.
        of(
            "counts, Poisson of mean 1",
            RareCount,
            8,
            1.0,
            |s| poisson(1.0, s),
            0.93..=0.98,
        ),
        of(
            "counts, Poisson of mean 0.19",
            RareCount,
            8,
            0.19,
            |s| poisson(0.19, s),
            0.93..=1.0,
        ),
        of(
            "counts, Poisson of mean 0.05",
            RareCount,
            8,
            0.05,
            |s| poisson(0.05, s),
            0.93..=1.0,
        ),
        of(
            "counts in groups of 3, 6 on average",
            RareCount,
            8,
            6.0,
            |s| 3.0 * poisson(2.0, s),
            CLOSE,
        ),
        of(
            "sums of 5 lognormal amounts (σ = 1)",
            SkewedSum,
            20,
            5.0 * 0.5_f64.exp(),
            |s| amounts(5.0, 1.0, s),
            CLOSE,
        ),
        of(
            "sums of 2 lognormal amounts (σ = 1.2)",
            SkewedSum,
            20,
            2.0 * 0.72_f64.exp(),
            |s| amounts(2.0, 1.2, s),
            0.91..=0.97,
        ),
    ]
}

#[test]
#[ignore = "seconds"]
fn intervals_of_every_kind_contain_the_truth_as_often_as_the_manual_says() {
    for Kind {
        name,
        kind,
        replications,
        truth,
        draw,
        covers,
    } in kinds()
    {
        let of_kind = |kind: QuantityKind| {
            share(&format!("{name} {replications}"), |stream| {
                let values: Vec<f64> = (0..replications).map(|_| draw(stream)).collect();
                let found = Estimate::of_kind(&values, kind).expect("there are values");
                // Without an interval nothing is claimed; of what does not differ there is none.
                found.interval.is_some_and(|own| own.contains(truth))
            })
        };
        let (student, own) = (of_kind(QuantityKind::Signed), of_kind(kind));
        println!("{name}, n = {replications}: Student {student:.3}, as reported {own:.3}");
        assert!(covers.contains(&own), "{name}, n = {replications}: {own}");
    }
}

#[test]
#[ignore = "seconds"]
fn too_few_replications_of_a_skewed_sum_have_no_interval() {
    let place = "sums of few";
    let claimed = share(place, |stream| {
        let values: Vec<f64> = (0..8).map(|_| amounts(2.0, 1.2, stream)).collect();
        let found = Estimate::of_kind(&values, QuantityKind::SkewedSum);
        found.expect("there are values").interval.is_some()
    });
    assert_eq!(claimed, 0.0);
}

#[test]
#[ignore = "seconds"]
fn two_independent_sets_that_do_not_differ_are_told_apart_in_one_of_twenty() {
    for (one, two, spread) in [(8, 8, 1.0), (8, 20, 3.0), (20, 8, 3.0)] {
        let found = share(&format!("Welch {one} {two} {spread}"), |stream| {
            let mut draw = |count: usize, spread: f64| -> Vec<f64> {
                (0..count).map(|_| spread * normal(stream)).collect()
            };
            let (one, two) = (draw(one, 1.0), draw(two, spread));
            let found = Welch::of(&one, &two).expect("there are values");
            found.p_value.is_some_and(|p| p <= 0.05)
        });
        println!("Welch, {one} against {two}, spread {spread}: {found:.3} false alarms");
        assert!((0.03..=0.07).contains(&found), "{found}");
    }
}
