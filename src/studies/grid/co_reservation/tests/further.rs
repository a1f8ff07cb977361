//! Parts that need licences and storage beside their CPUs (Meltzer 2005, §2).

use bookahead_core::random::StreamSeed;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{CoRequest, FurtherCounts, FurtherResource};

use super::interleaving::{check, run};
use super::whole_run::{empty_clusters, request, settings, simulate};
use crate::co_reservation::local::PartOutcome;
use crate::co_reservation::testutils::{Situation, further_situation};
use crate::co_reservation::*;

/// So much of one resource, and none of the other.
fn only(resource: FurtherResource, amount: u32) -> FurtherCounts {
    match resource {
        FurtherResource::Licences => FurtherCounts {
            licences: amount,
            storage_gb: 0,
        },
        FurtherResource::Storage => FurtherCounts {
            licences: 0,
            storage_gb: amount,
        },
    }
}

/// The fate of an order that is refused for want of it.
fn refused(resource: FurtherResource) -> &'static str {
    match resource {
        FurtherResource::Licences => "refused-licences",
        FurtherResource::Storage => "refused-storage",
    }
}

/// Of two clusters that have one of it each, the first two requests need one each at once, and have
/// it; for the third none is left; behind them both are free again.
fn two_do_not_hold_one_at_once(resource: FurtherResource, algorithm: Algorithm) {
    let asked = |id, submit, earliest| CoRequest {
        further: vec![only(resource, 0), only(resource, 1)],
        ..request(id, submit, (earliest, earliest + 100), 100, &[5, 5])
    };
    let requests = vec![
        asked(0, 0, 200),
        asked(1, 1, 200),
        asked(2, 2, 299),
        asked(3, 3, 300),
    ];
    let inputs = empty_clusters(2, 100, requests);
    let mut settings = settings(algorithm);
    settings.local.further = only(resource, 1);
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    let granted = |it: &CoOutcome| it.verdict == CoVerdict::Granted;
    let granted: Vec<bool> = run.requests.iter().map(granted).collect();
    // A rigid request has one choice of clusters, and may miss the free one.
    if algorithm == Algorithm::Rigid {
        assert!(granted[0] && !granted[2], "{granted:?}");
    } else {
        assert_eq!(granted, [true, true, false, true], "{algorithm:?}");
    }
    let third = &run.requests[2];
    if algorithm.row().probes {
        // 2 clusters, 2 parts: what needs nothing beside CPUs is admitted at both.
        for other in FurtherResource::ALL {
            let lacking = third
                .probes
                .iter()
                .map(|probe| probe.counts.lacking(other))
                .sum::<u32>();
            assert_eq!(lacking, 2 * u32::from(other == resource), "{algorithm:?}");
        }
        assert_eq!(third.verdict, CoVerdict::NoCandidate);
    } else {
        let fates = third.attempts.iter().map(|it| it.fate.name());
        let mut fates: Vec<&str> = fates.collect();
        fates.retain(|fate| *fate != "cancelled");
        fates.dedup();
        assert_eq!(fates, [refused(resource)], "{algorithm:?}");
    }
}

#[test]
fn under_every_algorithm_that_reserves_two_requests_do_not_hold_one_licence_or_gb_at_once() {
    for resource in FurtherResource::ALL {
        for (algorithm, _, _) in Algorithm::ALL {
            if !algorithm.row().queues {
                two_do_not_hold_one_at_once(resource, *algorithm);
            }
        }
    }
}

#[test]
fn a_request_that_needs_more_than_a_cluster_has_is_impossible_also_in_one_part() {
    for resource in FurtherResource::ALL {
        let asked = CoRequest {
            further: vec![only(resource, 2); 2],
            ..request(0, 0, (0, 1_000), 100, &[5, 5])
        };
        let inputs = empty_clusters(2, 100, vec![asked]);
        for (most, unsplit, verdict) in [
            (1, false, CoVerdict::Impossible),
            (2, false, CoVerdict::Granted),
            (3, true, CoVerdict::Impossible),
            (4, true, CoVerdict::Granted),
        ] {
            let mut settings = settings(Algorithm::A2);
            settings.local.further = only(resource, most);
            settings.search.unsplit = unsplit;
            let run = simulate(&inputs, &settings, &StreamSeed::default());
            assert_eq!(run.requests[0].verdict, verdict, "{most} {unsplit}");
        }
    }
}

/// The most of a resource that parts hold in any second, by the slow way.
fn most_held(parts: &[PartOutcome], resource: FurtherResource) -> u32 {
    let mut held = vec![0; 4_000];
    for part in parts {
        let end = part.order.start + part.order.duration;
        let end = part.gone.map_or(end, |gone| gone.min(end));
        for second in part.order.start.0..end.0 {
            held[second as usize] += part.order.further.of(resource);
        }
    }
    held.into_iter().max().unwrap_or(0)
}

#[test]
fn at_no_second_is_more_held_than_there_is_and_nothing_leaks() {
    let [mut lacking, mut full] = [[0_u32; 2]; 2];
    let mut refusals = [0_usize; 2];
    let mut replaced = 0;
    for number in 0..1_000 {
        let mut situation = further_situation(number);
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
        for (place, resource) in FurtherResource::ALL.into_iter().enumerate() {
            let there = situation.settings.local.further.of(resource);
            for parts in &run.parts {
                let most = most_held(parts, resource);
                assert!(most <= there, "{most} in situation {number}");
                full[place] += u32::from(most == there);
            }
            for outcome in &run.requests {
                let probes = outcome.probes.iter();
                lacking[place] += probes
                    .map(|probe| probe.counts.lacking(resource))
                    .sum::<u32>();
                let fates = outcome.attempts.iter().map(|it| it.fate.name());
                refusals[place] += fates.filter(|fate| *fate == refused(resource)).count();
            }
        }
        let outcomes = run.requests.iter();
        replaced += outcomes.map(|it| it.replaced_parts).sum::<u32>();
    }
    assert!(
        lacking.iter().all(|it| *it > 300) && refusals.iter().all(|it| *it > 20),
        "{lacking:?} {refusals:?}"
    );
    assert!(
        full.iter().all(|it| *it > 50) && replaced > 5,
        "{full:?} {replaced}"
    );
}

#[test]
fn counts_that_nobody_lacks_change_nothing() {
    for number in 0..200 {
        let mut plenty = further_situation(number);
        plenty.settings.local.further = FurtherCounts {
            licences: 1_000,
            storage_gb: 1_000,
        };
        let mut without = further_situation(number);
        without.settings.local.further = FurtherCounts::NONE;
        let mut requests = without.inputs.requests.to_vec();
        for request in &mut requests {
            request.further = Vec::new();
        }
        without.inputs.requests = requests.into();
        let (mut found, _) = run(&plenty);
        let (expected, _) = run(&without);
        for outcome in &mut found.requests {
            outcome.request.further = Vec::new();
        }
        for part in found.parts.iter_mut().flatten() {
            part.order.further = FurtherCounts::NONE;
        }
        assert_eq!(found, expected, "situation {number}");
    }
}

#[test]
fn a_second_count_that_the_same_parts_need_in_proportion_changes_nothing() {
    for number in 0..200 {
        let mut one = further_situation(number);
        let mut two = further_situation(number);
        let licences = |counts: &mut FurtherCounts| counts.storage_gb = 0;
        let in_proportion = |counts: &mut FurtherCounts| counts.storage_gb = 10 * counts.licences;
        let change = |situation: &mut Situation, change: fn(&mut FurtherCounts)| {
            change(&mut situation.settings.local.further);
            let mut requests = situation.inputs.requests.to_vec();
            let counts = requests.iter_mut().flat_map(|it| &mut it.further);
            counts.for_each(change);
            situation.inputs.requests = requests.into();
        };
        change(&mut one, licences);
        change(&mut two, in_proportion);
        let (expected, _) = run(&one);
        let (mut found, _) = run(&two);
        let requests = found.requests.iter_mut();
        let needed = requests.flat_map(|it| &mut it.request.further);
        let orders = found.parts.iter_mut().flatten();
        let held = orders.map(|part| &mut part.order.further);
        needed.chain(held).for_each(licences);
        assert_eq!(found, expected, "situation {number}");
    }
}
