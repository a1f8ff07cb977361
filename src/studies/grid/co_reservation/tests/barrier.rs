//! Parts that wait in queues for each other (Meltzer 2005, §1), and requests that are not split.

use std::sync::Arc;

use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Job, JobId};

use super::whole_run::{empty_clusters, only, request, settings, simulate};
use crate::co_reservation::evaluation::co_reservation_measures;
use crate::co_reservation::local::ClusterId;
use crate::co_reservation::testutils::queueing_situation;
use crate::co_reservation::*;

/// A cluster of 100 idle CPUs, and one of 50 on which a job runs until 5,410 s. At 10 s comes a
/// request of 100 and 50 CPUs for an hour, to be over by `deadline`, and behind it a job.
fn one_waits_for_the_other(deadline: i64) -> CoReservationInputs {
    let mut inputs = empty_clusters(
        2,
        100,
        vec![request(0, 10, (10, deadline), 3_600, &[50, 100])],
    );
    inputs.clusters[1].nodes = Nodes(50);
    let blocking = Job::rigid(JobId(1), Seconds(0), Nodes(50), Seconds(6_000));
    inputs.clusters[1].jobs = Arc::new([blocking.running_for(Seconds(5_410))]);
    let behind = Job::rigid(JobId(0), Seconds(10), Nodes(100), Seconds(10));
    inputs.clusters[0].jobs = Arc::new([behind]);
    inputs
}

fn patient(seconds: i64) -> CoReservationSettings {
    let mut settings = settings(Algorithm::Barrier);
    settings.search.patience = Patience::Fixed(Seconds(seconds));
    settings
}

/// CPU-seconds that were held and not used, and what nobody owned.
fn idle(
    inputs: &CoReservationInputs,
    settings: &CoReservationSettings,
    run: &CoReservationRun,
) -> (f64, f64) {
    let (measured, _) = co_reservation_measures(inputs, settings, run);
    let of = |name| measured.get(name).expect(name);
    (of("co_idle_hours") * 3_600.0, of("leaked_cpu_seconds"))
}

#[test]
fn a_part_that_has_begun_holds_its_cpus_until_the_other_begins() {
    let (inputs, settings) = (one_waits_for_the_other(90_000), patient(5_400));
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    let outcome = only(&run);
    assert_eq!(outcome.verdict, CoVerdict::Granted);
    assert_eq!(outcome.start, Some(Seconds(5_410)));
    assert_eq!(outcome.answered, Seconds(5_410));
    assert_eq!(outcome.clusters, [ClusterId(1), ClusterId(0)]);
    // 100 · 5,400 CPU-seconds, as many as the run needs: 150 · 3,600.
    assert_eq!(idle(&inputs, &settings, &run), (540_000.0, 0.0));
    // The run ends after its hour, whatever the limit of its part is.
    assert_eq!(run.jobs[0].start, Some(Seconds(9_010)));
    let held = |cluster: usize| &run.parts[cluster][0].order;
    assert_eq!(
        (held(0).start, held(0).duration),
        (Seconds(10), Seconds(9_000))
    );
    assert_eq!(
        (held(1).start, held(1).duration),
        (Seconds(5_410), Seconds(3_600))
    );
    let fates = outcome
        .attempts
        .iter()
        .map(|it| (it.start.0, it.duration.0, it.fate));
    let reserved = AttemptFate::Reserved;
    assert_eq!(
        fates.collect::<Vec<_>>(),
        [(10, 9_000, reserved), (5_410, 3_600, reserved)]
    );
}

#[test]
fn parts_that_have_waited_too_long_are_given_back_and_the_request_fails_at_its_last_start() {
    let (inputs, settings) = (one_waits_for_the_other(7_210), patient(3_600));
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    let outcome = only(&run);
    assert_eq!(
        (outcome.verdict, outcome.answered),
        (CoVerdict::Refused, Seconds(3_610))
    );
    // 100 · 3,600 CPU-seconds.
    assert_eq!(idle(&inputs, &settings, &run), (360_000.0, 0.0));
    assert_eq!(run.jobs[0].start, Some(Seconds(3_610)));
    let fates: Vec<AttemptFate> = outcome.attempts.iter().map(|it| it.fate).collect();
    assert_eq!(fates, [AttemptFate::Cancelled, AttemptFate::TimedOut]);
}

#[test]
fn parts_that_were_given_back_are_queued_anew_behind_what_waits() {
    let (inputs, settings) = (one_waits_for_the_other(90_000), patient(3_600));
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    let outcome = only(&run);
    assert_eq!(outcome.start, Some(Seconds(5_410)));
    // The job behind the part runs from 3,610 to 3,620; the part holds its CPUs from then on.
    assert_eq!(run.jobs[0].start, Some(Seconds(3_610)));
    assert_eq!(idle(&inputs, &settings, &run), (360_000.0 + 179_000.0, 0.0));
    assert_eq!(
        (outcome.messages.granted, outcome.messages.cancelled),
        (4, 2)
    );
}

#[test]
fn a_request_that_is_not_split_waits_for_one_cluster_and_one_that_is_lasts_longer() {
    let mut inputs = empty_clusters(2, 100, vec![request(0, 10, (50, 9_000), 3_600, &[60, 40])]);
    inputs.clusters[1].nodes = Nodes(90);
    let blocking = Job::rigid(JobId(0), Seconds(0), Nodes(1), Seconds(700));
    inputs.clusters[0].jobs = Arc::new([blocking]);
    let mut settings = settings(Algorithm::Barrier);
    settings.search.split_overhead = 0.1;
    for latency in [0, 3] {
        settings.messages.latency = Seconds(latency);
        settings.search.unsplit = false;
        let run = simulate(&inputs, &settings, &StreamSeed::default());
        // Known after one message, and begun after another.
        assert_eq!(only(&run).start, Some(Seconds(50 + 3 * latency)));
        assert_eq!(only(&run).request.duration, Seconds(3_960));
        settings.search.unsplit = true;
        let run = simulate(&inputs, &settings, &StreamSeed::default());
        let outcome = only(&run);
        assert_eq!(outcome.start, Some(Seconds(700)));
        assert_eq!(outcome.request.duration, Seconds(3_600));
        assert_eq!(
            (&outcome.request.parts[..], &outcome.clusters[..]),
            (&[Nodes(100)][..], &[ClusterId(0)][..])
        );
        assert_eq!(idle(&inputs, &settings, &run), (0.0, 0.0));
    }
    // Reserved, it is the same part.
    settings.search.algorithm = Algorithm::A2Sorted;
    settings.search.minimum_step = Seconds(650);
    settings.messages.latency = Seconds(0);
    let run = simulate(&inputs, &settings, &StreamSeed::default());
    assert_eq!(only(&run).start, Some(Seconds(700)));
}

#[test]
fn whatever_the_queues_do_all_parts_of_a_request_run_together_or_none_and_nothing_leaks() {
    let (mut granted, mut given_back) = (0, 0);
    for number in 0..400 {
        let situation = queueing_situation(number);
        let settings = &situation.settings;
        let run = simulate(&situation.inputs, settings, &StreamSeed::default());
        let (idle, leaked) = idle(&situation.inputs, settings, &run);
        assert!(idle >= 0.0 && leaked == 0.0, "{number}: {idle} {leaked}");
        for outcome in &run.requests {
            given_back += outcome.messages.cancelled;
            let Some(start) = outcome.start else { continue };
            granted += 1;
            let end = start + outcome.request.duration;
            assert!(outcome.request.earliest <= start && end <= outcome.request.deadline);
            let kept = run
                .parts
                .iter()
                .flatten()
                .filter(|part| part.order.request == outcome.request.id && part.gone.is_none());
            let kept: Vec<_> = kept.map(|part| part.order).collect();
            assert_eq!(kept.len(), outcome.request.parts.len());
            let over = |order: &local::PartOrder| order.start + order.duration;
            assert!(
                kept.iter()
                    .all(|order| order.start <= start && over(order) == end)
            );
        }
    }
    assert!(granted > 300 && given_back > 300, "{granted} {given_back}");
}
