//! Whether stores may be joined: the same experiment, the same program, the same inputs, the same
//! points.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use rusqlite::{Connection, OptionalExtension, params};

use super::{Found, Input, MergeError, MergeOptions, Wanted, in_order};
use crate::store::Store;
use crate::store::processes::Process;
use crate::store::runs::SHOWN_BY_RUN;

/// One experiment and its runs in the inputs.
pub(super) struct Experiment {
    pub(super) name: String,
    /// Input and run; inputs in their order, the newest run of each first.
    pub(super) runs: Vec<(usize, RunRow)>,
    /// Its run in the joined store, where there is one.
    pub(super) target: Option<RunRow>,
}

/// What joining needs to know of a run.
pub(super) struct RunRow {
    pub(super) id: i64,
    name: String,
    configuration: String,
    seed: i64,
    format: i64,
    program: String,
    running: bool,
    pub(super) started: i64,
    ended: Option<i64>,
    last_commit: Option<i64>,
    pub(super) cores: i64,
    pub(super) host: Option<String>,
    process: Process,
}

impl RunRow {
    /// When it ended, or wrote its last result.
    pub(super) fn last_sign(&self) -> Option<i64> {
        self.ended.or(self.last_commit)
    }

    /// What changes when a program writes results of it.
    fn sign(&self) -> (i64, Option<i64>, Option<i64>) {
        (self.id, self.ended, self.last_commit)
    }

    /// All runs, newest first.
    fn all(connection: &Connection) -> rusqlite::Result<Vec<Self>> {
        connection
            .prepare(&format!(
                "SELECT r.id, r.name, r.configuration_hash, r.seed, r.result_format, r.program_version, r.program_commit,
                    r.state, r.started, r.ended, r.last_commit, r.machine_cores, r.machine_host, {}
                 FROM run r ORDER BY r.id DESC",
                Process::COLUMNS
            ))?
            .query_map([], |row| {
                Ok(Self {
                    id: row.get(0)?,
                    name: row.get(1)?,
                    configuration: row.get(2)?,
                    seed: row.get(3)?,
                    format: row.get(4)?,
                    program: program(row.get(5)?, row.get(6)?),
                    running: row.get::<_, i64>(7)? == 0,
                    started: row.get(8)?,
                    ended: row.get(9)?,
                    last_commit: row.get(10)?,
                    cores: row.get(11)?,
                    host: row.get(12)?,
                    process: Process::read(row, 13)?,
                })
            })?
            .collect()
    }

    /// What tells two runs of one name apart, if anything does, and what to do about it.
    fn difference(&self, other: &Self, options: MergeOptions) -> Option<(String, &'static str)> {
        let short = |hash: &str| hash.get(..12).unwrap_or(hash).to_owned();
        let told = |what: &str, one: &str, other: &str| format!("{what} {one} and {other}");
        if self.configuration != other.configuration {
            let hashes = (short(&self.configuration), short(&other.configuration));
            return Some((
                told("its configuration has the hashes", &hashes.0, &hashes.1),
                "run every share with the same file, or join the stores that belong together",
            ));
        }
        if self.seed != other.seed {
            let seeds = [self.seed, other.seed].map(|seed| (seed as u64).to_string());
            return Some((
                told("its seeds are", &seeds[0], &seeds[1]),
                "run every share with the same --seed",
            ));
        }
        if self.format != other.format {
            let formats = [self.format, other.format].map(|format| format.to_string());
            return Some((
                told("its results have the formats", &formats[0], &formats[1]),
                "run every share with the same program",
            ));
        }
        (self.program != other.program && !options.mixed_programs).then(|| {
            (
                told("it was computed by bookahead", &self.program, &other.program),
                "run every share with the same program, or say --mixed-programs where you know that they compute the same",
            )
        })
    }
}

fn program(version: String, commit: Option<String>) -> String {
    match commit {
        Some(commit) => format!("{version} ({commit})"),
        None => version,
    }
}

/// The experiments of the inputs by name: of each input the newest run and older ones of the same
/// configuration.
pub(super) fn experiments(
    inputs: &[Input],
    existing: Option<(&Store, &Path)>,
    options: MergeOptions,
) -> Result<Vec<Experiment>, MergeError> {
    let mut found: BTreeMap<String, Experiment> = BTreeMap::new();
    for (number, input) in inputs.iter().enumerate() {
        let runs = RunRow::all(&*input.connection()?).map_err(|error| input.error(error))?;
        let mut newest: HashMap<String, usize> = HashMap::new();
        for run in runs {
            let experiment = found.entry(run.name.clone()).or_insert_with(|| Experiment {
                name: run.name.clone(),
                runs: Vec::new(),
                target: None,
            });
            if let Some(newest) = newest.get(&run.name) {
                // Older runs of an edited file are history of their own.
                let (_, newest) = &experiment.runs[*newest];
                if run.difference(newest, MergeOptions::default()).is_some() {
                    continue;
                }
            } else {
                newest.insert(run.name.clone(), experiment.runs.len());
            }
            experiment.runs.push((number, run));
        }
    }
    if found.is_empty() {
        return Err(MergeError::Nothing {
            stores: inputs.len(),
        });
    }
    let mut experiments: Vec<Experiment> = found.into_values().collect();
    for experiment in &experiments {
        let (first, one) = &experiment.runs[0];
        for (input, run) in &experiment.runs {
            agree(
                experiment,
                (&inputs[*first].path, one),
                (&inputs[*input].path, run),
                options,
            )?;
            computed_by_one_program(experiment, &inputs[*input], run, options)?;
        }
    }
    if let Some((store, path)) = existing {
        let runs = RunRow::all(&store.connection)
            .map_err(|error| store.error("looking for its runs", error))?;
        for run in runs {
            let Some(experiment) = experiments.iter_mut().find(|one| one.name == run.name) else {
                continue;
            };
            if run.running && run.process.is_alive(path) {
                return Err(MergeError::Running {
                    path: path.to_owned(),
                    name: run.name,
                });
            }
            if experiment.target.is_none() {
                let (first, one) = &experiment.runs[0];
                agree(
                    experiment,
                    (&inputs[*first].path, one),
                    (path, &run),
                    options,
                )?;
                experiment.target = Some(run);
            }
        }
    }
    Ok(experiments)
}

/// Whether the joined store's run of an experiment is what everything was compared with. Inside the
/// transaction that begins to write: of two programs that join into one store, the second sees the
/// first.
pub(super) fn as_it_was(store: &Store, experiment: &Experiment) -> Result<(), MergeError> {
    let runs = RunRow::all(&store.connection)
        .map_err(|error| store.error("looking for its runs", error))?;
    let now = runs.into_iter().find(|run| run.name == experiment.name);
    let (path, name) = (store.path.clone(), experiment.name.clone());
    match (&experiment.target, now) {
        (_, Some(run)) if run.running && run.process.is_alive(&path) => {
            Err(MergeError::Running { path, name })
        }
        (before, now) if before.as_ref().map(RunRow::sign) != now.as_ref().map(RunRow::sign) => {
            Err(MergeError::Meanwhile { path, name })
        }
        _ => Ok(()),
    }
}

fn agree(
    experiment: &Experiment,
    (one, first): (&Path, &RunRow),
    (other, second): (&Path, &RunRow),
    options: MergeOptions,
) -> Result<(), MergeError> {
    match first.difference(second, options) {
        None => Ok(()),
        Some((difference, advice)) => Err(MergeError::Disagree {
            name: experiment.name.clone(),
            one: one.to_owned(),
            other: other.to_owned(),
            difference,
            advice,
        }),
    }
}

/// A run may show results that an older program computed.
fn computed_by_one_program(
    experiment: &Experiment,
    input: &Input,
    run: &RunRow,
    options: MergeOptions,
) -> Result<(), MergeError> {
    if options.mixed_programs {
        return Ok(());
    }
    let programs: Vec<String> = input
            .connection()?
        .prepare(
            "SELECT DISTINCT c.program_version, c.program_commit FROM run_point rp JOIN point p ON p.id = rp.point
             JOIN simulation m ON m.id = p.simulation JOIN run c ON c.id = m.computed_by
             WHERE rp.run = ?1 AND m.state = 2",
        )
        .and_then(|mut statement| {
            statement
                .query_map([run.id], |row| Ok(program(row.get(0)?, row.get(1)?)))?
                .collect()
        })
        .map_err(|error| input.error(error))?;
    match programs.into_iter().find(|program| *program != run.program) {
        None => Ok(()),
        Some(other) => Err(MergeError::Disagree {
            name: experiment.name.clone(),
            one: input.path.clone(),
            other: input.path.clone(),
            difference: format!(
                "some of its results were computed by bookahead {other} and others by {}",
                run.program
            ),
            advice: "`bookahead run --fresh` computes them anew; --mixed-programs joins them as they are",
        }),
    }
}

/// The simulations of an experiment in the order of the sweep, with everything that the inputs have
/// of them.
pub(super) fn simulations(
    inputs: &[Input],
    experiment: &Experiment,
) -> Result<Vec<Wanted>, MergeError> {
    let mut wanted: HashMap<String, Wanted> = HashMap::new();
    let mut places: HashMap<u32, (String, usize)> = HashMap::new();
    let mut sources: HashMap<String, (String, usize)> = HashMap::new();
    for (number, input) in inputs.iter().enumerate() {
        let runs: Vec<String> = experiment
            .runs
            .iter()
            .filter(|(owner, _)| *owner == number)
            .map(|(_, run)| run.id.to_string())
            .collect();
        let runs = runs.join(", ");
        let error = |error| input.error(error);
        let connection = input.connection()?;
        let mut statement = connection
            .prepare(&format!(
                "SELECT source, content FROM run_input WHERE run IN ({runs})"
            ))
            .map_err(error)?;
        let mut rows = statement.query([]).map_err(error)?;
        while let Some(row) = rows.next().map_err(error)? {
            let (source, content) = (row.get(0).map_err(error)?, row.get(1).map_err(error)?);
            same_source(inputs, &mut sources, source, content, number)?;
        }
        // With one maximum SQLite takes the other columns from its row: the newest run's.
        let mut statement = connection
            .prepare(&format!(
                "SELECT rp.place, rp.point, p.identity, m.id, m.identity, m.state, m.detail, max(rp.run)
                 FROM run_point rp JOIN point p ON p.id = rp.point JOIN simulation m ON m.id = p.simulation
                 WHERE rp.run IN ({runs}) GROUP BY rp.place"
            ))
            .map_err(error)?;
        let mut rows = statement.query([]).map_err(error)?;
        while let Some(row) = rows.next().map_err(error)? {
            let place: u32 = row.get(0).map_err(error)?;
            let point: String = row.get(2).map_err(error)?;
            let identity: String = row.get(4).map_err(error)?;
            let found = Found {
                input: number,
                simulation: row.get(3).map_err(error)?,
                state: row.get(5).map_err(error)?,
                detail: row.get(6).map_err(error)?,
            };
            let entry = wanted.entry(identity.clone()).or_insert_with(|| Wanted {
                identity,
                found: Vec::new(),
                points: Vec::new(),
            });
            entry
                .points
                .push((place, number, row.get(1).map_err(error)?));
            if !entry
                .found
                .iter()
                .any(|known| (known.input, known.simulation) == (number, found.simulation))
            {
                entry.found.push(found);
            }
            let (known, by) = places
                .entry(place)
                .or_insert_with(|| (point.clone(), number));
            if *known != point {
                return Err(other_point(&inputs[*by].path, &input.path, place));
            }
        }
    }
    Ok(in_order(wanted))
}

fn same_source(
    inputs: &[Input],
    sources: &mut HashMap<String, (String, usize)>,
    source: String,
    content: String,
    number: usize,
) -> Result<(), MergeError> {
    let (known, by) = sources
        .entry(source.clone())
        .or_insert_with(|| (content.clone(), number));
    if *known == content {
        return Ok(());
    }
    Err(other_input(
        &inputs[*by].path,
        &inputs[number].path,
        &source,
    ))
}

fn other_input(one: &Path, other: &Path, source: &str) -> MergeError {
    MergeError::Conflict {
        one: one.to_owned(),
        other: other.to_owned(),
        what: format!("they read other content under the name `{source}`"),
        advice: "give every machine the same file and run the shares with the other one again",
    }
}

pub(super) fn other_point(one: &Path, other: &Path, place: u32) -> MergeError {
    MergeError::Conflict {
        one: one.to_owned(),
        other: other.to_owned(),
        what: format!("the point at place {place} of the sweep is another one"),
        advice: "their inputs or programs differ: run one of the shares again as the other was",
    }
}

/// The simulation that a run shows under this identity, else the newest generation: number, state,
/// detail.
pub(super) fn known_simulation(
    connection: &Connection,
    identity: &str,
    run: Option<i64>,
) -> rusqlite::Result<Option<(i64, i64, i64)>> {
    connection
        .prepare_cached(&format!(
            "SELECT m.id, m.state, m.detail FROM simulation m WHERE m.identity = ?1
             ORDER BY {SHOWN_BY_RUN} DESC, m.generation DESC LIMIT 1"
        ))?
        .query_row(params![identity, run], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })
        .optional()
}
