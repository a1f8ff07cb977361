use proptest::prelude::*;
use rand::RngExt;

use super::*;
use crate::random;

const SHAPE: (Nodes, Seconds) = (Nodes(8), Seconds::HOUR);

fn predictor(settings: WaitPredictorSettings) -> WaitPredictor {
    WaitPredictor::new(settings).unwrap()
}

fn taught(settings: WaitPredictorSettings, waits: impl IntoIterator<Item = i64>) -> WaitPredictor {
    let mut predictor = predictor(settings);
    for wait in waits {
        predictor.observe(SHAPE.0, SHAPE.1, Seconds(wait));
    }
    predictor
}

fn cautious() -> WaitPredictorSettings {
    WaitPredictorSettings {
        rule: PredictionRule::BinomialLowerBound,
        ..WaitPredictorSettings::default()
    }
}

#[test]
fn the_probability_is_the_share_of_waits_within_the_deadline() {
    let predictor = taught(WaitPredictorSettings::default(), 1..=100);
    let within = |deadline| predictor.probability(SHAPE.0, SHAPE.1, Seconds(deadline));
    assert_eq!(within(0), 0.0);
    assert_eq!(within(38), 0.38);
    assert_eq!(within(100), 1.0);
    assert_eq!(within(-1), 0.0);
}

#[test]
fn only_the_last_thousand_waits_count() {
    let old = std::iter::repeat_n(9_000, 1_000);
    let predictor = taught(WaitPredictorSettings::default(), old.chain(1..=750));
    let within = |deadline| predictor.probability(SHAPE.0, SHAPE.1, Seconds(deadline));
    assert_eq!(within(8_999), 0.75);
    let predictor = taught(WaitPredictorSettings::default(), 1..=2_000);
    assert_eq!(
        predictor.probability(SHAPE.0, SHAPE.1, Seconds(1_250)),
        0.25
    );
}

#[test]
fn quantile_bounds_are_the_order_statistics_of_the_binomial_method() {
    let of = |waits| taught(WaitPredictorSettings::default(), 1..=waits);
    let bound = |waits, q| of(waits).quantile_bound(SHAPE.0, SHAPE.1, q);
    assert_eq!(bound(1_000, 0.95), Some(Seconds(962)));
    assert_eq!(bound(1_000, 0.5), Some(Seconds(527)));
    assert_eq!(bound(59, 0.95), Some(Seconds(59)));
    assert_eq!(bound(58, 0.95), None);
    assert_eq!(bound(1_000, 1.0), None);
}

#[test]
fn a_quantile_is_the_nearest_rank_of_the_node_bin() {
    let minutes = [0, 10, 20, 60, 120, 180, 240, 360, 480, 1_440];
    let predictor = taught(WaitPredictorSettings::default(), minutes);
    let at = |q| predictor.quantile(SHAPE.0, q).map(|wait| wait.0);
    assert_eq!(at(0.8), Some(360));
    assert_eq!(at(0.81), Some(480));
    assert_eq!(at(1.0), Some(1_440));
    assert_eq!(at(0.0), Some(0));
    assert_eq!(predictor.quantile(Nodes(65), 0.8), None);
}

#[test]
fn the_cautious_probability_is_the_largest_quantile_that_is_bounded_in_time() {
    let predictor = taught(cautious(), 1..=1_000);
    let at = |deadline| predictor.probability(SHAPE.0, SHAPE.1, Seconds(deadline));
    let bound = |q| predictor.quantile_bound(SHAPE.0, SHAPE.1, q);
    // Rank 962 is the first that bounds the quantile 0.95; one second less does not.
    assert!(at(962) >= 0.95 && at(961) < 0.95);
    assert!(bound(at(527)) <= Some(Seconds(527)));
    assert!(bound(at(527) + 1e-9) > Some(Seconds(527)));
    assert_eq!(at(0), 0.0);
    assert!(at(2_000) < 1.0);
}

#[test]
fn a_category_without_enough_waits_asks_its_node_bin_and_then_everybody() {
    let mut predictor = predictor(WaitPredictorSettings::default());
    let asked = (Nodes(32), Seconds::HOUR * 4);
    let basis = |predictor: &WaitPredictor| predictor.basis(asked.0, asked.1);
    let at = |predictor: &WaitPredictor| predictor.probability(asked.0, asked.1, Seconds(60));
    assert_eq!(basis(&predictor), (PredictionBasis::AllJobs, 0));
    assert_eq!(at(&predictor), 0.0);
    assert_eq!(predictor.quantile_bound(asked.0, asked.1, 0.01), None);

    // Others wait a minute, wide jobs two, jobs of exactly this shape half a minute.
    for _ in 0..58 {
        predictor.observe(Nodes(1), Seconds::HOUR, Seconds(60));
        predictor.observe(Nodes(17), Seconds::HOUR * 5, Seconds(120));
    }
    assert_eq!(basis(&predictor), (PredictionBasis::AllJobs, 116));
    assert_eq!(at(&predictor), 0.5);
    predictor.observe(Nodes(64), Seconds::HOUR * 13, Seconds(120));
    assert_eq!(basis(&predictor), (PredictionBasis::NodeBin, 59));
    assert_eq!(at(&predictor), 0.0);
    for _ in 0..59 {
        predictor.observe(Nodes(20), Seconds::HOUR + Seconds(1), Seconds(30));
    }
    assert_eq!(basis(&predictor), (PredictionBasis::Category, 59));
    assert_eq!(at(&predictor), 1.0);
}

#[test]
fn borders_belong_to_the_lower_bin() {
    for (nodes, bin) in [
        (0, 0),
        (1, 0),
        (4, 0),
        (5, 1),
        (16, 1),
        (17, 2),
        (64, 2),
        (65, 3),
    ] {
        assert_eq!(category(Nodes(nodes), Seconds::ZERO).0, bin);
    }
    for (hours, bin) in [(0, 0), (1, 0), (2, 1), (4, 1), (5, 2), (12, 2), (13, 3)] {
        assert_eq!(category(Nodes(1), Seconds::HOUR * hours).1, bin);
    }
}

#[test]
fn a_fork_and_its_origin_do_not_learn_from_each_other() {
    let mut origin = taught(WaitPredictorSettings::default(), 1..=100);
    let mut fork = origin.clone();
    fork.observe(SHAPE.0, SHAPE.1, Seconds(0));
    assert_eq!(origin.basis(SHAPE.0, SHAPE.1).1, 100);
    origin.observe(SHAPE.0, SHAPE.1, Seconds(500));
    origin.observe(SHAPE.0, SHAPE.1, Seconds(500));
    assert_eq!(fork.basis(SHAPE.0, SHAPE.1).1, 101);
    assert_eq!(fork.probability(SHAPE.0, SHAPE.1, Seconds(200)), 1.0);
}

#[test]
fn settings_out_of_range_are_errors() {
    let check = |key, spoil: fn(&mut WaitPredictorSettings)| {
        let mut settings = WaitPredictorSettings::default();
        spoil(&mut settings);
        assert_eq!(WaitPredictor::new(settings).unwrap_err().key, key);
    };
    check("history", |settings| settings.history = 0);
    check("minimum_history", |settings| {
        settings.minimum_history = 1_001;
    });
    check("confidence", |settings| settings.confidence = 1.0);
    check("confidence", |settings| settings.confidence = f64::NAN);
}

#[test]
fn settings_are_written_as_they_are_read() {
    let text = "rule = \"binomial-lower-bound\"\nconfidence = 0.9\n";
    let settings: WaitPredictorSettings = toml::from_str(text).unwrap();
    assert_eq!(settings.rule, PredictionRule::BinomialLowerBound);
    assert_eq!((settings.history, settings.minimum_history), (1_000, 59));
    let written = toml::to_string(&settings).unwrap();
    assert_eq!(
        toml::from_str::<WaitPredictorSettings>(&written).unwrap(),
        settings
    );
}

#[test]
fn bounds_hold_as_often_as_stated_on_independent_waits() {
    const TRIALS: u32 = 4_000;
    let mut stream = random::stream(7, "waits", 0, "bounds");
    // Uniform waits of up to a million seconds: the quantile q is q million.
    for (waits, q) in [(60, 0.5), (100, 0.75), (200, 0.95)] {
        let (mut held, mut below) = (0_u32, 0_u32);
        for _ in 0..TRIALS {
            let drawn: Vec<i64> = (0..waits)
                .map(|_| stream.random_range(0..1_000_000))
                .collect();
            let predictor = taught(WaitPredictorSettings::default(), drawn);
            let bound = predictor.quantile_bound(SHAPE.0, SHAPE.1, q).unwrap();
            held += u32::from(bound.0 as f64 >= q * 1e6);
            below += u32::from(stream.random_range(0..1_000_000) <= bound.0);
        }
        let share = |count: u32| f64::from(count) / f64::from(TRIALS);
        // Three standard deviations below 0.95; not absurdly wide either.
        assert!(
            share(held) > 0.95 - 0.0104 && share(held) < 0.985,
            "{}",
            share(held)
        );
        assert!(share(below) > q, "{} of {q}", share(below));
    }
}

#[test]
fn the_cautious_probability_is_too_high_no_more_often_than_stated() {
    const TRIALS: u32 = 4_000;
    let mut stream = random::stream(8, "waits", 0, "shares");
    let too_high = (0..TRIALS).filter(|_| {
        let drawn: Vec<i64> = (0..100).map(|_| stream.random_range(0..1_000)).collect();
        let predictor = taught(cautious(), drawn);
        predictor.probability(SHAPE.0, SHAPE.1, Seconds(699)) > 0.7
    });
    let share = too_high.count() as f64 / f64::from(TRIALS);
    assert!(share < 0.05 + 0.0104 && share > 0.01, "{share}");
}

proptest! {
    #[test]
    fn histories_agree_with_a_list_that_is_sorted_anew(
        capacity in 1_usize..40, waits in prop::collection::vec(0_i64..30, 0..200), deadline in -2_i64..32,
    ) {
        let settings = WaitPredictorSettings {
            history: capacity, minimum_history: 1, ..WaitPredictorSettings::default()
        };
        let predictor = taught(settings, waits.iter().copied());
        let mut latest = waits[waits.len().saturating_sub(capacity)..].to_vec();
        let within = latest.iter().filter(|&&wait| wait <= deadline).count();
        let share = if latest.is_empty() { 0.0 } else { within as f64 / latest.len() as f64 };
        prop_assert_eq!(predictor.probability(SHAPE.0, SHAPE.1, Seconds(deadline)), share);
        latest.sort_unstable();
        let rank = bound_rank(latest.len(), 0.5, 0.95);
        let bound = rank.map(|rank| Seconds(latest[rank - 1]));
        prop_assert_eq!(predictor.quantile_bound(SHAPE.0, SHAPE.1, 0.5), bound);
    }

    #[test]
    fn probabilities_grow_with_the_deadline_and_caution_lowers_them(
        waits in prop::collection::vec(0_i64..1_000, 1..300), deadline in 0_i64..1_000, more in 0_i64..200,
    ) {
        let careless = taught(WaitPredictorSettings::default(), waits.iter().copied());
        let careful = taught(cautious(), waits);
        let at = |predictor: &WaitPredictor, deadline| predictor.probability(SHAPE.0, SHAPE.1, Seconds(deadline));
        prop_assert!(at(&careful, deadline) <= at(&careful, deadline + more));
        prop_assert!(at(&careless, deadline) <= at(&careless, deadline + more));
        prop_assert!(at(&careful, deadline) <= at(&careless, deadline));
    }
}
