use std::collections::BTreeSet;

use super::*;

#[test]
fn each_level_compares_two_places_of_which_one_was_tried_before() {
    // 20 places: Fibonacci numbers 8, 13, 21.
    let first = Refinement::new(20);
    assert_eq!(first.tried(), [7, 12]);
    let second = first.around(7).unwrap();
    assert_eq!(second.tried(), [4, 7]);
    let third = second.around(7).unwrap();
    assert_eq!(third.tried(), [7, 9]);
}

#[test]
fn a_search_finds_the_top_of_every_hill_on_every_lattice_within_the_levels_that_it_announced() {
    for places in 1..144 {
        for peak in 0..places {
            let mut search = Refinement::new(places);
            let mut tried = BTreeSet::new();
            let selected = loop {
                tried.extend(search.tried());
                // A hill that is steeper on its right.
                let height = |place: &&usize| match **place <= peak {
                    true => peak - **place,
                    false => 3 * (**place - peak),
                };
                let compared = search.tried();
                let best = *compared.iter().min_by_key(height).unwrap();
                match search.around(best) {
                    Some(next) => search = next,
                    None => break best,
                }
            };
            assert_eq!(selected, peak, "of {places}");
            assert!(
                search.level() <= Refinement::levels(places),
                "{places} {peak}"
            );
            // 143 places are one fewer than the twelfth Fibonacci number.
            assert!(tried.len() <= 10, "{places} {peak}: {tried:?}");
        }
    }
}

#[test]
fn the_vertex_of_a_parabola_is_found_to_the_digit_and_its_interval_is_that_of_the_shift() {
    let abscissas = [0.1, 0.2, 0.3, 0.4];
    // Each replication has its own vertex, 0.25 on the average.
    let shifts: Vec<f64> = (0..40)
        .map(|r| 0.25 + 0.001 * (f64::from(r) - 19.5))
        .collect();
    let samples: Vec<Vec<f64>> = (abscissas.iter())
        .map(|x| {
            shifts
                .iter()
                .map(|shift| 7.0 - (x - shift).powi(2))
                .collect()
        })
        .collect();
    let vertex = Vertex::fit(&abscissas, &samples, 0.95).unwrap();
    assert!((vertex.place - 0.25).abs() < 1e-12, "{vertex:?}");
    // The vertex of the mean curve is the mean of the vertices: its error is theirs.
    let squares: f64 = shifts.iter().map(|shift| (shift - 0.25).powi(2)).sum();
    let error = (squares / 39.0 / 40.0).sqrt();
    assert!(
        (vertex.half_width - 2.022_690_9 * error).abs() < 1e-8,
        "{vertex:?}"
    );
}

#[test]
fn a_valley_and_too_few_replications_have_no_vertex() {
    let samples = |sign: f64, count: usize| -> Vec<Vec<f64>> {
        [1.0, 2.0, 3.0_f64]
            .iter()
            .map(|x| vec![sign * (x - 2.0).powi(2); count])
            .collect()
    };
    let abscissas = [1.0, 2.0, 3.0];
    assert_eq!(Vertex::fit(&abscissas, &samples(1.0, 20), 0.95), None);
    assert_eq!(Vertex::fit(&abscissas, &samples(-1.0, 19), 0.95), None);
    assert!(Vertex::fit(&abscissas, &samples(-1.0, 20), 0.95).is_some());
}
