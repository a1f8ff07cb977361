//! Folders and files that a stranger prepared: nothing of the user's is deleted or overwritten
//! through them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};

use crate::support::program::{folder, output, program, run, text};

/// Everything below a folder: links as such, files with their content.
fn everything(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("a folder") {
            let entry = entry.expect("an entry");
            let (path, kind) = (entry.path(), entry.file_type().expect("a type"));
            let content = if kind.is_symlink() {
                format!("{:?}", fs::read_link(&path))
            } else if kind.is_dir() {
                folders.push(path.clone());
                "a folder".to_owned()
            } else if kind.is_file() && entry.metadata().expect("known").len() > 1 << 30 {
                "a huge file".to_owned()
            } else if kind.is_file() {
                format!("{:x?}", Sha256::digest(fs::read(&path).expect("readable")))
            } else {
                format!("{kind:?}")
            };
            found.insert(path, content);
        }
    }
    found
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("mkfifo").success());
}

/// The exit code and what was said on standard error; a command that hangs fails the test.
fn ended(mut command: Command) -> (Option<i32>, String) {
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let begun = Instant::now();
    while child.try_wait().expect("its state").is_none() {
        if begun.elapsed() > Duration::from_secs(60) {
            child.kill().expect("killed");
            panic!("{command:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let mut said = String::new();
    let mut errors = child.stderr.take().expect("piped");
    errors.read_to_string(&mut said).expect("text");
    (child.wait().expect("its end").code(), said)
}

/// A store with two runs, `s.db`, their report in `good`, and the user's own files in `mine`.
fn home() -> tempfile::TempDir {
    let home = folder();
    let path = home.path();
    for more in ["--no-report", "--fresh"] {
        let mut arguments = vec!["run", "small.toml", "--store", "s.db", more];
        if more == "--fresh" {
            arguments.extend(["--report", "good"]);
        }
        let done = output(program(path, &arguments));
        assert!(done.status.success(), "{}", text(&done.stderr));
    }
    fs::write(path.join("long.swf"), long_log()).expect("written");
    let paper = path.join("configs/reports");
    fs::create_dir_all(&paper).expect("made");
    for (name, content) in PAPER {
        fs::write(paper.join(name), content).expect("written");
    }
    fs::copy(path.join("small.toml"), paper.join("sweep.toml")).expect("copied");
    fs::create_dir_all(path.join("mine/tables")).expect("made");
    for name in ["notes.md", "best.csv", "tables/best.csv", ".writing-a1b2c3"] {
        fs::write(path.join("mine").join(name), "mine").expect("written");
    }
    home
}

/// A paper of one sweep, whose reports go into the folder `reports/small` of the one that
/// `reproduce` is told.
const PAPER: [(&str, &str); 2] = [
    (
        "paper.toml",
        "title = \"A paper\"\n[[trace]]\nname = \"small\"\nsubject = \"A model\"\nruns = [\"sweep\"]\n",
    ),
    (
        "findings.toml",
        "[[finding]]\nid = \"M1\"\nsection = \"2\"\nstatement = \"Nothing is rejected.\"\nprovenance = \"stated\"\n\
         [finding.bound]\nrun = \"sweep\"\nmeasure = \"rejection_rate\"\nequals = 0\n",
    ),
];

/// A log that advice can be given on.
fn long_log() -> String {
    let jobs = (1..=2_100).map(|job| {
        format!(
            "{job} {} -1 600 2 -1 -1 2 900 -1 1 1 1 1 1 1 -1 -1\n",
            300 * job
        )
    });
    "; MaxProcs: 4\n".to_owned() + &jobs.collect::<String>()
}

/// Where the reports of the attacked folder are.
const REPORT: &str = "reports/small";

/// Every command that writes a report, into a folder. `run` does it without being told where;
/// `reproduce` into its own two folders below the one that it is told, which is the current one for
/// [`REPORT`].
fn commands(path: &Path, out: &str) -> [Command; 5] {
    let report = ["report", "latest", "--store", "s.db", "--out", out];
    let compare = ["compare", "1", "2", "--store", "s.db", "--out", out];
    let run = ["run", "small.toml", "--store", "s.db"];
    let advise = ["advise", "long.swf", "--store", "a.db", "--report", out];
    let above = if out == REPORT { "." } else { out };
    let reproduce = ["reproduce", "reports", "--store", "s.db", "--report", above];
    [&report[..], &compare, &run, &advise, &reproduce].map(|arguments| program(path, arguments))
}

/// What a stranger does with a folder that already holds a report.
type Attack = fn(&Path, &Path);

#[test]
fn a_report_folder_of_a_stranger_deleted_the_users_files_or_hung() {
    let home = home();
    let path = home.path().canonicalize().expect("a folder");
    let mine = path.join("mine");
    fn list(folder: &Path, line: &str) {
        let list = folder.join(".files");
        let old = fs::read_to_string(&list).expect("a list");
        fs::write(list, old + line + "\n").expect("written");
    }
    let attacks: [(&str, &str, Attack); 15] = [
        ("an absolute name", "no file of a report", |folder, mine| {
            list(folder, &mine.join("notes.md").display().to_string());
        }),
        (
            "an absolute name with a digest",
            "no file of a report",
            |folder, mine| {
                let digest: String = Sha256::digest("mine")
                    .iter()
                    .map(|byte| format!("{byte:02x}"))
                    .collect();
                list(
                    folder,
                    &format!("{digest}  {}", mine.join("notes.md").display()),
                );
            },
        ),
        ("a name above", "no file of a report", |folder, _| {
            list(folder, "tables/../../mine/notes.md");
        }),
        ("a folder of its own", "no file of a report", |folder, _| {
            list(folder, "mine/notes.md")
        }),
        (
            "a name with an escape",
            "no file of a report",
            |folder, _| {
                list(folder, "tables/\u{1b}[2J.csv");
            },
        ),
        ("a list that is a pipe", "a named pipe", |folder, _| {
            fs::remove_file(folder.join(".files")).expect("gone");
            pipe(&folder.join(".files"));
        }),
        ("a list that is a link", "a link to", |folder, mine| {
            fs::remove_file(folder.join(".files")).expect("gone");
            symlink(mine.join("notes.md"), folder.join(".files")).expect("linked");
        }),
        ("a list that is a device", "a link to", |folder, _| {
            fs::remove_file(folder.join(".files")).expect("gone");
            symlink("/dev/zero", folder.join(".files")).expect("linked");
        }),
        ("a list that is a folder", "it is a folder", |folder, _| {
            fs::remove_file(folder.join(".files")).expect("gone");
            fs::create_dir(folder.join(".files")).expect("made");
        }),
        ("a huge list", "more than", |folder, _| {
            let list = fs::File::create(folder.join(".files")).expect("made");
            list.set_len(1 << 40).expect("a sparse file");
        }),
        ("linked tables", "is a link to", |folder, mine| {
            fs::remove_dir_all(folder.join("tables")).expect("gone");
            symlink(mine.join("tables"), folder.join("tables")).expect("linked");
        }),
        ("linked plots", "is a link to", |folder, mine| {
            fs::remove_dir_all(folder.join("plots")).expect("gone");
            symlink(mine, folder.join("plots")).expect("linked");
        }),
        ("a linked page", "a link to", |folder, mine| {
            fs::remove_file(folder.join("index.html")).expect("gone");
            symlink(mine.join("notes.md"), folder.join("index.html")).expect("linked");
        }),
        ("a page that is a pipe", "a named pipe", |folder, _| {
            fs::remove_file(folder.join("index.html")).expect("gone");
            pipe(&folder.join("index.html"));
        }),
        ("a page of somebody else", "no report wrote", |folder, _| {
            fs::write(folder.join("index.html"), "mine").expect("written");
        }),
    ];
    let name = REPORT;
    // What is stored already takes no time again.
    for command in commands(&path, "before").into_iter().skip(3) {
        let (code, said) = ended(command);
        assert_eq!(code, Some(0), "{said}");
    }
    for (what, why, attack) in attacks {
        for at in 0..commands(&path, name).len() {
            let folder = path.join(name);
            if folder.exists() {
                fs::remove_dir_all(&folder).expect("gone");
            }
            fs::create_dir_all(folder.join("tables")).expect("made");
            fs::create_dir_all(folder.join("plots")).expect("made");
            let copied = Command::new("cp")
                .args(["-r", "good/.", name])
                .current_dir(&path)
                .status();
            assert!(copied.expect("cp").success());
            attack(&folder, &mine);
            let before = [everything(&mine), everything(&folder)];
            let command = commands(&path, name).into_iter().nth(at);
            let (code, said) = ended(command.expect("one of them"));
            assert_ne!(code, Some(0), "{what}: {said}");
            let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(words.contains(why), "{what}: {said}");
            assert!(!said.contains('\u{1b}'), "{what}: {said}");
            assert!(
                before == [everything(&mine), everything(&folder)],
                "{what}, command {at}"
            );
        }
    }
}

#[test]
fn a_report_folder_that_is_a_link_is_refused_and_so_are_linked_reports() {
    let home = home();
    let path = home.path();
    let before = everything(&path.join("mine"));
    symlink("mine", path.join("link")).expect("linked");
    symlink("mine", path.join("reports")).expect("linked");
    for command in commands(path, "link") {
        let (code, said) = ended(command);
        assert_ne!(code, Some(0), "{said}");
        assert!(said.contains("is a link to `mine`"), "{said}");
    }
    assert!(before == everything(&path.join("mine")));
}

#[test]
fn a_file_that_was_changed_stays_when_its_report_goes_and_is_named() {
    let home = home();
    let path = home.path();
    let changed = path.join("good/tables/best.csv");
    assert!(changed.exists() && path.join("good/report.md").exists());
    fs::write(&changed, "my own numbers").expect("written");
    let compare = ["compare", "1", "2", "--store", "s.db", "--out", "good"];
    let (code, said) = ended(program(path, &compare));
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("keeps files") && said.contains("tables/best.csv"),
        "{said}"
    );
    assert_eq!(
        fs::read_to_string(&changed).expect("kept"),
        "my own numbers"
    );
    assert!(
        !path.join("good/report.md").exists(),
        "an unchanged one goes"
    );
    assert!(!path.join("good/tables/best.parquet").exists());
    assert!(path.join("good/comparison.md").exists());
}

/// Version 0.2 listed names without digests: its files are replaced, and those that no report has
/// any more are left.
#[test]
fn a_folder_of_version_0_2_is_written_again_and_loses_nothing_else() {
    let home = home();
    let path = home.path();
    let list = path.join("good/.files");
    let old: String = fs::read_to_string(&list)
        .expect("a list")
        .lines()
        .map(|line| format!("{}\n", line.rsplit("  ").next().expect("a name")))
        .collect();
    fs::write(&list, old + "tables/gone.csv\n").expect("written");
    fs::write(path.join("good/tables/gone.csv"), "of 0.2, or mine").expect("written");
    fs::write(path.join("good/report.md"), "of version 0.2").expect("written");
    let report = ["report", "latest", "--store", "s.db", "--out", "good"];
    let (code, said) = ended(program(path, &report));
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("tables/gone.csv"), "{said}");
    assert!(path.join("good/tables/gone.csv").exists());
    let page = fs::read_to_string(path.join("good/report.md")).expect("a page");
    assert!(page.starts_with("# "), "{page}");
}

/// What `sacct` prints of one job.
const SACCT: &str = "JobIDRaw|Submit|Start|End|ElapsedRaw|NCPUS|NNodes|State|User|TimelimitRaw\n\
    1|1000|1010|1060|50|4|1|COMPLETED|anna|10\n";

/// Its files stand in `cards/reports`, and those of its one trace in `small` there.
const REPRODUCE: [&str; 6] = [
    "reproduce",
    "reports",
    "--store",
    "s.db",
    "--report",
    "cards",
];

#[test]
fn no_command_writes_its_file_through_a_link_or_into_a_pipe() {
    let home = home();
    let path = home.path();
    fs::write(
        path.join("t.swf"),
        "; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n",
    )
    .expect("written");
    fs::write(path.join("records.txt"), SACCT).expect("written");
    for folder in ["shares", "saved"] {
        fs::create_dir(path.join(folder)).expect("made");
    }
    let commands: [(&str, &[&str]); 23] = [
        (
            "o.html",
            &[
                "gantt", "latest", "--store", "s.db", "--point", "0", "--out", "o.html",
            ],
        ),
        (
            "o.svg",
            &[
                "gantt", "latest", "--store", "s.db", "--point", "0", "--out", "o.svg",
            ],
        ),
        (
            "o.csv",
            &[
                "export", "latest", "--store", "s.db", "--format", "csv", "--out", "o.csv",
            ],
        ),
        (
            "o.parquet",
            &[
                "export",
                "latest",
                "--store",
                "s.db",
                "--format",
                "parquet",
                "--out",
                "o.parquet",
            ],
        ),
        (
            "o.txt",
            &["sql", "SELECT 1", "--store", "s.db", "--out", "o.txt"],
        ),
        ("o.json", &["list", "schema", "--out", "o.json"]),
        ("o.swf", &["trace", "convert", "t.swf", "o.swf"]),
        (
            "e.swf",
            &[
                "trace", "export", "t.swf", "--format", "swf", "--out", "e.swf",
            ],
        ),
        (
            "e.json",
            &[
                "trace",
                "export",
                "t.swf",
                "--format",
                "batsim-json",
                "--out",
                "e.json",
            ],
        ),
        ("w.json", &["workflow", "generate", "cyber-shake", "w.json"]),
        (
            "w.svg",
            &["workflow", "draw", "given.json", "--out", "w.svg"],
        ),
        ("bookahead.1", &["man", "."]),
        ("l.json", &["list", "metrics", "--log", "l.json"]),
        (
            "saved/planning.toml",
            &["advise", "long.swf", "--save", "saved"],
        ),
        (
            "i.swf",
            &["trace", "import", "records.txt", "--out", "i.swf"],
        ),
        (
            "names.csv",
            &[
                "trace",
                "import",
                "records.txt",
                "--out",
                "named.swf",
                "--names",
                "names.csv",
            ],
        ),
        (
            "slurm.sh",
            &[
                "submit",
                "small.toml",
                "--engine",
                "slurm",
                "--shards",
                "2",
                "--dir",
                ".",
                "--dry-run",
            ],
        ),
        (
            "shares/experiment.toml",
            &[
                "submit",
                "small.toml",
                "--engine",
                "slurm",
                "--shards",
                "2",
                "--dir",
                "shares",
                "--dry-run",
            ],
        ),
        ("cards/reports/small/score-card.md", &REPRODUCE),
        ("cards/reports/small/score-card.json", &REPRODUCE),
        ("cards/reports/index.html", &REPRODUCE),
        ("cards/reports/index.md", &REPRODUCE),
        ("cards/reports/claims.csv", &REPRODUCE),
    ];
    fs::create_dir_all(path.join("cards/reports/small")).expect("made");
    let given = output(program(
        path,
        &["workflow", "generate", "cyber-shake", "given.json"],
    ));
    assert!(given.status.success(), "{}", text(&given.stderr));
    for (file, arguments) in commands {
        let (file, mine) = (path.join(file), path.join("mine"));
        let before = everything(&mine);
        // `reproduce` has written it in its turn before.
        let _ = fs::remove_file(&file);
        symlink(mine.join("notes.md"), &file).expect("linked");
        let (code, said) = ended(program(path, arguments));
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_ne!(code, Some(0), "{arguments:?}: {said}");
        assert!(words.contains("a link to"), "{arguments:?}: {said}");
        assert!(before == everything(&mine), "{arguments:?}");
        fs::remove_file(&file).expect("gone");
        pipe(&file);
        let (code, said) = ended(program(path, arguments));
        let words = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_ne!(code, Some(0), "{arguments:?}: {said}");
        assert!(words.contains("a named pipe"), "{arguments:?}: {said}");
        fs::remove_file(&file).expect("gone");
        let (code, said) = ended(program(path, arguments));
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
        assert!(file.is_file(), "{arguments:?}");
    }
    let names = fs::read_dir(path).expect("a folder");
    for name in names.map(|entry| entry.expect("an entry").file_name()) {
        assert!(!name.to_string_lossy().ends_with(".part"), "{name:?}");
    }
}

#[test]
fn what_killed_writers_left_goes_with_the_next_file_in_the_folder() {
    let home = home();
    let path = home.path();
    fs::write(
        path.join("t.swf"),
        "; MaxProcs: 4\n1 0 -1 10 2 -1 -1 2 10 -1 1 1 1 1 1 1 -1 -1\n",
    )
    .expect("written");
    let slow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
    let commands: [&[&str]; 3] = [
        &[
            "export",
            "latest",
            "--store",
            "s.db",
            "--format",
            "csv",
            "--out",
            "out/o.csv",
        ],
        &["sql", "SELECT 1", "--store", "s.db", "--out", "out/o.txt"],
        &["trace", "convert", "t.swf", "out/o.swf"],
    ];
    let parts = || {
        let names = fs::read_dir(path.join("out")).into_iter().flatten();
        let names = names.map(|entry| entry.expect("an entry").file_name());
        names
            .filter(|name| name.to_string_lossy().ends_with(".part"))
            .count()
    };
    for arguments in commands {
        let mut killed = program(
            path,
            &[
                "sql",
                slow,
                "--store",
                "s.db",
                "--format",
                "csv",
                "--out",
                "out/never.csv",
            ],
        )
        .spawn()
        .expect("the program starts");
        let begun = Instant::now();
        while parts() == 0 {
            assert!(
                begun.elapsed() < Duration::from_secs(30),
                "nothing is written"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        // What is being written stays.
        let (code, said) = ended(program(path, arguments));
        assert_eq!((code, parts()), (Some(0), 1), "{arguments:?}: {said}");
        killed.kill().expect("killed");
        killed.wait().expect("its end");
        assert_eq!(parts(), 1);
        let (code, said) = ended(program(path, arguments));
        assert_eq!((code, parts()), (Some(0), 0), "{arguments:?}: {said}");
    }
}

#[test]
fn two_reports_into_one_folder_at_once_both_finish_and_the_next_one_knows_their_files() {
    let home = home();
    let path = home.path();
    let report = ["report", "latest", "--store", "s.db", "--out", "both"];
    let mut pair = [program(path, &report), program(path, &report)]
        .map(|mut one| one.spawn().expect("it starts"));
    for one in &mut pair {
        assert!(one.wait().expect("its end").success());
    }
    let (code, said) = ended(program(path, &report));
    assert_eq!(code, Some(0), "{said}");
    assert!(
        run(path, "other", &["--quiet"])
            .status()
            .expect("it starts")
            .success()
    );
}
