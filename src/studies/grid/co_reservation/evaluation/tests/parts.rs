//! Measures of parts: CPUs without an owner, places among the largest, penalties and classes.

use super::*;

#[test]
fn cpus_that_nobody_was_granted_are_leaked_and_lost_or_returned_parts_are_not() {
    let (inputs, mut run) = t13();
    let measured = |run: &CoReservationRun, name| {
        let (measured, _) =
            co_reservation_measures(&inputs, &CoReservationSettings::default(), run);
        measured.get(name)
    };
    let leaked = |run: &CoReservationRun| measured(run, "leaked_cpu_seconds");
    let undecided = |run: &CoReservationRun| measured(run, "undecided_cpu_seconds");
    let own = run.parts[0][0];
    // Given back before its start, given back after 10 s, and lost by the cluster.
    run.parts[0].push(PartOutcome {
        gone: Some(Seconds(0)),
        ..own
    });
    near(leaked(&run), 0.0);
    run.parts[0].insert(
        0,
        PartOutcome {
            gone: Some(Seconds(130)),
            ..own
        },
    );
    near(undecided(&run), 50.0);
    near(leaked(&run), 0.0);
    run.parts[0][0].lost = true;
    near(undecided(&run), 0.0);
    // Held to its end on a cluster where the request has no part.
    run.parts.push(vec![own]);
    near(leaked(&run), 200.0);
    run.parts.pop();
    run.requests[0].verdict = CoVerdict::Refused;
    near(leaked(&run), 200.0);
}

#[test]
fn parts_are_told_apart_by_their_place_among_the_largest() {
    // Asked as 3 and 7 CPUs: order 0 is the second part, on the second cluster.
    let asked = CoRequest {
        parts: vec![Nodes(3), Nodes(7)],
        ..request(0, 0, 120, 0, 40)
    };
    let (mut inputs, mut run) = t13();
    inputs.clusters.push(ClusterWorkload {
        jobs: Arc::from([]),
        ..inputs.clusters[0].clone()
    });
    run.totals.push(LocalTotals::default());
    run.requests = vec![outcome(asked.clone(), CoVerdict::Granted, Some(120))];
    run.parts = vec![vec![held(&asked, 1, 120)], vec![held(&asked, 0, 120)]];
    let (measured, values) =
        co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    near(measured.get("leaked_cpu_seconds"), 0.0);
    near(value(&values, 0, "cluster_part_nodes", ""), 3.0);
    near(value(&values, 1, "cluster_part_nodes", ""), 7.0);
    run.parts.reverse();
    let (measured, _) = co_reservation_measures(&inputs, &CoReservationSettings::default(), &run);
    near(measured.get("leaked_cpu_seconds"), 400.0);
}

#[test]
fn a_penalty_is_due_where_a_lost_part_was_not_replaced() {
    let (inputs, mut run) = t13();
    let with = |lost_parts, replaced_parts| CoOutcome {
        lost_parts,
        replaced_parts,
        pof: 0.1,
        ..run.requests[0].clone()
    };
    run.requests = vec![with(0, 0), with(1, 1), with(2, 1)];
    let settings = CoReservationSettings {
        risk: Some(RiskSettings {
            choice: RiskChoice::ExpectedCost,
            penalty_ratio: 4.0,
            pof_max: 0.5,
            strategy: "heuristic-overbooking".to_owned(),
            reliability: None,
            policy: None,
        }),
        ..CoReservationSettings::default()
    };
    let (measured, _) = co_reservation_measures(&inputs, &settings, &run);
    near(measured.get("co_lost_rate"), 2.0 / 3.0);
    near(measured.get("co_kept_rate"), 2.0 / 3.0);
    near(measured.get("co_replaced_rate"), 2.0 / 3.0);
    near(measured.get("co_pof_mean"), 0.1);
    near(measured.get("co_risk_cost_mean"), 14.0);
    near(
        measured.get("co_realised_cost_mean"),
        (10.0 + 10.0 - 30.0) / 3.0,
    );
    near(measured.get("co_earned_total"), 10.0 + 10.0 - 30.0);
}

#[test]
fn classes_include_their_upper_cpus_and_exclude_their_upper_hour() {
    let sizes = [1, 8, 9, 16, 17, 256, 257, 512, 513, 1_160];
    let found = sizes.map(|nodes| SIZE_CLASSES[size_class(Nodes(nodes))].0);
    assert_eq!(
        found,
        [
            "1-8", "1-8", "9-16", "9-16", "17-32", "129-256", "257-512", "257-512", ">512", ">512"
        ]
    );
    let hours = [3_599, 3_600, 17_999, 18_000, 43_200, 86_399, 86_400];
    let found = hours.map(|seconds| DURATION_CLASSES[duration_class(Seconds(seconds))].0);
    assert_eq!(
        found,
        ["<1h", "1-5h", "1-5h", "5-12h", "12-24h", "12-24h", ">24h"]
    );
}

#[test]
fn what_is_in_use_is_what_parts_held_and_what_lacked_counts_beside_free_cpus() {
    let (mut inputs, mut run) = t13();
    inputs.stop = Seconds(200);
    let mut settings = CoReservationSettings::default();
    let measure = |settings: &CoReservationSettings, run: &CoReservationRun| {
        co_reservation_measures(&inputs, settings, run).0
    };
    let names = |measured: &Measured| measured.iter().map(|it| it.0).collect::<Vec<_>>();
    let is_left_out = |settings: &CoReservationSettings, what: &str| {
        let found = measure(settings, &run);
        !names(&found).iter().any(|name| name.starts_with(what))
    };
    assert!(is_left_out(&settings, "licence_") && is_left_out(&settings, "storage_"));
    settings.local.further.licences = 4;
    assert!(!is_left_out(&settings, "licence_") && is_left_out(&settings, "storage_"));
    settings.local.further.storage_gb = 500;
    // The part holds its CPUs over [120, 160): 3 licences of 4 and 100 GB of 500 for 40 s of 200.
    run.parts[0][0].order.further = FurtherCounts {
        licences: 3,
        storage_gb: 100,
    };
    let counts = |unfiltered, counting, licences, storage| ProbeCounts {
        counts: FilterCounts {
            unfiltered,
            counting,
            licences,
            storage,
            ..FilterCounts::default()
        },
        ..ProbeCounts::default()
    };
    run.requests[0].probes = vec![counts(20, 8, 3, 5), counts(10, 2, 1, 0)];
    let measured = measure(&settings, &run);
    near(measured.get("licence_use_percent"), 100.0 * 120.0 / 800.0);
    near(measured.get("licence_lack_share"), 4.0 / 20.0);
    near(
        measured.get("storage_use_percent"),
        100.0 * 4_000.0 / 100_000.0,
    );
    near(measured.get("storage_lack_share"), 5.0 / 20.0);
}
