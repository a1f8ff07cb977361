//! The readings of a paper that are run, and its configurations under each of them.

use super::{Configuration, Paper, ReproduceError, names};
use crate::cli::studies;
use crate::sweep::keys::Keys;
use crate::sweep::{Experiment, ExperimentError, with_values};
use bookahead_papers::findings::{ALL_READINGS, READINGS, Reading, parse_readings};

/// The names of a paper's readings, the default first; none where the paper has one reading only or
/// they cannot be read.
#[must_use]
pub fn reading_names(paper: &Paper) -> Vec<String> {
    let readings = Readings::read(paper).ok().flatten();
    let list = readings.map(|readings| readings.list).unwrap_or_default();
    list.into_iter().map(|reading| reading.name).collect()
}

/// The readings of one paper.
#[derive(Debug)]
pub(super) struct Readings {
    /// Where they were read, for messages.
    origin: String,
    paper: String,
    list: Vec<Reading>,
}

/// Why a reading cannot be run.
#[derive(Debug, thiserror::Error)]
pub enum ReadingError {
    /// The paper has none.
    #[error(
        "{paper} has no named readings: there is no configs/{paper}/{READINGS}.toml; leave out --reading"
    )]
    None {
        /// The paper.
        paper: String,
    },
    /// No such reading.
    #[error(
        "{paper} has no reading `{name}`; there are: {known}, and `{ALL_READINGS}` for all of them"
    )]
    Unknown {
        /// The paper.
        paper: String,
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A key that does not exist, or a value that the configuration cannot take.
    #[error("{file}: reading `{reading}`, set for {configuration}: {problem}")]
    Set {
        /// The file of readings.
        file: String,
        /// The reading.
        reading: String,
        /// The configuration that it was set in.
        configuration: String,
        /// The key, what is wrong with it and what is allowed.
        problem: String,
    },
}

impl Readings {
    /// Those of the file beside the paper's configurations; `None` where there is no such file.
    ///
    /// # Errors
    ///
    /// When the file cannot be read or is wrong.
    pub(super) fn read(paper: &Paper) -> Result<Option<Self>, ReproduceError> {
        let Some(file) = paper.optional(READINGS)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            origin: file.origin(),
            paper: paper.name.clone(),
            list: parse_readings(&file.origin(), &file.text)?,
        }))
    }

    /// Every reading, the default first.
    pub(super) fn all(&self) -> &[Reading] {
        &self.list
    }

    /// Those asked for, in the order of the file, each once; the default where none is asked for.
    pub(super) fn choose(&self, wanted: &[String]) -> Result<Vec<&Reading>, ReadingError> {
        for name in wanted {
            if name != ALL_READINGS && !self.list.iter().any(|reading| reading.name == *name) {
                return Err(ReadingError::Unknown {
                    paper: self.paper.clone(),
                    name: name.clone(),
                    known: names(self.list.iter().map(|reading| reading.name.as_str())),
                });
            }
        }
        let is_wanted = |reading: &&Reading| {
            if wanted.is_empty() {
                reading.is_default
            } else {
                let is = |name: &String| name == ALL_READINGS || *name == reading.name;
                wanted.iter().any(is)
            }
        };
        Ok(self.list.iter().filter(is_wanted).collect())
    }

    /// A configuration as a reading has it: under a name of its own, with the reading's keys set.
    /// The default's is the configuration itself.
    ///
    /// # Errors
    ///
    /// When the reading sets what the configuration cannot take: names the file of readings and the
    /// key.
    pub(super) fn applied(
        &self,
        reading: &Reading,
        configuration: Configuration,
    ) -> Result<Configuration, ReadingError> {
        if reading.is_default {
            return Ok(configuration);
        }
        let refuse = |problem: String| ReadingError::Set {
            file: self.origin.clone(),
            reading: reading.name.clone(),
            configuration: configuration.origin(),
            problem,
        };
        let name = reading.of(&configuration.name);
        let mut header = vec![("experiment.name", toml::Value::String(name.clone()))];
        if let Some(description) = description(&configuration.text) {
            let told = format!("{description}; reading {}", reading.name);
            header.push(("experiment.description", toml::Value::String(told)));
        }
        let own = reading.set.iter().map(|(key, value)| (key.as_str(), value));
        let text = with_values(
            Keys::of(studies()),
            &configuration.text,
            header.iter().map(|(key, value)| (*key, value)).chain(own),
        )
        .map_err(|error| refuse(error.to_string()))?;
        if let Err(ExperimentError::Invalid(problems)) =
            Experiment::parse(studies(), &name, &text, None)
        {
            // What else is wrong with the file is told when it is run, with its own name and line.
            let of_reading = problems
                .iter()
                .find(|problem| reading.set.iter().any(|(key, _)| *key == problem.key));
            if let Some(problem) = of_reading {
                let told = format!("`{}`: {} ({})", problem.key, problem.message, problem.help);
                return Err(refuse(told));
            }
        }
        Ok(Configuration {
            name,
            text,
            reading: Some(reading.name.clone()),
            ..configuration
        })
    }
}

fn description(text: &str) -> Option<String> {
    let table: toml::Table = toml::from_str(text).ok()?;
    let description = table.get("experiment")?.get("description")?.as_str()?;
    Some(description.to_owned())
}
