//! Faults from below, at every step of a short sweep: calls of the system that fail, files that end
//! half way, memory that is refused. Whatever fails: the program ends by itself and says which file
//! is concerned, nothing is half done, the store is whole, and the same command goes on to the same
//! bytes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use rand::seq::IteratorRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::interruption::heavy_folder;
use super::{done, half_done, kill, remove_store, same, succeeds, whole};
use crate::support::program::{dump, folder, program, report, run};

/// A sweep of four simulations: every step of it is tried.
const SHORT: &str = r#"
[experiment]
name = "short"
replications = 2
[workload]
model = "lublin-feitelson"
jobs = 600
nodes = 64
battery_jobs = 100
load.value = 2.0
[failures]
source = "generated"
[[axis]]
key = "scheduling.strategy"
values = ["easy-backfilling", "heuristic-overbooking"]
"#;

/// Faults of each kind in a test, unless `BOOKAHEAD_FAULTS` asks for another number, or for `all`.
const FAULTS: usize = 4;

/// Faults of memory are looked for among millions of allocations, never one by one: so many for
/// `all`.
const ALL_OF_MEMORY: usize = 200;

/// Nothing that is tried here takes as long.
const HANGS: Duration = Duration::from_secs(60);

const EIO: i32 = 5;
const ENOMEM: i32 = 12;
const EMFILE: i32 = 24;
const ENOSPC: i32 = 28;
const ENOLCK: i32 = 37;

/// Every call that is counted but locks, of which there are more than of all others together.
const CALLS: &str = "open,write,sync,datasync,truncate,map,rename,remove";

/// One kind of fault: what it is called, which calls fail, how many, and with which error
/// (`faults.c`).
struct Kind {
    name: &'static str,
    calls: &'static str,
    times: usize,
    error: i32,
}

const KINDS: [Kind; 8] = [
    Kind {
        name: "one call fails",
        calls: CALLS,
        times: 1,
        error: EIO,
    },
    Kind {
        name: "every call fails from there on",
        calls: CALLS,
        times: 0,
        error: EIO,
    },
    Kind {
        name: "the disk is full",
        calls: "write,truncate",
        times: 0,
        error: ENOSPC,
    },
    Kind {
        name: "the disk is full for a moment",
        calls: "write,truncate",
        times: 1,
        error: ENOSPC,
    },
    Kind {
        name: "a write ends half way",
        calls: "write",
        times: 1,
        error: 0,
    },
    Kind {
        name: "the last bytes of a disk are written one by one",
        calls: "write",
        times: 0,
        error: 0,
    },
    Kind {
        name: "no file can be opened any more",
        calls: "open",
        times: 0,
        error: EMFILE,
    },
    Kind {
        // For good it is waited for until the other program, which there is not, has held it for 30
        // s.
        name: "no lock can be had for a moment",
        calls: "lock",
        times: 50,
        error: ENOLCK,
    },
];

/// The library that makes calls fail; `None`, with a word, where it cannot be compiled.
pub(super) fn library() -> Option<&'static Path> {
    static LIBRARY: OnceLock<Option<PathBuf>> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let library = folder.join("faults.so");
        // Renamed when it is whole: other programs may be running with it in front of them.
        let compiling = folder.join(format!("faults-{}.so", std::process::id()));
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/durability/faults.c");
        let compiled = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&compiling)
            .args([source, "-ldl"])
            .status();
        let is_there = compiled.is_ok_and(|status| status.success())
            && fs::rename(&compiling, &library).is_ok();
        is_there.then_some(library)
    });
    if library.is_none() {
        println!("skipped: there is no C compiler");
    }
    library.as_deref()
}

/// What a program said, and how it ended.
struct Ending {
    status: ExitStatus,
    said: String,
    /// Lines of the library's log.
    log: Vec<String>,
}

/// Runs a command with the library in front of it, and these of its variables.
fn end_of(
    path: &Path,
    library: &Path,
    mut command: Command,
    variables: &[(&str, String)],
) -> Ending {
    let (said, log) = (path.join("said.txt"), path.join("faults.log"));
    let _ = fs::remove_file(&log);
    command
        .env("LD_PRELOAD", library)
        .env("FAULT_FILE", "faulty")
        .env("FAULT_LOG", &log)
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stderr(fs::File::create(&said).expect("a file"));
    let begun = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let status = loop {
        if let Some(status) = child.try_wait().expect("a child") {
            break status;
        }
        if begun.elapsed() > HANGS {
            child.kill().expect("a child may be killed");
            child.wait().expect("a child");
            panic!("it hangs under {variables:?}");
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let read =
        |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    Ending {
        status,
        said: read(&said),
        log: read(&log).lines().map(str::to_owned).collect(),
    }
}

/// The folder of the short sweep, with its undisturbed tables and report.
struct Undisturbed {
    folder: tempfile::TempDir,
    tables: Vec<String>,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Undisturbed {
    fn new() -> Self {
        let folder = folder();
        let path = folder.path();
        fs::write(path.join("small.toml"), SHORT).expect("written");
        succeeds(run(path, "whole", &[]));
        let (tables, files) = (
            dump(&path.join("whole.db")),
            report(&path.join("whole-report")),
        );
        Self {
            folder,
            tables,
            files,
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn faulty(&self) -> Command {
        run(self.path(), "faulty", &["--workers", "1"])
    }

    /// What a fault must leave, however the program ended: nothing half done, and a store that the
    /// same command completes.
    fn goes_on(&self) {
        let path = self.path();
        // Looked at in a copy: the same command finds what the program left.
        for suffix in ["", "-wal"] {
            let _ = fs::copy(
                path.join(format!("faulty.db{suffix}")),
                path.join(format!("looked-at.db{suffix}")),
            );
        }
        let copy = path.join("looked-at.db");
        let before = done(&copy);
        if copy.exists() {
            assert_eq!(half_done(&copy).len(), 0);
            whole(&copy);
        }
        remove_store(&copy);
        succeeds(self.faulty());
        let store = path.join("faulty.db");
        assert!(done(&store).is_superset(&before));
        assert_eq!(journal_mode(&store), "wal");
        whole(&store);
        same(path, "faulty", &self.tables, &self.files);
    }

    fn begin_anew(&self) {
        remove_store(&self.path().join("faulty.db"));
        let _ = fs::remove_dir_all(self.path().join("faulty-report"));
    }
}

/// How many are tried of so many.
fn wanted(all: usize) -> usize {
    match std::env::var("BOOKAHEAD_FAULTS").as_deref() {
        Ok("all") => all,
        Ok(number) => number.parse().expect("a number or `all`"),
        Err(_) => FAULTS,
    }
    .min(all)
}

#[test]
fn whatever_call_of_the_system_fails_the_program_says_so_and_the_same_command_goes_on() {
    let Some(library) = library() else { return };
    let sweep = Undisturbed::new();
    let count = |calls: &str| {
        sweep.begin_anew();
        let variables = [("FAULT_CALLS", calls.to_owned())];
        let ending = end_of(sweep.path(), library, sweep.faulty(), &variables);
        assert!(ending.status.success(), "{}", ending.said);
        same(sweep.path(), "faulty", &sweep.tables, &sweep.files);
        ending.log.len()
    };
    let mut random = ChaCha8Rng::seed_from_u64(10);
    for kind in &KINDS {
        let steps = count(kind.calls);
        let mut endings: BTreeMap<i32, usize> = BTreeMap::new();
        let mut missed = 0;
        let tried = (1..=steps).sample(&mut random, wanted(steps));
        for &at in &tried {
            let what = format!("{} at {at} of {steps}", kind.name);
            sweep.begin_anew();
            let variables = [
                ("FAULT_CALLS", kind.calls.to_owned()),
                ("FAULT_AT", at.to_string()),
                ("FAULT_TIMES", kind.times.to_string()),
                ("FAULT_ERROR", kind.error.to_string()),
            ];
            let ending = end_of(sweep.path(), library, sweep.faulty(), &variables);
            let struck = ending.log.iter().find(|line| line.contains(" failed "));
            let what = format!("{what}: {struck:?}, {}", ending.said);
            let code = ending.status.code();
            assert!(matches!(code, Some(0..=2)), "{:?}: {what}", ending.status);
            assert!(!ending.said.contains("panicked"), "{what}");
            if code != Some(0) {
                let reason = ending.said.lines().find(|line| line.starts_with("error: "));
                assert!(reason.is_some_and(|line| line.contains("faulty")), "{what}");
            }
            missed += usize::from(struck.is_none());
            *endings.entry(code.unwrap_or(-1)).or_default() += 1;
            sweep.goes_on();
        }
        println!(
            "{}: {} of {steps} steps, exit codes {endings:?}, {missed} without the fault",
            kind.name,
            tried.len()
        );
    }
}

fn journal_mode(store: &Path) -> String {
    rusqlite::Connection::open(store)
        .and_then(|store| store.query_row("PRAGMA journal_mode", [], |row| row.get(0)))
        .expect("a store")
}

/// SQLite went on with the journal that it had, which waits for the disk several times a commit and
/// lets nobody read meanwhile.
#[test]
fn a_store_whose_journal_cannot_be_begun_is_refused_and_a_fault_that_passes_is_not_noticed() {
    let Some(library) = library() else { return };
    let sweep = Undisturbed::new();
    for (times, code) in [("1", 0), ("0", 2)] {
        sweep.begin_anew();
        let variables = [
            ("FAULT_CALLS", "sync".to_owned()),
            ("FAULT_AT", "1".to_owned()),
            ("FAULT_TIMES", times.to_owned()),
            ("FAULT_ERROR", EIO.to_string()),
        ];
        let ending = end_of(sweep.path(), library, sweep.faulty(), &variables);
        assert_eq!(ending.status.code(), Some(code), "{}", ending.said);
        if code == 0 {
            assert_eq!(journal_mode(&sweep.path().join("faulty.db")), "wal");
        } else {
            let names_the_step = ending.said.contains("beginning its journal");
            assert!(names_the_step, "{}", ending.said);
        }
        sweep.goes_on();
    }
}

/// A Rust program ends by `abort` where memory is refused to it, SQLite by an error: the store is
/// whole after either.
#[test]
fn whatever_allocation_is_refused_the_store_is_whole_and_the_same_command_goes_on() {
    let Some(library) = library() else { return };
    let sweep = Undisturbed::new();
    let mut random = ChaCha8Rng::seed_from_u64(11);
    // The thread that writes, and the one that opens the store and makes the report.
    for thread in ["store", "bookahead"] {
        sweep.begin_anew();
        let mut variables = vec![
            ("FAULT_CALLS", "memory".to_owned()),
            ("FAULT_THREAD", thread.to_owned()),
        ];
        let ending = end_of(sweep.path(), library, sweep.faulty(), &variables);
        assert!(ending.status.success(), "{}", ending.said);
        let total: usize = ending
            .log
            .last()
            .and_then(|line| line.split(' ').next_back()?.parse().ok())
            .expect("a total");
        variables.extend([
            ("FAULT_ERROR", ENOMEM.to_string()),
            ("FAULT_TIMES", String::new()),
            ("FAULT_AT", String::new()),
        ]);
        let mut endings: BTreeMap<String, usize> = BTreeMap::new();
        let tries = wanted(ALL_OF_MEMORY);
        for _ in 0..tries {
            sweep.begin_anew();
            let last = variables.len() - 1;
            variables[last].1 = random.random_range(1..=total).to_string();
            variables[last - 1].1 = ["1", "0"][random.random_range(0..2)].to_owned();
            let ending = end_of(sweep.path(), library, sweep.faulty(), &variables);
            let what = format!("{variables:?}: {:?}, {}", ending.status, ending.said);
            assert!(!ending.said.contains("panicked"), "{what}");
            let aborted =
                ending.status.signal() == Some(6) && ending.said.contains("memory allocation of");
            assert!(
                aborted || matches!(ending.status.code(), Some(0..=2)),
                "{what}"
            );
            *endings.entry(ending.status.to_string()).or_default() += 1;
            sweep.goes_on();
        }
        println!("{tries} of {total} allocations of the thread `{thread}`: {endings:?}");
    }
}

/// How often the journal of the store `faulty.db` was synced: by SQLite, and by the program itself.
fn syncs(log: &[String]) -> (usize, usize) {
    let of = |call: &str| {
        let call = format!(" ok {call} ");
        let synced = |line: &&String| line.contains(&call) && line.ends_with("faulty.db-wal");
        log.iter().filter(synced).count()
    };
    (of("sync"), of("datasync"))
}

#[test]
fn the_journal_is_synced_at_checkpoints_at_the_end_or_at_every_commit_as_the_durability_says() {
    let Some(library) = library() else { return };
    let sweep = Undisturbed::new();
    let run = "run small.toml --workers 1 --store faulty.db --no-report";
    let merge = "merge faulty.db whole.db";
    let simulate = "simulate --model lublin-feitelson --jobs 500 --nodes 64 --policy easy-backfilling --store faulty.db";
    for command in [run, merge, simulate] {
        let [fast, normal, full] = ["fast", "normal", "full"].map(|durability| {
            sweep.begin_anew();
            let words: Vec<&str> = command.split(' ').collect();
            let arguments = [&words[..], &["--durability", durability]].concat();
            let variables = [("FAULT_CALLS", CALLS.to_owned())];
            let ending = end_of(
                sweep.path(),
                library,
                program(sweep.path(), &arguments),
                &variables,
            );
            assert!(ending.status.success(), "{command}: {}", ending.said);
            syncs(&ending.log)
        });
        assert_eq!(fast.1, 0, "{command}");
        assert_eq!(normal, (fast.0, 1), "{command}: one before the end");
        // The run, its points, the results.
        assert!(
            full.0 >= fast.0 + 3 && full.1 == 0,
            "{command}: {full:?} {fast:?}"
        );
    }
}

#[test]
fn the_journal_is_synced_in_time_also_while_nothing_is_committed_any_more() {
    let Some(library) = library() else { return };
    let folder = heavy_folder(200_000, 300);
    let (path, log) = (folder.path(), folder.path().join("faults.log"));
    let child = run(path, "faulty", &["--workers", "2"])
        .env("LD_PRELOAD", library)
        .env("FAULT_FILE", "faulty")
        .env("FAULT_CALLS", "datasync")
        .env("FAULT_LOG", &log)
        .spawn()
        .expect("the program starts");
    let wait_until = |what: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !what() {
            assert!(begun.elapsed() < HANGS, "it never happens");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_until(&|| !done(&path.join("faulty.db")).is_empty());
    let committed = Instant::now();
    wait_until(&|| {
        let log = fs::read_to_string(&log).unwrap_or_default();
        syncs(&log.lines().map(str::to_owned).collect::<Vec<_>>()).1 > 0
    });
    let took = committed.elapsed();
    assert!(kill(child), "its long simulation is still under way");
    assert!(took > Duration::from_secs(5), "not at once: {took:?}");
    assert!(
        took < Duration::from_secs(10),
        "within ten seconds: {took:?}"
    );
}
