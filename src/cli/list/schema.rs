//! `bookahead list schema`: the JSON Schema of experiment files.

use crate::cli::studies;
use crate::sweep::keys::Keys;
use std::io::Write as _;
use std::path::PathBuf;

use crate::cli::screen::{LookError, write_whole};

/// Prints the JSON Schema of experiment files, or writes it into a file.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
An experiment file that begins with `#:schema PATH` is completed and checked by editors that understand TOML schemas (taplo, Even Better TOML). \
Experiments in `configs` name docs/experiment.schema.json; git does not keep that file, the second example makes it.

Examples:
  bookahead list schema --out experiment.schema.json
  bookahead list schema --out docs/experiment.schema.json      in the project's folder
  bookahead list schema | jq '.\"$defs\".\"acceptance.pof_max\"'")]
pub struct SchemaArguments {
    /// Write to this file instead of standard output; it appears once it is complete
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// Prints or writes it.
///
/// # Errors
///
/// When the file or standard output cannot be written.
pub fn execute(arguments: &SchemaArguments) -> Result<(), LookError> {
    let text = format!("{:#}\n", Keys::of(studies()).schema());
    match &arguments.out {
        Some(path) => write_whole(path, |file| Ok(file.write_all(text.as_bytes())?)),
        None => Ok(crate::cli::output::people().write_all(text.as_bytes())?),
    }
}
