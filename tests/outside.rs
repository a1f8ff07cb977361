//! The pages that write a study and a policy outside of this repository, walked through as they
//! stand: their files are taken from the text, built, and used.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::support::pages::project;
use crate::support::program::text;

/// A page's files with their names, and the commands of its last block for the shell.
struct Walk {
    files: Vec<(String, String)>,
    commands: Vec<String>,
}

impl Walk {
    /// Reads a page: a file is a fenced block behind a paragraph that begins with its name.
    fn of(page: &str) -> Self {
        let page = fs::read_to_string(project().join(page)).expect("readable");
        let (mut files, mut commands) = (Vec::new(), Vec::new());
        let mut name = None;
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            let Some(language) = line.strip_prefix("```") else {
                if let Some((file, _)) = line.strip_prefix('`').and_then(|it| it.split_once('`')) {
                    name = file.contains('.').then(|| file.to_owned());
                }
                continue;
            };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            match (language, name.take()) {
                ("sh", _) => commands = block.iter().map(|line| (*line).to_owned()).collect(),
                (_, Some(name)) => files.push((name, block.join("\n") + "\n")),
                _ => {}
            }
        }
        assert!(files.len() >= 3 && !commands.is_empty(), "{files:?}");
        Self { files, commands }
    }

    /// Writes the files and runs the commands, which must all succeed; returns what each said.
    fn walk(&self) -> Vec<(String, String)> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, content) in &self.files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("room on the disk");
            fs::write(&path, self.at_home(name, content)).expect("room on the disk");
        }
        fs::copy(
            project().join("Cargo.lock"),
            folder.path().join("Cargo.lock"),
        )
        .expect("room on the disk");
        let said = self.commands.iter().map(|command| {
            let done = shell(folder.path(), command);
            let said = text(&done.stdout) + &text(&done.stderr);
            assert!(done.status.success(), "{command}\n{said}");
            (command.clone(), said)
        });
        said.collect()
    }

    /// The manifest finds this checkout, and builds with its profiles: what is built is used again.
    fn at_home(&self, name: &str, content: &str) -> String {
        if name != "Cargo.toml" {
            return content.to_owned();
        }
        let root = project().display().to_string();
        let manifest = fs::read_to_string(project().join("Cargo.toml")).expect("a manifest");
        let manifest: toml::Table = toml::from_str(&manifest).expect("TOML");
        let mut profiles = toml::Table::new();
        if let Some(profile) = manifest.get("profile") {
            profiles.insert("profile".to_owned(), profile.clone());
        }
        content.replace("../bookahead", &root) + "\n" + &profiles.to_string()
    }
}

/// A line for the shell, with the build folder of this checkout.
fn shell(folder: &Path, command: &str) -> Output {
    let target = Path::new(env!("CARGO_BIN_EXE_bookahead"))
        .ancestors()
        .nth(2)
        .expect("TARGET/release/bookahead");
    Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_NET_OFFLINE", "true")
        .env_remove("BOOKAHEAD_TRACES")
        .output()
        .expect("a shell")
}

/// What a command said, by a word of it.
fn after<'s>(said: &'s [(String, String)], word: &str) -> &'s str {
    let found = said.iter().find(|(command, _)| command.contains(word));
    &found.expect("a command of the page").1
}

#[test]
#[ignore = "builds a crate that depends on this one: half a minute where the program was built"]
fn a_study_of_ones_own_is_a_crate_of_its_own() {
    let said = Walk::of("docs/study.md").walk();
    assert!(after(&said, "cargo test").contains("1 passed"));
    assert!(after(&said, "list keys demand").contains("(study demand)"));
    let runs: Vec<&String> = said
        .iter()
        .filter(|(command, _)| command.contains("-- run "))
        .map(|(_, said)| said)
        .collect();
    assert!(runs[1].contains("9 points done already"), "{}", runs[1]);
    assert!(after(&said, "grep").contains("rarely in use |"), "{said:?}");
    assert!(after(&said, "-- compare").contains("demand_nodes"));
    assert!(after(&said, "-- sql").contains("peak"));
}

#[test]
#[ignore = "builds a crate that depends on this one: half a minute where the program was built"]
fn a_policy_of_ones_own_is_a_crate_of_its_own() {
    let said = Walk::of("docs/policy.md").walk();
    assert!(after(&said, "list strategies").contains("shortest-first"));
    assert!(after(&said, "-- sql").contains("shortest-first"));
}
