use super::*;

/// Deterministic samples: a level, and a wobble that alternatives share by `common`.
fn samples(levels: &[f64], count: usize, wobble: f64) -> Vec<Vec<f64>> {
    (levels.iter().enumerate())
        .map(|(alternative, level)| {
            (0..count)
                .map(|replication| {
                    let phase = (replication * (alternative + 2)) as f64;
                    level + wobble * phase.sin()
                })
                .collect()
        })
        .collect()
}

fn means(samples: &[Vec<f64>]) -> Vec<f64> {
    let mean = |row: &Vec<f64>| row.iter().sum::<f64>() / row.len() as f64;
    samples.iter().map(mean).collect()
}

#[test]
fn the_constants_are_those_of_the_procedure() {
    // k = 2, n₀ = 10, α = 5 %: η = ½ (0.1^(−2/9) − 1) = 0.33405, h² = 18 η = 6.01289.
    let one: Vec<f64> = (0..10).map(f64::from).collect();
    let other = vec![0.0; 10];
    // S² = 55/6; N = ⌊6.01289 · 9.16667 / δ²⌋ at δ = 1.
    let selection = Selection::new(&[one, other], 1.0, 0.05, None);
    assert_eq!(selection.decided_after(), 55);
}

#[test]
fn one_alternative_is_selected_at_once_and_equal_ones_are_never_told_apart() {
    let mut alone = Selection::new(&samples(&[3.0], 10, 1.0), 0.1, 0.05, None);
    assert_eq!(alone.screen(&[3.0], 10).len(), 1);
    assert_eq!(alone.remaining(), [0]);

    let row = samples(&[3.0], 10, 1.0).remove(0);
    let mut twins = Selection::new(&[row.clone(), row], 0.1, 0.05, None);
    assert_eq!(twins.decided_after(), 0);
    twins.screen(&[3.0, 3.0], 10);
    assert_eq!(twins.remaining(), [0, 1]);
}

#[test]
fn what_lies_further_below_than_allowed_is_out_and_stays_out() {
    let samples = samples(&[0.0, 5.0, 4.99], 20, 1.0);
    let mut selection = Selection::new(&samples, 0.5, 0.05, None);
    let screened = selection.screen(&means(&samples), 20);
    assert!(!screened[0].is_kept);
    assert!(screened[0].behind > screened[0].allowed);
    assert_eq!(selection.remaining(), [1, 2]);
    let means = [100.0, 5.0, 4.99];
    let screened = selection.screen(&means, 25);
    assert_eq!(screened.len(), 2, "what is out is not looked at");
}

#[test]
fn after_as_many_replications_as_it_says_only_equal_means_remain() {
    let samples = samples(&[1.0, 1.01, 1.02, 1.03], 12, 0.4);
    let mut selection = Selection::new(&samples, 0.1, 0.05, None);
    let after = selection.decided_after() + 1;
    selection.screen(&[1.0, 1.01, 1.02, 1.03], after);
    assert_eq!(selection.remaining(), [3]);
}

#[test]
fn of_finitely_many_replications_those_that_were_run_count_for_more() {
    let one: Vec<f64> = (0..10).map(f64::from).collect();
    let rows = [one, vec![0.0; 10]];
    // N = 55.1 of an unlimited number; of 20 more than 55.1 · 20 / 75.1 = 14.67, of 5,510 nearly
    // as many.
    let of = |population| Selection::new(&rows, 1.0, 0.05, Some(population));
    assert_eq!(of(20).decided_after(), 14);
    assert_eq!(of(5_510).decided_after(), 54);

    // W after 10 of 20 is W after 10 · 20 / 10 = 20 of an unlimited number.
    let allowed = |population, count| {
        let mut selection = Selection::new(&rows, 1.0, 0.05, population);
        selection.screen(&[0.0, 0.1], count)[0].allowed
    };
    assert_eq!(allowed(Some(20), 10), allowed(None, 20));
    assert!(allowed(Some(20), 10) > 0.0);
}

#[test]
fn with_all_replications_that_there_are_the_largest_mean_is_selected() {
    let rows = samples(&[1.0, 1.001], 10, 5.0);
    let mut selection = Selection::new(&rows, 0.01, 0.05, Some(20));
    assert_eq!(selection.decided_after(), 19);
    selection.screen(&[1.0, 1.001], 19);
    assert_eq!(selection.remaining(), [0, 1]);
    selection.screen(&[1.0, 1.001], 20);
    assert_eq!(selection.remaining(), [1]);
}
