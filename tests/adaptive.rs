//! Sweeps that stop by a rule: what they run and decide depends on seed and results alone, and what
//! is said of it is what was decided. The procedures themselves are tried in `tests/statistics`.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use crate::support::program::{folder, output, program, text};

/// Kills of the test, unless `BOOKAHEAD_KILLS` asks for more.
const KILLS: usize = 15;

const SELECTION: &str = r#"
[experiment]
name = "selection"
[workload]
model = "lublin-feitelson"
fresh = true
jobs = 2400
nodes = 64
battery_jobs = 400
load = { each_battery = 2.0 }
[[axis]]
key = "scheduling.strategy"
values = ["comprehensive-overbooking", "heuristic-overbooking"]
[[axis]]
key = "acceptance.pof_max"
values = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5]
[select]
quantity = "gain"
axes = ["acceptance.pof_max"]
relative_indifference = 0.005
min_replications = 10
rung_replications = 4
max_replications = 60
confirm_replications = 10
baseline = ["0.05"]
"#;

fn write(folder: &Path, name: &str, experiment: &str) {
    fs::write(folder.join(format!("{name}.toml")), experiment).expect("written");
}

/// `run` of `NAME.toml` into `NAME.db`.
fn run(folder: &Path, name: &str, more: &[&str]) -> Command {
    let (file, store) = (format!("{name}.toml"), format!("{name}.db"));
    let arguments = ["run", &file, "--store", &store];
    program(folder, &[&arguments, more].concat())
}

/// Runs an experiment with so many workers, which must succeed.
fn succeeds(folder: &Path, name: &str, workers: &str) {
    let ended = output(run(folder, name, &["--workers", workers, "--no-report"]));
    assert!(ended.status.success(), "{}", text(&ended.stderr));
}

/// The rows of a query of the last run, as text.
fn rows(folder: &Path, name: &str, query: &str) -> Vec<String> {
    let store = folder.join(format!("{name}.db"));
    let connection = rusqlite::Connection::open(store).expect("a store");
    let mut statement = connection.prepare(query).expect("a query");
    let columns = statement.column_count();
    let mut found = statement.query([]).expect("rows");
    let mut rows = Vec::new();
    while let Some(row) = found.next().expect("a row") {
        let cells = (0..columns).map(|at| format!("{:?}", row.get_ref(at).expect("a cell")));
        rows.push(cells.collect::<Vec<_>>().join("|"));
    }
    rows
}

const LAST: &str = "(SELECT max(id) FROM run)";

fn digest(folder: &Path, name: &str) -> Vec<String> {
    rows(
        folder,
        name,
        &format!("SELECT digest FROM run WHERE id = {LAST}"),
    )
}

fn decisions(folder: &Path, name: &str) -> Vec<String> {
    let columns = "number, rung, place, quantity, replications, mean, statistic, bound, verdict";
    rows(
        folder,
        name,
        &format!("SELECT {columns} FROM decision WHERE run = {LAST} ORDER BY number"),
    )
}

#[test]
fn one_worker_and_four_run_the_same_points_and_decide_the_same() {
    let folder = folder();
    let path = folder.path();
    for (name, workers) in [("one", "1"), ("four", "4")] {
        write(path, name, SELECTION);
        succeeds(path, name, workers);
    }
    assert!(decisions(path, "one").len() > 24, "more than one rung");
    assert_eq!(decisions(path, "one"), decisions(path, "four"));
    assert_eq!(digest(path, "one"), digest(path, "four"));
}

fn begin(folder: &Path, name: &str) -> Child {
    run(folder, name, &["--workers", "2", "--no-report", "--quiet"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts")
}

#[test]
fn a_selection_that_is_killed_again_and_again_ends_with_the_decisions_of_one_that_was_not() {
    let folder = folder();
    let path = folder.path();
    write(path, "whole", SELECTION);
    succeeds(path, "whole", "2");
    write(path, "killed", SELECTION);
    let kills = std::env::var("BOOKAHEAD_KILLS")
        .ok()
        .and_then(|kills| kills.parse().ok());
    let mut draws = ChaCha8Rng::seed_from_u64(36);
    let mut met = 0;
    for _ in 0..kills.unwrap_or(KILLS) {
        let mut child = begin(path, "killed");
        thread::sleep(Duration::from_millis(draws.random_range(20..700)));
        met += usize::from(child.try_wait().expect("a child").is_none());
        child.kill().expect("killed");
        child.wait().expect("a child");
    }
    assert!(met > 0, "no kill met a run under way");
    succeeds(path, "killed", "2");
    assert_eq!(decisions(path, "killed"), decisions(path, "whole"));
    assert_eq!(digest(path, "killed"), digest(path, "whole"));
}

#[test]
fn a_selection_that_was_done_runs_nothing_again_and_decides_the_same() {
    let folder = folder();
    let path = folder.path();
    write(path, "twice", SELECTION);
    succeeds(path, "twice", "2");
    let (first, runs) = (decisions(path, "twice"), "SELECT count(*) FROM simulation");
    let simulations = rows(path, "twice", runs);
    succeeds(path, "twice", "2");
    assert_eq!(decisions(path, "twice"), first);
    assert_eq!(rows(path, "twice", runs), simulations);
}

#[test]
fn what_is_said_of_the_selected_value_comes_from_replications_that_did_not_select_it() {
    let folder = folder();
    let path = folder.path();
    write(path, "said", SELECTION);
    let ended = output(run(path, "said", &["--report", "report"]));
    assert!(ended.status.success(), "{}", text(&ended.stderr));
    // By SQL: the mean gain of the confirming replications at the place that was confirmed.
    let own = format!(
        "SELECT printf('%.4f', d.mean), printf('%.4f', (
            SELECT avg(p.gain) FROM v_point p JOIN v_point first ON first.run = p.run AND first.place = d.place
            WHERE p.run = d.run AND p.axes = first.axes AND p.replication >= 60))
         FROM v_decision d WHERE d.run = {LAST} AND d.verdict = 'confirmed'"
    );
    let pairs = rows(path, "said", &own);
    assert_eq!(pairs.len(), 2, "one for each strategy");
    for pair in &pairs {
        let (decided, computed) = pair.split_once('|').expect("two cells");
        assert_eq!(decided, computed);
    }
    let read = |file: &str| fs::read_to_string(path.join("report").join(file)).expect("written");
    let (page, tables) = (read("index.html"), read("tables/selected.csv"));
    for said in [
        "Which pof_max for the largest",
        "replications that did not select it",
    ] {
        assert!(page.contains(said), "{said}");
    }
    let biased = [
        "chosen and judged on the same batteries",
        "What the choice of the best setting is worth",
    ];
    for said in biased {
        assert!(!page.contains(said), "there is a better estimate: {said}");
    }
    assert_eq!(tables.lines().count(), 3, "{tables}");
}

#[test]
fn of_the_replications_that_there_are_the_best_is_selected_and_the_page_says_of_how_many() {
    let folder = folder();
    let path = folder.path();
    let few = SELECTION
        .replace("max_replications = 60", "max_replications = 14")
        .replace("confirm_replications = 10", "confirm_replications = 0")
        .replace("baseline = [\"0.05\"]\n", "");
    write(path, "draws", &few);
    write(path, "all", &(few + "population = \"replications\"\n"));
    for name in ["draws", "all"] {
        let ended = output(run(path, name, &["--report", name]));
        assert!(ended.status.success(), "{}", text(&ended.stderr));
    }
    // What fourteen draws leave open, the fourteen themselves answer, for each strategy.
    let counts = |name| {
        let of = |verdict| format!("(SELECT count(*) FROM v_decision WHERE verdict = '{verdict}')");
        rows(
            path,
            name,
            &format!("SELECT {}, {}", of("leading"), of("selected")),
        )
    };
    assert_eq!(counts("draws"), ["Integer(2)|Integer(0)"]);
    assert_eq!(counts("all"), ["Integer(0)|Integer(2)"]);
    let page =
        |name: &str| fs::read_to_string(path.join(name).join("index.html")).expect("written");
    for said in [
        "of the best over the 14 replications that there are",
        "it is about the best over these, not about others",
    ] {
        assert!(page("all").contains(said), "{said}");
        assert!(!page("draws").contains(said), "{said}");
    }
    let kept = "SELECT population FROM run_rule";
    assert_eq!(rows(path, "all", kept), ["Integer(14)"]);
    assert_eq!(rows(path, "draws", kept), ["Null"]);
}

#[test]
fn replications_end_where_every_interval_is_narrow() {
    let folder = folder();
    let path = folder.path();
    let experiment = SELECTION
        .split("[select]")
        .next()
        .expect("a head")
        .to_owned()
        + "[stop]\nquantities = [\"gain\", \"mean_wait\"]\nrelative_half_width = 0.25\nmax_replications = 48\n";
    write(path, "narrow", &experiment);
    succeeds(path, "narrow", "2");
    let last = format!(
        "SELECT verdict, statistic <= bound FROM v_decision d WHERE run = {LAST} AND verdict = 'narrow enough'"
    );
    let narrow = rows(path, "narrow", &last);
    assert!(!narrow.is_empty());
    assert!(
        narrow.iter().all(|row| row.ends_with("Integer(1)")),
        "{narrow:?}"
    );
    let shown = output(program(path, &["show", "latest", "--store", "narrow.db"]));
    let shown = text(&shown.stdout);
    assert!(shown.contains("narrow enough"), "{shown}");
}

#[test]
fn a_rule_that_cannot_be_followed_here_is_refused_before_the_first_point() {
    let folder = folder();
    let path = folder.path();
    write(path, "refused", SELECTION);
    write(
        path,
        "unknown",
        &SELECTION.replace("quantity = \"gain\"", "quantity = \"gains\""),
    );
    for (name, arguments, said) in [
        ("refused", ["--shard", "1/2"].as_slice(), "needs one store"),
        ("refused", &["--outcomes", "none"], "reads its results"),
        ("unknown", &[], "did you mean `gain`?"),
    ] {
        let ended = output(run(path, name, arguments));
        let told = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{told}");
        assert!(told.contains(said), "{told}");
    }
}

#[test]
fn a_sweep_with_a_rule_is_not_submitted_in_shares() {
    let folder = folder();
    let path = folder.path();
    write(path, "shares", SELECTION);
    let submit = "submit --engine slurm --shards 2 --dir shares shares.toml";
    let arguments: Vec<&str> = submit.split(' ').collect();
    let ended = output(program(path, &arguments));
    let told = text(&ended.stderr);
    assert!(!ended.status.success());
    assert!(told.contains("needs one store"), "{told}");
    assert!(!path.join("shares").exists(), "nothing was written");
}

#[test]
fn a_share_of_a_sweep_with_a_rule_is_refused_before_there_is_a_store() {
    let folder = folder();
    let path = folder.path();
    write(path, "alone", SELECTION);
    let arguments = ["run", "alone.toml", "--shard", "1/2"];
    let ended = output(program(path, &arguments));
    let told = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{told}");
    assert!(told.contains("run it without shares"), "{told}");
    assert!(!path.join("data").exists(), "nothing was written");
}

#[test]
fn two_programs_on_one_store_decide_what_one_does_and_share_its_simulations() {
    /// Of each program, as `begin` starts it.
    const WORKERS: i64 = 2;
    let folder = folder();
    let path = folder.path();
    write(path, "alone", SELECTION);
    succeeds(path, "alone", "2");
    write(path, "shared", SELECTION);
    for mut child in [begin(path, "shared"), begin(path, "shared")] {
        assert!(child.wait().expect("a child").success());
    }
    let runs = rows(path, "shared", "SELECT id FROM run");
    assert_eq!(runs.len(), 2, "{runs:?}");
    assert_eq!(decisions(path, "shared"), decisions(path, "alone"));
    assert_eq!(digest(path, "shared"), digest(path, "alone"));
    let counted = |name, what| -> i64 {
        let store = rusqlite::Connection::open(path.join(format!("{name}.db"))).expect("a store");
        let query = format!("SELECT {what}");
        let count = store.query_row(&query, [], |row| row.get(0));
        count.expect("a number")
    };
    let simulations = "count(*) FROM simulation";
    let attempts = "sum(attempts) FROM simulation";
    let once = counted("alone", attempts);
    assert_eq!(counted("alone", simulations), once);
    assert_eq!(counted("shared", simulations), once);
    // The programs begin at both ends. Who begins a simulation says so with the next transaction:
    // where they meet, each worker may begin one that another has begun a moment ago, and one of
    // the results is dropped.
    let rungs = 1 + counted("alone", "max(rung) FROM decision");
    let tried = counted("shared", attempts);
    let most = once + 2 * WORKERS * rungs;
    assert!((once..=most).contains(&tried), "{tried} of {once}");
}

#[test]
fn a_selection_under_way_says_that_it_has_not_decided_yet() {
    let folder = folder();
    let path = folder.path();
    write(path, "open", SELECTION);
    succeeds(path, "open", "2");
    // As a kill after the first rung would leave it.
    let store = rusqlite::Connection::open(path.join("open.db")).expect("a store");
    let undone = "UPDATE run SET ended = NULL, state = (SELECT code FROM run_state WHERE name = 'interrupted');
                  DELETE FROM decision WHERE rung > 1";
    store.execute_batch(undone).expect("written");
    drop(store);
    let shown = output(program(path, &["show", "latest", "--store", "open.db"]));
    let shown = text(&shown.stdout);
    assert!(
        shown.contains("values are in after 10 replications"),
        "{shown}"
    );
    assert!(shown.contains("not decided yet"), "{shown}");
    for wrong in ["undefined", "more of what was selected", "has no value"] {
        assert!(!shown.contains(wrong), "{wrong}: {shown}");
    }
}

#[test]
fn points_of_a_selection_are_one_table_of_tab_separated_values() {
    let folder = folder();
    let path = folder.path();
    write(path, "points", SELECTION);
    succeeds(path, "points", "2");
    let show = "show 1 --points --tsv --store points.db";
    let arguments: Vec<&str> = show.split(' ').collect();
    let shown = output(program(path, &arguments));
    let shown = text(&shown.stdout);
    let heads = shown.lines().next().expect("a header");
    assert!(heads.starts_with("place\t"), "{heads}");
    let tabs = |line: &str| line.matches('\t').count();
    assert!(shown.lines().count() > 120, "{shown}");
    for line in shown.lines() {
        assert_eq!(tabs(line), tabs(heads), "{line}");
    }
}

#[test]
fn selections_of_other_jobs_are_not_compared_by_means_over_different_values() {
    let folder = folder();
    let path = folder.path();
    write(path, "seeds", SELECTION);
    for seed in ["1", "2"] {
        let ended = output(run(path, "seeds", &["--seed", seed, "--no-report"]));
        assert!(ended.status.success(), "{}", text(&ended.stderr));
    }
    let compared = output(program(path, &["compare", "1", "2", "--store", "seeds.db"]));
    // Lines are filled up to the width of the screen.
    let said = text(&compared.stdout).replace('\n', " ");
    assert!(said.contains("significance cannot be tested"), "{said}");
    assert!(said.contains("of the first run lacks"), "{said}");
    assert!(!said.contains("95 %, n ="), "no interval: {said}");
}

#[test]
fn check_says_the_least_and_the_most_that_a_rule_may_run() {
    let folder = folder();
    let path = folder.path();
    write(path, "check", SELECTION);
    let said = output(program(
        path,
        &["check", "check.toml", "--store", "none.db"],
    ));
    let said = text(&said.stdout).replace('\n', " ");
    assert!(
        said.contains("120 points"),
        "2 × 6 values × 10 replications: {said}"
    );
    assert!(
        said.contains("at most 840 points"),
        "2 × 6 × (60 + 10): {said}"
    );
}
