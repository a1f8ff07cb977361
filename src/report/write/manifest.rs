//! The list of the files that a report wrote.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use crate::folder_fault::FolderFault;
use bookahead_core::output::OutputFolder;

/// The list of the files of a report, so that the next one can take away what no longer belongs to
/// it.
pub(super) const MANIFEST: &str = ".files";

/// The folders below that of a report.
pub(super) const FOLDERS: [&str; 3] = ["tables", "plots", "experiments"];

/// How the names of a report's files end.
const ENDINGS: [&str; 8] = ["csv", "html", "md", "parquet", "pdf", "svg", "tex", "toml"];

/// The longest list that is read. A line has about a hundred bytes, and the largest reports have a
/// few thousand files.
const LONGEST_BYTES: u64 = 16 << 20;

/// What stands between the digest and the name, as in the lists of `sha256sum`.
const BETWEEN: &str = "  ";

pub(super) type Sha256Digest = [u8; 32];

pub(super) fn digest(bytes: &[u8]) -> Sha256Digest {
    Sha256::digest(bytes).into()
}

/// What the list says of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Listed {
    /// What the file held when a report wrote it; two where a report was killed while it replaced
    /// it.
    pub(super) digests: Vec<Sha256Digest>,
    /// Whether a line has no digest: version 0.2 wrote none, and `run.md` is another file after
    /// every report.
    pub(super) by_name: bool,
}

/// The files that reports wrote into a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) files: BTreeMap<String, Listed>,
}

impl Manifest {
    /// Reads the list of a folder; empty where there is none.
    pub(super) fn read(folder: &OutputFolder) -> Result<Self, FolderFault> {
        let list = || folder.path().join(MANIFEST);
        let unreadable = |source| FolderFault::Unreadable {
            list: list(),
            source,
        };
        let bytes = folder
            .read(MANIFEST, LONGEST_BYTES)
            .map_err(unreadable)?
            .unwrap_or_default();
        let mut manifest = Self::default();
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            if line.is_empty() {
                continue;
            }
            let text = String::from_utf8_lossy(line);
            let (digest, name) = match text.split_once(BETWEEN) {
                Some((digest, name)) => (parsed(digest), name),
                None => (None, &*text),
            };
            if place(name).is_none() || digest.is_none() && name.len() != text.len() {
                return Err(FolderFault::Line {
                    list: list(),
                    line: at + 1,
                    text: text.chars().take(100).collect(),
                });
            }
            manifest.add(name, digest);
        }
        Ok(manifest)
    }

    pub(super) fn add(&mut self, name: &str, digest: Option<Sha256Digest>) {
        let listed = self.files.entry(name.to_owned()).or_default();
        match digest {
            Some(digest) if listed.digests.contains(&digest) => {}
            Some(digest) => listed.digests.push(digest),
            None => listed.by_name = true,
        }
    }

    /// The list as text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for (name, listed) in &self.files {
            for digest in &listed.digests {
                for byte in digest {
                    let _ = write!(text, "{byte:02x}");
                }
                let _ = writeln!(text, "{BETWEEN}{name}");
            }
            if listed.by_name {
                let _ = writeln!(text, "{name}");
            }
        }
        text
    }
}

/// The folder and the name in it, of a name that a report may write or delete; `None` for every
/// other one.
pub(super) fn place(name: &str) -> Option<(Option<&str>, &str)> {
    let (folder, file) = match name.split_once('/') {
        Some((folder, file)) => (Some(folder), file),
        None => (None, name),
    };
    let is_plain = |letter: char| !letter.is_control() && !matches!(letter, '/' | '\\');
    let (stem, ending) = file.rsplit_once('.')?;
    let is_known = folder.is_none_or(|folder| FOLDERS.contains(&folder))
        && ENDINGS.contains(&ending)
        && !stem.is_empty()
        && !file.starts_with('.')
        && file.len() <= 255
        && file.chars().all(is_plain);
    is_known.then_some((folder, file))
}

fn parsed(text: &str) -> Option<Sha256Digest> {
    let mut digest = Sha256Digest::default();
    let pairs = text.as_bytes().chunks_exact(2);
    if text.len() != 2 * digest.len() || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    for (byte, pair) in digest.iter_mut().zip(pairs) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_deletes_no_name_but_plain_ones_below_its_own_folders() {
        for good in ["index.html", "tables/best.csv", "plots/workflow-0.5.svg"] {
            assert!(place(good).is_some(), "{good}");
        }
        for bad in [
            "",
            ".",
            "..",
            "/etc/a.csv",
            "../a.csv",
            "tables/../a.csv",
            "tables/../../a.csv",
            "tables//a.csv",
            "tables/.csv",
            "tables/.a.csv",
            "./a.csv",
            "other/a.csv",
            "tables/deep/a.csv",
            "a\\b.csv",
            "C:\\a.csv",
            "a\u{1b}.csv",
            "Makefile",
            "id_rsa",
            ".files",
        ] {
            assert!(place(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_list_is_read_as_it_was_written() {
        let mut manifest = Manifest::default();
        manifest.add("index.html", Some(digest(b"old")));
        manifest.add("index.html", Some(digest(b"new")));
        manifest.add("run.md", None);
        let home = tempfile::tempdir().unwrap();
        std::fs::write(home.path().join(MANIFEST), manifest.text()).unwrap();
        let folder = OutputFolder::create(home.path()).unwrap();
        assert_eq!(Manifest::read(&folder).unwrap(), manifest);
    }
}
