//! A paper of tables under two readings, from the command line to the pages: the Arminius model
//! made small, so that it needs no file.

use std::fs;
use std::path::Path;

use assert_cmd::Command;

const HEAD: &str = r#"# A small NAME. Look at: nothing.
[experiment]
name = "NAME"
description = "small"
replications = 60

[workload]
model = "arminius"
jobs = 3000
nodes = 50
battery_jobs = 20
compression = 0.2

[failures]
source = "generated"
rate_per_hour = 0.02

[[axis]]
key = "estimates.classes"
values = ["runtime"]

[[axis]]
key = "scheduling.strategy"
values = ["conservative-backfilling", "heuristic-planning", "comprehensive-overbooking", "heuristic-overbooking"]
"#;

const READINGS: &str = r#"
[[reading]]
name = "text"
summary = "A node that is down comes back."
reason = "It is written."

[[reading]]
name = "blind"
summary = "A node that is down is not seen."
reason = "It is written elsewhere."
set = { "scheduling.down_horizon" = "none" }
"#;

/// A small paper of tables in a folder of its own.
pub fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let configs = folder.path().join("configs/birkenheuer2012");
    fs::create_dir_all(&configs).expect("made");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs/birkenheuer2012");
    let paper = "title = \"A small paper\"\n[[trace]]\nname = \"arminius\"\nsubject = \"Arminius\"\n\
                 runs = [\"arminius-pof\", \"arminius-risk\", \"arminius-alignment\"]\n";
    fs::write(configs.join("paper.toml"), paper).expect("written");
    for name in ["findings.toml", "explanations.toml"] {
        fs::copy(own.join(name), configs.join(name)).expect("copied");
    }
    fs::write(configs.join("readings.toml"), READINGS).expect("written");
    for (part, axes) in [
        (
            "pof",
            "[[axis]]\nkey = \"acceptance.pof_max\"\nvalues = [0.1, 0.2]\n",
        ),
        (
            "risk",
            "[acceptance]\ntest = \"risk\"\n[[axis]]\nkey = \"acceptance.penalty_ratio\"\nvalues = [0.5, 1.0, 2.0, 4.0]\n",
        ),
        (
            "alignment",
            "[acceptance]\ntest = \"risk\"\n[[axis]]\nkey = \"acceptance.penalty_ratio\"\nvalues = [1.0, 2.0, 4.0]\n\
             [[axis]]\nkey = \"failures.offset_hours\"\nvalues = [0.0, 2.0, 4.0]\n",
        ),
    ] {
        let name = format!("arminius-{part}");
        let text = HEAD.replace("NAME", &name) + axes;
        fs::write(configs.join(format!("{name}.toml")), text).expect("written");
    }
    folder
}

fn said(folder: &Path, arguments: &[&str]) -> (String, String) {
    let assert = Command::cargo_bin("bookahead")
        .expect("the binary")
        .args(arguments)
        .current_dir(folder)
        .env_remove("RUST_LOG")
        .assert()
        .code(0);
    let output = assert.get_output();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("text");
    (text(&output.stdout), text(&output.stderr))
}

#[test]
fn readings_are_run_judged_twice_and_shown_side_by_side_and_share_what_they_have_in_common() {
    let folder = folder();
    let command = [
        "reproduce",
        "birkenheuer2012",
        "--trace",
        "arminius",
        "--workers",
        "2",
    ];
    let all = [&command[..], &["--reading", "all"]].concat();
    let (out, log) = said(folder.path(), &all);
    let totals: Vec<&str> = out
        .lines()
        .filter(|line| line.starts_with("birkenheuer2012") && line.contains(": held "))
        .collect();
    assert_eq!(totals.len(), 2, "{out}");
    assert!(
        totals[1].starts_with("birkenheuer2012@blind: held "),
        "{}",
        totals[1]
    );
    assert!(
        totals
            .iter()
            .all(|total| total.contains(", over alignments ")),
        "{totals:?}"
    );

    // Backfilling and comprehensive overbooking do not ask how long a node stays down: 60 batteries
    // × 2 strategies × 3 ratios × 3 offsets = 1,080 points are the default's. At offset 0 the two
    // others, 60 × 2 × 3 = 360, are the risk test's.
    assert!(
        log.contains(
            "arminius-alignment@blind: 2160 points (1440 simulations), 1440 points done already"
        ),
        "{log}"
    );
    let (runs, _) = said(folder.path(), &["runs"]);
    for name in [
        "arminius-pof ",
        "arminius-pof@blind ",
        "arminius-alignment@blind ",
    ] {
        assert!(runs.contains(name), "{name}\nis not in\n{runs}");
    }
    let (configuration, _) = said(
        folder.path(),
        &["show", "arminius-risk@blind", "--configuration"],
    );
    assert!(
        configuration.contains("name = \"arminius-risk@blind\""),
        "{configuration}"
    );
    assert!(
        configuration.contains("down_horizon = \"none\""),
        "{configuration}"
    );

    let reports = folder.path().join("reports/reproduced/birkenheuer2012");
    let card = fs::read_to_string(reports.join("arminius/score-card.md")).expect("a card");
    assert!(card.contains("clock moved by 0, 2, 4 hours"), "{card}");
    assert!(
        card.contains("Student's t over the 60 batteries of a trace"),
        "{card}"
    );
    let other = fs::read_to_string(reports.join("arminius@blind/score-card.md")).expect("a card");
    assert!(other.contains("reading blind") && other != card);
    assert!(reports.join("arminius@blind/index.html").exists());
    let page = fs::read_to_string(reports.join("readings.md")).expect("a page");
    assert!(
        page.contains("| claim | published | text | blind |"),
        "{page}"
    );
    let html = fs::read_to_string(reports.join("readings.html")).expect("a page");
    assert!(
        html.contains("class=\"side\"") && !html.contains("https://"),
        "a file without network"
    );

    let (again, _) = said(folder.path(), &all);
    assert_eq!(again, out);
    assert_eq!(
        fs::read_to_string(reports.join("readings.html")).expect("a page"),
        html
    );
}
