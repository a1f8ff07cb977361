//! `bookahead runs`: what is in a store, what people say of it, and what is to leave it.

mod filter;
mod labels;
mod remove;
mod watch;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use bookahead_report::moment;
use serde_json::json;

use super::aligned::{Aligned, Heading, form};
use super::screen::{LookError, age, now, print_json, run_json, span, took};
use crate::cli::studies;
use crate::store::{RunFilter, RunSummary, Store};
use crate::sweep::INTERRUPTED;
pub use filter::FilterArguments;
pub use labels::{NoteArguments, TagArguments};
pub use remove::{ArchiveArguments, CompactArguments, DeleteArguments};
pub(super) use watch::pace;

/// Lists the runs of a store, newest first.
#[derive(Clone, Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "Examples:
  bookahead runs
  bookahead runs --name 'night-*' --since 2026-11-01 --state done
  bookahead runs --tag paper                     those that `bookahead runs tag RUN paper` marked
  bookahead runs --json | jq '.[0].points_done'
  bookahead runs --watch                         until nothing runs; `bookahead serve` shows more, in a browser
  bookahead runs --shards data/night.shards      progress of the shares of one experiment")]
pub struct RunListArguments {
    /// What to do with a run.
    #[command(subcommand)]
    pub command: Option<RunCommand>,
    /// Which runs to list.
    #[command(flatten)]
    pub filter: FilterArguments,
    /// The store to read
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
    /// Show the progress of an experiment's shares: one line for each store in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["store", "FilterArguments"])]
    pub shards: Option<PathBuf>,
    /// A JSON array, for scripts
    #[arg(long)]
    pub json: bool,
    /// Show the runs as they progress, until nothing runs or until Ctrl-C; a line for each change
    /// where the output is no terminal
    #[arg(long, conflicts_with_all = ["json", "shards", "FilterArguments"])]
    pub watch: bool,
    /// List what was archived or deleted instead, and where it is
    #[arg(long, conflicts_with_all = ["watch", "shards", "FilterArguments"])]
    pub gone: bool,
}

/// What can be done with a run.
#[derive(Clone, Debug, clap::Subcommand)]
pub enum RunCommand {
    /// Give a run tags, or take them away.
    Tag(TagArguments),
    /// Put a note to a run.
    Note(NoteArguments),
    /// Move runs into a store of their own.
    Archive(ArchiveArguments),
    /// Delete runs for good.
    Delete(DeleteArguments),
    /// Give the room of what was removed back to the disk.
    Compact(CompactArguments),
}

/// Prints the list.
///
/// # Errors
///
/// When the store cannot be read, or not be changed where that was asked for.
pub fn execute(arguments: &RunListArguments) -> Result<ExitCode, LookError> {
    if let Some(command) = &arguments.command {
        match command {
            RunCommand::Tag(arguments) => labels::tag(arguments)?,
            RunCommand::Note(arguments) => labels::note(arguments)?,
            RunCommand::Archive(arguments) => remove::archive(arguments)?,
            RunCommand::Delete(arguments) => remove::delete(arguments)?,
            RunCommand::Compact(arguments) => remove::compact(arguments)?,
        }
        return Ok(ExitCode::SUCCESS);
    }
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
    let store = Store::open_read_only(studies(), &arguments.store)?;
    if arguments.gone {
        return gone(&store, arguments);
    }
    let filter = arguments.filter.filter()?;
    let mut runs = store.runs_where(&filter)?;
    runs.reverse();
    let now = now();
    if arguments.json {
        let all: Vec<_> = runs.iter().map(|run| run_json(run, now)).collect();
        return Ok(print_json(&all.into())?);
    }
    let gone = store.gone_runs()?.len();
    match (runs.is_empty(), filter == RunFilter::default()) {
        (true, true) => super::say(format_args!(
            "no runs in {}: `bookahead run CONFIG` makes one",
            arguments.store.display()
        )),
        (true, false) => super::say(format_args!(
            "no run in {} meets these conditions: `bookahead runs` lists all",
            arguments.store.display()
        )),
        (false, _) => print(&runs, now)?,
    }
    if gone > 0 {
        let runs = if gone == 1 { "run was" } else { "runs were" };
        super::say(format_args!(
            "{gone} {runs} archived or deleted: `bookahead runs --gone` lists what became of them"
        ));
    }
    Ok(())
}

/// Lists what was archived or deleted, newest first.
fn gone(store: &Store, arguments: &RunListArguments) -> Result<(), LookError> {
    let mut runs = store.gone_runs()?;
    runs.reverse();
    if arguments.json {
        let all = runs.iter().map(|run| {
            json!({"run": run.id.0, "name": run.name, "started_utc": moment(run.started), "gone_utc": moment(run.gone),
                "archive": run.archive})
        });
        return Ok(print_json(&all.collect())?);
    }
    if runs.is_empty() {
        super::say("no run was archived or deleted");
        return Ok(());
    }
    let headings = [
        ("Run", true),
        ("Name", false),
        ("Began", false),
        ("Gone", false),
        ("Archive", false),
    ];
    let headings = headings.map(|(title, right)| Heading::new(title, right).wrapped());
    let mut out = super::output::people();
    let mut table = Aligned::new(&mut out, headings.into(), form());
    let now = now();
    for run in runs {
        table.push(vec![
            run.id.0.to_string(),
            run.name,
            age(now - run.started),
            age(now - run.gone),
            run.archive.unwrap_or_else(|| "deleted".to_owned()),
        ])?;
    }
    Ok(table.finish().map(|_| ())?)
}

fn print(runs: &[RunSummary], now: i64) -> io::Result<()> {
    let with_tags = runs.iter().any(|run| !run.labels.tags.is_empty());
    let with_notes = runs.iter().any(|run| run.labels.note.is_some());
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
    let mut headings: Vec<Heading> = headings
        .map(|(title, right, dispensable)| Heading::new(title, right).dispensable(dispensable))
        .into();
    headings[2] = headings[2].clone().wrapped();
    if with_tags {
        headings.push(Heading::new("Tags", false).wrapped());
    }
    if with_notes {
        headings.push(Heading::new("Note", false).dispensable(5));
    }
    let mut out = super::output::people();
    let mut table = Aligned::new(&mut out, headings, form());
    for run in runs {
        let mut row = vec![
            run.id.0.to_string(),
            run.name.clone(),
            run.state_in_words(),
            run.points_done.to_string(),
            run.points_failed.to_string(),
            run.points.to_string(),
            took(run, now).map_or("–".to_owned(), span),
            run.source.clone().unwrap_or_else(|| "–".to_owned()),
            short(&run.configuration_hash).to_owned(),
            version(run),
            age(now - run.started),
        ];
        if with_tags {
            row.push(run.labels.tags.join(" "));
        }
        if with_notes {
            row.push(run.labels.note.clone().unwrap_or_default());
        }
        table.push(row)?;
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
