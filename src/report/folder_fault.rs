//! Why a report leaves a folder alone.

use std::path::{Path, PathBuf};

use bookahead_core::printable::printable;

/// Why a report leaves a folder alone.
#[derive(Debug, thiserror::Error)]
pub enum FolderFault {
    /// The folder, or a part of it, cannot be opened, or is nothing that a report opens.
    #[error("cannot write a report into `{}`: {source}; nothing was written or deleted there", shown(.folder))]
    Folder {
        /// The folder of the report.
        folder: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The list of an earlier report cannot be read.
    #[error(
        "cannot read `{}`, the list of an earlier report's files: {source}; nothing was written or deleted: move it away, or name \
         another folder",
        shown(.list)
    )]
    Unreadable {
        /// The list.
        list: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The list names something that no report writes.
    #[error(
        "`{}`, line {line}: `{}` is no file of a report, which has plain names below its folder, tables, plots and experiments; \
         nothing was written or deleted: move the list away, or name another folder",
        shown(.list), printable(.text)
    )]
    Line {
        /// The list.
        list: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What stands there, at most a hundred characters of it.
        text: String,
    },
    /// Files stand where the report's would, and no report wrote them as they are.
    #[error(
        "`{}` holds files that no report wrote, or that were changed since: {}; nothing was written or deleted: move them away, or \
         name another folder",
        shown(.folder), briefly(.names)
    )]
    Foreign {
        /// The folder of the report.
        folder: PathBuf,
        /// Their names in it.
        names: Vec<String>,
    },
    /// A file of the report would have a name that leads elsewhere, or that no report reads back.
    #[error("`{}` cannot be the name of a file in a report: give the run or its metric another name", printable(.0))]
    Name(String),
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}

/// The first names, and how many more there are.
pub(super) fn briefly(names: &[String]) -> String {
    const FIRST: usize = 5;
    let first: Vec<String> = names
        .iter()
        .take(FIRST)
        .map(|name| printable(name).into_owned())
        .collect();
    match names.len().saturating_sub(FIRST) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
