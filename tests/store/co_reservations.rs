//! Several clusters and co-reservations.

use std::path::Path;

use super::{connection, count, folder};
use bookahead::store::{OutcomeDetail, RunId, RunState, Store, Writer};
use bookahead::studies::STUDIES;
use bookahead_testutils::runs::{axis, finished, point, record, text};

/// Two algorithms, two replications each, on three clusters with eight requests.
pub(super) fn several_clusters(path: &Path, detail: OutcomeDetail) -> RunId {
    let algorithms = ["a3", "a3-backfill"];
    let store = Store::open(STUDIES, path).unwrap();
    let axes = vec![axis("broker.algorithm", &algorithms.map(text))];
    let run = store.begin_run(&record("clusters", axes, 4)).unwrap();
    let writer = Writer::start(store, run, detail, 4);
    for algorithm in algorithms {
        for replication in 0..2 {
            let id = format!("{algorithm}-{replication}");
            let values = [("broker.algorithm", text(algorithm))];
            let result = bookahead_testutils::runs::grid::grid(3, 8, |request| {
                request % 2 == 0 || algorithm == "a3-backfill"
            });
            let points = vec![point(&id, &values, replication, 1.0)];
            let done = finished(&id, "co-reservation", replication, result, points);
            writer.handle().write(done).unwrap();
        }
    }
    writer.finish(RunState::Done).unwrap();
    run
}

#[test]
fn a_run_of_several_clusters_is_in_the_store_as_it_was_with_time_lines_of_the_first_replication() {
    let folder = folder();
    let path = folder.path().join("store.db");
    several_clusters(&path, OutcomeDetail::All);
    let store = Store::open_read_only(STUDIES, &path).unwrap();
    let number = |sql: &str| -> f64 {
        connection(&store)
            .query_row(sql, [], |row| row.get(0))
            .unwrap_or_else(|error| panic!("{sql}: {error}"))
    };
    let whole = |sql: &str| count(&connection(&store), sql);
    assert_eq!(whole("SELECT count(*) FROM cluster"), 4 * 3);
    assert_eq!(whole("SELECT count(*) FROM co_request"), 4 * 8);
    assert_eq!(whole("SELECT count(*) FROM co_part"), 4 * 8 * 2);
    assert_eq!(whole("SELECT count(*) FROM co_probe"), 4 * 8 * 3);
    assert_eq!(whole("SELECT count(*) FROM co_free_cpus"), 4 * 8 * 3);
    // Request 6 of the fixture has 64 + 6 CPUs free at its earliest start.
    let free = "SELECT count(*) FROM v_co_free_cpus WHERE request = 6 AND free = 70
        AND start = submit + 3600 AND \"end\" > start";
    assert_eq!(whole(free), 4 * 3);
    // The second part of request 6 needs two licences and 300 GB, and at each cluster five
    // candidates lacked licences, three storage: of 40 candidates 20 + 5 + 3 + 10 were discarded.
    assert_eq!(whole("SELECT count(*) FROM co_licences"), 4);
    assert_eq!(whole("SELECT count(*) FROM co_storage"), 4);
    assert_eq!(whole("SELECT sum(storage_gb) FROM v_co_part"), 4 * 300);
    let needed = "SELECT sum(licences) FROM v_co_part WHERE request = 6 AND part = 1";
    assert_eq!(whole(needed), 4 * 2);
    assert_eq!(whole("SELECT sum(licences) FROM v_co_part"), 4 * 2);
    let lacking = "SELECT count(*) FROM v_co_probe WHERE request = 6 AND licences = 5
        AND storage = 3 AND filtering_degree = 38.0 / 40";
    assert_eq!(whole(lacking), 4 * 3);
    assert_eq!(whole("SELECT sum(licences) FROM v_co_probe"), 4 * 3 * 5);
    assert_eq!(whole("SELECT sum(storage) FROM v_co_probe"), 4 * 3 * 3);
    assert_eq!(whole("SELECT count(*) FROM time_line"), 2 * 3 * 361);
    assert_eq!(
        whole(
            "SELECT count(DISTINCT simulation) FROM time_line JOIN simulation m ON m.id = simulation WHERE replication = 0"
        ),
        2
    );
    let jobs = "SELECT count(*) FROM v_cluster c JOIN v_job j ON j.simulation = c.simulation
        AND j.job >= c.first_job AND j.job < c.first_job + c.jobs WHERE c.cluster = 2";
    assert_eq!(whole(jobs), 4 * 5);
    let of = "FROM v_co_request WHERE request = 6 AND simulation = (SELECT min(simulation) FROM cluster)";
    // Request 6 of the fixture: asked at 300,000 s, earliest an hour later, starts 2 · 1,080 s
    // after that.
    assert_eq!(
        whole(&format!("SELECT start {of}")),
        300_000 + 3_600 + 2_160
    );
    assert_eq!(whole(&format!("SELECT slack {of}")), 21_600);
    let near = |sql: String, wanted: f64| {
        let found = number(&sql);
        assert!((found - wanted).abs() < 1e-12, "{sql}: {found}");
    };
    near(format!("SELECT relative_start {of}"), 2_160.0 / 20_520.0);
    near(format!("SELECT relative_cost {of}"), 16.0 / 200.0);
    near(format!("SELECT unfairness {of}"), 1.0 / 4.0);
    near(format!("SELECT efficiency {of}"), 1.0 - 2.0 / 400.0);
    assert_eq!(
        whole(
            "SELECT min(cluster) * 10 + max(cluster) FROM v_co_part WHERE request = 4 AND cluster IS NOT NULL"
        ),
        12
    );
    assert_eq!(
        whole("SELECT sum(lost) FROM co_part WHERE part = 1"),
        4,
        "the larger part of the first request, of four simulations"
    );
    near(
        "SELECT avg(filtering_degree) FROM v_co_probe WHERE request = 3".to_owned(),
        1.0,
    );
    // What the view reckons is what was measured.
    for (view, measure) in [
        ("avg(relative_start)", "co_relative_start_mean"),
        ("avg(unfairness)", "unfairness_mean"),
        ("avg(efficiency)", "reservation_efficiency_mean"),
        ("1.0 - avg(granted)", "co_failure_rate"),
        ("avg(lead) / 3600.0", "co_lead_hours"),
    ] {
        let simulation = "(SELECT min(simulation) FROM cluster)";
        near(
            format!("SELECT {view} FROM v_co_request WHERE simulation = {simulation}"),
            number(&format!(
                "SELECT value FROM v_measure WHERE measure = '{measure}' AND simulation = {simulation}"
            )),
        );
    }
    near(
        "SELECT avg(value) FROM v_cluster_measure WHERE measure = 'infeasibility_rate' AND cluster = 1".to_owned(),
        0.25,
    );
}

#[test]
fn without_outcomes_requests_stay_and_probes_and_time_lines_of_the_first_replication() {
    let folder = folder();
    let path = folder.path().join("store.db");
    several_clusters(&path, OutcomeDetail::Metrics);
    let connection = rusqlite::Connection::open(&path).unwrap();
    for (table, rows) in [
        ("co_request", 4 * 8),
        ("co_part", 4 * 8 * 2),
        ("co_probe", 2 * 8 * 3),
        ("co_free_cpus", 2 * 8 * 3),
        ("co_licences", 4),
        ("co_licence_lack", 2 * 3),
        ("co_storage", 4),
        ("co_storage_lack", 2 * 3),
        ("time_line", 2 * 3 * 361),
        ("job_outcome", 0),
    ] {
        assert_eq!(
            count(&connection, &format!("SELECT count(*) FROM {table}")),
            rows,
            "{table}"
        );
    }
    let measures = count(&connection, "SELECT count(*) FROM cluster_measure");
    drop(connection);
    // Asked for, they are added, and nothing is there twice.
    several_clusters(&path, OutcomeDetail::All);
    let connection = rusqlite::Connection::open(&path).unwrap();
    assert_eq!(count(&connection, "SELECT count(*) FROM co_request"), 32);
    assert_eq!(
        count(&connection, "SELECT count(*) FROM co_probe"),
        4 * 8 * 3
    );
    assert_eq!(
        count(&connection, "SELECT count(*) FROM cluster_measure"),
        measures
    );
}

#[test]
fn a_request_whose_numbers_are_none_is_refused() {
    let mut result = bookahead_testutils::runs::grid::grid(2, 2, |_| true);
    let Some(rows) = result
        .rows
        .get_mut::<bookahead_grid::co_reservation::study::Rows>()
    else {
        panic!("a study of several clusters");
    };
    rows.run.as_mut().unwrap().requests[1].worst_case = f64::INFINITY;
    let done = finished("x", "co-reservation", 0, result, Vec::new());
    let folder = folder();
    let store = Store::open(STUDIES, &folder.path().join("a.db")).unwrap();
    let run = store.begin_run(&record("refused", vec![], 1)).unwrap();
    let writer = Writer::start(store, run, OutcomeDetail::All, 1);
    let error = writer.handle().write(done).expect_err("it is refused");
    assert!(
        error.to_string().contains("of request 1 is not a number"),
        "{error}"
    );
}
