//! `bookahead list traces`: which of the known files are at hand, whether they are what they should
//! be, and where the others come from.

use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::cli::paragraphs::{names, paragraph};
use crate::cli::screen::{LookError, are_records, print_json};
use crate::sweep::InputFolders;
use crate::workload::input_file;

/// Says which known logs, tables of failures and workflows are at hand, checks size and SHA-256,
/// and where the others come from.
#[derive(Clone, Debug, clap::Args)]
#[command(after_help = "\
Files are looked for in the folders BOOKAHEAD_TRACES, BOOKAHEAD_FAILURES and BOOKAHEAD_WORKFLOWS, plain, .gz or .xz. Sizes and checksums are those of the unpacked content. Nothing is downloaded.

Exit code: 1 when a file is not what it should be, else 0.")]
pub struct KnownTracesArguments {
    /// JSON, for scripts
    #[arg(long)]
    pub json: bool,
}

/// The catalogue.
#[derive(Debug, Deserialize)]
struct Catalogue {
    group: Vec<Group>,
}

/// Files that lie in one folder.
#[derive(Debug, Deserialize)]
struct Group {
    name: String,
    variable: String,
    about: String,
    terms: String,
    page: Option<String>,
    file: Vec<KnownFile>,
}

#[derive(Debug, Deserialize)]
struct KnownFile {
    name: String,
    bytes: Option<u64>,
    sha256: Option<String>,
    page: Option<String>,
    terms: Option<String>,
}

/// Where a log of the catalogue is from, and under which terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownLog {
    /// The page that offers it.
    pub page: Option<String>,
    /// Whom to acknowledge.
    pub terms: Option<String>,
}

/// A log of the catalogue by its name without `.swf`.
#[must_use]
pub fn known_log(name: &str) -> Option<KnownLog> {
    let catalogue = catalogue().ok()?;
    let logs = catalogue
        .group
        .into_iter()
        .find(|group| group.name == LOGS)?;
    let is_it = |file: &KnownFile| file.name.strip_suffix(".swf") == Some(name);
    let KnownFile { page, terms, .. } = logs.file.into_iter().find(is_it)?;
    Some(KnownLog { page, terms })
}

/// The group of logs.
const LOGS: &str = "logs";

fn catalogue() -> Result<Catalogue, toml::de::Error> {
    toml::from_str(include_str!("known_traces.toml"))
}

/// What became of looking for a file.
#[derive(Debug, PartialEq, Eq)]
enum Found {
    /// There is none.
    Missing,
    /// It is what it should be.
    Verified(PathBuf),
    /// Nobody knows what it should be.
    Unchecked(PathBuf),
    /// It is something else, or cannot be read: why.
    Wrong(PathBuf, String),
}

impl KnownFile {
    /// Looks for it in these folders.
    fn find(&self, folders: &[PathBuf]) -> Found {
        let endings = ["", ".gz", ".xz"];
        let places = folders
            .iter()
            .flat_map(|folder| endings.map(|ending| folder.join(format!("{}{ending}", self.name))));
        let Some(path) = places.into_iter().find(|path| path.is_file()) else {
            return Found::Missing;
        };
        let (Some(bytes), Some(sha256)) = (self.bytes, &self.sha256) else {
            return Found::Unchecked(path);
        };
        match digest(&path) {
            Ok((found, _)) if found != bytes => {
                let why = format!("it has {found} bytes unpacked, and should have {bytes}");
                Found::Wrong(path, why)
            }
            Ok((_, found)) if found != *sha256 => {
                let why = format!("its SHA-256 is {found}, and should be {sha256}");
                Found::Wrong(path, why)
            }
            Ok(_) => Found::Verified(path),
            Err(error) => Found::Wrong(path, error.to_string()),
        }
    }

    fn json(&self, group: &Group, found: &Found) -> Value {
        let (state, path, why) = match found {
            Found::Missing => ("missing", None, None),
            Found::Verified(path) => ("verified", Some(path), None),
            Found::Unchecked(path) => ("unchecked", Some(path), None),
            Found::Wrong(path, why) => ("wrong", Some(path), Some(why)),
        };
        json!({
            "file": self.name, "kind": group.name, "state": state, "path": path, "why": why, "bytes": self.bytes,
            "sha256": self.sha256, "page": self.page.as_ref().or(group.page.as_ref()),
            "terms": self.terms.as_ref().map_or(group.terms.clone(), |own| format!("{} {own}", group.terms)),
        })
    }
}

/// Bytes and SHA-256 of a file, unpacked.
fn digest(path: &Path) -> io::Result<(u64, String)> {
    let (mut file, _) = input_file::open(path)?;
    let mut hash = Sha256::new();
    let mut block = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        match file.read(&mut block)? {
            0 => break,
            count => {
                hash.update(&block[..count]);
                bytes += count as u64;
            }
        }
    }
    let mut text = String::new();
    for byte in hash.finalize() {
        let _ = write!(text, "{byte:02x}");
    }
    Ok((bytes, text))
}

/// Prints what is there and what is not.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn execute(arguments: &KnownTracesArguments) -> Result<ExitCode, LookError> {
    let catalogue = catalogue().map_err(|error| LookError::Use(error.to_string()))?;
    let folders = InputFolders::from_environment();
    let (mut text, mut records, mut is_wrong) = (String::new(), Vec::new(), false);
    for group in &catalogue.group {
        let folder = match group.name.as_str() {
            LOGS | "drawn" => folders.traces.clone(),
            "failures" => folders.failures.clone(),
            _ => folders.workflows.clone(),
        };
        let places: Vec<PathBuf> = folder
            .iter()
            .flat_map(|folder| [folder.clone(), folder.join("dax")])
            .collect();
        let found: Vec<Found> = group.file.iter().map(|file| file.find(&places)).collect();
        is_wrong |= found.iter().any(|found| matches!(found, Found::Wrong(..)));
        if are_records(arguments.json) {
            let files = group.file.iter().zip(&found);
            records.extend(files.map(|(file, found)| file.json(group, found)));
        } else {
            say_group(&mut text, group, folder.as_deref(), &found);
        }
    }
    if are_records(arguments.json) {
        print_json(&records.into())?;
    } else {
        crate::cli::print(&text)?;
    }
    Ok(ExitCode::from(u8::from(is_wrong)))
}

fn say_group(text: &mut String, group: &Group, folder: Option<&Path>, found: &[Found]) {
    if !text.is_empty() {
        text.push('\n');
    }
    let place = folder.map_or("is not set".to_owned(), |folder| {
        format!("= {}", folder.display())
    });
    paragraph(
        text,
        &format!("{} {place}: {}", group.variable, group.about),
    );
    let with = |state: &dyn Fn(&Found) -> bool| -> Vec<&KnownFile> {
        let files = group.file.iter().zip(found);
        files
            .filter(|(_, found)| state(found))
            .map(|(file, _)| file)
            .collect()
    };
    let mut rows = Vec::new();
    let verified = with(&|found| matches!(found, Found::Verified(_)));
    if !verified.is_empty() {
        rows.push(("found, SHA-256 right".to_owned(), by_name(&verified)));
    }
    let unchecked = with(&|found| matches!(found, Found::Unchecked(_)));
    if !unchecked.is_empty() {
        rows.push(("found, not checked".to_owned(), by_name(&unchecked)));
    }
    for found in found {
        if let Found::Wrong(path, why) = found {
            let words = format!("{}: {why}", path.display());
            rows.push(("found, but wrong".to_owned(), vec![words]));
        }
    }
    let missing = with(&|found| *found == Found::Missing);
    if !missing.is_empty() {
        let with_page = |file: &&KnownFile| match &file.page {
            Some(page) => format!("{}: {page}", file.name),
            None => file.name.clone(),
        };
        let lines = match missing.iter().any(|file| file.page.is_some()) {
            true => missing.iter().map(with_page).collect(),
            false => by_name(&missing),
        };
        rows.push(("not found".to_owned(), lines));
    }
    if let Some(page) = &group.page {
        rows.push(("from".to_owned(), vec![page.clone()]));
    }
    let own = group.file.iter().filter_map(|file| {
        let terms = file.terms.as_ref()?;
        Some(format!("{}: {terms}", file.name))
    });
    let terms = std::iter::once(group.terms.clone()).chain(own);
    rows.push(("terms".to_owned(), terms.collect()));
    names(text, &rows);
}

/// One file a line where they are few, else one paragraph.
fn by_name(files: &[&KnownFile]) -> Vec<String> {
    let names: Vec<String> = files.iter().map(|file| file.name.clone()).collect();
    if names.len() > 10 {
        vec![names.join(", ")]
    } else {
        names
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> KnownFile {
        let mut hex = String::new();
        for byte in Sha256::digest(text) {
            let _ = write!(hex, "{byte:02x}");
        }
        KnownFile {
            name: "a.swf".to_owned(),
            bytes: Some(text.len() as u64),
            sha256: Some(hex),
            page: None,
            terms: None,
        }
    }

    #[test]
    fn a_file_is_verified_by_what_is_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let places = [folder.path().to_owned()];
        assert_eq!(file("log").find(&places), Found::Missing);
        let path = folder.path().join("a.swf");
        std::fs::write(&path, "log").unwrap();
        assert_eq!(file("log").find(&places), Found::Verified(path.clone()));
        for (text, said) in [("another log", "3 bytes"), ("lag", "SHA-256")] {
            let Found::Wrong(_, why) = file(text).find(&places) else {
                panic!("{text} is not what is in the file");
            };
            assert!(why.contains(said), "{why}");
        }
    }

    #[test]
    fn the_catalogue_names_every_log_that_configurations_read() {
        let catalogue: Catalogue = toml::from_str(include_str!("known_traces.toml")).unwrap();
        let names: Vec<&str> = catalogue
            .group
            .iter()
            .flat_map(|group| group.file.iter().map(|file| file.name.as_str()))
            .collect();
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut logs = 0;
        for paper in crate::cli::reproduce::paper_names(root) {
            let paper = crate::cli::reproduce::Paper::read(root, &paper).unwrap();
            for log in paper.traces.iter().flat_map(|trace| &trace.files) {
                assert!(names.contains(&log.as_str()), "{log}");
                logs += 1;
            }
        }
        assert!(logs > 10, "{logs}");
    }
}
