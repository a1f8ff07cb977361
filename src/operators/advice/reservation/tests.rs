use super::trials::shift;
use super::*;

#[test]
fn a_start_has_its_day_and_hour_on_the_machines_clock() {
    // 1996-09-23 (a Monday) 13:20:31 UTC is 843,484,831; an hour later in Stockholm, which is
    // 14 h.
    let trial = |start| Trial {
        lead: 1.0,
        start: start + shift(Some(3_600)),
        cost: None,
    };
    let monday = trial(843_484_831);
    assert_eq!((monday.day(), monday.hour()), (0, 14));
    let sunday = trial(843_484_831 - DAY);
    assert_eq!((sunday.day(), sunday.hour()), (6, 14));
    assert_eq!(monday.week(), sunday.week() + 1);
}

#[test]
fn costs_are_means_over_what_was_granted_with_weeks_as_units() {
    let trial = |week: i64, cost| Trial {
        lead: 1.0,
        start: week * WEEK,
        cost,
    };
    let trials = [
        trial(0, Some(2.0)),
        trial(0, Some(4.0)),
        trial(1, Some(9.0)),
        trial(1, None),
    ];
    let week = Week {
        kind: Kind::Planned,
        clock: None,
        trials: &trials,
    };
    let (cost, refused, asked) = week.cost(1.0, trials.iter());
    // (2 + 4 + 9) / 3; two weeks, which are too few for an interval.
    assert_eq!(cost.and_then(|cost| cost.interval), None);
    assert_eq!(
        (cost.unwrap().mean, cost.unwrap().count, asked),
        (5.0, 2, 4)
    );
    assert_eq!(refused.unwrap().mean, 25.0);
}
