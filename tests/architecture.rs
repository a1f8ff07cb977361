//! The rules of the project, held against the source: who may mention whom (`ARCHITECTURE.md`).

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Every Rust file below `src/`, with its module (the first folder or file name, below that of its crate) and its text without comments.
fn sources() -> Vec<(PathBuf, String, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        let mut entries: Vec<PathBuf> = fs::read_dir(folder)
            .expect("a folder of the project")
            .map(|entry| entry.expect("an entry").path())
            .collect();
        entries.sort();
        for path in entries {
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    walk(&root, &mut files);
    files
        .into_iter()
        .map(|path| {
            let inside = path.strip_prefix(&root).expect("below src").to_owned();
            let mut names = inside
                .components()
                .map(|name| name.as_os_str().to_string_lossy().replace(".rs", ""))
                .skip_while(|name| name == "engine" || name == "lab");
            let module = names.next().expect("a name");
            let text = fs::read_to_string(&path).expect("a source file");
            let code: Vec<&str> = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"))
                .collect();
            (inside, module, code.join("\n"))
        })
        .collect()
}

fn assert_only(word: &str, modules: &[&str]) {
    for (path, module, code) in sources() {
        // The tests of a report run the SQL that it prints.
        if path.to_string_lossy().contains("tests") {
            continue;
        }
        assert!(
            modules.contains(&module.as_str()) || !code.contains(word),
            "{} mentions `{word}`, which only {modules:?} may",
            path.display()
        );
    }
}

const DOMAIN: [&str; 6] = [
    "workload",
    "estimates",
    "failures",
    "plan",
    "scheduling",
    "brokering",
];

#[test]
fn the_domain_is_built_without_actors_runtime_database_tables_or_command_line() {
    let manifest = include_str!("../src/engine/Cargo.toml");
    for word in [
        "tokio",
        "kameo",
        "rusqlite",
        "polars",
        "clap",
        "bookahead-lab",
    ] {
        assert!(
            !manifest.contains(word),
            "src/engine/Cargo.toml names `{word}`"
        );
    }
    let manifest = include_str!("../src/lab/Cargo.toml");
    for word in ["polars", "clap"] {
        assert!(
            !manifest.contains(word),
            "src/lab/Cargo.toml names `{word}`"
        );
    }
}

#[test]
fn the_domain_reads_no_clock_no_environment_and_starts_no_thread() {
    for (path, module, code) in sources() {
        if !DOMAIN.contains(&module.as_str()) {
            continue;
        }
        for word in [
            "std::thread",
            "Instant::now",
            "SystemTime",
            "std::env",
            "rand::rng",
        ] {
            // Tests of a module may look where real traces lie.
            let production = code.split("#[cfg(test)]").next().unwrap_or_default();
            let is_test = path.to_string_lossy().contains("tests");
            assert!(
                is_test || !production.contains(word),
                "{} mentions `{word}`",
                path.display()
            );
        }
    }
}

#[test]
fn estimates_failures_and_plans_do_not_know_policies() {
    for (path, module, code) in sources() {
        if ["workload", "estimates", "failures", "plan"].contains(&module.as_str()) {
            assert!(
                !code.contains("crate::scheduling"),
                "{} knows policies",
                path.display()
            );
        }
    }
}

#[test]
fn only_the_store_holds_a_connection() {
    assert_only("Connection::open", &["store"]);
    // Tables of a study write their rows through a connection that they are lent.
    assert_only("rusqlite", &["store", "tables", "studies"]);
}

#[test]
fn only_reports_use_polars_and_only_the_command_line_parses_arguments() {
    assert_only("polars::", &["report"]);
    assert_only("clap::", &["cli"]);
}

#[test]
fn only_simulations_sweeps_and_the_writer_of_the_store_are_actors() {
    let places = [
        "lab/actors/",
        "lab/sweep/actors/",
        "lab/store/sweeps.rs",
        "lab/store/write.rs",
        "lab/store/writer_actor.rs",
    ];
    for (path, _, code) in sources() {
        let name = path.to_string_lossy();
        assert!(
            places.iter().any(|place| name.starts_with(place)) || !code.contains("kameo"),
            "{name} mentions kameo, which only {places:?} may"
        );
    }
}

#[test]
fn only_one_file_writes_to_the_terminal_and_one_opens_inputs() {
    let ways = ["io::stdout()", "io::stderr()", "println!(", "print!("];
    let openings = ["File::open(", "fs::read(", "fs::read_to_string("];
    // Bars that draw themselves; clap's own texts; build scripts.
    let writers = ["cli/output.rs", "lab/sweep/progress.rs", "lab/build.rs"];
    // Files of the system, and files that the program itself has written.
    let readers = [
        "engine/workload/input_file.rs",
        "report/write/folder.rs",
        "lab/store/backup.rs",
        "lab/store/durability.rs",
        "lab/store/journal.rs",
        "lab/store/processes.rs",
        "cli/memory.rs",
        "cli/simulate/answer.rs",
        "cli/serve/guard.rs",
        "cli/submit/folder.rs",
    ];
    for (path, _, code) in sources() {
        let name = path.to_string_lossy().replace('\\', "/");
        let may = |files: &[&str]| files.iter().any(|file| name.ends_with(file));
        // Tests stand behind the code of a file, or in files of their own.
        if name.contains("tests") || name.contains("fixtures") {
            continue;
        }
        let code = code.split("#[cfg(test)]").next().unwrap_or_default();
        for way in ways.iter().filter(|_| !may(&writers)) {
            assert!(
                !code.contains(way),
                "{name} writes by `{way}`: `cli/output.rs` does"
            );
        }
        for opening in openings.iter().filter(|_| !may(&readers)) {
            let mut places = code.match_indices(opening);
            // `StoreFile::open` is another word.
            let is_word = |at: usize| !code[..at].ends_with(char::is_alphanumeric);
            assert!(
                !places.any(|(at, _)| is_word(at)),
                "{name} reads by `{opening}`: `input_file` does"
            );
        }
    }
}

/// The compiler guards the matches inside; elsewhere a study is asked, not told apart.
#[test]
fn no_module_but_the_studies_tells_studies_apart() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, module, code) in sources() {
        let name = path.to_string_lossy();
        if module == "studies" || name.contains("tests") || name.contains("fixtures") {
            continue;
        }
        for list in ["StudySpec::", "StudyRows::"] {
            assert!(!code.contains(list), "{name} matches on a study");
        }
        if name.starts_with("report/views") {
            continue;
        }
        for study in fs::read_dir(root.join("lab/studies")).expect("a folder") {
            let study = study.expect("an entry").file_name();
            let study = study.to_string_lossy().replace(".rs", "");
            let path = format!("use crate::studies::{study}::");
            assert!(
                study == "mod" || !code.contains(&path),
                "{name} knows the study {study}"
            );
            let call = format!(" studies::{study}::");
            assert!(
                study == "mod" || !code.contains(&call),
                "{name} knows the study {study}"
            );
        }
    }
}

/// What a study is called is known to its folders; reports and commands learn it from the store, and what is shown of a study alone
/// stands in its view.
#[test]
fn reports_and_commands_name_studies_in_views_only() {
    for (path, module, code) in sources() {
        let name = path.to_string_lossy();
        let is_view = name.starts_with("report/views");
        if !["report", "cli"].contains(&module.as_str()) || is_view || name.contains("tests") {
            continue;
        }
        let production = code.split("#[cfg(test)]").next().unwrap_or_default();
        let names_one = production
            .replace("::STRATEGY_AXIS", "")
            .contains("::STRATEGY");
        assert!(!names_one, "{name} names a study");
        // A section of reports is called "slots", too.
        for study in bookahead::studies::strategies()
            .map(|strategy| strategy.name)
            .filter(|study| *study != "slots")
        {
            assert!(
                !production.contains(&format!("\"{study}\"")),
                "{name} names {study}"
            );
        }
    }
}

/// The folder of each crate, and its modules: each may call those before it.
const CRATES: [(&str, &[&str]); 3] = [
    (
        "engine",
        &[
            "units",
            "printable",
            "random",
            "memory",
            "output",
            "workload",
            "predictions",
            "estimates",
            "failures",
            "plan",
            "scheduling",
            "brokering",
            "studies",
        ],
    ),
    (
        "lab",
        &[
            "actors", "keys", "inputs", "machines", "tables", "studies", "sweep", "store",
        ],
    ),
    ("", &["report", "cli"]),
];

/// The program of a crate: files without their tests, each with the names on the way to it.
fn program(folder: &str) -> Vec<(Vec<String>, String)> {
    let of_crate = sources().into_iter().filter_map(|(path, _, code)| {
        let path = path.with_extension("");
        let mut names: Vec<String> = (path.components())
            .map(|name| name.as_os_str().to_string_lossy().into_owned())
            .collect();
        let own = match names[0].as_str() {
            "engine" | "lab" => names.remove(0),
            _ => String::new(),
        };
        let is_test = names
            .iter()
            .any(|name| name.contains("test") || name == "fixtures");
        (own == folder && !is_test).then_some((names, code))
    });
    let production = |code: &str| {
        code.split("#[cfg(test)]")
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    of_crate
        .map(|(names, code)| (names, production(&code)))
        .collect()
}

/// The names that stand directly behind a path: one, or those in its braces.
fn behind<'c>(code: &'c str, path: &str) -> Vec<&'c str> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let places = code.match_indices(path).filter(|(at, _)| {
        let before = code[..*at].chars().next_back();
        !before.is_some_and(|letter| is_word(letter) || letter == ':')
    });
    let mut names = Vec::new();
    for (at, _) in places {
        let rest = &code[at + path.len()..];
        let end = match rest.strip_prefix('{') {
            Some(_) => rest.find(';').unwrap_or(rest.len()),
            None => rest.find(|letter| !is_word(letter)).unwrap_or(rest.len()),
        };
        names.extend(rest[..end].split(|letter| !is_word(letter)));
    }
    names
}

#[test]
fn every_module_of_a_crate_calls_only_those_before_it() {
    for (folder, modules) in CRATES {
        for (names, code) in program(folder) {
            let Some(own) = modules.iter().position(|module| *module == names[0]) else {
                assert!(
                    ["build", "lib", "main"].contains(&names[0].as_str()),
                    "{names:?} has no place"
                );
                continue;
            };
            for called in behind(&code, "crate::") {
                let place = modules.iter().position(|module| *module == called);
                assert!(
                    place.is_none_or(|place| place <= own),
                    "{folder}: {} calls `{called}`, which comes after it",
                    names.join("/")
                );
            }
        }
    }
}

/// Modules inside a module that call each other in a circle, and why. A new circle is a failure.
const CIRCLES: [(&str, &[&str]); 4] = [
    // A policy gives orders to the cluster that asks it.
    ("scheduling", &["cluster", "policy"]),
    // Entering pending simulations writes rows, and rows belong to runs.
    ("store", &["processes", "rows", "runs", "tables"]),
    // Shares are submitted, and what was submitted is listed with its runs.
    ("cli", &["runs", "shares", "submit"]),
    // A figure is shown with the table that gives its marks.
    ("report", &["figures", "tables"]),
];

#[test]
fn modules_inside_a_module_call_each_other_in_no_new_circle() {
    for (folder, modules) in CRATES {
        let program = program(folder);
        for module in modules {
            let inside = program
                .iter()
                .filter(|(names, _)| names[0] == *module && names.len() > 1);
            let mut calls: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
            for (names, code) in inside {
                let own = names[1].as_str();
                // How far above a file its module is: `mod.rs` stands for its folder.
                let is_folder = names.last().is_some_and(|name| name == "mod");
                let above = "super::".repeat(names.len() - 1 - usize::from(is_folder));
                let called = calls.entry(own).or_default();
                for path in [format!("crate::{module}::"), above] {
                    if !path.is_empty() && own != "mod" {
                        called.extend(behind(code, &path).into_iter().filter(|name| *name != own));
                    }
                }
            }
            let reached = |from: &'_ str| {
                let mut reached: BTreeSet<&str> = BTreeSet::new();
                let mut next: Vec<&str> = calls[from].iter().copied().collect();
                while let Some(name) = next.pop() {
                    if calls.contains_key(name) && reached.insert(name) {
                        next.extend(&calls[name]);
                    }
                }
                reached
            };
            let all: BTreeMap<&str, BTreeSet<&str>> =
                calls.keys().map(|name| (*name, reached(name))).collect();
            for (one, from_one) in &all {
                for other in from_one.iter().filter(|other| all[*other].contains(one)) {
                    let is_known = CIRCLES.iter().any(|(of, circle)| {
                        of == module && circle.contains(one) && circle.contains(other)
                    });
                    assert!(
                        is_known || one == other,
                        "{module}: `{one}` and `{other}` call each other"
                    );
                }
            }
        }
    }
}

#[test]
fn no_source_file_is_longer_than_six_hundred_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, _, _) in sources() {
        let text = fs::read_to_string(root.join(&path)).expect("a source file");
        let lines = text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines", path.display());
    }
}
