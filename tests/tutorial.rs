//! The tutorial, typed as it stands: its file is written, its commands are run one after the other
//! in one folder, and what they print is held against the page.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::support::pages::project;
use crate::support::program::text;

/// A command of the page with the pieces of its output, between which something is left out.
struct Step {
    command: String,
    said: Vec<String>,
}

/// What is printed, without the breaks of lines, which depend on the width of the screen.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The commands behind `$ ` in the blocks of the console, each with the lines below it.
fn steps(page: &str) -> Vec<Step> {
    let blocks = page.split("```console\n").skip(1);
    let blocks = blocks.filter_map(|rest| rest.split("```").next());
    let commands = blocks.flat_map(|block| {
        let block = block.strip_prefix("$ ").expect("a command comes first");
        block.split("\n$ ")
    });
    commands
        .map(|command| {
            let (command, said) = command.split_once('\n').unwrap_or((command, ""));
            Step {
                command: command.to_owned(),
                said: said.split('…').map(words).collect(),
            }
        })
        .collect()
}

/// The file that a paragraph which begins with its name introduces.
fn file<'p>(page: &'p str, name: &str) -> &'p str {
    let (_, rest) = page
        .split_once(&format!("\n`{name}` "))
        .expect("the file's paragraph");
    let (_, rest) = rest.split_once("```toml\n").expect("the file's block");
    rest.split("```").next().unwrap_or_default()
}

/// A line for the shell, with the program of this checkout on the path.
fn shell(folder: &Path, command: &str) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_bookahead"));
    let mut path = program.parent().expect("a folder").as_os_str().to_owned();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let done = Command::new("sh")
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .expect("a shell");
    assert!(done.status.success(), "{command}\n{}", text(&done.stderr));
    text(&done.stdout)
}

#[test]
fn each_command_of_the_tutorial_prints_what_the_page_says() {
    let page = fs::read_to_string(project().join("docs/tutorial.md")).expect("readable");
    let log = "KTH-SP2-1996-2.1-cln.swf.gz";
    let is_there = std::env::var_os("BOOKAHEAD_TRACES")
        .is_some_and(|folder| Path::new(&folder).join(log).exists());
    if !is_there {
        println!("skipped: BOOKAHEAD_TRACES has no {log}");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("kth.toml"), file(&page, "kth.toml")).expect("written");
    let steps = steps(&page);
    assert!(steps.len() >= 9, "{}", steps.len());
    for Step { command, said } in steps {
        let printed = words(&shell(folder.path(), &command));
        let mut rest = printed.as_str();
        for piece in &said {
            let found = rest.find(piece.as_str());
            let at = found.unwrap_or_else(|| panic!("{command}\nprints no\n{piece}\nbut\n{rest}"));
            rest = &rest[at + piece.len()..];
        }
    }
    let sentence = "heuristic overbooking with calibrated promises earned 3.6 % more than the same \
                    planner without overbooking (335 coins a battery, 95 % interval 27 to 644";
    assert!(words(&page.replace("\n> ", " ")).contains(sentence));
}
