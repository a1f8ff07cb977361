//! What `reproduce` can run: papers, their traces and their configurations, from the current folder or built in.

use std::fs;
use std::path::{Path, PathBuf};

/// A paper that `reproduce` knows.
#[derive(Debug)]
pub struct Paper {
    /// Its name on the command line, and its folder under `configs/`.
    pub name: &'static str,
    /// Its traces, in the order of its tables.
    pub traces: &'static [PaperTrace],
    /// Copies of every file of its folder: stem and text.
    built_in: &'static [(&'static str, &'static str)],
}

/// One trace of a paper.
#[derive(Debug)]
pub struct PaperTrace {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, for people.
    pub subject: &'static str,
    /// The archive's file name; `None` for a model workload, which needs no file.
    pub file: Option<&'static str>,
    /// Batteries of 1,000 jobs a point.
    pub batteries: usize,
    /// The families of estimate classes that are compared.
    pub families: &'static [&'static str],
    /// What every report on it must say.
    pub remark: Option<&'static str>,
}

impl PaperTrace {
    /// The stem of the configuration of the PoF experiment, then that of the risk experiment.
    #[must_use]
    pub fn configurations(&self) -> [String; 2] {
        [format!("{}-pof", self.name), format!("{}-risk", self.name)]
    }
}

macro_rules! built_in {
    ($paper:literal: $($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../configs/", $paper, "/", $name, ".toml")))),*]
    };
}

const ARCHIVE: &[&str] = &["runtime", "resources"];

/// Every paper, by name.
pub const PAPERS: &[Paper] = &[Paper {
    name: "birkenheuer2012",
    traces: &[
        PaperTrace {
            name: "ctc",
            subject: "CTC SP2, 430 processors",
            file: Some("CTC-SP2-1996-3.1-cln.swf"),
            batteries: 20,
            families: ARCHIVE,
            remark: None,
        },
        PaperTrace {
            name: "hpc2n",
            subject: "HPC2N, 240 processors",
            file: Some("HPC2N-2002-2.2-cln.swf"),
            batteries: 20,
            families: ARCHIVE,
            remark: None,
        },
        PaperTrace {
            name: "lanl",
            subject: "LANL CM-5, 1,024 processors",
            file: Some("LANL-CM5-1994-4.1-cln.swf"),
            batteries: 20,
            families: ARCHIVE,
            remark: None,
        },
        PaperTrace {
            name: "sdsc-blue",
            subject: "SDSC Blue Horizon, 1,152 processors",
            file: Some("SDSC-BLUE-2000-4.2-cln.swf"),
            batteries: 20,
            families: ARCHIVE,
            remark: None,
        },
        PaperTrace {
            name: "sdsc-datastar",
            subject: "SDSC DataStar, 1,664 processors",
            file: Some("SDSC-DS-2004-2.1-cln.swf"),
            batteries: 20,
            families: ARCHIVE,
            remark: Some(
                "No published numbers are checked for this trace: it is kept aside for independent validation.",
            ),
        },
        PaperTrace {
            name: "sdsc-sp2",
            subject: "SDSC SP2, 128 processors",
            file: Some("SDSC-SP2-1998-4.2-cln.swf"),
            batteries: 20,
            families: ARCHIVE,
            remark: None,
        },
        PaperTrace {
            name: "arminius",
            subject: "Arminius, 200 nodes (model workload)",
            file: None,
            batteries: 60,
            families: &["runtime", "resources", "application", "user"],
            remark: Some(
                "The Arminius log is not public. These jobs come from a model fitted to its published totals, so a \
                 difference from the paper may come from the model as well as from the simulation.",
            ),
        },
    ],
    built_in: built_in!("birkenheuer2012":
        "ablation-ctc-battery-load",
        "ablation-ctc-binning",
        "ablation-ctc-classes",
        "ablation-ctc-cleaning",
        "ablation-ctc-condition-on-elapsed",
        "ablation-ctc-down-horizon",
        "ablation-ctc-early-start",
        "ablation-ctc-early-start-and-restart",
        "ablation-ctc-equal-thresholds",
        "ablation-ctc-failure-offset",
        "ablation-ctc-failure-rate",
        "ablation-ctc-full-length-test",
        "ablation-ctc-laxity",
        "ablation-ctc-load",
        "ablation-ctc-no-failures",
        "ablation-ctc-no-restart",
        "ablation-ctc-overrun",
        "ablation-ctc-placing",
        "ablation-ctc-replan",
        "ablation-ctc-restart",
        "ablation-ctc-survival-form",
        "ablation-ctc-time-step",
        "ablation-hpc2n-down-horizon",
        "ablation-hpc2n-failure-offset",
        "ablation-hpc2n-no-restart",
        "ablation-hpc2n-processors",
        "ablation-hpc2n-restart",
        "ablation-lanl-cleaning",
        "ablation-lanl-down-horizon",
        "ablation-lanl-failure-offset",
        "ablation-lanl-no-restart",
        "ablation-lanl-overrun",
        "ablation-lanl-processors",
        "ablation-lanl-restart",
        "ablation-sdsc-blue-no-restart",
        "ablation-sdsc-blue-processors",
        "ablation-sdsc-sp2-no-restart",
        "arminius-pof",
        "arminius-risk",
        "ctc-pof",
        "ctc-risk",
        "hpc2n-pof",
        "hpc2n-risk",
        "lanl-pof",
        "lanl-risk",
        "explanations",
        "published",
        "sdsc-blue-pof",
        "sdsc-blue-risk",
        "sdsc-datastar-pof",
        "sdsc-datastar-risk",
        "sdsc-sp2-pof",
        "sdsc-sp2-risk",
    ),
}];

/// Finds a paper by name.
#[must_use]
pub fn paper(name: &str) -> Option<&'static Paper> {
    PAPERS.iter().find(|paper| paper.name == name)
}

/// One experiment file, as read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    /// The stem of its file name, such as `ctc-pof`.
    pub name: String,
    /// Where it was read; `None` for the copy in the program.
    pub path: Option<PathBuf>,
    /// Its text.
    pub text: String,
}

impl Configuration {
    /// How errors and listings call it.
    #[must_use]
    pub fn origin(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => format!("{}.toml (built in)", self.name),
        }
    }

    /// The first paragraph of its opening comment: what it varies and what to look at.
    #[must_use]
    pub fn summary(&self) -> String {
        let words: Vec<&str> = self
            .text
            .lines()
            .map_while(|line| line.strip_prefix('#'))
            .map(str::trim)
            .take_while(|line| !line.is_empty())
            .collect();
        words.join(" ")
    }
}

/// A configuration that should be there and cannot be read.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot read the configuration {path}: {source}; restore it, or run in a folder without configs/{paper}/ to use the copies in the program"
)]
pub struct ConfigurationError {
    path: PathBuf,
    paper: &'static str,
    source: std::io::Error,
}

impl Paper {
    /// Finds a trace by name.
    #[must_use]
    pub fn trace(&self, name: &str) -> Option<&'static PaperTrace> {
        self.traces.iter().find(|trace| trace.name == name)
    }

    /// Reads one file of the paper's folder: from `configs/<paper>/` under `root` when that folder exists, else the copy
    /// in the program.
    ///
    /// # Errors
    ///
    /// When the folder exists and the file in it cannot be read.
    pub fn configuration(
        &self,
        root: &Path,
        stem: &str,
    ) -> Result<Configuration, ConfigurationError> {
        let folder = root.join("configs").join(self.name);
        let path = folder.join(format!("{stem}.toml"));
        let copy = self.built_in.iter().find(|(name, _)| *name == stem);
        match copy {
            Some((_, text)) if !folder.is_dir() => Ok(Configuration {
                name: stem.to_owned(),
                path: None,
                text: (*text).to_owned(),
            }),
            _ => match fs::read_to_string(&path) {
                Ok(text) => Ok(Configuration {
                    name: stem.to_owned(),
                    path: Some(path),
                    text,
                }),
                Err(source) => Err(ConfigurationError {
                    path,
                    paper: self.name,
                    source,
                }),
            },
        }
    }

    /// The stems of all its experiment files, sorted: the evaluation of each trace and the ablations.
    ///
    /// # Errors
    ///
    /// When the folder exists under `root` and cannot be listed.
    pub fn stems(&self, root: &Path) -> Result<Vec<String>, ConfigurationError> {
        let folder = root.join("configs").join(self.name);
        let mut stems = Vec::new();
        if folder.is_dir() {
            let refuse = |source| ConfigurationError {
                path: folder.clone(),
                paper: self.name,
                source,
            };
            for entry in fs::read_dir(&folder).map_err(refuse)? {
                let path = entry.map_err(refuse)?.path();
                if path
                    .extension()
                    .is_some_and(|extension| extension == "toml")
                    && let Some(stem) = path.file_stem().and_then(|stem| stem.to_str())
                {
                    stems.push(stem.to_owned());
                }
            }
        } else {
            stems.extend(self.built_in.iter().map(|(name, _)| (*name).to_owned()));
        }
        stems.retain(|stem| stem != PUBLISHED && stem != EXPLANATIONS);
        stems.sort();
        Ok(stems)
    }
}

/// The stem of the file of published claims.
pub const PUBLISHED: &str = "published";

/// The stem of the file that explains missed claims.
pub const EXPLANATIONS: &str = "explanations";

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> &'static Path {
        Path::new(env!("CARGO_MANIFEST_DIR"))
    }

    #[test]
    fn the_copies_in_the_program_are_the_files_of_the_folder() {
        for paper in PAPERS {
            let nowhere = Path::new("/no/such/folder");
            let files = paper.stems(here()).unwrap();
            assert_eq!(paper.stems(nowhere).unwrap(), files);
            for stem in files
                .iter()
                .map(String::as_str)
                .chain([PUBLISHED, EXPLANATIONS])
            {
                let file = paper.configuration(here(), stem).unwrap();
                let copy = paper.configuration(nowhere, stem).unwrap();
                assert_eq!(file.text, copy.text, "{stem}");
                assert!(file.path.is_some() && copy.path.is_none());
            }
        }
    }

    #[test]
    fn every_trace_has_both_experiments_and_every_file_says_what_to_look_at() {
        let paper = paper("birkenheuer2012").unwrap();
        let stems = paper.stems(here()).unwrap();
        for trace in paper.traces {
            for stem in trace.configurations() {
                assert!(stems.contains(&stem), "{stem}");
                let text = paper.configuration(here(), &stem).unwrap().text;
                if let Some(file) = trace.file {
                    assert!(text.contains(&format!("trace = \"{file}\"")), "{stem}");
                }
                assert!(
                    text.contains(&format!("replications = {}\n", trace.batteries)),
                    "{stem}"
                );
                for family in trace.families {
                    assert!(text.contains(&format!("\"{family}\"")), "{stem}: {family}");
                }
            }
        }
        for stem in &stems {
            let configuration = paper.configuration(here(), stem).unwrap();
            assert!(configuration.text.contains("# Look at: "), "{stem}");
            assert!(
                configuration.text.contains(&format!("name = \"{stem}\"")),
                "{stem}"
            );
            assert!(!configuration.summary().is_empty());
            assert!(
                toml::from_str::<toml::Table>(&configuration.text).is_ok(),
                "{stem}"
            );
        }
    }

    #[test]
    fn a_folder_with_a_missing_file_is_an_error_that_names_it() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("configs/birkenheuer2012")).unwrap();
        let paper = paper("birkenheuer2012").unwrap();
        let error = paper.configuration(folder.path(), "ctc-pof").unwrap_err();
        assert!(error.to_string().contains("ctc-pof.toml"), "{error}");
    }

    #[test]
    fn the_model_page_decides_every_ambiguity_and_names_only_ablations_that_exist() {
        let page = include_str!("../../../docs/model.md");
        for number in 1..=45 {
            assert!(
                page.contains(&format!("\n| A-{number:02} | ")),
                "A-{number:02}"
            );
        }
        let stems = paper("birkenheuer2012").unwrap().stems(here()).unwrap();
        let named: Vec<&str> = page
            .split('`')
            .filter(|word| word.starts_with("ablation-"))
            .collect();
        assert!(named.len() > 20);
        for name in named {
            assert!(
                stems.iter().any(|stem| stem == name),
                "{name} does not exist"
            );
        }
    }
}
