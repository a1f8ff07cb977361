//! Applications, slots and sites that are drawn, for tests.

use std::sync::Arc;

use rand::RngExt;

use bookahead_core::failures::FailureTrace;
use bookahead_core::plan::{Slot, SlotRules};
use bookahead_core::random;
use bookahead_core::random::StreamSeed;
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::workflows::{Task, Workflow};
use bookahead_core::workload::{Job, JobId};
use bookahead_reservations::slots::SlotSource;

use crate::provisioning::{
    Advertised, Application, ApplicationTask, Background, Dependency, GeneticSettings, Provider,
    ProvisioningInputs, ProvisioningSettings, SearchMethod, SiteLoad, SiteWorkload, Users, Wish,
    best_effort,
};

/// Tasks of up to `widest` processors and two parents each among those before.
pub fn application_of(seed: u64, sites: usize, tasks: usize, widest: u32) -> Application {
    let mut stream = random::stream(seed, "test", 0, "application");
    let tasks = (0..tasks).map(|task| {
        let runtime = Seconds(stream.random_range(1..4_000));
        let parents = if task == 0 {
            0
        } else {
            stream.random_range(0..3)
        };
        let mut parents: Vec<usize> = (0..parents).map(|_| stream.random_range(0..task)).collect();
        parents.sort_unstable();
        parents.dedup();
        ApplicationTask {
            nodes: Nodes(stream.random_range(1..=widest)),
            runtimes: vec![runtime; sites],
            parents: parents
                .into_iter()
                .map(|parent| Dependency {
                    parent,
                    transfer: Seconds(stream.random_range(0..300)),
                })
                .collect(),
        }
    });
    let tasks: Vec<ApplicationTask> = tasks.collect();
    let order = (0..tasks.len()).collect();
    Application::new(tasks, order)
}

/// Disjoint slots of each site, edges last.
pub fn slots_of(seed: u64, sites: usize) -> Vec<Advertised> {
    let mut stream = random::stream(seed, "test", 0, "slots");
    let mut slots = Vec::new();
    for site in 0..sites {
        let mut bin: Vec<Slot> = (0..stream.random_range(0..8))
            .map(|_| {
                let start = Seconds(stream.random_range(0..20_000));
                let end = start + Seconds(stream.random_range(1..12_000));
                Slot::hole(start, Nodes(stream.random_range(1..8)), end)
            })
            .collect();
        bin.extend((0..3).map(|_| {
            let start = Seconds(stream.random_range(0..40_000));
            Slot::edge(start, Nodes(stream.random_range(1..5)))
        }));
        bin.sort_by_key(|slot| (slot.start, slot.end));
        slots.extend(bin.into_iter().map(|slot| Advertised { site, slot }));
    }
    slots.retain(|offered| offered.slot.end > Seconds(50));
    slots
}

/// A job that runs as long as it asks for.
#[must_use]
pub fn job(id: usize, submit: i64, nodes: u32, runtime: i64) -> Job {
    Job::rigid(
        JobId(id as u32),
        Seconds(submit),
        Nodes(nodes),
        Seconds(runtime),
    )
}

/// A site of so many nodes with these jobs.
#[must_use]
pub fn workload(nodes: u32, jobs: Vec<Job>) -> SiteWorkload {
    SiteWorkload {
        label: "drawn".to_owned(),
        nodes: Nodes(nodes),
        jobs: jobs.into(),
        load: SiteLoad::default(),
        failures: Arc::new(FailureTrace::default()),
        memory: None,
    }
}

/// A site of 16 nodes that is busy for about four days.
pub fn drawn_site(seed: u64, site: usize) -> SiteWorkload {
    let mut stream = random::stream(seed, "test", site as u32, "jobs");
    let mut submit = 0;
    let jobs = (0..300).map(|id| {
        submit += stream.random_range(0..2_000);
        job(
            id,
            submit,
            stream.random_range(1..=10),
            stream.random_range(1..6_000),
        )
    });
    workload(16, jobs.collect())
}

/// A site that says when each task could start.
#[must_use]
pub fn queried() -> Provider {
    Provider::Queried
}

/// A site that advertises its free rectangles.
#[must_use]
pub fn rectangles() -> Provider {
    Provider::Advertised {
        source: SlotSource::FreeRectangles,
        rules: SlotRules::default(),
    }
}

/// The defaults with these, and a genetic search that is soon over.
#[must_use]
pub fn settings_of(provider: Provider, search: SearchMethod, wish: Wish) -> ProvisioningSettings {
    ProvisioningSettings {
        provider,
        search,
        wish,
        genetic: GeneticSettings {
            population: 20,
            generations: 4,
            ..GeneticSettings::default()
        },
        ..ProvisioningSettings::default()
    }
}

/// What the streams of one simulation are drawn from.
#[must_use]
pub fn seed_of(seed: u64) -> StreamSeed {
    StreamSeed {
        seed,
        workload_key: "test".to_owned(),
        replication: 0,
    }
}

/// Sites replayed up to these instants, in order of time, and best effort from each.
pub fn inputs_of(
    sites: Vec<SiteWorkload>,
    application: Application,
    settings: &ProvisioningSettings,
    instants: &[Seconds],
) -> ProvisioningInputs {
    let background = Background::replay(&sites, settings, instants);
    let together = settings.brokers as usize;
    let places = (0..instants.len()).flat_map(|place| std::iter::repeat_n(place, together));
    let runs = places.clone().map(|place| {
        let forks = background.fork(&sites, place);
        Arc::new(
            best_effort(&application, forks, settings.queue_choice)
                .expect("every task fits somewhere"),
        )
    });
    ProvisioningInputs {
        best_effort: runs.collect(),
        sites: sites.into(),
        workflow: Arc::new(workflow()),
        application: Arc::new(application),
        real: Vec::new(),
        users: Users::default(),
        background: Arc::new(background),
        instants: places.collect(),
        searched: None,
        slots_left: Vec::new(),
        parts: Vec::new(),
        alone: Vec::new(),
        judged: Vec::new(),
        keep_prices: true,
    }
}

/// Planners read the application; the workflow is for drawings.
fn workflow() -> Workflow {
    let task = Task {
        name: "task".to_owned(),
        module: "task".to_owned(),
        nodes: Nodes(1),
        seconds: 1.0,
        seconds_by_resource: Vec::new(),
    };
    Workflow::new("drawn", vec![task], Vec::new()).expect("one task is a workflow")
}
