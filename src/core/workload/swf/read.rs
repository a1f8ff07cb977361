//! Streaming a trace record by record from plain, gzip or xz files, told apart by their first
//! bytes.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use memchr::memchr;

use super::super::input_file;
use super::error::SwfError;
use super::header::SwfHeader;
use super::parse::{Fault, parse_record};
use super::record::{FIELD_NAMES, SwfRecord};

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The longest line. Records have about a hundred bytes, comments of the archive up to some
/// hundred.
const LONGEST_LINE_BYTES: usize = 64 << 10;
/// What the comment lines of a file may hold together; the longest header of the archive has 8 KB.
const LARGEST_HEADER_BYTES: usize = 4 << 20;

/// Reads records one by one, in the order of the file; memory does not grow with the file, apart
/// from header lines.
///
/// After an error the iterator ends.
pub struct SwfReader<R> {
    input: R,
    path: PathBuf,
    compression: Option<&'static str>,
    header: SwfHeader,
    header_bytes: usize,
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
        let (input, compression) = input_file::open(path).map_err(fault)?;
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
            header_bytes: 0,
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
            if self.unfinished_line.is_empty() {
                let blank = buffer.iter().take_while(|byte| **byte == b'\n').count();
                if blank > 1 {
                    self.line += blank as u64;
                    self.input.consume(blank);
                    continue;
                }
            }
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
                if self.unfinished_line.len() > LONGEST_LINE_BYTES {
                    return Err(SwfError::LineTooLong {
                        path: self.path.clone(),
                        line: self.line + 1,
                        most: LONGEST_LINE_BYTES,
                    });
                }
                continue;
            }
            self.unfinished_line.clear();
            self.line += 1;
            match line {
                Line::Unfinished | Line::Blank => {}
                Line::Comment(text) => {
                    self.header_bytes += text.len() + size_of::<String>();
                    if self.header_bytes > LARGEST_HEADER_BYTES {
                        return Err(SwfError::HeaderTooLarge {
                            path: self.path.clone(),
                            line: self.line,
                            most: LARGEST_HEADER_BYTES >> 20,
                        });
                    }
                    self.header.lines.push(text);
                }
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
        let is_known_trace = self.records > 0;
        match fault {
            Fault::NotANumber { field: 0, .. } if !is_known_trace => {
                SwfError::NotATrace { path, line }
            }
            Fault::TooFewFields { found } => SwfError::TooFewFields { path, line, found },
            Fault::TooManyFields => SwfError::TooManyFields { path, line },
            Fault::NotANumber { field, text } => SwfError::NotANumber {
                path,
                line,
                field: field + 1,
                name: FIELD_NAMES[field],
                // Before the first record this may be any file, whose content is nobody's business.
                text: is_known_trace.then_some(text),
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
    // Editors of some systems put a byte order mark before the first line.
    let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
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

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Write};

    use super::*;

    const GOOD: &str = "1 0 5 50 4 1.5 -1 4 100 -1 1 1 1 1 1 -1 -1 -1";

    fn read(bytes: &[u8]) -> Result<(Vec<SwfRecord>, SwfHeader), SwfError> {
        // A tiny buffer, so that every line is cut somewhere.
        let input = BufReader::with_capacity(7, bytes);
        let mut reader = SwfReader::new(input, PathBuf::from("log.swf"));
        let records = reader.by_ref().collect::<Result<Vec<_>, _>>()?;
        Ok((records, reader.into_header()))
    }

    fn read_file(bytes: &[u8]) -> Result<usize, SwfError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.swf");
        std::fs::write(&path, bytes).unwrap();
        SwfReader::open(&path)?.try_fold(0, |count, record| record.map(|_| count + 1))
    }

    #[test]
    fn comments_blank_lines_and_line_ends_of_any_kind_are_no_records() {
        let text = format!("; A: 1\r\n\n  \t\n{GOOD}\r\n; B: 2\n\t{GOOD}  \n{GOOD}");
        let (records, header) = read(text.as_bytes()).unwrap();
        assert_eq!(records.len(), 3);
        assert!(records.iter().all(|record| *record == records[0]));
        assert_eq!(header.lines, ["; A: 1", "; B: 2"]);
    }

    #[test]
    fn a_byte_order_mark_was_taken_for_a_number_and_is_passed_over() {
        for text in [
            format!("\u{feff}; A: 1\n{GOOD}\n"),
            format!("\u{feff}{GOOD}\n"),
        ] {
            assert_eq!(read(text.as_bytes()).unwrap().0.len(), 1);
        }
    }

    #[test]
    fn a_name_in_latin_1_is_read_as_such() {
        let text = [b"; Acknowledge: \xc5ke Sandgren\n", GOOD.as_bytes()].concat();
        let (_, header) = read(&text).unwrap();
        assert_eq!(header.acknowledgement().as_deref(), Some("Åke Sandgren"));
    }

    #[test]
    fn every_fault_names_file_and_line() {
        let cut = &GOOD[..20];
        for (text, part) in [
            (
                format!("; x\n{GOOD}\n{cut}\n"),
                "log.swf, line 3: the record is cut short: 8 of 18",
            ),
            (
                format!("{GOOD} 7\n"),
                "log.swf, line 1: the record has more than the 18 fields",
            ),
            (
                format!("{GOOD}\n{}", GOOD.replace(" 50 ", " soon ")),
                "log.swf, line 2: field 4 (run time) is \"soon\", which is not a number",
            ),
            (
                GOOD.replace(" 50 ", " soon "),
                "log.swf, line 1: field 4 (run time) is not a number",
            ),
            (
                format!("{GOOD}\n\n{}", GOOD.replace(" 100 ", " 99999999999 ")),
                "log.swf, line 3: field 9 (requested time) is 99999999999, larger",
            ),
            (
                "; only: comments\n;\n".to_owned(),
                "log.swf: the trace is empty: no record in 2 lines",
            ),
            (
                String::new(),
                "log.swf: the trace is empty: no record in 0 lines",
            ),
        ] {
            let message = read(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains(part), "{message}\nlacks {part}");
        }
    }

    #[test]
    fn the_content_of_a_file_that_is_no_trace_is_not_shown() {
        for text in ["root:secret:19000::\n", "-secret\n", "1 2 3 secret\n"] {
            let message = read(text.as_bytes()).unwrap_err().to_string();
            assert!(message.contains("log.swf, line 1"), "{message}");
            assert!(!message.contains("secret"), "{message}");
        }
    }

    /// The same bytes over and over, without end.
    struct Endless(&'static [u8]);

    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len() / self.0.len() * self.0.len();
            for chunk in buffer[..length].chunks_exact_mut(self.0.len()) {
                chunk.copy_from_slice(self.0);
            }
            Ok(length)
        }
    }

    #[test]
    fn lines_and_headers_without_end_are_refused_before_memory_is() {
        for (bytes, part) in [
            (&b"\0"[..], "line 1: the line has more than 65536 bytes"),
            (b" ", "line 1: the line has more than 65536 bytes"),
            (b"7", "line 1: the line has more than 65536 bytes"),
            (b";x", "line 1: the line has more than 65536 bytes"),
            (b";\n", "the comment lines have more than 4 MB"),
            (b";x\n", "the comment lines have more than 4 MB"),
        ] {
            let input = BufReader::with_capacity(1 << 18, Endless(bytes));
            let mut reader = SwfReader::new(input, PathBuf::from("log.swf"));
            let message = reader.next().unwrap().unwrap_err().to_string();
            assert!(message.contains(part), "{message}\nlacks {part}");
        }
    }

    #[test]
    fn blank_lines_are_counted_and_cost_nothing() {
        let text = format!("{}{GOOD}\n\n\n\nx {GOOD}\n", "\n".repeat(1 << 20));
        let input = BufReader::with_capacity(1 << 18, text.as_bytes());
        let mut reader = SwfReader::new(input, PathBuf::from("log.swf"));
        assert!(reader.next().unwrap().is_ok());
        let message = reader.next().unwrap().unwrap_err().to_string();
        assert!(message.contains("line 1048581: field 1"), "{message}");
    }

    #[test]
    fn nothing_follows_an_error() {
        let text = format!("oops\n{GOOD}\n");
        let mut reader = SwfReader::new(text.as_bytes(), PathBuf::from("log.swf"));
        assert!(reader.next().is_some_and(|record| record.is_err()));
        assert!(reader.next().is_none());
    }

    #[test]
    fn compressed_files_are_recognised_by_their_content_and_damage_is_an_error() {
        let text = format!("{GOOD}\n").repeat(2_000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
        xz.write_all(text.as_bytes()).unwrap();
        let xz = xz.finish().unwrap();
        for (format, bytes) in [("gzip", &gzip), ("xz", &xz)] {
            assert_eq!(read_file(bytes).unwrap(), 2_000);
            // Two members after each other are one file.
            assert_eq!(
                read_file(&[&bytes[..], &bytes[..]].concat()).unwrap(),
                4_000
            );
            let cut = read_file(&bytes[..bytes.len() - 9]).unwrap_err();
            let mut damaged = bytes.clone();
            // In the checksum of gzip and in the footer of xz: every line decodes, the file is
            // damaged all the same.
            let trailer = damaged.len() - 6;
            damaged[trailer] ^= 0x55;
            for error in [cut, read_file(&damaged).unwrap_err()] {
                assert!(
                    matches!(&error, SwfError::Decompression { format: found, .. } if *found == format),
                    "{error}"
                );
            }
        }
    }

    #[test]
    fn an_unreadable_file_is_an_error_that_names_it() {
        let error = SwfReader::open(Path::new("/nowhere/log.swf"))
            .err()
            .unwrap();
        assert!(error.to_string().contains("/nowhere/log.swf"));
    }
}
