//! A report's folder: files are written whole, and those of an earlier report are removed.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::manifest::{FOLDERS, Listed, MANIFEST, Manifest, Sha256Digest, digest, place};
use super::write_figure;
use crate::figure::Figure;
use crate::folder_fault::{FolderFault, briefly};
use crate::format::{Csv, Latex, Parquet, TableFormat, write_float};
use crate::labels::Labels;
use crate::section::ReportError;
use crate::svg::{self, FigureWidth};
use crate::table::Table;
use bookahead_core::output::OutputFolder;

/// The largest file that is compared with its digest. Files of reports are less than a hundredth of
/// it.
const LARGEST_BYTES: u64 = 4 << 30;

/// A report's folder. Files are collected, and written at the end, so that a refused folder does
/// not change.
pub struct Folder<'p> {
    path: &'p Path,
    open: OutputFolder,
    files: Vec<NewFile>,
    forms: Forms,
}

/// Which forms the tables and figures of a report have.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forms {
    /// Formats of tables beside CSV and Parquet.
    pub more_tables: Vec<TableFile>,
    /// How wide figures are in files of their own.
    pub figure_width: FigureWidth,
    /// What figures in files of their own, and tables as LaTeX, are labelled with.
    pub labels: Labels,
}

/// A format that a report has its tables in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFile {
    /// Comma-separated values.
    Csv,
    /// Parquet.
    Parquet,
    /// LaTeX.
    Latex,
}

impl TableFile {
    /// Every format.
    pub const ALL: [Self; 3] = [Self::Csv, Self::Parquet, Self::Latex];

    /// Those of every report.
    const USUAL: [Self; 2] = [Self::Csv, Self::Parquet];

    fn format(self) -> Box<dyn TableFormat> {
        match self {
            Self::Csv => Box::new(Csv),
            Self::Parquet => Box::new(Parquet),
            Self::Latex => Box::new(Latex::default()),
        }
    }
}

struct NewFile {
    name: String,
    bytes: Vec<u8>,
    /// `None` for a file that differs between two reports of the same run.
    digest: Option<Sha256Digest>,
}

/// Files that were kept in a report's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptFiles {
    /// Files of an earlier report that are not part of this one, and that were changed since or
    /// have no digest in the list.
    pub names: Vec<String>,
}

impl KeptFiles {
    /// A sentence for people, where there are any.
    #[must_use]
    pub fn sentence(&self, folder: &Path) -> Option<String> {
        (!self.names.is_empty()).then(|| {
            format!(
                "{} keeps files of an earlier report that were changed since, or of which no digest is known: {}; delete them if \
                 nobody needs them",
                folder.display(),
                briefly(&self.names)
            )
        })
    }
}

impl<'p> Folder<'p> {
    /// Opens the folder, and refuses one that holds something no report writes.
    pub fn new(path: &'p Path) -> Result<Self, ReportError> {
        let fault = |source| FolderFault::Folder {
            folder: path.to_owned(),
            source,
        };
        let open = OutputFolder::create(path).map_err(fault)?;
        Manifest::read(&open)?;
        for name in FOLDERS {
            open.existing(name).map_err(fault)?;
        }
        Ok(Self {
            path,
            open,
            files: Vec::new(),
            forms: Forms::default(),
        })
    }

    /// The same folder, whose tables and figures have these forms.
    #[must_use]
    pub fn with(self, forms: &Forms) -> Self {
        Self {
            forms: forms.clone(),
            ..self
        }
    }

    /// Writes a table in every format of the report.
    ///
    /// # Errors
    ///
    /// When a file cannot be written.
    pub fn table(&mut self, table: &Table) -> Result<(), ReportError> {
        let mut formats = TableFile::USUAL.to_vec();
        formats.extend(&self.forms.more_tables);
        let labelled = self.forms.labels.table(table).into_owned();
        for form in formats {
            let format = form.format();
            let table = match form {
                TableFile::Latex => &labelled,
                TableFile::Csv | TableFile::Parquet => table,
            };
            self.file(
                &format!("tables/{}.{}", table.name, format.extension()),
                |target| format.write(table, target),
            )?;
        }
        Ok(())
    }

    /// Adds a figure: its drawing, and its data; where tables are written for LaTeX, a float of it
    /// as well.
    pub fn figure(&mut self, figure: &Figure) -> Result<(), ReportError> {
        let width = self.forms.figure_width;
        let labelled = self.forms.labels.figure(figure).into_owned();
        let drawing = svg::file(&labelled, width);
        self.file(&format!("plots/{}.svg", figure.name), |target| {
            target.write_all(drawing.as_bytes())
        })?;
        if self.forms.more_tables.contains(&TableFile::Latex) {
            self.file(&format!("plots/{}.pdf", figure.name), |target| {
                target.write_all(&svg::pdf(&drawing)?)
            })?;
            self.file(&format!("plots/{}.tex", figure.name), |target| {
                write_float(&labelled, width, target)
            })?;
        }
        self.file(&format!("plots/{}.csv", figure.name), |target| {
            write_figure(figure, target)
        })
        .map(drop)
    }

    /// A file that follows from the run alone; its place when the folder is finished.
    pub fn file(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    ) -> Result<PathBuf, ReportError> {
        self.add(name, true, write)
    }

    /// A file that says when and where a report was made. It has no digest in the list, which
    /// follows from the run alone.
    pub(crate) fn dated_file(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    ) -> Result<PathBuf, ReportError> {
        self.add(name, false, write)
    }

    fn add(
        &mut self,
        name: &str,
        has_digest: bool,
        write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>,
    ) -> Result<PathBuf, ReportError> {
        if place(name).is_none() {
            return Err(FolderFault::Name(name.to_owned()).into());
        }
        let path = self.path.join(name);
        let mut bytes = Vec::new();
        write(&mut bytes).map_err(|source| ReportError::Write {
            path: path.clone(),
            source,
        })?;
        // The last of two files of the same name is the one that stays.
        self.files.retain(|file| file.name != name);
        self.files.push(NewFile {
            name: name.to_owned(),
            digest: has_digest.then(|| digest(&bytes)),
            bytes,
        });
        Ok(path)
    }

    /// Writes the files, and removes those of an earlier report that are not part of this one.
    pub fn finish(self) -> Result<KeptFiles, ReportError> {
        let _lock = self.open.lock().map_err(|error| self.fault(error))?;
        // Read once more: another report may have been written since.
        let before = Manifest::read(&self.open)?;
        self.refuse_foreign(&before)?;
        let mut new = Manifest::default();
        let mut both = before.clone();
        for file in &self.files {
            new.add(&file.name, file.digest);
            both.add(&file.name, file.digest);
        }
        // If a report is killed from here on, its list names everything that the folder may hold.
        self.write_list(&both)?;
        let mut by_folder: BTreeMap<Option<&str>, Vec<(&str, &[u8])>> = BTreeMap::new();
        for file in &self.files {
            if let Some((folder, name)) = place(&file.name) {
                by_folder
                    .entry(folder)
                    .or_default()
                    .push((name, &file.bytes));
            }
        }
        for (folder, files) in by_folder {
            let open = match folder {
                Some(name) => self
                    .open
                    .folder(name)
                    .map_err(|error| self.unwritten(name, error))?,
                None => self.open.clone(),
            };
            open.write_files(files)
                .map_err(|(name, error)| match folder {
                    Some(folder) => self.unwritten(&format!("{folder}/{name}"), error),
                    None => self.unwritten(&name, error),
                })?;
        }
        let kept = self.remove_stale(&before, &new);
        self.write_list(&new)?;
        for folder in FOLDERS {
            if let Ok(Some(open)) = self.open.existing(folder) {
                open.remove_leftovers();
            }
        }
        self.open.remove_leftovers();
        Ok(kept)
    }

    /// Refuses to replace files that no report wrote, and anything that is not a file.
    fn refuse_foreign(&self, before: &Manifest) -> Result<(), ReportError> {
        let mut names = Vec::new();
        let unlisted = Listed::default();
        for file in &self.files {
            let listed = before.files.get(&file.name).unwrap_or(&unlisted);
            let there = self
                .digest_of(&file.name)
                .map_err(|error| self.unwritten(&file.name, error))?;
            // A file that already has the new content can be replaced without loss.
            let is_ours = |there| listed.digests.contains(&there) || file.digest == Some(there);
            if there.is_some_and(|there| !listed.by_name && !is_ours(there)) {
                names.push(file.name.clone());
            }
        }
        if names.is_empty() {
            return Ok(());
        }
        Err(FolderFault::Foreign {
            folder: self.path.to_owned(),
            names,
        }
        .into())
    }

    /// Deletes the files of the list that are not part of this report and are unchanged since a
    /// report wrote them. Returns the others.
    fn remove_stale(&self, before: &Manifest, new: &Manifest) -> KeptFiles {
        let mut kept = KeptFiles::default();
        for (name, listed) in &before.files {
            if new.files.contains_key(name) {
                continue;
            }
            let is_gone = match self.digest_of(name) {
                // It has been removed already.
                Ok(None) => true,
                Ok(Some(there)) => listed.digests.contains(&there) && self.remove(name).is_ok(),
                Err(_) => false,
            };
            if !is_gone {
                kept.names.push(name.clone());
            }
        }
        kept
    }

    fn digest_of(&self, name: &str) -> std::io::Result<Option<Sha256Digest>> {
        match place(name) {
            Some((Some(folder), name)) => match self.open.existing(folder)? {
                Some(open) => open.sha256(name, LARGEST_BYTES),
                None => Ok(None),
            },
            Some((None, name)) => self.open.sha256(name, LARGEST_BYTES),
            None => Ok(None),
        }
    }

    fn remove(&self, name: &str) -> std::io::Result<()> {
        match place(name) {
            Some((Some(folder), name)) => match self.open.existing(folder)? {
                Some(open) => open.remove(name),
                None => Ok(()),
            },
            Some((None, name)) => self.open.remove(OsStr::new(name)),
            None => Ok(()),
        }
    }

    fn write_list(&self, list: &Manifest) -> Result<(), ReportError> {
        let text = list.text();
        self.open
            .write_files([(MANIFEST, text.as_bytes())])
            .map_err(|(_, error)| self.unwritten(MANIFEST, error))
    }

    fn unwritten(&self, name: &str, source: std::io::Error) -> ReportError {
        ReportError::Write {
            path: self.path.join(name),
            source,
        }
    }

    fn fault(&self, source: std::io::Error) -> ReportError {
        FolderFault::Folder {
            folder: self.path.to_owned(),
            source,
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_may_write_and_delete_its_tables_in_every_format() {
        for format in TableFile::ALL {
            let name = format!("tables/best.{}", format.format().extension());
            assert!(place(&name).is_some(), "{name}");
        }
    }
}
