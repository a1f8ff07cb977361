//! The lines of a `slurm.conf`: comments, continued lines, included files, and pairs of key and
//! value.

use std::path::{Path, PathBuf};

use super::{Includes, SlurmError};
use crate::machine_queue::machines::read_text;

/// Files that include each other end here.
const DEEPEST: usize = 10;
/// Files in all.
const MOST_FILES: usize = 200;

/// A line with the file and the number (from 1) at which it begins.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub(super) file: PathBuf,
    pub(super) number: usize,
    /// Keys as they are spelled, with their values without quotes.
    pub(super) pairs: Vec<(String, String)>,
}

impl Line {
    /// An error at this line.
    pub(super) fn fault(&self, key: &str, what: impl Into<String>) -> SlurmError {
        SlurmError::Line {
            file: self.file.clone(),
            line: self.number,
            key: key.to_owned(),
            what: what.into(),
        }
    }

    /// The value of a key, whatever its case.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        (self.pairs.iter())
            .find(|(name, _)| name.eq_ignore_ascii_case(key))
            .map(|(_, value)| value.as_str())
    }
}

/// All lines of a file and of those that it includes, in order.
pub(super) fn lines(path: &Path, text: &str, includes: Includes) -> Result<Vec<Line>, SlurmError> {
    let mut reader = Reader {
        folder: path.parent().unwrap_or(Path::new("")).to_owned(),
        includes,
        cluster: None,
        files: 0,
        lines: Vec::new(),
    };
    reader.read(path, text, 0)?;
    Ok(reader.lines)
}

struct Reader {
    folder: PathBuf,
    includes: Includes,
    cluster: Option<String>,
    files: usize,
    lines: Vec<Line>,
}

impl Reader {
    fn read(&mut self, file: &Path, text: &str, depth: usize) -> Result<(), SlurmError> {
        let mut begun: Option<(usize, String)> = None;
        let physical = text.lines().enumerate();
        for (at, line) in physical.chain([(usize::MAX, "")]) {
            let line = without_comment(line);
            let (number, mut whole) = begun
                .take()
                .unwrap_or((at.saturating_add(1), String::new()));
            if let Some(begin) = line.trim_end().strip_suffix('\\') {
                whole.push_str(begin);
                whole.push(' ');
                begun = Some((number, whole));
                continue;
            }
            whole.push_str(&line);
            self.line(file, number, whole.trim(), depth)?;
        }
        Ok(())
    }

    fn line(
        &mut self,
        file: &Path,
        number: usize,
        text: &str,
        depth: usize,
    ) -> Result<(), SlurmError> {
        if text.is_empty() {
            return Ok(());
        }
        let mut line = Line {
            file: file.to_owned(),
            number,
            pairs: Vec::new(),
        };
        let first = text.split_whitespace().next().unwrap_or("");
        if first.eq_ignore_ascii_case("include") {
            let name = text[first.len()..].trim().trim_matches('"');
            let name = name.replace("%c", self.cluster.as_deref().unwrap_or("%c"));
            self.files += 1;
            if depth == DEEPEST || self.files > MOST_FILES {
                return Err(line.fault("Include", "too many files include each other"));
            }
            let path = self.folder.join(name);
            if self.includes == Includes::Below && is_outside(&self.folder, &path) {
                let what = "the file is outside of the folder of the first file; copy it there, or allow it: --include-anywhere";
                return Err(line.fault("Include", what));
            }
            let text =
                read_text(&path).map_err(|error| line.fault("Include", error.to_string()))?;
            return self.read(&path, &text, depth + 1);
        }
        line.pairs = pairs(text).map_err(|what| line.fault("Key=value", what))?;
        if let Some(cluster) = line.get("ClusterName") {
            self.cluster = Some(cluster.to_owned());
        }
        self.lines.push(line);
        Ok(())
    }
}

/// Whether a file that is there is not below a folder, behind all links.
fn is_outside(folder: &Path, path: &Path) -> bool {
    let folder = match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    };
    match (folder.canonicalize(), path.canonicalize()) {
        (Ok(folder), Ok(path)) => !path.starts_with(folder),
        // What is not there is refused when it is read.
        _ => false,
    }
}

/// The text before a `#`; `\#` is the character.
fn without_comment(line: &str) -> String {
    let mut kept = String::new();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' if letters.peek() == Some(&'#') => kept.extend(letters.next()),
            '#' => break,
            _ => kept.push(letter),
        }
    }
    kept
}

/// `Key=value Key="a value"`. A line that is none may be of another file, so what is wrong says
/// nothing of what it holds.
fn pairs(text: &str) -> Result<Vec<(String, String)>, &'static str> {
    let mut pairs = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((key, behind)) = rest.split_once('=') else {
            return Err("a word has no value; write Key=value, and quote values with blanks");
        };
        let key = key.trim().trim_end_matches('+');
        if key.is_empty() || key.contains(char::is_whitespace) {
            return Err(
                "something before a `=` is no key; write Key=value, and quote values with blanks",
            );
        }
        let behind = behind.trim_start();
        let (value, after) = match behind.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').ok_or("quotes are not closed")?,
            None => match behind.find(char::is_whitespace) {
                Some(end) => behind.split_at(end),
                None => (behind, ""),
            },
        };
        pairs.push((key.to_owned(), value.to_owned()));
        rest = after.trim_start();
    }
    Ok(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(usize, Vec<(String, String)>)> {
        let lines = lines(Path::new("slurm.conf"), text, Includes::Below).expect("sound lines");
        lines
            .into_iter()
            .map(|line| (line.number, line.pairs))
            .collect()
    }

    #[test]
    fn lines_go_on_behind_a_backslash_and_end_at_a_number_sign() {
        let found = read(
            "# all\nNodeName=n[1-2] \\\n  CPUs=8 # eight\n\nReason=\"a \\# b\" Key = v\nlast=1 \\",
        );
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            found,
            [
                (2, vec![pair("NodeName", "n[1-2]"), pair("CPUs", "8")]),
                (5, vec![pair("Reason", "a # b"), pair("Key", "v")]),
                (6, vec![pair("last", "1")]),
            ]
        );
    }

    #[test]
    fn included_files_stand_where_they_are_included_and_know_the_cluster() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("small_nodes"), "NodeName=a CPUs=2").unwrap();
        let main = place.path().join("slurm.conf");
        let text = "ClusterName=small\ninclude %c_nodes\nPartitionName=p";
        let keys: Vec<String> = lines(&main, text, Includes::Below)
            .unwrap()
            .into_iter()
            .map(|line| line.pairs[0].0.clone())
            .collect();
        assert_eq!(keys, ["ClusterName", "NodeName", "PartitionName"]);
        std::fs::write(place.path().join("slurm.conf"), "Include slurm.conf").unwrap();
        let error = lines(&main, "Include slurm.conf", Includes::Below)
            .unwrap_err()
            .to_string();
        assert!(error.contains("include each other"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_outside_of_the_folder_is_included_only_where_that_is_allowed() {
        let place = tempfile::tempdir().unwrap();
        let (inside, outside) = (place.path().join("etc"), place.path().join("secret.conf"));
        std::fs::create_dir_all(inside.join("nodes")).unwrap();
        std::fs::write(&outside, "NodeName=hidden CPUs=2").unwrap();
        std::fs::write(inside.join("nodes/a.conf"), "NodeName=a CPUs=2").unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link.conf")).unwrap();
        let main = inside.join("slurm.conf");
        for name in [
            "../secret.conf",
            "link.conf",
            "nodes/../../secret.conf",
            outside.to_str().unwrap(),
        ] {
            let text = format!("Include {name}");
            let error = lines(&main, &text, Includes::Below)
                .unwrap_err()
                .to_string();
            assert!(
                error.contains("slurm.conf:1: `Include`: the file is outside"),
                "{error}"
            );
            assert!(!error.contains("hidden"), "{error}");
            assert_eq!(lines(&main, &text, Includes::Anywhere).unwrap().len(), 1);
        }
        for name in [
            "nodes/a.conf",
            "nodes/../nodes/a.conf",
            inside.join("nodes/a.conf").to_str().unwrap(),
        ] {
            assert_eq!(
                lines(&main, &format!("Include {name}"), Includes::Below)
                    .unwrap()
                    .len(),
                1
            );
        }
    }

    #[test]
    fn a_line_of_another_kind_of_file_is_not_repeated() {
        for text in ["root:$6$hunter2:19000::", "pass hunter2 = 1", "hunter2=\"1"] {
            let error = lines(Path::new("passwords.conf"), text, Includes::Below).unwrap_err();
            assert!(
                error.to_string().starts_with("passwords.conf:1: "),
                "{error}"
            );
            assert!(!error.to_string().contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn a_line_that_is_no_list_of_pairs_is_told_with_its_number() {
        for (text, told) in [
            ("A=1\nB", "slurm.conf:2: `Key=value`: a word has no value"),
            ("A=\"1", "quotes are not closed"),
            ("A=1 b c=2", "something before a `=` is no key"),
            ("Include nowhere.conf", "cannot be read"),
        ] {
            let error = lines(Path::new("slurm.conf"), text, Includes::Below)
                .unwrap_err()
                .to_string();
            assert!(error.contains(told), "{error}");
        }
    }
}
