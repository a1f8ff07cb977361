use super::*;

#[test]
fn the_first_level_spreads_over_the_lattice_and_the_last_has_neighbours_one_tolerance_apart() {
    let first = Refinement::new(61);
    assert_eq!(first.tried(), [0, 15, 30, 45, 60]);
    let second = first.around(15).unwrap();
    assert_eq!(second.tried(), [0, 8, 15, 23, 30]);
    let mut search = second;
    while let Some(next) = search.around(search.tried()[2]) {
        search = next;
    }
    let tried = search.tried();
    assert!(
        tried.windows(2).all(|pair| pair[1] - pair[0] == 1),
        "{tried:?}"
    );
}

#[test]
fn a_search_finds_the_top_of_every_hill_on_every_lattice_within_the_levels_that_it_announced() {
    for places in 1..130 {
        for peak in 0..places {
            let mut search = Refinement::new(places);
            let selected = loop {
                let best = *(search.tried().iter())
                    .min_by_key(|place| place.abs_diff(peak))
                    .unwrap();
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
