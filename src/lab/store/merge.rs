//! Joining stores: the shares of an experiment, or any runs of it, become one run of one store.
//!
//! Everything is checked first (`agree`), then written: what is to be done in one transaction,
//! numbered as one machine would number it, then the results in transactions of whole simulations.
//! A kill at any instant loses nothing that was committed, and the same command goes on. The
//! tables, their keys and what refers to what come from the schema (`crate::tables`).

mod agree;
mod attached;
mod compare;
mod copy;
mod error;
mod join;

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tempfile::TempDir;

use self::agree::Experiment;
pub use self::error::MergeError;
use self::join::Merge;
use super::verify::Verifier;
use super::{Durability, RunId, Store, StoreError};
use crate::study::Studies;
use crate::tables::Tables;

/// Codes of `simulation.state`.
const DONE: i64 = 2;
const FAILED: i64 = 3;

/// How stores are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MergeOptions {
    /// Whether results of several versions of the program may be joined, as long as their result
    /// format is the same.
    pub mixed_programs: bool,
    /// What a power failure may cost.
    pub durability: Durability,
}

/// What joining did.
#[derive(Clone, Debug, PartialEq)]
pub struct MergeSummary {
    /// The runs that were made or completed, by name.
    pub runs: Vec<MergedRun>,
    /// Rows written: results, simulations, points and places.
    pub rows: u64,
    /// How long it took, checks included.
    pub wall: Duration,
}

/// One experiment in the joined store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedRun {
    /// Its run.
    pub run: RunId,
    /// The experiment's name.
    pub name: String,
    /// Points of the experiment.
    pub points: u64,
    /// Of those, done.
    pub points_done: u64,
    /// Of those, failed.
    pub points_failed: u64,
    /// Simulations whose results were written now.
    pub new: u64,
    /// Simulations whose results the store had already, and that were found to be the same.
    pub known: u64,
}

/// One store that is read, opened when it is needed.
struct Input {
    studies: Studies,
    number: usize,
    path: PathBuf,
    open: Rc<RefCell<OpenStores>>,
}

/// Inputs by number with their connections and private copies, the one that was opened first in
/// front.
type OpenStores = VecDeque<(usize, Rc<Connection>, Option<TempDir>)>;

/// So many stores are open at once: a process may not have too many files open, and each takes
/// three.
const OPEN_TOGETHER: usize = 100;

/// One simulation of an experiment, wherever it is.
struct Wanted {
    identity: String,
    /// Where it is, best first: input, number, state, detail.
    found: Vec<Found>,
    /// Place, input and number of its points.
    points: Vec<(u32, usize, i64)>,
}

#[derive(Clone, Copy)]
struct Found {
    input: usize,
    simulation: i64,
    state: i64,
    detail: i64,
}

impl Found {
    /// The better result first; of equal ones that of the first input.
    fn rank(self) -> (bool, i64, bool, std::cmp::Reverse<usize>) {
        (
            self.state == DONE,
            self.detail,
            self.state == FAILED,
            std::cmp::Reverse(self.input),
        )
    }
}

impl Store {
    /// Joins the newest run of every experiment in the inputs into the store `out`, which is made
    /// where it is missing. What it has already is compared and not written again.
    ///
    /// # Errors
    ///
    /// When a store cannot be read or written, or when the stores do not agree: other
    /// configurations, seeds, programs or inputs of one experiment, or two results of one
    /// simulation. In that case nothing is written.
    pub fn merge(
        studies: Studies,
        out: &Path,
        inputs: &[PathBuf],
        options: MergeOptions,
    ) -> Result<MergeSummary, MergeError> {
        let begun = Instant::now();
        let open = Rc::new(RefCell::new(VecDeque::new()));
        let inputs: Vec<Input> = inputs
            .iter()
            .enumerate()
            .map(|(number, path)| Input {
                studies,
                number,
                path: path.clone(),
                open: Rc::clone(&open),
            })
            .collect();
        let existing = out
            .exists()
            .then(|| Store::open(studies, out))
            .transpose()?;
        let experiments = agree::experiments(
            &inputs,
            existing.as_ref().map(|store| (store, out)),
            options,
        )?;
        verify(&inputs, existing.as_ref(), &experiments)?;
        let mut plans = Vec::with_capacity(experiments.len());
        for experiment in experiments {
            let wanted = agree::simulations(&inputs, &experiment)?;
            compare::same_results(&inputs, &wanted, existing.as_ref(), &experiment)?;
            plans.push((experiment, wanted));
        }
        drop(existing);
        let store = Store::open_to_join(studies, out)?.with_durability(options.durability)?;
        store.connection.set_prepared_statement_cache_capacity(512);
        let tables = read_tables(&store)?;
        let mut summary = MergeSummary {
            runs: Vec::new(),
            rows: 0,
            wall: Duration::ZERO,
        };
        for (experiment, wanted) in &plans {
            let mut merge = Merge::new(&store, &tables, &inputs, experiment);
            let run = merge.join(wanted)?;
            summary.rows += merge.rows();
            summary.runs.push(run);
        }
        summary.wall = begun.elapsed();
        Ok(summary)
    }
}

/// Refuses stores whose rows are not those that were written: what is joined must be what was
/// computed.
fn verify(
    inputs: &[Input],
    existing: Option<&Store>,
    experiments: &[Experiment],
) -> Result<(), MergeError> {
    for input in inputs {
        let mut verifier = Verifier::new(input.studies, &input.path)?;
        verifier.lookups(&*input.connection()?)?;
        let runs = experiments.iter().flat_map(|experiment| &experiment.runs);
        for (_, run) in runs.filter(|(number, _)| *number == input.number) {
            verifier.run(&*input.connection()?, run.id)?;
        }
        verifier.sound()?;
    }
    if let Some(store) = existing {
        for run in experiments.iter().filter_map(|one| one.target.as_ref()) {
            store.verify_run(RunId(run.id))?;
        }
    }
    Ok(())
}

fn read_tables(store: &Store) -> Result<Tables, MergeError> {
    Tables::read(&store.connection)
        .map_err(|error| store.error("reading its schema", error))?
        .map_err(|table| MergeError::UnknownTable {
            path: store.path.clone(),
            table,
        })
}

impl Input {
    /// Its connection; the one that was opened first is closed where there are too many.
    fn connection(&self) -> Result<Rc<Connection>, StoreError> {
        let mut open = self.open.borrow_mut();
        if let Some((_, connection, _)) = open.iter().find(|(number, ..)| *number == self.number) {
            return Ok(Rc::clone(connection));
        }
        let store = Store::open_read_only(self.studies, &self.path)?;
        store.connection.set_prepared_statement_cache_capacity(128);
        let connection = Rc::new(store.connection);
        if open.len() >= OPEN_TOGETHER {
            open.pop_front();
        }
        open.push_back((self.number, Rc::clone(&connection), store.copy));
        Ok(connection)
    }

    fn error(&self, error: rusqlite::Error) -> MergeError {
        StoreError::from_reading(&self.path, "reading it to join it with others", error).into()
    }
}

/// Simulations in the order of their first places.
fn in_order(wanted: HashMap<String, Wanted>) -> Vec<Wanted> {
    let mut ordered: BTreeMap<(u32, String), Wanted> = BTreeMap::new();
    for (identity, mut simulation) in wanted {
        simulation
            .found
            .sort_by_key(|found| std::cmp::Reverse(found.rank()));
        let first = simulation
            .points
            .iter()
            .map(|(place, ..)| *place)
            .min()
            .unwrap_or(u32::MAX);
        ordered.insert((first, identity), simulation);
    }
    ordered.into_values().collect()
}
