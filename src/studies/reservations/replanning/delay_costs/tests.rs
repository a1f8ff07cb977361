use std::sync::Arc;

use bookahead_core::kernel::drive;
use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::WantedStart;

use super::*;
use crate::replanning::{
    Admission, JobMarks, ReplanningRun, ReplanningSettings, replanning_scene, reservation_measures,
};

const CLASSES: DelayCostSettings = DelayCostSettings {
    spread: CostSpread::Classes {
        shares_percent: [50.0, 30.0, 20.0],
        weights: [1.0, 3.0, 10.0],
    },
    priced: PricedCosts::Stated,
    misstating_percent: 0.0,
    misstated_factor: 1.0,
    misstated_length_factor: 1.0,
    misstated_alpha: None,
};

fn job(id: u32) -> Job {
    Job::rigid(JobId(id), Seconds(0), Nodes(1), Seconds(1)).numbered(i64::from(id) + 1)
}

/// A request for each of these jobs, which chooses its start by α = 0.4.
fn requests_of<'j>(jobs: impl Iterator<Item = &'j Job>) -> Vec<ReservationRequest> {
    let request = |(id, job): (u32, &Job)| ReservationRequest {
        id: RequestId(id),
        trace_number: job.trace_number,
        user: None,
        submit: job.submit,
        nodes: job.nodes,
        duration: job.estimate,
        runtime: job.runtime,
        wanted: WantedStart::From {
            earliest: job.submit,
            alpha: 0.4,
        },
    };
    (0..).zip(jobs).map(request).collect()
}

fn drawn(settings: &DelayCostSettings, jobs: u32) -> JobCosts {
    let jobs: Vec<Job> = (0..jobs).map(job).collect();
    let seed = StreamSeed::default();
    JobCosts::drawn(settings, &jobs, &[], |name| seed.stream(name))
}

#[test]
fn classes_have_their_shares_and_their_weights() {
    let costs = drawn(&CLASSES, 10_000);
    for (class, share, weight) in [(0, 0.5, 1.0), (1, 0.3, 3.0), (2, 0.2, 10.0)] {
        let of_class = costs.jobs.iter().filter(|job| job.class == Some(class));
        let count = of_class.clone().count() as f64 / 10_000.0;
        // Four standard deviations of a share of 10,000 draws.
        assert!((count - share).abs() < 0.02, "{class}: {count}");
        assert!(of_class.into_iter().all(|job| job.cost == weight));
    }
    let costs_of_jobs = costs.jobs.iter().map(|job| job.cost);
    assert!(costs_of_jobs.eq(costs.priced().iter().copied()));
}

#[test]
fn log_normal_costs_have_mean_1_and_their_coefficient_of_variation() {
    let settings = DelayCostSettings {
        spread: CostSpread::LogNormal { variation: 0.5 },
        ..CLASSES
    };
    let costs = drawn(&settings, 20_000);
    let mean = costs.priced().iter().sum::<f64>() / 20_000.0;
    let squares = costs
        .priced()
        .iter()
        .map(|cost| (cost - mean) * (cost - mean));
    let variation = (squares.sum::<f64>() / 20_000.0).sqrt() / mean;
    assert!((mean - 1.0).abs() < 0.015, "{mean}");
    assert!((variation - 0.5).abs() < 0.03, "{variation}");
}

#[test]
fn a_misstatement_changes_what_is_stated_of_some_and_no_draw() {
    let truthful = drawn(&CLASSES, 1_000);
    let lying = |misstating_percent| {
        let settings = DelayCostSettings {
            misstating_percent,
            misstated_factor: 3.0,
            ..CLASSES
        };
        drawn(&settings, 1_000)
    };
    let (some, more) = (lying(10.0), lying(40.0));
    for (id, ((one, many), honest)) in
        (0..).zip(some.jobs.iter().zip(&more.jobs).zip(&truthful.jobs))
    {
        assert_eq!((one.cost, one.class), (honest.cost, honest.class));
        assert!(many.misstates || !one.misstates);
        let factor = if one.misstates { 3.0 } else { 1.0 };
        assert_eq!(some.priced()[id], honest.cost * factor);
    }
    let count = some.jobs.iter().filter(|job| job.misstates).count();
    assert!((60..140).contains(&count), "{count}");
}

#[test]
fn a_job_costs_the_same_whether_it_waits_or_asks_for_a_reservation() {
    let jobs: Vec<Job> = (0..20).map(job).collect();
    let seed = StreamSeed::default();
    let all = JobCosts::drawn(&CLASSES, &jobs, &[], |name| seed.stream(name));
    // Every third job asks instead of waiting.
    let requests = requests_of(jobs.iter().step_by(3));
    let left: Vec<Job> = jobs
        .iter()
        .filter(|job| job.id.0 % 3 != 0)
        .cloned()
        .collect();
    let mixed = JobCosts::drawn(&CLASSES, &left, &requests, |name| seed.stream(name));
    for (at, job) in (0..).zip(&left) {
        assert_eq!(mixed.of_job(JobId(at)), all.of_job(job.id));
    }
    for request in &requests {
        let job = all.of_job(JobId(request.trace_number as u32 - 1));
        assert_eq!(mixed.of_request(request.id), job);
    }
    assert_eq!(mixed.of_job(JobId(left.len() as u32)), None);
}

#[test]
fn what_nothing_reads_is_not_kept() {
    let lying = DelayCostSettings {
        misstating_percent: 10.0,
        misstated_factor: 3.0,
        ..CLASSES
    };
    assert_eq!(lying.normalised(true, true), lying);
    assert_eq!(lying.normalised(false, true).misstated_factor, 1.0);
    let by_width = DelayCostSettings {
        priced: PricedCosts::Width,
        ..lying
    };
    assert_eq!(by_width.normalised(true, true).misstated_factor, 1.0);
    let without_prices = lying.normalised(false, true);
    assert_eq!(by_width.normalised(false, true), without_prices);
    let by_another_alpha = DelayCostSettings {
        misstated_alpha: Some(0.0),
        misstated_length_factor: 1.5,
        ..lying
    };
    assert_eq!(by_another_alpha.normalised(true, true), by_another_alpha);
    for (is_priced, is_chosen) in [(true, false), (false, true)] {
        let read = by_another_alpha.normalised(is_priced, is_chosen);
        assert_eq!(read.misstated_alpha, None);
        assert_eq!(read.misstated_length_factor, 1.5);
    }
    let nobody = DelayCostSettings {
        misstating_percent: 0.0,
        ..by_another_alpha
    };
    let read = nobody.normalised(true, true);
    assert_eq!(
        (read.misstated_alpha, read.misstated_length_factor),
        (None, 1.0)
    );
}

/// One node, three jobs of an hour that are submitted at once and wait 0, 1 and 2 h; each hour
/// costs 5 SU. A request takes the node from the third hour on, and waits for three.
#[test]
fn what_waiting_costs_is_added_up_for_everybody_by_true_costs() {
    let hour = Seconds::HOUR;
    let jobs: Arc<[Job]> = (0..3)
        .map(|id| Job::rigid(JobId(id), Seconds(0), Nodes(1), hour).numbered(i64::from(id)))
        .collect();
    let request = ReservationRequest {
        id: RequestId(0),
        trace_number: 3,
        user: None,
        submit: Seconds(0),
        nodes: Nodes(1),
        duration: hour,
        runtime: hour,
        wanted: WantedStart::At(hour * 3),
    };
    let requests: Arc<[ReservationRequest]> = [request].into();
    let measured = |misstating_percent| {
        let settings = ReplanningSettings {
            admission: Admission::MovePrice,
            delay_costs: Some(DelayCostSettings {
                spread: CostSpread::Classes {
                    shares_percent: [0.0, 100.0, 0.0],
                    weights: [1.0, 5.0, 9.0],
                },
                misstating_percent,
                misstated_factor: 3.0,
                ..CLASSES
            }),
            ..ReplanningSettings::default()
        };
        let seed = StreamSeed::default();
        let marks = JobMarks::drawn(&jobs, &requests, &settings, |name| seed.stream(name));
        let failures = Arc::default();
        let scene = replanning_scene(Nodes(1), &settings, &jobs, &requests, &marks, &failures);
        let ran = ReplanningRun::of(drive(scene, false));
        reservation_measures(Nodes(1), &ran.metrics, &ran.totals)
    };
    let (truthful, lying) = (measured(0.0), measured(100.0));
    for measured in [&truthful, &lying] {
        assert_eq!(measured.get("waiting_cost_su"), Some(5.0 * 6.0));
        assert_eq!(measured.get("prices_paid_su"), Some(0.0));
        assert_eq!(measured.get("second_class_wait_hours"), Some(1.0));
        assert_eq!(measured.get("first_class_wait_hours"), None);
    }
    assert_eq!(truthful.get("truthful_cost_su"), Some(5.0));
    assert_eq!(truthful.get("misstating_cost_su"), None);
    assert_eq!(lying.get("misstating_cost_su"), Some(5.0));
}
