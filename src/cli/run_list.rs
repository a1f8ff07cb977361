//! `bookahead runs`: what is in a store.

mod watch;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use super::aligned::{Aligned, Heading, screen};
use super::screen::{LookError, age, now, print_json, run_json, span, took};
use crate::cli::studies;
use crate::store::{RunSummary, Store};
use crate::sweep::INTERRUPTED;
pub(super) use watch::pace;

/// Lists the runs of a store, newest first.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "Examples:
  bookahead runs
  bookahead runs --json | jq '.[0].points_done'
  bookahead runs --watch                         until nothing runs; `bookahead serve` shows more, in a browser
  bookahead runs --shards data/night.shards      progress of the shares of one experiment")]
pub struct RunListArguments {
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// Show the progress of an experiment's shares: one line for each store in this folder
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    pub shards: Option<PathBuf>,
    /// A JSON array, for scripts
    #[arg(long)]
    pub json: bool,
    /// Show the runs as they progress, until nothing runs or until Ctrl-C; a line for each change
    /// where the output is no terminal
    #[arg(long, conflicts_with_all = ["json", "shards"])]
    pub watch: bool,
}

/// Prints the list.
///
/// # Errors
///
/// When the store cannot be read.
pub fn execute(arguments: &RunListArguments) -> Result<ExitCode, LookError> {
    if arguments.watch {
        let is_stopped = watch::watch(&arguments.store)?;
        return Ok(match is_stopped {
            true => ExitCode::from(u8::try_from(INTERRUPTED).unwrap_or(2)),
            false => ExitCode::SUCCESS,
        });
    }
    list(arguments).map(|()| ExitCode::SUCCESS)
}

fn list(arguments: &RunListArguments) -> Result<(), LookError> {
    if let Some(folder) = &arguments.shards {
        return super::shares::print(folder, arguments.json);
    }
    let mut runs = Store::open_read_only(studies(), &arguments.store)?.runs()?;
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
    let mut out = super::output::people();
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
