//! Writing a trace: plain, gzip or xz by the ending of the file's name.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use liblzma::write::XzEncoder;

use super::error::SwfError;
use super::header::SwfHeader;
use super::record::SwfRecord;
use crate::output::OutputFile;

enum Output {
    Plain(BufWriter<OutputFile>),
    Gzip(GzEncoder<BufWriter<OutputFile>>),
    Xz(XzEncoder<BufWriter<OutputFile>>),
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
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?
        .finish()
    }
}

/// Writes a trace line by line into an [`OutputFile`]: an old file is replaced by a whole one or
/// left as it is, also where both names are those of the trace that is being read. Call
/// [`SwfWriter::finish`]: without it nothing is kept.
pub struct SwfWriter {
    output: Option<Output>,
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
        let file = BufWriter::with_capacity(1 << 18, OutputFile::create(path).map_err(fault)?);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let output = match ending {
            Some("gz") => Output::Gzip(GzEncoder::new(file, flate2::Compression::default())),
            // Level 6 takes a minute for a million jobs; level 1 a tenth of that, for files a
            // quarter larger.
            Some("xz") => Output::Xz(XzEncoder::new(file, 1)),
            _ => Output::Plain(file),
        };
        let mut writer = Self {
            output: Some(output),
            path: path.to_owned(),
            line: Vec::with_capacity(160),
        };
        for line in &header.lines {
            let comment = if line.trim_start().starts_with(';') {
                ""
            } else {
                "; "
            };
            put(&mut writer.output, format!("{comment}{line}\n").as_bytes()).map_err(fault)?;
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
            .and_then(|()| put(&mut self.output, &self.line))
            .map_err(|source| SwfError::Write {
                path: self.path.clone(),
                source,
            })
    }

    /// Completes the file.
    ///
    /// # Errors
    /// [`SwfError::Write`].
    pub fn finish(mut self) -> Result<(), SwfError> {
        let finished = self.output.take().map_or(Ok(()), Output::finish);
        finished.map_err(|source| SwfError::Write {
            path: self.path,
            source,
        })
    }
}

fn put(output: &mut Option<Output>, bytes: &[u8]) -> io::Result<()> {
    match output {
        Some(output) => output.writer().write_all(bytes),
        None => Ok(()),
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::workload::swf::{ParsedTrace, SwfReader};

    fn records() -> impl Strategy<Value = Vec<SwfRecord>> {
        let quantity = || prop_oneof![Just(-1_i64), 0_i64..10_000_000_000];
        let decimal = || {
            prop_oneof![
                Just(-1.0),
                (0_u32..1_000_000).prop_map(|hundredths| f64::from(hundredths) / 100.0),
                prop::num::f64::NORMAL,
            ]
        };
        let number = || -1_i64..1_000_000_000_000_000_000;
        let record = (
            prop::array::uniform7(quantity()),
            prop::array::uniform3(decimal()),
            prop::array::uniform8(number()),
        )
            .prop_map(|(times, decimals, numbers)| SwfRecord {
                job_number: numbers[0],
                submit: times[0],
                wait: times[1],
                run: times[2],
                allocated_processors: times[3],
                average_cpu_time: decimals[0],
                used_memory: decimals[1],
                requested_processors: times[4],
                requested_time: times[5],
                requested_memory: decimals[2],
                status: numbers[1],
                user: numbers[2],
                group: numbers[3],
                executable: numbers[4],
                queue: numbers[5],
                partition: numbers[6],
                preceding_job: numbers[7],
                think_time: times[6],
            });
        prop::collection::vec(record, 1..30)
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(records in records(), ending in prop::sample::select(vec!["", ".gz", ".xz"])) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(format!("log.swf{ending}"));
            let mut header = SwfHeader { lines: vec!["; Computer: Ωmega".to_owned(), ";".to_owned()] };
            header.note("derived\nfrom nothing");
            write_trace(&path, &header, &records).unwrap();
            let mut reader = SwfReader::open(&path).unwrap();
            let read: Vec<SwfRecord> = reader.by_ref().map(Result::unwrap).collect();
            prop_assert_eq!(&read, &records);
            prop_assert_eq!(reader.rounded_decimals(), 0);
            prop_assert_eq!(&reader.header().lines[..2], &header.lines[..2]);
            prop_assert_eq!(&reader.header().lines[2], "; Note: derived from nothing");
        }
    }

    #[test]
    fn an_unsorted_file_is_sorted_stably_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.swf");
        let submitted = |job_number, submit| SwfRecord {
            job_number,
            submit,
            ..SwfRecord::MISSING
        };
        let records = [(1, 10), (2, 30), (3, 20), (4, 20), (5, 30), (6, 5)]
            .map(|(number, submit)| submitted(number, submit));
        write_trace(&path, &SwfHeader::default(), &records).unwrap();
        let trace = ParsedTrace::read(&path).unwrap();
        let order: Vec<i64> = trace
            .records
            .iter()
            .map(|record| record.job_number)
            .collect();
        assert_eq!(order, [6, 1, 3, 4, 2, 5]);
        // Jobs 3, 4 and 6 stand below job 2, which came later.
        assert_eq!(trace.out_of_order, 3);
    }

    #[test]
    fn the_content_hash_does_not_depend_on_compression_or_header() {
        let folder = tempfile::tempdir().unwrap();
        let hashes: Vec<String> = ["a.swf", "b.swf.gz", "c.swf.xz"]
            .into_iter()
            .map(|name| {
                let path = folder.path().join(name);
                let mut header = SwfHeader::default();
                header.note(name);
                write_trace(&path, &header, [&SwfRecord::MISSING]).unwrap();
                ParsedTrace::read(&path).unwrap().content_hash
            })
            .collect();
        assert!(
            hashes
                .iter()
                .all(|hash| *hash == hashes[0] && hash.len() == 64)
        );
    }

    #[test]
    fn a_trace_that_was_not_finished_left_half_a_file_in_place_of_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.swf");
        std::fs::write(&path, "old").unwrap();
        let header = SwfHeader {
            lines: vec!["; A: 1".to_owned()],
        };
        drop(SwfWriter::create(&path, &header).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
        SwfWriter::create(&path, &header).unwrap().finish().unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "; A: 1\n");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn converting_onto_another_name_of_the_trace_overwrote_the_trace() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a.swf"), folder.path().join("b.swf"));
        std::fs::write(&path, "the trace").unwrap();
        std::fs::hard_link(&path, &other).unwrap();
        write_trace(&other, &SwfHeader::default(), []).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "the trace");
    }
}
