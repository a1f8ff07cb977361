//! `bookahead list WHAT`: what an experiment file, a command or a folder of inputs can name.
//!
//! Everything here is read off the declarations of the program, but for the files of the catalogue,
//! which are looked for in the folders of inputs.

pub mod keys;
pub mod known_traces;
pub mod metrics;
pub mod schema;
pub mod strategies;

use std::process::ExitCode;

use clap::{Args, Subcommand};

use super::screen::LookError;

/// Lists what an experiment file, a command or a folder of inputs can name.
#[derive(Clone, Debug, Args)]
#[command(subcommand_value_name = "WHAT")]
#[command(after_help = "\
Examples:
  bookahead list strategies
  bookahead list keys acceptance
  bookahead list metrics wait
  bookahead list traces --json
  bookahead list schema --out experiment.schema.json")]
pub struct ListArguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Clone, Debug, Subcommand)]
enum What {
    /// List policies, studies, and everything else that experiment files name
    Strategies(strategies::StrategiesArguments),
    /// List the tables of experiment files, or explain keys
    Keys(keys::KeysArguments),
    /// List the quantities that are measured
    Metrics(metrics::MetricsArguments),
    /// List the known traces, failure tables and workflows, and which of them are available
    Traces(known_traces::KnownTracesArguments),
    /// Print the JSON Schema of experiment files, for completion and checks in editors
    Schema(schema::SchemaArguments),
}

/// Prints the list.
///
/// # Errors
///
/// When nothing has the given name, or the list cannot be written.
pub fn execute(arguments: &ListArguments) -> Result<ExitCode, LookError> {
    match &arguments.what {
        What::Strategies(arguments) => strategies::execute(arguments)?,
        What::Keys(arguments) => keys::execute(arguments)?,
        What::Metrics(arguments) => metrics::execute(arguments)?,
        What::Traces(arguments) => return known_traces::execute(arguments),
        What::Schema(arguments) => schema::execute(arguments)?,
    }
    Ok(ExitCode::SUCCESS)
}
