//! Why something is not written at all.

use std::io;
use std::path::{Path, PathBuf};

use crate::printable::printable;

/// Why something is not written at all: what stands at its place is nothing that this program
/// replaces.
#[derive(Debug, thiserror::Error)]
pub enum OutputRefusal {
    /// A link at the place of a file.
    #[error("it is a link to `{}`, which is not followed: name that file itself, or remove the link", shown(.0))]
    Link(PathBuf),
    /// A link on the way to a file.
    #[error(
        "`{}` is a link to `{}`, which is not followed: name that folder itself, or remove the link",
        shown(.path), shown(.target)
    )]
    FolderLink {
        /// The link.
        path: PathBuf,
        /// Where it leads.
        target: PathBuf,
    },
    /// A folder at the place of a file.
    #[error("it is a folder: name a file in it")]
    Folder,
    /// A file at the place of a folder.
    #[error("`{}` is no folder: name another one, or move it away", shown(.0))]
    NoFolder(PathBuf),
    /// A pipe, a socket or a device at the place of a file.
    #[error("it is {0}, not a regular file: name another one")]
    Special(&'static str),
    /// A name that says no file, such as `..`.
    #[error("it is not the name of a file: name a file")]
    NoName,
    /// A file that is larger than anything this program would have written there.
    #[error("it has more than {0} bytes, so this program did not write it: move it away")]
    Large(u64),
    /// Another process writes into the folder.
    #[error(
        "another process has been writing into this folder for {0} s: wait for it, or name another folder"
    )]
    Busy(u64),
}

impl From<OutputRefusal> for io::Error {
    fn from(refusal: OutputRefusal) -> Self {
        let kind = match refusal {
            OutputRefusal::Busy(_) => io::ErrorKind::ResourceBusy,
            _ => io::ErrorKind::InvalidInput,
        };
        Self::new(kind, refusal)
    }
}

fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy()).into_owned()
}
