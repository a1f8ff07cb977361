//! The first steps of somebody new: a first experiment with every study, and the commands that
//! explain what can be asked.

use std::fs;
use std::path::Path;
use std::process::Output;

use bookahead::studies::STUDIES;
use bookahead::sweep::beginnings;
use bookahead::sweep::keys::Keys;
use bookahead_overbooking::registry::STRATEGIES;

use crate::support::program::{output, program, text};

fn said(folder: &Path, arguments: &[&str]) -> String {
    let done = output(program(folder, arguments));
    assert!(
        done.status.success(),
        "{arguments:?}: {}",
        text(&done.stderr)
    );
    text(&done.stdout)
}

fn refused(folder: &Path, arguments: &[&str]) -> String {
    let done: Output = output(program(folder, arguments));
    assert_eq!(done.status.code(), Some(2), "{arguments:?}");
    text(&done.stderr)
}

#[test]
fn a_first_experiment_with_every_study_and_policy_is_checked_and_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let names: Vec<String> = beginnings(STUDIES)
        .map(|beginning| beginning.name)
        .collect();
    assert!(names.len() > 12, "{names:?}");
    for name in names {
        let file = format!("{name}.toml");
        fs::write(path.join(&file), said(path, &["init", &name])).expect("written");
        let checked = said(path, &["check", &file, "--json"]);
        let checked: serde_json::Value = serde_json::from_str(&checked).expect("JSON");
        assert_eq!(checked["name"], format!("first-{name}"));
        assert_eq!(checked["warnings"], 0, "{name}");
        assert!(
            checked["seconds"]
                .as_f64()
                .is_some_and(|seconds| seconds < 30.0),
            "{name}: {checked}"
        );
        said(path, &["run", &file, "--quiet"]);
        let again = said(path, &["check", &file, "--json"]);
        let again: serde_json::Value = serde_json::from_str(&again).expect("JSON");
        assert_eq!(again["points_done"], again["points"], "{name}");
    }
}

#[test]
fn check_says_what_run_would_have_said_and_makes_no_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let small = include_str!("goldens/experiments/slots.toml");
    let no_trace = small.replace(
        "model = \"lublin-feitelson\"\njobs = 1500",
        "trace = \"nowhere.swf\"",
    );
    for (name, wrong) in [
        ("key", small.replace("nodes =", "notes =")),
        ("trace", no_trace),
    ] {
        let file = format!("{name}.toml");
        fs::write(path.join(&file), wrong).expect("written");
        let complaint = refused(path, &["check", &file]);
        assert!(!complaint.is_empty());
        assert_eq!(
            complaint,
            refused(path, &["run", &file, "--quiet"]),
            "{name}"
        );
    }
    fs::write(path.join("good.toml"), small).expect("written");
    let words = said(path, &["check", "good.toml"]);
    assert!(
        words.contains("workload.exact_estimates: false, true (2)"),
        "{words}"
    );
    assert!(words.contains("ready: bookahead run"), "{words}");
    assert!(!path.join("data").exists());
}

#[test]
fn every_name_is_found_in_help_and_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let strategies = said(path, &["list", "strategies"]);
    let help = said(path, &["run", "--help"]);
    for policy in STRATEGIES {
        assert!(strategies.contains(policy.name), "{}", policy.name);
        assert!(help.contains(policy.name), "{}", policy.name);
    }
    for name in [
        "a3-star",
        "conformal-quantile",
        "request-then-steps",
        "wfp3",
        "move-price",
    ] {
        assert!(strategies.contains(name), "{name}");
    }
    assert!(
        strategies.lines().all(|line| line.chars().count() <= 100),
        "{strategies}"
    );
    let compare = said(path, &["compare", "--help"]);
    assert!(compare.lines().count() < 85, "{compare}");
    assert!(said(path, &["list", "metrics", "wait"]).contains("mean_wait"));
    let near = refused(path, &["compare", "1", "2", "--metric", "mean_wiat"]);
    assert!(near.contains("did you mean `mean_wait`?"), "{near}");
}

#[test]
fn every_key_is_explained_and_a_slip_of_the_pen_is_understood() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let tables = said(path, &["list", "keys"]);
    for section in Keys::of(STUDIES).sections() {
        assert!(tables.contains(section.path), "{}", section.path);
        let of_table = said(path, &["list", "keys", section.path]);
        for key in section.keys {
            let name = key.path.rsplit('.').next().expect("a name");
            assert!(of_table.contains(&format!("  {name}")), "{}", key.path);
        }
    }
    assert!(said(path, &["list", "keys", "[workload]"]).contains("laxity"));
    let near = refused(path, &["list", "keys", "acceptance.pof_mix"]);
    assert!(
        near.contains("did you mean `acceptance.pof_max`?"),
        "{near}"
    );
}

#[test]
fn a_former_command_ends_with_the_whole_present_one() {
    let folder = tempfile::tempdir().expect("a folder");
    for (former, arguments) in [
        ("strategies", &["--json"][..]),
        ("keys", &["acceptance"]),
        ("metrics", &["wait", "--log", "l.jsonl"]),
        ("traces", &["--help"]),
        ("schema", &["--out", "the schema.json"]),
        ("schema", &[]),
    ] {
        let typed = arguments
            .join(" ")
            .replace("the schema.json", "'the schema.json'");
        let sentence = format!(
            "`{}` is now `{}`",
            format!("bookahead {former} {typed}").trim_end(),
            format!("bookahead list {former} {typed}").trim_end()
        );
        let done = output(program(folder.path(), &[&[former], arguments].concat()));
        assert_eq!(done.status.code(), Some(2), "{former}");
        assert_eq!(text(&done.stderr), format!("error: {sentence}\n"));
        assert_eq!(text(&done.stdout), "");
    }
    let left = fs::read_dir(folder.path()).expect("a folder").count();
    assert_eq!(left, 0, "nothing is written");
}

#[test]
fn traces_say_what_is_missing_and_where_it_comes_from() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program(folder.path(), &["list", "traces", "--json"]);
    command.env("BOOKAHEAD_TRACES", folder.path());
    fs::write(
        folder.path().join("CTC-SP2-1996-3.1-cln.swf"),
        "; not the log",
    )
    .expect("written");
    let done = output(command);
    assert_eq!(
        done.status.code(),
        Some(1),
        "a log is not what it should be"
    );
    let records: Vec<serde_json::Value> = serde_json::from_slice(&done.stdout).expect("JSON");
    let of = |name: &str| {
        let mut records = records.iter();
        records
            .find(|record| record["file"] == name)
            .expect("a record")
    };
    assert_eq!(of("CTC-SP2-1996-3.1-cln.swf")["state"], "wrong");
    let missing = of("SDSC-SP2-1998-4.2-cln.swf");
    assert_eq!(missing["state"], "missing");
    assert!(
        missing["page"]
            .as_str()
            .expect("a page")
            .contains("l_sdsc_sp2")
    );
    assert!(
        missing["terms"]
            .as_str()
            .expect("terms")
            .contains("JPDC 2014")
    );
}

#[test]
fn a_quiet_run_says_nothing_where_nothing_goes_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = include_str!("goldens/experiments/slots.toml");
    fs::write(folder.path().join("small.toml"), small).expect("written");
    let done = output(program(folder.path(), &["run", "small.toml", "--quiet"]));
    assert!(done.status.success());
    assert_eq!((text(&done.stdout), text(&done.stderr)), Default::default());
    assert!(folder.path().join("reports/small/index.html").is_file());
}

#[test]
fn every_axis_is_a_column_of_the_view_points() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = include_str!("goldens/experiments/reservations.toml");
    fs::write(folder.path().join("small.toml"), small).expect("written");
    said(folder.path(), &["run", "small.toml", "--quiet"]);
    let ask = |question: &str| {
        let arguments = [
            "sql",
            "--format",
            "csv",
            question,
            "--store",
            "data/bookahead.db",
        ];
        said(folder.path(), &arguments)
    };
    let by_column = ask(
        "SELECT admission_rule, reservations_share_percent, count(*) FROM points GROUP BY 1, 2 ORDER BY 1, 2",
    );
    let by_json = ask(
        "SELECT axes ->> '$.\"admission.rule\"', axes ->> '$.\"reservations.share_percent\"', count(*) FROM v_point GROUP BY 1, 2 \
         ORDER BY 1, 2",
    );
    assert_eq!(by_column.lines().count(), 7, "{by_column}");
    assert_eq!(
        by_column.lines().skip(1).collect::<Vec<_>>(),
        by_json.lines().skip(1).collect::<Vec<_>>()
    );
    let refused = refused(folder.path(), &["sql", "DROP VIEW points"]);
    assert!(refused.contains("DROP"), "{refused}");
}

#[test]
fn completions_are_the_runs_of_the_store_and_the_axes_and_names_that_there_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let small = include_str!("goldens/experiments/slots.toml");
    fs::write(folder.path().join("small.toml"), small).expect("written");
    let run = ["run", "small.toml", "--quiet", "--store", "mine.db"];
    said(folder.path(), &run);
    let complete = |words: &[&str]| {
        let line = [&["--", "bookahead"], words].concat();
        let mut command = program(folder.path(), &line);
        command.env("COMPLETE", "fish");
        let done = output(command);
        assert!(done.status.success(), "{}", text(&done.stderr));
        text(&done.stdout)
    };
    let runs = complete(&["show", "--store", "mine.db", ""]);
    assert!(runs.contains("small") && runs.contains("latest"), "{runs}");
    let nothing = complete(&["show", ""]);
    assert!(!nothing.contains("small"), "no store is at hand: {nothing}");
    let axes = complete(&["compare", "1", "1", "--store", "mine.db", "--by", ""]);
    assert!(axes.contains("workload.exact_estimates"), "{axes}");
    assert!(complete(&["init", "heur"]).contains("heuristic-planning"));
    let traces = complete(&["reproduce", "birkenheuer2012", "--trace", ""]);
    assert!(
        traces.contains("lanl") && !traces.contains("kth-grid"),
        "{traces}"
    );
    let readings = complete(&["reproduce", "birkenheuer2012", "--reading", ""]);
    assert!(
        readings.contains("all") && readings.lines().count() > 2,
        "{readings}"
    );
    assert!(complete(&["list", "keys", "acceptance.po"]).contains("acceptance.pof_max"));
    assert!(complete(&["list", "metrics", "mean_w"]).contains("mean_wait"));
    let former = complete(&["strat"]);
    assert!(!former.contains("strategies"), "{former}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = said(folder.path(), &["completions", shell]);
        assert!(script.contains("COMPLETE"), "{shell}: {script}");
    }
}

#[test]
fn the_policy_of_the_documentation_is_the_one_that_is_compiled_and_tested() {
    let page = include_str!("../docs/policy.md");
    let template = include_str!("../src/studies/overbooking/policies/template.rs");
    let (_, rest) = page.split_once("```rust\n").expect("an example");
    let (example, _) = rest.split_once("```").expect("it ends");
    let (code, tests) = template.split_once("#[cfg(test)]").expect("it has tests");
    assert_eq!(example.trim_end(), code.trim_end());
    assert!(example.lines().count() <= 50, "fifty lines");
    assert!(tests.contains("#[test]"));
}

#[test]
fn simulate_knows_every_registered_policy() {
    let folder = tempfile::tempdir().expect("a folder");
    let simulate = |policy: &str| {
        let arguments = [
            "simulate",
            "--model",
            "lublin-feitelson",
            "--jobs",
            "300",
            "--nodes",
            "64",
            "--policy",
            policy,
            "--json",
        ];
        output(program(folder.path(), &arguments))
    };
    let waits = |policy: &str| {
        let done = simulate(policy);
        assert!(done.status.success(), "{policy}: {}", text(&done.stderr));
        let answer: serde_json::Value = serde_json::from_slice(&done.stdout).expect("JSON");
        answer["mean_wait_seconds"].clone()
    };
    for (former, now) in [
        ("easy", "--policy easy-backfilling"),
        ("conservative", "--policy heuristic-planning"),
        ("reservations", "--fixed-starts"),
    ] {
        let refused = simulate(former);
        assert_eq!(refused.status.code(), Some(2));
        let said = text(&refused.stderr);
        assert!(said.contains(former) && said.contains(now), "{said}");
    }
    for policy in STRATEGIES {
        if policy.overbooks {
            let refused = simulate(policy.name);
            assert_eq!(refused.status.code(), Some(2));
            assert!(
                text(&refused.stderr).contains("bookahead init"),
                "{}",
                policy.name
            );
        } else {
            assert!(waits(policy.name).is_number(), "{}", policy.name);
        }
    }
}
