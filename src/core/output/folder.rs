//! A folder that is held open, so that nothing in it leads elsewhere.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cap_fs_ext::{
    DirExt as _, FileTypeExt as _, FollowSymlinks, OpenOptionsFollowExt as _,
    OpenOptionsSyncExt as _,
};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, FileType, OpenOptions};
use sha2::{Digest as _, Sha256};

use super::refusal::OutputRefusal;

/// How long another process may write into a folder until this one gives up.
const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// A folder that is held open. Names in it are plain names; none is followed where it is a link.
#[derive(Clone, Debug)]
pub struct OutputFolder {
    pub(super) dir: Arc<Dir>,
    path: PathBuf,
}

/// While it lives, no other process writes a report into the folder.
#[derive(Debug)]
pub struct FolderLock {
    _folder: Option<File>,
}

impl OutputFolder {
    /// Opens a folder and makes what is missing of it. No part of a relative path may be a link,
    /// and of an absolute one the last part: what stands above it is the user's own.
    ///
    /// # Errors
    ///
    /// When it cannot be opened or made, or with an [`OutputRefusal`].
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut parts = path.components().peekable();
        let is_absolute = matches!(
            parts.peek(),
            Some(Component::RootDir | Component::Prefix(_))
        );
        match (path.file_name(), path.parent()) {
            (Some(name), Some(parent)) if is_absolute => {
                Self::create_following(parent)?.folder(name)
            }
            _ if is_absolute => Self::create_following(path),
            _ => {
                let mut folder = Self::create_following(Path::new("."))?;
                for part in parts {
                    folder = match part {
                        Component::Normal(name) => folder.folder(name)?,
                        Component::ParentDir => folder.above()?,
                        _ => folder,
                    };
                }
                Ok(folder)
            }
        }
    }

    /// Opens a folder that the user named, through links where there are some, and makes what is
    /// missing of it.
    ///
    /// # Errors
    ///
    /// When it cannot be opened or made.
    pub(super) fn create_following(path: &Path) -> io::Result<Self> {
        if !path.is_dir() {
            std::fs::create_dir_all(path)?;
        }
        Ok(Self {
            dir: Arc::new(Dir::open_ambient_dir(path, ambient_authority())?),
            path: path.to_owned(),
        })
    }

    fn above(&self) -> io::Result<Self> {
        Ok(Self {
            dir: Arc::new(self.dir.open_parent_dir(ambient_authority())?),
            path: self.path.join(".."),
        })
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder directly below, which is made where it is missing.
    ///
    /// # Errors
    ///
    /// As [`existing`](Self::existing), or when it cannot be made.
    pub fn folder(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        if let Some(folder) = self.existing(name)? {
            return Ok(folder);
        }
        match self.dir.create_dir(name) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        self.existing(name)?
            .ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// A folder directly below; `None` where there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or with an [`OutputRefusal`] where it is a link or no folder.
    pub fn existing(&self, name: impl AsRef<OsStr>) -> io::Result<Option<Self>> {
        let name = name.as_ref();
        let path = self.path.join(name);
        match self.kind(name)? {
            None => return Ok(None),
            Some(kind) if kind.is_symlink() => {
                let target = self.link(name);
                return Err(OutputRefusal::FolderLink { path, target }.into());
            }
            Some(kind) if !kind.is_dir() => return Err(OutputRefusal::NoFolder(path).into()),
            Some(_) => {}
        }
        let dir = self.dir.open_dir_nofollow(name)?;
        Ok(Some(Self {
            dir: Arc::new(dir),
            path,
        }))
    }

    /// Writes a file with a plain name that is not there yet. Whoever is killed meanwhile leaves a
    /// part of it.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::AlreadyExists`] where something stands there, or when it cannot be written.
    pub fn write_new(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        let mut file = self.dir.open_with(name, &options)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        self.sync()
    }

    /// What a file directly below holds; `None` where there is none. Only regular files are read,
    /// and no links.
    ///
    /// # Errors
    ///
    /// When it cannot be read, or with an [`OutputRefusal`] where it is no regular file or has more
    /// than `most` bytes.
    pub fn read(&self, name: impl AsRef<OsStr>, most: u64) -> io::Result<Option<Vec<u8>>> {
        let Some(file) = self.open(name.as_ref())? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(OutputRefusal::Large(most).into());
        }
        Ok(Some(bytes))
    }

    /// The SHA-256 of a file directly below; `None` where there is none.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn sha256(&self, name: impl AsRef<OsStr>, most: u64) -> io::Result<Option<[u8; 32]>> {
        let Some(file) = self.open(name.as_ref())? else {
            return Ok(None);
        };
        if file.metadata()?.len() > most {
            return Err(OutputRefusal::Large(most).into());
        }
        let mut hasher = Sha256::new();
        let mut input = file.take(most);
        let mut piece = vec![0; 1 << 16];
        loop {
            match input.read(&mut piece) {
                Ok(0) => return Ok(Some(hasher.finalize().into())),
                Ok(length) => hasher.update(&piece[..length]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Deletes a file directly below; a link itself, not what it leads to.
    ///
    /// # Errors
    ///
    /// When it cannot be deleted.
    pub fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
        self.dir.remove_file(name.as_ref())
    }

    /// Waits until no other process holds the folder's lock, and takes it. File systems without
    /// locks do without.
    ///
    /// # Errors
    ///
    /// When another process holds it for half a minute.
    pub fn lock(&self) -> io::Result<FolderLock> {
        let Ok(folder) = self.dir.open(".").map(cap_std::fs::File::into_std) else {
            return Ok(FolderLock { _folder: None });
        };
        let begun = Instant::now();
        while let Err(std::fs::TryLockError::WouldBlock) = folder.try_lock() {
            if begun.elapsed() > LOCK_TIMEOUT {
                return Err(OutputRefusal::Busy(LOCK_TIMEOUT.as_secs()).into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(FolderLock {
            _folder: Some(folder),
        })
    }

    /// Brings the names in this folder to the disk.
    pub(super) fn sync(&self) -> io::Result<()> {
        // Who may write into a folder but not list it cannot sync it either, and some file systems
        // know no syncing of folders.
        let Ok(folder) = self.dir.open(".") else {
            return Ok(());
        };
        match folder.sync_all() {
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error),
            _ => Ok(()),
        }
    }

    /// What stands at a name, not followed.
    pub(super) fn kind(&self, name: &OsStr) -> io::Result<Option<FileType>> {
        match self.dir.symlink_metadata(name) {
            Ok(found) => Ok(Some(found.file_type())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Refuses what is no regular file; `false` where nothing stands there.
    pub(super) fn is_file(&self, name: &OsStr) -> io::Result<bool> {
        let Some(kind) = self.kind(name)? else {
            return Ok(false);
        };
        if kind.is_symlink() {
            return Err(OutputRefusal::Link(self.link(name)).into());
        }
        match special(kind) {
            _ if kind.is_dir() => Err(OutputRefusal::Folder.into()),
            Some(what) => Err(OutputRefusal::Special(what).into()),
            None => Ok(true),
        }
    }

    /// Opens a regular file for reading. Nothing blocks here, even where a pipe took its place in
    /// the meantime.
    pub(super) fn open(&self, name: &OsStr) -> io::Result<Option<File>> {
        if !self.is_file(name)? {
            return Ok(None);
        }
        let mut options = OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No).nonblock(true);
        let file = self.dir.open_with(name, &options)?.into_std();
        if !file.metadata()?.is_file() {
            return Err(OutputRefusal::Special("a special file").into());
        }
        Ok(Some(file))
    }

    fn link(&self, name: &OsStr) -> PathBuf {
        self.dir.read_link_contents(name).unwrap_or_default()
    }
}

/// What a file is that is neither regular nor a folder nor a link.
pub(super) fn special(kind: FileType) -> Option<&'static str> {
    if kind.is_file() || kind.is_dir() {
        None
    } else if kind.is_fifo() {
        Some("a named pipe")
    } else if kind.is_socket() {
        Some("a socket")
    } else {
        Some("a device")
    }
}
