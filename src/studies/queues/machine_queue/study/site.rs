//! The machine of a study with the place that it has for every record of a trace.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use bookahead_core::memory::MemoryBudget;
use sha2::{Digest, Sha256};

use super::{MachineQueueSettings, MachineSource};
use crate::machine_queue::machines::slurm::Includes;
use crate::machine_queue::machines::{MachineDescription, MachineError, Place, TraceNames};
use crate::machine_queue::{MachineQueueOutcome, PlacedJobs, QueueMachine};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::input_file::read_whole;
use bookahead_core::workload::{Job, Origin, WorkloadSettings};
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{Cache, InputError, Inputs, canonical_text};

/// A machine, and where the records of one trace run on it.
pub(super) struct Site {
    /// With its calendar on the clock of the trace.
    pub(super) machine: Arc<QueueMachine>,
    /// Its size in processors of the trace.
    pub(super) processors: Nodes,
    /// Hash of the machine file and of the list of names.
    pub(super) content_hash: String,
    /// By number in the trace: the place, and the recorded wait. Records without a partition are
    /// not there.
    places: HashMap<i64, (Place, Option<Seconds>)>,
    /// What becomes of the jobs of a workload, where replications share them.
    outcomes: Mutex<HashMap<String, Arc<SharedOutcomes>>>,
}

/// What becomes of the jobs of a workload: worked out by the first of the simulations that share
/// it, while the others wait.
#[derive(Debug, Default)]
pub struct SharedOutcomes(Mutex<Option<Arc<[MachineQueueOutcome]>>>);

impl SharedOutcomes {
    pub(super) fn get_or_make<E>(
        &self,
        make: impl FnOnce() -> Result<Vec<MachineQueueOutcome>, E>,
    ) -> Result<Arc<[MachineQueueOutcome]>, E> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(outcomes) = &*kept {
            return Ok(Arc::clone(outcomes));
        }
        let outcomes: Arc<[MachineQueueOutcome]> = make()?.into();
        *kept = Some(Arc::clone(&outcomes));
        Ok(outcomes)
    }
}

impl Site {
    /// Of these settings and the trace of a simulation.
    pub(super) fn of(
        settings: &MachineQueueSettings,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Arc<Self>, Arc<InputError>> {
        let key = format!(
            "{}|{}|{:?}",
            inputs.records_key(spec),
            canonical_text(&settings.source),
            settings.names
        );
        inputs
            .shared::<Cache<Self>>()
            .get(key, || Self::read(settings, spec, inputs))
    }

    fn read(
        settings: &MachineQueueSettings,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Self, InputError> {
        let fault = |error: MachineError| InputError::Machine(error.to_string());
        let description = match &settings.source {
            MachineSource::File(file) => MachineDescription::load(Path::new(file), Includes::Below),
            MachineSource::Text(text) => MachineDescription::parse("machine.text", text),
        };
        let description = description.map_err(fault)?;
        let records = inputs.raw_records(spec)?;
        description
            .require_units_of(&records.header)
            .map_err(fault)?;
        let mut names = TraceNames::of_header(&records.header);
        let mut hash = Sha256::new();
        hash.update(description.text());
        if let Some(list) = &settings.names {
            names.read(Path::new(list)).map_err(fault)?;
            hash.update([0]);
            hash.update(
                read_whole(Path::new(list), MemoryBudget::UNLIMITED)
                    .map_err(|error| InputError::Machine(format!("{list}: {error}")))?,
            );
        }
        let machine = description
            .on_the_clock_of(records.header.unix_start_time(), &names)
            .map_err(fault)?;
        let placement = description.placement(&names);
        let mut places = HashMap::new();
        for record in &records.records {
            if let Ok(place) = placement.place(record) {
                let wait = (record.wait >= 0).then_some(Seconds(record.wait));
                places.entry(record.job_number).or_insert((place, wait));
            }
        }
        let digits: Vec<String> = (hash.finalize().iter())
            .map(|byte| format!("{byte:02x}"))
            .collect();
        Ok(Self {
            machine: Arc::new(machine),
            processors: description.processors(),
            content_hash: digits.concat(),
            places,
            outcomes: Mutex::default(),
        })
    }

    /// Where the outcomes of a workload's jobs are kept that all its replications share.
    pub(super) fn outcomes_of(&self, workload: String) -> Arc<SharedOutcomes> {
        let mut all = self.outcomes.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(workload).or_default())
    }

    /// The jobs that have a place. Who asks for no time asks for its partition's default, where
    /// there is one and requests are not exact; requests are as tight as those of the workload.
    pub(super) fn place(&self, jobs: &[Job], workload: &WorkloadSettings) -> PlacedJobs {
        let exact = (workload.whole.as_ref()).is_some_and(|whole| whole.exact_estimates);
        let (mut placed, mut asking) = (PlacedJobs::default(), Vec::new());
        for (position, job) in jobs.iter().enumerate() {
            let Some((place, recorded)) = self.places.get(&job.trace_number) else {
                continue;
            };
            let default = place.default_request().filter(|_| !exact);
            let default = default.map(|request| match workload.tightness {
                Some(tightness) => tightness.estimate(request, job.runtime),
                None => request,
            });
            asking.push(place.job(job, default.unwrap_or(job.estimate)));
            placed.positions.push(position);
            placed.recorded.push(*recorded);
        }
        placed.jobs = asking.into();
        placed
    }

    /// Says when windows of the calendar would stand on another clock than the jobs.
    pub(super) fn refuse_another_clock(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<(), Arc<InputError>> {
        if self.machine.windows.is_empty() {
            return Ok(());
        }
        let is_of_log =
            (spec.workload.whole.as_ref()).is_some_and(|whole| whole.origin == Origin::Log);
        let factor = inputs.workload(spec)?.first_factor;
        if is_of_log && factor == 1.0 {
            return Ok(());
        }
        Err(Arc::new(InputError::Machine(format!(
            "the machine `{}` has windows of the calendar, so jobs have to come at the times of the log: set `workload.whole_trace = true` \
             and `workload.origin = \"log\"`, without `compression` and `load`, or take the windows out of the machine file",
            self.machine.name
        ))))
    }
}
