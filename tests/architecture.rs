//! The rules of the project, held against the source: who may mention whom (`ARCHITECTURE.md`).

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
fn only_reports_use_polars_only_simulations_use_actors_only_the_command_line_parses_arguments() {
    assert_only("polars::", &["report"]);
    assert_only("kameo", &["actors"]);
    assert_only("clap::", &["cli"]);
}

/// The compiler guards the matches inside; elsewhere a study is asked, not told apart.
#[test]
fn no_module_but_the_studies_tells_studies_apart() {
    for (path, module, code) in sources() {
        let name = path.to_string_lossy();
        if module == "studies" || name.contains("tests") || name.contains("fixtures") {
            continue;
        }
        for list in ["StudySpec::", "StudyRows::"] {
            assert!(!code.contains(list), "{name} matches on a study");
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
        assert!(!production.contains("::STRATEGY"), "{name} names a study");
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

#[test]
fn no_source_file_is_longer_than_six_hundred_lines() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (path, _, _) in sources() {
        let text = fs::read_to_string(root.join(&path)).expect("a source file");
        let lines = text.lines().count();
        assert!(lines <= 600, "{} has {lines} lines", path.display());
    }
}
