//! A file that appears at its place only when it is whole.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::thread::Builder;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt as _, OpenOptionsSyncExt as _};
use cap_std::fs::OpenOptions;

use super::folder::OutputFolder;
use super::leftovers;
use super::refusal::OutputRefusal;

/// How many files are synced at once.
const AT_ONCE: usize = 16;

/// The stack of a thread that does nothing but sync a file.
const SYNC_STACK_BYTES: usize = 64 << 10;

/// Whose eyes a new file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// As any new file: what the user's mask leaves.
    LikeOthers,
    /// Its owner's alone.
    Private,
}

/// A file that appears at its place when it is whole: written beside it, synced and moved there. A
/// file that stood there before is replaced by a whole one or left as it is. Call
/// [`finish`](Self::finish): without it nothing is kept.
///
/// The streams and devices below `/dev` are written directly.
#[derive(Debug)]
pub struct OutputFile {
    file: File,
    /// `None` for what is written directly.
    temporary: Option<TemporaryFile>,
}

/// A file that is written under a temporary name until it is complete.
#[derive(Debug)]
struct TemporaryFile {
    folder: OutputFolder,
    unfinished: String,
    name: OsString,
}

impl OutputFile {
    /// Begins the file at a path; missing folders are made.
    ///
    /// # Errors
    ///
    /// When nothing can be written there, or with an [`OutputRefusal`]: links, folders, pipes and
    /// devices are not replaced and not written through, but for the streams and devices below
    /// `/dev`.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::create_for(path, Access::LikeOthers)
    }

    /// As [`create`](Self::create), for its owner's eyes only.
    ///
    /// # Errors
    ///
    /// As [`create`](Self::create).
    pub fn create_private(path: &Path) -> io::Result<Self> {
        Self::create_for(path, Access::Private)
    }

    fn create_for(path: &Path, access: Access) -> io::Result<Self> {
        if is_stream(path) {
            // To the end: a stream may lead into a file that holds something.
            let file = File::options().append(true).open(path)?;
            return Ok(Self {
                file,
                temporary: None,
            });
        }
        let (folder, name) = place(path)?;
        let file = Self::begin(&folder, name, access)?;
        folder.remove_leftovers();
        Ok(file)
    }

    pub(super) fn begin(folder: &OutputFolder, name: &OsStr, access: Access) -> io::Result<Self> {
        folder.is_file(name)?;
        let mut options = OpenOptions::new();
        options
            .write(true)
            .create_new(true)
            .follow(FollowSymlinks::No);
        restrict(&mut options, access);
        for _ in 0..10 {
            let unfinished = leftovers::name()?;
            let file = match folder.dir.open_with(&unfinished, &options) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                opened => opened?.into_std(),
            };
            // Where a file system has no locks, nobody takes this file for a leftover before it is
            // old.
            let _ = file.lock();
            let temporary = TemporaryFile {
                folder: folder.clone(),
                unfinished,
                name: name.to_owned(),
            };
            // Another process may have taken it for a leftover before it was locked.
            if folder.kind(OsStr::new(&temporary.unfinished))?.is_some() {
                return Ok(Self {
                    file,
                    temporary: Some(temporary),
                });
            }
        }
        Err(io::ErrorKind::ResourceBusy.into())
    }

    /// The stream or device behind it, where it is written directly; `None` for a file.
    ///
    /// # Errors
    ///
    /// When the system gives no further handle of it.
    pub fn stream(&self) -> io::Result<Option<File>> {
        match self.temporary {
            Some(_) => Ok(None),
            None => self.file.try_clone().map(Some),
        }
    }

    /// Brings the file to the disk and moves it to its place.
    ///
    /// # Errors
    ///
    /// When that fails. Then nothing is left of it.
    pub fn finish(mut self) -> io::Result<()> {
        self.sync()?;
        match self.settle()? {
            Some(folder) => folder.sync(),
            None => self.file.flush(),
        }
    }

    /// Brings what was written to the disk; streams and devices decide that themselves.
    pub(super) fn sync(&self) -> io::Result<()> {
        match self.temporary {
            Some(_) => self.file.sync_all(),
            None => Ok(()),
        }
    }

    /// Moves a file that was synced to its place; the folder is not synced yet.
    pub(super) fn place(mut self) -> io::Result<()> {
        self.settle().map(drop)
    }

    /// Moves the file to its place; the folder that must be synced then.
    fn settle(&mut self) -> io::Result<Option<OutputFolder>> {
        let Some(temporary) = &self.temporary else {
            return Ok(None);
        };
        let dir = &temporary.folder.dir;
        // What stands there now may have come after the file was begun.
        temporary.folder.is_file(&temporary.name)?;
        dir.rename(&temporary.unfinished, dir, &temporary.name)?;
        Ok(self.temporary.take().map(|temporary| temporary.folder))
    }
}

impl OutputFolder {
    /// Begins a file with a plain name, which appears when it is finished.
    ///
    /// # Errors
    ///
    /// When nothing can be written here, or with an [`OutputRefusal`].
    pub fn begin(&self, name: impl AsRef<OsStr>) -> io::Result<OutputFile> {
        OutputFile::begin(self, name.as_ref(), Access::LikeOthers)
    }

    /// Writes a whole file with a plain name.
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin), or when it cannot be written.
    pub fn write_file(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        self.write_files([(name, bytes)])
            .map_err(|(_, error)| error)?;
        self.remove_leftovers();
        Ok(())
    }

    /// Writes whole files with plain names. Each is synced before it takes its place, and the
    /// folder is after the last.
    ///
    /// # Errors
    ///
    /// As [`begin`](Self::begin), with the name of the file.
    pub fn write_files<'f>(
        &self,
        files: impl IntoIterator<Item = (&'f str, &'f [u8])>,
    ) -> Result<(), (String, io::Error)> {
        let named = |name: &str, error| (name.to_owned(), error);
        let files: Vec<(&str, &[u8])> = files.into_iter().collect();
        for files in files.chunks(AT_ONCE) {
            let mut begun = Vec::with_capacity(files.len());
            for (name, bytes) in files {
                let mut file = self.begin(name).map_err(|error| named(name, error))?;
                file.write_all(bytes).map_err(|error| named(name, error))?;
                begun.push((*name, file));
            }
            // The disk syncs several files in hardly more time than one.
            let synced: Vec<io::Result<()>> = std::thread::scope(|scope| {
                let under_way: Vec<_> = begun
                    .iter()
                    .map(|(_, file)| {
                        let thread = Builder::new().stack_size(SYNC_STACK_BYTES);
                        (file, thread.spawn_scoped(scope, || file.sync()))
                    })
                    .collect();
                let failed = || Err(io::Error::other("a thread that syncs a file failed"));
                under_way
                    .into_iter()
                    .map(|(file, thread)| match thread {
                        Ok(thread) => thread.join().unwrap_or_else(|_| failed()),
                        // The system gives no more threads: this one does what is left.
                        Err(_) => file.sync(),
                    })
                    .collect()
            });
            for ((name, file), synced) in begun.into_iter().zip(synced) {
                synced
                    .and_then(|()| file.place())
                    .map_err(|error| named(name, error))?;
            }
        }
        self.sync().map_err(|error| (String::new(), error))
    }
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if let Some(temporary) = &self.temporary {
            // Nobody wants half a file, and that it cannot be deleted has no remedy here.
            let _ = temporary.folder.remove(&temporary.unfinished);
        }
    }
}

/// Opens a file to write at its end, for a log that grows; missing folders are made, and the file
/// where there is none.
///
/// # Errors
///
/// As [`OutputFile::create`].
pub fn append(path: &Path) -> io::Result<File> {
    if is_stream(path) {
        return File::options().append(true).open(path);
    }
    let (folder, name) = place(path)?;
    folder.is_file(name)?;
    let mut options = OpenOptions::new();
    options
        .append(true)
        .create(true)
        .follow(FollowSymlinks::No)
        .nonblock(true);
    let file = folder.dir.open_with(name, &options)?.into_std();
    if !file.metadata()?.is_file() {
        return Err(OutputRefusal::Special("a special file").into());
    }
    Ok(file)
}

/// The folder of a path, made where it is missing, and the name in it.
fn place(path: &Path) -> io::Result<(OutputFolder, &OsStr)> {
    let name = path.file_name().ok_or(OutputRefusal::NoName)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    Ok((OutputFolder::create_following(folder)?, name))
}

/// Writes a whole file; missing folders are made.
///
/// # Errors
///
/// As [`OutputFile::create`], or when it cannot be written.
pub fn write_file(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes.as_ref())?;
    file.finish()
}

/// Whether a path is one of the names that the system gives to streams and devices. Standard output
/// may well lead into a file; what only looks like a device (`/dev/name` on a disk) is written like
/// any file.
fn is_stream(path: &Path) -> bool {
    let folders = ["/dev", "/dev/fd", "/proc/self/fd"];
    let is_there = path
        .parent()
        .is_some_and(|parent| folders.iter().any(|folder| parent == Path::new(folder)));
    // Disks are devices, too, and nobody means them.
    is_there && std::fs::metadata(path).is_ok_and(|found| !found.is_dir() && !is_disk(&found))
}

#[cfg(unix)]
fn is_disk(found: &std::fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_block_device(&found.file_type())
}

#[cfg(not(unix))]
fn is_disk(_: &std::fs::Metadata) -> bool {
    false
}

#[cfg(unix)]
fn restrict(options: &mut OpenOptions, access: Access) {
    use cap_std::fs::OpenOptionsExt as _;
    options.mode(match access {
        Access::LikeOthers => 0o666,
        Access::Private => 0o600,
    });
}

#[cfg(not(unix))]
fn restrict(_: &mut OpenOptions, _: Access) {}
