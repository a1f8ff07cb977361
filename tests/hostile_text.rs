//! Text of strangers in every place that a stranger can fill: nothing of it acts on a terminal,
//! makes a link of a page, or is shown although it is none of ours.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use bookahead::studies::STUDIES;
use bookahead::sweep::keys::{Keys, Kind};
use bookahead::sweep::{Experiment, ExperimentError};
use bookahead_core::printable::is_harmful;

use crate::serve::client::Server;
use crate::support::program::{folder, output, program, text};

/// Moves a cursor, sets a title, turns the direction, hides letters, makes links, pictures and
/// HTML, ends code.
const HOSTILE: &str = "a\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\r\u{202e}\u{2066}\u{200b}\u{feff}\u{e000}[l](https://evil.example)\
                       ![p](https://evil.example/p)<img src=x onerror=y>```";

/// Nothing that a terminal would act on.
fn assert_printable(what: &str, said: &str) {
    let found: Vec<char> = said.chars().filter(|letter| is_harmful(*letter)).collect();
    assert!(found.is_empty(), "{what}: {found:?} in {said:?}");
}

fn assert_said_printable(what: &str, ended: &Output) {
    assert_printable(what, &text(&ended.stdout));
    assert_printable(what, &text(&ended.stderr));
}

/// Markdown without its code, in which nothing is live.
fn without_code(page: &str) -> String {
    let mut kept = String::new();
    let mut fence: Option<String> = None;
    for line in page.lines() {
        let run: String = line.chars().take_while(|letter| *letter == '`').collect();
        match &fence {
            Some(open) => {
                if run.len() >= open.len() && line.trim_end() == run {
                    fence = None;
                }
            }
            None if run.len() >= 3 && !line[run.len()..].contains('`') => fence = Some(run),
            None => {
                kept.push_str(&without_spans(line));
                kept.push('\n');
            }
        }
    }
    assert_eq!(fence, None, "code is not closed");
    kept
}

/// A line without what stands between equally long runs of backticks.
fn without_spans(line: &str) -> String {
    let mut kept = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        let (before, code) = rest.split_at(at);
        kept.push_str(before);
        if before.ends_with('\\') {
            kept.push('`');
            rest = &code[1..];
            continue;
        }
        let length = code.len() - code.trim_start_matches('`').len();
        let (run, behind) = code.split_at(length);
        let end = behind.match_indices(run).find(|(at, _)| {
            !behind[..*at].ends_with('`') && !behind[at + length..].starts_with('`')
        });
        match end {
            Some((at, _)) => rest = &behind[at + length..],
            None => {
                kept.push_str(run);
                rest = behind;
            }
        }
    }
    kept + rest
}

fn assert_inert_markdown(what: &str, page: &str) {
    assert_printable(what, page);
    let live = without_code(page);
    for sign in [
        "](https://evil",
        "<img src=x",
        " https://evil",
        "(https://evil",
    ] {
        assert!(!live.contains(sign), "{what}: `{sign}` in {live}");
    }
}

/// Every file of a report.
fn assert_inert_report(what: &str, folder: &Path) {
    for entry in fs::read_dir(folder).expect("a report") {
        let path = entry.expect("an entry").path();
        let named = format!("{what}: {}", path.display());
        if path.is_dir() {
            assert_inert_report(what, &path);
            continue;
        }
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("md") => {
                assert_inert_markdown(&named, &fs::read_to_string(&path).expect("readable"))
            }
            Some("html" | "svg") => {
                let page = fs::read_to_string(&path).expect("readable");
                assert_printable(&named, &page);
                assert!(!page.contains("<img src=x"), "{named}");
            }
            // Data: the bytes are kept.
            _ => {}
        }
    }
}

#[test]
fn no_key_of_an_experiment_brings_its_value_to_the_terminal() {
    let hostile = toml::Value::String(HOSTILE.to_owned());
    let mut shown = 0;
    for key in Keys::of(STUDIES).all() {
        let values = [
            hostile.clone(),
            toml::Value::Array(vec![hostile.clone()]),
            toml::Value::Table(toml::Table::from_iter([(
                HOSTILE.to_owned(),
                hostile.clone(),
            )])),
        ];
        // A number takes no text, and a list may take it as an element.
        let values = match key.kind {
            Kind::Text => &values[..1],
            _ => &values[..],
        };
        for value in values {
            let text = with_key(key.path, value);
            let Err(ExperimentError::Invalid(problems)) =
                Experiment::parse(STUDIES, HOSTILE, &text, None)
            else {
                continue;
            };
            assert!(!problems.is_empty(), "{}", key.path);
            for problem in &problems {
                shown += 1;
                assert_printable(key.path, &problem.render(false));
                assert_printable(key.path, &problem.to_string());
            }
        }
    }
    assert!(shown > 300, "{shown} problems");
}

/// A sound experiment with another value of a key.
fn with_key(path: &str, value: &toml::Value) -> String {
    let mut root: toml::Table = toml::from_str(crate::support::program::TEXT).expect("sound");
    let steps: Vec<&str> = path.split('.').collect();
    let (last, above) = steps.split_last().expect("a key has a name");
    let mut table = &mut root;
    for (depth, step) in above.iter().enumerate() {
        let empty = match Keys::of(STUDIES).is_list(&above[..=depth].join(".")) {
            true => toml::Value::Array(vec![toml::Value::Table(toml::Table::new())]),
            false => toml::Value::Table(toml::Table::new()),
        };
        let next = table.entry(*step).or_insert(empty);
        table = match next {
            toml::Value::Array(list) => list.first_mut(),
            table => Some(table),
        }
        .and_then(toml::Value::as_table_mut)
        .expect("a table");
    }
    table.insert((*last).to_owned(), value.clone());
    toml::to_string(&root).expect("TOML")
}

#[test]
fn arguments_and_names_of_files_are_repeated_without_what_acts_on_a_terminal() {
    let place = folder();
    for arguments in [
        &["run"][..],
        &["check"],
        &["show", "--store", "none.db"],
        &["report"],
        &["sql"],
        &["export", "--format"],
        &["machine"],
        &["merge", "out.db"],
        &["gantt", "latest", "--point"],
        &["trace", "info"],
        &["trace", "failures"],
        &["workflow", "info"],
        &["init"],
        &["list"],
        &["list", "keys"],
        &["list", "metrics"],
        &["keys"],
        &["reproduce"],
        &["advise"],
        &["--color"],
        &[],
    ] {
        let ended = output(program(place.path(), &[arguments, &[HOSTILE]].concat()));
        assert_said_printable(&format!("{arguments:?}"), &ended);
    }
}

#[test]
fn files_of_every_kind_are_complained_of_without_what_acts_on_a_terminal() {
    let place = folder();
    let path = place.path();
    let json = serde_json::to_string(HOSTILE).unwrap();
    let quoted = toml::Value::String(HOSTILE.to_owned()).to_string();
    let trace = format!(
        "; Computer: {HOSTILE}\n; Note: {HOSTILE}\n; MaxNodes: {HOSTILE}\n1 0 0 {HOSTILE} 1\n"
    );
    let sound = format!(
        "; Computer: {HOSTILE}\n; MaxNodes: 4\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n"
    );
    let files = [
        ("wrong.swf", trace),
        ("sound.swf", sound),
        (
            "machine.toml",
            format!("name = {quoted}\n[[class]]\nname = {quoted}\nnodes = {quoted}\n"),
        ),
        (
            "unknown.toml",
            format!("name = {quoted}\n[[class]]\nname = {quoted}\n{quoted} = 1\n"),
        ),
        (
            "slurm.conf",
            format!(
                "ClusterName={HOSTILE}\nNodeName={HOSTILE} CPUs={HOSTILE}\nPartitionName=p Nodes={HOSTILE}\n{HOSTILE}=1\n"
            ),
        ),
        (
            "other.conf",
            format!("ClusterName=c\nNodeName=n CPUs=2\nPartitionName=p Nodes=n\n{HOSTILE}=1\n"),
        ),
        ("include.conf", format!("Include {HOSTILE}\n")),
        (
            "mapping.toml",
            format!("title = {quoted}\n[fields]\nsubmit = {quoted}\n{quoted} = 1\n"),
        ),
        (
            "titled.toml",
            format!(
                "title = {quoted}\nnotes = [{quoted}]\n[fields]\nsubmit = {{ column = {quoted} }}\nrun = {{ column = \"r\", unit = \"seconds\" }}\nallocated_processors = {{ value = 1 }}\n"
            ),
        ),
        ("jobs.csv", format!("{HOSTILE},b\n1,2\n")),
        (
            "dax.xml",
            format!(
                "<adag name=\"{}\"><job id=\"{0}\" runtime=\"x\"/></adag>",
                HOSTILE.replace(['<', '\u{1b}', '\u{7}'], "&lt;")
            ),
        ),
        ("broken.xml", HOSTILE.to_owned()),
        (
            "wf.json",
            format!(
                "{{\"name\": {json}, \"workflow\": {{\"specification\": {{\"tasks\": [{{\"id\": {json}, \"name\": {json}, \"parents\": [{json}]}}]}}}}}}"
            ),
        ),
        ("failures.csv", format!("{HOSTILE}\n{HOSTILE},{HOSTILE}\n")),
        ("jobs.txt", format!("JobID|{HOSTILE}\n{HOSTILE}|1\n")),
        (
            "batsim.json",
            format!("{{\"nb_res\": {json}, \"jobs\": [{json}]}}"),
        ),
    ];
    for (name, content) in &files {
        fs::write(path.join(name), content).unwrap();
    }
    let commands: &[&[&str]] = &[
        &["trace", "info", "wrong.swf"],
        &["trace", "info", "sound.swf"],
        &["trace", "info", "sound.swf", "--json"],
        &["trace", "estimates", "wrong.swf"],
        &["simulate", "wrong.swf", "--policy", "fcfs"],
        &["simulate", "sound.swf", "--policy", "fcfs"],
        &["simulate", "sound.swf", "--policy", "fcfs", "--json"],
        &["simulate", "sound.swf", "--machine", "machine.toml"],
        &["simulate", "sound.swf", "--machine", "other.conf"],
        &["advise", "wrong.swf"],
        &["advise", "sound.swf", "--machine", "slurm.conf"],
        &["machine", "machine.toml"],
        &["machine", "unknown.toml"],
        &["machine", "slurm.conf"],
        &["machine", "other.conf"],
        &["machine", "include.conf"],
        &["run", "machine.toml"],
        &["run", "wrong.swf"],
        &["check", "mapping.toml"],
        &[
            "submit",
            "--engine",
            "slurm",
            "mapping.toml",
            "--shards",
            "2",
        ],
        &[
            "trace",
            "import",
            "jobs.csv",
            "--mapping",
            "mapping.toml",
            "--out",
            "o.swf",
        ],
        &[
            "trace",
            "import",
            "jobs.csv",
            "--mapping",
            "titled.toml",
            "--out",
            "o.swf",
        ],
        &["trace", "import", "jobs.txt", "--out", "o.swf"],
        &[
            "trace",
            "import",
            "batsim.json",
            "--format",
            "batsim-json",
            "--out",
            "o.swf",
        ],
        &["trace", "failures", "failures.csv"],
        &["workflow", "info", "dax.xml"],
        &["workflow", "info", "broken.xml"],
        &["workflow", "info", "wf.json"],
        &["runs", "--store", "wrong.swf"],
        &["sql", "--store", "wrong.swf", "SELECT 1"],
    ];
    for command in commands {
        assert_said_printable(&format!("{command:?}"), &output(program(path, command)));
    }
}

/// Every column of text of every table that has rows.
fn columns_of_text(store: &Path) -> Vec<(String, String)> {
    let connection = rusqlite::Connection::open(store).expect("a store");
    let mut tables = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        .expect("readable");
    let tables: Vec<String> = tables
        .query_map([], |row| row.get(0))
        .expect("readable")
        .collect::<Result<_, _>>()
        .expect("readable");
    let mut found = Vec::new();
    for table in tables {
        let mut columns = connection
            .prepare(&format!("SELECT name FROM pragma_table_info('{table}')"))
            .expect("readable");
        let columns: Vec<String> = columns
            .query_map([], |row| row.get(0))
            .expect("readable")
            .collect::<Result<_, _>>()
            .expect("readable");
        for column in columns {
            let question =
                format!("SELECT count(*) FROM \"{table}\" WHERE typeof(\"{column}\") = 'text'");
            let count: i64 = connection
                .query_row(&question, [], |row| row.get(0))
                .expect("readable");
            if count > 0 {
                found.push((table.clone(), column));
            }
        }
    }
    found
}

#[test]
fn no_text_of_a_store_acts_on_a_terminal_or_is_live_in_a_report() {
    let place = folder();
    let path = place.path();
    let small = "[experiment]\nname = \"s\"\ndescription = \"d\"\nreplications = 2\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 120\n\
                 nodes = 16\nbattery_jobs = 30\nload.value = 1.0\nlaxity = 2.0\n[estimates]\nclasses = \"runtime\"\n[[axis]]\nkey = \"scheduling.strategy\"\n\
                 values = [\"heuristic-planning\", \"heuristic-overbooking\"]\n";
    fs::write(path.join("s.toml"), small).unwrap();
    let made = output(program(
        path,
        &["run", "s.toml", "--store", "sound.db", "--no-report"],
    ));
    assert!(made.status.success(), "{}", text(&made.stderr));
    let columns = columns_of_text(&path.join("sound.db"));
    let (mut changed, mut pages) = (0, 0);
    for (table, column) in &columns {
        let store = path.join("hostile.db");
        fs::copy(path.join("sound.db"), &store).unwrap();
        {
            let connection = rusqlite::Connection::open(&store).unwrap();
            connection
                .execute_batch("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
                .unwrap();
            let change = format!("UPDATE \"{table}\" SET \"{column}\" = \"{column}\" || ?1");
            // A column with one value of several letters may be unique or fixed.
            if connection.execute(&change, [HOSTILE]).is_err() {
                continue;
            }
        }
        changed += 1;
        let what = format!("{table}.{column}");
        let reports = ["report", "compared"].map(|name| path.join(name));
        for folder in &reports {
            let _ = fs::remove_dir_all(folder);
        }
        let select = format!("SELECT \"{column}\" FROM \"{table}\"");
        for command in [
            &["runs"][..],
            &["runs", "--json"],
            &["show", "1", "--points"],
            &["show", "1", "--point", "0"],
            &["report", "1", "--out", "report"],
            &["compare", "1", "1", "--out", "compared"],
            &["compare", "1", "1", "--json"],
            &["sql", &select],
            &["sql", "--format", "json", &select],
        ] {
            let ended = output(program(
                path,
                &[command, &["--store", "hostile.db"]].concat(),
            ));
            assert_said_printable(&format!("{what}: {command:?}"), &ended);
        }
        for folder in reports.iter().filter(|folder| folder.is_dir()) {
            assert_inert_report(&what, folder);
        }
        let server = Server::start(path, &["--store", "hostile.db"]);
        for page in [
            "/",
            "/runs/1",
            "/compare?run=1&run=1",
            "/runs/1/plans",
            "/runs/1/plan?point=0",
        ] {
            let answer = server.get(page);
            let what = format!("{what}: {page}");
            assert_printable(&what, &answer.body);
            assert!(!answer.body.contains("<img src=x"), "{what}");
            pages += usize::from(answer.status == 200);
        }
    }
    assert!(pages > 30, "{pages} pages were shown");
    assert!(changed > 15, "{changed} of {columns:?}");
}

/// What a command says, which ends with this code.
fn assert_ends_printable(path: &Path, arguments: &[&str], code: i32) {
    let ended = output(program(path, arguments));
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(code), "{arguments:?}: {said}");
    assert_said_printable(&format!("{arguments:?}"), &ended);
}

#[test]
fn no_text_of_a_log_its_names_or_its_machine_is_live_on_a_page_of_advice() {
    let place = folder();
    let path = place.path();
    let quoted = toml::Value::String(HOSTILE.to_owned()).to_string();
    let machine = format!(
        "name = {quoted}\npriority = {{ age = 10, fair_share = 5, holder = \"account\", half_life_hours = 1, qos = 3 }}\n\
         [[class]]\nname = {quoted}\nnodes = 16\ncores = 1\n\
         [[partition]]\nname = {quoted}\nclasses = [{quoted}]\ndefault = true\ndefault_request_hours = 1\nqueues = [{quoted}]\n\
         [[qos]]\nname = {quoted}\npriority_factor = 0.5\nqueues = [{quoted}]\n\
         [[account]]\nname = {quoted}\nshares = 3\ngroups = [{quoted}]\n"
    );
    fs::write(path.join("machine.toml"), machine).unwrap();
    let name = format!("\"{}\"", HOSTILE.replace('"', "\"\""));
    let names = ["queue", "user", "group", "partition"].map(|kind| format!("{kind},1,{name}\n"));
    fs::write(
        path.join("names.csv"),
        format!("kind,number,name\n{}", names.concat()),
    )
    .unwrap();
    let header = ["Computer", "Note", "Acknowledge", "Information", "Queue: 1"]
        .map(|key| format!("; {key}: {HOSTILE}\n"))
        .concat();
    let jobs: String = (1..=2_100)
        .map(|job| {
            format!(
                "{job} {} 5 600 2 -1 -1 2 900 -1 1 1 1 1 1 1 -1 -1\n",
                300 * job
            )
        })
        .collect();
    // A name of a file has no slash.
    let log = "![l](evil)<img src=x onerror=y>```.swf";
    fs::write(
        path.join(log),
        format!("{header}; MaxProcs: 16\n; UnixStartTime: 843484831\n{jobs}"),
    )
    .unwrap();
    let machine = ["--machine", "machine.toml", "--names", "names.csv"];
    let advise = ["advise", log, "--store", "a.db", "--report", "page"];
    assert_ends_printable(path, &[&advise[..], &machine].concat(), 0);
    let page = fs::read_to_string(path.join("page/advice.md")).expect("a page");
    assert!(page.contains("evil"), "the machine's name is on the page");
    assert_inert_report("advice", &path.join("page"));
}

#[test]
fn no_text_of_a_papers_files_is_live_on_its_score_cards_and_pages() {
    let place = folder();
    let path = place.path();
    let mine = path.join("configs/mine");
    fs::create_dir_all(&mine).unwrap();
    let quoted = toml::Value::String(HOSTILE.to_owned()).to_string();
    let finding = |id: &str, check: &str| {
        format!(
            "[[finding]]\nid = \"{id}\"\nsection = {quoted}\nstatement = {quoted}\nnote = {quoted}\nprovenance = \"stated\"\n\
             [finding.bound]\nrun = \"small\"\nmeasure = \"rejection_rate\"\n{check}\n"
        )
    };
    let files = [
        (
            "paper.toml",
            format!(
                "title = {quoted}\n[[trace]]\nname = \"model\"\nsubject = {quoted}\nremark = {quoted}\nruns = [\"small\"]\n"
            ),
        ),
        (
            "small.toml",
            format!(
                "[experiment]\nname = \"small\"\ndescription = {quoted}\nreplications = 2\n[workload]\nmodel = \"uniform-ratio\"\n\
                 jobs = 600\nnodes = 32\nevaluation_jobs = 200\nbattery_jobs = 100\nload.value = 2.0\nlaxity = 2.0\n\
                 [estimates]\nclasses = \"all\"\n[acceptance]\npof_max = 0.5\n\
                 [[axis]]\nkey = \"scheduling.strategy\"\nvalues = [\"conservative-backfilling\", \"overbooking-2008\"]\n"
            ),
        ),
        (
            "findings.toml",
            [
                finding("M1", "at_least = 0"),
                finding("M2", "equals = 0"),
                finding("M3", "equals = 0"),
                finding(
                    "M4",
                    &format!("equals = 0\nwhere = {{ \"scheduling.strategy\" = {quoted} }}"),
                ),
            ]
            .concat(),
        ),
        (
            "explanations.toml",
            format!(
                "[[explanation]]\nid = {quoted}\nfindings = [\"M2\"]\ntext = {quoted}\nevidence = [{quoted}]\n"
            ),
        ),
        (
            "readings.toml",
            format!(
                "[[reading]]\nname = \"text\"\nsummary = {quoted}\nreason = {quoted}\n\
                 [[reading]]\nname = \"blind\"\nsummary = {quoted}\nreason = {quoted}\nset = {{ \"acceptance.pof_max\" = 0.1 }}\n"
            ),
        ),
    ];
    for (name, content) in files {
        fs::write(mine.join(name), content).unwrap();
    }
    assert_ends_printable(path, &["reproduce", "--list", "--all"], 0);
    let all = ["reproduce", "mine", "--reading", "all", "--report", "out"];
    assert_ends_printable(path, &all, 0);
    assert_inert_report("score cards", &path.join("out"));
    let card = path.join("out/mine/model/score-card.json");
    let recorded = fs::read_to_string(&card).expect("a card");
    let mut recorded: serde_json::Value = serde_json::from_str(&recorded).expect("JSON");
    let mut changed = 0;
    for record in recorded.as_array_mut().expect("records") {
        for (key, value) in record.as_object_mut().expect("a record") {
            if value.is_string() && !["id", "verdict"].contains(&key.as_str()) {
                *value = HOSTILE.into();
                changed += 1;
            }
        }
    }
    assert!(changed > 8, "{changed} texts");
    fs::write(&card, recorded.to_string()).unwrap();
    let page = ["reproduce", "mine", "--from-cards", "--report", "out"];
    assert_ends_printable(path, &page, 0);
    assert_inert_report("the page of a paper", &path.join("out"));
}

#[test]
fn what_is_no_file_of_ours_is_not_shown() {
    let place = folder();
    let path = place.path();
    let secrets = [
        (
            "shadow",
            "root:$6$hunter2:19000:0:99999:7:::\ndaemon:*:hunter2::::\n",
        ),
        ("credentials.toml", "[registry]\ntoken = \"hunter2\"\n"),
        ("env", "PASSWORD=hunter2\nexport TOKEN=\"hunter2\n"),
        ("secret.conf", "[libdefaults]\n hunter2 = 1\nhunter2\n"),
        ("one.toml", "hunter2 = \"hunter2\"\nname = 3\nname = 3\n"),
        (
            "keys.json",
            "{\"jobs\": [\"hunter2\"], \"nb_res\": \"hunter2\", \"workflow\": {\"specification\": \"hunter2\"}}",
        ),
        ("hunter.json", "[\"hunter2\"]\n"),
    ];
    fs::write(
        path.join("sound.swf"),
        "; MaxNodes: 4\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n",
    )
    .unwrap();
    fs::write(path.join("jobs.csv"), "a,b\n1,2\n").unwrap();
    let machine = "name = \"m\"\n[[class]]\nname = \"c\"\nnodes = 4\ncores = 1\n[[partition]]\nname = \"p\"\ndefault = true\n";
    fs::write(path.join("sound.toml"), machine).unwrap();
    for (name, content) in secrets {
        fs::write(path.join(name), content).unwrap();
        fs::write(path.join("slurm.conf"), format!("Include {name}\n")).unwrap();
        for command in [
            &["run", name][..],
            &["check", name],
            &["check", name, "--json"],
            &["submit", "--engine", "slurm", name, "--shards", "2"],
            &["machine", name],
            &["machine", "slurm.conf"],
            &["simulate", "sound.swf", "--machine", name],
            &["advise", "sound.swf", "--machine", name],
            &[
                "trace",
                "import",
                "jobs.csv",
                "--mapping",
                name,
                "--out",
                "o.swf",
            ],
            &[
                "trace",
                "import",
                name,
                "--format",
                "csv",
                "--mapping",
                "pm100",
                "--out",
                "o.swf",
            ],
            &["trace", "import", name, "--out", "o.swf"],
            &[
                "trace",
                "import",
                name,
                "--format",
                "batsim-json",
                "--out",
                "o.swf",
            ],
            &["trace", "failures", name],
            &["trace", "info", name],
            &["workflow", "info", name],
            &[
                "simulate",
                "sound.swf",
                "--machine",
                "sound.toml",
                "--names",
                name,
            ],
        ] {
            let ended = output(program(path, command));
            let said = text(&ended.stdout) + &text(&ended.stderr);
            assert_eq!(ended.status.code(), Some(2), "{command:?}: {said}");
            assert!(!said.contains("hunter2"), "{command:?}: {said}");
            // What a `slurm.conf` includes may well be without any fault.
            let conf = "slurm.conf";
            let is_named = said.contains(name) || (command.contains(&conf) && said.contains(conf));
            assert!(is_named, "{command:?}: {said}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_named_pipe_in_the_place_of_a_file_is_refused_at_once() {
    let place = folder();
    let path = place.path();
    fs::write(
        path.join("sound.swf"),
        "; MaxNodes: 4\n1 0 0 10 1 -1 -1 1 20 -1 1 1 1 1 1 1 -1 -1\n",
    )
    .unwrap();
    fs::write(path.join("jobs.csv"), "a,b\n1,2\n").unwrap();
    fs::write(path.join("slurm.conf"), "Include pipe\n").unwrap();
    assert!(
        Command::new("mkfifo")
            .arg(path.join("pipe"))
            .status()
            .unwrap()
            .success()
    );
    for command in [
        &["run", "pipe"][..],
        &["check", "pipe"],
        &["submit", "--engine", "slurm", "pipe", "--shards", "2"],
        &["machine", "pipe"],
        &["machine", "slurm.conf"],
        &["simulate", "pipe", "--policy", "fcfs"],
        &["simulate", "sound.swf", "--machine", "pipe"],
        &["advise", "pipe"],
        &["trace", "info", "pipe"],
        &["trace", "failures", "pipe"],
        &["trace", "import", "pipe", "--out", "o.swf"],
        &[
            "trace",
            "import",
            "jobs.csv",
            "--mapping",
            "pipe",
            "--out",
            "o.swf",
        ],
        &[
            "trace",
            "import",
            "pipe",
            "--format",
            "parquet",
            "--mapping",
            "pm100",
            "--out",
            "o.swf",
        ],
        &["workflow", "info", "pipe"],
        &["runs", "--store", "pipe"],
        &["run", "small.toml", "--store", "pipe"],
        &["sql", "--store", "pipe", "SELECT 1"],
        &["sql", "--parameters", "@pipe", "SELECT ?"],
        &["merge", "out.db", "pipe"],
    ] {
        let mut process = program(path, command)
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let begun = Instant::now();
        while process.try_wait().unwrap().is_none() {
            if begun.elapsed() > Duration::from_secs(60) {
                process.kill().unwrap();
                panic!("{command:?} waits");
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let ended = process.wait_with_output().unwrap();
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("named pipe"), "{command:?}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_of_shares_whose_name_is_not_utf8_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let place = folder();
    let name = std::ffi::OsStr::from_bytes(b"shares-\xff");
    let mut command = program(
        place.path(),
        &[
            "submit",
            "--engine",
            "slurm",
            "small.toml",
            "--shards",
            "2",
            "--dry-run",
            "--dir",
        ],
    );
    command.arg(name);
    let ended = output(command);
    let said = text(&ended.stderr);
    assert_eq!(ended.status.code(), Some(2), "{said}");
    assert!(
        said.contains("not UTF-8") && said.contains("--dir"),
        "{said}"
    );
    assert!(!place.path().join(name).exists());
}
