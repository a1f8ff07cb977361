//! `bookahead runs`: what is in a store.

mod watch;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;

use super::aligned::{Aligned, Heading, screen};
use super::screen::{LookError, age, now, print_json, span};
use crate::report::moment;
use crate::store::{RunSummary, Store};
use crate::sweep::INTERRUPTED;
pub(super) use watch::pace;

/// Lists the runs of a store, newest first.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  bookahead runs
  bookahead runs --json | jq '.[0].points_done'
  bookahead runs --watch                         as they progress, until nothing runs
  bookahead runs --shards data/night.shards      how far the shares of one experiment are")]
pub struct RunsArguments {
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// Show how far the shares of an experiment are: one line for each store in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    pub shards: Option<PathBuf>,
    /// A JSON array, for scripts
    #[arg(long)]
    pub json: bool,
    /// Show the runs as they progress, until nothing runs or until Ctrl-C; a line for each change where the output is no terminal
    #[arg(long, conflicts_with_all = ["json", "shards"])]
    pub watch: bool,
}

/// Prints the list.
///
/// # Errors
///
/// When the store cannot be read.
pub fn execute(arguments: &RunsArguments) -> Result<ExitCode, LookError> {
    if arguments.watch {
        let is_stopped = watch::watch(&arguments.store)?;
        return Ok(match is_stopped {
            true => ExitCode::from(u8::try_from(INTERRUPTED).unwrap_or(2)),
            false => ExitCode::SUCCESS,
        });
    }
    list(arguments).map(|()| ExitCode::SUCCESS)
}

fn list(arguments: &RunsArguments) -> Result<(), LookError> {
    if let Some(folder) = &arguments.shards {
        return super::shares::print(folder, arguments.json);
    }
    let mut runs = Store::open_read_only(&arguments.store)?.runs()?;
    runs.reverse();
    let now = now();
    if arguments.json {
        let all: Vec<_> = runs.iter().map(|run| run_json(run, now)).collect();
        return Ok(print_json(&all.into())?);
    }
    if runs.is_empty() {
        super::say(format_args!(
            "no runs in {}: `bookahead run CONFIG` makes one",
            arguments.store.display()
        ));
        return Ok(());
    }
    Ok(print(&runs, now)?)
}

fn print(runs: &[RunSummary], now: i64) -> io::Result<()> {
    let headings = [
        ("Run", true, 0),
        ("Name", false, 0),
        ("State", false, 0),
        ("Done", true, 0),
        ("Failed", true, 0),
        ("Of", true, 0),
        ("Took", true, 1),
        ("Configuration", false, 2),
        ("Hash", false, 3),
        ("Version", false, 4),
        ("Began", false, 0),
    ];
    let headings: Vec<Heading> = headings
        .map(|(title, right, dispensable)| Heading::new(title, right).dispensable(dispensable))
        .into();
    let mut out = io::stdout().lock();
    let mut table = Aligned::new(&mut out, headings, screen());
    for run in runs {
        table.push(vec![
            run.id.0.to_string(),
            run.name.clone(),
            run.state.clone(),
            run.points_done.to_string(),
            run.points_failed.to_string(),
            run.points.to_string(),
            took(run, now).map_or("–".to_owned(), span),
            run.source.clone().unwrap_or_else(|| "–".to_owned()),
            short(&run.configuration_hash).to_owned(),
            version(run),
            age(now - run.started),
        ])?;
    }
    table.finish().map(|_| ())
}

/// Milliseconds from begin to end, or to now for a run under way; `None` for one that died at an unknown moment.
pub(super) fn took(run: &RunSummary, now: i64) -> Option<i64> {
    match run.ended {
        Some(ended) => Some(ended - run.started),
        None if run.state == "running" => Some(now - run.started),
        None => None,
    }
}

/// The first eight digits of a hash.
pub(super) fn short(hash: &str) -> &str {
    hash.get(..8).unwrap_or(hash)
}

/// Version of the program with its commit, where known.
pub(super) fn version(run: &RunSummary) -> String {
    match &run.program_commit {
        Some(commit) => format!("{} ({})", run.program_version, short(commit)),
        None => run.program_version.clone(),
    }
}

/// A run as JSON.
pub(super) fn run_json(run: &RunSummary, now: i64) -> serde_json::Value {
    json!({
        "run": run.id.0,
        "name": run.name,
        "description": run.description,
        "state": run.state,
        "points": run.points,
        "points_done": run.points_done,
        "points_failed": run.points_failed,
        "points_missing": run.points.saturating_sub(run.points_done + run.points_failed),
        "replications": run.replications,
        "seed": run.seed,
        "source": run.source,
        "configuration_hash": run.configuration_hash,
        "program_version": run.program_version,
        "program_commit": run.program_commit,
        "result_format": run.result_format,
        "machine_cores": run.machine_cores,
        "machine_os": run.machine_os,
        "started_utc": moment(run.started),
        "ended_utc": run.ended.map(moment),
        "duration_seconds": took(run, now).map(|took| took as f64 / 1_000.0),
        "simulation_seconds": run.simulation_seconds,
    })
}
