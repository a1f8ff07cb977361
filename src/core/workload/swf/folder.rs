//! Finding a trace by its name.

use std::path::{Path, PathBuf};

use super::error::SwfError;
use super::trace::ParsedTrace;
use crate::memory::MemoryBudget;
use crate::workload::input_file::first_there;

const ARCHIVE: &str = "https://www.cs.huji.ac.il/labs/parallel/workload/";

/// The archive's own page of each log that the works here use, by the beginning of its file name.
const PAGES: [(&str, &str); 7] = [
    ("CTC-SP2", "l_ctc_sp2/"),
    ("HPC2N", "l_hpc2n/"),
    ("LANL-CM5", "l_lanl_cm5/"),
    ("SDSC-BLUE", "l_sdsc_blue/"),
    ("SDSC-DS", "l_sdsc_ds/"),
    ("SDSC-SP2", "l_sdsc_sp2/"),
    ("KTH-SP2", "l_kth_sp2/"),
];

/// Where traces lie: the folder that the user's environment names, handed in because the domain
/// reads no environment; and how much memory a trace from there may take.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TraceFolder {
    /// The value of `BOOKAHEAD_TRACES`, where it is set.
    pub path: Option<PathBuf>,
    /// What the records of one trace may take with the jobs made of them.
    pub memory: MemoryBudget,
}

impl TraceFolder {
    /// The variable that names the folder.
    pub const VARIABLE: &'static str = "BOOKAHEAD_TRACES";

    /// A folder of traces, which may take any amount of memory.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: Some(path.into()),
            memory: MemoryBudget::UNLIMITED,
        }
    }

    /// Finds a trace and reads it to its end.
    ///
    /// # Errors
    /// Any [`SwfError`]; [`SwfError::TooManyRecords`] where the budget of memory does not suffice.
    pub fn read(&self, name: &str) -> Result<ParsedTrace, SwfError> {
        ParsedTrace::read_within(&self.find(name)?, self.memory)
    }

    /// Looks for `name` as it stands, then in the folder, each exactly, then plain, with `.gz` and
    /// with `.xz`.
    ///
    /// # Errors
    /// [`SwfError::NotFound`] names every place looked at and the archive's page that offers the
    /// log.
    pub fn find(&self, name: &str) -> Result<PathBuf, SwfError> {
        let base = without_compression(name);
        let mut names = vec![name.to_owned()];
        for candidate in [base.to_owned(), format!("{base}.gz"), format!("{base}.xz")] {
            if !names.contains(&candidate) {
                names.push(candidate);
            }
        }
        let mut looked: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
        if let Some(folder) = &self.path {
            for candidate in names.iter().map(|name| folder.join(name)) {
                if !looked.contains(&candidate) {
                    looked.push(candidate);
                }
            }
        }
        if let Some(found) = first_there(&looked) {
            return Ok(found.clone());
        }
        Err(SwfError::NotFound {
            page: archive_page(name),
            name: name.to_owned(),
            folder_is_set: self.path.is_some(),
            looked,
        })
    }
}

/// A file name without `.gz` or `.xz`.
pub(crate) fn without_compression(name: &str) -> &str {
    name.strip_suffix(".gz")
        .or_else(|| name.strip_suffix(".xz"))
        .unwrap_or(name)
}

/// The log's name: no folder, no `.gz`/`.xz`, no `.swf`.
pub(crate) fn log_name(name: &str) -> &str {
    let file = Path::new(name)
        .file_name()
        .and_then(|file| file.to_str())
        .unwrap_or(name);
    let file = without_compression(file);
    file.strip_suffix(".swf").unwrap_or(file)
}

fn archive_page(name: &str) -> String {
    let log = log_name(name).to_ascii_uppercase();
    let page = PAGES
        .iter()
        .find(|(beginning, _)| log.starts_with(beginning))
        .map_or("", |(_, page)| page);
    format!("{ARCHIVE}{page}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_found_with_or_without_its_compression_ending() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("log.swf.gz"), b"").unwrap();
        let traces = TraceFolder::new(folder.path());
        for name in ["log.swf", "log.swf.gz", "log.swf.xz"] {
            assert_eq!(traces.find(name).unwrap(), folder.path().join("log.swf.gz"));
        }
    }

    #[test]
    fn a_missing_trace_is_an_error_that_says_where_the_archive_offers_it() {
        let message = TraceFolder::new("/nowhere")
            .find("SDSC-DS-2004-2.1-cln.swf")
            .unwrap_err()
            .to_string();
        for part in [
            "SDSC-DS-2004-2.1-cln.swf",
            "/nowhere/SDSC-DS-2004-2.1-cln.swf.xz",
            "BOOKAHEAD_TRACES",
            "https://www.cs.huji.ac.il/labs/parallel/workload/l_sdsc_ds/",
        ] {
            assert!(message.contains(part), "{message:?} lacks {part:?}");
        }
        let unset = TraceFolder::default().find("mine.swf").unwrap_err();
        assert!(unset.to_string().contains("now unset"));
    }

    #[test]
    fn the_name_of_a_log_has_no_folder_and_no_endings() {
        assert_eq!(
            log_name("a/b/KTH-SP2-1996-2.1-cln.swf.gz"),
            "KTH-SP2-1996-2.1-cln"
        );
    }
}
