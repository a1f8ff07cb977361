//! Which nodes of the table of Los Alamos fail more often than the others.

use serde_json::Value;

use crate::support::program::{folder, output, program, text};

const TABLE: &str = "LA-UR-05-7318-failure-data-1996-2005.csv.gz";

/// The nodes that are weak in a system, the weakest first: node, failures, and how often it is
/// believed to fail in a year.
fn weak(system: &str) -> Vec<(u64, u64, f64)> {
    let folder = folder();
    let arguments = [
        "trace",
        "failures",
        TABLE,
        "--weak",
        "--systems",
        system,
        "--json",
    ];
    let output = output(program(folder.path(), &arguments));
    assert!(output.status.success(), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let node = |node: &Value| {
        let whole = |field: &str| node[field].as_u64().expect("a whole number");
        let per_year = node["per_year"].as_f64().expect("a number");
        (whole("node"), whole("failures"), per_year)
    };
    let listed = found["weak"].as_array().expect("a list");
    listed.iter().map(node).collect()
}

/// The values are those of a program of its own, written by the rule of
/// docs/measurements/failures.md.
#[test]
fn the_weak_nodes_of_los_alamos_are_those_of_an_independent_count() {
    if std::env::var_os("BOOKAHEAD_FAILURES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_FAILURES names");
        return;
    }
    for (system, count, first) in [
        ("18", 18, [(0, 107, 26.92), (32, 38, 9.36), (512, 27, 6.69)]),
        (
            "19",
            19,
            [(0, 117, 32.72), (256, 44, 11.89), (512, 41, 11.13)],
        ),
        (
            "20",
            15,
            [(0, 113, 26.88), (224, 47, 10.73), (160, 31, 7.13)],
        ),
    ] {
        let found = weak(system);
        assert_eq!(found.len(), count, "system {system}");
        for (found, expected) in found.iter().zip(first) {
            assert_eq!((found.0, found.1), (expected.0, expected.1));
            assert!((found.2 - expected.2).abs() < 0.005, "{found:?}");
        }
    }
}

#[test]
fn a_factor_and_a_probability_that_mean_nothing_are_refused_with_what_to_do() {
    let folder = folder();
    let table = "System,nodes,nodenumz,Prob Started,Prob Fixed\n\
        5,3,0,1/1/2000 9:00,1/1/2000 9:30\n5,3,1,1/3/2000 9:30,1/3/2000 10:30\n";
    std::fs::write(folder.path().join("f.csv"), table).expect("a file");
    for (option, value, said) in [
        (
            "--factor",
            "0",
            "it must be a number above 0, as in --factor 2",
        ),
        ("--factor", "NaN", "it must be a number above 0"),
        ("--probability", "1", "it must lie between 0 and 1"),
    ] {
        let arguments = ["trace", "failures", "f.csv", "--weak", option, value];
        let refused = output(program(folder.path(), &arguments));
        assert!(!refused.status.success());
        let stderr = text(&refused.stderr).replace('\n', " ");
        let stderr: Vec<&str> = stderr.split_whitespace().collect();
        assert!(stderr.join(" ").contains(said), "{stderr:?}");
    }
    let alone = ["trace", "failures", "f.csv", "--factor", "3"];
    let refused = output(program(folder.path(), &alone));
    assert!(text(&refused.stderr).contains("--weak"), "needs --weak");
}

/// What is proposed for a job of 256 nodes for two days on system 20, of which five fees are paid
/// back: the measures in their order, and the first one's chance.
#[test]
fn a_dear_job_on_many_nodes_is_proposed_what_pays_on_a_real_system() {
    if std::env::var_os("BOOKAHEAD_FAILURES").is_none() {
        println!("skipped: needs the folder that BOOKAHEAD_FAILURES names");
        return;
    }
    let folder = folder();
    let proposed = |more: &[&str]| {
        let mut arguments = vec!["trace", "failures", TABLE, "--propose", "--json"];
        arguments.extend(more);
        output(program(folder.path(), &arguments))
    };
    let job = ["--nodes", "256", "--hours", "48", "--penalty-ratio", "5"];
    let one = proposed(&[&["--systems", "20"], &job[..]].concat());
    assert!(one.status.success(), "{}", text(&one.stderr));
    let found: Value = serde_json::from_slice(&one.stdout).expect("JSON");
    let proposals = found["proposals"].as_array().expect("a list");
    let number = |at: usize, field: &str| proposals[at][field].as_f64().expect("a number");
    // Nothing: e^(-48 λ), with the rates of 256 mean nodes.
    let rate = found["rates"]["any_nodes"].as_f64().expect("a number");
    let per_year = rate / 256.0 * 365.25 * 24.0;
    assert!((per_year - 1.29).abs() < 0.005, "{per_year}");
    let nothing = (0..proposals.len()).find(|at| proposals[*at]["measure"] == "nothing");
    let nothing = nothing.expect("nothing is one of them");
    assert!((number(nothing, "success") - (-48.0 * rate).exp()).abs() < 1e-12);
    // Writing for a few minutes costs little and keeps most of the work.
    assert_eq!(proposals[0]["measure"], "checkpoints");
    assert!(number(0, "success") > 0.99);
    for at in 1..proposals.len() {
        assert!(number(at - 1, "profit") >= number(at, "profit"));
    }
    for (arguments, says) in [
        (
            &["--systems", "18,20"][..],
            "choose one, as in --systems 18",
        ),
        (&["--systems", "2"], "has 49 nodes"),
        (
            &["--systems", "20", "--deadline-hours", "40"],
            "give it 48 or more",
        ),
        (&["--systems", "20", "--fee=-1"], "--fee -1"),
    ] {
        let refused = proposed(&[arguments, &job[..]].concat());
        assert!(!refused.status.success());
        let said = text(&refused.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(said.contains(says), "{said}");
    }
}

/// A small experiment whose jobs take up to four nodes.
pub(crate) const JOBS: &str = r#"
[experiment]
name = "jobs"
seed = 1
replications = 2
[workload]
model = "lublin-feitelson"
jobs = 60
nodes = 4
evaluation_jobs = 40
battery_jobs = 20
load = { each_battery = 2.0 }
[scheduling]
strategy = "heuristic-planning"
"#;

/// A system of three nodes, and what is proposed for its jobs, as JSON.
fn proposed(folder: &std::path::Path, more: &str) -> Result<Value, String> {
    let command = format!("trace failures f.csv --propose --json --penalty-ratio 3 {more}");
    let arguments: Vec<&str> = command.split(' ').collect();
    let output = output(program(folder, &arguments));
    match output.status.success() {
        true => Ok(serde_json::from_slice(&output.stdout).expect("JSON")),
        false => Err(text(&output.stderr)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")),
    }
}

#[test]
fn for_each_accepted_job_of_a_run_is_proposed_what_is_proposed_for_it_alone() {
    let folder = folder();
    let path = folder.path();
    let table = "System,nodes,nodenumz,Prob Started,Prob Fixed\n\
        5,3,0,1/1/2000 9:00,1/1/2000 9:30\n5,3,1,1/3/2000 9:30,1/3/2000 10:30\n\
        5,3,2,3/9/2000 9:50,3/9/2000 9:55\n";
    std::fs::write(path.join("f.csv"), table).expect("a file");
    std::fs::write(path.join("jobs.toml"), JOBS).expect("a file");
    let run = "run jobs.toml --quiet --no-report --store s.db";
    let run: Vec<&str> = run.split(' ').collect();
    let run = output(program(path, &run));
    assert!(run.status.success(), "{}", text(&run.stderr));

    let found = proposed(path, "--run jobs --point 1 --store s.db").expect("proposals");
    let jobs = found["jobs"].as_array().expect("a list");
    let too_wide = found["too_wide"].as_u64().expect("a number") as usize;
    let store = rusqlite::Connection::open(path.join("s.db")).expect("the store");
    let accepted = "SELECT count(*) FROM v_job j JOIN v_point p ON p.simulation = j.simulation
        WHERE p.place = 1 AND j.planned_start IS NOT NULL";
    let accepted: u32 = store
        .query_row(accepted, [], |row| row.get(0))
        .expect("a count");
    assert!(!jobs.is_empty() && too_wide > 0);
    assert_eq!(jobs.len() + too_wide, accepted as usize);
    for job in jobs.iter().take(3) {
        let of = |field: &str| job["promised"][field].as_f64().expect("a number");
        let alone = format!(
            "--nodes {} --hours {} --deadline-hours {}",
            of("nodes"),
            of("hours"),
            of("deadline_hours")
        );
        let alone = proposed(path, &alone).expect("proposals");
        assert_eq!(alone["proposals"], job["proposals"]);
    }
    for (more, says) in [
        (
            "--run jobs --point 7 --store s.db",
            "--point 7: no outcome of an accepted job",
        ),
        (
            "--nodes 2",
            "--nodes 64 --hours 24, or for those of which run",
        ),
        ("--run jobs --nodes 2 --store s.db", "cannot be used with"),
        ("--run other --store s.db", "other"),
    ] {
        let said = proposed(path, more).expect_err("refused");
        assert!(said.contains(says), "{said}");
    }
}
