//! What a study is: a kind of simulation, with its settings, its keys in experiment files, what it
//! reads, how it runs, what it measures and what it stores.
//!
//! Whoever writes one implements [`Study`] for its settings and [`Simulation`] for a simulation
//! that has everything it reads, and adds [`study`] to the list of the program ([`Studies`]). The
//! laboratory is handed that list and knows no study by name.

mod common;
mod erased;
pub mod inputs;
mod list;
mod result;
mod spec;
pub mod spec_format;
#[cfg(test)]
pub(crate) mod testing;

use std::fmt::Debug;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;

pub use self::common::{Asked, CommonSettings};
pub use self::erased::{AnyStudy, StudyKeys, StudySpec, study};
pub use self::list::Studies;
pub use self::result::{NodeReplay, ReplayFailure, Simulation, SimulationResult, StudyRows};
pub use self::spec::{SimulationSpec, jobs_of, with_copies};
use crate::keys::declaration::Tables;
use crate::keys::problem::Problems;
use crate::scheduling::measures::Measure;
use crate::scheduling::registry;
use crate::study::inputs::{ContentHashes, InputError, Inputs, RunInput};
use crate::tables::Definition;

/// Bytes of one stored job outcome, indexes included.
pub const JOB_BYTES: f64 = 40.0;

/// Jobs that are submitted to a machine on a day, about.
pub const JOBS_A_DAY: f64 = 250.0;

/// A kind of simulation: the type is its settings, which are one part of a specification.
///
/// How `serde` writes the settings is part of every identity and must not change: its fields stand
/// beside those of [`SimulationSpec`], those of its machine in a table `study` that begins with the
/// study's name ([`spec_format::named`]).
pub trait Study:
    Clone + Debug + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// Its tables in experiment files; `()` where it has none.
    type Keys: Tables;

    /// Its name for people, in kebab case.
    const NAME: &'static str;

    /// What it is, a sentence.
    const ABOUT: &'static str;

    /// What stands for it where a policy's name stands; `None` for a study of policies
    /// ([`Study::policies`]).
    const STRATEGY: Option<Strategy>;

    /// What it measures beside the totals of its jobs, in the order of tables.
    const MEASURES: &'static [Measure];

    /// Its tables in the store.
    const TABLES: Definition = Definition::NONE;

    /// Whose tables in experiment files they are, in a sentence, where other studies refuse them.
    const OWNER: Option<&'static str> = None;

    /// What a first experiment with it sets.
    const STARTER: Starter = Starter::EMPTY;

    /// The policies that it simulates, where it simulates whatever policy is named.
    #[must_use]
    fn policies() -> &'static [registry::Strategy] {
        &[]
    }

    /// Checks what a file says and fills in defaults; `None` where something is wrong.
    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self>;

    /// Sets everything that cannot change the result to its default, in the study's own settings
    /// and in those that simulations have in common, so that equal simulations have equal
    /// specifications. By default it has a machine of its own that nothing fails on and reads its
    /// jobs only.
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        common.without_all();
    }

    /// Jobs and requests of a simulation, about, each weighed by how much more than a job of a
    /// short queue it costs.
    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload)
    }

    /// Seconds that one of them takes on one core, about, before anything was measured.
    fn seconds_per_job(&self, strategy: &str) -> f64;

    /// Bytes that a simulation takes in a store beside its totals where outcomes are not kept,
    /// about.
    fn measured_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        0.0
    }

    /// Bytes that the outcomes of a simulation take in a store, about; by default those of its
    /// jobs.
    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * jobs_of(&simulation.workload)
    }

    /// Whether its jobs are only what goes on at a machine while something else is studied: they
    /// are kept with outcomes, but their waits are no result of the study.
    fn jobs_are_background(&self) -> bool {
        false
    }

    /// Whether it takes reservations that are made from its jobs.
    fn takes_reservations(&self) -> bool {
        false
    }

    /// Whether it has one cluster whose load failures of its nodes may follow.
    fn takes_failures_by_load(&self) -> bool {
        false
    }

    /// Whether jobs of a whole trace have deadlines in it, by `workload.laxity`.
    fn takes_deadlines(&self) -> bool {
        false
    }

    /// Whether it says how jobs are planned that ask for no time at all
    /// ([`MissingEstimate::Recorded`](crate::workload::MissingEstimate::Recorded)).
    fn takes_missing_requests(&self) -> bool {
        false
    }

    /// How many machines of `workload.nodes` nodes share the jobs, and the load that they offer.
    fn machines(&self) -> u32 {
        1
    }

    /// The penalty ratio that its machine reads; `None` where points account for it.
    fn penalty_ratio(&self) -> Option<f64> {
        None
    }

    /// How often the program has changed the results of this study only, and what changed them
    /// last; `None` where it never did.
    fn revision(&self) -> Option<u32> {
        None
    }

    /// The hash of the node failures that are replayed; `None` where the study reads none.
    ///
    /// # Errors
    ///
    /// When they cannot be had.
    fn failures_hash(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
    ) -> Result<Option<String>, Arc<InputError>> {
        Ok(None)
    }

    /// Adds the content hashes of what the study reads beside workload and failures.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    fn more_hashes(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
        _content: &mut ContentHashes,
    ) -> Result<(), Arc<InputError>> {
        Ok(())
    }

    /// Looks whether the inputs are such that the study can be carried out, so that a plan already
    /// says what would fail.
    ///
    /// # Errors
    ///
    /// When they are not, or cannot be had.
    fn check(&self, _spec: &SimulationSpec, _inputs: &Inputs) -> Result<(), Arc<InputError>> {
        Ok(())
    }

    /// What is read beside the simulation's own workload and failures.
    fn more_sources(&self, _spec: &SimulationSpec, _content: &ContentHashes) -> Vec<RunInput> {
        Vec::new()
    }

    /// Makes what a simulation reads, so that what is missing is known before the first one runs;
    /// by default its jobs.
    ///
    /// # Errors
    ///
    /// When something cannot be made.
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec).map(drop)
    }

    /// The simulation with everything that it reads.
    ///
    /// # Errors
    ///
    /// When something cannot be made.
    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>>;

    /// Carries a simulation out once more where its plan names nodes; `None` for studies whose
    /// machines count them.
    ///
    /// # Errors
    ///
    /// When something that it reads cannot be made, or the simulation fails.
    fn replay(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
    ) -> Result<Option<NodeReplay>, ReplayFailure> {
        Ok(None)
    }
}

/// What stands for a study with a machine of its own where a policy's name stands
/// (`scheduling.strategy`).
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whether the metrics of its jobs (utilisation, slowdown) say something of it beside its
    /// measures.
    pub has_metrics: bool,
    /// The measure, or the metric of jobs, by which two of its runs are compared: declared here so
    /// that nobody chooses it after the results were seen.
    pub primary: &'static str,
    /// What is earned in it, where it sells anything.
    pub earned: Option<Earned>,
}

/// What those earn who take the risks of a study, and who competes for it.
#[derive(Clone, Copy, Debug)]
pub struct Earned {
    /// The measure, in VC.
    pub measure: &'static str,
    /// The key whose values compete, as policies do where a study has no machine of its own.
    pub competitors: &'static str,
}

/// What a study is called where its simulations name it.
#[must_use]
pub fn name_of(strategy: Option<Strategy>) -> &'static str {
    strategy.map_or("", |strategy| strategy.name)
}

/// What the file for a first experiment with a study sets (`bookahead init`), beside what all of
/// them do; what it leaves out stands there with its default.
#[derive(Clone, Copy, Debug)]
pub struct Starter {
    /// Keys, with their values as they stand in a file.
    pub keys: &'static [(&'static str, &'static str)],
    /// Keys that are varied, with lists of values.
    pub axes: &'static [(&'static str, &'static str)],
}

impl Starter {
    /// Nothing.
    pub const EMPTY: Self = Self {
        keys: &[],
        axes: &[],
    };
}
