//! The shortest notice of a reservation (Heine 2005, §2).

use super::*;
use crate::replanning::{PredictedNotice, ShortestNotice};

const MINUTE: i64 = 60;
/// When all jobs of [`waited`] are over.
const LATER: i64 = 2_000_000;

/// Jobs of four nodes that waited so many minutes on a machine of eight, each because of one of
/// eight nodes that did not wait.
fn waited(minutes: &[i64]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (place, wait) in (0..).zip(minutes) {
        let submit = place * 100_000;
        if *wait > 0 {
            let id = jobs.len() as u32;
            jobs.push(job(id, submit, 8, wait * MINUTE, wait * MINUTE));
        }
        let id = jobs.len() as u32;
        jobs.push(job(id, submit, 4, MINUTE, MINUTE));
    }
    jobs
}

fn verdicts(notice: ShortestNotice, requests: &[ReservationRequest]) -> Vec<RequestVerdict> {
    let settings = ReplanningSettings {
        notice: Some(notice),
        ..settings(Admission::Reject)
    };
    let jobs = waited(&[0, 10, 20, 60, 120, 180, 240, 360, 480, 1_440]);
    let ran = run(8, settings, &jobs, requests);
    assert_eq!(
        ran.totals.too_short_notice,
        (ran.reservations.iter())
            .filter(|it| it.verdict == RequestVerdict::TooShortNotice)
            .count() as u64
    );
    ran.reservations.iter().map(|it| it.verdict).collect()
}

fn asked(id: u32, nodes: u32, lead_minutes: i64) -> ReservationRequest {
    request(id, LATER, nodes, MINUTE, LATER + lead_minutes * MINUTE)
}

#[test]
fn a_lead_of_the_quantile_of_waits_is_long_enough_and_a_shorter_one_is_not() {
    let predicted = |factor| {
        ShortestNotice::Predicted(PredictedNotice {
            quantile: 0.8,
            last: 200,
            factor,
        })
    };
    let requests = [asked(0, 4, 300), asked(1, 4, 360), asked(2, 8, 0)];
    assert_eq!(
        verdicts(predicted(1.0), &requests),
        [
            RequestVerdict::TooShortNotice,
            RequestVerdict::Granted,
            // Jobs of its width did not wait.
            RequestVerdict::Granted,
        ]
    );
    let requests = [asked(0, 4, 719), asked(1, 4, 720)];
    assert_eq!(
        verdicts(predicted(2.0), &requests),
        [RequestVerdict::TooShortNotice, RequestVerdict::Granted]
    );
}

#[test]
fn only_the_last_waits_count() {
    let last_two = ShortestNotice::Predicted(PredictedNotice {
        quantile: 0.5,
        last: 2,
        factor: 1.0,
    });
    let requests = [asked(0, 4, 479), asked(1, 4, 480)];
    assert_eq!(
        verdicts(last_two, &requests),
        [RequestVerdict::TooShortNotice, RequestVerdict::Granted]
    );
}

#[test]
fn a_notice_is_looked_at_before_conflicts_and_after_what_is_impossible() {
    let requests = [
        asked(0, 8, 59),
        asked(1, 8, 60),
        asked(2, 8, 60),
        asked(3, 9, 0),
    ];
    assert_eq!(
        verdicts(ShortestNotice::Fixed(Seconds::HOUR), &requests),
        [
            RequestVerdict::TooShortNotice,
            RequestVerdict::Granted,
            RequestVerdict::ConflictsWithFixed,
            RequestVerdict::TooWide,
        ]
    );
}

#[test]
fn a_request_that_chooses_is_offered_starts_from_the_end_of_the_notice_on() {
    let chooses = ReservationRequest {
        wanted: WantedStart::From {
            earliest: Seconds(LATER),
            alpha: 0.0,
        },
        ..asked(0, 8, 0)
    };
    let settings = ReplanningSettings {
        notice: Some(ShortestNotice::Fixed(Seconds::HOUR)),
        ..settings(Admission::Holes)
    };
    let ran = run(8, settings, &[], &[chooses]);
    assert_eq!(ran.reservations[0].start, Some(Seconds(LATER + 3_600)));
}
