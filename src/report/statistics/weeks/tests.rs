use super::*;

fn of(weeks: &[(f64, f64)]) -> Weekly {
    let mut weekly = Weekly::default();
    for (week, (part, whole)) in (0..).zip(weeks) {
        weekly.add(week, *part, *whole);
    }
    weekly
}

/// Each week has one thing.
fn ones(values: &[f64]) -> Weekly {
    of(&values.iter().map(|value| (*value, 1.0)).collect::<Vec<_>>())
}

fn mean(weekly: &Weekly) -> (Blocks, Estimate) {
    let blocks = Blocks::of(&[weekly]);
    let estimate = weekly.quotient(&blocks, QuantityKind::Mean);
    (blocks, estimate.unwrap())
}

fn assert_near(value: Option<f64>, expected: f64) {
    let value = value.unwrap();
    assert!((value - expected).abs() < 1e-4, "{value} and {expected}");
}

#[test]
fn weeks_that_are_unlike_their_neighbours_are_units_of_their_own() {
    let weekly = ones(&[2.0, 4.0, 1.0, 5.0, 3.0, 3.0]);
    let (blocks, estimate) = mean(&weekly);
    // Residuals −1, 1, −2, 2, 0, 0: (−1 − 2 − 4) / 10.
    assert_eq!((blocks.weeks, blocks.of_weeks), (1, Some(-0.7)));
    assert!(blocks.are_independent());
    assert_eq!((estimate.mean, estimate.count), (3.0, 6));
    // se² = 6/5 · 10 ÷ 36; t with 5 degrees of freedom. The negative correlation narrows nothing.
    assert_near(estimate.half_width(), 2.570_58 * (1.0_f64 / 3.0).sqrt());
}

#[test]
fn weeks_of_different_size_have_the_interval_of_the_ratio_estimator() {
    let weeks = [
        (2.0, 10.0),
        (4.0, 10.0),
        (1.0, 2.0),
        (9.0, 30.0),
        (3.0, 15.0),
    ];
    let (blocks, estimate) = mean(&of(&weeks));
    assert!(blocks.of_weeks.unwrap() < 0.0);
    let plain = Estimate::quotient(&weeks, QuantityKind::Mean).unwrap();
    assert_eq!(estimate, plain);
}

#[test]
fn weeks_that_are_like_their_neighbours_are_put_together_in_twos() {
    let weekly = ones(&[1., 1., 1., 3., 3., 3., 1., 1., 1., 3., 3., 3.]);
    let (blocks, estimate) = mean(&weekly);
    // Residuals ∓1 in runs of three: (8 − 3) / 12; in twos −2, 0, 2, −2, 0, 2: −4 / 16.
    assert_near(blocks.of_weeks, 5.0 / 12.0);
    assert_eq!((blocks.weeks, blocks.of_blocks), (2, Some(-0.25)));
    assert_eq!((estimate.mean, estimate.count), (2.0, 6));
    // se² = 6/5 · 16 ÷ 12².
    assert_near(estimate.half_width(), 2.570_58 * (2.0_f64 / 15.0).sqrt());
}

#[test]
fn what_correlation_is_left_between_blocks_of_four_weeks_widens_the_interval() {
    let trend: Vec<f64> = (0..24).map(f64::from).collect();
    let (blocks, estimate) = mean(&ones(&trend));
    // Blocks of −40, −24, −8, 8, 24, 40 about their mean: 2,240 / 4,480.
    assert_eq!((blocks.weeks, blocks.of_blocks), (4, Some(0.5)));
    assert!(!blocks.are_independent());
    // se² = 6/5 · 4,480 · (1 + 2 · 0.5) ÷ 24².
    assert_near(
        estimate.half_width(),
        2.570_58 * (1.2 * 4_480.0 * 2.0_f64).sqrt() / 24.0,
    );
}

#[test]
fn fewer_than_five_blocks_carry_no_interval() {
    let four = ones(&[2.0, 4.0, 1.0, 5.0]);
    assert_eq!(mean(&four).1.interval, None);
    assert_eq!(mean(&four).1.mean, 3.0);
    let other = ones(&[1.0, 2.0, 3.0, 4.0]);
    let blocks = Blocks::of(&[&four, &other]);
    assert_eq!(four.more_than(&other, &blocks).unwrap().interval, None);
    // A week without anything between others is no unit, but it keeps them apart.
    let mut gap = Weekly::default();
    for (week, value) in [(0, 2.0), (1, 4.0), (3, 1.0), (4, 5.0)] {
        gap.add(week, value, 1.0);
    }
    let (blocks, estimate) = mean(&gap);
    assert_eq!(
        (estimate.count, estimate.interval, gap.units(1)),
        (4, None, 4)
    );
    // −1, 1, nothing, −2, 2.
    assert_eq!(blocks.of_weeks, Some(-0.5));
    assert_eq!(
        Weekly::default().quotient(&blocks, QuantityKind::Mean),
        None
    );
}

#[test]
fn blocks_are_not_made_longer_than_leaves_five() {
    let (blocks, estimate) = mean(&ones(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]));
    // Residuals −3.5 to 3.5: 26.25 / 42. Blocks of two weeks would be four.
    assert_eq!((blocks.weeks, blocks.of_blocks), (1, Some(0.625)));
    assert!(!blocks.are_independent());
    // se² = 8/7 · 42 · (1 + 2 · 0.625) ÷ 8², with 7 degrees of freedom.
    let variance = 8.0 / 7.0 * 42.0 * 2.25 / 64.0_f64;
    assert_near(estimate.half_width(), 2.364_62 * variance.sqrt());
}

#[test]
fn weeks_that_do_not_differ_carry_no_interval() {
    let (blocks, estimate) = mean(&ones(&[0.0; 8]));
    assert_eq!(
        (blocks.of_weeks, blocks.weeks, estimate.interval),
        (None, 1, None)
    );
}

#[test]
fn settings_are_compared_week_by_week() {
    let one = ones(&[1.0, 2.0, 3.0, 2.0, 2.0]);
    let two = of(&[(0.0, 1.0), (2.0, 2.0), (0.0, 1.0), (2.0, 2.0), (0.0, 2.0)]);
    let blocks = Blocks {
        weeks: 1,
        of_weeks: None,
        of_blocks: None,
    };
    let difference = one.more_than(&two, &blocks).unwrap();
    assert_eq!((difference.mean, difference.count), (1.5, 5));
    // −0.2, 0, 0.2, 0, 0 less −0.0625, 0.125, −0.0625, 0.125, −0.125, whose squares add up to
    // 0.1346875.
    assert_near(
        difference.half_width(),
        2.776_45 * (1.25 * 0.134_687_5_f64).sqrt(),
    );
    // What all weeks have more of is certain, however much weeks differ.
    let more = ones(&[1.5, 2.5, 3.5, 2.5, 2.5]);
    let certain = more.more_than(&one, &blocks).unwrap();
    assert_eq!(certain.mean, 0.5);
    assert!(certain.half_width().is_none_or(|half| half < 1e-9));
}

#[test]
fn the_setting_whose_weeks_are_most_alike_decides_for_all() {
    let alike = ones(&[1., 1., 1., 3., 3., 3., 1., 1., 1., 3., 3., 3.]);
    let unlike = ones(&[1., 3., 1., 3., 1., 3., 1., 3., 1., 3., 1., 3.]);
    assert_eq!(Blocks::of(&[&unlike]).weeks, 1);
    let both = Blocks::of(&[&unlike, &alike]);
    assert_eq!(both.weeks, 2);
    assert!(both.of_weeks.unwrap() > LARGEST_LAG);
}
