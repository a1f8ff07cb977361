//! The best of settings that are equally good: what it seems to earn, and what it earns where it
//! was not chosen.

use bookahead_report::Choice;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

const SEEDS: u64 = 2_000;
const SETTINGS: usize = 10;
const BATTERIES: usize = 20;

#[test]
#[ignore = "seconds"]
fn the_best_of_equal_settings_earns_more_than_any_where_it_was_chosen_and_as_much_as_all_elsewhere()
{
    let (mut same, mut others) = (0.0, 0.0);
    for seed in 0..SEEDS {
        let mut draws = ChaCha8Rng::seed_from_u64(seed);
        // All settings see a battery that is good or bad, and each has luck of its own: between 80
        // and 120.
        let batteries: Vec<f64> = (0..BATTERIES)
            .map(|_| draws.random_range(-10.0..10.0))
            .collect();
        let settings: Vec<Vec<f64>> = (0..SETTINGS)
            .map(|_| {
                let gains = batteries.iter();
                gains
                    .map(|battery| 100.0 + battery + draws.random_range(-10.0..10.0))
                    .collect()
            })
            .collect();
        let choice = Choice::of(&settings).expect("there are settings to choose from");
        same += choice.same / SEEDS as f64;
        others += choice.others / SEEDS as f64;
    }
    println!("the best of {SETTINGS} that earn 100: {same:.2}, chosen on the others {others:.2}");
    assert!(same > 101.5, "{same}");
    assert!((others - 100.0).abs() < 0.15, "{others}");
}
