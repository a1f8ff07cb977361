//! What a study leaves beside its totals, held against these: nothing is missing, and nothing is
//! there that was not asked for.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use bookahead::failures::FailureSource;
use bookahead::studies::STUDIES;
use bookahead::study::AnyStudy;
use bookahead::sweep::Experiment;
use rusqlite::Connection;

use crate::support::program::run;

/// The small experiment of a study.
fn experiment(study: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/goldens/experiments")
        .join(format!("{study}.toml"));
    fs::read_to_string(file).expect("an experiment")
}

/// The small experiments of all studies.
fn experiments() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens/experiments");
    let entries = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    files
}

/// The kinds of rows that a study says it has, each with a question for their number.
fn kinds(study: &dyn AnyStudy) -> BTreeMap<String, String> {
    let (name, tables) = (study.name(), study.tables());
    let own = tables.sql.split("CREATE TABLE ").skip(1);
    let own = own.filter_map(|text| text.split_whitespace().next());
    let views = tables.views.iter().map(|(view, _)| *view);
    let mut kinds: BTreeMap<String, String> = own
        .chain(views)
        .map(|table| (table.to_owned(), format!("SELECT count(*) FROM {table}")))
        .collect();
    let mut of_all = vec!["v_all_jobs"];
    of_all.extend(tables.outcomes.reservations.map(|_| "v_all_reservations"));
    for view in of_all {
        let rows = format!("SELECT count(*) FROM {view} WHERE study = '{name}'");
        kinds.insert(view.to_owned(), rows);
    }
    if tables.outcomes.nodes_fail {
        let rows = format!(
            "SELECT count(*) FROM node_event JOIN v_run_simulation USING (simulation) WHERE study = '{name}'"
        );
        kinds.insert("node_event".to_owned(), rows);
    }
    kinds
}

#[test]
fn every_study_stores_rows_of_every_kind_that_it_declares_and_every_simulation_has_jobs() {
    let mut missing: BTreeMap<&str, BTreeMap<String, String>> = STUDIES
        .iter()
        .map(|study| (study.name(), kinds(study)))
        .collect();
    for file in experiments() {
        let text = fs::read_to_string(&file).expect("an experiment");
        let (_folder, store) = stored(&text, "all");
        let studies: BTreeSet<String> = store
            .prepare("SELECT DISTINCT study FROM v_run_simulation")
            .and_then(|mut rows| rows.query_map([], |row| row.get(0))?.collect())
            .expect("the studies of a run");
        for study in &studies {
            let kinds = missing.get_mut(study.as_str()).expect("a known study");
            kinds.retain(|_, question| number(&store, question) == 0.0);
        }
        let without_jobs = "SELECT count(*) FROM v_run_simulation s WHERE NOT EXISTS
            (SELECT 1 FROM v_all_jobs j WHERE j.run = s.run AND j.simulation = s.simulation)";
        assert_eq!(number(&store, without_jobs), 0.0, "{}", file.display());
    }
    for (study, kinds) in missing {
        let kinds: Vec<&String> = kinds.keys().collect();
        assert!(
            kinds.is_empty(),
            "no experiment of the goldens leaves a row of these kinds of the study {study}: {kinds:?}"
        );
    }
}

#[test]
fn a_study_that_stores_no_failures_of_nodes_reads_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut seen = BTreeSet::new();
    for file in experiments() {
        let text = fs::read_to_string(&file).expect("an experiment");
        let path = folder.path().join("failing.toml");
        let failing = match text.contains("[failures]") {
            true => text,
            false => text + "\n[failures]\nsource = \"generated\"\n",
        };
        fs::write(&path, failing).expect("written");
        let experiment = Experiment::load(STUDIES, &path, None).expect("a sound experiment");
        for spec in experiment.sweep.simulations.iter() {
            let study = STUDIES.of_strategy(&spec.scheduling.strategy);
            let study = study.expect("a known study");
            seen.insert(study.name());
            let reads = spec.failures.source != FailureSource::None;
            assert_eq!(
                reads,
                study.tables().outcomes.nodes_fail,
                "{}: {}",
                file.display(),
                study.name()
            );
        }
    }
    let known: BTreeSet<&str> = STUDIES.iter().map(AnyStudy::name).collect();
    assert_eq!(seen, known);
}

#[test]
fn the_failures_of_a_battery_are_the_same_for_every_strategy_and_go_on_past_the_last_end() {
    for (experiment_name, table, strategies) in [
        ("overbooking", "node_event", 4.0),
        ("market", "node_event", 8.0),
        ("reservations-failures", "node_event", 2.0),
        ("co-reservation-failures", "node_event", 2.0),
        ("co-reservation-failures", "cluster_event", 2.0),
        ("provisioning-advertised", "node_event", 2.0),
    ] {
        let (_folder, store) = stored(&experiment(experiment_name), "all");
        let columns = match table {
            "node_event" => "node",
            _ => "cluster || ' ' || coalesce(first_node, '') || ' ' || coalesce(nodes, '')",
        };
        let lists = format!(
            "SELECT m.replication, count(*) AS simulations, count(DISTINCT e.list) AS lists, min(length(e.list)) AS least
             FROM simulation m LEFT JOIN (
                SELECT simulation, group_concat(time || ' ' || {columns} || ' ' || up, ';' ORDER BY sequence) AS list
                FROM {table} GROUP BY simulation
             ) e ON e.simulation = m.id GROUP BY m.replication"
        );
        let differ = format!("SELECT sum(lists <> 1 OR least IS NULL) FROM ({lists})");
        assert_eq!(number(&store, &differ), 0.0, "{experiment_name}: {table}");
        let fewest = format!("SELECT min(simulations) FROM ({lists})");
        assert!(
            number(&store, &fewest) >= strategies,
            "{experiment_name} compares strategies"
        );
        let ended = format!(
            "SELECT sum((SELECT max(j.\"end\") FROM v_all_jobs j WHERE j.simulation = m.id) >
                (SELECT max(e.time) FROM {table} e WHERE e.simulation = m.id)) FROM simulation m"
        );
        assert_eq!(number(&store, &ended), 0.0, "{experiment_name}: {table}");
    }
}

/// An experiment, stored with this detail.
fn stored(text: &str, outcomes: &str) -> (tempfile::TempDir, Connection) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("small.toml"), text).expect("written");
    let connection = run_in(folder.path(), &["--outcomes", outcomes]);
    (folder, connection)
}

fn run_in(folder: &Path, arguments: &[&str]) -> Connection {
    let mut command = run(folder, "small", arguments);
    assert!(command.status().expect("runs").success());
    Connection::open(folder.join("small.db")).expect("a store")
}

fn number(connection: &Connection, question: &str) -> f64 {
    let found: rusqlite::Result<Option<f64>> =
        connection.query_row(&format!("SELECT CAST(({question}) AS REAL)"), [], |row| {
            row.get(0)
        });
    match found {
        Ok(found) => found.unwrap_or_else(|| panic!("{question}: NULL")),
        Err(error) => panic!("{question}: {error}"),
    }
}

/// How many rows of the left question differ from those of the right one; there are some.
fn compare(connection: &Connection, left: &str, right: &str) {
    assert!(
        number(connection, &format!("SELECT count(*) FROM ({left})")) > 0.0,
        "{left}"
    );
    for question in [
        format!("SELECT count(*) FROM ({left} EXCEPT {right})"),
        format!("SELECT count(*) FROM ({right} EXCEPT {left})"),
    ] {
        assert_eq!(number(connection, &question), 0.0, "{question}");
    }
}

fn measure(name: &str) -> String {
    format!("SELECT simulation, round(value, 6) FROM v_measure WHERE measure = '{name}'")
}

#[test]
fn slots_and_jobs_of_a_machine_that_advertises_come_to_its_measures() {
    let (_folder, store) = stored(&experiment("slots"), "all");
    for (rows, name) in [
        (
            "SELECT simulation, count(*) FROM v_slot_sample GROUP BY 1",
            "slot_samples",
        ),
        (
            "SELECT simulation, round(avg(slots), 6) FROM v_slot_sample GROUP BY 1",
            "slots_mean",
        ),
        (
            "SELECT simulation, round(avg(tasks), 6) FROM v_slot_sample GROUP BY 1",
            "tasks_mean",
        ),
        (
            "SELECT simulation, round(avg(waiting) / 3600.0, 6) FROM v_job WHERE start IS NOT NULL GROUP BY 1",
            "job_wait_hours",
        ),
    ] {
        compare(&store, rows, &measure(name));
    }
    compare(
        &store,
        "SELECT simulation, sample, slots FROM v_slot_sample WHERE slots > 0",
        "SELECT simulation, sample, count(*) FROM v_advertised_slot GROUP BY 1, 2",
    );
    assert_eq!(
        number(
            &store,
            "SELECT min(lead) < 0 OR min(duration) <= 0 FROM v_advertised_slot"
        ),
        0.0
    );
    compare(
        &store,
        "SELECT simulation, count(*) FROM v_job GROUP BY 1",
        "SELECT simulation, submitted FROM simulation_metrics",
    );
}

#[test]
fn jobs_behind_virtual_reservations_are_stored_with_their_starts() {
    let (_folder, store) = stored(&experiment("virtual-reservations"), "all");
    assert!(
        number(
            &store,
            "SELECT count(*) FROM v_virtual_job WHERE waiting > 0"
        ) > 0.0
    );
    assert_eq!(
        number(
            &store,
            "SELECT count(*) FROM v_virtual_job WHERE start IS NULL OR start < submit OR \"end\" < start"
        ),
        0.0
    );
    // No job is in front of more nodes than there are.
    let busy = "SELECT max((SELECT sum(o.nodes) FROM v_virtual_job o WHERE o.simulation = 1 AND o.start <= j.start AND o.\"end\" > j.start))
        FROM (SELECT start FROM v_virtual_job WHERE simulation = 1 LIMIT 300) j";
    assert!(number(&store, busy) <= 64.0);
    // They are the same for every request, and there once.
    compare(
        &store,
        "SELECT background, count(*) FROM virtual_background_job GROUP BY 1",
        "SELECT id, jobs FROM virtual_background",
    );
    assert_eq!(
        number(&store, "SELECT count(*) FROM virtual_background"),
        1.0
    );
    assert_eq!(
        number(&store, "SELECT count(*) FROM virtual_simulation"),
        4.0
    );
    // They are no result of the study: nothing is counted of them.
    assert_eq!(
        number(&store, "SELECT count(*) FROM simulation_histogram"),
        0.0
    );
}

#[test]
fn jobs_of_others_at_sites_come_to_what_workflows_did_to_them() {
    let (_folder, store) = stored(&experiment("provisioning-advertised"), "all");
    let met = "SELECT j.simulation, j.site, count(*), sum(j.delayed > 0), sum(j.waiting), sum(j.undisturbed_waiting)
        FROM v_workflow_site_job j
        JOIN (SELECT simulation, min(submitted) AS begin FROM v_workflow_submission GROUP BY 1) s USING (simulation)
        JOIN (SELECT simulation, max(\"end\") AS over FROM v_workflow_task GROUP BY 1) t USING (simulation)
        WHERE j.submit >= s.begin AND j.submit < t.over GROUP BY 1, 2";
    compare(
        &store,
        met,
        "SELECT simulation, site, jobs, delayed, wait, undisturbed_wait FROM workflow_effect WHERE jobs > 0",
    );
    compare(
        &store,
        "SELECT simulation, submission, count(*) FROM v_workflow_advertised GROUP BY 1, 2",
        "SELECT simulation, submission, slots_offered FROM workflow_submission WHERE slots_offered > 0",
    );
}

#[test]
fn offers_that_a_broker_was_made_are_those_that_it_counted_and_plans_that_are_discarded_delay_nobody()
 {
    let (_folder, store) = stored(&experiment("provisioning-sites"), "all");
    compare(
        &store,
        "SELECT simulation, submission, count(*), max(query) < (SELECT queries FROM workflow_submission s
            WHERE s.simulation = o.simulation AND s.submission = o.submission) FROM v_workflow_offer o GROUP BY 1, 2",
        "SELECT simulation, submission, offers, 1 FROM workflow_submission WHERE offers > 0",
    );
    let bought = "SELECT count(*) FROM v_workflow_slot b JOIN v_workflow_submission s USING (simulation, submission)
        WHERE s.search = 'greedy' AND NOT EXISTS (SELECT 1 FROM v_workflow_offer o WHERE o.simulation = b.simulation
            AND o.submission = b.submission AND o.site = b.site AND o.start = b.start AND o.nodes = b.nodes
            AND abs(o.price_su - b.externality_su) < 1e-9)";
    assert_eq!(
        number(&store, bought),
        0.0,
        "every slot that was bought was offered at its price"
    );
    assert!(
        number(
            &store,
            "SELECT count(DISTINCT site) FROM v_workflow_site_job"
        ) > 1.0
    );
    assert_eq!(
        number(
            &store,
            "SELECT count(start) + sum(undisturbed_start IS NULL) FROM v_workflow_site_job"
        ),
        0.0
    );
}

#[test]
fn every_order_to_reserve_a_part_is_a_row_that_says_what_became_of_it() {
    // Messages are late and get lost, and a1 builds every candidate before it asks.
    let text = experiment("co-reservation")
        .replace("[\"a2\", \"a3\"]", "[\"a1\", \"a2\"]")
        .replace(
            "[[axis]]",
            "[broker]\nlatency_seconds = 30\ntimeout_seconds = 90\nmessage_loss_percent = 10.0\n[[axis]]",
        );
    let (_folder, store) = stored(&text, "all");
    compare(
        &store,
        "SELECT simulation, request, sum(fate IN ('reserved', 'cancelled', 'lost')), sum(fate LIKE 'refused-%'),
            sum(given_up IS NOT NULL AND fate <> 'lost') FROM v_co_attempt GROUP BY 1, 2",
        "SELECT simulation, request, reserved, refused, cancelled FROM co_request
         WHERE reserved + refused + cancelled > 0",
    );
    for fate in ["reserved", "cancelled", "timed-out", "refused-occupied"] {
        let rows = format!("SELECT count(*) FROM v_co_attempt WHERE fate = '{fate}'");
        assert!(number(&store, &rows) > 0.0, "{fate}");
    }
    // What stayed reserved is where the parts are.
    compare(
        &store,
        "SELECT simulation, request, part, cluster, start, nodes FROM v_co_attempt WHERE fate = 'reserved'",
        "SELECT simulation, request, part, cluster, start, nodes FROM v_co_part WHERE cluster IS NOT NULL",
    );
}

#[test]
fn decisions_are_timed_where_that_is_asked_for_and_nothing_else_changes() {
    for (study, kinds) in [
        ("overbooking", &["admission"][..]),
        ("reservations", &["admission"]),
        ("market", &["admission", "quote", "request"]),
        ("co-reservation", &["quote", "request"]),
        ("provisioning-sites", &["request"]),
    ] {
        let (_folder, plain) = stored(&experiment(study), "metrics");
        let rows = "SELECT count(*) FROM decision_timing";
        assert_eq!(number(&plain, rows), 0.0, "{study}");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("small.toml"), experiment(study)).expect("written");
        let options = ["--outcomes", "metrics", "--time-decisions"];
        let timed = run_in(folder.path(), &options);
        for kind in kinds {
            // One of every simulation, in order of size, none as long as the simulation.
            let sound = format!(
                "SELECT min(decisions > 0 AND p50_seconds <= p99_seconds AND p99_seconds <= longest_seconds
                    AND longest_seconds <= wall_seconds) AND count(*) = (SELECT count(*) FROM simulation)
                 FROM decision_timing JOIN simulation_timing USING (simulation) WHERE decision = '{kind}'"
            );
            assert_eq!(number(&timed, &sound), 1.0, "{study}: {kind}");
        }
        if study == "co-reservation" {
            let requests = number(&timed, "SELECT count(*) FROM co_request");
            let decided = "SELECT sum(decisions) FROM decision_timing WHERE decision = 'request'";
            assert_eq!(number(&timed, decided), requests);
        }
        let counted = "SELECT count(*) FROM decision_timing t WHERE decisions <> (SELECT sum(h.decisions)
            FROM decision_histogram h WHERE h.simulation = t.simulation AND h.decision = t.decision)";
        assert_eq!(number(&timed, counted), 0.0, "{study}");
        let others = format!(
            "SELECT count(*) FROM decision_timing WHERE decision NOT IN ('{}')",
            kinds.join("', '")
        );
        assert_eq!(number(&timed, &others), 0.0, "{study}");
        let digests = "SELECT group_concat(digest, ' ' ORDER BY identity) FROM simulation";
        let read = |store: &Connection| -> String {
            let read = store.query_row(digests, [], |row| row.get(0));
            read.expect("digests")
        };
        assert_eq!(read(&plain), read(&timed), "{study}");
    }
}

#[test]
fn without_outcomes_none_of_this_is_stored() {
    for (study, tables) in [
        ("slots", &["job_outcome", "slot_sample"][..]),
        (
            "virtual-reservations",
            &["virtual_simulation", "virtual_background", "virtual_trial"],
        ),
        ("co-reservation", &["job_outcome", "co_attempt"]),
        (
            "provisioning-sites",
            &["workflow_site_job", "workflow_query", "workflow_advertised"],
        ),
    ] {
        let (_folder, store) = stored(&experiment(study), "metrics");
        for table in tables {
            assert_eq!(
                number(&store, &format!("SELECT count(*) FROM {table}")),
                0.0,
                "{table}"
            );
        }
    }
}

#[test]
fn jobs_quotes_and_moves_of_a_market_come_to_its_totals_and_measures() {
    let (_folder, store) = stored(&experiment("market"), "all");
    compare(
        &store,
        "SELECT simulation, count(*) FROM v_job GROUP BY 1",
        "SELECT simulation, submitted FROM simulation_metrics",
    );
    compare(
        &store,
        "SELECT simulation, count(*) FROM v_job WHERE outcome = 'dropped' GROUP BY 1",
        "SELECT simulation, dropped FROM simulation_metrics WHERE dropped > 0",
    );
    // Each delegated job was quoted where it went, at that price and with that PoF.
    compare(
        &store,
        "SELECT simulation, job, cluster, price, pof FROM market_quote WHERE taken",
        "SELECT simulation, job, cluster, price, pof FROM market_delegation WHERE buyer IS NULL",
    );
    for (rows, name) in [
        (
            "SELECT d.simulation, round(100.0 * count(*) / k.submitted, 6) FROM market_delegation d
             JOIN simulation_metrics k USING (simulation) WHERE d.buyer IS NULL GROUP BY 1",
            "market_delegated_percent",
        ),
        (
            "SELECT simulation, round(100.0 * sum(outcome = 'successful') / count(*), 6) FROM v_job
             WHERE outcome <> 'dropped' GROUP BY 1",
            "market_kept_percent",
        ),
        (
            "SELECT c.simulation, round(100.0 * sum(c.gain) / f.fees, 6) FROM market_cluster c
             JOIN (SELECT simulation, sum(nodes * estimate) AS fees FROM v_job GROUP BY 1) f USING (simulation)
             GROUP BY 1",
            "market_provider_gain_percent",
        ),
    ] {
        compare(&store, rows, &measure(name));
    }
    // What fails is kept, and a job that runs into it says so.
    assert!(number(&store, "SELECT count(*) FROM node_event") > 0.0);
    assert!(number(&store, "SELECT max(cluster) FROM v_all_jobs") > 0.0);
    assert_eq!(
        number(
            &store,
            "SELECT count(*) FROM v_all_jobs WHERE outcome <> 'dropped' AND cluster IS NULL"
        ),
        0.0
    );
    let (_folder, totals) = stored(&experiment("market"), "metrics");
    assert_eq!(number(&totals, "SELECT count(*) FROM market_quote"), 0.0);
    assert!(number(&totals, "SELECT count(*) FROM market_cluster") > 0.0);
}

#[test]
fn rests_that_move_in_a_market_are_delegations_of_the_cluster_that_they_left() {
    let (_folder, store) = stored(&experiment("market-migration"), "all");
    compare(
        &store,
        "SELECT simulation, round(count(*), 6) FROM market_move GROUP BY 1",
        &format!("{} AND value > 0", measure("market_moves")),
    );
    compare(
        &store,
        "SELECT simulation, cluster, number, to_cluster, to_number, price FROM market_move",
        "SELECT simulation, buyer, buyer_number, cluster, number, price FROM market_delegation WHERE buyer IS NOT NULL",
    );
    // What became of a job is what became of its last rest.
    compare(
        &store,
        "SELECT simulation, job, verdict, start, \"end\" FROM v_market_delegation WHERE verdict IS NOT NULL",
        "SELECT simulation, job, reason, start, \"end\" FROM v_job WHERE outcome <> 'dropped'",
    );
}
