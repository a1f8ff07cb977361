//! Parts of a report that other modules provide, and the reasons why a report cannot be made.

use std::path::PathBuf;

use crate::frames::PolarsError;

use super::folder_fault::FolderFault;
use super::labels::LabelError;
use super::table::Table;
use bookahead_lab::store::{QueryError, StoreError};

/// A drawing of a plan in the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanSection {
    /// Its heading.
    pub title: String,
    /// The drawing, an `<svg>` element.
    pub svg: String,
    /// The page that zooms, relative to the report's folder.
    pub page: String,
    /// What a reader must know.
    pub note: String,
}

/// Which findings of a paper held.
#[derive(Clone, Debug, PartialEq)]
pub struct ClaimsSection {
    /// The paper.
    pub title: String,
    /// One sentence: how many held, missed, and were not tested.
    pub tally: String,
    /// How many of them were missed.
    pub missed: usize,
    /// One row a claim.
    pub table: Table,
}

/// What stands above a page that a server hands out, because no folder is beside it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Other pages, as address and name.
    pub links: Vec<(String, String)>,
    /// The command that writes the page into a folder with all its files.
    pub command: String,
    /// The address of the page that draws plans, of a page about one run: marks lead to it.
    pub plans: Option<String>,
    /// The number of the run where it is under way: its page tells how far it has come.
    pub under_way: Option<i64>,
}

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The store cannot be read, or has no such run.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of the report cannot be written.
    #[error("cannot write `{path}`: {source}; check the folder, or choose another one")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The folder has something that a report leaves alone.
    #[error(transparent)]
    Folder(#[from] FolderFault),
    /// Labels of the reader cannot be used.
    #[error("cannot use the labels of `{path}`: {source}")]
    Labels {
        /// Their file.
        path: PathBuf,
        /// Why.
        source: LabelError,
    },
    /// The columns of the store could not be folded.
    #[error("cannot compute the tables: {0}; this is a fault of the program, please report it")]
    Compute(#[from] PolarsError),
    /// A question of a report is not one that the store understands.
    #[error("cannot ask the store: {0}; this is a fault of the program, please report it")]
    Question(#[from] QueryError),
}
