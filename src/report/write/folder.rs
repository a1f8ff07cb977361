//! A report's folder: files are written whole, and those of an earlier report go.

use std::collections::BTreeSet;

use super::*;

/// The list of the files of a report, so that the next one can take away what no longer belongs to it.
pub(super) const MANIFEST: &str = ".files";

/// A report's folder while it is written: every file appears whole, and what an earlier report left goes in the end.
pub(in crate::report) struct Folder<'p> {
    path: &'p Path,
    before: Vec<String>,
    written: Vec<String>,
}

impl<'p> Folder<'p> {
    pub(in crate::report) fn new(path: &'p Path) -> Result<Self, ReportError> {
        let before = match fs::read_to_string(path.join(MANIFEST)) {
            Ok(text) => text.lines().map(str::to_owned).collect(),
            Err(_) => Vec::new(),
        };
        Ok(Self {
            path,
            before,
            written: Vec::new(),
        })
    }

    pub(in crate::report) fn table(&mut self, table: &Table) -> Result<(), ReportError> {
        for format in [&Csv as &dyn TableFormat, &Parquet] {
            self.file(
                &format!("tables/{}.{}", table.name, format.extension()),
                |target| format.write(table, target),
            )?;
        }
        Ok(())
    }

    /// A figure: drawn, and its data.
    pub(in crate::report) fn figure(&mut self, figure: &Figure) -> Result<(), ReportError> {
        self.file(&format!("plots/{}.svg", figure.name), |target| {
            target.write_all(svg::file(figure).as_bytes())
        })?;
        self.file(&format!("plots/{}.csv", figure.name), |target| {
            write_figure(figure, target)
        })
        .map(drop)
    }

    pub(in crate::report) fn file(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    ) -> Result<PathBuf, ReportError> {
        let path = self.path.join(name);
        let fault = |source| ReportError::Write {
            path: path.clone(),
            source,
        };
        let folder = path.parent().unwrap_or(self.path);
        fs::create_dir_all(folder).map_err(fault)?;
        let mut bytes = Vec::new();
        write(&mut bytes).map_err(fault)?;
        write_whole(&path, folder, &bytes).map_err(fault)?;
        self.written.push(name.to_owned());
        Ok(path)
    }

    /// Takes away the files of an earlier report that this one did not write again.
    pub(in crate::report) fn finish(mut self) -> Result<(), ReportError> {
        let stale: Vec<String> = self
            .before
            .iter()
            .filter(|name| !self.written.contains(name) && !name.contains(".."))
            .cloned()
            .collect();
        for name in stale {
            // Somebody may have taken it away already.
            let _ = fs::remove_file(self.path.join(name));
        }
        let files = self.written.iter().chain(&self.before);
        let folders: BTreeSet<&Path> = files
            .filter(|name| !name.contains(".."))
            .filter_map(|name| Path::new(name).parent())
            .collect();
        for folder in folders {
            remove_leftovers(&self.path.join(folder));
        }
        let list = self.written.join("\n") + "\n";
        self.file(MANIFEST, |target| target.write_all(list.as_bytes()))
            .map(drop)
    }
}

/// Writes a file under another name and moves it to its place. While it is written it is locked, so that another report sees that
/// somebody writes.
fn write_whole(path: &Path, folder: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut tries = 0;
    loop {
        let mut file = tempfile::Builder::new()
            .prefix(WRITING)
            .permissions_as_others()
            .tempfile_in(folder)?;
        // Where a file system has no locks, nobody takes this file for a leftover before it is old.
        let _ = file.as_file().lock();
        file.write_all(bytes)?;
        match file.persist(path) {
            // Another report took it for a leftover before it was locked.
            Err(error) if error.error.kind() == std::io::ErrorKind::NotFound && tries < 10 => {
                tries += 1;
            }
            Err(error) => return Err(error.error),
            Ok(_) => return Ok(()),
        }
    }
}

/// Takes away what writers that were killed left: what nobody has locked, or what is older than any report takes to be written.
pub(super) fn remove_leftovers(folder: &Path) {
    const OLD: std::time::Duration = std::time::Duration::from_secs(3_600);
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(WRITING) {
            continue;
        }
        let is_left = || fs::File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok());
        let age = entry
            .metadata()
            .and_then(|file| file.modified())
            .ok()
            .and_then(|moment| moment.elapsed().ok());
        if age.is_some_and(|age| age > OLD) || is_left() {
            // Somebody may have taken it away already.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// How the names of files begin that are not whole yet.
pub(super) const WRITING: &str = ".writing-";

/// Temporary files are for their owner's eyes only; a report is like any other file.
trait LikeOthers {
    fn permissions_as_others(&mut self) -> &mut Self;
}

impl LikeOthers for tempfile::Builder<'_, '_> {
    #[cfg(unix)]
    fn permissions_as_others(&mut self) -> &mut Self {
        use std::os::unix::fs::PermissionsExt as _;
        self.permissions(fs::Permissions::from_mode(0o666))
    }

    #[cfg(not(unix))]
    fn permissions_as_others(&mut self) -> &mut Self {
        self
    }
}
