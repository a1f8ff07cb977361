//! Random small grids, random requests at the same time, late and lost messages, failures: whatever
//! happens, nothing leaks.
//!
//! Everything is judged by what the clusters say became of parts, not by what the broker believes.

use bookahead_core::random::StreamSeed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bookahead_core::kernel::drive;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{CoRequestId, JobId};

use crate::co_reservation::local::{ClusterId, LocalService, PartOutcome};
use crate::co_reservation::scene::scene_of;
use crate::co_reservation::testutils::{Situation, situation};
use crate::co_reservation::watched_cluster::{Command, Record, WatchedCluster};
use crate::co_reservation::*;

pub(super) fn run(situation: &Situation) -> (CoReservationRun, Vec<Command>) {
    let Situation {
        inputs,
        settings,
        jitter,
    } = situation;
    let record = Record::default();
    let watched = (0..).zip(clusters(inputs, settings).unwrap());
    let services = watched
        .map(|(id, inner)| -> Box<dyn LocalService> {
            Box::new(WatchedCluster {
                id: ClusterId(id),
                inner,
                record: Arc::clone(&record),
            })
        })
        .collect();
    let seed = StreamSeed::default();
    let sizes: Vec<Nodes> = inputs.clusters.iter().map(|it| it.nodes).collect();
    let exchange = Exchange::new(sizes.clone(), settings, &seed).with_jitter(*jitter);
    let outages = OutageEvents::new(settings.failures.as_ref(), &sizes, &seed);
    let mut scene = scene_of(inputs, services, exchange, outages);
    if settings.failures.as_ref().is_some_and(|it| it.silent) {
        for site in &mut scene.services {
            site.keep_silent_while_down();
        }
    }
    let run = CoReservationRun::of(drive(scene, true), inputs);
    let commands = record.lock().unwrap().clone();
    (run, commands)
}

/// From when until when a part held its CPUs.
fn held(part: &PartOutcome) -> (Seconds, Seconds) {
    let end = part.order.start + part.order.duration;
    let gone = part.gone.unwrap_or(end).min(end);
    (part.order.start, gone.max(part.order.start))
}

/// At no instant do parts and jobs hold more CPUs than a cluster has.
fn check_capacity(inputs: &CoReservationInputs, run: &CoReservationRun) {
    for (parts, workload) in run.parts.iter().zip(&inputs.clusters) {
        let mut changes: Vec<(Seconds, i64)> = Vec::new();
        let mut hold = |from, until, nodes: Nodes| {
            if from < until {
                changes.push((from, i64::from(nodes.0)));
                changes.push((until, -i64::from(nodes.0)));
            }
        };
        for part in parts {
            let (from, until) = held(part);
            hold(from, until, part.order.nodes);
        }
        let ids: BTreeSet<JobId> = workload.jobs.iter().map(|job| job.id).collect();
        for job in run.jobs.iter().filter(|it| ids.contains(&it.job.id)) {
            if let (Some(start), Some(end)) = (job.start, job.end) {
                hold(start, end, job.job.nodes);
            }
        }
        // What ends at an instant makes room for what begins then.
        changes.sort_unstable();
        let mut busy = 0;
        for (at, change) in changes {
            busy += change;
            assert!(busy <= i64::from(workload.nodes.0), "{busy} CPUs at {at}");
        }
    }
}

/// What must hold whatever happened.
pub(super) fn check(situation: &Situation, run: &CoReservationRun, commands: &[Command]) {
    let Situation {
        inputs, settings, ..
    } = situation;
    assert_eq!(
        run.requests.len(),
        inputs.requests.len(),
        "one verdict each"
    );
    let jobs: usize = inputs.clusters.iter().map(|it| it.jobs.len()).sum();
    assert_eq!(run.jobs.len(), jobs, "every job has its outcome");
    check_capacity(inputs, run);

    let mut cancelled: BTreeMap<(ClusterId, CoRequestId, u32), Seconds> = BTreeMap::new();
    let mut granted = BTreeSet::new();
    for command in commands {
        match command {
            Command::Granted(cluster, _, order) => {
                granted.insert((*cluster, order.request, order.order));
            }
            Command::Cancelled(cluster, at, request, order) => {
                cancelled.entry((*cluster, *request, *order)).or_insert(*at);
            }
        }
    }
    // What nobody gave back belongs to its request, in the end or until its cluster lost it.
    let mut kept: BTreeMap<CoRequestId, Vec<(ClusterId, PartOutcome)>> = BTreeMap::new();
    let mut lost: BTreeMap<CoRequestId, u32> = BTreeMap::new();
    for (id, parts) in (0..).map(ClusterId).zip(&run.parts) {
        for part in parts {
            let key = (id, part.order.request, part.order.order);
            assert!(granted.remove(&key), "{part:?} was granted once");
            match cancelled.get(&key) {
                Some(&at) => {
                    // Given back at once; or over, or lost, when the first cancellation came.
                    let (_, until) = held(part);
                    let was_lost = part.lost && part.gone <= Some(at);
                    assert!(
                        part.gone == Some(at) || was_lost || until <= at,
                        "{part:?} held after {at}"
                    );
                }
                None if part.lost => *lost.entry(part.order.request).or_default() += 1,
                None => kept
                    .entry(part.order.request)
                    .or_default()
                    .push((id, *part)),
            }
        }
    }
    assert!(granted.is_empty(), "granted and never ended: {granted:?}");

    for outcome in &run.requests {
        let request = &outcome.request;
        let r = request.parts.len() as u32;
        let parts = kept.remove(&request.id).unwrap_or_default();
        let lost = lost.remove(&request.id).unwrap_or_default();
        let places: BTreeSet<u16> = parts.iter().map(|(_, part)| part.order.part).collect();
        let hosts: BTreeSet<ClusterId> = parts.iter().map(|(cluster, _)| *cluster).collect();
        assert_eq!(places.len(), parts.len(), "a part twice: {parts:?}");
        assert_eq!(hosts.len(), parts.len(), "a cluster twice: {parts:?}");
        let is_granted = outcome.verdict == CoVerdict::Granted;
        if is_granted {
            let given_up = outcome.attempts.iter();
            let given_up = given_up.filter(|it| it.fate == AttemptFate::Unreachable);
            let told = lost + given_up.count() as u32;
            assert!(outcome.lost_parts <= told, "{outcome:?}");
            assert!(outcome.replaced_parts <= outcome.lost_parts);
            let is_told = outcome.replaced_parts == outcome.lost_parts || !settings.renegotiate;
            if is_told && outcome.displacements == 0 {
                let missing = outcome.lost_parts - outcome.replaced_parts;
                assert_eq!(parts.len() as u32 + missing, r, "{outcome:?}");
            }
        } else {
            // A request that is not granted holds nothing.
            assert!(parts.is_empty(), "{outcome:?} holds {parts:?}");
            assert_eq!(outcome.start, None);
            // A task that is given back may have had a lost part replaced before.
            let was_held = outcome.verdict == CoVerdict::Abandoned;
            assert!(was_held || outcome.lost_parts == 0, "{outcome:?}");
        }
        let asked = request.largest_first();
        for (cluster, part) in &parts {
            let place = asked[usize::from(part.order.part)];
            assert_eq!(outcome.clusters[place], *cluster, "{outcome:?} {parts:?}");
            assert_eq!(part.order.nodes, request.parts[place]);
            assert!(request.earliest <= part.order.start);
            assert!(part.order.start + part.order.duration <= request.deadline);
            assert!(part.order.duration <= request.duration);
            if outcome.replaced_parts == 0 {
                assert_eq!(Some(part.order.start), outcome.start);
                assert_eq!(part.order.duration, request.duration);
            }
        }
        // Whatever was replaced, all end together.
        let ends = parts
            .iter()
            .map(|(_, part)| part.order.start + part.order.duration);
        let ends: BTreeSet<Seconds> = ends.collect();
        assert!(ends.len() <= 1, "{outcome:?} {parts:?}");
        if settings.renegotiate && outcome.replaced_parts < outcome.lost_parts {
            assert!((parts.len() as u32) < r, "{outcome:?}");
        }
        if let Some(first) = outcome.first_start
            && outcome.lost_parts == 0
            && settings.search.algorithm.row().order != Order::Value
        {
            // Who goes by the start never gets a later one for an earlier one.
            assert!(outcome.start <= Some(first), "{outcome:?}");
        }
        let messages = outcome.messages;
        let fails = settings.failures.is_some() || !inputs.failures.events.is_empty();
        let is_undisturbed = settings.messages.loss == 0.0 && !fails;
        let attempts = outcome.attempts.iter();
        let gave_way = attempts.filter(|it| it.fate == AttemptFate::Displaced);
        if is_undisturbed && gave_way.count() > 0 {
            // It is somewhere else as a whole, or nowhere.
            assert!(
                [0, r].contains(&(parts.len() as u32)),
                "{outcome:?} {parts:?}"
            );
            let is_there = is_granted && outcome.replaced_parts == outcome.lost_parts;
            assert_eq!(is_there, !parts.is_empty(), "{outcome:?} {parts:?}");
        } else if is_undisturbed && messages.timed_out == 0 {
            // Who is granted keeps all r parts, everybody else gives back what was reserved, and
            // nobody sends more messages than in the worst case.
            // Of a task that is given back an order may be cancelled before its answer comes.
            let expected = if is_granted { r } else { 0 };
            let kept = i64::from(messages.granted) - i64::from(messages.cancelled);
            let is_unanswered = outcome.verdict == CoVerdict::Abandoned && kept == -1;
            assert!(is_unanswered || kept == i64::from(expected), "{outcome:?}");
            assert_eq!(parts.len() as u32, expected);
            // What is given back for the sake of others costs messages of its own.
            let once = outcome.renegotiations == 0 && outcome.verdict != CoVerdict::Abandoned;
            assert!(!once || f64::from(messages.reservation_step()) <= outcome.worst_case);
            assert_eq!((messages.repeated, outcome.lost_parts), (0, 0));
            if outcome.verdict == CoVerdict::NoCandidate {
                assert_eq!(messages.reservation_step(), 0);
            }
            if settings.messages.latency == Seconds::ZERO
                && situation.jitter == Seconds::ZERO
                && settings.search.algorithm.row().probes
                && is_granted
                && once
            {
                assert_eq!(messages.reservation_step(), r, "nobody came between");
            }
        }
    }
    assert!(kept.is_empty(), "parts of nobody: {kept:?}");
}

fn try_out(numbers: std::ops::Range<u64>) {
    let mut granted = 0;
    let mut stormy = 0;
    let mut replaced = 0;
    for number in numbers.clone() {
        let situation = situation(number);
        let (run, commands) = run(&situation);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&situation, &run, &commands)
        }));
        assert!(checked.is_ok(), "in situation {number}");
        for outcome in &run.requests {
            granted += u64::from(outcome.verdict == CoVerdict::Granted);
            stormy += u64::from(outcome.messages.timed_out > 0);
            replaced += u64::from(outcome.replaced_parts);
        }
    }
    // The situations are not so harmless that nothing could have leaked.
    let tried = numbers.end - numbers.start;
    assert!(
        granted > tried && stormy > tried / 4 && replaced > tried / 200,
        "{granted} {stormy} {replaced}"
    );
}

#[test]
fn nothing_leaks_in_1000_random_interleavings_with_failures_and_lost_messages() {
    try_out(0..1_000);
}

#[test]
#[ignore = "nightly: minutes"]
fn nothing_leaks_in_100000_random_interleavings_with_failures_and_lost_messages() {
    try_out(1_000..101_000);
}

#[test]
fn nothing_leaks_where_requests_are_issued_anew_while_they_hold_parts() {
    let (mut renegotiated, mut improved) = (0, 0);
    for number in 0..600 {
        let mut situation = situation(number);
        situation.settings.second_thoughts = Some(SecondThoughts {
            share_percent: if number % 3 == 0 { 50.0 } else { 100.0 },
            surcharge: 0.0,
            priority_percent: 0.0,
            every: Seconds(3 + number as i64 % 17),
        });
        let (run, commands) = run(&situation);
        let checked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            check(&situation, &run, &commands)
        }));
        assert!(checked.is_ok(), "in situation {number}");
        for outcome in &run.requests {
            renegotiated += outcome.renegotiations;
            improved += outcome.improvements;
            assert!(outcome.improvements <= outcome.renegotiations);
        }
    }
    assert!(
        renegotiated > 500 && improved > 20,
        "{renegotiated} {improved}"
    );
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for number in 0..20 {
        let situation = situation(number);
        assert_eq!(run(&situation), run(&situation));
    }
}
