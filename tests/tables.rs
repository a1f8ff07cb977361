//! What commands print as tables: for people on a terminal, and as tab-separated values for
//! scripts, where these are asked for.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::program::{output, program, text};

const STUDY: &str = "\
[experiment]
name = \"small\"
replications = 6
[workload]
model = \"lublin-feitelson\"
jobs = 300
nodes = 64
whole_trace = true
load = { value = 0.9 }
[scheduling]
strategy = \"replanning\"
[reservations]
origin = \"instead\"
start = \"choice\"
[admission]
rule = \"holes\"
[[axis]]
key = \"reservations.share_percent\"
values = [10, 30]
";

/// A folder with two runs of a study whose primary quantity is the wait of jobs, not the gain.
fn two_runs() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    for rule in ["holes", "move-price"] {
        let study = STUDY.replace("\"holes\"", &format!("{rule:?}"));
        fs::write(folder.path().join("this.toml"), study).expect("written");
        let arguments = [
            "run",
            "this.toml",
            "--quiet",
            "--no-report",
            "--store",
            "s.db",
        ];
        let done = output(program(folder.path(), &arguments));
        assert!(done.status.success(), "{rule}: {}", text(&done.stderr));
    }
    folder
}

/// What is printed to standard output and to standard error.
fn said(folder: &Path, arguments: &[&str]) -> (String, String) {
    let done = output(program(folder, arguments));
    let code = done.status.code();
    assert!(
        matches!(code, Some(0 | 1)),
        "{arguments:?}: {}",
        text(&done.stderr)
    );
    (text(&done.stdout), text(&done.stderr))
}

/// The cells of tab-separated values, the header first.
fn cells(values: &str) -> Vec<Vec<&str>> {
    values
        .lines()
        .map(|line| line.split('\t').collect())
        .collect()
}

const MODEL: [&str; 9] = [
    "simulate",
    "--model",
    "lublin-feitelson",
    "--jobs",
    "50",
    "--nodes",
    "64",
    "--policy",
    "easy-backfilling",
];

#[test]
fn every_command_with_tables_gives_a_header_and_a_line_for_each_row_and_nothing_else() {
    let folder = two_runs();
    let path = folder.path();
    let in_store: [(&[&str], &[&str], usize); 9] = [
        (&["runs"], &["Run", "Name", "State"], 2),
        (&["show", "1"], &["run", "name"], 1),
        (&["show", "1", "--points"], &["place"], 12),
        (&["show", "1", "--point", "0", "--jobs", "7"], &["job"], 7),
        (&["show", "1", "--at", "share_percent=10"], &[], 1),
        (
            &[
                "compare",
                "1",
                "2",
                "--metric",
                "gain",
                "--metric",
                "job_wait_hours",
            ],
            &["first", "second", "group", "measure"],
            2,
        ),
        (
            &["compare", "1", "2", "1", "--metric", "gain"],
            &["first", "second"],
            2,
        ),
        (
            &["sql", "SELECT place, gain FROM points WHERE run = 2"],
            &["place", "gain"],
            12,
        ),
        (
            &[
                "sql",
                "--format",
                "table",
                "SELECT run FROM v_run ORDER BY run",
            ],
            &["run"],
            2,
        ),
    ];
    let store: &[&str] = &["--store", "s.db"];
    let in_store =
        in_store.map(|(command, header, rows)| ([command, store].concat(), header, rows));
    let others: [(&[&str], &[&str], usize); 5] = [
        (
            &["list", "metrics", "job_wait"],
            &["metric", "topic", "meaning"],
            1,
        ),
        (
            &["list", "keys", "acceptance.pof_max"],
            &["key", "type", "default"],
            1,
        ),
        (&["list", "strategies"], &["name"], 10),
        (&["list", "traces"], &["file"], 10),
        (&MODEL, &["trace", "policy"], 1),
    ];
    let others = others.map(|(command, header, rows)| (command.to_vec(), header, rows));
    for (command, header, rows) in in_store.into_iter().chain(others) {
        let (values, _) = said(path, &[&command[..], &["--tsv"]].concat());
        let lines = cells(&values);
        assert_eq!(lines[0][..header.len()], *header, "{command:?}");
        let width = lines[0].len();
        assert!(lines.iter().all(|line| line.len() == width), "{command:?}");
        assert!(lines.len() > rows, "{command:?}:\n{values}");
        if rows < 10 || command[0] == "sql" {
            assert_eq!(lines.len(), rows + 1, "{command:?}:\n{values}");
        }
        let is_padded = |cell: &&str| cell.starts_with(' ') || cell.ends_with(' ');
        assert!(!lines.iter().flatten().any(is_padded), "{command:?}");
        assert!(!values.contains('─'), "{command:?}");
    }
    // What is said around the table goes to standard error.
    let (_, sentences) = said(path, &["compare", "1", "2", "--store", "s.db", "--tsv"]);
    assert!(sentences.contains("mean wait of jobs"), "{sentences}");
}

#[test]
fn what_is_piped_stays_as_it_was_where_no_values_are_asked_for() {
    let folder = two_runs();
    for more in [&[][..], &["--wide"]] {
        let arguments = [&["runs", "--store", "s.db"], more].concat();
        let (table, _) = said(folder.path(), &arguments);
        assert!(table.starts_with("Run  Name   State  Done"), "{table}");
        assert!(table.contains("───  ─────"), "{table}");
    }
}

#[test]
fn tabs_and_line_ends_within_a_value_are_escaped_and_nothing_is_empty() {
    let folder = two_runs();
    let question = "SELECT 'a' || char(9) || 'b' || char(10) || 'c\\d' AS x, NULL AS y, '–' AS z";
    for more in [&["--tsv"][..], &["--format", "tsv"]] {
        let arguments = [&["sql", question, "--store", "s.db"], more].concat();
        let (values, _) = said(folder.path(), &arguments);
        assert_eq!(values, "x\ty\tz\na\\tb\\nc\\\\d\t\t–\n");
    }
    let arguments = [
        "sql", question, "--store", "s.db", "--tsv", "--out", "x.tsv",
    ];
    said(folder.path(), &arguments);
    let written = fs::read_to_string(folder.path().join("x.tsv")).expect("written");
    assert_eq!(cells(&written)[0], ["x", "y", "z"]);
}

#[test]
fn commands_without_tables_refuse_to_make_values_of_them() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, words) in [
        (
            &["init", "replanning", "--tsv"][..],
            "prints no table: --tsv is for compare",
        ),
        (&["runs", "--json", "--tsv"], "leave one out"),
        (&["list", "schema", "--tsv"], "leave --tsv out"),
    ] {
        let done = output(program(folder.path(), arguments));
        assert_eq!(done.status.code(), Some(2), "{arguments:?}");
        let message = text(&done.stderr);
        assert!(message.contains(words), "{arguments:?}: {message}");
    }
}

#[test]
fn the_quantity_that_is_asked_for_leads_a_comparison_where_another_one_is_primary() {
    let folder = two_runs();
    let path = folder.path();
    let compare = ["compare", "1", "2", "--store", "s.db"];
    // Lines end where the screen does.
    let first_sentence = |text: &str| {
        let answer = text.split("\n\n").next().unwrap_or_default();
        answer.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (default, _) = said(path, &compare);
    assert!(
        first_sentence(&default).contains("mean wait of jobs"),
        "{default}"
    );

    let metrics = ["--metric", "gain", "--metric", "job_wait_hours"];
    let asked = [&compare[..], &metrics].concat();
    let (screen, _) = said(path, &[&asked[..], &["--out", "page"]].concat());
    let answer = first_sentence(&screen);
    assert!(
        answer.contains("gain (VC)") && !answer.contains("wait"),
        "{screen}"
    );
    let mut rows = screen.lines().skip_while(|line| !line.starts_with("───"));
    assert!(
        rows.nth(1).is_some_and(|row| row.starts_with("gain ")),
        "{screen}"
    );

    let (json, _) = said(path, &[&asked[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let answer = json["answer"].as_str().expect("text").to_owned();
    assert!(first_sentence(&answer).contains("gain (VC)"), "{answer}");
    let measures = json["differences"].as_array().expect("a list").iter();
    let measures: Vec<&str> = measures.filter_map(|row| row["measure"].as_str()).collect();
    assert_eq!(measures, ["gain", "job_wait_hours"]);

    let read = |name: &str| fs::read_to_string(path.join("page").join(name)).expect("a page");
    for name in ["index.html", "comparison.md"] {
        assert!(read(name).contains(&first_sentence(&answer)), "{name}");
    }
    // The table of the first screen begins with it, too.
    let page = read("index.html");
    let table = page.split("id=\"outcome\"").nth(1).expect("the main table");
    let place = |words: &str| table.find(words).unwrap_or(usize::MAX);
    assert!(place("Gain (VC)") < place("Mean wait of jobs"), "{page}");
}
