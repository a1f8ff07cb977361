//! `bookahead submit`: the shares of an experiment as an array of jobs of Slurm or tasks of HyperQueue.
//!
//! The engine starts the jobs, and starts them again when a machine is lost; every job is `bookahead run … --shard I/N`, which
//! goes on where it was. Nothing here talks over a network.

mod engine;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::str::FromStr;

use clap::ValueEnum as _;

use self::engine::{Job, list};
use super::run::{Outcomes, complain};
use super::screen::LookError;
use super::shares;
use crate::sweep::{Experiment, Shard};

pub use self::engine::Engine;

/// Arguments of `bookahead submit`.
#[derive(Clone, Debug, clap::Args)]
pub struct SubmitArguments {
    /// The experiment file (TOML)
    pub config: PathBuf,
    /// What starts the jobs
    #[arg(long, value_enum)]
    pub engine: Engine,
    /// Into how many shares of equal expected cost the experiment is divided: one job each
    #[arg(long, value_name = "N", value_parser = number_of_shares)]
    pub shards: NonZeroU32,
    /// Where the script, the stores and the logs of the shares are, on a disk that every machine sees [default:
    /// data/NAME.shards]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Submit only these shares, such as 3 or 2,5-7 [default: those that are neither complete
    /// nor running]
    #[arg(long, value_name = "LIST")]
    pub only: Option<Numbers>,
    /// Cores for each share, and its worker threads
    #[arg(long, value_name = "N", value_parser = super::workers, default_value = "1")]
    pub workers: NonZeroUsize,
    /// Takes the place of the file's seed
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What is kept: every job's outcome, or the points' metrics only
    #[arg(long, value_enum, default_value = "all")]
    pub outcomes: Outcomes,
    /// One more option for the engine, such as --option=--partition=long (may be repeated)
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true)]
    pub options: Vec<String>,
    /// Write the script and show the command that would submit it
    #[arg(long)]
    pub dry_run: bool,
}

fn number_of_shares(text: &str) -> Result<NonZeroU32, String> {
    (text.parse().ok())
        .filter(|number: &NonZeroU32| number.get() <= Shard::MOST)
        .ok_or_else(|| format!("allowed is a whole number from 1 to {}", Shard::MOST))
}

/// Numbers of shares: `3`, `2,5-7`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbers(BTreeSet<u32>);

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut numbers = BTreeSet::new();
        for part in text.split(',') {
            let (from, to) = part.split_once('-').unwrap_or((part, part));
            match (from.trim().parse(), to.trim().parse()) {
                (Ok(from @ 1..), Ok(to @ ..=Shard::MOST)) if from <= to => {
                    numbers.extend(from..=to)
                }
                _ => return Err("allowed are numbers and ranges, such as 2,5-7".to_owned()),
            }
        }
        Ok(Self(numbers))
    }
}

/// Writes the script and submits it.
///
/// # Errors
///
/// When the folder belongs to another experiment, or when the engine cannot be called or refuses.
pub fn execute(arguments: &SubmitArguments) -> Result<ExitCode, LookError> {
    let experiment = match Experiment::load(&arguments.config, arguments.seed) {
        Ok(experiment) => experiment,
        Err(error) => {
            complain(&error);
            return Ok(ExitCode::from(2));
        }
    };
    if arguments.outcomes == Outcomes::None {
        return Err(LookError::Use(
            "with --outcomes none a share would leave nothing to join: allowed are all and metrics"
                .to_owned(),
        ));
    }
    let folder = arguments
        .dir
        .clone()
        .unwrap_or_else(|| super::shards_folder(&experiment.sweep.name));
    fs::create_dir_all(&folder).map_err(|source| LookError::File {
        path: folder.clone(),
        source,
    })?;
    let folder = folder.canonicalize().map_err(|source| LookError::File {
        path: folder.clone(),
        source,
    })?;
    keep_configuration(&folder, &experiment.sweep.text)?;
    let numbers = wanted(arguments, &folder)?;
    let job = Job {
        name: experiment.sweep.name.clone(),
        folder: folder.clone(),
        here: std::env::current_dir()?,
        program: std::env::current_exe()?,
        shards: arguments.shards.get(),
        workers: arguments.workers.get(),
        seed: arguments.seed,
        outcomes: outcomes_name(arguments.outcomes),
        environment: environment(),
    };
    let script = folder.join(arguments.engine.script_name());
    fs::write(&script, arguments.engine.script(&job)).map_err(|source| LookError::File {
        path: script.clone(),
        source,
    })?;
    if numbers.is_empty() {
        println_out(format_args!(
            "every share of `{}` in {} is complete or running: nothing is submitted",
            job.name,
            folder.display()
        ))?;
        return Ok(ExitCode::SUCCESS);
    }
    let command = arguments
        .engine
        .command(&job, &script, &numbers, &arguments.options);
    if arguments.dry_run {
        println_out(format_args!("wrote {}; submit it with", script.display()))?;
        println_out(format_args!("  {}", engine::shell(&command)))?;
    } else {
        let id = submit(&command, &script)?;
        println_out(format_args!(
            "submitted as {} job {id}: shares {} of {} of `{}`",
            arguments.engine.title(),
            list(&numbers),
            job.shards,
            job.name
        ))?;
        println_out(format_args!("  watch  {}", arguments.engine.watch(&id)))?;
    }
    say_how_to_go_on(&folder, job.shards)?;
    Ok(ExitCode::SUCCESS)
}

fn say_how_to_go_on(folder: &Path, shards: u32) -> io::Result<()> {
    let folder = engine::quoted(&folder.display().to_string());
    println_out(format_args!("  watch  bookahead runs --shards {folder}"))?;
    println_out(format_args!("  logs   {folder}/shard-I-of-{shards}.log"))?;
    println_out(format_args!(
        "  lost   when no job waits any more, the same command submits what is not complete; --only I submits one"
    ))?;
    println_out(format_args!(
        "  then   bookahead merge {} {folder}",
        super::STORE
    ))
}

fn println_out(line: impl std::fmt::Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{line}")
}

/// The experiment as it was when the first share was submitted: what is edited later is another experiment.
fn keep_configuration(folder: &Path, text: &str) -> Result<(), LookError> {
    let path = folder.join(engine::CONFIGURATION);
    match fs::read_to_string(&path) {
        Ok(kept) if kept == text => Ok(()),
        Ok(_) => Err(LookError::Use(format!(
            "{} holds the shares of another configuration: name another folder with --dir, or remove this one",
            folder.display()
        ))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            fs::write(&path, text).map_err(|source| LookError::File { path, source })
        }
        Err(source) => Err(LookError::File { path, source }),
    }
}

/// The shares that are to be submitted.
fn wanted(arguments: &SubmitArguments, folder: &Path) -> Result<BTreeSet<u32>, LookError> {
    let of = arguments.shards.get();
    let begun = match shares::look(folder) {
        Ok(shares) => shares,
        // No store yet.
        Err(LookError::Use(_)) => Vec::new(),
        Err(error) => return Err(error),
    };
    if let Some((other, _)) = begun
        .iter()
        .filter_map(|share| share.number)
        .find(|(other, _)| *other != of)
    {
        return Err(LookError::Use(format!(
            "{} holds shares of {other}, not of {of}: say --shards {other}, or name another folder with --dir",
            folder.display()
        )));
    }
    if let Some(Numbers(only)) = &arguments.only {
        return match only.last() {
            Some(last) if *last > of => {
                Err(LookError::Use(format!("there is no share {last} of {of}")))
            }
            _ => Ok(only.clone()),
        };
    }
    let mut left_out = BTreeSet::new();
    for share in &begun {
        let (Some((_, number)), Some(progress)) = (share.number, &share.progress) else {
            continue;
        };
        if progress.is_complete() {
            left_out.insert(number);
        } else if progress.state == "running" {
            super::say(format_args!(
                "share {number} says that it is running, and is not submitted again; if its machine is lost, --only {number} \
                 submits it"
            ));
            left_out.insert(number);
        }
    }
    Ok((1..=of)
        .filter(|number| !left_out.contains(number))
        .collect())
}

fn outcomes_name(outcomes: Outcomes) -> String {
    outcomes
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned())
}

/// What of the environment decides where inputs are found.
fn environment() -> Vec<(String, String)> {
    [
        "BOOKAHEAD_TRACES",
        "BOOKAHEAD_FAILURES",
        "BOOKAHEAD_WORKFLOWS",
    ]
    .into_iter()
    .filter_map(|name| {
        let value = std::env::var(name).ok().filter(|value| !value.is_empty())?;
        let absolute = Path::new(&value)
            .canonicalize()
            .map_or(value, |path| path.display().to_string());
        Some((name.to_owned(), absolute))
    })
    .collect()
}

/// Calls the engine; returns the number that it gave the job.
fn submit(command: &[String], script: &Path) -> Result<String, LookError> {
    let (program, arguments) = command
        .split_first()
        .expect("every engine's command begins with its program");
    let ended = Command::new(program)
        .args(arguments)
        .output()
        .map_err(|error| {
            LookError::Use(format!(
                "`{program}` cannot be started: {error}; the script is {}, and it can be submitted by hand with\n  {}",
                script.display(),
                engine::shell(command)
            ))
        })?;
    let (said, complained) = (
        String::from_utf8_lossy(&ended.stdout).trim().to_owned(),
        String::from_utf8_lossy(&ended.stderr).trim().to_owned(),
    );
    if !ended.status.success() {
        return Err(LookError::Use(format!(
            "`{program}` refused the job: {complained} {said}; the script is {}",
            script.display()
        )));
    }
    if !complained.is_empty() {
        super::say(&complained);
    }
    Ok(engine::job_number(&said))
}
