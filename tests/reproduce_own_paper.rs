//! A paper that the program does not know: a folder of files, reproduced from end to end without a
//! line of Rust.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

const PAPER: &str = r#"
title = "A. Author: Overbooking in the small, 2026"

[[trace]]
name = "model"
subject = "uniform ratios, 32 nodes (model workload)"
remark = "There is no such paper."
runs = ["small"]
"#;

const CONFIGURATION: &str = r#"# Two strategies on a handful of jobs.
#
# Look at: who accepts more.

[experiment]
name = "small"
replications = 2
[workload]
model = "uniform-ratio"
jobs = 600
nodes = 32
evaluation_jobs = 200
battery_jobs = 100
load.value = 2.0
laxity = 2.0
[estimates]
classes = "all"
[acceptance]
pof_max = 0.5
[[axis]]
key = "scheduling.strategy"
values = ["conservative-backfilling", "overbooking-2008"]
"#;

const FINDINGS: &str = r#"
[[finding]]
id = "M1"
section = "§2"
statement = "Overbooking accepts no fewer jobs."
provenance = "stated"
[finding.compare]
left = { run = "small", measure = "accepted", at = { "scheduling.strategy" = "overbooking-2008" } }
right = { run = "small", measure = "accepted", at = { "scheduling.strategy" = "conservative-backfilling" } }
relation = ">="

[[finding]]
id = "M2"
section = "§2"
statement = "Everything is accepted."
provenance = "stated"
[finding.bound]
run = "small"
measure = "rejection_rate"
equals = 0
"#;

fn said(folder: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let assert = Command::cargo_bin("bookahead")
        .expect("the binary")
        .arg("reproduce")
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .assert()
        .code(code);
    let output = assert.get_output();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (text(&output.stdout), text(&output.stderr))
}

fn folder_with_the_paper() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mine = folder.path().join("configs/mine");
    fs::create_dir_all(&mine).expect("made");
    for (name, text) in [
        ("paper.toml", PAPER),
        ("small.toml", CONFIGURATION),
        ("findings.toml", FINDINGS),
    ] {
        fs::write(mine.join(name), text).expect("written");
    }
    folder
}

/// Outcomes and simulations of the store, and how often simulations were computed.
fn counts(folder: &Path) -> String {
    let question =
        "SELECT (SELECT count(*) FROM job_outcome), count(*), sum(attempts) FROM simulation";
    let assert = Command::cargo_bin("bookahead")
        .expect("the binary")
        .args(["sql", "--format", "csv", question])
        .current_dir(folder)
        .assert()
        .success();
    let text = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
    text.lines().last().unwrap_or_default().to_owned()
}

#[test]
fn outcomes_of_a_paper_can_be_asked_for_after_its_metrics_and_are_computed_once() {
    let folder = folder_with_the_paper();
    let reproduced = |arguments: &[&str]| {
        said(folder.path(), &[&["mine"], arguments].concat(), 0);
        counts(folder.path())
    };
    assert_eq!(reproduced(&[]), "0,4,4");
    // Two batteries of 100 jobs under two strategies.
    assert_eq!(reproduced(&["--outcomes", "all"]), "400,4,8");
    for again in [&[][..], &["--outcomes", "all"]] {
        assert_eq!(reproduced(again), "400,4,8");
    }
}

/// What a program of the version before would have written.
#[test]
fn a_store_of_an_older_version_is_brought_up_to_date_and_its_results_stand() {
    let folder = folder_with_the_paper();
    said(folder.path(), &["mine"], 0);
    let path = folder.path().join("data/bookahead.db");
    let file = rusqlite::Connection::open(&path).expect("the store");
    file.execute_batch(
        "DROP TABLE workflow_slot_return; DROP TABLE co_information; DROP TABLE co_class; DROP TABLE decision_histogram;
         PRAGMA user_version = 23",
    )
    .expect("older");
    drop(file);
    let (_, log) = said(folder.path(), &["mine"], 0);
    assert!(log.contains("the results of run 1 stand"), "{log}");
    assert_eq!(counts(folder.path()), "0,4,4");
}

#[test]
fn a_paper_is_a_folder_of_files_and_needs_no_change_of_the_program() {
    let folder = folder_with_the_paper();
    let mine = folder.path().join("configs/mine");
    let (listed, _) = said(folder.path(), &["--list", "--all"], 0);
    for text in [
        "mine\n  A. Author: Overbooking in the small, 2026\n",
        "uniform ratios, 32 nodes (model workload); 2 findings; no file needed",
        "configs/mine/small.toml\n    Two strategies on a handful of jobs.",
        "M1 (model, §2): Overbooking accepts no fewer jobs.",
        "singh2008\n",
    ] {
        assert!(listed.contains(text), "{text}\nis not in\n{listed}");
    }

    let (out, log) = said(folder.path(), &["mine", "--workers", "2"], 0);
    for text in ["M1  held", "M2  missed"] {
        assert!(out.contains(text), "{text}\nis not in\n{out}");
    }
    assert!(log.contains("mine: missed, and not explained: M2"), "{log}");
    let reports = folder.path().join("reports/reproduced/mine/model");
    let card = fs::read_to_string(reports.join("score-card.md")).expect("a card");
    for text in [
        "# mine: uniform ratios, 32 nodes (model workload)\n",
        "> There is no such paper.\n",
        "| M1 | Overbooking accepts no fewer jobs. |",
        "### M2\n",
    ] {
        assert!(card.contains(text), "{text}\nis not in\n{card}");
    }
    assert!(reports.join("index.html").exists());

    let broken = PAPER.replace("\"small\"]", "\"large\"]");
    fs::write(mine.join("paper.toml"), broken).expect("written");
    let (_, told) = said(folder.path(), &["mine"], 2);
    assert!(
        told.contains("configs/mine/paper.toml, line 4: trace `model`: `runs` names `large`"),
        "{told}"
    );
}

#[test]
fn published_numbers_stand_over_the_measured_curves_of_the_report_and_in_its_data() {
    let folder = folder_with_the_paper();
    let mine = folder.path().join("configs/mine");
    let axis = "[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1, 0.3, 0.5]\n";
    let configuration = CONFIGURATION.replacen("[acceptance]\npof_max = 0.5\n", "", 1) + axis;
    fs::write(mine.join("small.toml"), configuration).expect("written");
    let findings = r#"
[[finding]]
id = "V1"
section = "§2"
statement = "So many succeed."
provenance = "printed"
[finding.value]
run = "small"
measure = "successful"
at = { "scheduling.strategy" = "overbooking-2008", "acceptance.pof_max" = 0.3 }
expected = 42
tolerance = 7

[[finding]]
id = "B1"
section = "§2"
statement = "Never more than there are."
provenance = "stated"
[finding.bound]
run = "small"
measure = "successful"
where = { "scheduling.strategy" = "conservative-backfilling" }
at_most = 50
"#;
    fs::write(mine.join("findings.toml"), findings).expect("written");
    said(folder.path(), &["mine", "--workers", "2"], 0);
    let report = folder.path().join("reports/reproduced/mine/model");
    let page = fs::read_to_string(report.join("index.html")).expect("a page");
    let headline = page
        .split("id=\"headline\"")
        .nth(1)
        .and_then(|rest| rest.split("</section>").next())
        .expect("a headline");
    for text in [
        // The paper is about this quantity, so it comes first.
        "id=\"figure-successful-by-acceptance-pof-max\"",
        "data-t=\"published: 42.00; the same from 35.00 to 49.00\nV1\" data-x=\"0.3\"",
        "Diamonds are published values",
    ] {
        assert!(headline.contains(text), "{text}\nis not in\n{headline}");
    }
    let data = report.join("plots/successful-by-acceptance-pof-max.csv");
    let data = fs::read_to_string(data).expect("data");
    for line in [
        "overbooking-2008: published,0.3,42,35,49,,,,,,",
        "\"conservative-backfilling: published, at most\",,,,50,,,,,,",
    ] {
        assert!(data.contains(line), "{line}\nis not in\n{data}");
    }
}
