//! Why stores cannot be joined.

use std::path::PathBuf;

use crate::store::StoreError;

/// Every way in which stores can refuse to be joined, with the files and the remedy in the message.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// One of the stores cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Runs of one experiment differ in what determines their results.
    #[error(
        "`{name}` is not the same experiment in `{one}` and in `{other}`: {difference}. Nothing was \
         written; {advice}"
    )]
    Disagree {
        /// The experiment's name.
        name: String,
        /// A store.
        one: PathBuf,
        /// Another store.
        other: PathBuf,
        /// In what they differ.
        difference: String,
        /// What to do.
        advice: &'static str,
    },
    /// Stores contradict each other.
    #[error("`{one}` and `{other}` contradict each other: {what}. Nothing was written; {advice}")]
    Conflict {
        /// A store.
        one: PathBuf,
        /// Another store.
        other: PathBuf,
        /// About what.
        what: String,
        /// What to do.
        advice: &'static str,
    },
    /// A program writes to the store that is to take the others in.
    #[error(
        "a program is running `{name}` into `{path}`, and nothing of `{name}` was written: wait until it is done, or join into \
         another file"
    )]
    Running {
        /// The store.
        path: PathBuf,
        /// The experiment.
        name: String,
    },
    /// Another program wrote to the store while this one was comparing.
    #[error(
        "another program wrote results of `{name}` into `{path}` while the stores were compared, and nothing of `{name}` was \
         written: run the same command again"
    )]
    Meanwhile {
        /// The store.
        path: PathBuf,
        /// The experiment.
        name: String,
    },
    /// The schema has a table that does not say what it belongs to.
    #[error(
        "the table `{table}` of `{path}` refers to no other table, so that nobody knows where its rows belong; this is a \
         fault of the program, please report it"
    )]
    UnknownTable {
        /// The store.
        path: PathBuf,
        /// The table.
        table: String,
    },
    /// There is nothing in the inputs.
    #[error("none of the {stores} stores has a run: `bookahead run CONFIG --shard I/N` makes one")]
    Nothing {
        /// How many there are.
        stores: usize,
    },
}
