//! CSV: rows of a table for a [`Mapping`].

use std::cell::Cell as Shared;
use std::io::{self, Read};
use std::path::Path;
use std::rc::Rc;

use super::collector::{ImportSettings, ImportedTrace};
use super::error::ImportError;
use super::local_time::LocalTimes;
use super::mapping::{Cell, Mapping, MappingReader};

/// The longest row: a quotation mark that nobody closes would otherwise make one of the whole file.
const LONGEST_ROW_BYTES: u64 = 4 << 20;

/// Reads a table with a mapping.
///
/// # Errors
/// [`ImportError`]: the file cannot be read, the mapping names other columns, or no job is left.
pub fn read_delimited(
    input: impl Read,
    path: &Path,
    mapping: &Mapping,
    settings: ImportSettings,
    times: &mut LocalTimes,
) -> Result<ImportedTrace, ImportError> {
    let since_row = Rc::new(Shared::new(0));
    let bounded = Bounded {
        input,
        since_row: Rc::clone(&since_row),
    };
    // Cast of an ASCII character, which `check` asks for.
    let separator = mapping.separator.unwrap_or(',') as u8;
    let mut rows = csv::ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(mapping.columns.is_none())
        .flexible(true)
        .from_reader(bounded);
    let fault = |source: csv::Error| ImportError::Read {
        path: path.to_owned(),
        source: match source.into_kind() {
            csv::ErrorKind::Io(source) => source,
            other => io::Error::other(format!("{other:?}")),
        },
    };
    let columns: Vec<String> = match &mapping.columns {
        Some(columns) => columns.clone(),
        None => {
            let heading = rows.byte_headers().map_err(fault)?;
            let names = heading.iter().map(|name| {
                let name = name.strip_prefix("\u{feff}".as_bytes()).unwrap_or(name);
                String::from_utf8_lossy(name.trim_ascii()).into_owned()
            });
            names.collect()
        }
    };
    let mut reader = MappingReader::new(mapping, &columns, path, settings, times)?;
    let mut row = csv::ByteRecord::new();
    let mut cells = Vec::with_capacity(columns.len());
    loop {
        since_row.set(0);
        if !rows.read_byte_record(&mut row).map_err(fault)? {
            break;
        }
        let line = row.position().map_or(0, csv::Position::line);
        if row.len() != columns.len() {
            reader.broken_row(line);
            continue;
        }
        cells.clear();
        cells.extend((0..row.len()).map(|place| match &row[place] {
            [] => Cell::Missing,
            text => Cell::Text(text),
        }));
        // The cells end with the row.
        reader.row(&cells, line)?;
        cells = reuse(cells);
    }
    reader.finish()
}

/// An empty vector with the room of another, whose content has another lifetime.
fn reuse<'a>(mut cells: Vec<Cell<'_>>) -> Vec<Cell<'a>> {
    cells.clear();
    cells.into_iter().map(|_| Cell::Missing).collect()
}

/// Refuses rows that do not end.
struct Bounded<R> {
    input: R,
    since_row: Rc<Shared<u64>>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.since_row.get() > LONGEST_ROW_BYTES {
            return Err(io::Error::other(format!(
                "a row has more than {} MB; is a quotation mark not closed?",
                LONGEST_ROW_BYTES >> 20
            )));
        }
        let read = self.input.read(buffer)?;
        self.since_row.set(self.since_row.get() + read as u64);
        Ok(read)
    }
}
