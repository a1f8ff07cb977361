//! Papers that `reproduce` can run: each is a folder of files. `configs/<paper>/paper.toml` names
//! the traces and the runs on each:
//!
//! ```toml
//! title = "A. Author: A paper, 2020"
//!
//! [citation]                              # optional: for `report --cite`
//! kind = "conference"                     # or journal, report, dissertation, thesis
//! authors = ["A. Author"]
//! title = "A paper"
//! venue = "A conference"                  # conference, journal, university or institution
//! year = 2020
//!
//! [[trace]]
//! name = "ctc"                            # `reproduce --trace ctc`, and the folder of its cards
//! subject = "CTC SP2, 430 processors"     # for people
//! files = ["CTC-SP2-1996-3.1-cln.swf"]    # of the archive; none for a model workload
//! remark = "What every card must say."    # optional
//! runs = ["ctc-load", "ctc-order"]        # configurations beside this file; the first one's report is that of the trace
//! on_request = true                       # optional: takes so long that it is run only where `--trace` names it
//!
//! [[summary]]                             # optional: a summary figure of the paper, drawn on its page
//! figure = "6.26"
//! title = "Maximum gain"
//! unit = "coins"
//! experiment = "pof"                      # which numbers of tables (see `findings::tables`) …
//! quantity = "max-gain"
//! traces = ["ctc"]                        # … of which traces and strategies: all where left out
//! strategies = ["heuristic-planning"]
//! panels = "family"                       # a drawing each: trace, family, strategy or setting; optional
//! groups = "trace"                        # along a drawing
//! series = "strategy"                     # side by side
//! ```
//!
//! What the paper claims stands in `findings.toml` (see [`findings`](bookahead_papers::findings)).
//! The papers of this repository are copied into the program; those below `configs/` of the current
//! folder come before them.

mod citation;
mod configuration;

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::Deserialize;

pub use citation::Citation;
pub use configuration::Configuration;

use super::names;
use crate::ours::told;
use crate::workload::input_file;
use bookahead_papers::findings::{PublishedPoints, READINGS};
use bookahead_papers::reproduction::SummaryFigure;

/// A paper of the repository.
#[derive(Debug)]
struct BuiltIn {
    name: &'static str,
    /// Stem and text of its TOML files.
    files: &'static [(&'static str, &'static str)],
    /// Stem and content of its compressed files of published points.
    points: &'static [(&'static str, &'static [u8])],
}

/// Every paper of the repository.
const BUILT_IN: &[BuiltIn] = include!(concat!(env!("OUT_DIR"), "/papers.rs"));

/// The stem of the file that says what a paper is.
pub const PAPER: &str = "paper";

/// No file of published points is larger, in bytes of text.
const LONGEST_POINTS: u64 = 1 << 26;

/// The stem of the file of findings.
pub const FINDINGS: &str = "findings";

/// The stem of the file that explains what was missed.
pub const EXPLANATIONS: &str = "explanations";

/// How the card of findings that compare traces is called.
pub(super) const JOINT: &str = "both";

/// A paper that `reproduce` knows.
#[derive(Clone, Debug)]
pub struct Paper {
    /// Its name on the command line, and its folder under `configs/`.
    pub name: String,
    /// Author, title, place and year.
    pub title: String,
    /// The same in parts; `None` where its file does not say.
    pub citation: Option<Citation>,
    /// Its traces, in the order of its tables and figures.
    pub traces: Vec<PaperTrace>,
    /// Its summary figures.
    pub summaries: Vec<SummaryFigure>,
    files: Folder,
}

/// One trace of a paper.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperTrace {
    /// Its name on the command line.
    pub name: String,
    /// What it is, for people.
    pub subject: String,
    /// The archive's file names; none for a model workload, which needs no file.
    #[serde(default)]
    pub files: Vec<String>,
    /// What every report on it must say.
    pub remark: Option<String>,
    /// The stems of the configurations that are run, which findings name as `run`; the first one's
    /// report is that of the trace. Other files of the folder are run by hand.
    pub runs: Vec<String>,
    /// Whether it is run only where it is asked for by name.
    #[serde(default)]
    pub on_request: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawPaper {
    title: String,
    citation: Option<Citation>,
    trace: Vec<toml::Spanned<PaperTrace>>,
    #[serde(default)]
    summary: Vec<SummaryFigure>,
}

/// Why a paper cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// There is none of this name.
    #[error(
        "no paper is called `{name}`; there are: {known}; configs/{name}/paper.toml in the current folder would make one"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A file that should be there and cannot be read.
    #[error("cannot read the configuration {path}: {source}; {help}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What can be done.
        help: String,
        /// Why.
        source: std::io::Error,
    },
    /// Not TOML, or a key that is not known.
    #[error("{file}: {what}")]
    Syntax {
        /// The file.
        file: String,
        /// Where and what.
        what: String,
    },
    /// A summary figure that cannot be drawn.
    #[error("{file}: summary figure `{figure}`: {problem}")]
    Summary {
        /// The file.
        file: String,
        /// Its number.
        figure: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A trace that cannot be run.
    #[error("{file}, line {line}: trace `{trace}`: {problem}")]
    Trace {
        /// The file.
        file: String,
        /// Where the trace begins.
        line: usize,
        /// Its name.
        trace: String,
        /// The key, what is wrong with it and what to do.
        problem: String,
    },
}

/// The names of all papers, sorted: those of the program and those below `configs/` of `root`.
#[must_use]
pub fn paper_names(root: &Path) -> Vec<String> {
    let mut found: Vec<String> = BUILT_IN.iter().map(|paper| paper.name.to_owned()).collect();
    let folders = fs::read_dir(root.join("configs")).into_iter().flatten();
    for folder in folders.flatten() {
        let has_paper = folder.path().join(format!("{PAPER}.toml")).is_file();
        found.extend(folder.file_name().into_string().ok().filter(|_| has_paper));
    }
    found.sort();
    found.dedup();
    found
}

/// Where the files of a paper are.
#[derive(Clone, Debug)]
enum Folder {
    /// Below the current folder.
    Own(PathBuf),
    /// In the program.
    BuiltIn(&'static BuiltIn),
}

impl Paper {
    /// Finds a paper by name: below `configs/` of `root` where it has a folder there, else in the
    /// program.
    ///
    /// # Errors
    ///
    /// When there is none, or its file is wrong: names the file, the line, the key and what to do.
    pub fn read(root: &Path, name: &str) -> Result<Self, PaperError> {
        let own = root.join("configs").join(name);
        let copies = BUILT_IN.iter().find(|known| known.name == name);
        let is_name = Path::new(name).components().count() == 1 && name != "..";
        let files = match copies {
            Some(paper) if !own.is_dir() => Folder::BuiltIn(paper),
            Some(_) => Folder::Own(own),
            None if is_name && own.join(format!("{PAPER}.toml")).is_file() => Folder::Own(own),
            None => {
                return Err(PaperError::Unknown {
                    name: name.to_owned(),
                    known: names(paper_names(root).iter().map(String::as_str)),
                });
            }
        };
        let mut paper = Self {
            name: name.to_owned(),
            title: String::new(),
            citation: None,
            traces: Vec::new(),
            summaries: Vec::new(),
            files,
        };
        let file = paper.configuration(PAPER)?;
        let raw: RawPaper = toml::from_str(&file.text).map_err(|error| PaperError::Syntax {
            file: file.origin(),
            what: told(
                &error,
                &file.text,
                "a paper is TOML with [[trace]]",
                |path| path.starts_with("trace."),
            ),
        })?;
        paper.title = raw.title;
        paper.citation = raw.citation;
        let stems = paper.stems()?;
        for trace in raw.trace {
            let line = 1 + file.text[..trace.span().start].matches('\n').count();
            let trace = trace.into_inner();
            paper
                .check(&trace, &stems)
                .map_err(|problem| PaperError::Trace {
                    file: file.origin(),
                    line,
                    trace: trace.name.clone(),
                    problem,
                })?;
            paper.traces.push(trace);
        }
        for summary in &raw.summary {
            let mut traces = summary.traces.iter();
            if let Some(unknown) = traces.find(|name| paper.trace(name).is_none()) {
                return Err(paper.refuse(
                    summary,
                    format!("`traces` names `{unknown}`, which is none"),
                ));
            }
        }
        paper.summaries = raw.summary;
        Ok(paper)
    }

    /// Why a summary figure cannot be drawn.
    pub(super) fn refuse(&self, summary: &SummaryFigure, problem: String) -> PaperError {
        PaperError::Summary {
            file: self
                .configuration(PAPER)
                .map_or_else(|_| PAPER.to_owned(), |file| file.origin()),
            figure: summary.figure.clone(),
            problem,
        }
    }

    /// Whether a trace can stand behind those that are there already; the error is the problem
    /// alone.
    fn check(&self, trace: &PaperTrace, stems: &[String]) -> Result<(), String> {
        let is_good = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
        if trace.name.is_empty() || !trace.name.chars().all(is_good) {
            return Err(
                "`name` has letters, digits, `-` and `_` only: it names a folder".to_owned(),
            );
        }
        if trace.name == JOINT {
            return Err(format!(
                "`name`: `{JOINT}` is the card of findings that compare traces; choose another"
            ));
        }
        if self.trace(&trace.name).is_some() {
            return Err("`name` appears twice; names of traces must be unique".to_owned());
        }
        if trace.runs.is_empty() {
            return Err("`runs` is empty; name a configuration of this folder".to_owned());
        }
        for (place, stem) in trace.runs.iter().enumerate() {
            if !stems.contains(stem) {
                return Err(format!(
                    "`runs` names `{stem}`, and there is no {stem}.toml beside this file; there are: {}",
                    names(stems.iter().map(String::as_str))
                ));
            }
            let others = self.traces.iter().flat_map(|known| &known.runs);
            if others
                .chain(&trace.runs[..place])
                .any(|known| known == stem)
            {
                return Err(format!(
                    "`runs` names `{stem}`, which is run already; a configuration belongs to one trace"
                ));
            }
        }
        Ok(())
    }

    /// Finds a trace by name.
    #[must_use]
    pub fn trace(&self, name: &str) -> Option<&PaperTrace> {
        self.traces.iter().find(|trace| trace.name == name)
    }

    /// The trace on which a configuration is run.
    #[must_use]
    pub fn trace_of(&self, stem: &str) -> Option<&PaperTrace> {
        let runs = |trace: &&PaperTrace| trace.runs.iter().any(|run| run == stem);
        self.traces.iter().find(runs)
    }

    /// Reads one file of the paper's folder.
    ///
    /// # Errors
    ///
    /// When it cannot be read.
    pub fn configuration(&self, stem: &str) -> Result<Configuration, PaperError> {
        let read = |path: Option<PathBuf>, text: String| Configuration {
            name: stem.to_owned(),
            path,
            text,
            reading: None,
        };
        let (path, found) = match &self.files {
            Folder::Own(folder) => {
                let path = folder.join(format!("{stem}.toml"));
                (
                    path.clone(),
                    input_file::read_text(&path).map(|text| read(Some(path), text)),
                )
            }
            Folder::BuiltIn(paper) => {
                let copy = paper.files.iter().find(|(known, _)| *known == stem);
                let found = copy.map(|(_, text)| read(None, (*text).to_owned()));
                let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
                (format!("{stem}.toml").into(), found.ok_or_else(missing))
            }
        };
        found.map_err(|source| {
            let is_copied = BUILT_IN.iter().any(|known| known.name == self.name);
            let help = if is_copied {
                format!(
                    "restore it, or run in a folder without configs/{}/ to use the copies in the program",
                    self.name
                )
            } else {
                "write it (docs/configuration.md says how)".to_owned()
            };
            PaperError::Unreadable { path, help, source }
        })
    }

    /// [`Self::configuration`] of a file that a paper need not have; `None` where it has not.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    pub fn optional(&self, stem: &str) -> Result<Option<Configuration>, PaperError> {
        let is_there = match &self.files {
            Folder::Own(folder) => folder.join(format!("{stem}.toml")).exists(),
            Folder::BuiltIn(paper) => paper.files.iter().any(|(known, _)| *known == stem),
        };
        is_there.then(|| self.configuration(stem)).transpose()
    }

    /// Reads a file of published points, `STEM.csv.gz`.
    ///
    /// # Errors
    ///
    /// When it cannot be read or is none.
    pub fn points(&self, stem: &str) -> Result<PublishedPoints, PaperError> {
        let path = match &self.files {
            Folder::Own(folder) => folder.join(format!("{stem}.csv.gz")),
            Folder::BuiltIn(_) => format!("{stem}.csv.gz").into(),
        };
        let content = match &self.files {
            Folder::Own(_) => input_file::open_plain(&path).and_then(|file| {
                let mut content = Vec::new();
                file.take(LONGEST_POINTS).read_to_end(&mut content)?;
                Ok(content)
            }),
            Folder::BuiltIn(paper) => {
                let copy = paper.points.iter().find(|(known, _)| *known == stem);
                let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
                copy.map(|(_, content)| content.to_vec())
                    .ok_or_else(missing)
            }
        };
        let read = |content: Vec<u8>| {
            let mut text = String::new();
            flate2::read::GzDecoder::new(&*content)
                .take(LONGEST_POINTS)
                .read_to_string(&mut text)?;
            PublishedPoints::parse(&text).map_err(std::io::Error::other)
        };
        content
            .and_then(read)
            .map_err(|source| PaperError::Unreadable {
                path,
                help: "findings name it as `points`".to_owned(),
                source,
            })
    }

    /// The stems of all its experiment files, sorted: what is run and what is run by hand.
    ///
    /// # Errors
    ///
    /// When its folder cannot be listed.
    pub fn stems(&self) -> Result<Vec<String>, PaperError> {
        let mut stems: Vec<String> = match &self.files {
            Folder::Own(folder) => {
                let listed: Result<Vec<_>, _> = fs::read_dir(folder).and_then(Iterator::collect);
                let listed = listed.map_err(|source| PaperError::Unreadable {
                    path: folder.clone(),
                    help: "check its permissions".to_owned(),
                    source,
                })?;
                let names = listed
                    .iter()
                    .filter_map(|entry| entry.file_name().into_string().ok());
                names
                    .filter_map(|name| Some(name.strip_suffix(".toml")?.to_owned()))
                    .collect()
            }
            Folder::BuiltIn(paper) => {
                let stems = paper.files.iter().map(|(stem, _)| (*stem).to_owned());
                stems.collect()
            }
        };
        stems.retain(|stem| ![PAPER, FINDINGS, EXPLANATIONS, READINGS].contains(&stem.as_str()));
        stems.sort();
        Ok(stems)
    }
}

#[cfg(test)]
mod tests;
