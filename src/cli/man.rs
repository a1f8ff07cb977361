//! `bookahead man [DIR]`: the manual pages, made from the same definition as `--help`.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use super::screen::LookError;

/// Prints the manual page, or writes one page a command into a folder.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Examples:
  bookahead man ~/.local/share/man/man1
  bookahead man > bookahead.1")]
pub struct ManArguments {
    /// The folder for `bookahead.1`, `bookahead-run.1` and so on; without it the first page goes to standard output
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
    fs::create_dir_all(folder).map_err(error)?;
    // `help` repeats every page.
    command = without_help(command);
    command.build();
    clap_mangen::generate_to(command, folder).map_err(error)?;
    super::say(format_args!("manual pages: {}", folder.display()));
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
