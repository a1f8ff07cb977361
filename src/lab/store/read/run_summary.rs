//! Runs as the store knows them, and which of them a person means.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use rusqlite::types::Value;
use rusqlite::{Row, params_from_iter};

use super::{Interruption, RunFilter};
use crate::store::labels::RunLabels;
use crate::store::processes::Process;
use crate::store::{RunId, Store, StoreError};

/// Which run a person means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunSelector {
    /// The run that began last.
    Latest,
    /// The run with this number.
    Id(i64),
    /// The last run of the experiment of this name.
    Name(String),
}

impl FromStr for RunSelector {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(match text.trim().parse() {
            _ if text.trim() == "latest" => Self::Latest,
            Ok(id) => Self::Id(id),
            Err(_) => Self::Name(text.to_owned()),
        })
    }
}

impl fmt::Display for RunSelector {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => formatter.write_str("at all"),
            Self::Id(id) => write!(formatter, "with the number {id}"),
            Self::Name(name) => write!(formatter, "called `{name}`"),
        }
    }
}

/// A run as the store knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Its number.
    pub id: RunId,
    /// The experiment's name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The configuration file, where there was one.
    pub source: Option<String>,
    /// The configuration text.
    pub configuration: String,
    /// SHA-256 of the configuration text, hex.
    pub configuration_hash: String,
    /// The sweep's seed.
    pub seed: u64,
    /// Replications a combination; where it has a rule the most that there may be.
    pub replications: u32,
    /// Whether a rule says which points are run.
    pub has_rule: bool,
    /// Version of the program that ran it.
    pub program_version: String,
    /// Commit of that program, where known.
    pub program_commit: Option<String>,
    /// Result format of the engine.
    pub result_format: u32,
    /// Cores of the machine.
    pub machine_cores: u32,
    /// Operating system and architecture.
    pub machine_os: String,
    /// `running`, `done`, `interrupted` or `failed`.
    pub state: String,
    /// Points of the sweep.
    pub points: u64,
    /// Of those, done.
    pub points_done: u64,
    /// Of those, failed.
    pub points_failed: u64,
    /// When it began, milliseconds since 1970 (UTC).
    pub started: i64,
    /// When it ended.
    pub ended: Option<i64>,
    /// Sum of the wall times of the simulations of its points, seconds.
    pub simulation_seconds: f64,
    /// Name of the machine, where it is known.
    pub machine_host: Option<String>,
    /// What people say of it.
    pub labels: RunLabels,
    /// How far it came, and who went on; of interrupted runs only.
    pub interruption: Option<Interruption>,
}

/// More points than any sweep can be planned with.
const MOST_POINTS: u64 = 100_000_000;

/// The question for runs, up to its condition.
fn question() -> String {
    format!("{RUN}, {} {FROM}", RunLabels::COLUMNS)
}

const FROM: &str = "FROM run r JOIN run_state s ON s.code = r.state";

const RUN: &str = "SELECT r.id, r.name, r.description, r.source, r.configuration, r.configuration_hash, r.seed,
    r.replications, r.program_version, r.program_commit, r.result_format, r.machine_cores, r.machine_os, s.name,
    r.points, r.started, r.ended,
    (SELECT count(*) FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
     WHERE rp.run = r.id AND m.state = 2),
    (SELECT count(*) FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
     WHERE rp.run = r.id AND m.state = 3),
    (SELECT total(t.wall_seconds) FROM simulation_timing t WHERE t.simulation IN
     (SELECT p.simulation FROM run_point rp JOIN point p ON p.id = rp.point WHERE rp.run = r.id)),
    r.machine_host, r.last_commit, r.process, r.process_started, r.boot, r.machine_host, r.store_file,
    EXISTS (SELECT 1 FROM run_rule u WHERE u.run = r.id)";

fn run_summary(row: &Row<'_>, store: &Path) -> rusqlite::Result<RunSummary> {
    let mut state: String = row.get(13)?;
    let mut ended: Option<i64> = row.get(16)?;
    let last_commit: Option<i64> = row.get(21)?;
    // A process that died must not look running, although nobody has written down its end.
    if state == "running" && !Process::read(row, 22)?.is_alive(store) {
        "interrupted".clone_into(&mut state);
        ended = last_commit;
    }
    Ok(RunSummary {
        id: RunId(row.get(0)?),
        name: row.get(1)?,
        description: row.get(2)?,
        source: row.get(3)?,
        configuration: row.get(4)?,
        configuration_hash: row.get(5)?,
        seed: row.get::<_, i64>(6)? as u64,
        replications: row.get(7)?,
        has_rule: row.get(27)?,
        program_version: row.get(8)?,
        program_commit: row.get(9)?,
        result_format: row.get(10)?,
        machine_cores: row.get(11)?,
        machine_os: row.get(12)?,
        state,
        points: points_of(row, 14)?,
        started: row.get(15)?,
        ended,
        points_done: row.get::<_, i64>(17)?.unsigned_abs(),
        points_failed: row.get::<_, i64>(18)?.unsigned_abs(),
        simulation_seconds: row.get(19)?,
        machine_host: row.get(20)?,
        labels: RunLabels::read(row, 28)?,
        interruption: None,
    })
}

impl RunSummary {
    /// The quantity that its file says it is about (`experiment.primary`).
    #[must_use]
    pub fn declared_primary(&self) -> Option<String> {
        let file: toml::Table = toml::from_str(&self.configuration).ok()?;
        let name = file.get("experiment")?.get("primary")?.as_str()?;
        Some(name.to_owned())
    }

    /// How many replications a combination has: `8`, or `at most 120` where a rule says how many.
    #[must_use]
    pub fn replications_in_words(&self) -> String {
        match self.has_rule {
            true => format!("at most {}", self.replications),
            false => self.replications.to_string(),
        }
    }
}

/// A number of points, as far as a sweep can have so many: lists of places follow from it.
fn points_of(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let points: i64 = row.get(column)?;
    u64::try_from(points)
        .ok()
        .filter(|points| *points <= MOST_POINTS)
        .ok_or(rusqlite::Error::IntegralValueOutOfRange(column, points))
}

impl Store {
    /// Every run, in the order in which they began.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn runs(&self) -> Result<Vec<RunSummary>, StoreError> {
        self.runs_where(&RunFilter::default())
    }

    /// The runs that meet every condition, in the order in which they began.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub fn runs_where(&self, filter: &RunFilter) -> Result<Vec<RunSummary>, StoreError> {
        let (condition, values) = filter.condition(self.studies);
        let mut runs = self.summaries(&format!("WHERE {condition} ORDER BY r.id"), values)?;
        runs.retain(|run| filter.is_met_by_state(&run.state));
        Ok(runs)
    }

    /// One run.
    ///
    /// # Errors
    ///
    /// [`StoreError::NoRun`] names what there is instead, [`StoreError::RunGone`] where it is.
    pub fn run(&self, selector: &RunSelector) -> Result<RunSummary, StoreError> {
        let id = self.run_id(selector)?;
        let found = self.summaries("WHERE r.id = ?1", vec![id.0.into()])?.pop();
        found.ok_or_else(|| self.no_run(selector))
    }

    /// Its number alone; the rest of a summary counts its points.
    ///
    /// # Errors
    ///
    /// As of [`Store::run`].
    pub fn run_id(&self, selector: &RunSelector) -> Result<RunId, StoreError> {
        let (condition, value): (&str, Value) = match selector {
            RunSelector::Latest => ("?1 = 0", 0.into()),
            RunSelector::Id(id) => ("id = ?1", (*id).into()),
            RunSelector::Name(name) => ("name = ?1", name.clone().into()),
        };
        let newest = format!("SELECT id FROM run WHERE {condition} ORDER BY id DESC LIMIT 1");
        let found = self.rows("looking for runs", &newest, [value], |row| row.get(0))?;
        found
            .first()
            .copied()
            .map(RunId)
            .ok_or_else(|| self.no_run(selector))
    }

    /// Refuses a run that the store does not have.
    pub(in crate::store) fn require_run(&self, run: RunId) -> Result<(), StoreError> {
        let found = self
            .connection
            .prepare_cached("SELECT 1 FROM run WHERE id = ?1")
            .and_then(|mut statement| statement.exists([run.0]))
            .map_err(|error| self.error("looking for a run", error))?;
        if found {
            return Ok(());
        }
        Err(self.no_run(&RunSelector::Id(run.0)))
    }

    /// The runs behind the question for them.
    fn summaries(
        &self,
        condition: &str,
        values: Vec<Value>,
    ) -> Result<Vec<RunSummary>, StoreError> {
        let sql = |error| self.error("looking for runs", error);
        let mut runs: Vec<RunSummary> = self
            .connection
            .prepare(&format!("{} {condition}", question()))
            .and_then(|mut statement| {
                statement
                    .query_map(params_from_iter(values), |row| run_summary(row, &self.path))?
                    .collect()
            })
            .map_err(sql)?;
        for run in &mut runs {
            run.interruption = Interruption::of(&self.connection, run).map_err(sql)?;
        }
        Ok(runs)
    }

    /// Why there is no such run: it is somewhere else by now, or there never was one.
    fn no_run(&self, selector: &RunSelector) -> StoreError {
        let answer = || -> Result<StoreError, StoreError> {
            let path = self.path.clone();
            Ok(match self.gone_run(selector)? {
                Some(gone) => StoreError::RunGone {
                    path,
                    run: gone.id.0,
                    what: gone.to_string(),
                },
                None => StoreError::NoRun {
                    path,
                    wanted: selector.to_string(),
                    available: self.available_runs()?,
                },
            })
        };
        answer().unwrap_or_else(|error| error)
    }

    fn available_runs(&self) -> Result<String, StoreError> {
        let sql = |error| self.error("looking for runs", error);
        let last: Vec<String> = self
            .connection
            .prepare("SELECT id, name FROM run ORDER BY id DESC LIMIT 10")
            .and_then(|mut statement| {
                let named = |row: &Row<'_>| {
                    let (id, name): (i64, String) = (row.get(0)?, row.get(1)?);
                    Ok(format!("{id} ({name})"))
                };
                statement.query_map([], named)?.collect()
            })
            .map_err(sql)?;
        if last.is_empty() {
            return Ok("none: `bookahead run CONFIG` makes one".to_owned());
        }
        Ok(last.join(", "))
    }
}
