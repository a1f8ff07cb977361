//! `bookahead man [DIR]`: the manual pages, made from the same definition as `--help`.

use std::io::{self, Write as _};
use std::path::PathBuf;

use super::screen::LookError;
use crate::output::OutputFolder;

/// Prints the manual page, or writes one page a command into a folder.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bookahead man ~/.local/share/man/man1
  bookahead man > bookahead.1")]
pub struct ManArguments {
    /// The folder for `bookahead.1`, `bookahead-run.1` and so on; without it the first page goes to
    /// standard output
    #[arg(value_name = "DIR")]
    pub folder: Option<PathBuf>,
}

/// Writes them.
///
/// # Errors
///
/// When the folder or standard output cannot be written.
pub fn execute(arguments: &ManArguments, mut command: clap::Command) -> Result<(), LookError> {
    let Some(folder) = &arguments.folder else {
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text)?;
        return Ok(super::output::people().write_all(&text)?);
    };
    let error = |source| LookError::File {
        path: folder.clone(),
        source,
    };
    // `help` repeats every page.
    command = without_help(command);
    command.build();
    let mut written = Vec::new();
    pages(command, &mut written)?;
    let written = written
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_slice()));
    OutputFolder::create(folder)
        .map_err(error)?
        .write_files(written)
        .map_err(|(name, source)| LookError::File {
            path: folder.join(name),
            source,
        })?;
    super::say(format_args!("manual pages: {}", folder.display()));
    Ok(())
}

/// The names and texts of the pages of a command and of its subcommands.
fn pages(command: clap::Command, written: &mut Vec<(String, Vec<u8>)>) -> io::Result<()> {
    for subcommand in command.get_subcommands().filter(|one| !one.is_hide_set()) {
        pages(subcommand.clone(), written)?;
    }
    let page = clap_mangen::Man::new(command);
    let mut text = Vec::new();
    page.render(&mut text)?;
    written.push((page.get_filename(), text));
    Ok(())
}

fn without_help(command: clap::Command) -> clap::Command {
    let names: Vec<String> = command
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect();
    names
        .into_iter()
        .fold(command.disable_help_subcommand(true), |command, name| {
            command.mut_subcommand(name, without_help)
        })
}
