//! The folder of the shares: what `submit` finds done in it, what `runs --shards` counts, and which
//! script is whose.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{share, succeeds, three_shares};
use crate::support::program::{TEXT, folder, output, program, text};

/// Puts a program beside the sweep that stands for an engine.
fn engine(path: &Path, name: &str, script: &str) {
    fs::create_dir_all(path.join("bin")).expect("made");
    let file = path.join("bin").join(name);
    fs::write(&file, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).expect("allowed");
}

/// An engine that keeps what it is called with in `recorded`, and takes everything.
const TAKES_ALL: &str = "printf '%s\\n' \"$@\" > recorded\necho 17";

fn recorded(path: &Path) -> Option<String> {
    let recorded = fs::read_to_string(path.join("recorded")).ok();
    let _ = fs::remove_file(path.join("recorded"));
    recorded
}

/// `submit` of the shares in `shards`, with the programs of [`engine`]; exit code and everything
/// said.
fn submit(path: &Path, engine: &str, of: &str, more: &[&str]) -> (i32, String) {
    let fixed = [
        "submit",
        "--engine",
        engine,
        "small.toml",
        "--dir",
        "shards",
        "--shards",
        of,
    ];
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::iter::once(path.join("bin")).chain(std::env::split_paths(&paths));
    let mut command = program(path, &[&fixed, more].concat());
    command.env("PATH", std::env::join_paths(paths).expect("a path"));
    let ended = output(command);
    (
        ended.status.code().unwrap_or(-1),
        text(&ended.stdout) + &text(&ended.stderr),
    )
}

fn contains(said: &str, words: &[&str]) {
    for word in words {
        assert!(said.contains(word), "no `{word}` in: {said}");
    }
}

#[test]
fn shares_of_another_seed_or_configuration_are_not_taken_for_complete() {
    let folder = three_shares();
    let path = folder.path();
    engine(path, "hq", TAKES_ALL);
    let (code, said) = submit(path, "hyperqueue", "3", &[]);
    assert!(code == 0 && said.contains("nothing is submitted"), "{said}");
    let (code, said) = submit(path, "hyperqueue", "3", &["--seed", "7"]);
    assert_eq!(code, 2, "{said}");
    contains(
        &said,
        &["/shards holds", "another seed: ", ", not 7", "--dir"],
    );
    let (code, _) = submit(path, "hyperqueue", "3", &["--seed", "7", "--only", "1"]);
    assert_eq!(code, 2);
    // These shares were run by hand: nothing else in the folder tells their experiment.
    fs::write(
        path.join("small.toml"),
        TEXT.replace("nodes = 64", "nodes = 32"),
    )
    .expect("written");
    let (code, said) = submit(path, "hyperqueue", "3", &[]);
    assert!(
        code == 2 && said.contains("another configuration"),
        "{said}"
    );
    assert_eq!(recorded(path), None);
    let scripts = fs::read_dir(path.join("shards"))
        .expect("a folder")
        .filter_map(|entry| entry.expect("an entry").file_name().into_string().ok())
        .filter(|name| !name.contains(".db"));
    assert_eq!(scripts.count(), 0, "what is refused writes nothing");
}

#[test]
fn another_seed_is_refused_while_every_job_still_waits_too() {
    let folder = folder();
    let path = folder.path();
    engine(path, "hq", TAKES_ALL);
    let (code, said) = submit(path, "hyperqueue", "3", &["--seed", "1"]);
    assert_eq!(code, 0, "{said}");
    assert!(recorded(path).is_some());
    // What `submit` says to watch with has an answer from the beginning.
    let ended = output(program(path, &["runs", "--shards", "shards"]));
    let watched = text(&ended.stdout) + &text(&ended.stderr);
    assert!(
        ended.status.success() && watched.contains("has begun yet"),
        "{watched}"
    );
    let (code, said) = submit(path, "hyperqueue", "3", &["--seed", "2"]);
    assert_eq!(code, 2, "{said}");
    contains(&said, &["another seed: 1, not 2", "say --seed 1"]);
    assert_eq!(recorded(path), None);
    let (code, said) = submit(path, "hyperqueue", "3", &["--seed", "1"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn shares_with_less_detail_are_submitted_again_and_those_with_more_are_not() {
    let folder = folder();
    let path = folder.path();
    engine(path, "hq", TAKES_ALL);
    for (shard, outcomes) in [("1/2", "metrics"), ("2/2", "all")] {
        let (code, said) = share(path, shard, &["--outcomes", outcomes]);
        assert_eq!(code, 0, "{said}");
    }
    let (_, said) = submit(path, "hyperqueue", "2", &["--outcomes", "metrics"]);
    assert!(said.contains("nothing is submitted"), "{said}");
    let (_, said) = submit(path, "hyperqueue", "2", &[]);
    assert!(said.contains("shares 1 of 2"), "{said}");
    let (code, said) = share(path, "1/2", &["--outcomes", "all"]);
    assert_eq!(code, 0, "{said}");
    let (_, said) = submit(path, "hyperqueue", "2", &[]);
    assert!(said.contains("nothing is submitted"), "{said}");
}

#[test]
fn a_damaged_store_is_named_and_left_out_and_the_other_shares_are_shown_and_submitted() {
    let folder = three_shares();
    let path = folder.path();
    engine(path, "hq", TAKES_ALL);
    let cut = path.join("shards/shard-2-of-3.db");
    let bytes = fs::read(&cut).expect("a store");
    fs::write(&cut, &bytes[..bytes.len() / 2]).expect("cut");
    for beside in ["-wal", "-shm"] {
        let _ = fs::remove_file(path.join(format!("shards/shard-2-of-3.db{beside}")));
    }
    fs::write(
        path.join("shards/notes.db"),
        "no database at all, but words",
    )
    .expect("written");

    let shown = succeeds(path, &["runs", "--shards", "shards"]);
    contains(
        &shown,
        &[
            "unreadable: damaged",
            "unreadable: not a database",
            "2 of 3 shares complete",
            "1 unreadable",
            ".recover",
        ],
    );
    let json = output(program(path, &["runs", "--shards", "shards", "--json"]));
    assert!(json.status.success());
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).expect("JSON");
    assert_eq!(json[1]["state"], "unreadable: damaged");
    assert_eq!(json[1]["complete"], false);
    assert!(
        json[1]["error"]
            .as_str()
            .is_some_and(|said| said.contains("shard-2-of-3.db"))
    );
    assert_eq!(
        (&json[0]["state"], &json[2]["state"]),
        (&"done".into(), &"done".into())
    );

    let (code, said) = submit(path, "hyperqueue", "3", &[]);
    assert_eq!(code, 1, "{said}");
    contains(
        &said,
        &[
            "share 2 is not submitted",
            "shard-2-of-3.db",
            "remove the file",
            "every other share",
            "nothing is submitted",
        ],
    );
    assert_eq!(recorded(path), None);
    let (code, said) = submit(path, "hyperqueue", "3", &["--only", "2"]);
    assert!(code == 0 && said.contains("shares 2 of 3"), "{said}");
    fs::remove_file(&cut).expect("removed");
    let (code, said) = submit(path, "hyperqueue", "3", &[]);
    assert!(code == 0 && said.contains("shares 2 of 3"), "{said}");
}

#[test]
fn points_are_counted_once_where_a_joined_store_or_another_division_is_in_the_folder() {
    let folder = three_shares();
    let path = folder.path();
    succeeds(path, &["merge", "shards/all.db", "shards"]);
    let shown = succeeds(path, &["runs", "--shards", "shards"]);
    contains(
        &shown,
        &[
            "3 of 3 shares complete, 80 of 80 points done\n",
            "not counted: 1 store ",
            "all.db",
        ],
    );
    let (code, said) = share(path, "1/4", &[]);
    assert_eq!(code, 0, "{said}");
    let shown = succeeds(path, &["runs", "--shards", "shards"]);
    contains(
        &shown,
        &[
            "3 of 3 shares complete, 80 of 80 points done\n",
            "1 of 4 shares complete, ",
            "not counted: 1 store ",
        ],
    );
}

#[test]
fn a_script_that_tasks_may_still_read_stays_as_it_is() {
    let folder = folder();
    let path = folder.path();
    engine(path, "hq", TAKES_ALL);
    let script = |workers: &str| {
        let (code, said) = submit(path, "hyperqueue", "3", &["--workers", workers]);
        assert_eq!(code, 0, "{said}");
        let recorded = recorded(path).expect("submitted");
        let script = recorded.lines().last().expect("a script").to_owned();
        let words = fs::read_to_string(&script).expect("a script");
        assert!(words.contains(&format!("--workers {workers} ")), "{words}");
        script.rsplit('/').next().expect("a name").to_owned()
    };
    let first = path.join("shards/hyperqueue.sh");
    assert_eq!(script("2"), "hyperqueue.sh");
    let before = fs::read(&first).expect("a script");
    assert_eq!(script("4"), "hyperqueue-2.sh");
    assert_eq!(script("1"), "hyperqueue-3.sh");
    assert_eq!(script("4"), "hyperqueue-2.sh");
    assert_eq!(script("2"), "hyperqueue.sh");
    assert!(fs::read(&first).expect("a script") == before);
    // Where nothing is left to do, nothing is written.
    for shard in ["1/3", "2/3", "3/3"] {
        let (code, said) = share(path, shard, &[]);
        assert_eq!(code, 0, "{said}");
    }
    let (_, said) = submit(path, "hyperqueue", "3", &["--workers", "8"]);
    assert!(said.contains("nothing is submitted"), "{said}");
    assert!(!path.join("shards/hyperqueue-4.sh").exists());
}

#[test]
fn slurm_s_limit_of_an_array_is_named_where_it_may_be_why_the_job_is_refused() {
    let folder = folder();
    let path = folder.path();
    engine(
        path,
        "sbatch",
        "echo 'Invalid job array specification' >&2\nexit 1",
    );
    let (code, said) = submit(path, "slurm", "1001", &[]);
    assert_eq!(code, 2, "{said}");
    contains(&said, &["Invalid job array", "MaxArraySize", "slurm.sh"]);
    let (code, said) = submit(path, "slurm", "1000", &[]);
    assert!(code == 2 && !said.contains("MaxArraySize"), "{said}");
}

#[test]
fn a_folder_that_slurm_cannot_write_a_log_into_is_refused_by_its_name() {
    let folder = folder();
    let path = folder.path();
    engine(path, "sbatch", TAKES_ALL);
    let arguments = |name: &'static str| {
        let engine = ["submit", "--engine", "slurm", "small.toml"];
        [&engine[..], &["--shards", "2", "--dir", name]].concat()
    };
    for (name, has) in [
        ("back\\slash", "a backslash"),
        ("quo\"te", "a quotation mark"),
    ] {
        let ended = output(program(path, &arguments(name)));
        let said = text(&ended.stderr);
        assert_eq!(ended.status.code(), Some(2), "{said}");
        contains(&said, &[name, has, "--dir"]);
    }
    assert_eq!(recorded(path), None);
}
