//! Opening what users give: plain, gzip or xz, told apart by the first bytes, with bounds on what a
//! small file may blow up to.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};

use crate::memory::MemoryBudget;

const BUFFER_BYTES: usize = 1 << 18;
const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const XZ_MAGIC: &[u8] = &[0xfd, b'7', b'z', b'X', b'Z', 0x00];

/// What the xz decoder may take: twice of what `xz -9` asks for. A header can ask for 4 GB.
const XZ_MEMORY_BYTES: u64 = 128 << 20;

/// The largest file that is read as a whole, unpacked. The largest published ones (LANL's table,
/// workflows of 100,000 tasks) have a tenth of it.
pub const LARGEST_WHOLE_FILE_BYTES: u64 = 256 << 20;

/// What a byte of such a file costs with what is made of it, at most: one of JSON, of which many
/// numbers are single digits.
const BYTES_A_BYTE: u64 = 16;

/// A file that is read from its start, and how it is compressed (`gzip`, `xz`).
pub type OpenedFile = (Box<dyn BufRead + Send>, Option<&'static str>);

/// Opens a file as it is.
///
/// # Errors
///
/// When it cannot be opened, or [is no file](require_file).
pub fn open_plain(path: &Path) -> io::Result<File> {
    require_file(path)?;
    File::open(path)
}

/// Refuses what is there and no file. A folder has no text; a named pipe waits for a writer who may
/// never come, and a device need not end. What this process was handed open (`/dev/stdin`, and
/// `/dev/fd/63` of a shell's `<(…)`) is read whatever it is.
///
/// # Errors
///
/// With what is there; when nothing is there or it cannot be looked at.
pub fn require_file(path: &Path) -> io::Result<()> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || is_handed_open(path) {
        return Ok(());
    }
    let (what, hint) = match kind.is_dir() {
        true => ("a folder", "name a file in it"),
        false => (special(kind), "copy what it gives into a file"),
    };
    Err(io::Error::new(
        io::ErrorKind::InvalidInput,
        format!("it is {what} and no file; {hint}"),
    ))
}

#[cfg(unix)]
fn special(kind: fs::FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    match () {
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

#[cfg(not(unix))]
fn special(_: fs::FileType) -> &'static str {
    "something else"
}

fn is_handed_open(path: &Path) -> bool {
    let folders = ["/dev/fd", "/proc/self/fd"];
    path == Path::new("/dev/stdin")
        || folders
            .iter()
            .any(|folder| path.parent() == Some(Path::new(folder)))
}

/// Opens a file; gzip and xz are recognised by their first bytes, whatever the name says.
///
/// # Errors
///
/// When the file cannot be opened or read, or [is no file](require_file).
pub fn open(path: &Path) -> io::Result<OpenedFile> {
    let mut file = open_plain(path)?;
    let mut magic = Vec::with_capacity(XZ_MAGIC.len());
    Read::by_ref(&mut file)
        .take(XZ_MAGIC.len() as u64)
        .read_to_end(&mut magic)?;
    if magic.starts_with(GZIP_MAGIC) {
        file.seek(SeekFrom::Start(0))?;
        let decoder = MultiGzDecoder::new(BufReader::with_capacity(BUFFER_BYTES, file));
        Ok((
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder)),
            Some("gzip"),
        ))
    } else if magic.starts_with(XZ_MAGIC) {
        file.seek(SeekFrom::Start(0))?;
        let stream = Stream::new_auto_decoder(XZ_MEMORY_BYTES, CONCATENATED)?;
        let plain = BufReader::with_capacity(BUFFER_BYTES, file);
        let decoder = XzDecoder::new_stream(plain, stream);
        Ok((
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder)),
            Some("xz"),
        ))
    } else {
        // What was read is put back in front: a pipe cannot be wound back.
        let whole = io::Cursor::new(magic).chain(file);
        Ok((
            Box::new(BufReader::with_capacity(BUFFER_BYTES, whole)),
            None,
        ))
    }
}

/// The first of these paths that is a file; else the first where something other than a folder is,
/// whose reader says why it is not read.
#[must_use]
pub fn first_there(paths: &[PathBuf]) -> Option<&PathBuf> {
    let file = paths.iter().find(|path| path.is_file());
    let other = || paths.iter().find(|path| path.exists() && !path.is_dir());
    file.or_else(other)
}

/// Reads a whole file, unpacked.
///
/// # Errors
///
/// When it cannot be read, has more than [`LARGEST_WHOLE_FILE_BYTES`], or takes more than the
/// budget with what is made of it.
pub fn read_whole(path: &Path, memory: MemoryBudget) -> io::Result<Vec<u8>> {
    let affordable = memory.bytes() / BYTES_A_BYTE;
    if affordable >= LARGEST_WHOLE_FILE_BYTES {
        return read_at_most(path, LARGEST_WHOLE_FILE_BYTES);
    }
    read_at_most(path, affordable).map_err(|error| match error.kind() {
        io::ErrorKind::FileTooLarge => io::Error::new(
            error.kind(),
            format!(
                "it has more than {affordable} bytes unpacked, and a byte may take {BYTES_A_BYTE} with what is made of it, so it does not \
                 fit into the memory budget of {} bytes; allow more with --memory SIZE",
                memory.bytes()
            ),
        ),
        _ => error,
    })
}

/// Reads a whole text of at most [`LARGEST_WHOLE_FILE_BYTES`]: a configuration, not records.
///
/// # Errors
///
/// As [`read_whole`]; when it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_whole(path, MemoryBudget::UNLIMITED)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text"))
}

/// What is wrong with JSON, without the values and names that stand there: before it is known what
/// a file is, it may be any.
#[must_use]
pub fn json_fault(error: &serde_json::Error) -> String {
    let said = error.to_string();
    let said = said
        .rsplit_once(" at line ")
        .map_or(&*said, |(said, _)| said);
    if !error.is_data() {
        return said.to_owned();
    }
    let is_ours = said.starts_with("missing field") || said.starts_with("duplicate field");
    let kind = [
        "invalid type",
        "invalid value",
        "invalid length",
        "unknown field",
        "unknown variant",
    ];
    let kind = kind.into_iter().find(|kind| said.starts_with(kind));
    match (kind, said.rsplit_once(", expected ")) {
        _ if is_ours => said.to_owned(),
        (Some(kind), Some((_, expected))) => format!("{kind}, expected {expected}"),
        (kind, _) => kind.unwrap_or("it has another form").to_owned(),
    }
}

fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.0.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(io::Error::new(
            io::ErrorKind::FileTooLarge,
            format!("it has more than {} MB unpacked", most >> 20),
        ));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn written(bytes: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn a_file_of_any_packing_is_read_whole_up_to_the_bound() {
        let text = vec![b'x'; 4_096];
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(&text).unwrap();
        let mut xz = liblzma::write::XzEncoder::new(Vec::new(), 6);
        xz.write_all(&text).unwrap();
        for packed in [text.clone(), gzip.finish().unwrap(), xz.finish().unwrap()] {
            let file = written(&packed);
            assert_eq!(read_at_most(file.path(), 4_096).unwrap(), text);
            let error = read_at_most(file.path(), 4_095).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        }
        assert_eq!(
            read_whole(written(b"ab").path(), MemoryBudget::UNLIMITED).unwrap(),
            b"ab"
        );
        assert_eq!(
            read_whole(written(b"").path(), MemoryBudget::UNLIMITED).unwrap(),
            b""
        );
    }

    #[test]
    fn what_is_wrong_with_json_is_said_without_what_stands_there() {
        #[derive(Debug, serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Form {
            #[expect(dead_code, reason = "only its type counts")]
            number: u32,
        }
        for (text, said) in [
            (
                r#"{"number": "secret, expected secret"}"#,
                "invalid type, expected u32",
            ),
            (r#"{"number": -1}"#, "invalid value, expected u32"),
            (r#"{"secret": 1}"#, "unknown field, expected `number`"),
            ("{}", "missing field `number`"),
            ("secret", "expected value"),
        ] {
            let error = serde_json::from_str::<Form>(text).unwrap_err();
            assert_eq!(json_fault(&error), said);
        }
    }

    #[test]
    fn a_file_that_fits_the_bound_but_not_the_budget_says_which_option_allows_more() {
        let file = written(&[b'x'; 4_096]);
        let budget = MemoryBudget::of_bytes(16 * 4_096);
        assert_eq!(read_whole(file.path(), budget).unwrap().len(), 4_096);
        let error = read_whole(file.path(), budget.without(1)).unwrap_err();
        assert!(error.to_string().contains("--memory"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_and_waits_for_nobody() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe.swf");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(made.unwrap().success());
        let link = folder.path().join("link.swf");
        std::os::unix::fs::symlink(&pipe, &link).unwrap();
        for (path, what) in [
            (pipe.as_path(), "it is a named pipe and no file"),
            (link.as_path(), "it is a named pipe and no file"),
            (folder.path(), "it is a folder and no file"),
            (Path::new("/dev/zero"), "it is a device and no file"),
        ] {
            let error = read_whole(path, MemoryBudget::UNLIMITED)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(what), "{error}");
        }
        let missing =
            read_whole(&folder.path().join("nothing"), MemoryBudget::UNLIMITED).unwrap_err();
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn an_xz_file_that_asks_for_more_memory_than_any_log_needs_is_refused() {
        let mut options = liblzma::stream::LzmaOptions::new_preset(6).unwrap();
        options.dict_size(512 << 20);
        let mut filters = liblzma::stream::Filters::new();
        filters.lzma2(&options);
        let stream = Stream::new_stream_encoder(&filters, liblzma::stream::Check::Crc32).unwrap();
        let mut xz = liblzma::write::XzEncoder::new_stream(Vec::new(), stream);
        xz.write_all(b"; a small log\n").unwrap();
        let file = written(&xz.finish().unwrap());
        assert!(read_whole(file.path(), MemoryBudget::UNLIMITED).is_err());
    }
}
