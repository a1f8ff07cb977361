//! The memory that the pages of a Parquet file take when they are unpacked, computed before the
//! first one is.
//!
//! The Parquet reader unpacks a page as a whole, allocates as many values of a dictionary as the
//! page claims to have, and reads a gzip page to its end, whatever size it claims. So a small file
//! may ask for any amount of memory. Here the heads of all pages are read first, and gzip pages are
//! unpacked once, piece by piece.

use std::fs::File;
use std::io::{self, Read as _};

use bookahead_core::memory::{MemoryBudget, OverBudget};
use flate2::read::MultiGzDecoder;
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::FOOTER_SIZE;
use parquet::file::metadata::{ColumnChunkMetaData, FooterTail, ParquetMetaData};
use parquet::file::reader::{ChunkReader as _, Length as _};
use polars_parquet_format::thrift::protocol::TCompactInputProtocol;
use polars_parquet_format::{Encoding, PageHeader, PageType};
use thiserror::Error;

/// The longest head of a page: writers cut the statistics in it to a few kilobytes.
const LONGEST_HEAD_BYTES: u64 = 64 << 10;

/// What the reader makes of a byte of the list of columns at most: names of a letter, and room for
/// what is said of them.
const BYTES_A_FOOTER_BYTE: usize = 128;

/// What the reader keeps for a value of a dictionary, beside its bytes.
const BYTES_A_DICTIONARY_VALUE: u64 = 32;

/// Why the pages of a file are not read.
#[derive(Debug, Error)]
pub(super) enum PageError {
    /// Its heads make no sense.
    #[error("the column {column} is damaged: {what}")]
    Damaged { column: String, what: &'static str },
    /// Lengths of texts are packed by themselves, so any number of them may stand in a few bytes.
    #[error(
        "the column {column} has the encoding {encoding}, which is not read as it may take any amount of memory; write the file \
         with plain or dictionary encoding, as most programs do by default"
    )]
    Encoding {
        column: String,
        encoding: &'static str,
    },
    /// The list of its columns and groups of rows has no room.
    #[error("the list of its columns and groups of rows is too large: {0}")]
    Footer(OverBudget),
    /// Unpacked they have no room.
    #[error("the column {column}: {over}")]
    TooLarge { column: String, over: OverBudget },
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ParquetError),
}

/// Refuses a file whose list of columns and groups of rows, which stands at its end, has no room in
/// the budget.
///
/// # Errors
/// [`PageError`].
pub(super) fn check_footer(file: &File, memory: MemoryBudget) -> Result<(), PageError> {
    let Some(start) = file.len().checked_sub(FOOTER_SIZE as u64) else {
        return Ok(());
    };
    let mut tail = [0; FOOTER_SIZE];
    tail.copy_from_slice(&file.get_bytes(start, FOOTER_SIZE)?);
    let length = FooterTail::try_new(&tail)?.metadata_length() as u64;
    (memory.check(length, BYTES_A_FOOTER_BYTE, "bytes of it")).map_err(PageError::Footer)
}

/// Refuses columns with pages that have no room in the budget, all columns of a group of rows
/// together.
///
/// # Errors
/// [`PageError`].
pub(super) fn check(
    file: &File,
    metadata: &ParquetMetaData,
    columns: &[String],
    memory: MemoryBudget,
) -> Result<(), PageError> {
    for group in metadata.row_groups() {
        let mut taken = 0;
        for column in group.columns() {
            let name = column.column_descr().name();
            if columns.iter().any(|wanted| wanted == name) {
                taken += largest(file, column, memory.without(taken))?;
            }
        }
    }
    Ok(())
}

/// What reading a column takes at most at once: its dictionary and its largest page.
fn largest(
    file: &File,
    column: &ColumnChunkMetaData,
    memory: MemoryBudget,
) -> Result<u64, PageError> {
    let name = || column.column_descr().name().to_owned();
    let damaged = |what| PageError::Damaged {
        column: name(),
        what,
    };
    let (mut at, mut rest) = column.byte_range();
    let (mut dictionary, mut page) = (0_u64, 0_u64);
    while rest > 0 {
        let bytes = file.get_bytes(at, rest.min(LONGEST_HEAD_BYTES) as usize)?;
        let mut behind: &[u8] = &bytes;
        // What is read beside the bytes themselves is a few numbers.
        let mut protocol = TCompactInputProtocol::new(&mut behind, 4 * bytes.len());
        let head = PageHeader::read_from_in_protocol(&mut protocol)
            .map_err(|_| damaged("the head of a page cannot be read"))?;
        let head_bytes = (bytes.len() - behind.len()) as u64;
        let packed = u64::try_from(head.compressed_page_size)
            .ok()
            .filter(|packed| head_bytes + packed <= rest)
            .ok_or_else(|| damaged("a page is longer than its column"))?;
        let unpacked = u64::try_from(head.uncompressed_page_size)
            .map_err(|_| damaged("a page has a negative size"))?;
        let values = head.dictionary_page_header.as_ref();
        let values = values.map_or(0, |dictionary| dictionary.num_values);
        let values =
            u64::try_from(values).map_err(|_| damaged("a dictionary has a negative size"))?;
        refuse_encoding(&head).map_err(|encoding| PageError::Encoding {
            column: name(),
            encoding,
        })?;
        let takes = packed + unpacked + values * BYTES_A_DICTIONARY_VALUE;
        match head.type_ {
            PageType::DICTIONARY_PAGE => dictionary = dictionary.max(takes),
            _ => page = page.max(takes),
        }
        (memory.check(dictionary + page, 1, "bytes of unpacked pages")).map_err(|over| {
            PageError::TooLarge {
                column: name(),
                over,
            }
        })?;
        if matches!(column.compression(), Compression::GZIP(_))
            && !is_as_long(file, at + head_bytes, packed, &head)?
        {
            return Err(damaged("a page unpacks to more than it says"));
        }
        at += head_bytes + packed;
        rest -= head_bytes + packed;
    }
    Ok(dictionary + page)
}

/// The name of an encoding that is not read.
fn refuse_encoding(head: &PageHeader) -> Result<(), &'static str> {
    let first = head.data_page_header.as_ref().map(|page| page.encoding);
    let second = head.data_page_header_v2.as_ref().map(|page| page.encoding);
    for encoding in [first, second].into_iter().flatten() {
        match encoding {
            Encoding::DELTA_LENGTH_BYTE_ARRAY => return Err("DELTA_LENGTH_BYTE_ARRAY"),
            Encoding::DELTA_BYTE_ARRAY => return Err("DELTA_BYTE_ARRAY"),
            _ => {}
        }
    }
    Ok(())
}

/// Whether a page of gzip has at most as many bytes as its head says.
fn is_as_long(file: &File, at: u64, packed: u64, head: &PageHeader) -> Result<bool, PageError> {
    let said = u64::try_from(head.uncompressed_page_size).unwrap_or(0);
    let (mut levels, mut is_packed) = (0, true);
    if let Some(page) = &head.data_page_header_v2 {
        // Levels of the second version of pages stand unpacked in front.
        let lengths = [
            page.definition_levels_byte_length,
            page.repetition_levels_byte_length,
        ];
        levels = (lengths.into_iter())
            .map(|length| u64::try_from(length).unwrap_or(0))
            .sum();
        is_packed = page.is_compressed.unwrap_or(true);
    }
    if !is_packed || packed <= levels {
        return Ok(true);
    }
    let input = file.get_read(at + levels)?.take(packed - levels);
    let mut unpacked = MultiGzDecoder::new(input).take(said + 1);
    // A page that cannot be unpacked is refused by the reader.
    let length = io::copy(&mut unpacked, &mut io::sink()).unwrap_or(0);
    Ok(levels + length <= said)
}
