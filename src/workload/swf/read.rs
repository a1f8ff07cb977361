//! Streaming a trace record by record from plain, gzip or xz files, told apart by their first bytes.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use memchr::memchr;

use super::error::SwfError;
use super::header::SwfHeader;
use super::parse::{Fault, parse_record};
use super::record::{FIELD_NAMES, SwfRecord};

const BUFFER_BYTES: usize = 1 << 18;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const XZ_MAGIC: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0x00];

/// Reads records one by one, in the order of the file; memory does not grow with the file, apart from header lines.
///
/// After an error the iterator ends.
pub struct SwfReader<R> {
    input: R,
    path: PathBuf,
    compression: Option<&'static str>,
    header: SwfHeader,
    line: u64,
    rounded_decimals: u64,
    records: u64,
    unfinished_line: Vec<u8>,
    ended: bool,
}

enum Line {
    Unfinished,
    Blank,
    Comment(String),
    Record(SwfRecord, u32),
    Faulty(Fault),
}

impl SwfReader<Box<dyn BufRead + Send>> {
    /// Opens a file; gzip and xz are recognised by their first bytes, whatever the name says.
    ///
    /// # Errors
    /// [`SwfError::Read`] where the file cannot be opened or read.
    pub fn open(path: &Path) -> Result<Self, SwfError> {
        let fault = |source| SwfError::Read {
            path: path.to_owned(),
            source,
        };
        let mut file = File::open(path).map_err(fault)?;
        let mut magic = Vec::with_capacity(XZ_MAGIC.len());
        Read::by_ref(&mut file)
            .take(XZ_MAGIC.len() as u64)
            .read_to_end(&mut magic)
            .map_err(fault)?;
        file.seek(SeekFrom::Start(0)).map_err(fault)?;
        let plain = BufReader::with_capacity(BUFFER_BYTES, file);
        let (input, compression): (Box<dyn BufRead + Send>, _) = if magic.starts_with(GZIP_MAGIC) {
            let decoder = MultiGzDecoder::new(plain);
            (
                Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder)),
                Some("gzip"),
            )
        } else if magic.starts_with(XZ_MAGIC) {
            let decoder = XzDecoder::new_multi_decoder(plain);
            (
                Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder)),
                Some("xz"),
            )
        } else {
            (Box::new(plain), None)
        };
        Ok(Self {
            compression,
            ..SwfReader::new(input, path.to_owned())
        })
    }
}

impl<R: BufRead> SwfReader<R> {
    /// Reads from anything; `path` is only for messages.
    pub fn new(input: R, path: PathBuf) -> Self {
        Self {
            input,
            path,
            compression: None,
            header: SwfHeader::default(),
            line: 0,
            rounded_decimals: 0,
            records: 0,
            unfinished_line: Vec::new(),
            ended: false,
        }
    }

    /// The comment lines met so far; complete after the last record.
    #[must_use]
    pub fn header(&self) -> &SwfHeader {
        &self.header
    }

    /// Gives up the reader for the comment lines that it met.
    #[must_use]
    pub fn into_header(self) -> SwfHeader {
        self.header
    }

    /// Fields of whole numbers that held a decimal so far and were rounded half away from zero.
    #[must_use]
    pub fn rounded_decimals(&self) -> u64 {
        self.rounded_decimals
    }

    /// Lines read so far.
    #[must_use]
    pub fn lines(&self) -> u64 {
        self.line
    }

    fn next_record(&mut self) -> Result<Option<SwfRecord>, SwfError> {
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(source) if source.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(source) => return Err(self.read_fault(source)),
            };
            let at_end = buffer.is_empty();
            let (line, used) = match memchr(b'\n', buffer) {
                Some(end) if self.unfinished_line.is_empty() => (classify(&buffer[..end]), end + 1),
                Some(end) => {
                    self.unfinished_line.extend_from_slice(&buffer[..end]);
                    (classify(&self.unfinished_line), end + 1)
                }
                None if at_end && self.unfinished_line.is_empty() => return self.finish(),
                None if at_end => (classify(&self.unfinished_line), 0),
                None => {
                    self.unfinished_line.extend_from_slice(buffer);
                    (Line::Unfinished, buffer.len())
                }
            };
            self.input.consume(used);
            if matches!(line, Line::Unfinished) {
                continue;
            }
            self.unfinished_line.clear();
            self.line += 1;
            match line {
                Line::Unfinished | Line::Blank => {}
                Line::Comment(text) => self.header.lines.push(text),
                Line::Record(record, rounded) => {
                    self.rounded_decimals += u64::from(rounded);
                    self.records += 1;
                    return Ok(Some(record));
                }
                Line::Faulty(fault) => return Err(self.line_fault(fault)),
            }
        }
    }

    fn finish(&mut self) -> Result<Option<SwfRecord>, SwfError> {
        if self.records == 0 {
            return Err(SwfError::Empty {
                path: self.path.clone(),
                lines: self.line,
            });
        }
        Ok(None)
    }

    fn read_fault(&self, source: std::io::Error) -> SwfError {
        let path = self.path.clone();
        match self.compression {
            Some(format) => SwfError::Decompression {
                path,
                format,
                line: self.line,
                source,
            },
            None => SwfError::Read { path, source },
        }
    }

    fn line_fault(&self, fault: Fault) -> SwfError {
        let path = self.path.clone();
        let line = self.line;
        match fault {
            Fault::TooFewFields { found } => SwfError::TooFewFields { path, line, found },
            Fault::TooManyFields => SwfError::TooManyFields { path, line },
            Fault::NotANumber { field, text } => SwfError::NotANumber {
                path,
                line,
                field: field + 1,
                name: FIELD_NAMES[field],
                text,
            },
            Fault::OutOfRange { field, text } => SwfError::OutOfRange {
                path,
                line,
                field: field + 1,
                name: FIELD_NAMES[field],
                text,
            },
        }
    }
}

impl<R: BufRead> Iterator for SwfReader<R> {
    type Item = Result<SwfRecord, SwfError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let next = self.next_record().transpose();
        self.ended = !matches!(next, Some(Ok(_)));
        next
    }
}

fn classify(line: &[u8]) -> Line {
    let blanks = line
        .iter()
        .take_while(|byte| byte.is_ascii_whitespace())
        .count();
    match line.get(blanks) {
        None => Line::Blank,
        Some(b';') => Line::Comment(text(line)),
        Some(_) => match parse_record(line) {
            Ok((record, rounded)) => Line::Record(record, rounded),
            Err(fault) => Line::Faulty(fault),
        },
    }
}

/// A comment line as text. Old logs name people in Latin-1, so what is not UTF-8 is read as that.
fn text(line: &[u8]) -> String {
    let line = line.trim_ascii_end();
    match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => line.iter().map(|&byte| char::from(byte)).collect(),
    }
}
