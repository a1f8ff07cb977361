//! Studies with reservations across modules: through the program into the store, through the
//! actors, beside overbooked jobs.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use assert_cmd::Command;
use proptest::prelude::*;

use bookahead::actors::Player;
use bookahead::study::{Simulation as _, StudyRows};
use bookahead::units::{NodeSeconds, Nodes, Seconds};
use bookahead::workload::{
    DurationUsed, Job, JobId, RequestOrigin, RequestSettings, StartRule, generate_requests,
};
use bookahead_reservations::replanning::study::{ReplanningSimulation, Rows};
use bookahead_reservations::replanning::{
    Admission, EarlyEnd, JobMarks, ReplanningMachine, ReplanningSettings,
};

use crate::support::program::dump;

const STUDY: &str = r#"
[experiment]
name = "study"
replications = 2
[workload]
model = "lublin-feitelson"
jobs = 400
nodes = 64
whole_trace = true
load.value = 0.9
[scheduling]
strategy = "replanning"
[reservations]
origin = "instead"
start = "choice"
[[axis]]
key = "admission.rule"
values = ["holes", "move", "move-price"]
[[axis]]
key = "requests.alpha"
values = [0.0, 1.0]
[[axis]]
key = "reservations.share_percent"
values = [0, 30]
"#;

fn bookahead(folder: &Path, arguments: &[&str]) -> assert_cmd::assert::Assert {
    let mut command = Command::cargo_bin("bookahead").expect("the program");
    command.current_dir(folder).args(arguments).assert()
}

fn run_study(folder: &Path, text: &str, store: &str, more: &[&str]) {
    fs::write(folder.join("study.toml"), text).expect("a file");
    let arguments = [&["run", "study.toml", "--store", store], more].concat();
    bookahead(folder, &arguments).success();
}

fn query<T: rusqlite::types::FromSql>(store: &Path, sql: &str) -> T {
    let connection = rusqlite::Connection::open(store).expect("a store");
    connection
        .query_row(sql, [], |row| row.get(0))
        .expect("one row")
}

#[test]
fn a_study_gives_the_same_rows_with_any_number_of_workers_and_when_it_is_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    run_study(path, STUDY, "one.db", &["--workers", "1"]);
    run_study(path, STUDY, "four.db", &["--workers", "4"]);
    let fewer = STUDY.replace("[0.0, 1.0]", "[1.0]");
    run_study(path, &fewer, "continued.db", &[]);
    run_study(path, STUDY, "continued.db", &[]);
    let one = dump(&path.join("one.db"));
    assert!(one.len() > 5_000);
    assert!(one == dump(&path.join("four.db")));
    assert!(one == dump(&path.join("continued.db")));
}

#[test]
fn the_store_tells_what_every_request_was_offered_what_it_paid_and_whom_it_displaced() {
    let folder = tempfile::tempdir().unwrap();
    run_study(folder.path(), STUDY, "s.db", &[]);
    let store = folder.path().join("s.db");
    let count = |sql: &str| query::<i64>(&store, sql);
    // 3 rules × 2 α × 2 replications of 120 requests.
    assert_eq!(count("SELECT count(*) FROM v_reservation"), 12 * 120);
    assert_eq!(
        count("SELECT sum(offers) FROM v_reservation"),
        count("SELECT count(*) FROM v_offer")
    );
    let granted = count("SELECT count(*) FROM v_reservation WHERE granted");
    assert_eq!(count("SELECT sum(chosen) FROM v_offer"), granted);
    // Whoever looks for the lowest price finds one that is free.
    assert_eq!(
        count("SELECT count(*) FROM v_reservation WHERE alpha = 1.0 AND price_su > 0"),
        0
    );
    assert!(count("SELECT count(*) FROM v_reservation WHERE alpha = 0.0 AND price_su > 0") > 0);
    // Holes displace nobody; who displaces nobody pays nothing.
    let by_rule = "FROM v_reservation r JOIN simulation m ON m.id = r.simulation
        WHERE json_extract(m.spec, '$.study.admission') = 'holes' AND r.displaced_jobs <> 0";
    assert_eq!(count(&format!("SELECT count(*) {by_rule}")), 0);
    assert_eq!(
        count("SELECT count(*) FROM v_reservation WHERE price_su > 0 AND displaced_jobs = 0"),
        0
    );
    assert_eq!(
        count("SELECT count(*) FROM v_reservation WHERE price_su = 0 AND displaced_jobs > 0"),
        0
    );
}

#[test]
fn two_runs_of_a_study_are_compared_by_what_they_measured() {
    let folder = tempfile::tempdir().unwrap();
    run_study(folder.path(), STUDY, "c.db", &[]);
    run_study(
        folder.path(),
        &STUDY.replace("[scheduling]", "[planning]\norder = \"sjf\"\n[scheduling]"),
        "c.db",
        &[],
    );
    let arguments = [
        "compare", "1", "2", "--store", "c.db", "--metric", "price_su",
    ];
    let output = bookahead(folder.path(), &arguments).success();
    let text = String::from_utf8_lossy(&output.get_output().stdout).into_owned();
    assert!(text.contains("price_su"), "{text}");
    assert!(text.contains("THEY DIFFER"), "{text}");
    let shown = bookahead(
        folder.path(),
        &["show", "1", "--point", "10", "--store", "c.db"],
    );
    let text = String::from_utf8_lossy(&shown.success().get_output().stdout).into_owned();
    assert!(text.contains("reservation_wait_hours"), "{text}");
}

#[test]
fn fixed_reservations_among_overbooked_jobs_start_on_time_and_are_told_apart() {
    let text = r#"
[experiment]
name = "mixed"
replications = 2
[workload]
model = "lublin-feitelson"
jobs = 3000
nodes = 64
battery_jobs = 300
load.value = 2.0
[reservations]
origin = "instead"
start = "lead"
lead_hours = 2.0
share_percent = 20.0
[acceptance]
pof_max = 0.5
[[axis]]
key = "scheduling.strategy"
values = ["easy-backfilling", "conservative-backfilling", "heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking", "overbooking-2008"]
"#;
    let folder = tempfile::tempdir().unwrap();
    run_study(folder.path(), text, "m.db", &[]);
    let store = folder.path().join("m.db");
    let count = |sql: &str| query::<i64>(&store, sql);
    assert_eq!(
        count("SELECT count(*) FROM v_job WHERE fixed = 1"),
        6 * 2 * 60
    );
    let kept = "FROM v_job WHERE fixed = 1 AND outcome <> 'dropped'";
    assert!(count(&format!("SELECT count(*) {kept}")) > 50);
    assert_eq!(
        count(&format!("SELECT count(*) {kept} AND start <> release")),
        0
    );
    assert_eq!(
        count(&format!("SELECT count(*) {kept} AND overbooked = 1")),
        0
    );
    assert!(count("SELECT count(*) FROM v_job WHERE fixed = 0 AND overbooked = 1") > 0);
    assert_eq!(
        count(
            "SELECT count(DISTINCT simulation) FROM v_measure WHERE measure = 'reservation_fees_vc'"
        ),
        12
    );
}

#[test]
fn bad_input_is_an_error_that_names_the_key_or_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let refused = |text: &str, words: &[&str]| {
        fs::write(path.join("bad.toml"), text).unwrap();
        let arguments = ["run", "bad.toml", "--store", "b.db"];
        let output = bookahead(path, &arguments).code(2).get_output().clone();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        for word in words {
            assert!(message.contains(word), "{word}: {message}");
        }
    };
    refused(
        &STUDY.replace("values = [0, 30]", "values = [0, 130]"),
        &["reservations.share_percent", "130"],
    );
    refused(
        &STUDY.replace("start = \"choice\"", "start = \"whenever\""),
        &["reservations.start", "whenever", "estimate-factor"],
    );
    refused(
        &STUDY.replace(
            "whole_trace = true",
            "whole_trace = true\nbattery_jobs = 10",
        ),
        &["workload.battery_jobs", "whole trace"],
    );
    refused(
        &STUDY.replace("strategy = \"replanning\"", "strategy = \"slots\""),
        &["reservations", "this study takes no reservations"],
    );
    // A log without requested times.
    let lines: String = (1..20)
        .map(|n| format!("{n} {} 0 100 2 -1 -1 2 -1 -1 1 1 1 1 -1 -1 -1 -1\n", n * 10))
        .collect();
    fs::write(path.join("bare.swf"), format!("; MaxNodes: 8\n{lines}")).unwrap();
    let bare = STUDY
        .replace(
            "model = \"lublin-feitelson\"\njobs = 400",
            "trace = \"bare.swf\"",
        )
        .replace("load.value = 0.9\n", "");
    refused(&bare, &["requested time", "bare"]);
}

prop_compose! {
    fn jobs()(shapes in prop::collection::vec((0_i64..200_000, 1_u32..=16, 60_i64..20_000, 30_i64..20_000), 1..60)) -> Vec<Job> {
        let mut shapes = shapes;
        shapes.sort_unstable();
        (0..).zip(shapes)
            .map(|(id, (submit, nodes, estimate, runtime))| {
                Job::rigid(JobId(id), Seconds(submit), Nodes(nodes), Seconds(estimate))
                    .running_for(Seconds(runtime.min(estimate)))
                    .numbered(i64::from(id) + 1)
            })
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Windows and messages change nothing: the same outcomes and totals as a machine that is
    /// handed everything at once.
    #[test]
    fn the_actors_give_what_one_call_of_the_machine_gives(
        jobs in jobs(),
        admission in prop::sample::select(vec![Admission::Holes, Admission::Reject, Admission::Move, Admission::MovePrice]),
        choice in any::<bool>(),
    ) {
        let requests = RequestSettings {
            share_percent: 50.0,
            origin: RequestOrigin::Copy,
            start: if choice { StartRule::Choice { alpha: None } } else { StartRule::EstimateFactor { factor: 1.0 } },
            ..RequestSettings::default()
        };
        let mixed = generate_requests(&jobs, &requests, 1, "w", 0);
        let settings = ReplanningSettings { admission, ..ReplanningSettings::default() };
        let simulation = ReplanningSimulation {
            nodes: Nodes(16),
            machine: settings.clone(),
            jobs: mixed.jobs.into(),
            requests: mixed.requests.into(),
            marks: JobMarks::default(),
            failures: Arc::default(),
        };
        let actors = simulation.run(true, &Player::by_actors()).unwrap();
        let mut machine = ReplanningMachine::replanning(Nodes(16), settings);
        machine.submit(simulation.jobs.iter().cloned());
        machine.request(simulation.requests.iter().cloned());
        machine.advance(Seconds::FAR);
        prop_assert_eq!(actors.metrics, machine.metrics());
        let mut jobs = machine.take_outcomes();
        jobs.sort_by_key(|outcome| outcome.job.id);
        prop_assert_eq!(actors.outcomes, jobs);
        let mut reservations = machine.take_reservation_outcomes();
        reservations.sort_by_key(|outcome| outcome.request.id);
        prop_assert_eq!(actors.rows, StudyRows::of(Rows(reservations)));
    }

    /// To the jobs it is the same whether a reservation keeps what its job leaves, or uses it.
    #[test]
    fn jobs_meet_the_same_fate_beside_reservations_that_keep_their_rest_or_use_it(
        jobs in jobs(), admission in prop::sample::select(vec![Admission::Holes, Admission::Reject, Admission::Move]),
    ) {
        let run = |duration_used, early_end| {
            let requests = RequestSettings { share_percent: 50.0, duration_used, ..RequestSettings::default() };
            let mixed = generate_requests(&jobs, &requests, 1, "w", 0);
            let settings = ReplanningSettings { admission, early_end, ..ReplanningSettings::default() };
            let mut machine = ReplanningMachine::replanning(Nodes(16), settings);
            machine.submit(mixed.jobs);
            machine.request(mixed.requests);
            machine.advance(Seconds::FAR);
            let mut outcomes = machine.take_outcomes();
            outcomes.sort_by_key(|outcome| outcome.job.id);
            outcomes
        };
        let uses = run(DurationUsed::Window, EarlyEnd::Release);
        prop_assert_eq!(run(DurationUsed::Job, EarlyEnd::Keep), uses);
    }

    /// Singh 2008, §5.2: a list is never empty, holds the earliest feasible start and a price of 0;
    /// who wants the lowest price (α = 1) pays nothing.
    #[test]
    fn every_list_of_offers_holds_the_earliest_start_and_a_free_one(jobs in jobs(), at in 0_i64..250_000, nodes in 1_u32..=16, duration in 60_i64..30_000) {
        let settings = ReplanningSettings { admission: Admission::MovePrice, ..ReplanningSettings::default() };
        let mut machine = ReplanningMachine::replanning(Nodes(16), settings);
        machine.submit(jobs);
        machine.wait_until(Seconds(at));
        let now = machine.cluster().now();
        let offers = machine.plan().offers(now, Nodes(nodes), Seconds(duration));
        let earliest = (now.0..)
            .map(Seconds)
            .find(|start| machine.policy().fixed().nodes().min_free(*start, *start + Seconds(duration)) >= nodes as i32);
        prop_assert_eq!(offers.first().map(|offer| offer.start), earliest);
        prop_assert!(offers.iter().any(|offer| offer.price == NodeSeconds(0)));
        prop_assert!(offers.is_sorted_by_key(|offer| offer.start));
    }
}
