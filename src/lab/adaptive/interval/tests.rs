use super::*;

#[test]
fn pococks_constants_are_the_published_ones() {
    // Pocock 1977, Table 1, two-sided 5 %; Jennison and Turnbull 1999, Table 2.1.
    for (looks, constant) in [
        (1, 1.960),
        (2, 2.178),
        (4, 2.361),
        (5, 2.413),
        (8, 2.512),
        (20, 2.672),
    ] {
        let computed = pocock(0.05, looks);
        assert!((computed - constant).abs() < 0.001, "{looks}: {computed}");
    }
}

#[test]
fn the_mixture_is_where_its_likelihood_ratio_is_one_over_the_error() {
    let interval = RepeatedInterval::new(IntervalRule::Mixture, 0.95, 10, 5, 100);
    for count in [10_u32, 20, 64, 300] {
        let number = f64::from(count);
        let t = interval.half_width(count, 1.0) * number.sqrt();
        let (degrees, information) = (number - 1.0, 1.0 + number / 8.0);
        let ratio = 0.5 * (1.0 / information).ln()
            + number / 2.0
                * ((1.0 + t * t / degrees) / (1.0 + t * t / (information * degrees))).ln();
        assert!((ratio - 20.0_f64.ln()).abs() < 1e-9, "{count}: {ratio}");
    }
}

#[test]
fn the_sequence_is_the_published_one() {
    // t = 64, tightest at 32, 95 %: ρ² = (2 ln 20 + ln(1 + 2 ln 20)) / 32 by hand.
    let interval = RepeatedInterval::new(IntervalRule::Sequence, 0.95, 16, 8, 64);
    let spread = (2.0 * 20.0_f64.ln() + (1.0 + 2.0 * 20.0_f64.ln()).ln()) / 32.0;
    let tr = 64.0 * spread;
    let width = (2.0 * (tr + 1.0) / (64.0 * tr) * ((tr + 1.0).sqrt() * 20.0).ln()).sqrt();
    assert!((interval.half_width(64, 1.0) - width).abs() < 1e-12);
}

#[test]
fn no_interval_stands_on_one_replication_and_more_replications_narrow_it() {
    for rule in [
        IntervalRule::Mixture,
        IntervalRule::Sequence,
        IntervalRule::GroupSequential,
    ] {
        let interval = RepeatedInterval::new(rule, 0.95, 16, 8, 256);
        assert_eq!(interval.half_width(1, 1.0), f64::INFINITY, "{rule:?}");
        let widths: Vec<f64> = (16..256)
            .map(|count| interval.half_width(count, 1.0))
            .collect();
        assert!(widths.is_sorted_by(|one, next| one > next), "{rule:?}");
    }
}
