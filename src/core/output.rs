//! How files come about that a user asked for.
//!
//! A file is written beside its place under a name of this program, synced, and moved to its place
//! when it is whole. Folders are held open, and what is written, read or deleted in them is reached
//! without following links: what a stranger put into a folder leads nowhere else. What a killed
//! writer left goes with the next file that is written into the same folder.

mod file;
mod folder;
mod leftovers;
mod refusal;
#[cfg(test)]
mod tests;

pub use file::{OutputFile, append, write_file};
pub use folder::{FolderLock, OutputFolder};
pub use refusal::OutputRefusal;
