//! Measures of runs that are made by hand.

mod backlog;
mod parts;

use std::sync::Arc;

use bookahead_core::scheduling::Verdict;
use bookahead_core::units::NodeSeconds;
use bookahead_core::workload::{CoRequest, CoRequestId, FurtherCounts, Job, JobId, Preference};

use super::*;
use crate::co_reservation::local::{
    ClusterId, FilterCounts, LocalTotals, PartOrder, PartOutcome, Precedence,
};
use crate::co_reservation::{
    ClusterWorkload, MessageCounts, OfferBounds, ProbeCounts, RequestClass, RiskChoice,
    RiskSettings,
};

fn ran(job: &Job, start: i64) -> JobOutcome {
    JobOutcome {
        job: job.clone(),
        verdict: Verdict::SuccessfulFinished,
        class: None,
        promise: None,
        start: Some(Seconds(start)),
        end: Some(Seconds(start) + job.runtime),
        restarts: 0,
        node_failures: 0,
        execution: None,
        late: None,
    }
}

fn request(id: u32, submit: i64, earliest: i64, slack: i64, duration: i64) -> CoRequest {
    CoRequest {
        id: CoRequestId(id),
        trace_number: 100 + i64::from(id),
        user: None,
        submit: Seconds(submit),
        earliest: Seconds(earliest),
        deadline: Seconds(earliest + duration + slack),
        duration: Seconds(duration),
        parts: vec![Nodes(5)],
        further: Vec::new(),
        preference: Preference::default(),
        task: None,
    }
}

fn outcome(request: CoRequest, verdict: CoVerdict, start: Option<i64>) -> CoOutcome {
    let granted = verdict == CoVerdict::Granted;
    CoOutcome {
        answered: request.submit,
        start: start.map(Seconds),
        clusters: if granted {
            (0..request.parts.len() as u16).map(ClusterId).collect()
        } else {
            Vec::new()
        },
        cost: granted.then_some(10.0),
        pof: 0.0,
        messages: MessageCounts::default(),
        starts: 1,
        candidates: 0.0,
        worst_case: 0.0,
        bounds: None,
        probes: Vec::new(),
        free_cpus: Vec::new(),
        waiting_before: 0,
        waiting_after: 0,
        class: RequestClass::Fixed,
        displacements: 0,
        lost_parts: 0,
        replaced_parts: 0,
        first_start: None,
        renegotiations: 0,
        improvements: 0,
        attempts: Vec::new(),
        verdict,
        request,
    }
}

fn held(request: &CoRequest, part: u16, start: i64) -> PartOutcome {
    let place = request.largest_first()[usize::from(part)];
    PartOutcome {
        order: PartOrder {
            request: request.id,
            order: 0,
            part,
            nodes: request.parts[place],
            further: FurtherCounts::NONE,
            start: Seconds(start),
            duration: request.duration,
            pof_limit: 0.0,
            precedence: Precedence::Fixed,
        },
        gone: None,
        lost: false,
    }
}

fn inputs(clusters: Vec<(u32, Vec<Job>)>, stop: i64) -> CoReservationInputs {
    CoReservationInputs {
        clusters: clusters
            .into_iter()
            .map(|(nodes, jobs)| ClusterWorkload {
                nodes: Nodes(nodes),
                jobs: Arc::from(jobs),
                window_start: Seconds(0),
                accuracy: 0.5,
            })
            .collect(),
        requests: Arc::from([]),
        stop: Seconds(stop),
        estimates: None,
        failures: Arc::default(),
    }
}

/// T13, a small cluster worked out by hand, with a firm part: what it did.
fn t13() -> (CoReservationInputs, CoReservationRun) {
    let jobs = [(6, 100, 60), (8, 50, 50), (4, 90, 90), (4, 120, 30)];
    let jobs: Vec<Job> = (0..)
        .zip(jobs)
        .map(|(id, (nodes, limit, runtime))| {
            Job::rigid(JobId(id), Seconds(0), Nodes(nodes), Seconds(limit))
                .running_for(Seconds(runtime))
                .numbered(i64::from(id) + 1)
        })
        .collect();
    let starts = [0, 160, 0, 210];
    let granted = CoOutcome {
        waiting_before: 2,
        waiting_after: 2,
        ..outcome(request(0, 0, 120, 0, 40), CoVerdict::Granted, Some(120))
    };
    let run = CoReservationRun {
        jobs: jobs
            .iter()
            .zip(starts)
            .map(|(job, start)| ran(job, start))
            .collect(),
        parts: vec![vec![held(&granted.request, 0, 120)]],
        requests: vec![granted],
        totals: vec![LocalTotals {
            job_work: NodeSeconds(360 + 360 + 320),
            part_work: NodeSeconds(200),
            drained: Seconds(240),
            ..LocalTotals::default()
        }],
        ..CoReservationRun::default()
    };
    (inputs(vec![(10, jobs.to_vec())], 200), run)
}

fn value(values: &[ClusterValue], cluster: u16, measure: &str, class: &str) -> Option<f64> {
    values
        .iter()
        .find(|value| {
            (value.cluster, value.measure, value.class) == (ClusterId(cluster), measure, class)
        })
        .map(|value| value.value)
}

fn sum_of(values: &[ClusterValue], measure: &str) -> f64 {
    let of = values.iter().filter(|value| value.measure == measure);
    of.map(|value| value.value).sum()
}

#[track_caller]
fn near(found: Option<f64>, wanted: f64) {
    let found = found.expect("it is measured");
    assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
}

#[test]
fn t13_expansion_factors_utilisation_longest_wait_and_unfairness() {
    let (inputs, run) = t13();
    let (measured, values) =
        co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    let factors: Vec<f64> = run.jobs.iter().filter_map(expansion_factor).collect();
    assert_eq!(factors, [0.6, 4.2, 1.0, 2.0]);
    near(measured.get("expansion_factor_mean"), 1.95);
    near(measured.get("longest_wait_seconds"), 210.0);
    near(
        measured.get("ten_longest_waits_seconds"),
        (210.0 + 160.0) / 4.0,
    );
    near(measured.get("unfairness_mean"), 1.0);
    assert_eq!(measured.get("unfairness_deviation"), None);
    near(measured.get("grid_utilisation_percent"), 62.0);
    near(value(&values, 0, "cluster_utilisation_percent", ""), 62.0);
    near(value(&values, 0, "cluster_job_percent", ""), 52.0);
    near(value(&values, 0, "cluster_part_percent", ""), 10.0);
    near(measured.get("drain_hours"), 40.0 / 3_600.0);
    // Classes are reckoned from outcomes, prorated at the end of submissions as the totals are.
    near(value(&values, 0, "class_job_percent", "1-8"), 52.0);
    near(
        value(&values, 0, "class_part_percent_by_duration", "<1h"),
        10.0,
    );
    near(Some(sum_of(&values, "class_part_percent_by_nodes")), 10.0);
    near(value(&values, 0, "class_expansion_factor", "1-8"), 1.95);
    assert_eq!(value(&values, 0, "class_expansion_factor", "9-16"), None);
    near(
        value(&values, 0, "class_earliest_parts_by_nodes", "1-8"),
        1.0,
    );
    near(measured.get("leaked_cpu_seconds"), 0.0);
}

#[test]
fn a_failed_request_counts_in_rates_and_in_nothing_that_is_about_granted_ones() {
    let (inputs, mut run) = t13();
    run.requests.push(CoOutcome {
        waiting_before: 4,
        waiting_after: 4,
        ..outcome(request(1, 0, 50, 0, 40), CoVerdict::NoCandidate, None)
    });
    for (id, verdict) in [(2, CoVerdict::Refused), (3, CoVerdict::Impossible)] {
        run.requests
            .push(outcome(request(id, 0, 50, 0, 40), verdict, None));
    }
    let (measured, values) =
        co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    near(measured.get("co_requests"), 4.0);
    near(measured.get("co_failure_rate"), 0.75);
    near(measured.get("co_no_candidate_rate"), 0.5);
    near(measured.get("co_refused_rate"), 0.25);
    near(measured.get("unfairness_mean"), 1.0);
    near(measured.get("co_at_earliest_share"), 0.25);
    near(measured.get("co_kept_rate"), 0.25);
    near(measured.get("co_cost_mean"), 10.0);
    near(value(&values, 0, "cluster_parts", ""), 1.0);
    // Nothing was probed.
    assert_eq!(value(&values, 0, "filtering_degree", ""), None);
    assert_eq!(value(&values, 0, "infeasibility_rate", ""), None);
    assert_eq!(measured.get("grid_backlog_hours"), None);
}

#[test]
fn without_requests_only_jobs_and_machines_are_measured() {
    let (inputs, mut run) = t13();
    run.requests.clear();
    run.parts = vec![Vec::new()];
    run.totals[0].part_work = NodeSeconds(0);
    let (measured, values) =
        co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    assert!(
        measured
            .iter()
            .all(|(name, _)| !name.starts_with("co_") && !name.starts_with("messages"))
    );
    near(measured.get("grid_utilisation_percent"), 52.0);
    assert_eq!(value(&values, 0, "cluster_parts", ""), None);
    assert_eq!(value(&values, 0, "class_parts_by_nodes", "1-8"), None);
    near(value(&values, 0, "cluster_jobs", ""), 4.0);
}

#[test]
fn offsets_are_relative_to_the_candidates_that_were_built_and_to_the_window() {
    // The window begins on Wednesday at 18 h and has room for 20 starts, 1,080 s apart, the last
    // one at 20,520 s.
    let base = request(0, 0, 0, 21_600, 7_200);
    let bounds = OfferBounds {
        earliest: Seconds(1_080),
        latest: Seconds(11_880),
        cheapest: 4.0,
        dearest: 44.0,
    };
    let placed = |id, start| CoOutcome {
        bounds: Some(bounds),
        starts: 20,
        ..outcome(
            CoRequest {
                id: CoRequestId(id),
                ..base.clone()
            },
            CoVerdict::Granted,
            Some(start),
        )
    };
    let (inputs, mut run) = t13();
    run.requests = vec![placed(0, 1_080), placed(1, 6_480)];
    let settings = CoReservationSettings::default();
    let (measured, _) = co_reservation_measures(&inputs, &settings, &run);
    near(measured.get("co_relative_start_mean"), 0.25);
    near(
        measured.get("co_relative_start_deviation"),
        0.125_f64.sqrt(),
    );
    near(measured.get("co_relative_cost_mean"), 0.15);
    near(measured.get("co_relative_cost_deviation"), 0.0);
    near(measured.get("co_window_start_mean"), (0.05 + 0.3) / 2.0);
    near(
        measured.get("co_window_start_latest_mean"),
        (1.0 + 6.0) / 19.0 / 2.0,
    );
    near(measured.get("co_lead_hours"), 1.05);
    near(measured.get("co_granted_work_hours"), 10.0);
    // One candidate alone has offset 0, whatever its start.
    for outcome in &mut run.requests {
        outcome.bounds = Some(OfferBounds {
            latest: bounds.earliest,
            dearest: bounds.cheapest,
            ..bounds
        });
    }
    let (measured, _) = co_reservation_measures(&inputs, &settings, &run);
    near(measured.get("co_relative_start_mean"), 0.0);
    near(measured.get("co_relative_cost_mean"), 0.0);
}

#[test]
fn a_run_begins_on_wednesday_at_18_h_and_its_weekends_are_where_the_calendar_has_them() {
    let local = LocalSettings::default();
    assert_eq!(
        weekends(&local),
        [
            (Seconds(194_400), Seconds(367_200)),
            (Seconds(799_200), Seconds(972_000))
        ]
    );
    let on_sunday = LocalSettings {
        calendar_origin: DAY * 6,
        ..local
    };
    assert_eq!(weekends(&on_sunday)[0], (-DAY, DAY));

    let (inputs, mut run) = t13();
    let bounds = |start: i64| OfferBounds {
        earliest: Seconds(start - 100),
        latest: Seconds(start + 100),
        cheapest: 0.0,
        dearest: 40.0,
    };
    let at = |id: u32, start: i64, duration: i64| CoOutcome {
        bounds: Some(bounds(start)),
        ..outcome(
            request(id, start, start, 0, duration),
            CoVerdict::Granted,
            Some(start),
        )
    };
    let hour = 3_600;
    run.requests = vec![
        // 18 h to 8 h: exactly the night.
        at(0, 0, 14 * hour),
        // 8 h to 18 h: exactly the day.
        at(1, 14 * hour, 10 * hour),
        // One second more.
        at(2, 14 * hour, 10 * hour + 1),
        // Ends as the weekend begins, and overlaps it by a second.
        at(3, 194_400 - hour, hour),
        at(4, 194_400 - hour, hour + 1),
    ];
    let (measured, _) = co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    near(measured.get("co_day_share"), 0.2);
    near(measured.get("co_night_share"), 0.6);
    near(measured.get("co_weekend1_relative_start_mean"), 0.5);
    near(measured.get("co_weekend1_relative_cost_mean"), 0.25);
    assert_eq!(measured.get("co_weekend2_relative_start_mean"), None);
    run.requests.remove(4);
    let (measured, _) = co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    assert_eq!(measured.get("co_weekend1_relative_start_mean"), None);
}

#[test]
fn messages_are_orders_and_cancellations_and_an_empty_tree_wastes_none() {
    let (inputs, mut run) = t13();
    let with = |id, verdict, granted, refused, cancelled, worst_case| CoOutcome {
        messages: MessageCounts {
            probes: 8,
            probed_clusters: 4,
            second_rounds: 0,
            granted,
            refused,
            cancelled,
            timed_out: 1,
            repeated: 2,
        },
        worst_case,
        candidates: worst_case / 2.0,
        ..outcome(
            request(id, 0, 0, 0, 40),
            verdict,
            (verdict == CoVerdict::Granted).then_some(0),
        )
    };
    run.requests = vec![
        with(0, CoVerdict::Granted, 2, 1, 1, 20.0),
        with(1, CoVerdict::Refused, 4, 24, 4, 400.0),
        with(2, CoVerdict::NoCandidate, 0, 0, 0, 0.0),
    ];
    let (measured, _) = co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    for (name, wanted) in [
        ("messages_total", 36.0),
        ("messages_mean", 12.0),
        (
            "messages_deviation",
            (((8 * 8 + 20 * 20 + 12 * 12) / 2) as f64).sqrt(),
        ),
        ("messages_max", 32.0),
        ("messages_max_worst_case", 400.0),
        ("messages_max_candidates", 200.0),
        ("messages_with_probes_total", 60.0),
        ("messages_part_failures", 25.0),
        ("messages_cancellations", 5.0),
        ("messages_beyond_minimum", 35.0),
        ("messages_timed_out", 3.0),
        ("messages_repeated", 6.0),
        ("reservation_efficiency_mean", (0.8 + 0.92 + 1.0) / 3.0),
        ("top_request_message_share", 32.0 / 36.0),
    ] {
        near(measured.get(name), wanted);
    }
}

#[test]
fn filtering_counts_what_the_probe_discarded_of_what_a1_would_build() {
    let (mut inputs, mut run) = t13();
    inputs.clusters.push(ClusterWorkload {
        nodes: Nodes(10),
        ..ClusterWorkload {
            jobs: Arc::from([]),
            ..inputs.clusters[0].clone()
        }
    });
    run.totals.push(LocalTotals::default());
    run.parts.push(Vec::new());
    let probe = |cluster, unfiltered, counting, backlog, quota| ProbeCounts {
        cluster: ClusterId(cluster),
        at: Seconds(0),
        counts: FilterCounts {
            unfiltered,
            counting,
            licences: 0,
            storage: 0,
            backlog,
            quota,
            exempt: 1,
        },
        backlog_now: Seconds(3_600 * i64::from(cluster + 1)),
        backlog_earliest: Seconds(7_200),
    };
    // T12: filtering degrees 0.5 and 0.375; then nothing is left of a request at the first cluster,
    // and the second one is too small for any of its parts.
    run.requests = vec![
        CoOutcome {
            probes: vec![probe(0, 8, 4, 0, 0), probe(1, 8, 2, 1, 0)],
            ..outcome(request(0, 0, 0, 0, 40), CoVerdict::NoCandidate, None)
        },
        CoOutcome {
            probes: vec![probe(0, 8, 4, 3, 1), probe(1, 0, 0, 0, 0)],
            ..outcome(request(1, 0, 0, 0, 40), CoVerdict::NoCandidate, None)
        },
    ];
    let (measured, values) =
        co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    near(value(&values, 0, "filtering_degree", ""), 0.75);
    near(value(&values, 1, "filtering_degree", ""), 0.375);
    near(value(&values, 0, "infeasibility_rate", ""), 0.5);
    near(value(&values, 1, "infeasibility_rate", ""), 0.0);
    near(value(&values, 1, "cluster_backlog_now_hours", ""), 2.0);
    near(value(&values, 1, "cluster_backlog_earliest_hours", ""), 2.0);
    near(measured.get("grid_backlog_hours"), 1.5);
}
