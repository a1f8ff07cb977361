//! What a sweep asks of its inputs: identities, what is missing, and simulations with all that they
//! read.

use std::sync::Arc;

use super::actors::Simulate;
use super::spec::{SimulationSpec, Sweep};
use crate::actors::Player;
use crate::failures::FailureSource;
use crate::study::inputs::parallel::map_in_parallel;
use crate::study::inputs::{ContentHashes, InputError, Inputs};
use crate::study::{Simulation, SimulationResult};

impl Inputs {
    /// Loads what identities need and gives every point its own.
    ///
    /// # Errors
    ///
    /// When a trace or failure table is missing or faulty, or has too few jobs.
    pub fn identify(&self, sweep: &mut Sweep) -> Result<(), Arc<InputError>> {
        self.identify_with(sweep, 1)
    }

    /// The same on several threads: traces are read and cleaned beside each other.
    ///
    /// # Errors
    ///
    /// As for [`Inputs::identify`].
    pub fn identify_with(&self, sweep: &mut Sweep, threads: usize) -> Result<(), Arc<InputError>> {
        let hashes = |spec: &SimulationSpec| {
            let workload = self.workload(spec)?;
            let study = &spec.study;
            study.check(spec, self)?;
            let failures = match spec.failures.source {
                FailureSource::Lanl { .. } => study.failures_hash(spec, self)?,
                FailureSource::None | FailureSource::Generated { .. } => None,
            };
            let mut content = ContentHashes {
                workload: workload.content_hash.clone(),
                failures,
                ..ContentHashes::default()
            };
            study.more_hashes(spec, self, &mut content)?;
            Ok::<_, Arc<InputError>>(content)
        };
        sweep.identify(|specs| map_in_parallel(specs, threads, &hashes))?;
        sweep.losses = self.losses();
        sweep.machines = self.machines(sweep.simulations.kinds())?;
        // Every workload is made: the raw records are not needed any more.
        self.records.clear();
        Ok(())
    }

    /// Makes everything that a simulation reads, and asks the first replication of each setting
    /// whether it can begin, so that what is in the way is known before the first one runs.
    ///
    /// # Errors
    ///
    /// When something cannot be made, or the simulation cannot begin.
    pub fn prepare(&self, spec: &SimulationSpec) -> Result<(), Arc<InputError>> {
        spec.study.prepare(spec, self)?;
        if spec.replication > 0 {
            return Ok(());
        }
        let begins = self.simulation(spec)?.check();
        begins.map_err(|error| Arc::new(InputError::Simulation(error.to_string())))
    }

    /// A simulation with everything that it reads.
    ///
    /// # Errors
    ///
    /// When something cannot be made.
    pub fn simulation(
        &self,
        spec: &SimulationSpec,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        spec.study.simulation(spec, self)
    }
}

impl Simulate for Inputs {
    fn simulate(&self, spec: &SimulationSpec) -> Result<SimulationResult, String> {
        let simulation = self.simulation(spec).map_err(|error| error.to_string())?;
        let mut player = Player::by_actors();
        if self.time_decisions {
            player = player.timing_decisions();
        }
        let result = simulation
            .run(self.keep_outcomes, &player)
            .map_err(|error| error.to_string())?;
        Ok(SimulationResult {
            seen: self.seen.seen(|handed| simulation.handed(handed)),
            decision_times: player.decision_times(),
            ..result
        })
    }

    fn workload_label(&self, spec: &SimulationSpec) -> String {
        self.label(spec).unwrap_or_default()
    }
}
