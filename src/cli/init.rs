//! `bookahead init STUDY`: the file of a first experiment.

use std::io::Write as _;
use std::path::PathBuf;

use super::screen::{LookError, write_whole};
use crate::cli::studies;
use crate::sweep::{beginnings, keys, starter};

/// Prints the file of a first experiment with a study or a policy: valid, commented, and done in
/// seconds.
#[derive(Clone, Debug, clap::Args)]
pub struct InitArguments {
    /// The study or policy; `bookahead list strategies` describes them
    #[arg(value_name = "STUDY")]
    pub study: String,
    /// Write to this file instead of standard output; an existing file is not replaced
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What stands below the options in `--help`.
pub(super) fn after_help() -> String {
    format!(
        "Studies and policies: {}.\n\nExamples:\n  bookahead init heuristic-overbooking > mine.toml\n  bookahead check mine.toml\n  \
         bookahead run mine.toml",
        names().join(", ")
    )
}

/// Everything that there is a first experiment for.
pub(super) fn names() -> Vec<String> {
    beginnings(studies())
        .map(|beginning| beginning.name)
        .collect()
}

/// Prints or writes it.
///
/// # Errors
///
/// When there is no such study or policy, or the file cannot be written.
pub fn execute(arguments: &InitArguments) -> Result<(), LookError> {
    let text = starter(studies(), &arguments.study).ok_or_else(|| {
        let names = names();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        LookError::Use(format!(
            "there is no study or policy `{}`; {}",
            arguments.study,
            keys::suggest(&arguments.study, &names)
        ))
    })?;
    match &arguments.out {
        Some(path) if path.exists() => Err(LookError::Use(format!(
            "{} exists; name another file with --out",
            path.display()
        ))),
        Some(path) => write_whole(path, |file| Ok(file.write_all(text.as_bytes())?)),
        None => Ok(super::output::people().write_all(text.as_bytes())?),
    }
}
