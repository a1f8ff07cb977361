//! Which replications of two runs are partners: those that saw the same jobs and failures, and no
//! others.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::program::{output, program, text};

/// A log of 1,500 jobs that no two parts of which are alike.
fn write_log(path: &Path) {
    let mut log = "; MaxProcs: 64\n; MaxNodes: 64\n".to_owned();
    let (mut state, mut submit) = (1_u64, 0);
    for number in 1..=1_500 {
        let mut draw = |most: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 33) % most
        };
        submit += draw(600);
        let (run, width, user) = (30 + draw(7_000), 1 + draw(32), 1 + draw(9));
        let asked = run + draw(4_000);
        let _ = writeln!(
            log,
            "{number} {submit} -1 {run} {width} -1 -1 {width} {asked} -1 1 {user} 1 1 1 -1 -1 -1"
        );
    }
    fs::write(path, log).expect("written");
}

/// Runs an experiment in the folder's store.
fn run(folder: &Path, name: &str, replications: u32, tables: &str) {
    let text = format!(
        "[experiment]\nname = \"{name}\"\nreplications = {replications}\n{tables}\n\
         [[axis]]\nkey = \"scheduling.strategy\"\nvalues = [\"easy-backfilling\", \"heuristic-planning\"]\n"
    );
    fs::write(folder.join("this.toml"), text).expect("written");
    let arguments = ["run", "this.toml", "--quiet", "--store", "all.db"];
    let done = output(program(folder, &arguments));
    assert!(done.status.success(), "{name}: {done:?}");
}

fn compared(folder: &Path, first: &str, second: &str) -> (Value, String) {
    let said = |more: &[&str]| {
        let arguments = ["compare", first, second, "--store", "all.db"];
        let done = output(program(folder, &[&arguments, more].concat()));
        assert!(done.status.success(), "{first}, {second}: {done:?}");
        text(&done.stdout)
    };
    let json = said(&["--metric", "gain", "--json"]);
    // Lines end where the screen does.
    let said = said(&[]).split_whitespace().collect::<Vec<_>>().join(" ");
    (serde_json::from_str(&json).expect("JSON"), said)
}

const LOG: &str = "[workload]\ntrace = \"log.swf\"\nbattery_jobs = 50\ncompression = 0.5\n";

fn model(seed: u32) -> String {
    format!(
        "seed = {seed}\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 1000\nnodes = 64\nbattery_jobs = 50\ncompression = 0.5\n"
    )
}

#[test]
fn runs_are_paired_by_what_they_saw_compared_as_independent_or_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    write_log(&path.join("log.swf"));
    let on = |nodes: u32| LOG.replace("battery_jobs", &format!("nodes = {nodes}\nbattery_jobs"));
    run(path, "ten", 10, &on(64));
    run(path, "twenty", 20, &on(64));
    run(path, "wide", 10, &on(128));
    let generated = "[failures]\nsource = \"generated\"\nrate_per_hour = 0.001\n";
    run(path, "failing", 10, &(on(64) + generated));
    run(path, "one", 6, &model(1));
    run(path, "two", 8, &model(2));

    // Battery r of ten is battery 10 + r of twenty. Nothing differs, as the settings are the same.
    let (found, said) = compared(path, "ten", "twenty");
    assert_eq!(
        (&found["method"], &found["pairs"]),
        (&"paired".into(), &20.into())
    );
    let gain = &found["differences"][0];
    assert_eq!(gain["replications"], 10);
    assert_eq!(gain["difference"], 0.0);
    assert_eq!(found["differs"], false);
    assert!(
        said.contains("10 replications of the second run have no partners"),
        "{said}"
    );

    let (found, said) = compared(path, "ten", "wide");
    assert_eq!(
        (&found["method"], &found["pairs"]),
        (&"paired".into(), &20.into())
    );
    assert!(
        said.starts_with("The machines differ: pairs are the same jobs on 64 and on 128 nodes."),
        "{said}"
    );

    for (first_run, second_run, why) in [
        (
            "ten",
            "failing",
            "both runs simulate the same jobs, which meet different failures",
        ),
        (
            "one",
            "ten",
            "the first run simulates a generated workload (lublin-feitelson), the second batteries of log.swf",
        ),
    ] {
        let (found, said) = compared(path, first_run, second_run);
        assert_eq!(
            (&found["method"], &found["pairs"]),
            (&"refused".into(), &0.into())
        );
        let reason = format!("{first_run} and {second_run} are not comparable, because {why}");
        assert!(said.starts_with(&reason), "{said}");
    }

    let (found, said) = compared(path, "one", "two");
    assert_eq!(
        (&found["method"], &found["pairs"]),
        (&"Welch".into(), &0.into())
    );
    let gain = &found["differences"][0];
    assert_eq!(
        (&gain["replications"], &gain["replications_second"]),
        (&6.into(), &8.into())
    );
    assert!(
        gain["difference_low"].is_number() && gain["p_value"].is_number(),
        "{gain}"
    );
    // The primary quantity is judged by itself, here and on the page.
    assert_eq!(
        (&gain["family"], &gain["p_holm"]),
        (&"primary".into(), &gain["p_value"])
    );
    for part in [
        "Unpaired (Welch)",
        "6 and 8",
        "the primary quantity, declared before any run",
        "the other quantities: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }

    // The page and its tables say the same.
    let arguments = [
        "compare", "one", "two", "ten", "--store", "all.db", "--out", "page",
    ];
    let done = output(program(path, &arguments));
    assert!(done.status.success(), "{done:?}");
    let page = fs::read_to_string(path.join("page/index.html")).expect("a page");
    assert!(page.contains("n = 6 and 8 replications"));
    assert!(page.contains("one and ten are not comparable, because the first run simulates"));
    let table = fs::read_to_string(path.join("page/tables/differences.csv")).expect("a table");
    assert!(
        table.contains(",Welch,6,8,") && table.contains(",refused,0,0,"),
        "{table}"
    );
}

/// Outages of a machine of 64 nodes, a few hours apart.
fn write_failures(path: &Path) {
    let mut table =
        "System,machine type,nodes,nodenumz,Prob Started,Prob Fixed,Down Time\n".to_owned();
    for number in 0..300 {
        let (day, hour, node) = (1 + number / 12, 2 * (number % 12), number * 7 % 64);
        let _ = writeln!(
            table,
            "5,cluster,64,{node},1/{day}/2004 {hour}:00,1/{day}/2004 {hour}:{},50",
            10 + number % 50
        );
    }
    fs::write(path, table).expect("written");
}

#[test]
fn another_laxity_leaves_recorded_failures_what_they_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    write_log(&path.join("log.swf"));
    write_failures(&path.join("failures.csv"));
    let recorded = "[failures]\nsource = \"lanl\"\nfile = \"failures.csv\"\nsystems = [5]\n";
    let with = |laxity: u32| format!("{LOG}nodes = 64\nlaxity = {laxity}\n{recorded}");
    run(path, "two", 6, &with(2));
    run(path, "three", 6, &with(3));
    run(path, "later", 6, &(with(2) + "offset_hours = 3\n"));
    let (found, said) = compared(path, "two", "three");
    assert_eq!(
        (&found["method"], &found["pairs"]),
        (&"paired".into(), &12.into()),
        "{said}"
    );
    assert_eq!(found["differs"], true);
    // Batteries of a log are neighbours, in differences, too.
    let gain = &found["differences"][0];
    for key in [
        "lag_1_correlation",
        "effective_replications",
        "log_low",
        "log_high",
    ] {
        assert!(gain[key].is_number(), "{key}: {gain}");
    }
    assert!(said.contains("6 batteries say as much as"), "{said}");
    // The same failures at another time are others.
    let (found, said) = compared(path, "two", "later");
    assert_eq!(found["method"], "refused", "{said}");
}

#[test]
fn replications_that_repeat_one_result_count_once_wherever_n_stands() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    write_log(&path.join("log.swf"));
    let experiment = |name: &str, nodes: u32| {
        let text = format!(
            "[experiment]\nname = \"{name}\"\nreplications = 5\n[workload]\ntrace = \"log.swf\"\nnodes = {nodes}\n\
             whole_trace = true\n[[axis]]\nkey = \"scheduling.strategy\"\nvalues = [\"predicted-queue\"]\n"
        );
        fs::write(path.join("this.toml"), text).expect("written");
        let arguments = ["run", "this.toml", "--quiet", "--store", "all.db"];
        let done = output(program(path, &arguments));
        assert!(done.status.success(), "{name}: {done:?}");
    };
    experiment("narrow", 64);
    experiment("wide", 128);
    let said = |arguments: &[&str]| {
        let done = output(program(path, arguments));
        assert!(done.status.success(), "{done:?}");
        text(&done.stdout)
    };
    let reported = ["report", "narrow", "--store", "all.db"];
    let one = "4 of 5 points repeat another replication of their setting";
    let shown = said(&[&reported[..], &["--out", "report"]].concat());
    assert!(shown.contains(one), "{shown}");
    let page = fs::read_to_string(path.join("report/report.md")).expect("a page");
    assert!(page.contains(one), "{page}");
    let answer = fs::read_to_string(path.join("report/index.html")).expect("a page");
    assert!(answer.contains("5 replications that repeat one another"));
    let table = fs::read_to_string(path.join("report/tables/summary.csv")).expect("a table");
    let mut rows = csv::Reader::from_reader(table.as_bytes());
    let headings = rows.headers().expect("headings").clone();
    let row = rows.records().next().expect("a row").expect("a row");
    let of = |name: &str| {
        headings
            .iter()
            .position(|own| own == name)
            .map(|at| &row[at])
    };
    assert_eq!(of("replications"), Some("1"), "{table}");
    assert_eq!(of("bounded_slowdown_low"), Some(""), "{table}");
    let json: Value =
        serde_json::from_str(&said(&[&reported[..], &["--json"]].concat())).expect("JSON");
    assert!(json.to_string().contains("\"replications\":1"), "{json}");
    let arguments = [
        "compare",
        "narrow",
        "wide",
        "--store",
        "all.db",
        "--metric",
        "mean_wait",
        "--json",
    ];
    let found: Value = serde_json::from_str(&said(&arguments)).expect("JSON");
    let wait = &found["differences"][0];
    assert_eq!(
        (&found["pairs"], &wait["replications"]),
        (&5.into(), &1.into())
    );
    assert!(
        wait["p_value"].is_null() && wait["difference_low"].is_null(),
        "{wait}"
    );
    assert!(
        wait["difference"].as_f64().is_some_and(|value| value < 0.0),
        "{wait}"
    );
}

#[test]
fn an_experiment_that_was_looked_at_before_it_grew_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let fresh = model(3) + "fresh = true\n";
    run(path, "growing", 4, &fresh);
    run(path, "growing", 6, &fresh);
    run(path, "growing", 8, &fresh);
    // The same name, but nothing of it is used; and the same results under another name.
    run(path, "growing", 9, &(model(4) + "fresh = true\n"));
    run(path, "grown", 8, &fresh);
    for (number, looks) in [
        ("1", None),
        ("2", Some("ended with 4 replications")),
        ("3", Some("ended with 4 and 6 replications")),
        ("4", None),
        ("5", None),
    ] {
        let arguments = ["report", number, "--store", "all.db", "--out", "report"];
        let done = output(program(path, &arguments));
        assert!(done.status.success(), "{done:?}");
        for file in ["report.md", "index.html"] {
            let page = fs::read_to_string(path.join("report").join(file)).expect("a page");
            let said = page.contains("an earlier run of this experiment")
                || page.contains("An earlier run of this experiment");
            assert_eq!(said, looks.is_some(), "run {number}, {file}");
            assert!(
                looks.is_none_or(|looks| page.contains(looks)),
                "run {number}, {file}"
            );
        }
    }
    let arguments = [
        "compare", "3", "5", "--store", "all.db", "--out", "compared",
    ];
    let done = output(program(path, &arguments));
    assert!(done.status.success(), "{done:?}");
    let page = fs::read_to_string(path.join("compared/comparison.md")).expect("a page");
    assert!(page.contains("ended with 4 and 6 replications"), "{page}");
}
