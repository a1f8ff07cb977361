//! `bookahead submit`: the shares of an experiment as an array of jobs of Slurm or tasks of
//! HyperQueue.
//!
//! The engine starts the jobs, and starts them again when a machine is lost. Every job is
//! `bookahead run … --shard I/N`, which goes on where it stopped. Nothing here talks over a
//! network.

mod engine;
mod folder;

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::str::FromStr;

use clap::ValueEnum;

use self::engine::{Job, list};
use super::durability::DurabilityArgument;
use super::run::{Outcomes, complain};
use super::screen::LookError;
use crate::cli::studies;
use crate::sweep::{Experiment, Shard, require_shares};

pub use self::engine::Engine;
pub(super) use self::engine::{CONFIGURATION, shell};

/// Arguments of `bookahead submit`.
#[derive(Clone, Debug, clap::Args)]
pub struct SubmitArguments {
    /// The experiment file (TOML)
    pub config: PathBuf,
    /// The batch system
    #[arg(long, value_enum)]
    pub engine: Engine,
    /// How many shares of equal expected cost to divide the experiment into: one job each
    #[arg(long, value_name = "N", value_parser = number_of_shares)]
    pub shards: NonZeroU32,
    /// The folder for the script, the stores and the logs, on a disk that every machine sees
    /// [default: data/NAME.shards]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Submit only these shares, such as 3 or 2,5-7 [default: those that are neither complete
    /// nor running]
    #[arg(long, value_name = "LIST")]
    pub only: Option<Numbers>,
    /// Cores for each share, and its worker threads
    #[arg(long, value_name = "N", value_parser = super::workers, default_value = "1")]
    pub workers: NonZeroUsize,
    /// Use this seed instead of the file's
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// What is kept: every job's outcome, or the points' metrics only
    #[arg(long, value_enum, default_value = "all")]
    pub outcomes: Outcomes,
    /// What a power failure may cost each share
    #[command(flatten)]
    pub durability: DurabilityArgument,
    /// An option to pass on to the batch system, such as --option=--partition=long (may be
    /// repeated)
    #[arg(long = "option", value_name = "OPTION", allow_hyphen_values = true)]
    pub options: Vec<String>,
    /// Write the script and print the command that would submit it
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
    let experiment = match Experiment::load(studies(), &arguments.config, arguments.seed) {
        Ok(experiment) => experiment,
        Err(error) => {
            complain(&error);
            return Ok(ExitCode::from(2));
        }
    };
    require_shares(&experiment.sweep).map_err(|error| LookError::Use(error.to_string()))?;
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
    if folder.to_str().is_none() {
        return Err(not_utf8(
            "the folder",
            &folder,
            "name another one with --dir",
        ));
    }
    fs::create_dir_all(&folder).map_err(|source| LookError::File {
        path: folder.clone(),
        source,
    })?;
    let folder = folder.canonicalize().map_err(|source| LookError::File {
        path: folder.clone(),
        source,
    })?;
    let (here, program) = (std::env::current_dir()?, std::env::current_exe()?);
    for (what, option, path) in [
        ("the folder", "name another one with --dir", &folder),
        ("the current folder", "submit from another one", &here),
        ("this program", "install it elsewhere", &program),
    ] {
        if path.to_str().is_none() {
            return Err(not_utf8(what, path, option));
        }
    }
    if let Some(refused) = arguments.engine.cannot_write(&folder) {
        return Err(LookError::Use(format!(
            "{} cannot write its log into {}: the name has {refused} in it; name another folder with --dir",
            arguments.engine.title(),
            folder.display()
        )));
    }
    let (numbers, unreadable) = folder::wanted(arguments, &folder, &experiment.sweep)?;
    let job = Job {
        name: experiment.sweep.name.clone(),
        folder: folder.clone(),
        here,
        program,
        shards: arguments.shards.get(),
        workers: arguments.workers.get(),
        seed: arguments.seed,
        outcomes: name_of(&arguments.outcomes),
        durability: name_of(&arguments.durability.durability),
        environment: environment()?,
    };
    if numbers.is_empty() {
        let every = if unreadable { "every other" } else { "every" };
        println_out(format_args!(
            "{every} share of `{}` in {} is complete or running: nothing is submitted",
            job.name,
            folder.display()
        ))?;
        return Ok(ExitCode::from(u8::from(unreadable)));
    }
    folder::keep_configuration(&folder, &experiment.sweep.text)?;
    let script = folder::write_script(arguments.engine, &job)?;
    let command = arguments
        .engine
        .command(&job, &script, &numbers, &arguments.options);
    if arguments.dry_run {
        println_out(format_args!("wrote {}; submit it with", script.display()))?;
        println_out(format_args!("  {}", engine::shell(&command)))?;
    } else {
        let hint = arguments.engine.hint_of_a_refusal(&numbers);
        let id = submit(&command, &script, hint)?;
        folder::keep_seed(&folder, experiment.sweep.seed)?;
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
    writeln!(super::output::people(), "{line}")
}

/// The value of an option as the command line has it.
fn name_of(value: &impl ValueEnum) -> String {
    value
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned())
}

/// A path that a script cannot name.
fn not_utf8(what: &str, path: &Path, advice: &str) -> LookError {
    LookError::Use(format!(
        "{what}, {}, has a name that is not UTF-8, which no script can hold; {advice}",
        path.display()
    ))
}

/// What of the environment decides where inputs are found.
fn environment() -> Result<Vec<(String, String)>, LookError> {
    let mut folders = Vec::new();
    for name in [
        "BOOKAHEAD_TRACES",
        "BOOKAHEAD_FAILURES",
        "BOOKAHEAD_WORKFLOWS",
    ] {
        let Some(value) = std::env::var_os(name).filter(|value| !value.is_empty()) else {
            continue;
        };
        let path = PathBuf::from(value);
        let absolute = path.canonicalize().unwrap_or(path);
        match absolute.to_str() {
            Some(text) => folders.push((name.to_owned(), text.to_owned())),
            None => return Err(not_utf8(name, &absolute, "move the folder")),
        }
    }
    Ok(folders)
}

/// Calls the engine; returns the number that it gave the job.
fn submit(command: &[String], script: &Path, hint: &str) -> Result<String, LookError> {
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
            "`{program}` refused the job: {complained} {said}{hint}; the script is {}",
            script.display()
        )));
    }
    if !complained.is_empty() {
        super::say(&complained);
    }
    Ok(engine::job_number(&said))
}
