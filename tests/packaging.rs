//! What installs the program: container, image, package, wheel, and the papers that name its
//! version.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn read(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).expect(name)
}

fn exists(name: &str) -> bool {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name).exists()
}

/// What the first stage of both images takes of the project.
fn copied() -> [BTreeSet<String>; 2] {
    let container = read("Containerfile");
    let build = container.split("\nFROM ").nth(1).expect("a stage");
    let of_container = build
        .lines()
        .filter_map(|line| line.strip_prefix("COPY "))
        .flat_map(|line| {
            let names: Vec<_> = line.split(' ').map(str::to_owned).collect();
            names[..names.len() - 1].to_vec()
        })
        .collect();
    let image = read("packaging/bookahead.def");
    let files = image.split("%files\n").nth(1).expect("files");
    let of_image = files
        .lines()
        .take_while(|line| line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect();
    [of_container, of_image]
}

#[test]
fn container_and_image_are_built_from_the_same_files_which_are_all_that_cargo_needs() {
    let [of_container, of_image] = copied();
    assert_eq!(of_container, of_image);
    for name in &of_container {
        assert!(exists(name), "{name}");
    }
    // What cargo reads to know the targets, what `build.rs` collects, what `report --cite` prints,
    // and the worked questions of `serve`.
    let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let targets = ["lib", "bin", "test", "bench", "example"];
    let mut needed: BTreeSet<String> = [
        "Cargo.toml",
        "Cargo.lock",
        "build.rs",
        "CITATION.cff",
        "src",
        "configs",
        "docs",
    ]
    .map(str::to_owned)
    .into();
    needed.insert(
        manifest["package"]["readme"]
            .as_str()
            .expect("a file")
            .to_owned(),
    );
    for target in targets.iter().filter_map(|kind| manifest.get(*kind)) {
        let all = target
            .as_array()
            .cloned()
            .unwrap_or_else(|| vec![target.clone()]);
        for one in all {
            let folder = match one.get("path").and_then(toml::Value::as_str) {
                Some(path) => path.split('/').next().unwrap_or_default().to_owned(),
                None if one.get("harness").is_some() => "benches".to_owned(),
                None => "src".to_owned(),
            };
            needed.insert(folder);
        }
    }
    assert_eq!(of_container, needed);
    // Both stages of both files start from the same images.
    let images = |text: &str, lead: &str| -> Vec<String> {
        text.lines()
            .filter_map(|line| line.strip_prefix(lead))
            .map(|image| {
                image
                    .trim_start_matches("docker.io/library/")
                    .split(' ')
                    .next()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(
        images(&read("Containerfile"), "FROM "),
        images(&read("packaging/bookahead.def"), "From: ")
    );
}

#[test]
fn the_debian_package_has_the_program_and_only_files_that_there_are() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let package = &manifest["package"]["metadata"]["deb"];
    let assets = package["assets"].as_array().expect("assets");
    let mut programs = 0;
    for asset in assets {
        let (from, to) = (
            asset[0].as_str().expect("a file"),
            asset[1].as_str().expect("a folder"),
        );
        if from == "target/release/bookahead" {
            assert_eq!((to, asset[2].as_str()), ("usr/bin/", Some("755")));
            programs += 1;
        } else {
            assert!(exists(from), "{from}");
            assert_eq!(asset[2].as_str(), Some("644"));
        }
    }
    assert_eq!(programs, 1);
    assert!(exists(package["license-file"][0].as_str().expect("a file")));
}

#[test]
fn the_wheel_takes_the_version_and_the_program_of_this_manifest() {
    let project: toml::Table = read("src/python/pyproject.toml").parse().expect("TOML");
    let maturin = &project["tool"]["maturin"];
    assert_eq!(maturin["bindings"].as_str(), Some("bin"));
    assert_eq!(maturin["manifest-path"].as_str(), Some("../../Cargo.toml"));
    assert!(project["project"].get("version").is_none());
    assert!(
        project["project"]["dynamic"]
            .as_array()
            .expect("a list")
            .contains(&"version".into())
    );
    assert!(exists("src/python/bookahead/py.typed"));
}

#[test]
fn the_version_is_the_same_wherever_it_is_written() {
    assert!(
        read("CITATION.cff")
            .lines()
            .any(|line| line == format!("version: {VERSION}"))
    );
    let releases: Vec<String> = read("CHANGELOG.md")
        .lines()
        .filter_map(|line| line.strip_prefix("## "))
        .map(str::to_owned)
        .collect();
    assert!(
        releases
            .iter()
            .any(|heading| heading.split(' ').next() == Some(VERSION)),
        "{releases:?}"
    );
}

/// The version is held above, `cffconvert --validate` knows the whole format.
#[test]
fn the_citation_file_says_what_the_program_is_and_under_which_licences() {
    let citation = read("CITATION.cff");
    let value = |key: &str| {
        let mut lines = citation.lines();
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        value.unwrap_or_else(|| panic!("{key}")).trim().to_owned()
    };
    assert_eq!(value("cff-version"), "1.2.0");
    assert_eq!(value("type"), "software");
    for key in ["message", "title", "abstract"] {
        assert!(value(key).len() > 20, "{key}");
    }
    let list = |key: &str| -> BTreeSet<String> {
        let mut lines = citation
            .lines()
            .skip_while(|line| *line != format!("{key}:"));
        lines.next();
        let items = lines.map_while(|line| line.strip_prefix("  - "));
        items.map(str::to_owned).collect()
    };
    let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let licence = manifest["workspace"]["package"]["license"].as_str();
    let licences = licence.expect("a licence").split(" OR ");
    assert_eq!(list("license"), licences.map(str::to_owned).collect());
    assert!(list("keywords").len() > 3);
    assert!(!list("authors").is_empty());
}

#[test]
fn every_crate_that_is_published_says_what_it_is_and_which_versions_it_needs() {
    let manifest: toml::Table = read("Cargo.toml").parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("a list");
    let members = members.iter().filter_map(toml::Value::as_str);
    let mut published = 0;
    for folder in members.chain(["."]) {
        let own: toml::Table = read(&format!("{folder}/Cargo.toml")).parse().expect("TOML");
        let package = own["package"].as_table().expect("a table");
        if package.get("publish").and_then(toml::Value::as_bool) == Some(false) {
            continue;
        }
        published += 1;
        for key in [
            "description",
            "documentation",
            "license",
            "readme",
            "keywords",
            "categories",
        ] {
            assert!(package.contains_key(key), "{folder} has no {key}");
        }
        // What stands in the workspace without a version cannot be needed by what is published.
        for name in own["dependencies"].as_table().expect("a table").keys() {
            let shared = &manifest["workspace"]["dependencies"][name.as_str()];
            let version = shared.as_str().or_else(|| shared.get("version")?.as_str());
            assert!(version.is_some(), "{folder}: {name} has no version");
        }
        // Crates of this project that only tests use are published later, or not at all.
        let tests = own.get("dev-dependencies").and_then(toml::Value::as_table);
        for (name, needed) in tests.into_iter().flatten() {
            let is_ours = name.starts_with("bookahead-");
            assert!(!is_ours || needed.get("path").is_some(), "{folder}: {name}");
        }
    }
    assert_eq!(published, 12);
}
