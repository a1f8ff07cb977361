//! Throws changed files at everything that reads foreign files:
//! `cargo run --release --example fuzz -- --inputs 1000000`.
//!
//! Inputs are read in a process of their own, which may have a gigabyte of address space and must
//! be through with each input in ten seconds. An input that makes it panic, abort, take more or
//! take longer is kept below `target/fuzz`; one that is mended belongs in `tests/fuzz/corpus`,
//! which an ordinary test reads and from which further inputs are made.

mod formats;
mod mutate;

use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use clap::Parser;

use formats::Format;

/// Inputs that one process reads.
const BATCH: u64 = 2_000;
/// What a process may hold, in kilobytes of address space.
const MOST_KILOBYTES: u64 = 1 << 20;
/// What an input may take.
const LONGEST: Duration = Duration::from_secs(10);

/// Reads changed files until so many are read.
#[derive(Debug, Parser)]
struct Arguments {
    /// How many inputs, over all formats
    #[arg(long, default_value_t = 1_000_000)]
    inputs: u64,
    /// End earlier, after so many seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Other inputs
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this format: swf, lanl, toml, dax, wfcommons, store, sacct, csv, parquet, batsim,
    /// machine, slurmconf, mapping, files
    #[arg(long)]
    format: Option<String>,
    /// Where inputs are kept that broke something
    #[arg(long, default_value = "target/fuzz")]
    keep: PathBuf,
    /// Read the inputs from FIRST to before LAST of one format in this process
    #[arg(long, num_args = 2, hide = true)]
    batch: Vec<u64>,
    /// Where the examples of a batch are
    #[arg(long, hide = true)]
    examples: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let ([first, last], Some(folder), Some(name)) =
        (&arguments.batch[..], &arguments.examples, &arguments.format)
    {
        read_batch(format_of(name), folder, arguments.seed, *first..*last);
        return ExitCode::SUCCESS;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let formats: Vec<(Format, u64)> = Format::ALL
        .iter()
        .filter(|(_, name, _)| {
            arguments
                .format
                .as_ref()
                .is_none_or(|wanted| wanted == name)
        })
        .map(|(format, _, weight)| (*format, *weight))
        .collect();
    let weights: u64 = formats.iter().map(|(_, weight)| weight).sum();
    for (format, _) in &formats {
        write_examples(*format, folder.path());
    }
    let begun = Instant::now();
    let in_time = || {
        arguments
            .seconds
            .is_none_or(|most| begun.elapsed().as_secs() < most)
    };
    let (mut broken, mut read) = (0, 0);
    let mut done: Vec<u64> = vec![0; formats.len()];
    let mut lines: Vec<Lines> = vec![Lines::default(); formats.len()];
    while in_time() && broken < 100 {
        let before = read;
        for (((format, weight), done), lines) in formats.iter().zip(&mut done).zip(&mut lines) {
            let most = (arguments.inputs * weight).div_ceil(weights.max(1));
            let last = most.min(*done + (BATCH * weight / weights).max(1));
            while *done < last && in_time() {
                let numbers = *done..last;
                let (next, fault) = watch(*format, folder.path(), arguments.seed, numbers, lines);
                if let Some(fault) = fault {
                    broken += 1;
                    keep(&arguments, *format, folder.path(), next - 1, &fault);
                }
                read += next - *done;
                *done = next;
            }
        }
        if read == before {
            break;
        }
    }
    println!(
        "{read} inputs in {:.0} s, {broken} of them broke something (seed {})",
        begun.elapsed().as_secs_f64(),
        arguments.seed
    );
    for (((format, _), done), lines) in formats.iter().zip(done).zip(lines) {
        match !matches!(format, Format::Store | Format::Parquet) {
            true => println!(
                "  {:<10} {done} inputs of {} lines, {} of them changed",
                format.name(),
                lines.all,
                lines.changed
            ),
            false => println!("  {:<10} {done} inputs", format.name()),
        }
    }
    ExitCode::from(u8::from(broken > 0))
}

fn format_of(name: &str) -> Format {
    Format::ALL
        .iter()
        .find(|(_, known, _)| *known == name)
        .expect("a format")
        .0
}

/// Examples and corpus of a format, numbered, for every process that makes inputs of them.
fn write_examples(format: Format, folder: &Path) {
    let place = folder.join(format.name());
    fs::create_dir_all(&place).expect("a folder");
    let mut examples = format.examples(folder);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fuzz/corpus")
        .join(format.name());
    let mut files: Vec<PathBuf> = fs::read_dir(corpus)
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    examples.extend(files.iter().filter_map(|file| fs::read(file).ok()));
    for (number, example) in examples.iter().enumerate() {
        fs::write(place.join(format!("{number:04}")), example).expect("a writable folder");
    }
}

fn read_examples(format: Format, folder: &Path) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder.join(format.name()))
        .expect("examples")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    files.sort();
    files
        .iter()
        .map(|file| fs::read(file).expect("an example"))
        .collect()
}

/// Lines of inputs.
#[derive(Clone, Copy, Debug, Default)]
struct Lines {
    all: u64,
    /// Those that stand in no example, equal ones of an input once.
    changed: u64,
}

/// What a process says of an input before it reads it: its number, and its lines.
const SAID: usize = 24;

/// Reads the inputs one after the other, and says before each which it is.
fn read_batch(format: Format, folder: &Path, seed: u64, numbers: std::ops::Range<u64>) {
    let examples = read_examples(format, folder);
    let is_newline = |byte: &u8| *byte == b'\n';
    let known: HashSet<&[u8]> = (examples.iter())
        .flat_map(|example| example.split(is_newline))
        .collect();
    let work = tempfile::tempdir().expect("a temporary folder");
    let mut out = std::io::stdout().lock();
    let mut say = |number: u64, lines: Lines| {
        let said = [number, lines.all, lines.changed].map(u64::to_le_bytes);
        let said = out
            .write_all(said.as_flattened())
            .and_then(|()| out.flush());
        said.expect("somebody who watches");
    };
    for number in numbers {
        say(number, Lines::default());
        let input = mutate::input(format, &examples, seed, number, work.path());
        let lines = || input.split(is_newline);
        let all = lines().count() as u64;
        let changed = lines()
            .filter(|line| !known.contains(line))
            .collect::<HashSet<_>>();
        let changed = changed.len() as u64;
        say(number, Lines { all, changed });
        format.consume(&input, work.path());
    }
}

/// Has a process read these inputs, and counts their lines. Returns the number of the first that
/// was not read, and what was wrong with the one before it.
fn watch(
    format: Format,
    folder: &Path,
    seed: u64,
    numbers: std::ops::Range<u64>,
    lines: &mut Lines,
) -> (u64, Option<String>) {
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new("sh")
        .args([
            "-c",
            "ulimit -v \"$0\" && exec \"$@\"",
            &MOST_KILOBYTES.to_string(),
        ])
        .arg(program)
        .args(["--format", format.name(), "--seed", &seed.to_string()])
        .args([
            "--batch",
            &numbers.start.to_string(),
            &numbers.end.to_string(),
        ])
        .arg("--examples")
        .arg(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a shell");
    let mut out = child.stdout.take().expect("its output");
    let mut errors = child.stderr.take().expect("its errors");
    let (say, hear) = mpsc::channel();
    let listener = std::thread::spawn(move || {
        let mut said = [0; SAID];
        while out.read_exact(&mut said).is_ok() {
            let (words, _) = said.as_chunks();
            let heard = [0, 1, 2].map(|word: usize| u64::from_le_bytes(words[word]));
            if say.send(heard).is_err() {
                break;
            }
        }
    });
    let complaints = std::thread::spawn(move || {
        let mut text = Vec::new();
        // Half of it is as good as none.
        let _ = errors.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut last = numbers.start;
    let mut slow = false;
    loop {
        match hear.recv_timeout(LONGEST) {
            Ok([number, all, changed]) => {
                last = number;
                lines.all += all;
                lines.changed += changed;
            }
            Err(RecvTimeoutError::Timeout) => {
                slow = true;
                // It may have ended by itself just now.
                let _ = child.kill();
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    let status = child.wait().expect("its end");
    let _ = listener.join();
    let said = complaints.join().unwrap_or_default();
    if status.success() {
        return (numbers.end, None);
    }
    let fault = if slow {
        format!("more than {} s", LONGEST.as_secs())
    } else {
        format!("{status}: {}", said.trim())
    };
    (last + 1, Some(fault))
}

/// Keeps an input that broke something.
fn keep(arguments: &Arguments, format: Format, folder: &Path, number: u64, fault: &str) {
    let input = mutate::input(
        format,
        &read_examples(format, folder),
        arguments.seed,
        number,
        folder,
    );
    let name = format!("{}-{}-{number}", format.name(), arguments.seed);
    let kept = fs::create_dir_all(&arguments.keep)
        .and_then(|()| fs::write(arguments.keep.join(&name), input));
    println!("{name}: {fault}");
    if let Err(error) = kept {
        println!("{name} cannot be kept: {error}");
    }
}
