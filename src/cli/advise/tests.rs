use super::*;

#[test]
fn a_reservation_is_nodes_times_hours() {
    let of = |text: &str| text.parse::<Reservation>().ok();
    let hours = |nodes, hours| Some(Reservation { nodes, hours });
    assert_eq!(of("32x4"), hours(32, 4.0));
    assert_eq!(of("1 × 0.5"), hours(1, 0.5));
    for wrong in ["32", "0x4", "32x0", "32x-1", "32xNaN", "32x169", "x", "4h"] {
        assert_eq!(of(wrong), None, "{wrong}");
    }
}

#[test]
fn a_penalty_ratio_is_a_number_from_0_on() {
    assert_eq!(ratio("0"), Ok(0.0));
    assert_eq!(ratio("2.5"), Ok(2.5));
    for wrong in ["-1", "inf", "NaN", "one"] {
        assert!(ratio(wrong).is_err(), "{wrong}");
    }
}
