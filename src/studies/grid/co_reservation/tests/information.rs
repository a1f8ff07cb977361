//! A broker that asks the clusters first that published most free CPUs (Meltzer 2005, §2).

use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use super::whole_run::{empty_clusters, only, request, settings, simulate};
use crate::co_reservation::evaluation::co_reservation_measures;
use crate::co_reservation::local::ClusterId;
use crate::co_reservation::testutils::situation;
use crate::co_reservation::*;

fn asking(most: u32, period: i64) -> CoReservationSettings {
    let mut settings = settings(Algorithm::A2);
    settings.information.probe_only = Some(most);
    settings.information.period = Seconds(period);
    settings
}

/// Four clusters of 100 CPUs, of which 50, 80, 20 and 90 are free at 3,600 s. At 5,400 s, when two
/// parts of 40 CPUs are asked for, it is 90, 10, 20 and 90.
fn four_clusters() -> CoReservationInputs {
    let mut inputs = empty_clusters(
        4,
        100,
        vec![request(0, 5_400, (5_400, 9_000), 3_600, &[40; 2])],
    );
    let jobs: [&[(i64, u32, i64)]; 4] = [
        &[(0, 40, 4_000), (0, 10, 20_000)],
        &[(0, 20, 20_000), (4_000, 70, 20_000)],
        &[(0, 80, 20_000)],
        &[(0, 10, 20_000)],
    ];
    let mut ids = 0..;
    for (cluster, jobs) in inputs.clusters.iter_mut().zip(jobs) {
        let jobs = jobs.iter().zip(&mut ids);
        let rigid = jobs.map(|(&(submit, nodes, end), id)| {
            Job::rigid(
                JobId(id),
                Seconds(submit),
                Nodes(nodes),
                Seconds(end - submit),
            )
        });
        cluster.jobs = rigid.collect();
    }
    inputs
}

#[test]
fn the_rest_is_probed_once_if_the_best_by_what_was_published_offer_no_candidate() {
    let (inputs, settings) = (four_clusters(), asking(2, 3_600));
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    let outcome = only(&run);
    assert_eq!(outcome.verdict, CoVerdict::Granted);
    let mut at = outcome.clusters.clone();
    at.sort();
    assert_eq!(at, [ClusterId(0), ClusterId(3)]);
    let counts = outcome.messages;
    assert_eq!((counts.second_rounds, counts.probed_clusters), (1, 4));
    assert_eq!(counts.probes, 8);
    assert_eq!(outcome.probes.len(), 4);
    let (measured, _) = co_reservation_measures(&inputs, &settings, &run);
    for (name, value) in [
        ("co_known_clusters", 4.0),
        ("co_probed_clusters_mean", 4.0),
        ("co_second_round_rate", 1.0),
    ] {
        assert_eq!(measured.get(name), Some(value), "{name}");
    }
}

#[test]
fn what_is_published_at_every_request_is_true() {
    let run = simulate(&four_clusters(), &asking(2, 0), &StreamSeed::default());
    let outcome = only(&run);
    assert_eq!(outcome.verdict, CoVerdict::Granted);
    let counts = outcome.messages;
    assert_eq!((counts.second_rounds, counts.probed_clusters), (0, 2));
    let probed: Vec<ClusterId> = outcome.probes.iter().map(|probe| probe.cluster).collect();
    assert_eq!(probed, [ClusterId(0), ClusterId(3)]);
}

#[test]
fn three_of_seven_clusters_get_6_probes_instead_of_14() {
    let inputs = empty_clusters(7, 100, vec![request(0, 0, (0, 3_600), 3_600, &[40; 2])]);
    let probes = |settings: &CoReservationSettings| {
        let run = simulate(&inputs, settings, &StreamSeed::default());
        assert_eq!(only(&run).verdict, CoVerdict::Granted);
        only(&run).messages.probes
    };
    assert_eq!(probes(&asking(3, 60)), 6);
    assert_eq!(probes(&settings(Algorithm::A2)), 14);
}

#[test]
fn a_cluster_that_is_not_covered_gets_no_message() {
    for (algorithm, _, _) in Algorithm::ALL {
        let requests = (0..20).map(|id| request(id, 0, (0, 90_000), 3_600, &[40; 2]));
        let inputs = empty_clusters(4, 100, requests.collect());
        let mut settings = settings(*algorithm);
        settings.information.coverage = 0.5;
        let run = simulate(&inputs, &settings, &StreamSeed::default());
        let attempts = run.requests.iter().flat_map(|outcome| &outcome.attempts);
        let probes = run.requests.iter().flat_map(|outcome| &outcome.probes);
        let asked = attempts
            .map(|it| it.cluster)
            .chain(probes.map(|it| it.cluster));
        let mut asked: Vec<ClusterId> = asked.collect();
        asked.sort();
        asked.dedup();
        assert_eq!(asked.len(), 2, "{algorithm:?}");
    }
}

#[test]
fn a_request_of_more_parts_than_known_clusters_is_impossible() {
    let inputs = empty_clusters(4, 100, vec![request(0, 0, (0, 3_600), 3_600, &[40; 3])]);
    let mut settings = settings(Algorithm::A2);
    settings.information.coverage = 0.5;
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    assert_eq!(only(&run).verdict, CoVerdict::Impossible);
}

#[test]
fn publishing_alone_changes_nothing() {
    for number in 0..300 {
        let mut situation = situation(number);
        let seed = StreamSeed::default();
        let plain = simulate(&situation.inputs, &situation.settings, &seed);
        // Everybody publishes, and everybody is asked.
        situation.settings.information = InformationSettings {
            period: Seconds(number as i64 % 40),
            coverage: 1.0,
            probe_only: Some(situation.inputs.clusters.len() as u32),
        };
        let published = simulate(&situation.inputs, &situation.settings, &seed);
        assert_eq!(published.requests, plain.requests, "situation {number}");
        assert_eq!(published.jobs, plain.jobs, "situation {number}");
    }
}

#[test]
fn whether_a_request_alone_is_granted_does_not_depend_on_who_is_asked_first() {
    let (mut granted, mut second_rounds) = (0, 0);
    for number in 0..600 {
        let mut situation = situation(number);
        situation.settings.failures = None;
        situation.settings.messages = MessageSettings::default();
        situation.inputs.failures = Default::default();
        situation.inputs.requests = situation.inputs.requests[..1].into();
        if !situation.settings.search.algorithm.row().probes {
            continue;
        }
        let seed = StreamSeed::default();
        let plain = simulate(&situation.inputs, &situation.settings, &seed);
        situation.settings.information.probe_only = Some(1 + number as u32 % 3);
        situation.settings.information.period = Seconds(number as i64 % 50);
        let some = simulate(&situation.inputs, &situation.settings, &seed);
        let verdict = only(&plain).verdict;
        assert_eq!(only(&some).verdict, verdict, "situation {number}");
        granted += u32::from(verdict == CoVerdict::Granted);
        second_rounds += only(&some).messages.second_rounds;
    }
    assert!(
        granted > 50 && second_rounds > 50,
        "{granted} {second_rounds}"
    );
}
