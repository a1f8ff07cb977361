//! The command line: one file a subcommand, and the conventions that they share.
//!
//! Data goes to standard output, progress and logs to standard error. Exit codes: 0 done; 1 done, but some points failed;
//! 2 wrong use or configuration; 130 interrupted, everything finished so far kept.

mod logging;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod trace;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// A laboratory for planning-based resource management: overbooked plans, reservations and the sweeps that compare them.
#[derive(Debug, Parser)]
#[command(name = "bookahead", version, about, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Write a structured log (JSON, one event a line) to this file
    #[arg(long, value_name = "FILE", global = true)]
    log: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run an experiment, or go on with it: points that are done are not run again
    Run(run::RunArgs),
    /// Write the report of a run again
    Report(report::ReportArguments),
    /// Run a paper's evaluation and lay measured beside published
    Reproduce(reproduce::ReproduceArgs),
    /// Look at a trace, convert it, or make one
    Trace(trace::TraceArguments),
}

/// Parses the arguments (the first is the program's name), does what they say, and returns the exit code.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are answers, not errors; clap knows which stream each belongs to.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    if let Err(error) = logging::start(cli.log.as_deref()) {
        say(format_args!("error: {error}"));
        return ExitCode::from(2);
    }
    match cli.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Report(arguments) => {
            ended(report::execute(&arguments).map(|()| ExitCode::SUCCESS))
        }
        Command::Reproduce(arguments) => ended(reproduce::execute(&arguments)),
        Command::Trace(arguments) => trace::execute(&arguments).unwrap_or_else(|error| {
            say(format_args!("error: {error}"));
            ExitCode::from(2)
        }),
    }
}

/// Prints an error, if there is one; every error of these commands is wrong use or a wrong file.
fn ended(result: Result<ExitCode, impl std::error::Error>) -> ExitCode {
    result.unwrap_or_else(|error| {
        say(format_args!("error: {error}"));
        ExitCode::from(2)
    })
}

/// A line for people on standard error. That nobody can read it (a closed pipe, a full disk) changes nothing about what was
/// done: `eprintln!` would panic.
fn say(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Standard error as a place to write that never fails, as [`say`].
#[derive(Debug)]
struct StandardError;

impl Write for StandardError {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = io::stderr().flush();
        Ok(())
    }
}

/// A number of workers, with an error that says what is allowed.
fn workers(text: &str) -> Result<std::num::NonZeroUsize, String> {
    text.parse()
        .map_err(|_| "allowed is a whole number of 1 or more".to_owned())
}
