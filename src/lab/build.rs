//! Tells the program which commit it was built from, where there is one: the store keeps it with
//! every run.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let git = |arguments: &[&str]| {
        let output = Command::new("git").args(arguments).output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        output.status.success().then(|| text.trim().to_owned())
    };
    // HEAD names the branch, the log of HEAD grows with every commit.
    for name in ["HEAD", "logs/HEAD"] {
        if let Some(path) = git(&["rev-parse", "--git-path", name])
            && std::path::Path::new(&path).exists()
        {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    if let Some(commit) = git(&["rev-parse", "--short=12", "HEAD"]) {
        println!("cargo:rustc-env=BOOKAHEAD_COMMIT={commit}");
    }
}
