//! What clusters have free over the windows of requests (Meltzer 2005, Figure 22).

use std::sync::Arc;

use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use super::whole_run::{empty_clusters, request, settings, simulate};
use crate::co_reservation::local::ClusterId;
use crate::co_reservation::testutils::situation;
use crate::co_reservation::{Algorithm, CoReservationRun, CoVerdict};

fn without_record(mut run: CoReservationRun) -> CoReservationRun {
    for outcome in &mut run.requests {
        outcome.free_cpus.clear();
    }
    run
}

/// Two clusters of 100 CPUs. On the first a job holds 40 until 5,000. The first request gets 30
/// there and 70 on the second, from 2,000 to 4,000. The second one wants 80 and 70 for 1,000 s.
///
/// | start | 1,000 | 2,000 | 3,000 | 4,000 | 5,000 | 6,000 |
/// |---|---|---|---|---|---|---|
/// | first cluster | 60 | 30 | 30 | 60 | 100 | 100 |
/// | second cluster | 100 | 30 | 30 | 100 | 100 | 100 |
///
/// Before 5,000 no two clusters have enough, although the second one has at 1,000 and at 4,000.
#[test]
fn the_free_cpus_of_two_clusters_over_a_window_are_those_by_hand() {
    let requests = vec![
        request(0, 10, (2_000, 4_000), 2_000, &[30, 70]),
        request(1, 100, (1_000, 7_000), 1_000, &[80, 70]),
    ];
    let mut inputs = empty_clusters(2, 100, requests);
    let job = Job::rigid(JobId(0), Seconds(0), Nodes(40), Seconds(5_000));
    inputs.clusters[0].jobs = Arc::new([job]);
    let mut settings = settings(Algorithm::A2);
    settings.search.minimum_step = Seconds(1_000);
    let seed = StreamSeed::default();
    let silent = simulate(&inputs, &settings, &seed);
    assert!(silent.requests.iter().all(|it| it.free_cpus.is_empty()));
    settings.search.record_free_cpus = true;
    let run = simulate(&inputs, &settings, &seed);
    let first = &run.requests[0];
    assert_eq!(first.verdict, CoVerdict::Granted);
    assert_eq!(first.clusters, [ClusterId(0), ClusterId(1)]);
    let of_first: Vec<u32> = first.free_cpus.iter().map(|it| it.free.0).collect();
    assert_eq!(of_first, [60, 100]);
    let second = &run.requests[1];
    // One of the two is drawn.
    assert!([5_000, 6_000].contains(&second.start.unwrap().0));
    let rows = second.free_cpus.iter();
    let rows: Vec<(u16, i64, u32)> = rows
        .map(|it| (it.cluster.0, it.start.0, it.free.0))
        .collect();
    let by_hand = [[60, 30, 30, 60, 100, 100], [100, 30, 30, 100, 100, 100]];
    let by_hand = (0..).zip(by_hand).flat_map(|(cluster, free)| {
        let starts = (1..=6).map(|start| 1_000 * start);
        starts
            .zip(free)
            .map(move |(start, free)| (cluster, start, free))
    });
    assert_eq!(rows, by_hand.collect::<Vec<_>>());
    assert_eq!(without_record(run), silent);
}

/// A candidate is discarded for want of CPUs where its part is wider than what is free, whatever
/// fails and is lost; and to look changes nothing.
#[test]
fn what_is_free_is_what_counting_admits_and_changes_nothing() {
    let (mut looked, mut discarded) = (0, 0);
    for number in 0..150 {
        let mut situation = situation(number);
        let seed = StreamSeed {
            seed: number,
            ..StreamSeed::default()
        };
        let silent = simulate(&situation.inputs, &situation.settings, &seed);
        situation.settings.search.record_free_cpus = true;
        let run = simulate(&situation.inputs, &situation.settings, &seed);
        let counts = situation.settings.search.algorithm.filters().counting;
        for outcome in &run.requests {
            for probe in outcome.probes.iter().filter(|_| counts) {
                let here = outcome.free_cpus.iter();
                let here = here.filter(|it| it.cluster == probe.cluster);
                let size = situation.inputs.clusters[usize::from(probe.cluster.0)].nodes;
                let parts = outcome.request.parts.iter().filter(|part| **part <= size);
                let lacking: usize = parts
                    .map(|part| here.clone().filter(|it| it.free < *part).count())
                    .sum();
                assert_eq!(lacking, probe.counts.counting as usize, "{number}");
                assert_eq!(here.count() as u32, outcome.starts, "{number}");
                looked += 1;
                discarded += lacking;
            }
        }
        assert_eq!(without_record(run), silent, "{number}");
    }
    assert!(looked > 200 && discarded > 200, "{looked} {discarded}");
}
