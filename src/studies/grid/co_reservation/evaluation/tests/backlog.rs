//! Backlog times beside what happened.

use super::*;
use crate::co_reservation::local::BacklogWork;

#[test]
fn a_backlog_time_is_held_against_the_drain_and_against_true_run_times() {
    // T13 with a part of 5 CPUs over [120, 160); the jobs end at 60, 210, 90 and 240.
    let (inputs, mut run) = t13();
    let probe = |at, backlog| ProbeCounts {
        at: Seconds(at),
        backlog_now: Seconds(backlog),
        ..ProbeCounts::default()
    };
    // The jobs are submitted at 0, after a query of that instant. At 1 s all four are in the
    // system, 239 s before the last end; (6·60 + 8·50 + 4·90 + 4·30) ÷ 10 = 124 s. At 130 s the
    // second and the fourth, 110 s, and the part: (400 + 120 + 5·40) ÷ 10 = 72 s.
    run.requests[0].probes = vec![probe(0, 36), probe(130, 146), probe(1, 131)];
    let hours = |seconds: f64| seconds / 3_600.0;
    let measured = co_reservation_measures(&inputs, &CoReservationSettings::default(), &run).0;
    let error = [36.0, 131.0 - 239.0, 146.0 - 110.0];
    near(
        measured.get("backlog_error_hours"),
        hours(error.iter().sum::<f64>() / 3.0),
    );
    let distance = error.iter().map(|it| it.abs()).sum::<f64>() / 3.0;
    near(
        measured.get("backlog_absolute_error_hours"),
        hours(distance),
    );
    near(
        measured.get("backlog_work_error_hours"),
        hours((36.0 + 7.0 + 74.0) / 3.0),
    );
    // Of what runs, the rest: at 1 s the first and the third job run for 1 s, at 130 s the part for
    // 10 s.
    let mut rest = CoReservationSettings::default();
    rest.local.backlog_work = BacklogWork::Remaining;
    let measured = co_reservation_measures(&inputs, &rest, &run).0;
    near(
        measured.get("backlog_work_error_hours"),
        hours((36.0 + 7.0 + 1.0 + 74.0 + 5.0) / 3.0),
    );
    // With half of the CPUs for jobs and without parts: 248 and 104 s.
    let mut divided = CoReservationSettings::default();
    divided.local.partition = Some(0.5);
    let measured = co_reservation_measures(&inputs, &divided, &run).0;
    near(
        measured.get("backlog_work_absolute_error_hours"),
        hours((36.0 + (248.0 - 131.0) + (146.0 - 104.0)) / 3.0),
    );
}
