//! The recipe "How to add a study" of `ARCHITECTURE.md`, followed: its files and one line in the
//! list, and nothing else.

use std::fs;
use std::path::Path;
use std::process::Command;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a temporary folder");
    for entry in fs::read_dir(from).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        let target = to.join(path.file_name().expect("a name"));
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).expect("room on the disk");
        }
    }
}

/// Links every file of a folder but those that are left out by name.
fn link(from: &Path, to: &Path, is_left_out: fn(&str) -> bool) {
    fs::create_dir_all(to).expect("a temporary folder");
    for entry in fs::read_dir(from).expect("a folder of the project") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        let target = to.join(name);
        if is_left_out(&name.to_string_lossy()) {
            continue;
        }
        if path.is_dir() {
            link(&path, &target, is_left_out);
        } else {
            fs::hard_link(&path, &target)
                .or_else(|_| fs::copy(&path, &target).map(drop))
                .expect("room on the disk");
        }
    }
}

/// Builds the project anew with a study more, and uses its program as people do.
#[test]
#[ignore = "builds the three crates a second time: two to four minutes"]
fn a_study_costs_its_files_and_one_line() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary folder");
    let root = folder.path();
    for part in ["src", "configs", "docs"] {
        copy(&project.join(part), &root.join(part));
    }
    // What the three crates need was built for the program under test.
    let built = Path::new(env!("CARGO_BIN_EXE_bookahead"))
        .parent()
        .expect("TARGET/release");
    for part in ["deps", "build", ".fingerprint"] {
        let own = |name: &str| name.contains("bookahead") || name.starts_with("main-");
        link(
            &built.join(part),
            &root.join("target/release").join(part),
            own,
        );
    }
    for file in ["Cargo.lock", "build.rs"] {
        fs::copy(project.join(file), root.join(file)).expect("a file of the project");
    }
    // The same packages and profiles, so that what they need is not built again; one test instead
    // of tests and benchmarks.
    let manifest = fs::read_to_string(project.join("Cargo.toml")).expect("a manifest");
    let mut manifest: toml::Table = toml::from_str(&manifest).expect("TOML");
    manifest.remove("bench");
    manifest.remove("example");
    let test: toml::Table =
        toml::from_str("name = \"toy\"\npath = \"tests/toy.rs\"").expect("TOML");
    manifest.insert("test".to_owned(), vec![test].into());
    fs::write(root.join("Cargo.toml"), manifest.to_string()).expect("room on the disk");

    // Its files …
    let toy = project.join("tests/toy_study");
    let files = [
        ("engine.rs", "src/engine/studies/toy.rs"),
        ("lab/mod.rs", "src/lab/studies/toy/mod.rs"),
        ("lab/keys.rs", "src/lab/studies/toy/keys.rs"),
        ("lab/tables.rs", "src/lab/studies/toy/tables.rs"),
        ("view.rs", "src/report/views/toy.rs"),
        ("run.rs", "tests/toy.rs"),
    ];
    for (from, to) in files {
        let to = root.join(to);
        fs::create_dir_all(to.parent().expect("a folder")).expect("a temporary folder");
        fs::copy(toy.join(from), to).expect("room on the disk");
    }
    // … and one line.
    let list = root.join("src/engine/studies/mod.rs");
    let text = fs::read_to_string(&list).expect("the list of studies");
    let last = "Provisioning(provisioning::ProvisioningStudy),\n";
    assert_eq!(text.matches(last).count(), 1);
    let line = "            /// Jobs, counted.\n            Toy(toy::ToyStudy),\n";
    fs::write(&list, text.replace(last, &format!("{last}{line}"))).expect("room on the disk");

    let output = Command::new(env!("CARGO"))
        .args(["test", "--offline", "--release", "--test", "toy"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", root.join("target"))
        .output()
        .expect("cargo");
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}
