//! A queue on a machine as its operators configure it.

mod keys;
pub mod measures;
mod settings;
mod site;

use std::sync::Arc;

use self::keys::{RawMachineQueue, RawTables};
pub use self::measures::MEASURES;
pub use self::settings::*;
pub use self::site::SharedOutcomes;
use self::site::Site;
use crate::machine_queue::{
    AddedReservation, NodesBy, PlacedJobs, QueueMachine, Topology, crossing_measures,
    delay_measures, machine_measures, machine_queue_outcomes, machine_queue_scene,
};
use bookahead_core::scheduling::measures::Measure;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::Job;
use bookahead_lab::actors::{Player, SimulationError};
use bookahead_lab::keys::problem::{ProblemKind, Problems};
use bookahead_lab::study::SimulationSpec;
use bookahead_lab::study::inputs::{
    ContentHashes, Handed, InputError, Inputs, RunInput, canonical_text,
};
use bookahead_lab::study::{
    Asked, Simulation, SimulationResult, Starter, Strategy, Study, jobs_of, name_of,
};
use bookahead_lab::tables::{Definition, Outcomes};

/// None of its own.
pub type Rows = ();

/// The machine and its jobs.
#[derive(Clone, Debug)]
pub struct MachineQueueSimulation {
    /// The machine with its calendar on the clock of the jobs.
    pub machine: Arc<QueueMachine>,
    /// Its size in processors of the workload.
    pub processors: Nodes,
    /// All of the workload, in order of submission, with ids 0, 1, 2, …
    pub jobs: Arc<[Job]>,
    /// Those that have a place there.
    pub placed: PlacedJobs,
    /// A reservation that is added, and from when.
    pub added: Option<(AddedReservation, Seconds)>,
    /// What becomes of the jobs without it.
    pub outcomes: Arc<SharedOutcomes>,
}

impl Simulation for MachineQueueSimulation {
    /// Outcomes and waits are those without the added reservation; the schedule with it says what
    /// it costs.
    fn run(
        &self,
        keep_outcomes: bool,
        player: &Player,
    ) -> Result<SimulationResult, SimulationError> {
        let placed = &self.placed;
        let simulate = |machine: &Arc<QueueMachine>| {
            let scene = machine_queue_scene(machine, &placed.jobs);
            let played = player.play(scene, false, name_of(STRATEGY))?;
            Ok::<_, SimulationError>(played.machine.into_outcomes())
        };
        let outcomes = self.outcomes.get_or_make(|| simulate(&self.machine))?;
        let (kept, metrics) = machine_queue_outcomes(
            &self.jobs,
            placed,
            &outcomes,
            self.processors,
            keep_outcomes,
        );
        let mut measured = machine_measures(self.jobs.len(), placed, &outcomes);
        measured.extend(&crossing_measures(
            &self.machine.topology,
            placed,
            &outcomes,
        ));
        if let Some((added, begin)) = &self.added {
            let with = simulate(&Arc::new(added.on(&self.machine, *begin)))?;
            measured.extend(&delay_measures(
                &self.machine,
                added,
                *begin,
                &placed.jobs,
                &outcomes,
                &with,
            ));
        }
        Ok(SimulationResult {
            metrics,
            measured,
            outcomes: kept,
            ..SimulationResult::default()
        })
    }

    fn handed(&self, handed: &mut Handed<'_>) {
        handed.jobs(&self.jobs);
    }
}

impl Study for MachineQueueStudy {
    type Keys = RawTables;

    const NAME: &'static str = "machine-queue";

    const ABOUT: &'static str = "A queue on a machine as its operators configure it: partitions, priorities, limits, classes of nodes and a calendar.";

    const STRATEGY: Option<Strategy> = settings::STRATEGY;

    const MEASURES: &'static [Measure] = measures::MEASURES;

    const TABLES: Definition = Definition {
        outcomes: Outcomes {
            // Sizes are cores, which the machine's own description says.
            machines: Some(
                "SELECT k.simulation, 0, 'machine', k.capacity / k.makespan FROM simulation_metrics k WHERE k.makespan > 0",
            ),
            ..Outcomes::NONE
        },
        ..Definition::NONE
    };

    const OWNER: Option<&'static str> =
        Some("this table belongs to the queue of a machine as its operators configure it");

    const STARTER: Starter = Starter {
        keys: &[
            ("workload.fresh", "true"),
            ("workload.whole_trace", "true"),
            ("workload.load.value", "0.9"),
            ("machine.text", A_MACHINE),
        ],
        axes: &[("workload.exact_estimates", "[false, true]")],
    };

    fn resolve(keys: &Self::Keys, asked: &Asked<'_>, problems: &mut Problems) -> Option<Self> {
        let raw: &RawMachineQueue = &keys.machine;
        let source = source(raw, asked, problems)?;
        let nodes = raw.added_nodes().checked(problems);
        let hours = (raw.added_hours())
            .limited(|hours| hours <= 1_000.0)
            .or_default(problems);
        let topology = topology(raw, problems);
        let (nodes, hours) = (nodes?, hours?);
        Some(Self {
            settings: MachineQueueSettings {
                source,
                names: raw.names.as_ref().map(|names| names.get_ref().clone()),
                added: nodes.map(|nodes| AddedReservation {
                    nodes: Nodes(nodes),
                    duration: Seconds((hours * 3_600.0).round().max(1.0) as i64),
                }),
                topology: topology?,
            },
        })
    }

    /// A reservation is compared with the same jobs without it.
    fn work(&self, simulation: &SimulationSpec) -> f64 {
        let runs = if self.settings.added.is_some() {
            2.0
        } else {
            1.0
        };
        runs * jobs_of(&simulation.workload)
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-5
    }

    fn more_hashes(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
        content: &mut ContentHashes,
    ) -> Result<(), Arc<InputError>> {
        let site = Site::of(&self.settings, spec, inputs)?;
        content.machine = Some(site.content_hash.clone());
        Ok(())
    }

    fn check(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let site = Site::of(&self.settings, spec, inputs)?;
        site.refuse_another_clock(spec, inputs)
    }

    fn more_sources(&self, _spec: &SimulationSpec, content: &ContentHashes) -> Vec<RunInput> {
        let machine = content.machine.iter().map(|hash| RunInput {
            source: match &self.settings.source {
                MachineSource::File(file) => format!("machine {file}"),
                MachineSource::Text(_) => "machine of the experiment".to_owned(),
            },
            content: hash.clone(),
        });
        machine.collect()
    }

    fn prepare(&self, spec: &SimulationSpec, inputs: &Inputs) -> Result<(), Arc<InputError>> {
        let workload = inputs.workload(spec)?;
        inputs.battery(&workload, spec)?;
        Site::of(&self.settings, spec, inputs).map(drop)
    }

    fn simulation(
        &self,
        spec: &SimulationSpec,
        inputs: &Inputs,
    ) -> Result<Box<dyn Simulation>, Arc<InputError>> {
        let site = Site::of(&self.settings, spec, inputs)?;
        let jobs = inputs.battery(&*inputs.workload(spec)?, spec)?;
        let added = self.settings.added.and_then(|added| {
            let mut stream = inputs.seed(spec).stream("added-reservation");
            Some((added, added.drawn_begin(&jobs, &mut stream)?))
        });
        let whole = spec.workload.whole.as_ref();
        let is_same = !spec.workload.fresh
            && whole.is_some_and(|whole| whole.shake_seconds == 0 && whole.windows.is_none());
        let is_shared = added.is_some() && is_same;
        let outcomes = if is_shared {
            let topology = canonical_text(&self.settings.topology);
            let workload = inputs.workload_key(&spec.workload);
            site.outcomes_of(format!("{workload}|{topology}"))
        } else {
            Arc::default()
        };
        Ok(Box::new(MachineQueueSimulation {
            machine: match self.settings.topology {
                topology if topology.is_flat() => Arc::clone(&site.machine),
                topology => Arc::new(QueueMachine {
                    topology,
                    ..QueueMachine::clone(&site.machine)
                }),
            },
            processors: site.processors,
            placed: site.place(&jobs, &spec.workload),
            jobs,
            added,
            outcomes,
        }))
    }
}

/// A machine for a first experiment, as it stands in its file.
const A_MACHINE: &str = r#""""
name = "a machine of two classes"
backfilling = { depth = 4 }
priority = { age = 1000, fair_share = 1000 }

[[class]]
name = "thin"
nodes = 24
cores = 2

[[class]]
name = "thick"
nodes = 4
cores = 4

[[partition]]
name = "batch"
sharing = "shared"
""""#;

/// Which nodes are near each other. What a switch does is said only where it is known how many
/// nodes are below one.
fn topology(raw: &RawMachineQueue, problems: &mut Problems) -> Option<Topology> {
    let nodes_by = match raw.nodes_by().name(problems)? {
        "switch" => NodesBy::Switch,
        "contiguous" => NodesBy::Contiguous,
        "buddy" => NodesBy::Buddy,
        _ => NodesBy::Number,
    };
    let nodes_per_switch = raw.nodes_per_switch().checked(problems)?;
    let crossing_slowdown = raw.crossing_slowdown().or_default(problems)?;
    if nodes_per_switch.is_none() {
        let message = "how many nodes are below one switch is not said: set \
                       `machine.nodes_per_switch`";
        if nodes_by == NodesBy::Switch {
            raw.nodes_by().refuse(message, problems);
            return None;
        }
        if crossing_slowdown > 0.0 {
            raw.crossing_slowdown().refuse(message, problems);
            return None;
        }
    }
    Some(Topology {
        nodes_by,
        nodes_per_switch,
        crossing_slowdown,
    })
}

/// Where the machine is described: exactly one of file and text.
fn source(
    raw: &RawMachineQueue,
    asked: &Asked<'_>,
    problems: &mut Problems,
) -> Option<MachineSource> {
    match (&raw.file, &raw.text) {
        (Some(file), None) if file.get_ref().trim().is_empty() => {
            raw.file().refuse("an empty file name", problems);
            None
        }
        (Some(file), None) => Some(MachineSource::File(file.get_ref().clone())),
        (None, Some(text)) => Some(MachineSource::Text(text.get_ref().clone())),
        (Some(_), Some(_)) => {
            raw.text()
                .refuse("the machine is in a file already", problems);
            None
        }
        (None, None) => {
            problems.add(
                ProblemKind::Missing,
                "machine.file",
                asked.place(),
                "it is not said which machine",
                "add a table `[machine]` with `file = \"…\"`: a machine file (docs/machines.md) or a `slurm.conf`",
            );
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bookahead_lab::study::{Studies, study};
    use bookahead_lab::sweep::Experiment;

    const STUDIES: Studies = Studies::new(&[study::<MachineQueueStudy>()]);

    fn resolved(more: &str) -> Result<Topology, String> {
        let text = format!(
            "[experiment]\nname = \"q\"\n[workload]\nmodel = \"lublin-feitelson\"\njobs = 900\nnodes = 32\n\
             battery_jobs = 300\nload.value = 2.0\n[scheduling]\nstrategy = \"machine-queue\"\n[machine]\ntext = \"\"\"{}\n{more}",
            &A_MACHINE[4..]
        );
        let experiment = Experiment::parse(STUDIES, "q.toml", &text, None);
        let experiment = experiment.map_err(|error| error.to_string())?;
        let simulation = experiment.sweep.simulations.iter().next();
        let queue = simulation.and_then(|spec| spec.study.get::<MachineQueueStudy>().cloned());
        Ok(queue.expect("a queue").settings.topology)
    }

    #[test]
    fn switches_are_read_and_nothing_is_said_of_them_where_their_size_is_not_known() {
        assert_eq!(resolved(""), Ok(Topology::default()));
        let near = "nodes_by = \"switch\"\nnodes_per_switch = 8\ncrossing_slowdown = 0.1\n";
        let expected = Topology {
            nodes_by: NodesBy::Switch,
            nodes_per_switch: Some(8),
            crossing_slowdown: 0.1,
        };
        assert_eq!(resolved(near), Ok(expected));
        let rows = Topology {
            nodes_by: NodesBy::Contiguous,
            ..Topology::default()
        };
        assert_eq!(resolved("nodes_by = \"contiguous\"\n"), Ok(rows));
        for (more, key) in [
            ("nodes_by = \"switch\"", "machine.nodes_by"),
            ("crossing_slowdown = 0.1", "machine.crossing_slowdown"),
            ("nodes_per_switch = 0", "machine.nodes_per_switch"),
            ("crossing_slowdown = 11", "machine.crossing_slowdown"),
            ("nodes_by = \"mesh\"", "machine.nodes_by"),
        ] {
            let refused = resolved(&format!("{more}\n")).unwrap_err();
            assert!(refused.contains(key), "{refused}");
        }
    }
}
