//! A paper of curves through the program: a small trace under the archive's name, sweep, store,
//! findings, card and report.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

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

/// Jobs, one every ten minutes, of up to half the machine and two hours.
fn trace(jobs: u32) -> String {
    let mut text = "; MaxProcs: 430\n; UnixStartTime: 0\n".to_owned();
    for job in 0..jobs {
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

const CLUSTERS: &str = r#"# A little of the evaluation of Meltzer.
#
# Look at: failure rates.

[experiment]
name = "NAME"
replications = 3
[workload]
trace = "SDSC-BLUE-2000-4.2-cln.swf"
nodes = 430
whole_trace = true
[scheduling]
strategy = "co-reservation"
[clusters]
count = 3
days = 1.0
excerpts = "fingerprint"
[requests]
workload = "rw3"
count = 12
[[axis]]
key = "broker.algorithm"
values = ["a3", "a3-backfill"]
[[zip]]
keys = ["broker.minimum_step_seconds", "broker.maximum_starts"]
values = [[1, 2], [1, 4], [300, 20]]
"#;

const FINDINGS_OF_CLUSTERS: &str = r#"
[[again]]
of = "fingerprint"
trace = "drawn"

[[zipped]]
run = "fingerprint-e4"
leads = "broker.maximum_starts"
follow = ["broker.minimum_step_seconds"]

[[paired]]
run = "fingerprint-e4 both"
of = "fingerprint-e4"
left = { "broker.algorithm" = "a3" }
right = { "broker.algorithm" = "a3-backfill" }

[[zipped]]
run = "fingerprint-e4 both"
leads = "broker.maximum_starts"
follow = ["broker.minimum_step_seconds"]

[[finding]]
id = "M1"
section = "7"
statement = "There are twelve requests."
provenance = "stated"
trace = "fingerprint"
value = { run = "fingerprint-e4", measure = "co_requests", at = { "broker.algorithm" = "a3", "broker.maximum_starts" = 4 }, expected = 12, within = "range" }

[[finding]]
id = "M2"
section = "7"
statement = "The third cluster has jobs."
provenance = "stated"
trace = "fingerprint"
bound = { run = "fingerprint-e4", measure = "cluster_jobs@2", at_least = 1 }

[[finding]]
id = "M3"
section = "7"
statement = "Backfilling takes no more requests than there are."
provenance = "derived"
trace = "fingerprint"
bound = { run = "fingerprint-e4 both", measure = "only_right", at_least = 0, at_most = 12 }

[[finding]]
id = "M4"
section = "7"
statement = "More requests fail than there are."
provenance = "derived"
trace = "fingerprint"
bound = { run = "fingerprint-e4", measure = "co_failure_rate", at_least = 1.5 }

[[finding]]
id = "M5"
section = "7"
statement = "The failure rate of series 3."
provenance = "stated"
trace = "fingerprint"
held_out = true
value = { run = "fingerprint-e5", measure = "co_failure_rate", at = { "broker.algorithm" = "a3", "broker.minimum_step_seconds" = 1, "broker.maximum_starts" = 4 } }
"#;

fn write_trace(folder: &Path, name: &str, text: &str) {
    fs::create_dir(folder.join("traces")).expect("made");
    fs::write(folder.join("traces").join(name), text).expect("written");
}

/// Small copies of all configurations of Meltzer 2005.
fn folder_of_clusters() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let configs = folder_of(folder.path(), "meltzer2005");
    for excerpts in ["fingerprint", "drawn"] {
        for experiment in 0..8 {
            let name = format!("{excerpts}-e{experiment}");
            let text = CLUSTERS
                .replace("NAME", &name)
                .replace("\"fingerprint\"", &format!("\"{excerpts}\""));
            fs::write(configs.join(format!("{name}.toml")), text).expect("written");
        }
    }
    fs::write(configs.join("findings.toml"), FINDINGS_OF_CLUSTERS).expect("written");
    fs::write(configs.join("explanations.toml"), "").expect("written");
    // Eleven days of jobs.
    write_trace(folder.path(), "SDSC-BLUE-2000-4.2-cln.swf", &trace(1_584));
    folder
}

/// The folder of a paper that has the traces of the real one.
fn folder_of(root: &Path, paper: &str) -> PathBuf {
    let place = format!("configs/{paper}");
    let configs = root.join(&place);
    fs::create_dir_all(&configs).expect("made");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
    fs::copy(own.join("paper.toml"), configs.join("paper.toml")).expect("copied");
    configs
}

/// A small paper of curves in a folder of its own, with its trace in the folder `traces`.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let configs = folder_of(folder.path(), "heine2005");
    for (name, text) in [
        ("ctc.toml", CONFIGURATION),
        ("findings.toml", FINDINGS),
        ("explanations.toml", EXPLANATIONS),
    ] {
        fs::write(configs.join(name), text).expect("written");
    }
    write_trace(folder.path(), "CTC-SP2-1996-3.1-cln.swf", &trace(80));
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
        "heine2005: held 2 of 3 (67 %)",
    ] {
        assert!(said.contains(text), "{text}\nis not in\n{said}");
    }
    assert!(!log.contains("explained"), "{log}");
    let reports = folder.path().join("reports/reproduced/heine2005/ctc");
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
    // Two rules without reservations, in three replications each: they share simulations and are
    // all there.
    assert_eq!(records[1]["cells"], 1);
    assert_eq!(records[2]["cells"], 6);
    let again = fs::read_to_string(reports.join("score-card.md")).expect("a card");
    assert_eq!(card, again);
}

#[test]
fn without_configurations_in_the_folder_the_copies_in_the_program_are_listed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (said, _) = reproduce(folder.path(), &["singh2008", "--list", "--all"]);
    assert!(said.contains("ctc-price-load.toml (built in)"), "{said}");
    assert!(
        said.contains("SDSC-SP2-1998-4.2-cln.swf: not found"),
        "{said}"
    );
}

#[test]
fn several_clusters_are_judged_by_replications_by_cluster_and_by_request_and_once_more_on_drawn_excerpts()
 {
    let folder = folder_of_clusters();
    let (said, log) = reproduce(folder.path(), &["meltzer2005", "--workers", "2"]);
    for text in [
        "M1  held        There are twelve requests.",
        "12 (3 replications), from 12 to 12",
        "M2  held",
        "M3  held",
        "M4  missed",
        "M5  not tested",
        "the published value is held out",
        "drawn/M1  held",
        "drawn/M4  missed",
        "seven excerpts chosen by fingerprint, 1,160 CPUs each held 3 of 4 (75 %), 1 not tested",
        "excerpts drawn for each replication, 1,160 CPUs each held 3 of 4 (75 %), 1 not tested",
    ] {
        assert!(said.contains(text), "{text}\nis not in\n{said}");
    }
    assert!(
        log.contains("missed, and not explained: M4, drawn/M4"),
        "{log}"
    );
    for excerpts in ["fingerprint", "drawn"] {
        let card = folder.path().join(format!(
            "reports/reproduced/meltzer2005/{excerpts}/score-card.md"
        ));
        let card = fs::read_to_string(card).expect("a card");
        assert!(card.contains("`12 among the replications`"), "{card}");
    }
}

#[test]
fn what_is_reproduced_twice_is_one_run_until_something_is_new() {
    let folder = folder();
    let command = ["heine2005", "--workers", "2"];
    let runs = || -> i64 {
        let store = folder.path().join("data/bookahead.db");
        let store = rusqlite::Connection::open(store).expect("a store");
        store
            .query_row("SELECT count(*) FROM run", [], |row| row.get(0))
            .expect("a number")
    };
    let (first, log) = reproduce(folder.path(), &command);
    assert!(!log.contains("nothing to do"), "{log}");
    assert_eq!(runs(), 1);
    let (second, log) = reproduce(folder.path(), &command);
    assert!(
        log.contains("nothing to do: the results of run 1 stand"),
        "{log}"
    );
    assert_eq!((runs(), &second), (1, &first));
    // Every comparison as tab-separated values, from the same run.
    let (values, _) = reproduce(folder.path(), &[&command[..], &["--tsv"]].concat());
    let lines: Vec<Vec<&str>> = values
        .lines()
        .map(|line| line.split('\t').collect())
        .collect();
    assert_eq!(lines[0][..2], ["id", "trace"]);
    assert_eq!([lines[1][0], lines[2][0], lines[3][0]], ["H1", "H2", "H3"]);
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
    assert_eq!((runs(), lines.len()), (1, 4));
    // More is to be kept: the points are computed again.
    reproduce(
        folder.path(),
        &[&command[..], &["--outcomes", "all"]].concat(),
    );
    assert_eq!(runs(), 2);
    let (_, log) = reproduce(folder.path(), &command);
    assert!(
        log.contains("nothing to do: the results of run 2 stand"),
        "{log}"
    );
    // Other jobs below the same name are other points.
    let log_of_ctc = folder.path().join("traces/CTC-SP2-1996-3.1-cln.swf");
    fs::write(log_of_ctc, trace(90)).expect("written");
    let (_, log) = reproduce(folder.path(), &command);
    assert!(!log.contains("nothing to do"), "{log}");
    assert_eq!(runs(), 3);
}
