//! `bookahead backup STORE TO`: a copy of a store, while a sweep may be writing to it.

use std::path::PathBuf;

use super::screen::LookError;
use crate::cli::studies;
use crate::store::Store;
use crate::sweep::while_working;

/// Copies a store.
#[derive(Clone, Debug, clap::Args)]
pub struct BackupArguments {
    /// The store to copy
    pub store: PathBuf,
    /// The copy: a file that is not there yet
    pub to: PathBuf,
}

/// Copies the store as it is at one instant, compares the copy with what was written, and gives it
/// its name.
///
/// # Errors
///
/// When the store cannot be read, the copy cannot be written, or rows are not as they were written.
pub fn execute(arguments: &BackupArguments) -> Result<(), LookError> {
    let store = Store::open_read_only(studies(), &arguments.store)?;
    let found = while_working("copying the store", false, || store.back_up(&arguments.to))?;
    super::say(format_args!(
        "{}: {}",
        arguments.to.display(),
        found.summary()
    ));
    Ok(())
}
