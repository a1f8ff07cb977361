//! Comparison of runs, of one store or several, with the first of them: which points share axis
//! values and saw the same jobs and failures, what differs between them with its interval, and
//! which settings, programs and inputs differ. The result is a folder of pages, tables and figures.
//!
//! The unit of all statistics is the replication (`pairs`). If points that both runs should have
//! lack a result, nothing is computed from the others.

mod answer;
mod differences;
mod families;
mod figures;
mod page;
mod pairs;
mod partners;
mod quantities;
mod settings;
mod sql;
mod tables;
#[cfg(test)]
mod tests;
mod trust;
mod workloads;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::dependence::are_neighbours;
pub use answer::{incomparable, remarks};
use bookahead_lab::store::{
    InputRemark, MeasuredPoint, RunSelector, RunSummary, Store, StoreError, UnfinishedPoint,
};
use bookahead_lab::study::Studies;
use bookahead_lab::sweep::keys::Keys;
use bookahead_lab::sweep::rewritten;
pub use differences::Difference;
pub use families::{Candidate, Family, Judgement, distinct, judge};
pub(super) use page::style;
pub use page::{page, write};
use pairs::Points;
pub use pairs::{Group, MissingPoint, Pair, Pairing, unfinished_text};
pub use quantities::Quantity;
pub use settings::{of_specs, of_texts};
pub use workloads::Method;

/// A run that is compared, as its store has it.
#[derive(Clone, Debug)]
pub struct ComparedRun {
    /// The studies of the program.
    pub studies: Studies,
    /// What it is called beside the others.
    pub label: String,
    /// Its store.
    pub store: PathBuf,
    /// The run.
    pub run: RunSummary,
    /// The names of its workloads.
    pub workloads: Vec<String>,
    /// What it read: for people, and as hashes of the content.
    pub inputs: Vec<(String, String)>,
    /// How many replications earlier runs of its experiment ended with.
    pub earlier_looks: Vec<u32>,
    /// What is to be known of what its simulations read.
    pub input_remarks: Vec<InputRemark>,
    /// How many inputs it read, and a hash of them all.
    pub inputs_digest: Option<(usize, String)>,
    /// Its points with a result.
    pub points: Vec<MeasuredPoint>,
    /// Its points without one.
    pub unfinished: Vec<UnfinishedPoint>,
}

impl ComparedRun {
    /// Reads a run.
    ///
    /// # Errors
    ///
    /// When the store cannot be read or has no such run.
    pub fn read(store: &Store, path: &Path, run: &RunSelector) -> Result<Self, StoreError> {
        let mut run = store.run(run)?;
        // A run of before has the keys of its day.
        if let Ok(present) = rewritten(Keys::of(store.studies()), &run.configuration) {
            run.configuration = present.text;
        }
        Ok(Self {
            studies: store.studies(),
            label: run.name.clone(),
            store: path.to_owned(),
            workloads: store.workload_labels(run.id)?,
            inputs: store.inputs(run.id)?,
            earlier_looks: store.earlier_looks(run.id)?,
            input_remarks: store.input_remarks(run.id)?,
            inputs_digest: store.inputs_digest(run.id)?,
            points: store.measured_points(run.id)?,
            unfinished: store.unfinished_points(run.id)?,
            run,
        })
    }

    /// Whether points of its sweep have no result.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        !self.unfinished.is_empty() || self.unknown() > 0
    }

    /// Points of its sweep that its store does not know.
    fn unknown(&self) -> u64 {
        let known = self.points.len() + self.unfinished.len();
        self.run.points.saturating_sub(known as u64)
    }

    fn points(&self) -> Points<'_> {
        Points {
            done: &self.points,
            unfinished: &self.unfinished,
            unknown: self.unknown(),
        }
    }

    /// Its points that have the partners that those of another run have.
    #[must_use]
    pub fn pair_with<'p>(&'p self, other: &'p Self) -> Pairing<'p> {
        let pairing = Pairing::new(self.points(), other.points(), self.store == other.store);
        // Pairs saw the same jobs, so that what they are of the first run they are of both.
        let are_neighbours = self.are_neighbours();
        pairing.of_neighbours(are_neighbours)
    }

    /// Whether its replications are neighbouring stretches of one log.
    fn are_neighbours(&self) -> bool {
        let configuration: Option<toml::Table> = toml::from_str(&self.run.configuration).ok();
        let axes = self.points.first().map(|point| &point.axes);
        let axes = axes.into_iter().flatten().map(|(key, _)| key.as_str());
        configuration.is_some_and(|configuration| are_neighbours(&configuration, axes))
    }
}

/// Gives every run a name that no other has: of its experiment alone where that will do, else with
/// its number, and with its store where there are several.
pub fn label(runs: &mut [ComparedRun]) {
    let names: BTreeSet<&str> = runs.iter().map(|run| run.run.name.as_str()).collect();
    let stores: BTreeSet<&Path> = runs.iter().map(|run| run.store.as_path()).collect();
    let (is_named, is_one_store) = (names.len() == runs.len(), stores.len() == 1);
    for run in runs {
        let (name, number) = (&run.run.name, run.run.id.0);
        run.label = match (is_named, is_one_store) {
            (true, _) => name.clone(),
            (false, true) => format!("{name} (run {number})"),
            (false, false) => format!("{name} (run {number} of {})", run.store.display()),
        };
    }
}

/// The answer in sentences, one text for each run that is compared with the first. `wanted` names
/// the quantities to be shown first; empty leaves the choice to what the runs measured.
#[must_use]
pub fn answers(runs: &[ComparedRun], wanted: &[String]) -> Vec<String> {
    answer::answers(&Comparison::new(runs, wanted))
}

/// Everything that a report of a comparison shows.
struct Comparison<'c> {
    /// The first is the reference.
    runs: &'c [ComparedRun],
    /// Each of the others with the first.
    pairings: Vec<Pairing<'c>>,
    /// The name of the quantity that is judged by itself.
    primary: &'static str,
    /// What is compared.
    quantities: Vec<Quantity>,
    /// The quantities that the page shows first; the first of them is that of the answer.
    main: Vec<Quantity>,
    /// Over all pairs, for each pairing and quantity.
    overall: Vec<Vec<Overall<'c>>>,
}

/// One quantity over all pairs of a run with the reference.
struct Overall<'c> {
    difference: Difference<'c>,
    /// What its p-value is worth beside those of the other quantities and runs.
    judgement: Option<Judgement>,
}

impl<'c> Comparison<'c> {
    /// Pairs the runs, of which there is at least one, and computes what differs; `wanted` names
    /// the quantities to be shown first, empty leaves the choice to what the runs measured.
    fn new(runs: &'c [ComparedRun], wanted: &[String]) -> Self {
        let (reference, others) = (&runs[0], &runs[1..]);
        let pairings: Vec<Pairing<'c>> =
            others.iter().map(|run| reference.pair_with(run)).collect();
        let points: Vec<&MeasuredPoint> = runs.iter().flat_map(|run| &run.points).collect();
        let quantities = Quantity::all(reference.studies, points.iter().copied());
        let mut overall: Vec<Vec<Overall<'c>>> = pairings
            .iter()
            .map(|pairing| {
                let group = pairing.whole();
                let of = |quantity| Overall {
                    difference: Difference::of(quantity, &group),
                    judgement: None,
                };
                quantities.iter().map(of).collect()
            })
            .collect();
        let primary = Quantity::primary(reference.studies, runs);
        let of_runs = overall.iter().enumerate();
        let candidates: Vec<Candidate<'_, 'c>> = of_runs
            .flat_map(|(run, rows)| {
                let named = rows.iter().zip(&quantities);
                named.map(move |(row, quantity)| Candidate {
                    place: (run, 0),
                    quantity: quantity.name,
                    difference: &row.difference,
                })
            })
            .collect();
        let judged = judge(&candidates, primary);
        for (row, judgement) in overall.iter_mut().flatten().zip(&judged) {
            row.judgement = *judgement;
        }
        let main: Vec<Quantity> = match wanted.is_empty() {
            true => Quantity::main(reference.studies, &quantities, &points, primary),
            false => (wanted.iter())
                .filter_map(|name| quantities.iter().find(|quantity| quantity.name == name))
                .cloned()
                .collect(),
        };
        Self {
            runs,
            pairings,
            primary,
            quantities,
            main,
            overall,
        }
    }

    fn reference(&self) -> &'c ComparedRun {
        &self.runs[0]
    }

    fn others(&self) -> &'c [ComparedRun] {
        &self.runs[1..]
    }

    /// What a quantity does over all pairs of the run with this index among the others.
    fn overall(&self, other: usize, quantity: &Quantity) -> Option<&Overall<'c>> {
        let at = self.quantities.iter().position(|own| own == quantity)?;
        self.overall[other].get(at)
    }

    /// How many distinct differences a family has.
    fn tested(&self, family: Family) -> usize {
        let judged = self.overall.iter().flatten().map(|row| row.judgement);
        distinct(&judged.collect::<Vec<_>>(), family)
    }

    /// Whether all runs are of one store.
    fn is_one_store(&self) -> bool {
        let mut others = self.others().iter();
        others.all(|run| run.store == self.reference().store)
    }
}
