//! The candidates of a request: how many, and whether early ones are cheap (Meltzer 2005, §6.4.5
//! and §6.9.1).

use bookahead_core::random::StreamSeed;
use bookahead_core::workload::Preference;

use super::whole_run::{empty_clusters, only, request, settings, simulate};
use crate::co_reservation::*;

const HOUR: i64 = 3_600;
/// Second 0 is Wednesday, 18:00.
const THURSDAY: i64 = 6 * HOUR;

/// Where between the extremes of its candidates, 0 to 1, a request for an hour of these hours of
/// Thursday starts, and what it costs, if the start counts so much: on seven empty clusters with
/// the tariff of the thesis.
fn offsets(hours: (i64, i64), start_weight: f64) -> [f64; 2] {
    let window = (THURSDAY + hours.0 * HOUR, THURSDAY + hours.1 * HOUR);
    let mut request = request(0, 0, window, HOUR, &[30, 50]);
    request.preference = Preference {
        cost_weight: 1.0 - start_weight,
        start_weight,
        mix_weight: 0.0,
        degree_weight: 0.0,
    };
    let inputs = empty_clusters(7, 100, vec![request]);
    let run = simulate(&inputs, &settings(Algorithm::A5), &StreamSeed::default());
    let outcome = only(&run);
    assert_eq!(outcome.verdict, CoVerdict::Granted);
    let bounds = outcome.bounds.expect("candidates");
    let (start, cost) = (
        outcome.start.expect("granted"),
        outcome.cost.expect("granted"),
    );
    assert!(
        bounds.dearest > bounds.cheapest,
        "not all starts cost the same"
    );
    [
        (start - bounds.earliest).hours() / (bounds.latest - bounds.earliest).hours(),
        (cost - bounds.cheapest) / (bounds.dearest - bounds.cheapest),
    ]
}

#[test]
fn on_a_working_day_early_is_cheap_before_noon_and_dear_before_the_night() {
    assert_eq!(offsets((6, 12), 0.1), [0.0, 0.0], "type b");
    let [start, cost] = offsets((16, 20), 0.1);
    assert!(start > 0.0 && cost == 0.0, "type a: {start}, {cost}");
    let [start, cost] = offsets((16, 20), 1.0);
    assert!(start == 0.0 && cost > 0.0, "type a: {start}, {cost}");
}

#[test]
fn requests_of_two_parts_have_as_many_candidates_as_starts_and_pairs_of_clusters() {
    for (count, starts, candidates) in [
        (4, 20, 240.0),
        (7, 12, 504.0),
        (16, 5, 1_200.0),
        (64, 2, 8_064.0),
    ] {
        let request = request(0, 0, (0, 40 * HOUR), HOUR, &[30, 50]);
        let inputs = empty_clusters(count, 100, vec![request]);
        let mut settings = settings(Algorithm::A2);
        settings.search.maximum_starts = starts;
        let run = simulate(&inputs, &settings, &StreamSeed::default());
        let outcome = only(&run);
        assert_eq!((outcome.starts, outcome.candidates), (starts, candidates));
    }
}
