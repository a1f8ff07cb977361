//! Requests that take parts from others (Meltzer 2005, §7.3).

use bookahead_core::random::StreamSeed;
use bookahead_core::units::Seconds;

use super::interleaving::{check, run};
use super::whole_run::{empty_clusters, request, settings, simulate};
use crate::co_reservation::evaluation::co_reservation_measures;
use crate::co_reservation::testutils::situation;
use crate::co_reservation::*;

fn half(priority_percent: f64) -> SecondThoughts {
    SecondThoughts {
        share_percent: 100.0,
        every: Seconds::HOUR,
        priority_percent,
        surcharge: 0.0,
    }
}

/// A seed under which the first request is renegotiable and the second has priority.
fn first_yields_to_second() -> StreamSeed {
    let requests = (0..2).map(|id| request(id, 0, (0, 9), 9, &[1])).collect();
    let inputs = empty_clusters(1, 10, requests);
    let mut settings = settings(Algorithm::A2);
    settings.second_thoughts = Some(half(50.0));
    let seeds = (0..64).map(|seed| StreamSeed {
        seed,
        ..StreamSeed::default()
    });
    let wanted = [RequestClass::Renegotiable, RequestClass::Priority];
    let mut seeds = seeds.filter(|seed| {
        let run = simulate(&inputs, &settings, seed);
        run.requests.iter().map(|it| it.class).eq(wanted)
    });
    seeds.next().expect("one of 64 draws it")
}

/// Addendum M5: 60 CPUs from 1,000 to 2,000 s, 50 from 1,500 to 2,500 s on a cluster of 100.
fn p_and_q(deadline: i64) -> (CoOutcome, CoOutcome, f64) {
    let requests = vec![
        request(0, 0, (1_000, deadline), 1_000, &[60]),
        request(1, 10, (1_500, 2_500), 1_000, &[50]),
    ];
    let inputs = empty_clusters(1, 100, requests);
    let mut settings = settings(Algorithm::A2Sorted);
    settings.search.minimum_step = Seconds(500);
    settings.second_thoughts = Some(half(50.0));
    let run = simulate(&inputs, &settings, &first_yields_to_second());
    let (measured, _) = co_reservation_measures(&inputs, &settings, &run);
    let [p, q] = &run.requests[..] else {
        panic!("two requests");
    };
    (
        p.clone(),
        q.clone(),
        measured.get("co_utility_mean").unwrap(),
    )
}

#[test]
fn who_is_displaced_moves_to_where_its_cpus_are_free() {
    let (p, q, utility) = p_and_q(4_000);
    assert_eq!(
        (q.start, q.class),
        (Some(Seconds(1_500)), RequestClass::Priority)
    );
    assert_eq!(
        (p.first_start, p.start),
        (Some(Seconds(1_000)), Some(Seconds(2_500)))
    );
    assert_eq!((p.displacements, p.lost_parts, p.replaced_parts), (1, 1, 1));
    let fates: Vec<_> = p.attempts.iter().map(|attempt| attempt.fate).collect();
    assert_eq!(fates, [AttemptFate::Displaced, AttemptFate::Reserved]);
    assert_eq!(p.verdict, CoVerdict::Granted);
    // 1,500 of 2,000 s later, and at once.
    assert_eq!(utility, (0.25 + 1.0) / 2.0);
}

#[test]
fn who_is_displaced_and_finds_no_other_start_pays_nothing() {
    let (p, q, utility) = p_and_q(3_000);
    assert_eq!(q.start, Some(Seconds(1_500)));
    assert_eq!((p.displacements, p.lost_parts, p.replaced_parts), (1, 1, 0));
    assert_eq!((p.cost, p.first_start), (None, Some(Seconds(1_000))));
    assert_eq!(utility, 0.5);
}

/// Both parts of the first request are given back, though one of them was in nobody's way.
#[test]
fn all_parts_of_a_request_move_together() {
    let requests = vec![
        request(0, 0, (1_000, 4_000), 1_000, &[60, 60]),
        request(1, 10, (1_500, 2_500), 1_000, &[50]),
    ];
    let inputs = empty_clusters(2, 100, requests);
    let mut settings = settings(Algorithm::A2Sorted);
    settings.search.minimum_step = Seconds(500);
    settings.second_thoughts = Some(half(50.0));
    let run = simulate(&inputs, &settings, &first_yields_to_second());
    let p = &run.requests[0];
    assert_eq!(p.start, Some(Seconds(2_500)));
    let kept: Vec<_> = run
        .parts
        .iter()
        .flatten()
        .filter(|part| part.gone.is_none() && part.order.request.0 == 0)
        .map(|part| part.order.start)
        .collect();
    assert_eq!(kept, [Seconds(2_500); 2]);
    assert_eq!((p.messages.granted, p.messages.cancelled), (4, 1));
}

#[test]
fn nothing_leaks_where_requests_take_parts_from_others() {
    let (mut displaced, mut again) = (0, 0);
    for number in 0..600 {
        let mut situation = situation(number);
        situation.settings.second_thoughts = Some(SecondThoughts {
            share_percent: if number % 3 == 0 { 70.0 } else { 100.0 },
            every: Seconds(3 + number as i64 % 17),
            priority_percent: 40.0,
            surcharge: 0.0,
        });
        let (run, commands) = run(&situation);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&situation, &run, &commands)
        }));
        assert!(checked.is_ok(), "in situation {number}");
        for outcome in &run.requests {
            let is_displaced = outcome.displacements > 0;
            assert!(!is_displaced || outcome.class == RequestClass::Renegotiable);
            displaced += u32::from(is_displaced);
            again += u32::from(is_displaced && outcome.lost_parts == outcome.replaced_parts);
        }
    }
    assert!(displaced > 30 && again > 5, "{displaced} {again}");
}
