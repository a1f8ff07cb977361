//! `bookahead completions SHELL`: the script with which a shell completes commands, options, and
//! existing runs, strategies and keys.
//!
//! The script asks this program at every press of the key, so it completes names of the current
//! store.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::PathBuf;

use bookahead_core::printable::one_line;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::Shells;

use crate::store::Store;
use crate::sweep::beginnings;
use crate::sweep::keys::Keys;

/// The variable by which the script of a shell asks.
const VARIABLE: &str = "COMPLETE";

/// Prints what a shell needs to complete commands, options, and the runs, strategies and keys that
/// there are.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Runs and axes are completed from the store that --store names, else from data/bookahead.db.

Examples:
  bookahead completions bash > ~/.local/share/bash-completion/completions/bookahead
  bookahead completions zsh > ~/.zfunc/_bookahead      (with `fpath+=~/.zfunc` before compinit in ~/.zshrc)
  bookahead completions fish > ~/.config/fish/completions/bookahead.fish")]
pub struct CompletionsArguments {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

/// Prints them.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn execute(arguments: &CompletionsArguments) -> io::Result<()> {
    let mut text = Vec::new();
    let shell = arguments.shell.to_string();
    let shells = Shells::builtins();
    let completer = shells
        .completer(&shell)
        .ok_or_else(|| io::Error::other(format!("{shell} is not known")))?;
    completer.write_registration(VARIABLE, "bookahead", "bookahead", "bookahead", &mut text)?;
    super::output::people().write_all(&text)
}

/// Answers the script of a shell, where it is that which asks.
pub(super) fn answer(arguments: &[OsString], command: fn() -> clap::Command) -> bool {
    let here = std::env::current_dir().ok();
    clap_complete::CompleteEnv::with_factory(command)
        .var(VARIABLE)
        .bin("bookahead")
        .try_complete(arguments.to_vec(), here.as_deref())
        .unwrap_or(false)
}

/// A command (of a command), one of its arguments, and what completes it.
type Completed = (&'static str, &'static str, fn() -> Vec<CompletionCandidate>);

/// What completes the arguments of commands.
const CANDIDATES: &[Completed] = &[
    ("report", "run", runs),
    ("show", "run", runs),
    ("export", "run", runs),
    ("gantt", "run", runs),
    ("compare", "runs", runs),
    ("compare", "metric", measures),
    ("compare", "by", axes),
    ("init", "study", studies),
    ("runs tag", "run", runs),
    ("runs tag", "tags", tags),
    ("runs note", "run", runs),
    ("runs archive", "runs", runs),
    ("runs delete", "runs", runs),
    ("runs", "study", study_names),
    ("runs", "tag", tags),
    ("list keys", "table", tables_and_keys),
    ("list metrics", "text", measures),
    ("reproduce", "paper", papers),
    ("reproduce", "trace", traces),
    ("reproduce", "readings", readings),
];

/// The command line with what completes its arguments.
pub(super) fn completed(command: clap::Command) -> clap::Command {
    CANDIDATES
        .iter()
        .fold(command, |command, (names, argument, candidates)| {
            within(command, names, &|command| {
                command.mut_arg(argument, |argument| {
                    argument.add(ArgValueCandidates::new(*candidates))
                })
            })
        })
}

/// Changes the command with these names, which begin at a subcommand of `command`.
fn within(
    command: clap::Command,
    names: &str,
    change: &dyn Fn(clap::Command) -> clap::Command,
) -> clap::Command {
    match names.split_once(' ') {
        Some((name, rest)) => command.mut_subcommand(name, |command| within(command, rest, change)),
        None => command.mut_subcommand(names, change),
    }
}

/// The store that the line under way names: candidates are asked for without it.
fn store() -> Option<Store> {
    let words: Vec<OsString> = std::env::args_os().collect();
    let named = words.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_str()?;
        match word.strip_prefix("--store=") {
            Some(path) => Some(PathBuf::from(path)),
            None if word == "--store" => words.get(at + 1).map(PathBuf::from),
            None => None,
        }
    });
    Store::open_read_only(
        super::studies(),
        &named.unwrap_or_else(|| super::STORE.into()),
    )
    .ok()
}

fn candidate(name: impl Into<OsString>, about: &str) -> CompletionCandidate {
    CompletionCandidate::new(name).help(Some(one_line(about).into_owned().into()))
}

/// The runs of the store at hand, by number and by name, newest first.
fn runs() -> Vec<CompletionCandidate> {
    let mut runs = store()
        .and_then(|store| store.runs().ok())
        .unwrap_or_default();
    runs.reverse();
    let mut candidates = vec![candidate("latest", "the last run")];
    for run in runs {
        let about = format!("{}, {} points", run.name, run.points);
        candidates.push(candidate(run.id.0.to_string(), &about));
        if !candidates
            .iter()
            .any(|known| known.get_value() == run.name.as_str())
            && is_typed(&run.name)
        {
            candidates.push(candidate(run.name, &format!("run {}", run.id.0)));
        }
    }
    candidates
}

/// The tags of all runs of the store at hand.
fn tags() -> Vec<CompletionCandidate> {
    let runs = store().and_then(|store| store.runs().ok());
    let tags = runs.into_iter().flatten().flat_map(|run| run.labels.tags);
    let tags: std::collections::BTreeSet<String> = tags.filter(|tag| is_typed(tag)).collect();
    tags.into_iter().map(CompletionCandidate::new).collect()
}

/// The axes of all runs of the store at hand.
fn axes() -> Vec<CompletionCandidate> {
    let axes = store().and_then(|store| store.axis_keys().ok());
    let axes = axes.unwrap_or_default();
    let typed = axes.into_iter().filter(|axis| is_typed(axis));
    typed.map(CompletionCandidate::new).collect()
}

/// Whether a name of a store can be typed: what a terminal would act on is not offered.
fn is_typed(name: &str) -> bool {
    one_line(name) == name
}

/// Studies alone.
fn study_names() -> Vec<CompletionCandidate> {
    let studies = super::studies();
    studies
        .iter()
        .map(|study| CompletionCandidate::new(study.name()))
        .collect()
}

/// Studies and policies.
fn studies() -> Vec<CompletionCandidate> {
    beginnings(super::studies())
        .map(|known| candidate(known.name, &known.about))
        .collect()
}

/// Tables and keys of experiment files.
fn tables_and_keys() -> Vec<CompletionCandidate> {
    let known = Keys::of(super::studies());
    let sections = known.sections_for("").into_iter();
    let tables = sections.map(|section| candidate(section.path, section.about));
    let keys = known.all().map(|key| candidate(key.path, key.about));
    tables.chain(keys).collect()
}

/// Measures.
fn measures() -> Vec<CompletionCandidate> {
    super::list::metrics::all()
        .into_iter()
        .map(|(name, _, meaning)| candidate(name, &meaning))
        .collect()
}

/// Papers.
fn papers() -> Vec<CompletionCandidate> {
    super::reproduce::paper_names(std::path::Path::new(""))
        .into_iter()
        .map(CompletionCandidate::new)
        .collect()
}

/// The papers that the line under way names, all where it names none.
fn named_papers() -> Vec<super::reproduce::Paper> {
    let root = std::path::Path::new("");
    let names = super::reproduce::paper_names(root);
    let words: Vec<OsString> = std::env::args_os().collect();
    let is_named = |name: &String| words.iter().any(|word| word == name.as_str());
    let any = names.iter().any(is_named);
    let chosen = names.iter().filter(|name| !any || is_named(name));
    chosen
        .filter_map(|name| super::reproduce::Paper::read(root, name).ok())
        .collect()
}

fn traces() -> Vec<CompletionCandidate> {
    named_papers()
        .iter()
        .flat_map(|paper| &paper.traces)
        .filter(|trace| is_typed(&trace.name))
        .map(|trace| candidate(&trace.name, &trace.subject))
        .collect()
}

fn readings() -> Vec<CompletionCandidate> {
    let papers = named_papers();
    let names = papers.iter().flat_map(super::reproduce::reading_names);
    std::iter::once("all".to_owned())
        .chain(names)
        .filter(|name| is_typed(name))
        .map(CompletionCandidate::new)
        .collect()
}
