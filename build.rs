//! Collects the papers of `configs/`: every folder with a `paper.toml`, with the text of all its
//! files, so that the program can reproduce them anywhere. `src/cli/reproduce/paper.rs` reads the
//! list.
//!
//! And tells the program which commit it was built from, where there is one: the store keeps it
//! with every run. Here and not where it is kept, as only the crates above are compiled anew after
//! a commit.

use std::error::Error;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    name_commit();
    println!("cargo::rerun-if-changed=configs");
    let mut list = String::from("&[\n");
    for folder in sorted(Path::new("configs"))? {
        if !folder.join("paper.toml").is_file() {
            continue;
        }
        let files = sorted(&folder)?;
        let ending = |file: &Path, ending: &str| file.to_string_lossy().ends_with(ending);
        writeln!(list, "BuiltIn {{ name: r\"{}\", files: &[", name(&folder))?;
        for file in files.iter().filter(|file| ending(file, ".toml")) {
            let text = included(file);
            writeln!(list, "(r\"{}\", include_str!({text})),", name(file))?;
        }
        list.push_str("], points: &[\n");
        for file in files.iter().filter(|file| ending(file, ".csv.gz")) {
            let (bytes, stem) = (included(file), name(Path::new(&name(file))));
            writeln!(list, "(r\"{stem}\", include_bytes!({bytes})),")?;
        }
        list.push_str("] },\n");
    }
    list.push_str("]\n");
    fs::write(Path::new(&env::var("OUT_DIR")?).join("papers.rs"), list)?;
    Ok(())
}

/// In `BOOKAHEAD_COMMIT`, which stays unset outside a repository and without git.
fn name_commit() {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // HEAD names the branch, the log of HEAD grows with every commit.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && Path::new(&path).exists()
        {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo::rustc-env=BOOKAHEAD_COMMIT={commit}");
    }
}

/// What is in a folder, by name: the same on every machine.
fn sorted(folder: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut found = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>, std::io::Error>>()?;
    found.sort();
    Ok(found)
}

/// The path of a file for `include_str!`, found anew in each build, so that a checkout may be moved
/// with its build folder.
fn included(file: &Path) -> String {
    let path = file.display();
    format!("concat!(env!(\"CARGO_MANIFEST_DIR\"), r\"/{path}\")")
}

fn name(path: &Path) -> String {
    path.file_stem()
        .map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
