//! `bookahead runs archive`, `bookahead runs delete` and `bookahead runs compact`: what leaves a
//! store, and its room.

use std::io;
use std::path::{Path, PathBuf};

use bytesize::ByteSize;

use crate::cli::output::is_terminal_before_input;
use crate::cli::say;
use crate::cli::screen::{LookError, ranges};
use crate::cli::studies;
use crate::store::{ArchiveStep, RunId, RunSelector, RunUse, Store, StoreError};

/// Moves runs into a store of their own.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
The runs are compared with what was written, copied, and compared again with the copy on the disk before they are removed here. Whatever \
ends the command in between, every run is whole in one of the two stores at least, and the same command goes on.

The archive is a store like others: every command opens it with --store, and `bookahead merge STORE ARCHIVE` brings its runs back. What \
other runs use is in both stores.

Examples:
  bookahead runs archive 3 --to archive/night-3.db
  bookahead runs archive 3 4 5 --to archive/autumn.db
  bookahead runs --gone                               what was archived, and where it is")]
pub struct ArchiveArguments {
    /// Numbers of runs, names of experiments (the last run of each), or `latest`
    #[arg(required = true, value_name = "RUN|latest")]
    pub runs: Vec<RunSelector>,
    /// The archive: a file that is not there yet, or that an earlier attempt left
    #[arg(long, value_name = "FILE")]
    pub to: PathBuf,
    /// The store
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
}

/// Deletes runs for good, with everything that no other run uses.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
What other runs use stays theirs. The command says what is deleted and asks before; nothing brings it back.

Examples:
  bookahead runs delete 3
  bookahead runs delete 3 4 5 --yes")]
pub struct DeleteArguments {
    /// Numbers of runs, names of experiments (the last run of each), or `latest`
    #[arg(required = true, value_name = "RUN|latest")]
    pub runs: Vec<RunSelector>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// The store
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
}

/// Gives the room of what was archived or deleted back to the disk, where that was not possible at
/// once.
#[derive(Clone, Debug, clap::Args)]
pub struct CompactArguments {
    /// The store
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
}

/// Moves runs, and says where they are.
pub(super) fn archive(arguments: &ArchiveArguments) -> Result<(), LookError> {
    let store = Store::open_existing(studies(), &arguments.store)?;
    let runs = store.run_ids(&arguments.runs)?;
    let named = named(&runs);
    let to = arguments.to.display();
    let used = store.archive_runs(&runs, &arguments.to, &mut |step| {
        match step {
            ArchiveStep::Verify => say(format_args!("comparing {named} with what was written")),
            ArchiveStep::Copy => say(format_args!("copying to {to}")),
            ArchiveStep::Resume => say(format_args!("{to} is there already")),
            ArchiveStep::Compare => say("comparing the copy"),
            ArchiveStep::Remove => say("removing what is in the archive"),
            ArchiveStep::Name => {}
        }
        Ok(())
    })?;
    say(format_args!(
        "{named}: in {to} from now on; `bookahead merge {} {to}` would bring that back",
        arguments.store.display()
    ));
    if used.simulations > used.own_simulations {
        say(format_args!("{} in both stores", shared(&used)));
    }
    give_room_back(&store, &arguments.store);
    Ok(())
}

/// Deletes runs after it has asked.
pub(super) fn delete(arguments: &DeleteArguments) -> Result<(), LookError> {
    let store = Store::open_existing(studies(), &arguments.store)?;
    let runs = store.run_ids(&arguments.runs)?;
    let named = named(&runs);
    let used = store.use_of(&runs)?;
    say(format_args!(
        "{named}: {} of {} points and {} of {} simulations are in no other run and would be deleted for good",
        used.own_points, used.points, used.own_simulations, used.simulations
    ));
    if used.simulations > used.own_simulations {
        say(format_args!("{} there", shared(&used)));
    }
    if !arguments.yes && !is_wished(&named)? {
        return Err(LookError::Use("nothing was deleted".to_owned()));
    }
    store.delete_runs(&runs)?;
    say(format_args!("{named}: deleted"));
    give_room_back(&store, &arguments.store);
    Ok(())
}

/// Makes the file as small as its rows.
pub(super) fn compact(arguments: &CompactArguments) -> Result<(), LookError> {
    let store = Store::open_existing(studies(), &arguments.store)?;
    say_if_written_anew(&store, &arguments.store)?;
    let bytes = store.give_room_back()?;
    say(format_args!("{} given back", ByteSize(bytes)));
    Ok(())
}

/// Asks on a terminal.
fn is_wished(named: &str) -> Result<bool, LookError> {
    if !is_terminal_before_input() {
        return Err(LookError::Use(
            "nothing was deleted: nobody can be asked, as standard input is no terminal; say --yes to delete without being asked"
                .to_owned(),
        ));
    }
    say(format_args!("Delete {named} for good? Type `yes`:"));
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(answer.trim() == "yes")
}

/// `run 3`, or `runs 3, 5–9`.
fn named(runs: &[RunId]) -> String {
    let numbers: Vec<i64> = runs.iter().map(|run| run.0).collect();
    let word = if runs.len() == 1 { "run" } else { "runs" };
    format!("{word} {}", ranges(&numbers))
}

/// What other runs use of these.
fn shared(used: &RunUse) -> String {
    let others: Vec<RunId> = used.others.iter().map(|(run, _)| *run).collect();
    let count = used.simulations - used.own_simulations;
    format!(
        "{count} simulations are used by {}, too, and stay",
        named(&others)
    )
}

/// What was removed is gone, whether its room can be given back or not.
fn give_room_back(store: &Store, path: &Path) {
    let given = say_if_written_anew(store, path).and_then(|()| Ok(store.give_room_back()?));
    let why = match given {
        Ok(bytes) => return say(format_args!("{} given back to the disk", ByteSize(bytes))),
        Err(LookError::Store(StoreError::DiskFull { .. })) => "the disk is full".to_owned(),
        Err(LookError::Store(StoreError::RunUnderWay { run, .. })) => {
            format!("run {run} is being written")
        }
        Err(error) => error.to_string(),
    };
    say(format_args!(
        "warning: that is done, but its room was not given back to the disk: {why}. Later runs use that room; \
         `bookahead runs compact --store {}` gives it back when that is over",
        path.display()
    ));
}

fn say_if_written_anew(store: &Store, path: &Path) -> Result<(), LookError> {
    if store.is_written_anew_for_room()? {
        say(format_args!(
            "{} was made by an older version: it is written anew, once, which takes room for a second copy",
            path.display()
        ));
    }
    Ok(())
}
