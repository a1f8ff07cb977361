use super::*;
use bookahead_core::scheduling::measures::QuantityKind;

fn of(values: &[f64], kind: QuantityKind) -> Estimate {
    Estimate::of_kind(values, kind).unwrap()
}

#[test]
fn quantiles_of_student_t_are_those_of_decision_a_39() {
    for (count, expected) in [
        (2, 12.706),
        (3, 4.303),
        (5, 2.776),
        (20, 2.093),
        (60, 2.001),
    ] {
        let t = student_t_95(count).unwrap();
        assert!((t - expected).abs() < 5e-4, "{count}: {t}");
    }
    assert_eq!(student_t_95(1), None);
    assert_eq!(student_t_95(0), None);
}

#[test]
fn the_interval_of_a_mean_is_t_times_the_standard_error() {
    // 10, 12, 14: mean 12, s = 2, t = 4.3027, half width 4.3027 · 2 / √3 = 4.968.
    let estimate = of(&[10.0, 14.0, 12.0], QuantityKind::Mean);
    assert!((estimate.half_width().unwrap() - 4.9683).abs() < 1e-4);
    assert!((estimate.low().unwrap() - 7.0317).abs() < 1e-4);
    // t = 12 / (2 / √3) = 10.392 with two degrees of freedom.
    assert!((estimate.p_value().unwrap() - 0.009_133).abs() < 1e-6);
    assert!(estimate.is_significant());
    let single = of(&[12.0], QuantityKind::Mean);
    assert_eq!((single.interval, single.p_value()), (None, None));
    assert_eq!(Estimate::of(&[]), None);
}

#[test]
fn a_p_value_is_below_5_percent_exactly_where_the_interval_leaves_0_out() {
    // From nothing to far above 0, even and skewed, of few and of enough for Hall's correction.
    let shapes: [fn(u32) -> f64; 3] = [
        |at| f64::from(at % 4) / 4.0,
        |at| {
            if at % 5 == 0 {
                1.0
            } else {
                0.01 * f64::from(at % 3)
            }
        },
        |_| 0.0,
    ];
    for kind in [
        QuantityKind::Mean,
        QuantityKind::Signed,
        QuantityKind::Fraction,
        QuantityKind::Percent,
        QuantityKind::SkewedSum,
        QuantityKind::RareCount,
    ] {
        let mut tested = 0;
        for (shape, count) in shapes.iter().flat_map(|shape| [(shape, 6), (shape, 24)]) {
            for shift in 0..100 {
                let shift = f64::from(shift) / 100.0
                    - if kind == QuantityKind::Signed {
                        0.5
                    } else {
                        0.0
                    };
                let values: Vec<f64> = (0..count).map(|at| shift + shape(at)).collect();
                let estimate = of(&values, kind);
                let Some(p) = estimate.p_value() else {
                    continue;
                };
                tested += 1;
                let interval = estimate.interval.unwrap();
                assert_eq!(p < 0.05, !interval.contains(0.0), "{kind:?}: {values:?}");
            }
        }
        // What is on another scale than 0 has no p-value.
        let has_zero = [QuantityKind::Mean, QuantityKind::Signed].contains(&kind);
        assert!(tested > 0 || !has_zero, "{kind:?}");
    }
    // Student's t would give 0.09, although the interval of the share leaves 0 out.
    let share = of(&[0.0, 0.02, 0.02, 0.04], QuantityKind::Fraction);
    assert!(share.is_significant() && share.p_value().is_none());
}

#[test]
fn replications_without_any_difference_have_no_interval_and_no_p_value() {
    // A deterministic simulation that runs five times shows nothing of a sixth workload.
    for values in [[31.13; 5], [0.0; 5], [1.0 / 3.0; 5]] {
        let estimate = of(&values, QuantityKind::Mean);
        assert_eq!((estimate.interval, estimate.p_value()), (None, None));
        assert!(!estimate.is_significant());
        assert_eq!(of(&values, QuantityKind::Percent).interval, None);
    }
    // A sum of thirds differs from its parts in the last bit.
    let rounded = of(&[0.1 + 0.2, 0.3, 0.3], QuantityKind::Mean);
    assert_eq!(rounded.interval, None);
}

#[test]
fn the_interval_of_a_share_stays_between_none_and_all() {
    // p = 0.02, s = 0.02, n = 4: logit half width 3.1824 · 0.02 / 2 / (0.02 · 0.98) = 1.6237 about
    // ln(0.02 / 0.98) = −3.8918, so from 1 / (1 + e^5.5155) to 1 / (1 + e^2.2681).
    let values = [0.0, 0.02, 0.02, 0.04];
    let deviation = (0.0008_f64 / 3.0).sqrt();
    let half = 3.182_446 * deviation / 2.0 / (0.02 * 0.98);
    let share = of(&values, QuantityKind::Fraction);
    let centre = (0.02_f64 / 0.98).ln();
    assert!((share.low().unwrap() - 1.0 / (1.0 + (half - centre).exp())).abs() < 1e-7);
    assert!((share.high().unwrap() - 1.0 / (1.0 + (-half - centre).exp())).abs() < 1e-7);
    assert!(share.low().unwrap() > 0.0 && share.half_width().is_none());
    let percent = of(&values.map(|value| 100.0 * value), QuantityKind::Percent);
    assert!((percent.low().unwrap() - 100.0 * share.low().unwrap()).abs() < 1e-9);
}

#[test]
fn a_count_that_was_never_seen_may_still_happen() {
    // −ln 0.05 / 8 = 0.3745: a Poisson count of that mean is 0 in eight replications once in
    // twenty.
    let never = of(&[0.0; 8], QuantityKind::RareCount);
    assert!(never.is_unseen());
    assert!((never.high().unwrap() - 0.374_466_5).abs() < 1e-6);
    assert_eq!(of(&[0.0], QuantityKind::RareCount).interval, None);
    // 0, 1, 2, 1: mean 1, s = 0.8165, t = 3.1824: factor exp(1.2992) = 3.6665.
    let seen = of(&[0.0, 1.0, 2.0, 1.0], QuantityKind::RareCount);
    assert!((seen.high().unwrap() - 3.6665).abs() < 1e-3);
    assert!((seen.low().unwrap() - 1.0 / 3.6665).abs() < 1e-4);
}

#[test]
fn a_skewed_sum_has_an_interval_from_twenty_replications_on() {
    let values: Vec<f64> = (0..20)
        .map(|at| if at % 5 == 0 { 100.0 } else { f64::from(at) })
        .collect();
    assert_eq!(of(&values[..19], QuantityKind::SkewedSum).interval, None);
    let sum = of(&values, QuantityKind::SkewedSum);
    let plain = of(&values, QuantityKind::Mean);
    // Skewed to the right: both ends lie higher than those of Student's t.
    assert!(sum.low() > plain.low() && sum.high() > plain.high());
    assert!(sum.half_width().is_none());
    // Values that lie evenly about their mean have no skewness, and Hall's interval is Student's.
    let even: Vec<f64> = (0..20).map(f64::from).collect();
    let (hall, student) = (
        of(&even, QuantityKind::SkewedSum),
        of(&even, QuantityKind::Mean),
    );
    assert!((hall.low().unwrap() - student.low().unwrap()).abs() < 1e-9);
}

#[test]
fn the_interval_of_a_quotient_is_over_clusters_of_different_size() {
    // 2 of 10 and 4 of 10: p = 0.3; residuals ∓1; se² = 2/1 · 2 ÷ 400 = 0.01.
    let ratio = |clusters: &[(f64, f64)]| Estimate::quotient(clusters, QuantityKind::Signed);
    let share = ratio(&[(2.0, 10.0), (4.0, 10.0)]).unwrap();
    assert!((share.mean - 0.3).abs() < 1e-12);
    assert!((share.half_width().unwrap() - 12.7062 * 0.1).abs() < 1e-4);
    // Equal clusters: the interval of the mean of their shares.
    let shares = [(1.0, 5.0), (2.0, 5.0), (4.0, 5.0)];
    let (quotient, mean) = (
        ratio(&shares).unwrap(),
        Estimate::of(&[0.2, 0.4, 0.8]).unwrap(),
    );
    assert!((quotient.mean - mean.mean).abs() < 1e-12);
    assert!((quotient.half_width().unwrap() - mean.half_width().unwrap()).abs() < 1e-12);
    // Copies of a cluster's jobs narrow nothing: twice the jobs in each, the same interval.
    let doubled = ratio(&shares.map(|(part, whole)| (2.0 * part, 2.0 * whole))).unwrap();
    assert!((doubled.half_width().unwrap() - quotient.half_width().unwrap()).abs() < 1e-12);
    assert_eq!(ratio(&[(3.0, 10.0)]).unwrap().interval, None);
    assert_eq!(ratio(&[(0.0, 9.0), (0.0, 7.0)]).unwrap().interval, None);
    assert_eq!(ratio(&[]), None);
    // As a share its interval stays within 0 and 1.
    let share = Estimate::quotient(&shares, QuantityKind::Fraction).unwrap();
    assert!(share.low().unwrap() > 0.0 && share.high().unwrap() < 1.0);
}

#[test]
fn the_means_of_independent_samples_have_the_interval_of_welch_and_satterthwaite() {
    // The numbers of R's t.test(second, first) and of scipy's ttest_ind: t = 2.1640 with 4.0280
    // degrees of freedom.
    let first = [1.0, 2.0, 3.0, 4.0, 5.0];
    let second = [3.5, 5.5, 7.5, 11.5];
    let welch = Welch::of(&first, &second).unwrap();
    assert_eq!((welch.difference.mean, welch.difference.count), (4.0, 4));
    let half = welch.difference.half_width().unwrap();
    assert!((half - 5.118_027_744).abs() < 1e-6, "{half}");
    let p = welch.p_value.unwrap();
    assert!((p - 0.095_980_359_5).abs() < 1e-8, "{p}");
    // Without spread, or with one value, nothing can be said of chance.
    for other in [&[3.0][..], &[]] {
        let welch = Welch::of(&[1.0, 2.0], other);
        assert_eq!(welch.and_then(|welch| welch.p_value), None);
    }
    assert_eq!(Welch::of(&[1.0, 1.0], &[2.0, 2.0]).unwrap().p_value, None);
}

#[test]
fn holm_asks_more_of_the_smallest_p_value_the_more_there_are() {
    assert_eq!(holm(&[0.04]), [0.04]);
    // 2 · 0.03, and the larger one is never below the smaller one.
    assert_eq!(holm(&[0.04, 0.03]), [0.06, 0.06]);
    assert_eq!(holm(&[0.04, 0.02]), [0.04, 0.04]);
    assert_eq!(holm(&[0.25, 0.5, 0.9]), [0.75, 1.0, 1.0]);
    assert!(holm(&[]).is_empty());
}

#[test]
fn the_jackknife_of_a_mean_is_its_interval_and_that_of_a_ratio_is_the_one_by_hand() {
    let values = [10.0, 14.0, 12.0, 17.0];
    let mean = of(&values, QuantityKind::Mean);
    let without = values.map(|value| (53.0 - value) / 3.0);
    let jackknife = Estimate::jackknife(53.0 / 4.0, &without).unwrap();
    assert!((jackknife.half_width().unwrap() - mean.half_width().unwrap()).abs() < 1e-9);
    // 1 of 2, 3 of 4, 2 of 6: 0.5, and without each 5/10, 3/8, 4/6 with the mean 37/72. se² = 2/3 ·
    // (1² + 10² + 11²) ÷ 72², t = 4.302653.
    let ratio = Estimate::jackknife(0.5, &[0.5, 0.375, 4.0 / 6.0]).unwrap();
    let standard_error = (2.0_f64 / 3.0 * 222.0).sqrt() / 72.0;
    assert_eq!((ratio.count, ratio.mean), (3, 0.5));
    assert!((ratio.half_width().unwrap() - 4.302_653 * standard_error).abs() < 1e-6);
    assert!((ratio.deviation.unwrap() - standard_error * 3.0_f64.sqrt()).abs() < 1e-12);
    // No interval of one battery or of equal ones; nothing of what is not defined.
    assert_eq!(Estimate::jackknife(0.3, &[0.3; 4]).unwrap().interval, None);
    assert_eq!(Estimate::jackknife(0.3, &[0.2]).unwrap().interval, None);
    assert_eq!(Estimate::jackknife(0.3, &[0.2, f64::NAN]), None);
    assert_eq!(Estimate::jackknife(0.3, &[]), None);
}

#[test]
fn a_choice_is_judged_on_the_battery_that_did_not_choose() {
    // Means 120.3, 137, 123.3: all three choose the second. Without the first battery the second
    // setting has 281 of the others' 251 and 280, and earns 130 there; without the second battery
    // it has 280, and earns 131; without the third the third setting has 270, the second 261: it
    // earns 100, not 150.
    let settings = [
        vec![110.0, 122.0, 129.0],
        vec![130.0, 131.0, 150.0],
        vec![90.0, 180.0, 100.0],
    ];
    let choice = Choice::of(&settings).unwrap();
    assert_eq!((choice.settings, choice.batteries), (3, 3));
    assert_eq!(choice.same, 137.0);
    assert!((choice.others - (130.0 + 131.0 + 100.0) / 3.0).abs() < 1e-12);
    assert!((choice.percent().unwrap() - 100.0 * 50.0 / 361.0).abs() < 1e-12);
    // A setting that is best everywhere is worth what it shows.
    let clear = [vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 4.0]];
    assert_eq!(Choice::of(&clear).unwrap().optimism(), 0.0);
    // One setting with two names, two batteries, other batteries: no choice, or none that can be
    // judged.
    let twice = [vec![1.0, 2.0, 3.0], vec![1.0, 2.0, 3.0]];
    assert_eq!(Choice::of(&twice), None);
    assert_eq!(Choice::of(&[vec![1.0, 2.0], vec![2.0, 1.0]]), None);
    assert_eq!(Choice::of(&[vec![1.0, 2.0, 3.0], vec![2.0, 1.0]]), None);
    assert_eq!(Choice::of(&[]), None);
    // What loses money has no percentage.
    let losses = [vec![-3.0, -1.0, -2.0], vec![-1.0, -3.0, -2.0]];
    let loss = Choice::of(&losses).unwrap();
    assert_eq!(loss.percent(), None);
    assert!(loss.optimism() > 0.0);
}

#[test]
fn what_cannot_be_negative_has_no_interval_below_0() {
    // 1, 2, 9: mean 4, s = √19 = 4.3589, t = 4.3027: half width 10.828, beyond the mean, so from
    // 4 / exp(10.828 / 4) to 4 · exp(10.828 / 4).
    let waits = [1.0, 2.0, 9.0];
    let seconds = of(&waits, QuantityKind::Mean);
    let factor = (10.828_2_f64 / 4.0).exp();
    assert!((seconds.low().unwrap() - 4.0 / factor).abs() < 1e-4);
    assert!((seconds.high().unwrap() / (4.0 * factor) - 1.0).abs() < 1e-4);
    assert_eq!(seconds.half_width(), None);
    // What may be negative, and what stays above 0, keep Student's t.
    assert!(of(&waits, QuantityKind::Signed).low().unwrap() < 0.0);
    assert!(
        of(&[10.0, 14.0, 12.0], QuantityKind::Mean)
            .half_width()
            .is_some()
    );
    // Two large sums among nothing: Hall's correction would begin below 0.
    let mut sums = vec![0.0; 18];
    sums.extend([4.0, 5.0]);
    for kind in [
        QuantityKind::SkewedSum,
        QuantityKind::Mean,
        QuantityKind::RareCount,
    ] {
        assert!(of(&sums, kind).low().unwrap() > 0.0, "{kind:?}");
    }
}

#[test]
fn neighbours_that_are_alike_count_as_fewer() {
    // 1, 2, 3, 4, 5, 6 about 3.5: products 3.75 + 0.75 − 0.25 + 0.75 + 3.75 = 8.75, squares 17.5.
    let rising = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let neighbours = Neighbours::of(&rising, QuantityKind::Signed).unwrap();
    assert!((neighbours.correlation - 0.5).abs() < 1e-12);
    // 6 · 0.5 / 1.5.
    assert!((neighbours.effective - 2.0).abs() < 1e-12);
    // Blocks of two: means 1.5, 2.5, 3.5, 4.5, 5.5 and, around the end, 3.5; squares about 3.5 are
    // 4 + 1 + 0 + 1 + 4 + 0 = 10. Variance 2/6 · 10/6 · 6/4 = 5/6; t with two degrees is 4.3027.
    assert_eq!(neighbours.block, 2);
    let half = (neighbours.interval.high - neighbours.interval.low) / 2.0;
    assert!(
        (half - 4.302_653 * (5.0_f64 / 6.0).sqrt()).abs() < 1e-5,
        "{half}"
    );
    // In the other direction it is the same series.
    let mut falling = rising;
    falling.reverse();
    assert_eq!(
        Neighbours::of(&falling, QuantityKind::Signed)
            .unwrap()
            .block,
        2
    );
    // Neighbours that take turns are no fewer, and blocks of one are Student's t.
    let turns = [1.0, 6.0, 2.0, 5.0, 3.0, 4.0];
    let neighbours = Neighbours::of(&turns, QuantityKind::Signed).unwrap();
    assert!(neighbours.correlation < 0.0);
    assert_eq!((neighbours.effective, neighbours.block), (6.0, 1));
    let student = of(&turns, QuantityKind::Signed);
    assert!((neighbours.interval.low - student.low().unwrap()).abs() < 1e-9);
}

#[test]
fn a_claim_rests_on_the_wider_of_the_intervals_about_the_batteries_and_about_the_log() {
    let by_replication = |values: &[f64]| (3..).zip(values.iter().copied()).collect();
    let of = |values: &[f64], are_neighbours| {
        Replicated::of(
            &by_replication(values),
            QuantityKind::Signed,
            are_neighbours,
        )
        .unwrap()
    };
    // 3.5 ± 1.9633 about these batteries; in blocks of two the standard error is √(5/6), t = 3.834
    // with two degrees of freedom, and p = 1 − √(14.7 / 16.7).
    let rising = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let log = of(&rising, true);
    assert!((log.p_value().unwrap() - (1.0 - (14.7_f64 / 16.7).sqrt())).abs() < 1e-6);
    assert!(!log.is_significant() && log.estimate.is_significant());
    assert_eq!(log.interval(), log.log.map(|log| log.interval));
    // Without neighbours, and where a battery is missing between them, there is one interval.
    let alone = of(&rising, false);
    assert!(alone.is_significant() && alone.log.is_none());
    assert_eq!(alone.p_value(), alone.estimate.p_value());
    let mut gap = by_replication(&rising);
    gap.insert(20, 3.0);
    let gap = Replicated::of(&gap, QuantityKind::Signed, true).unwrap();
    assert_eq!((gap.log, gap.estimate.count), (None, 7));
    // p follows the interval wherever it ends.
    for shift in 0..80 {
        let values = rising.map(|value| value - f64::from(shift) / 10.0);
        let shifted = of(&values, true);
        assert_eq!(shifted.p_value().unwrap() < 0.05, shifted.is_significant());
    }
    // Neighbours that take turns do not make it narrower.
    let turns = of(&[1.0, 6.0, 2.0, 5.0, 3.0, 4.0], true);
    assert!((turns.p_value().unwrap() - turns.estimate.p_value().unwrap()).abs() < 1e-9);
    // Batteries without any difference have neither.
    assert_eq!(of(&[2.0; 6], true).p_value(), None);
}

#[test]
fn too_few_neighbours_and_equal_ones_say_nothing_of_each_other() {
    assert_eq!(Neighbours::of(&[1.0, 2.0, 3.0], QuantityKind::Signed), None);
    assert_eq!(Neighbours::of(&[7.0; 9], QuantityKind::Signed), None);
    // A share about the log stays between none and all.
    let shares = Neighbours::of(&[0.01, 0.02, 0.2, 0.3], QuantityKind::Fraction).unwrap();
    assert!(shares.interval.low > 0.0 && shares.interval.high < 1.0);
}
