//! Parts that need licences beside their CPUs (Meltzer 2005, §2).

use bookahead_core::random::StreamSeed;
use bookahead_core::units::Seconds;
use bookahead_core::workload::CoRequest;

use super::interleaving::{check, run};
use super::whole_run::{empty_clusters, request, settings, simulate};
use crate::co_reservation::testutils::licensed_situation;
use crate::co_reservation::*;

#[test]
fn under_every_algorithm_that_reserves_two_requests_do_not_hold_one_licence_at_once() {
    let asked = |id, submit, earliest| CoRequest {
        licences: vec![0, 1],
        ..request(id, submit, (earliest, earliest + 100), 100, &[5, 5])
    };
    // Of two clusters with a licence each, the first two requests need one each at once, and have
    // it; for the third none is left; behind them both are free again.
    let requests = vec![
        asked(0, 0, 200),
        asked(1, 1, 200),
        asked(2, 2, 299),
        asked(3, 3, 300),
    ];
    let inputs = empty_clusters(2, 100, requests);
    for (algorithm, _, _) in Algorithm::ALL {
        if algorithm.row().queues {
            continue;
        }
        let mut settings = settings(*algorithm);
        settings.local.licences = 1;
        let run = simulate(&inputs, &settings, &StreamSeed::default());
        let granted = |it: &CoOutcome| it.verdict == CoVerdict::Granted;
        let granted: Vec<bool> = run.requests.iter().map(granted).collect();
        // A rigid request has one choice of clusters, and may miss the free licence.
        if *algorithm == Algorithm::Rigid {
            assert!(granted[0] && !granted[2], "{granted:?}");
        } else {
            assert_eq!(granted, [true, true, false, true], "{algorithm:?}");
        }
        let third = &run.requests[2];
        if algorithm.row().probes {
            // 2 clusters, 2 parts: what needs no licence is admitted at both.
            let lacking = third.probes.iter().map(|probe| probe.counts.licences);
            assert_eq!(lacking.sum::<u32>(), 2, "{algorithm:?}");
            assert_eq!(third.verdict, CoVerdict::NoCandidate);
        } else {
            let fates = third.attempts.iter().map(|it| it.fate.name());
            let mut fates: Vec<&str> = fates.collect();
            fates.retain(|fate| *fate != "cancelled");
            fates.dedup();
            assert_eq!(fates, ["refused-licences"], "{algorithm:?}");
        }
    }
}

#[test]
fn a_request_that_needs_more_licences_than_a_cluster_has_is_impossible_also_in_one_part() {
    let asked = CoRequest {
        licences: vec![2, 2],
        ..request(0, 0, (0, 1_000), 100, &[5, 5])
    };
    let inputs = empty_clusters(2, 100, vec![asked]);
    for (licences, unsplit, verdict) in [
        (1, false, CoVerdict::Impossible),
        (2, false, CoVerdict::Granted),
        (3, true, CoVerdict::Impossible),
        (4, true, CoVerdict::Granted),
    ] {
        let mut settings = settings(Algorithm::A2);
        settings.local.licences = licences;
        settings.search.unsplit = unsplit;
        let run = simulate(&inputs, &settings, &StreamSeed::default());
        assert_eq!(run.requests[0].verdict, verdict, "{licences} {unsplit}");
    }
}

/// Licences that parts hold in each second, by the slow way.
fn most_held(parts: &[crate::co_reservation::local::PartOutcome]) -> u32 {
    let mut held = vec![0; 4_000];
    for part in parts {
        let end = part.order.start + part.order.duration;
        let end = part.gone.map_or(end, |gone| gone.min(end));
        for second in part.order.start.0..end.0 {
            held[second as usize] += part.order.licences;
        }
    }
    held.into_iter().max().unwrap_or(0)
}

#[test]
fn at_no_second_are_more_licences_held_than_there_are_and_nothing_leaks() {
    let (mut lacking, mut refused, mut full, mut replaced) = (0, 0, 0, 0);
    for number in 0..1_000 {
        let mut situation = licensed_situation(number);
        if number.is_multiple_of(2) {
            situation.settings.second_thoughts = Some(SecondThoughts {
                share_percent: 70.0,
                every: Seconds(3 + number as i64 % 17),
                priority_percent: if number.is_multiple_of(4) { 40.0 } else { 0.0 },
                surcharge: 0.0,
            });
        }
        let (run, commands) = run(&situation);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&situation, &run, &commands);
        }));
        assert!(checked.is_ok(), "in situation {number}");
        let licences = situation.settings.local.licences;
        for parts in &run.parts {
            let most = most_held(parts);
            assert!(most <= licences, "{most} in situation {number}");
            full += u32::from(most == licences);
        }
        for outcome in &run.requests {
            let probes = outcome.probes.iter();
            lacking += probes.map(|probe| probe.counts.licences).sum::<u32>();
            let fates = outcome.attempts.iter().map(|it| it.fate.name());
            refused += fates.filter(|fate| *fate == "refused-licences").count();
            replaced += outcome.replaced_parts;
        }
    }
    assert!(
        lacking > 400 && refused > 25 && full > 200 && replaced > 5,
        "{lacking} {refused} {full} {replaced}"
    );
}

#[test]
fn licences_that_nobody_lacks_change_nothing() {
    for number in 0..200 {
        let mut plenty = licensed_situation(number);
        plenty.settings.local.licences = 1_000;
        let mut without = licensed_situation(number);
        without.settings.local.licences = 0;
        let mut requests = without.inputs.requests.to_vec();
        for request in &mut requests {
            request.licences = Vec::new();
        }
        without.inputs.requests = requests.into();
        let (mut found, _) = run(&plenty);
        let (expected, _) = run(&without);
        for outcome in &mut found.requests {
            outcome.request.licences = Vec::new();
        }
        for part in found.parts.iter_mut().flatten() {
            part.order.licences = 0;
        }
        assert_eq!(found, expected, "situation {number}");
    }
}
