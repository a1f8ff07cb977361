//! `bookahead runs tag` and `bookahead runs note`: what people say of runs.

use std::path::PathBuf;

use crate::cli::screen::LookError;
use crate::cli::studies;
use crate::store::{RunLabels, RunSelector, Store, Tag};

/// Gives a run tags, by which `runs --tag` finds it.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
`bookahead serve` does not show runs with the tag `hidden` unless it is asked to.

Examples:
  bookahead runs tag latest paper figure-3
  bookahead runs tag 3 paper --remove
  bookahead runs --tag paper --state done")]
pub struct TagArguments {
    /// The number of a run, the name of an experiment (its last run), or `latest`
    #[arg(index = 1, value_name = "RUN|latest")]
    pub run: RunSelector,
    /// Words without spaces and commas
    #[arg(index = 2, required = true, value_name = "TAG")]
    pub tags: Vec<Tag>,
    /// Take these tags away
    #[arg(long)]
    pub remove: bool,
    /// The store
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
}

/// Puts a note to a run; an empty text takes it away.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bookahead runs note latest \"before the new nodes came\"
  bookahead runs note 3 \"\"")]
pub struct NoteArguments {
    /// The number of a run, the name of an experiment (its last run), or `latest`
    #[arg(index = 1, value_name = "RUN|latest")]
    pub run: RunSelector,
    /// The note
    #[arg(index = 2)]
    pub text: String,
    /// The store
    #[arg(long, value_name = "FILE", default_value = "data/bookahead.db")]
    pub store: PathBuf,
}

/// Changes the tags of a run, and says what they are then.
pub(super) fn tag(arguments: &TagArguments) -> Result<(), LookError> {
    let store = Store::open_existing(studies(), &arguments.store)?;
    let run = store.run(&arguments.run)?;
    let labels = if arguments.remove {
        store.untag(run.id, &arguments.tags)?
    } else {
        store.tag(run.id, &arguments.tags)?
    };
    say(run.id.0, &run.name, &labels);
    Ok(())
}

/// Changes the note of a run, and says what it is then.
pub(super) fn note(arguments: &NoteArguments) -> Result<(), LookError> {
    let store = Store::open_existing(studies(), &arguments.store)?;
    let run = store.run(&arguments.run)?;
    let labels = store.set_note(run.id, arguments.text.trim())?;
    say(run.id.0, &run.name, &labels);
    Ok(())
}

fn say(run: i64, name: &str, labels: &RunLabels) {
    let tags = match labels.tags.as_slice() {
        [] => "no tags".to_owned(),
        tags => tags.join(", "),
    };
    let note = labels.note.as_deref().unwrap_or("no note");
    crate::cli::say(format_args!("run {run} {name}: {tags}; {note}"));
}
