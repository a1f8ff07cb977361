//! What must not change by accident: specifications of every shipped configuration, stores and
//! reports of every study, help texts.
//!
//! The files below `tests/goldens` are what the program gave when they were written. Where it gives
//! something else, either the change is a mistake, or it is deliberate: then
//! `BOOKAHEAD_GOLDENS=write cargo test --release goldens` writes them again, and the commit says
//! why.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use bookahead::studies::STUDIES;
use bookahead::sweep::{Experiment, canonical_json, digest};

use crate::shards::tables;
use crate::support::program::{output, program, report, run, text};

fn goldens() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/goldens")
}

/// Holds a text against the file of that name, line by line.
pub fn assert_golden(name: &str, now: &str) {
    let path = goldens().join(name);
    if std::env::var_os("BOOKAHEAD_GOLDENS").is_some_and(|value| value == "write") {
        fs::write(&path, now).expect("a writable project");
        return;
    }
    let before = fs::read_to_string(&path).unwrap_or_default();
    if before == now {
        return;
    }
    let (before, now): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let gone = before.iter().filter(|line| !now.contains(line));
    let new = now.iter().filter(|line| !before.contains(line));
    let mut said = format!("{} is not what it was:\n", path.display());
    for (sign, line) in gone
        .map(|line| ('-', line))
        .chain(new.map(|line| ('+', line)))
        .take(40)
    {
        let _ = writeln!(said, "{sign} {line}");
    }
    panic!("{said}(a deliberate change: BOOKAHEAD_GOLDENS=write, and the reason in the commit)");
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files_below(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// The card of a paper whose jobs come from a model, beside what is committed; those of logs are
/// made by hand, as they take minutes.
#[test]
fn the_score_card_of_a_model_workload_is_the_one_that_is_committed() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let arguments = [
        "reproduce",
        "birkenheuer2008",
        "--trace",
        "uniform",
        "--store",
        "it.db",
        "--report",
        "cards",
    ];
    let made = output(program(folder.path(), &arguments));
    assert!(made.status.success(), "{}", text(&made.stderr));
    let card = "birkenheuer2008/uniform/score-card.md";
    let read = |folder: PathBuf| fs::read_to_string(folder.join(card)).expect("a card");
    let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports");
    assert_eq!(read(folder.path().join("cards")), read(committed));
    let json = folder
        .path()
        .join("cards")
        .join(card)
        .with_extension("json");
    assert_golden(
        "score-card.json",
        &fs::read_to_string(json).expect("a card"),
    );
}

#[test]
fn every_shipped_configuration_resolves_to_the_specifications_it_had() {
    let configs = Path::new(env!("CARGO_MANIFEST_DIR")).join("configs");
    let mut files = Vec::new();
    files_below(&configs, &mut files);
    files.sort();
    let mut lines = String::new();
    // Papers have files of published points beside their configurations.
    files.retain(|path| path.extension().is_some_and(|ending| ending == "toml"));
    for path in files {
        let source = fs::read_to_string(&path).expect("readable");
        if !source.contains("[experiment]") {
            continue;
        }
        let sweep = Experiment::load(STUDIES, &path, None)
            .map(|experiment| experiment.sweep)
            .unwrap_or_else(|error| panic!("{error}"));
        let mut all = String::new();
        for simulation in sweep.simulations.iter() {
            all += &canonical_json(&simulation).expect("a specification has a JSON form");
            all.push('\n');
        }
        for point in &sweep.points {
            let _ = writeln!(
                all,
                "{} {:?} {} {} {}",
                point.simulation, point.axes, point.penalty_ratio, point.replication, point.place
            );
        }
        let name = path.strip_prefix(&configs).expect("below configs");
        let _ = writeln!(
            lines,
            "{}\t{} simulations\t{} points\t{}",
            name.display(),
            sweep.simulations.len(),
            sweep.points.len(),
            digest(&all)
        );
    }
    assert_golden("specifications.tsv", &lines);
}

#[test]
fn stores_and_reports_of_every_study_hold_the_rows_and_files_they_held() {
    let mut experiments = Vec::new();
    files_below(&goldens().join("experiments"), &mut experiments);
    experiments.sort();
    let (mut stores, mut reports) = (String::new(), String::new());
    let mut covered = BTreeSet::new();
    for experiment in experiments {
        let study = experiment.file_stem().expect("a name").to_string_lossy();
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path();
        fs::copy(&experiment, path.join("small.toml")).expect("copied");
        assert!(run(path, "golden", &[]).status().expect("runs").success());
        covered.extend(studies_that_know_what_they_saw(&path.join("golden.db")));
        // The row of the run names the commit.
        let mut lines = tables(&path.join("golden.db"));
        lines.retain(|line| table_of(line) != "run");
        for rows in lines.chunk_by(|one, other| table_of(one) == table_of(other)) {
            let table = table_of(&rows[0]);
            let _ = writeln!(
                stores,
                "{study}\t{table}\t{} rows\t{}",
                rows.len(),
                digest(&rows.join("\n"))
            );
        }
        // Reports name the version of the program, which a release alone changes; in a compressed
        // table it may be in two pieces.
        for (name, content) in report(&path.join("golden-report")) {
            let content = match name.ends_with(".files") {
                true => names_of(&content).into_bytes(),
                false => content,
            };
            let _ = writeln!(
                reports,
                "{study}\t{}\t{}",
                name.display(),
                digest(&text(&content).replace(env!("CARGO_PKG_VERSION"), "0.1.0"))
            );
        }
    }
    let studies = STUDIES.strategies().map(|study| study.name);
    for study in studies.chain(["heuristic-overbooking"]) {
        assert!(covered.contains(study), "no experiment of `{study}`");
    }
    assert_golden("stores.tsv", &stores);
    assert_golden("reports.tsv", &reports);
}

/// The list of a report's files without their digests, which say again what the files themselves
/// say.
fn names_of(list: &[u8]) -> String {
    let list = text(list);
    let names = list
        .lines()
        .map(|line| line.rsplit("  ").next().unwrap_or(line));
    names.map(|name| format!("{name}\n")).collect()
}

/// The strategies, and what stands for them, of the simulations in a store, all of which have the
/// hashes of what they saw.
fn studies_that_know_what_they_saw(store: &Path) -> BTreeSet<String> {
    let store = rusqlite::Connection::open(store).expect("a store");
    let unknown: i64 = store
        .query_row(
            "SELECT count(*) FROM v_simulation WHERE jobs_hash IS NULL OR failures_hash IS NULL",
            [],
            |row| row.get(0),
        )
        .expect("a number");
    assert_eq!(unknown, 0);
    let mut statement = store
        .prepare("SELECT DISTINCT strategy FROM v_simulation")
        .expect("a view");
    let strategies = statement.query_map([], |row| row.get(0)).expect("rows");
    strategies.collect::<Result<_, _>>().expect("names")
}

fn table_of(row: &str) -> &str {
    row.split(' ').next().unwrap_or_default()
}

#[test]
fn every_command_explains_itself_in_the_words_it_had() {
    fn explain(command: &[&str], into: &mut String) {
        let mut arguments = command.to_vec();
        arguments.push("--help");
        let folder = tempfile::tempdir().expect("a folder");
        let said = output(program(folder.path(), &arguments));
        assert!(said.status.success(), "{command:?}");
        let help = text(&said.stdout);
        let _ = writeln!(into, "$ bookahead {}\n{help}", arguments.join(" "));
        let commands = help
            .lines()
            .skip_while(|line| *line != "Commands:")
            .skip(1)
            .take_while(|line| !line.is_empty())
            .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
            .filter_map(|line| line.split_whitespace().next())
            .filter(|name| *name != "help");
        for name in commands {
            explain(&[command, &[name]].concat(), into);
        }
    }
    let mut help = String::new();
    explain(&[], &mut help);
    assert_golden("help.txt", &help);
}
