//! The machine to which a list of jobs is handed.

use std::sync::Arc;

use super::{PackingSettings, pack_jobs};
use bookahead_core::kernel::{Listed, Machine, NoService, Scene, Step};
use bookahead_core::scheduling::measures::Measured;
use bookahead_core::scheduling::{JobOutcome, SimulationMetrics};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;

/// Collects the jobs that a client hands over, all of them at once, and packs them when nobody has
/// any more. Nothing happens on it.
#[derive(Clone, Debug)]
pub struct PackingMachine {
    nodes: Nodes,
    settings: PackingSettings,
    jobs: Vec<Job>,
}

impl PackingMachine {
    /// What [`pack_jobs`] makes of the jobs.
    #[must_use]
    pub fn finish(&self) -> (SimulationMetrics, Measured, Vec<JobOutcome>) {
        pack_jobs(&self.jobs, self.nodes, &self.settings)
    }
}

impl Machine for PackingMachine {
    type Input = Vec<Job>;
    type Output = ();
    type Service = NoService;

    fn take(&mut self, jobs: Vec<Job>) {
        self.jobs.extend(jobs);
    }

    fn advance(&mut self, until: Seconds) -> Step<NoService> {
        Step::Reached(until)
    }

    fn next_event(&self) -> Option<Seconds> {
        None
    }

    fn is_idle(&self) -> bool {
        true
    }

    fn hand_out(&mut self) {}
}

/// A client with a list of jobs in order of submission, and the machine that they are packed onto.
#[must_use]
pub fn packing_scene(
    jobs: &Arc<[Job]>,
    nodes: Nodes,
    settings: &PackingSettings,
) -> Scene<PackingMachine> {
    let machine = PackingMachine {
        nodes,
        settings: settings.clone(),
        jobs: Vec::new(),
    };
    let hand = |input: &mut Vec<Job>, jobs: &[Job]| input.extend_from_slice(jobs);
    let client = Listed::new(Arc::clone(jobs), |job: &Job| job.submit, hand);
    Scene::new("machine", machine).with("client", client)
}
