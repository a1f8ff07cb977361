//! Writing a trace: plain, gzip or xz by the ending of the file's name.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;

use super::error::SwfError;
use super::header::SwfHeader;
use super::record::SwfRecord;

enum Output {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
    Xz(XzEncoder<BufWriter<File>>),
}

impl Output {
    fn writer(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(output) => output,
            Self::Gzip(output) => output,
            Self::Xz(output) => output,
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            Self::Plain(output) => output,
            Self::Gzip(output) => output.finish()?,
            Self::Xz(output) => output.finish()?,
        }
        .flush()
    }
}

/// Writes a trace line by line. Call [`SwfWriter::finish`]: without it a compressed file is incomplete.
pub struct SwfWriter {
    output: Output,
    path: PathBuf,
    line: Vec<u8>,
}

impl SwfWriter {
    /// Creates the file and writes the header lines.
    ///
    /// # Errors
    /// [`SwfError::Write`].
    pub fn create(path: &Path, header: &SwfHeader) -> Result<Self, SwfError> {
        let fault = |source| SwfError::Write {
            path: path.to_owned(),
            source,
        };
        let file = BufWriter::with_capacity(1 << 18, File::create(path).map_err(fault)?);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let output = match ending {
            Some("gz") => Output::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            Some("xz") => Output::Xz(XzEncoder::new(file, 6)),
            _ => Output::Plain(file),
        };
        let mut writer = Self {
            output,
            path: path.to_owned(),
            line: Vec::with_capacity(160),
        };
        for line in &header.lines {
            let comment = if line.trim_start().starts_with(';') {
                ""
            } else {
                "; "
            };
            writeln!(writer.output.writer(), "{comment}{line}").map_err(fault)?;
        }
        Ok(writer)
    }

    /// Writes one record.
    ///
    /// # Errors
    /// [`SwfError::Write`].
    pub fn write(&mut self, record: &SwfRecord) -> Result<(), SwfError> {
        self.line.clear();
        format_record(record, &mut self.line)
            .and_then(|()| self.output.writer().write_all(&self.line))
            .map_err(|source| SwfError::Write {
                path: self.path.clone(),
                source,
            })
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`SwfError::Write`].
    pub fn finish(self) -> Result<(), SwfError> {
        let path = self.path;
        self.output
            .finish()
            .map_err(|source| SwfError::Write { path, source })
    }
}

/// Writes a whole trace.
///
/// # Errors
/// [`SwfError::Write`].
pub fn write_trace<'records>(
    path: &Path,
    header: &SwfHeader,
    records: impl IntoIterator<Item = &'records SwfRecord>,
) -> Result<(), SwfError> {
    let mut writer = SwfWriter::create(path, header)?;
    for record in records {
        writer.write(record)?;
    }
    writer.finish()
}

fn format_record(record: &SwfRecord, line: &mut Vec<u8>) -> io::Result<()> {
    writeln!(
        line,
        "{} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {} {}",
        record.job_number,
        record.submit,
        record.wait,
        record.run,
        record.allocated_processors,
        record.average_cpu_time,
        record.used_memory,
        record.requested_processors,
        record.requested_time,
        record.requested_memory,
        record.status,
        record.user,
        record.group,
        record.executable,
        record.queue,
        record.partition,
        record.preceding_job,
        record.think_time,
    )
}
