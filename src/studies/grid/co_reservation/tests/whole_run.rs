//! Worked examples and invariants that are about whole runs.

use bookahead_core::random::StreamSeed;
use std::sync::Arc;
use std::time::Instant;

use rand::RngExt;

use bookahead_core::failures::{FailureTrace, Outage};
use bookahead_core::kernel::drive;
use bookahead_core::random;
use bookahead_core::units::{NodeIndex, Nodes, Seconds};
use bookahead_core::workload::{CoRequest, CoRequestId, FurtherCounts, Job, JobId, Preference};

use crate::co_reservation::evaluation::co_reservation_measures;
use crate::co_reservation::local::{ClusterId, PartOrder, Precedence, Tariff};
use crate::co_reservation::scene::scene_of;
use crate::co_reservation::testutils::situation;
use crate::co_reservation::*;

pub(super) fn settings(algorithm: Algorithm) -> CoReservationSettings {
    let mut settings = CoReservationSettings::default();
    settings.search.algorithm = algorithm;
    settings
}

pub(super) fn request(
    id: u32,
    submit: i64,
    window: (i64, i64),
    duration: i64,
    parts: &[u32],
) -> CoRequest {
    CoRequest {
        id: CoRequestId(id),
        trace_number: 0,
        user: None,
        submit: Seconds(submit),
        earliest: Seconds(window.0),
        deadline: Seconds(window.1),
        duration: Seconds(duration),
        parts: parts.iter().map(|&nodes| Nodes(nodes)).collect(),
        further: Vec::new(),
        preference: Preference::default(),
        task: None,
    }
}

pub(super) fn empty_clusters(
    count: usize,
    nodes: u32,
    requests: Vec<CoRequest>,
) -> CoReservationInputs {
    let cluster = ClusterWorkload {
        nodes: Nodes(nodes),
        jobs: Arc::new([]),
        window_start: Seconds::ZERO,
        accuracy: 1.0,
    };
    CoReservationInputs {
        clusters: vec![cluster; count],
        requests: requests.into(),
        stop: Seconds(100_000),
        estimates: None,
        failures: Arc::default(),
    }
}

pub(super) fn simulate(
    inputs: &CoReservationInputs,
    settings: &CoReservationSettings,
    seed: &StreamSeed,
) -> CoReservationRun {
    let scene = co_reservation_scene(inputs, settings, seed).unwrap();
    CoReservationRun::of(drive(scene, true), inputs)
}

pub(super) fn only(run: &CoReservationRun) -> &CoOutcome {
    assert_eq!(run.requests.len(), 1);
    &run.requests[0]
}

#[test]
fn t12_the_full_pipeline_of_a2_and_a4() {
    let inputs = empty_clusters(3, 100, vec![request(0, 0, (0, 10_800), 3_600, &[30, 50])]);
    for algorithm in [Algorithm::A2, Algorithm::A2Sorted, Algorithm::A4] {
        let mut settings = settings(algorithm);
        settings.search.maximum_starts = 4;
        let mut services = clusters(&inputs, &settings).unwrap();
        for (cluster, start, nodes) in [(0, 0, 80), (1, 1_800, 60)] {
            let order = PartOrder {
                request: CoRequestId(99),
                order: 0,
                part: 0,
                nodes: Nodes(nodes),
                further: FurtherCounts::NONE,
                start: Seconds(start),
                duration: Seconds(3_600),
                pof_limit: 0.0,
                precedence: Precedence::Fixed,
            };
            services[cluster].reserve(Seconds::ZERO, &order).unwrap();
        }
        let seed = StreamSeed::default();
        let exchange = Exchange::new(vec![Nodes(100); 3], &settings, &seed);
        let outages = OutageEvents::new(None, &[], &seed);
        let scene = scene_of(&inputs, services, exchange, outages);
        let run = CoReservationRun::of(drive(scene, true), &inputs);
        let outcome = only(&run);
        assert_eq!(outcome.verdict, CoVerdict::Granted);
        assert_eq!(outcome.messages.reservation_step(), 2);
        assert_eq!(outcome.messages.probes, 6);
        assert_eq!(outcome.starts, 4);
        if algorithm == Algorithm::A4 {
            // A's part has started: as long as it runs, the backlog of A ends at 2,880 s.
            assert_eq!(outcome.start, Some(Seconds(0)));
            assert_eq!(outcome.clusters, [ClusterId(1), ClusterId(2)]);
            continue;
        }
        assert_eq!(outcome.candidates, 12.0);
        let filtered: Vec<(u32, u32)> = outcome
            .probes
            .iter()
            .map(|probe| (probe.counts.counting, probe.counts.unfiltered))
            .collect();
        assert_eq!(filtered, [(4, 8), (3, 8), (0, 8)]);
        if algorithm == Algorithm::A2Sorted {
            assert_eq!(outcome.start, Some(Seconds(0)));
            assert_eq!(outcome.clusters, [ClusterId(1), ClusterId(2)]);
        }
    }
}

#[test]
fn requests_without_a_start_or_without_enough_large_clusters_are_impossible_and_cost_no_message() {
    let inputs = empty_clusters(
        2,
        10,
        vec![
            request(0, 0, (0, 99), 100, &[1]),
            request(1, 0, (0, 100), 100, &[1, 1, 1]),
            request(2, 0, (0, 100), 100, &[11]),
            request(3, 0, (0, 100), 100, &[10, 10]),
        ],
    );
    for (algorithm, _, _) in Algorithm::ALL {
        let run = simulate(&inputs, &settings(*algorithm), &StreamSeed::default());
        let verdicts: Vec<CoVerdict> = run.requests.iter().map(|it| it.verdict).collect();
        assert_eq!(verdicts[..3], [CoVerdict::Impossible; 3]);
        assert_eq!(verdicts[3], CoVerdict::Granted, "{algorithm:?}");
        assert_eq!(run.requests[0].messages, MessageCounts::default());
    }
}

#[test]
fn of_two_requests_that_race_for_the_same_cpus_exactly_one_wins() {
    for latency in 0..4 {
        for (algorithm, _, _) in Algorithm::ALL {
            if algorithm.row().queues && latency > 0 {
                // Nobody can say in time that all parts have begun.
                continue;
            }
            let both = vec![
                request(0, 5, (60, 160), 100, &[6, 6]),
                request(1, 5, (60, 160), 100, &[6, 6]),
            ];
            let mut settings = settings(*algorithm);
            settings.messages.latency = Seconds(latency);
            let inputs = empty_clusters(2, 10, both);
            let mut wins = 0;
            for seed in 0..20 {
                let seed = StreamSeed {
                    seed,
                    ..StreamSeed::default()
                };
                let run = simulate(&inputs, &settings, &seed);
                let won = run.requests.iter().filter(|it| it.start.is_some()).count();
                let kept = run.parts.iter().flatten().filter(|it| it.gone.is_none());
                assert_eq!(kept.count(), 2 * won);
                assert!(won <= 1);
                // With a latency, both may block each other at one cluster each and give back:
                // nobody wins, nothing leaks.
                assert!(won == 1 || latency > 0);
                wins += won;
            }
            assert!(wins > 0, "{algorithm:?} {latency}");
        }
    }
}

#[test]
fn without_requests_the_schedule_of_jobs_is_the_same_under_every_algorithm() {
    for number in 0..50 {
        let mut inputs = situation(number).inputs;
        inputs.requests = Arc::new([]);
        let run = |algorithm| simulate(&inputs, &settings(algorithm), &StreamSeed::default());
        let reference = run(Algorithm::A1);
        for (algorithm, _, _) in Algorithm::ALL {
            assert_eq!(run(*algorithm), reference);
        }
    }
}

#[test]
fn for_the_same_state_sorted_algorithms_start_in_the_order_of_their_filters() {
    let mut granted = 0;
    for number in 0..300 {
        // One request alone, so that all algorithms find the same state; nothing fails and no time
        // passes.
        let mut inputs = situation(number).inputs;
        inputs.requests = inputs.requests.iter().take(1).cloned().collect();
        let outcome = |algorithm, preference: Preference| {
            let mut inputs = inputs.clone();
            let mut requests = inputs.requests.to_vec();
            requests[0].preference = preference;
            inputs.requests = requests.into();
            let run = simulate(&inputs, &settings(algorithm), &StreamSeed::default());
            // Jobs and parts use no more than a cluster has.
            for (totals, cluster) in run.totals.iter().zip(&inputs.clusters) {
                let capacity = cluster.nodes.for_span(inputs.stop);
                assert!(totals.job_work + totals.part_work <= capacity);
            }
            only(&run).clone()
        };
        let early = Preference::default();
        let start = |algorithm| {
            let start = outcome(algorithm, early).start;
            start.unwrap_or(Seconds::FAR)
        };
        let a4 = start(Algorithm::A4);
        // The weaker the filters, the earlier the first start that is left.
        assert!(start(Algorithm::A2Sorted) <= a4);
        assert!(a4 <= start(Algorithm::A3Sorted));
        // A5 with all its weight on the start is A4.
        let a5 = outcome(Algorithm::A5, early);
        assert_eq!(a5.start.unwrap_or(Seconds::FAR), a4);
        let cheap = Preference {
            cost_weight: 1.0,
            start_weight: 0.0,
            mix_weight: 0.0,
            degree_weight: 0.0,
        };
        let cheapest = outcome(Algorithm::A5, cheap);
        if let (Some(bounds), Some(cost)) = (cheapest.bounds, cheapest.cost) {
            assert!((cost - bounds.cheapest).abs() < 1e-9, "{cheapest:?}");
            assert_eq!(a5.start, Some(bounds.earliest));
            granted += 1;
        }
    }
    assert!(granted > 50, "{granted}");
}

#[test]
fn waiting_jobs_are_counted_on_the_clusters_of_the_request_alone() {
    let job =
        |id, submit, nodes| Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(100));
    let mut inputs = empty_clusters(2, 10, vec![request(0, 50, (100, 200), 100, &[10])]);
    // The first two run one after the other; the third waits, too, and would have started at 200;
    // the fourth comes with the request.
    inputs.clusters[0].jobs = Arc::new([job(0, 0, 4), job(1, 1, 8), job(2, 2, 9), job(3, 50, 1)]);
    inputs.clusters[1].jobs = Arc::new([job(4, 0, 10), job(5, 1, 10), job(6, 2, 1)]);
    let mut settings = settings(Algorithm::A2);
    settings.local.planned_visible = false;
    let mut seen = [false; 2];
    for seed in 0..10 {
        let seed = StreamSeed {
            seed,
            ..StreamSeed::default()
        };
        let run = simulate(&inputs, &settings, &seed);
        let outcome = only(&run);
        let cluster = usize::from(outcome.clusters[0].0);
        seen[cluster] = true;
        assert_eq!((outcome.waiting_before, outcome.waiting_after), (2, 2));
    }
    assert_eq!(seen, [true, true]);
}

#[test]
#[ignore = "seconds"]
fn sixty_four_clusters_with_two_weeks_of_jobs_each_take_less_than_a_minute() {
    let stream = &mut random::stream(1, "many clusters", 0, "jobs");
    let stop = 1_209_600;
    let mut id = 0;
    let clusters = (0..64)
        .map(|_| {
            let mut submits: Vec<i64> = (0..2_000).map(|_| stream.random_range(0..stop)).collect();
            submits.sort_unstable();
            let jobs = submits.into_iter().map(|submit| {
                let estimate = stream.random_range(600..64_800);
                id += 1;
                let runtime = Seconds(stream.random_range(1..=estimate));
                let nodes = Nodes(8 * stream.random_range(1..7) * stream.random_range(1..5));
                Job::rigid(JobId(id - 1), Seconds(submit), nodes, Seconds(estimate))
                    .running_for(runtime)
            });
            ClusterWorkload {
                nodes: Nodes(1_160),
                jobs: jobs.collect(),
                window_start: Seconds::ZERO,
                accuracy: 0.5,
            }
        })
        .collect();
    let requests = (0..2_000).map(|id| {
        let submit = i64::from(id) * stop / 2_000;
        let duration = 3_600;
        request(
            id,
            submit,
            (submit + 3_600, submit + 50_000),
            duration,
            &[160, 192, 64],
        )
    });
    let inputs = CoReservationInputs {
        clusters,
        requests: requests.collect(),
        stop: Seconds(stop),
        estimates: None,
        failures: Arc::default(),
    };
    for algorithm in [
        Algorithm::A1,
        Algorithm::A2,
        Algorithm::A3Backfill,
        Algorithm::A5,
    ] {
        let began = Instant::now();
        let run = simulate(&inputs, &settings(algorithm), &StreamSeed::default());
        let took = began.elapsed();
        let granted = run.requests.iter().filter(|it| it.start.is_some()).count();
        println!("{algorithm:?}: {took:?}, {granted} of 2,000 granted");
        assert!(took.as_secs() < 60, "{took:?}");
        assert_eq!(run.jobs.len(), 128_000);
    }
}

/// Two clusters of 10 CPUs; a job of 9 CPUs blocks each until 1,000 s by its limit and ends at 300
/// s.
fn blocked_until_early_ends() -> CoReservationInputs {
    let mut inputs = empty_clusters(2, 10, vec![request(0, 10, (10, 5_000), 100, &[5, 5])]);
    for (id, cluster) in (0..).zip(&mut inputs.clusters) {
        cluster.jobs =
            Arc::new([Job::rigid(JobId(id), Seconds(0), Nodes(9), Seconds(1_000))
                .running_for(Seconds(300))]);
    }
    inputs
}

#[test]
fn a_renegotiable_request_starts_earlier_once_jobs_in_front_have_ended_early() {
    // Starts every 490 s from 10 s on: 1,480 s is the first behind the limits. Issued anew at 210 s
    // they are counted from there, and 1,190 s is better; at 410 s the jobs have ended, and the
    // first start is taken at once.
    let mut settings = settings(Algorithm::A2Sorted);
    settings.search.minimum_step = Seconds(490);
    let once = simulate(
        &blocked_until_early_ends(),
        &settings,
        &StreamSeed::default(),
    );
    assert_eq!(only(&once).start, Some(Seconds(1_480)));
    assert_eq!(
        (only(&once).renegotiations, only(&once).first_start),
        (0, None)
    );
    settings.second_thoughts = Some(SecondThoughts {
        share_percent: 100.0,
        surcharge: 0.0,
        priority_percent: 0.0,
        every: Seconds(200),
    });
    let run = simulate(
        &blocked_until_early_ends(),
        &settings,
        &StreamSeed::default(),
    );
    let outcome = only(&run);
    assert_eq!(outcome.start, Some(Seconds(410)));
    assert_eq!(outcome.first_start, Some(Seconds(1_480)));
    assert_eq!((outcome.renegotiations, outcome.improvements), (2, 2));
    // Two parts each time, and the two before given back.
    assert_eq!(
        (outcome.messages.granted, outcome.messages.cancelled),
        (6, 4)
    );
    let kept: usize = run
        .parts
        .iter()
        .flatten()
        .filter(|part| part.gone.is_none())
        .count();
    assert_eq!(kept, 2);
}

#[test]
fn nodes_of_a_trace_fail_cluster_after_cluster_and_take_a_part_with_them() {
    // Node 13 is the fourth of the second cluster; the part there holds all ten.
    let mut inputs = empty_clusters(2, 10, vec![request(0, 0, (0, 100), 100, &[10, 10])]);
    let outage = Outage {
        node: NodeIndex(13),
        start: Seconds(60),
        end: Seconds(70),
    };
    let run = simulate(&inputs, &settings(Algorithm::A2), &StreamSeed::default());
    assert!(run.parts.iter().flatten().all(|part| !part.lost));
    inputs.failures = Arc::new(FailureTrace::from_outages([outage]).unwrap());
    let run = simulate(&inputs, &settings(Algorithm::A2), &StreamSeed::default());
    let lost: Vec<_> = (run.parts.iter())
        .map(|parts| {
            parts
                .iter()
                .map(|part| (part.lost, part.gone))
                .collect::<Vec<_>>()
        })
        .collect();
    let kept = vec![(false, None)];
    assert_eq!(lost, [kept, vec![(true, Some(Seconds(60)))]]);
}

#[test]
fn the_least_reserved_clusters_are_taken_first_where_degrees_count() {
    // Four empty clusters of 10, 20, 40 and 80 CPUs: 5 CPUs are the smallest share of the largest
    // two, whatever is drawn.
    let mut inputs = empty_clusters(4, 10, vec![request(0, 0, (0, 100), 100, &[5, 5])]);
    for (cluster, nodes) in inputs.clusters.iter_mut().zip([10, 20, 40, 80]) {
        cluster.nodes = Nodes(nodes);
    }
    for seed in 0..20 {
        let mut settings = settings(Algorithm::A2);
        settings.search.sort_by = SortBy::ReservationDegree;
        let seed = StreamSeed {
            seed,
            ..StreamSeed::default()
        };
        let run = simulate(&inputs, &settings, &seed);
        let mut clusters = only(&run).clusters.clone();
        clusters.sort_unstable();
        assert_eq!(clusters, [ClusterId(2), ClusterId(3)], "{seed:?}");
    }
}

#[test]
fn a_renegotiable_request_pays_a_surcharge_on_the_tariff() {
    // The example of §4.7.3, 10 CPUs on a Monday from 07:30 to 09:00: 25 units.
    let inputs = empty_clusters(2, 100, vec![request(0, 0, (27_000, 32_400), 5_400, &[10])]);
    let mut settings = settings(Algorithm::A5);
    settings.local.tariff = Tariff::Example;
    settings.local.calendar_origin = Seconds::ZERO;
    let mut paid = |share_percent, surcharge| {
        settings.second_thoughts = Some(SecondThoughts {
            share_percent,
            every: Seconds::HOUR,
            surcharge,
            priority_percent: 0.0,
        });
        let run = simulate(&inputs, &settings, &StreamSeed::default());
        let (measured, _) = co_reservation_measures(&inputs, &settings, &run);
        let relative = measured.get("co_relative_cost_mean");
        assert_eq!(relative, Some(0.0), "by what it pays for any candidate");
        (only(&run).cost, measured.get("co_surcharge_mean"))
    };
    assert_eq!(paid(100.0, 0.0), (Some(25.0), None));
    assert_eq!(paid(100.0, 0.25), (Some(31.25), Some(6.25)));
    assert_eq!(paid(0.0, 0.25), (Some(25.0), None));
}

#[test]
fn a_surcharge_changes_what_is_paid_and_nothing_else() {
    for number in 0..300 {
        let mut situation = situation(number);
        let mut simulated = |surcharge| {
            situation.settings.second_thoughts = Some(SecondThoughts {
                share_percent: 50.0,
                every: Seconds(7),
                surcharge,
                priority_percent: 0.0,
            });
            let seed = StreamSeed::default();
            simulate(&situation.inputs, &situation.settings, &seed)
        };
        let (plain, charged) = (simulated(0.0), simulated(0.25));
        assert_eq!(charged.jobs, plain.jobs, "situation {number}");
        for (one, other) in charged.requests.iter().zip(&plain.requests) {
            assert_eq!(one.attempts, other.attempts, "situation {number}");
            if let (Some(more), Some(cost)) = (one.cost, other.cost) {
                let factor = 1.0 + 0.25 * f64::from(u8::from(one.first_start.is_some()));
                assert!((more - cost * factor).abs() < 1e-9 * more);
            }
        }
    }
}
