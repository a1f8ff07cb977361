//! A planning-based machine that takes reservations.

use std::sync::Arc;

use super::{LabStudy, Simulation};
use crate::actors::{SimulationError, SimulationResult, simulate_reserving_cluster};
use crate::scheduling::reserving::{ReservingSettings, reservation_measures};
use crate::studies::SimulationSpec;
use crate::sweep::{InputError, Inputs};
use crate::units::Nodes;
use crate::workload::{Job, ReservationRequest};
pub use bookahead_engine::studies::reservations::*;

/// The machine, its jobs and its requests.
#[derive(Clone, Debug)]
pub struct ReservingSimulation {
    /// Size of the machine.
    pub nodes: Nodes,
    /// The machine.
    pub machine: ReservingSettings,
    /// The jobs in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// Requests for reservations, in order of submission with ids 0, 1, 2, …
    pub requests: Arc<[ReservationRequest]>,
}

impl Simulation for ReservingSimulation {
    fn run(&self, keep_outcomes: bool) -> Result<SimulationResult, SimulationError> {
        let run = simulate_reserving_cluster(
            self.nodes,
            &self.machine,
            &self.jobs,
            &self.requests,
            keep_outcomes,
        )?;
        Ok(SimulationResult {
            measured: reservation_measures(self.nodes, &run.metrics, &run.totals),
            metrics: run.metrics,
            outcomes: run.jobs,
            reservations: run.reservations,
            ..SimulationResult::default()
        })
    }
}

impl LabStudy for ReservationsStudy {
    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        let jobs = inputs.battery(&*inputs.workload(spec)?, spec)?;
        let (jobs, requests) = match &self.requests {
            None => (jobs, Arc::from([])),
            Some(requests) => {
                let mixed = inputs.jobs_and_requests(spec, requests, &jobs);
                (mixed.jobs.into(), mixed.requests.into())
            }
        };
        Ok(Box::new(ReservingSimulation {
            nodes: spec.workload.nodes,
            machine: self.machine.clone(),
            jobs,
            requests,
        }))
    }
}
