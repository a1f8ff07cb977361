//! `bookahead completions SHELL`: what a shell needs to complete commands and options.

use std::io::{self, Write as _};

/// Prints the completions of a shell.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
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
pub fn execute(arguments: &CompletionsArguments, mut command: clap::Command) -> io::Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "bookahead", &mut text);
    io::stdout().lock().write_all(&text)
}
