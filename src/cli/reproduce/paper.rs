//! What `reproduce` can run: papers, their traces and their configurations, from the current folder or built in.

use std::fs;
use std::path::{Path, PathBuf};

use super::papers::PAPERS;
use crate::report::claims::READINGS;

/// A paper that `reproduce` knows.
#[derive(Debug)]
pub struct Paper {
    /// Its name on the command line, and its folder under `configs/`.
    pub name: &'static str,
    /// Its traces, and what its results are.
    pub results: Results,
    /// Copies of every file of its folder: stem and text.
    pub(super) built_in: &'static [(&'static str, &'static str)],
}

/// What a paper's results are, by trace: this decides what is run and how it is judged.
#[derive(Clone, Copy, Debug)]
pub enum Results {
    /// Tables of numbers, judged by claims (`published.toml`).
    Tables(&'static [TableTrace]),
    /// Curves, judged by findings (`findings.toml`).
    Curves(&'static [CurveTrace]),
}

/// One trace of a paper.
#[derive(Clone, Copy, Debug)]
pub struct PaperTrace {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, for people.
    pub subject: &'static str,
    /// The archive's file name; `None` for a model workload, which needs no file.
    pub file: Option<&'static str>,
    /// What every report on it must say.
    pub remark: Option<&'static str>,
}

/// One trace of a paper of tables.
#[derive(Debug)]
pub struct TableTrace {
    /// What is replayed.
    pub trace: PaperTrace,
    /// Batteries of 1,000 jobs a point.
    pub batteries: usize,
    /// The families of estimate classes that are compared.
    pub families: &'static [&'static str],
}

impl TableTrace {
    /// The stem of the configuration of the PoF experiment, then that of the risk experiment.
    #[must_use]
    pub fn configurations(&self) -> [String; 2] {
        let name = self.trace.name;
        [format!("{name}-pof"), format!("{name}-risk")]
    }

    /// The stem of the configuration of the risk experiment with the failure clock moved, which a paper need not have.
    #[must_use]
    pub fn alignment(&self) -> String {
        format!("{}-alignment", self.trace.name)
    }
}

/// One trace of a paper of curves.
#[derive(Debug)]
pub struct CurveTrace {
    /// What is replayed.
    pub trace: PaperTrace,
    /// File names of further traces that its configurations read.
    pub further: &'static [&'static str],
    /// The stems of the configurations that are run, which its findings name as `run`; the first one's report is that of the
    /// trace. Other files of the folder are run by hand.
    pub stems: &'static [&'static str],
}

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
    /// The reading of the paper that it follows, where that is not the default.
    pub reading: Option<String>,
}

impl Configuration {
    /// How errors and listings call it.
    #[must_use]
    pub fn origin(&self) -> String {
        let file = match &self.path {
            Some(path) => path.display().to_string(),
            None => {
                let stem = self.name.split('@').next().unwrap_or(&self.name);
                format!("{stem}.toml (built in)")
            }
        };
        match &self.reading {
            Some(reading) => format!("{file}, reading {reading}"),
            None => file,
        }
    }

    /// The first paragraph of its opening comment: what it varies and what to look at. A line for editors (`#:schema`) is none of
    /// it.
    #[must_use]
    pub fn summary(&self) -> String {
        let words: Vec<&str> = self
            .text
            .lines()
            .filter(|line| !line.starts_with("#:"))
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
    /// Its traces, in the order of its tables and figures.
    #[must_use]
    pub fn traces(&self) -> Vec<&'static PaperTrace> {
        match self.results {
            Results::Tables(traces) => traces.iter().map(|table| &table.trace).collect(),
            Results::Curves(traces) => traces.iter().map(|curve| &curve.trace).collect(),
        }
    }

    /// Finds a trace by name.
    #[must_use]
    pub fn trace(&self, name: &str) -> Option<&'static PaperTrace> {
        self.traces().into_iter().find(|trace| trace.name == name)
    }

    /// The stem of the file that says what the paper claims.
    #[must_use]
    pub fn claims_file(&self) -> &'static str {
        match self.results {
            Results::Tables(_) => PUBLISHED,
            Results::Curves(_) => FINDINGS,
        }
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
                reading: None,
            }),
            _ => match fs::read_to_string(&path) {
                Ok(text) => Ok(Configuration {
                    name: stem.to_owned(),
                    path: Some(path),
                    text,
                    reading: None,
                }),
                Err(source) => Err(ConfigurationError {
                    path,
                    paper: self.name,
                    source,
                }),
            },
        }
    }

    /// [`Self::configuration`] of a file that a paper need not have; `None` where it has not.
    ///
    /// # Errors
    ///
    /// When it is there and cannot be read.
    pub fn optional(
        &self,
        root: &Path,
        stem: &str,
    ) -> Result<Option<Configuration>, ConfigurationError> {
        let folder = root.join("configs").join(self.name);
        let is_there = if folder.is_dir() {
            folder.join(format!("{stem}.toml")).exists()
        } else {
            self.built_in.iter().any(|(name, _)| *name == stem)
        };
        is_there.then(|| self.configuration(root, stem)).transpose()
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
        let is_data = |stem: &str| [self.claims_file(), EXPLANATIONS, READINGS].contains(&stem);
        stems.retain(|stem| !is_data(stem));
        stems.sort();
        Ok(stems)
    }
}

/// The stem of the file of published claims.
pub const PUBLISHED: &str = "published";

/// The stem of the file of findings about curves.
pub const FINDINGS: &str = "findings";

/// The stem of the file that explains what was missed.
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
            let readings = paper.optional(here(), READINGS).unwrap().map(|_| READINGS);
            for stem in files
                .iter()
                .map(String::as_str)
                .chain([paper.claims_file(), EXPLANATIONS])
                .chain(readings)
            {
                let file = paper.configuration(here(), stem).unwrap();
                let copy = paper.configuration(nowhere, stem).unwrap();
                assert_eq!(file.text, copy.text, "{stem}");
                assert!(file.path.is_some() && copy.path.is_none());
            }
        }
    }

    #[test]
    fn every_trace_has_its_experiments_and_every_file_says_what_to_look_at() {
        let paper = paper("birkenheuer2012").unwrap();
        let stems = paper.stems(here()).unwrap();
        let Results::Tables(traces) = paper.results else {
            panic!("its results are tables");
        };
        for trace in traces {
            for stem in trace
                .configurations()
                .into_iter()
                .chain([trace.alignment()])
            {
                assert!(stems.contains(&stem), "{stem}");
                let text = paper.configuration(here(), &stem).unwrap().text;
                if let Some(file) = trace.trace.file {
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
    fn moved_clocks_are_the_risk_experiment_and_nothing_else() {
        use crate::report::claims::{ALIGNMENT_HOURS, depends_on_alignment, parse};
        use crate::sweep::{AxisValue, Experiment, Point, Sweep};

        let paper = paper("birkenheuer2012").unwrap();
        let sweep = |stem: &str| {
            let text = paper.configuration(here(), stem).unwrap().text;
            Experiment::parse(stem, &text, None).unwrap().sweep
        };
        let subject = |point: &Point| {
            let axis = |key: &str| format!("{:?}", point.axes.get(key));
            let names = [axis("estimates.classes"), axis("scheduling.strategy")];
            (names, point.penalty_ratio.to_bits())
        };
        let of = |sweep: &Sweep, point: &Point| sweep.simulations[point.simulation].clone();
        let published = paper.configuration(here(), PUBLISHED).unwrap();
        let published = parse(PUBLISHED, &published.text).unwrap();
        let Results::Tables(traces) = paper.results else {
            panic!("its results are tables");
        };
        for table in traces {
            let [_, risk] = table.configurations().map(|stem| sweep(&stem));
            let moved = sweep(&table.alignment());
            let offset = |point: &Point| match point.axes["failures.offset_hours"] {
                AxisValue::Real(hours) => hours,
                ref other => panic!("{other:?} hours"),
            };
            assert!(
                moved
                    .points
                    .iter()
                    .all(|point| offset(point).abs() <= ALIGNMENT_HOURS)
            );
            // Replications differ in their number alone: the first stands for all.
            let first = |sweep: &'_ Sweep| -> Vec<Point> {
                let points = sweep.points.iter().cloned();
                points.filter(|point| point.replication == 0).collect()
            };
            let mut here = first(&moved);
            here.retain(|point| offset(point) == 0.0);
            let twins = first(&risk);
            for point in &here {
                let twin = twins
                    .iter()
                    .find(|twin| subject(twin) == subject(point))
                    .unwrap();
                assert_eq!(of(&moved, point), of(&risk, twin), "{}", moved.name);
            }
            // Every claim that is judged over alignments finds its cell, and no cell is simulated for nothing.
            let claims = || {
                let own = published.claims.iter();
                own.filter(|claim| claim.trace == table.trace.name && depends_on_alignment(claim))
            };
            let cell = |point: &Point, family: Option<&str>, strategy: &str, ratio: f64| {
                let text = |key: &str| match &point.axes[key] {
                    AxisValue::Text(text) => text.clone(),
                    other => panic!("{other:?}"),
                };
                family.is_none_or(|family| text("estimates.classes") == family)
                    && text("scheduling.strategy") == strategy
                    && point.penalty_ratio == ratio
            };
            for claim in claims() {
                let strategy = claim.strategy.as_deref().unwrap();
                let ratio = claim.at.unwrap();
                let found = here
                    .iter()
                    .any(|point| cell(point, claim.family.as_deref(), strategy, ratio));
                assert!(found, "{}", claim.id);
            }
            for point in &here {
                let asked = claims().any(|claim| {
                    let strategy = claim.strategy.as_deref().unwrap();
                    // A baseline is one simulation for all families and ratios.
                    cell(point, None, strategy, point.penalty_ratio)
                        && (!strategy.ends_with("overbooking")
                            || claim.at == Some(point.penalty_ratio))
                });
                assert!(asked, "{}: {:?}", moved.name, point.axes);
            }
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
