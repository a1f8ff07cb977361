//! The formats in which a table leaves the program: one file each.

mod csv;
pub mod inline;
mod latex;
mod markdown;
mod parquet;
mod terminal;
pub mod tex;

use std::io;

pub use csv::Csv;
pub(super) use csv::inert;
pub use latex::Latex;
pub(crate) use latex::write_float;
pub use markdown::Markdown;
pub use parquet::{ColumnKind, Parquet, ParquetRows};
pub use terminal::Terminal;

use super::Table;

/// A format that a table can be written in.
pub trait TableFormat {
    /// The extension of its files, without a dot.
    fn extension(&self) -> &'static str;

    /// Writes the table.
    ///
    /// # Errors
    ///
    /// When the target cannot be written.
    fn write(&self, table: &Table, target: &mut dyn io::Write) -> io::Result<()>;
}
