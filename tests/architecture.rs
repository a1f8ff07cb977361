//! Who may call whom, read off the sources: the rules of ARCHITECTURE.md.

use std::fs;
use std::path::{Path, PathBuf};

const DOMAIN: [&str; 5] = ["workload", "estimates", "failures", "plan", "scheduling"];
const ROOMS: [&str; 10] = [
    "workload",
    "estimates",
    "failures",
    "plan",
    "scheduling",
    "simulation",
    "sweep",
    "store",
    "report",
    "cli",
];

/// Every source file of a room without its tests, and its name from `src/` on.
fn sources(room: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    collect(&root.join(room), &mut files);
    assert!(!files.is_empty(), "there is a room {room}");
    files.sort();
    files
        .into_iter()
        .filter(|path| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            stem != "tests" && stem != "fixtures" && !stem.ends_with("_tests")
        })
        .map(|path| {
            let text = fs::read_to_string(&path).expect("sources are text");
            let code = text
                .split("\n#[cfg(test)]\nmod tests {")
                .next()
                .unwrap_or_default();
            let name = path
                .strip_prefix(&root)
                .unwrap_or(&path)
                .display()
                .to_string();
            (name, without_comments(code))
        })
        .collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a room is a folder") {
        let path = entry.expect("a readable folder").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

fn without_comments(code: &str) -> String {
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether `word` stands in `code` and is not a part of a longer name.
fn mentions(code: &str, word: &str) -> bool {
    let in_name = |letter: Option<char>| letter.is_some_and(|it| it.is_alphanumeric() || it == '_');
    code.match_indices(word).any(|(place, _)| {
        !in_name(code[..place].chars().next_back())
            && !in_name(code[place + word.len()..].chars().next())
    })
}

/// What is mentioned where it must not be, as `file: word`.
fn violations(room: &str, words: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for (file, code) in sources(room) {
        for word in words {
            // `use crate::{a, b}` would hide a room.
            if mentions(&code, word) || (word.starts_with("crate::") && code.contains("crate::{")) {
                found.push(format!("{file}: {word}"));
            }
        }
    }
    found
}

#[test]
fn the_domain_knows_no_clock_thread_actor_database_or_command_line() {
    let forbidden = [
        "tokio",
        "kameo",
        "rusqlite",
        "polars",
        "clap",
        "indicatif",
        "Instant",
        "SystemTime",
        "std::thread",
        "std::env",
        "thread_rng",
        "rand::rng",
        "crate::simulation",
        "crate::sweep",
        "crate::store",
        "crate::report",
        "crate::cli",
    ];
    for room in DOMAIN {
        assert_eq!(violations(room, &forbidden), Vec::<String>::new());
    }
}

#[test]
fn the_rooms_of_the_domain_call_in_one_direction() {
    let above: [(&str, &[&str]); 4] = [
        (
            "workload",
            &[
                "crate::estimates",
                "crate::failures",
                "crate::plan",
                "crate::scheduling",
            ],
        ),
        (
            "estimates",
            &["crate::failures", "crate::plan", "crate::scheduling"],
        ),
        (
            "failures",
            &[
                "crate::workload",
                "crate::estimates",
                "crate::plan",
                "crate::scheduling",
            ],
        ),
        (
            "plan",
            &["crate::estimates", "crate::failures", "crate::scheduling"],
        ),
    ];
    for (room, words) in above {
        assert_eq!(violations(room, words), Vec::<String>::new());
    }
}

#[test]
fn the_actors_know_the_domain_only() {
    let forbidden = [
        "crate::sweep",
        "crate::store",
        "crate::report",
        "crate::cli",
    ];
    assert_eq!(violations("simulation", &forbidden), Vec::<String>::new());
}

#[test]
fn nobody_calls_the_command_line_and_only_it_calls_the_reports() {
    for room in ROOMS.iter().filter(|room| **room != "cli") {
        assert_eq!(violations(room, &["crate::cli"]), Vec::<String>::new());
    }
    for room in ROOMS
        .iter()
        .filter(|room| !["cli", "report"].contains(room))
    {
        assert_eq!(violations(room, &["crate::report"]), Vec::<String>::new());
    }
}

#[test]
fn each_library_of_weight_has_one_room() {
    for (library, room) in [
        ("rusqlite", "store"),
        ("polars", "report"),
        ("clap", "cli"),
        ("kameo", "simulation"),
    ] {
        for other in ROOMS.iter().filter(|other| **other != room) {
            assert_eq!(violations(other, &[library]), Vec::<String>::new());
        }
        let home = sources(room);
        assert!(
            home.iter().any(|(_, code)| mentions(code, library)),
            "{library} is used in {room}"
        );
    }
}

#[test]
fn only_two_files_of_the_sweep_know_the_store() {
    let allowed = [
        "sweep/house.rs: crate::store",
        "sweep/sink.rs: crate::store",
    ];
    assert_eq!(violations("sweep", &["crate::store"]), allowed);
}
