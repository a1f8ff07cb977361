//! What studies do in the laboratory: what their simulations read, and how they run behind actors. One file a study, and one line in
//! [`lab_study`].

pub mod co_reservation;
pub mod overbooking;
pub mod provisioning;
pub mod reservations;
pub mod slots;
pub mod virtual_reservations;

use std::sync::Arc;

use self::overbooking::PolicySimulation;
use crate::actors::{SimulationError, SimulationResult};
pub use bookahead_engine::studies::*;

use crate::sweep::problem::{ProblemKind, Problems};
use crate::sweep::raw::RawExperiment;
use crate::sweep::resolve::out_of_range;
use crate::sweep::{ContentHashes, InputError, Inputs, RunInput};
use crate::workload::{RequestSettings, WorkloadSettings};

/// A study with its inputs and its actors.
pub trait LabStudy {
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

    /// Content hashes of the sites behind the first, and of the workflow's file.
    ///
    /// # Errors
    ///
    /// When one of them cannot be read.
    fn more_hashes(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
    ) -> Result<(Vec<String>, Option<String>), Arc<InputError>> {
        Ok((Vec::new(), None))
    }

    /// What is read beside the simulation's own workload and failures.
    fn more_sources(&self, _spec: &SimulationSpec, _content: &ContentHashes) -> Vec<RunInput> {
        Vec::new()
    }

    /// Makes what a simulation reads, so that what is missing is known before the first one runs.
    ///
    /// # Errors
    ///
    /// When something cannot be made.
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>>;

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

    /// The simulation of a policy on one cluster, whose plan can be drawn; `None` for other studies.
    ///
    /// # Errors
    ///
    /// When something that it reads cannot be made.
    fn policy_simulation(
        &self,
        _spec: &SimulationSpec,
        _inputs: &Inputs,
    ) -> Result<Option<PolicySimulation>, Arc<InputError>> {
        Ok(None)
    }
}

/// A simulation that has everything it reads.
pub trait Simulation: Send + Sync {
    /// Runs it as an actor system on a current-thread runtime of its own. The result does not depend on anything but the inputs.
    ///
    /// # Errors
    ///
    /// When the settings do not fit the inputs, or when an actor panics.
    fn run(&self, keep_outcomes: bool) -> Result<SimulationResult, SimulationError>;
}

/// The laboratory's side of a study.
#[must_use]
pub fn lab_study(study: &StudySpec) -> &dyn LabStudy {
    match study {
        StudySpec::Overbooking(study) => study.as_ref(),
        StudySpec::Reservations(study) => study.as_ref(),
        StudySpec::Slots(study) => study.as_ref(),
        StudySpec::VirtualReservations(study) => study.as_ref(),
        StudySpec::CoReservation(study) => study.as_ref(),
        StudySpec::Provisioning(study) => study.as_ref(),
    }
}

/// What a file asks for, as far as every study may need it.
#[derive(Clone, Copy)]
pub(crate) struct Asked<'a> {
    /// `scheduling.strategy`.
    pub(crate) strategy: &'a str,
    /// The workload.
    pub(crate) workload: &'a WorkloadSettings,
    /// `experiment.replications`.
    pub(crate) replications: u32,
    /// Reservations that are made from its jobs.
    pub(crate) requests: Option<&'a RequestSettings>,
    /// Everything as it is written.
    pub(crate) raw: &'a RawExperiment,
}

impl Asked<'_> {
    /// Where the workload stands in the file.
    pub(crate) fn place(&self) -> std::ops::Range<usize> {
        self.raw.workload.as_ref().map_or(0..0, toml::Spanned::span)
    }
}

/// Looks for one study in a file. The outer `None` where something is wrong with its settings, the inner where another is asked for.
type Resolver = fn(&Asked<'_>, &mut Problems) -> Option<Option<StudySpec>>;

/// The studies with a machine of their own.
const RESOLVERS: [Resolver; 5] = [
    reservations::resolve,
    slots::resolve,
    virtual_reservations::resolve,
    co_reservation::resolve,
    provisioning::resolve,
];

/// The study that a file asks for, with its settings; `None` where something is wrong with them.
pub(crate) fn resolve(asked: &Asked<'_>, problems: &mut Problems) -> Option<StudySpec> {
    let mut found = None;
    for resolver in RESOLVERS {
        found = resolver(asked, problems)?.or(found);
    }
    let has_machine = found.is_some();
    let study = found.unwrap_or_else(|| overbooking::resolve(asked));
    if let Some(raw) = &asked.raw.reservations
        && !study.study().takes_reservations()
    {
        out_of_range(
            "reservations.share_percent",
            raw.span(),
            "this study takes no reservations",
            problems,
        );
        return None;
    }
    if !has_machine && asked.workload.whole.is_some() {
        let names: Vec<String> = (STRATEGIES.iter())
            .map(|(name, _)| format!("`{name}`"))
            .collect();
        problems.add(
            ProblemKind::Conflict,
            "workload.whole_trace",
            asked.place(),
            "policies that promise a deadline are simulated in batteries",
            format!(
                "leave out `whole_trace`, or choose one of the studies ({}) as strategy",
                names.join(", ")
            ),
        );
        return None;
    }
    Some(study)
}
