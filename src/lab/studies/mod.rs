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

use crate::sweep::{ContentHashes, InputError, Inputs, RunInput};

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
