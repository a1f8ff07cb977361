//! Power cuts: a sweep writes to a file system of its own, and at random instants the disk below it
//! is copied. Such a copy holds what the disk would hold after a power failure at that instant:
//! what the system still had in memory is missing. It is mounted, the store in it is looked at, and
//! the same command goes on there.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::faults::library;
use super::{done, half_done, long_folder, output_of, same, succeeds, whole};
use crate::support::program::{dump, program, report, run};

/// Cuts of a test, unless `BOOKAHEAD_CUTS` asks for another number.
const CUTS: usize = 2;

/// Cuts of one sweep.
const CUTS_OF_A_SWEEP: usize = 6;

/// Bytes of the disk.
const DISK: u64 = 96 << 20;

/// What is promised under `normal`.
const PROMISED: Duration = Duration::from_secs(10);

/// How fast the journal of a sweep is written: each call takes so much longer, and the whole sweep
/// takes about this long.
#[derive(Clone, Copy)]
struct Pace {
    delay: Duration,
    lasts: Duration,
}

const QUICK: Pace = Pace {
    delay: Duration::from_millis(2),
    lasts: Duration::from_secs(6),
};

/// Most results are older than [`PROMISED`] when the power goes.
const SLOW: Pace = Pace {
    delay: Duration::from_millis(9),
    lasts: Duration::from_secs(23),
};

/// A disk in a file, mounted for as long as this lives.
struct Disk {
    mounted: PathBuf,
}

impl Disk {
    /// Why not, where the machine lets nobody mount a file.
    fn mount(image: &Path, at: &Path) -> Result<Self, String> {
        fs::create_dir_all(at).expect("made");
        let (well, said) = output_of(
            Command::new("mount")
                .args(["-o", "loop"])
                .arg(image)
                .arg(at),
        );
        if !well {
            return Err(said);
        }
        Ok(Self {
            mounted: at.to_owned(),
        })
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let ended = Command::new("umount").arg(&self.mounted).status();
        if !ended.is_ok_and(|status| status.success()) {
            // Nobody waits for it then: it goes when its last file is closed.
            let _ = Command::new("umount").arg("-l").arg(&self.mounted).status();
        }
    }
}

/// A new file system in a file.
fn format(image: &Path) -> Result<(), String> {
    let file = File::create(image).expect("made");
    file.set_len(DISK).expect("room");
    // Nothing is left for the system to do later, so that the disk rests while nobody writes.
    let lazy = "lazy_itable_init=0,lazy_journal_init=0";
    let mut command = Command::new("mkfs.ext4");
    command.args(["-q", "-F", "-E", lazy]).arg(image);
    match command
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .output()
    {
        Ok(ended) if ended.status.success() => Ok(()),
        other => Err(format!("mkfs.ext4: {other:?}")),
    }
}

/// What the disk holds at an instant. It is read twice: where something was written meanwhile, this
/// was no instant.
fn cut(image: &Path) -> Option<(Instant, Vec<u8>)> {
    (0..100).find_map(|_| {
        let instant = Instant::now();
        let bytes = fs::read(image).expect("a disk");
        (bytes == fs::read(image).expect("a disk")).then_some((instant, bytes))
    })
}

/// Writes a disk into a file, without its empty parts.
fn write_sparse(bytes: &[u8], path: &Path) {
    let file = File::create(path).expect("made");
    file.set_len(bytes.len() as u64).expect("room");
    for (number, block) in bytes.chunks(65_536).enumerate() {
        if block.iter().any(|byte| *byte != 0) {
            file.write_all_at(block, number as u64 * 65_536)
                .expect("room");
        }
    }
}

/// What was found after power cuts under one `--durability`.
#[derive(Debug, Default)]
struct Found {
    cuts: usize,
    /// Instants at which the disk never rested.
    missed: usize,
    /// Simulations that had been committed before a cut and were lost, over all cuts.
    lost: usize,
    /// The most of one cut.
    most_lost: usize,
    /// Of the lost ones, those that had been committed more than ten seconds before.
    lost_in_spite_of_age: usize,
    /// The oldest commit that was lost: how long it had been visible to others.
    oldest_lost: Duration,
}

/// Cuts the power of sweeps. Says nothing where this machine cannot do that.
fn cut_sweeps(durability: &str, pace: Pace) -> Option<Found> {
    let library = library()?;
    let folder = long_folder();
    let path = folder.path();
    let (image, mounted) = (path.join("disk"), path.join("mounted"));
    if let Err(reason) = format(&image).and_then(|()| Disk::mount(&image, &mounted).map(drop)) {
        println!(
            "skipped: this machine lets nobody mount a file ({})",
            reason.trim()
        );
        return None;
    }
    succeeds(run(path, "whole", &[]));
    let undisturbed = (
        dump(&path.join("whole.db")),
        report(&path.join("whole-report")),
    );
    let wanted = std::env::var("BOOKAHEAD_CUTS")
        .ok()
        .and_then(|cuts| cuts.parse().ok())
        .unwrap_or(CUTS);
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let mut found = Found::default();
    while found.cuts < wanted {
        let cuts = (wanted - found.cuts).min(CUTS_OF_A_SWEEP);
        let mut instants: Vec<Duration> = (0..cuts)
            .map(|_| pace.lasts.mul_f64(random.random_range(0.0..1.0)))
            .collect();
        instants.sort_unstable_by(|one, two| two.cmp(one));
        format(&image).expect("it could before");
        let disk = Disk::mount(&image, &mounted).expect("it could before");
        fs::copy(path.join("small.toml"), mounted.join("small.toml")).expect("copied");
        // What the user had before the sweep is on the disk.
        succeeds(Command::new("sync"));
        let (seen, copies) = watch(&mounted, &image, library, durability, pace.delay, instants);
        drop(disk);
        found.missed += cuts - copies.len();
        for (instant, bytes) in copies {
            write_sparse(&bytes, &image);
            drop(bytes);
            let disk = Disk::mount(&image, &mounted).expect("a file system outlives a power cut");
            found.count(&mounted, instant, &seen);
            goes_on(&mounted, durability, &undisturbed);
            drop(disk);
        }
    }
    println!("{durability}: {found:?}");
    Some(found)
}

/// Simulations that others saw as done, with the instants at which they had seen them.
type Seen = Vec<(Instant, BTreeSet<String>)>;

/// Runs the sweep on the disk, watches what it commits, and copies the disk at these times after
/// its start, the last one first.
fn watch(
    mounted: &Path,
    image: &Path,
    library: &Path,
    durability: &str,
    delay: Duration,
    mut instants: Vec<Duration>,
) -> (Seen, Vec<(Instant, Vec<u8>)>) {
    let mut command = run(
        mounted,
        "cut",
        &["--workers", "1", "--durability", durability],
    );
    command
        .env("LD_PRELOAD", library)
        .env("FAULT_CALLS", "write")
        .env("FAULT_FILE", "cut.db-wal")
        .env("FAULT_DELAY", delay.as_micros().to_string());
    let begun = Instant::now();
    let mut child = command.spawn().expect("the program starts");
    let (mut seen, mut copies) = (Vec::new(), Vec::new());
    loop {
        let ended = child.try_wait().expect("a child");
        if let Some(status) = ended {
            assert!(status.success(), "the sweep itself ends well");
            println!("{durability}: a sweep of {:?}", begun.elapsed());
            // Those that are left are cuts of a disk with a store that was closed.
            instants.truncate(1);
        }
        let simulations = done(&mounted.join("cut.db"));
        seen.push((Instant::now(), simulations));
        let is_due = ended.is_some() || instants.last().is_some_and(|at| *at <= begun.elapsed());
        if is_due && instants.pop().is_some() {
            copies.extend(cut(image));
        }
        if ended.is_some() {
            return (seen, copies);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

impl Found {
    /// Compares what a copy of the disk holds with what had been committed.
    fn count(&mut self, mounted: &Path, instant: Instant, seen: &Seen) {
        let store = mounted.join("cut.db");
        let kept = if store.exists() {
            assert_eq!(half_done(&store).len(), 0);
            whole(&store);
            done(&store)
        } else {
            BTreeSet::new()
        };
        let committed = |before: Instant| {
            let before = seen.iter().rev().find(|(when, _)| *when <= before);
            before.map_or(BTreeSet::new(), |(_, done)| done.clone())
        };
        let lost: BTreeSet<String> = &committed(instant) - &kept;
        self.cuts += 1;
        self.lost += lost.len();
        self.most_lost = self.most_lost.max(lost.len());
        if let Some(old) = instant.checked_sub(PROMISED) {
            self.lost_in_spite_of_age += (&committed(old) - &kept).len();
        }
        let first_lost = seen.iter().find(|(_, done)| !done.is_disjoint(&lost));
        if let Some((when, _)) = first_lost {
            let age = instant.saturating_duration_since(*when);
            self.oldest_lost = self.oldest_lost.max(age);
        }
    }
}

/// The same command ends well on the copy, with the same bytes.
fn goes_on(
    mounted: &Path,
    durability: &str,
    (tables, files): &(Vec<String>, Vec<(PathBuf, Vec<u8>)>),
) {
    let again = ["--workers", "2", "--durability", durability];
    let (well, said) = output_of(&mut run(mounted, "cut", &again));
    assert!(well, "{said}");
    whole(&mounted.join("cut.db"));
    same(mounted, "cut", tables, files);
    succeeds(program(mounted, &["runs", "--store", "cut.db"]));
}

#[test]
fn a_power_cut_costs_under_normal_durability_no_result_that_is_older_than_ten_seconds() {
    if let Some(found) = cut_sweeps("normal", SLOW) {
        assert_eq!(found.lost_in_spite_of_age, 0, "{found:?}");
    }
}

#[test]
fn a_power_cut_costs_under_full_durability_no_result_that_another_program_has_seen() {
    if let Some(found) = cut_sweeps("full", QUICK) {
        assert_eq!(found.lost, 0, "{found:?}");
    }
}

#[test]
fn a_power_cut_leaves_under_fast_durability_a_whole_store_that_goes_on() {
    cut_sweeps("fast", SLOW);
}
