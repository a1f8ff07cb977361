//! Several clusters and a broker as a study: one of its simulations, and what its settings leave
//! unread.

use std::sync::Arc;

use crate::co_reservation::evaluation::co_reservation_measures;
use crate::co_reservation::local::AccuracySource;
use crate::co_reservation::measures::ClusterSummary;
use crate::co_reservation::{
    ClusterFailureSettings, ClusterOutage, CoReservationInputs, CoReservationRun,
    CoReservationSettings, Order, OutageEvents, Repair, SearchSettings, SortBy,
    co_reservation_scene,
};
use crate::study::cluster_policy;
use bookahead_core::estimates::LearningSettings;
use bookahead_core::failures::FailureSource;
use bookahead_core::random::StreamSeed;
use bookahead_core::scheduling::Reliability;
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::{Excerpts, FurtherParts, Preference, WorkflowShape};
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::Problems;
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{
    ContentHashes, Handed, InputError, Inputs, RunInput, canonical_text, latest_work,
};
use bookahead_lab::study::{
    Asked, CommonSettings, JOB_BYTES, Simulation, SimulationResult, Starter, Strategy, Study,
    StudyRows, name_of,
};
use bookahead_lab::tables::Definition;
use bookahead_overbooking::registry;
use bookahead_overbooking::study::believed;
mod inputs;
mod keys;
pub mod measures;
mod resolve;
mod resolve_further;
mod resolve_local;
mod resolve_requests;
mod settings;
pub mod stored;
mod tables;
pub mod view;

use self::inputs::{estimates, grid, latest_end, workflow, workflow_file};

pub(crate) use self::keys::{GRID_FAILURES, RawClusterFailures};
pub use self::measures::MEASURES;
pub(crate) use self::resolve::of_grid_failures;
pub use self::settings::*;
pub use self::tables::CoReservationRows as Rows;

/// The clusters with their jobs, the requests, and the broker.
#[derive(Clone, Debug)]
pub struct CoReservationSimulation {
    /// Clusters and requests.
    pub inputs: Arc<CoReservationInputs>,
    /// How the broker searches, what its messages suffer, what fails.
    pub settings: CoReservationSettings,
    /// What its random streams derive from.
    pub seed: StreamSeed,
}

impl Simulation for CoReservationSimulation {
    fn check(&self) -> Result<(), SimulationError> {
        co_reservation_scene(&self.inputs, &self.settings, &self.seed)
            .map(drop)
            .map_err(SimulationError::of_study)
    }

    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let scene = co_reservation_scene(&self.inputs, &self.settings, &self.seed)
            .map_err(SimulationError::of_study)?;
        // Measures need every outcome.
        let played = player.play(scene, true, name_of(STRATEGY))?;
        if played.machine.is_stuck() {
            return Err(SimulationError::Unfinished(name_of(STRATEGY).to_owned()));
        }
        let run = CoReservationRun::of(played, &self.inputs);
        Ok(self.result(run, keep_outcomes))
    }

    /// How far a start may be moved and how cost weighs are settings.
    fn handed(&self, handed: &mut Handed<'_>) {
        for cluster in &self.inputs.clusters {
            handed.jobs(&cluster.jobs);
        }
        for request in self.inputs.requests.iter() {
            let mut numbers = vec![
                Some(request.submit.0),
                Some(request.earliest.0),
                Some(request.duration.0),
                request.user,
            ];
            numbers.extend(request.parts.iter().map(|part| Some(part.0.into())));
            let further = request.further.iter();
            numbers.extend(further.clone().map(|it| Some(it.licences.into())));
            if further.clone().any(|it| it.storage_gb > 0) {
                numbers.extend(further.map(|it| Some(it.storage_gb.into())));
            }
            let before = request.task.iter().flat_map(|task| &task.after);
            numbers.extend(before.map(|task| Some(task.0.into())));
            handed.request(&numbers);
        }
        if let Some(failures) = &self.settings.failures {
            let sizes = self.inputs.clusters.iter().map(|cluster| cluster.nodes.0);
            let sizes: Vec<u32> = sizes.collect();
            // What fails does not depend on who is told.
            let drawn = ClusterFailureSettings {
                silent: false,
                ..failures.clone()
            };
            let settings = canonical_text(&drawn);
            handed.drawn_failures(&format!("{}|{sizes:?}|{settings}", self.seed));
        }
        if !self.inputs.failures.events.is_empty() {
            let ends = self.inputs.clusters.iter().map(|it| latest_work(&it.jobs));
            let latest = ends.max().unwrap_or(Seconds::ZERO);
            handed.failures(&self.inputs.failures, latest);
        }
    }
}

impl CoReservationSimulation {
    /// Measures a run, and keeps its outcomes where they are asked for; those of jobs become the
    /// outcomes of the simulation.
    #[must_use]
    pub fn result(&self, mut run: CoReservationRun, keep_outcomes: bool) -> SimulationResult {
        let inputs = &self.inputs;
        let clusters = inputs.clusters.len() as u32;
        let (measured, values) = co_reservation_measures(inputs, &self.settings, &run);
        let (outcomes, outages) = if keep_outcomes {
            (std::mem::take(&mut run.jobs), self.outages())
        } else {
            Default::default()
        };
        SimulationResult {
            metrics: run.metrics,
            measured,
            outcomes,
            failures: Arc::clone(&inputs.failures),
            estimates: inputs.estimates.clone(),
            rows: StudyRows::of(Rows {
                clusters: ClusterSummary::of(inputs),
                values,
                outages,
                known_clusters: self.settings.information.known_clusters(clusters),
                run: keep_outcomes.then_some(run),
            }),
            ..SimulationResult::default()
        }
    }

    /// The outages that are drawn while it runs. They never end, and how far they are drawn depends
    /// on the algorithm; so they are drawn once more until an instant that does not.
    fn outages(&self) -> Vec<ClusterOutage> {
        let clusters = &self.inputs.clusters;
        let sizes: Vec<Nodes> = clusters.iter().map(|cluster| cluster.nodes).collect();
        let mut outages = OutageEvents::new(self.settings.failures.as_ref(), &sizes, &self.seed);
        let search = &self.settings.search;
        outages.before(latest_end(clusters, &self.inputs.requests, search))
    }
}

impl Study for CoReservationStudy {
    type Keys = keys::RawTables;

    const NAME: &'static str = "co-reservation";

    const ABOUT: &'static str =
        "Several clusters and a broker that co-reserves parts at them (Meltzer 2005).";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = tables::TABLES;

    const OWNER: Option<&'static str> = Some("this table belongs to the study of several clusters");

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.jobs", "12000"),
            ("workload.nodes", "128"),
            ("workload.fresh", "true"),
            ("workload.whole_trace", "true"),
            ("workload.load.value", "0.8"),
            ("clusters.count", "3"),
            ("clusters.days", "4"),
            ("requests.count", "40"),
        ],
        axes: &[("broker.algorithm", r#"["a2", "a3", "a4", "a5"]"#)],
    };

    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        resolve::resolve(keys, asked, problems)
    }

    /// What the algorithm, the network and the requests do not read. What is measured under every
    /// algorithm (backlog times, costs) is read under every algorithm.
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        let nodes_fail = common.failures.source != FailureSource::None;
        if let Some(risk) = &mut self.settings.risk {
            let believed = believed(&common, &risk.strategy);
            risk.reliability = match (believed, risk.reliability.take()) {
                // The policy of a specification that was normalised before is the default one.
                (Some(believed), Some(before)) if believed == Reliability::default() => {
                    Some(before)
                }
                (believed, _) => believed,
            };
            if let Some(policy) = cluster_policy(&common, &risk.strategy) {
                risk.policy = Some(Box::new(policy));
            }
        } else {
            self.clusters.laxity = None;
        }
        common.without_policy();
        // Clusters that overbook learn from jobs; the others promise parts without risk only.
        match &mut self.settings.risk {
            Some(risk)
                if registry::strategy(&risk.strategy).is_none_or(|known| known.overbooks) => {}
            risk => {
                *common.estimates = None;
                if let Some(risk) = risk {
                    risk.pof_max = 0.0;
                }
            }
        }
        if let Some(estimates) = common.estimates {
            estimates.normalise(true);
            // No battery is run before.
            estimates.learning.batteries_before = LearningSettings::default().batteries_before;
        }
        let settings = &mut self.settings;
        let default = CoReservationSettings::default();
        let local = &mut settings.local;
        if local.accuracy != AccuracySource::Category {
            local.accuracy_window = default.local.accuracy_window;
        }
        if local.partition.is_some() {
            // No job waits for the CPUs of parts.
            local.planned_visible = default.local.planned_visible;
            local.next_event = default.local.next_event;
            local.look_ahead = default.local.look_ahead;
            local.quota = None;
        }
        let something_fails = nodes_fail || settings.failures.is_some();
        if !something_fails && settings.risk.is_none() {
            // Nothing is ever lost that could be asked for anew.
            settings.renegotiate = false;
        }
        if let Some(failures) = &mut settings.failures {
            failures.normalise();
        }
        let is_unreachable =
            (settings.failures.as_ref()).is_some_and(|failures| failures.cluster_mtbf.is_some());
        if !is_unreachable {
            // Whatever is polled answers.
            settings.watch = None;
        }
        let messages = &mut settings.messages;
        if messages.latency == Seconds::ZERO && messages.loss == 0.0 && !something_fails {
            // Every answer comes at once.
            messages.timeout = default.messages.timeout;
        }
        match &mut self.requests {
            None => {
                settings.search = default.search;
                settings.messages = default.messages;
                settings.renegotiate = false;
                settings.watch = None;
                settings.second_thoughts = None;
                settings.information = default.information;
                settings.local.job_mix = default.local.job_mix;
                settings.local.further = default.local.further;
            }
            Some(requests) => {
                let further = &mut settings.local.further;
                for (most, needed) in [
                    (&mut further.licences, &mut requests.licences),
                    (&mut further.storage_gb, &mut requests.storage),
                ] {
                    if *most == 0 || needed.is_none() {
                        (*most, *needed) = (0, None);
                    }
                }
                let row = settings.search.algorithm.row();
                let clusters = self.clusters.count;
                settings.information.normalise(clusters, row.probes);
                let search = &mut settings.search;
                if row.queues {
                    // What is searched for where nothing is queued.
                    *search = SearchSettings {
                        algorithm: search.algorithm,
                        patience: search.patience,
                        unsplit: search.unsplit,
                        split_overhead: search.split_overhead,
                        ..default.search.clone()
                    };
                    settings.renegotiate = false;
                    settings.watch = None;
                    settings.second_thoughts = None;
                }
                if !row.probes {
                    search.record_free_cpus = false;
                }
                if requests.parts == 1 {
                    search.unsplit = false;
                }
                let is_one = requests.parts == 1 || search.unsplit;
                if is_one {
                    search.split_overhead = default.search.split_overhead;
                }
                if is_one || !row.queues {
                    search.patience = default.search.patience;
                }
                let is_read = match settings.search.sort_by {
                    SortBy::Staged => row.order == Order::Value,
                    SortBy::Algorithm | SortBy::ReservationDegree => row.probes,
                };
                if !is_read {
                    settings.search.sort_by = default.search.sort_by;
                }
                let has_own_order = settings.search.sort_by != SortBy::Algorithm;
                if row.order != Order::Value || has_own_order {
                    requests.preference = Preference::default();
                }
                if requests.preference.mix_weight == 0.0 {
                    settings.local.job_mix = default.local.job_mix;
                }
                if row.repair != Repair::BestFirst {
                    settings.search.start_tolerance = default.search.start_tolerance;
                    settings.search.cost_tolerance = default.search.cost_tolerance;
                }
                if row.repair == Repair::None {
                    settings.search.memoise = default.search.memoise;
                }
                if requests.parts <= 2 {
                    requests.further_parts = FurtherParts::default();
                }
                if let Some(kinds) = &mut requests.kinds
                    && kinds.workflow_percent == 0.0
                {
                    kinds.tasks = WorkflowShape::default();
                }
            }
        }
    }

    fn takes_deadlines(&self) -> bool {
        self.clusters.laxity.is_some() && self.settings.risk.is_some()
    }

    fn penalty_ratio(&self) -> Option<f64> {
        self.settings.risk.as_ref().map(|risk| risk.penalty_ratio)
    }

    fn work(&self, _simulation: &SimulationSpec) -> f64 {
        self.jobs_and_requests()
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        3e-6
    }

    fn measured_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        Self::measured_bytes(self)
    }

    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * self.jobs_and_requests()
    }

    fn failures_hash(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Option<String>, Arc<InputError>> {
        // Clusters whose nodes do not fail keep the identity that they had before they could.
        if spec.failures.source == FailureSource::None {
            return Ok(None);
        }
        let workload = inputs.workload(spec)?;
        let grid = grid(self, spec, inputs, &workload, None)?;
        Ok(Some(grid.failures.content_hash()))
    }

    fn more_hashes(
        &self,
        _spec: &SimulationSpec,
        inputs: &Inputs,
        content: &mut ContentHashes,
    ) -> Result<(), Arc<InputError>> {
        let workflow = workflow(self, inputs)?;
        content.workflow = workflow.map(|sourced| sourced.1.clone());
        Ok(())
    }

    fn more_sources(&self, _spec: &SimulationSpec, content: &ContentHashes) -> Vec<RunInput> {
        let file = workflow_file(self).zip(content.workflow.as_ref());
        let source = |(file, hash): (&str, &String)| RunInput {
            source: format!("workflow {file}"),
            content: hash.clone(),
        };
        file.map(source).into_iter().collect()
    }

    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        estimates(self, spec, inputs, &workload)?;
        // Drawn excerpts are not kept: one draw shows whether trace and settings go together.
        if self.clusters.excerpts == Excerpts::Drawn && spec.replication > 0 {
            return Ok(());
        }
        grid(self, spec, inputs, &workload, None).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        Ok(Box::new(with_inputs(self, spec, inputs)?))
    }
}

/// The simulation with everything that it reads.
///
/// # Errors
///
/// When something cannot be made.
pub fn with_inputs(
    study: &CoReservationStudy,
    spec: &SimulationSpec,
    inputs: &Inputs,
) -> Result<CoReservationSimulation, Arc<InputError>> {
    let workload = inputs.workload(spec)?;
    let estimates = estimates(study, spec, inputs, &workload)?;
    Ok(CoReservationSimulation {
        inputs: grid(study, spec, inputs, &workload, estimates)?,
        settings: study.settings.clone(),
        seed: inputs.seed(spec),
    })
}
