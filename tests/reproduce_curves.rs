//! A paper of curves through the program: a small trace under the archive's name, sweep, store, findings, card and report.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use assert_cmd::Command;

const CONFIGURATION: &str = r#"# A little of the evaluation of Heine et al.
#
# Look at: the refused share.

[experiment]
name = "ctc"
replications = 3
[workload]
trace = "CTC-SP2-1996-3.1-cln.swf"
nodes = 430
whole_trace = true
[scheduling]
strategy = "replanning"
[admission]
displacement = "skip"
[reservations]
origin = "copy"
start = "estimate-factor"
[[axis]]
key = "admission.rule"
values = ["reject", "move"]
[[axis]]
key = "reservations.share_percent"
values = [0, 50, 100]
"#;

const FINDINGS: &str = r#"
paper = "heine2005"
title = "A paper of curves"

[[finding]]
id = "H1"
section = "6"
statement = "More reservations use more of the machine."
provenance = "stated"
trace = "ctc"
[finding.trend]
run = "ctc"
measure = "reservations_used_percent"
along = "reservations.share_percent"
direction = "rises"

[[finding]]
id = "H2"
section = "6"
statement = "Without reservations the rule does not matter."
provenance = "derived"
trace = "ctc"
[finding.compare]
left = { run = "ctc", measure = "utilisation_percent", at = { "admission.rule" = "reject" } }
right = { run = "ctc", measure = "utilisation_percent", at = { "admission.rule" = "move" } }
relation = "=="
where = { "reservations.share_percent" = 0 }

[[finding]]
id = "H3"
section = "6"
statement = "The machine is more than full."
provenance = "derived"
trace = "ctc"
[finding.bound]
run = "ctc"
measure = "utilisation_percent"
at_least = 101
"#;

const EXPLANATIONS: &str = r#"
[[explanation]]
findings = ["H3"]
text = "No machine is."
evidence = ["ctc"]
"#;

/// 80 jobs, one every ten minutes, of up to half the machine and two hours.
fn trace() -> String {
    let mut text = "; MaxProcs: 430\n; UnixStartTime: 0\n".to_owned();
    for job in 0..80_u32 {
        let (submit, nodes) = (job * 600, 1 + job * 37 % 215);
        let estimate = 1_800 + job * 677 % 5_400;
        let runtime = estimate * (3 + job % 5) / 8;
        let _ = writeln!(
            text,
            "{} {submit} 0 {runtime} {nodes} -1 -1 {nodes} {estimate} -1 1 {} 1 -1 1 -1 -1 -1",
            job + 1,
            1 + job % 7
        );
    }
    text
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let configs = folder.path().join("configs/heine2005");
    fs::create_dir_all(&configs).expect("made");
    for (name, text) in [
        ("ctc.toml", CONFIGURATION),
        ("findings.toml", FINDINGS),
        ("explanations.toml", EXPLANATIONS),
    ] {
        fs::write(configs.join(name), text).expect("written");
    }
    fs::create_dir(folder.path().join("traces")).expect("made");
    let path = folder.path().join("traces/CTC-SP2-1996-3.1-cln.swf");
    fs::write(path, trace()).expect("written");
    folder
}

fn reproduce(folder: &Path, arguments: &[&str]) -> (String, String) {
    let assert = Command::cargo_bin("bookahead")
        .expect("the binary")
        .arg("reproduce")
        .args(arguments)
        .current_dir(folder)
        .env("BOOKAHEAD_TRACES", folder.join("traces"))
        .env_remove("RUST_LOG")
        .assert()
        .code(0);
    let output = assert.get_output();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn curves_are_swept_judged_and_reported_and_the_same_command_again_only_judges() {
    let folder = folder();
    let (said, log) = reproduce(folder.path(), &["heine2005", "--workers", "2"]);
    for text in [
        "H1  held",
        "H2  held",
        "H3  missed",
        "why: No machine is. Looked at: ctc.",
        "heine2005        2 held, 1 missed, 0 not tested",
    ] {
        assert!(said.contains(text), "{text}\nis not in\n{said}");
    }
    assert!(!log.contains("explained"), "{log}");
    let reports = folder.path().join("reports/heine2005/ctc");
    let card = fs::read_to_string(reports.join("score-card.md")).expect("a card");
    assert!(card.contains("| H2 |"), "{card}");
    let page = fs::read_to_string(reports.join("index.html")).expect("a page");
    assert!(page.contains("More reservations use more of the machine."));

    let (records, _) = reproduce(folder.path(), &["heine2005", "--trace", "ctc", "--json"]);
    let records: Vec<serde_json::Value> = serde_json::from_str(&records).expect("JSON");
    let held: Vec<Option<bool>> = records
        .iter()
        .map(|record| record["held"].as_bool())
        .collect();
    assert_eq!(held, [Some(true), Some(true), Some(false)]);
    // Two rules without reservations, in three replications each: they share simulations and are all there.
    assert_eq!(records[1]["cells"], 1);
    assert_eq!(records[2]["cells"], 6);
    let again = fs::read_to_string(reports.join("score-card.md")).expect("a card");
    assert_eq!(card, again);
}

#[test]
fn without_configurations_in_the_folder_the_copies_in_the_program_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (said, _) = reproduce(folder.path(), &["singh2008", "--list"]);
    assert!(said.contains("ctc-price-load.toml (built in)"), "{said}");
    assert!(
        said.contains("SDSC-SP2-1998-4.2-cln.swf: not found"),
        "{said}"
    );
}
