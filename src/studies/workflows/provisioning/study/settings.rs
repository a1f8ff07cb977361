//! The study of provisioning: sites that sell slots, and workflows that buy them (Singh 2008,
//! chapters 4 and 7).

use rand::RngExt;
use serde::{Deserialize, Serialize, Serializer};

use crate::provisioning::{NetworkSlots, ProvisioningSettings};
use bookahead_core::random::Stream;
use bookahead_core::units::{Megabytes, Nodes};
use bookahead_core::workload::SiteSettings;
use bookahead_core::workload::workflows::{
    ApplicationSettings, ApplicationSource, RuntimeUncertainty,
};
use bookahead_lab::study::{Strategy, spec_format};
use bookahead_reservations::replanning::MachineMemory;

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "provisioning",
    about: "sites that sell slots, and workflows that buy them",
    has_metrics: false,
    primary: "wf_makespan_hours",
    earned: None,
});

/// Bytes of one task of an application: its slot, its run and its run by best effort.
pub(super) const TASK_BYTES: f64 = 120.0;

/// Tasks of a file, which is not read yet.
const TASKS_OF_A_FILE: f64 = 200.0;

/// How an application is provisioned, and what the study is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProvisioningStudy {
    /// How it is done: the search, the kind of provider, the wish.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: ProvisioningSettings,
    /// Sites and application.
    #[serde(rename = "provisioning")]
    pub about: ProvisionedSettings,
}

/// What a study of provisioning is about, apart from how it is done.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProvisionedSettings {
    /// The sites in order; the first one's workload is the simulation's own.
    pub sites: Vec<SiteSettings>,
    /// How fast each site is for tasks of workflows, which run for 1/speed of their time there
    /// (Singh 2008, §3); empty: 1 everywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub speeds: Vec<f64>,
    /// What a processor-hour of best effort costs at each site, in service units; empty: 1
    /// everywhere.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prices: Vec<f64>,
    /// In which parts processors are sold.
    #[serde(default, skip_serializing_if = "ProcessorShares::are_whole")]
    pub shares: ProcessorShares,
    /// The memory of the sites, and what of it is taken.
    #[serde(default, skip_serializing_if = "SiteMemory::is_uncounted")]
    pub memory: SiteMemory,
    /// Which tasks run on one make of sites alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub make: Option<BoundTasks>,
    /// How bandwidth between sites is sold.
    #[serde(default, skip_serializing_if = "NetworkSlots::is_default")]
    pub network: NetworkSlots,
    /// The application.
    pub application: ApplicationSettings,
    /// A wish that is a multiple of what the application needs, in the place of the settings' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_wish: Option<RelativeWish>,
    /// How many of the sites' jobs, in percent, are applications of one task each, in the place of
    /// `application`; `None` where none are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users_percent: Option<f64>,
    /// How long its tasks really run, and are booked for.
    #[serde(default, skip_serializing_if = "RuntimeUncertainty::is_default")]
    pub uncertainty: RuntimeUncertainty,
}

/// The parts in which processors are sold (Singh 2008, §3). Where they are, everything that counts
/// processors counts parts: machines, jobs, tasks, slots, and service units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessorShares {
    /// Shares of a processor, 1 or more.
    pub of_processor: u32,
    /// Shares that a task of a workflow needs of each of its processors, from 1 to all of them.
    pub of_task: u32,
}

impl Default for ProcessorShares {
    fn default() -> Self {
        Self {
            of_processor: 1,
            of_task: 1,
        }
    }
}

impl ProcessorShares {
    /// Whether processors are sold as a whole.
    #[must_use]
    pub fn are_whole(&self) -> bool {
        self.of_processor == 1
    }
}

/// The memory of sites (Singh 2008, §3). All jobs and tasks of a site share it; whoever starts
/// finds as much as he needs, beside his processors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteMemory {
    /// For each processor of a site, by site; empty where nobody counts memory.
    pub of_processors: Vec<Megabytes>,
    /// What a task takes with each of its processors.
    pub of_task: Megabytes,
    /// What the sites' own jobs take.
    pub of_jobs: JobMemory,
}

impl SiteMemory {
    /// Whether nobody counts memory.
    #[must_use]
    pub fn is_uncounted(&self) -> bool {
        self.of_processors.is_empty()
    }

    /// The memory of a site with so many processors, and what tasks take there.
    #[must_use]
    pub fn of_site(&self, site: usize, nodes: Nodes) -> Option<MachineMemory> {
        let each = self.of_processors.get(site)?;
        Some(MachineMemory {
            size: each.of_nodes(nodes),
            per_reserved_node: self.of_task,
        })
    }
}

/// How much memory the own jobs of sites take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobMemory {
    /// That of their processors.
    #[default]
    Share,
    /// What they asked for by the log, else what they used, else that of their processors; at most
    /// all that the site has.
    Log,
}

/// Tasks that run on sites of one make alone (Singh 2008, §3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundTasks {
    /// The make.
    pub make: String,
    /// Whether a site is of it, by site.
    pub sites: Vec<bool>,
    /// How many of the tasks, in percent.
    pub percent: f64,
}

impl BoundTasks {
    /// At which sites each of so many tasks runs, one draw a task.
    #[must_use]
    pub fn drawn(&self, tasks: usize, draws: &mut Stream) -> Vec<Vec<bool>> {
        let everywhere = vec![true; self.sites.len()];
        let of_task = |_| {
            let is_bound = 100.0 * draws.random::<f64>() < self.percent;
            let sites = if is_bound { &self.sites } else { &everywhere };
            sites.clone()
        };
        (0..tasks).map(of_task).collect()
    }
}

/// A wish that is known in numbers when the application is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "of")]
pub enum RelativeWish {
    /// A deadline as a multiple of the longest path, each task at its fastest site and without
    /// transfers.
    Deadline {
        /// Above 0.
        factor: f64,
    },
    /// A budget as a multiple of the processor-hours of all tasks, each at its cheapest site: what
    /// best effort costs where processors are alike.
    Budget {
        /// Above 0.
        factor: f64,
    },
}

fn named<S: Serializer>(settings: &ProvisioningSettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}

impl ProvisionedSettings {
    /// Tasks of all applications, about, wide ones counted more than once: they have more places to
    /// choose from. Several are planned once more alone.
    pub(super) fn weight(&self) -> f64 {
        if self.users_percent.is_some() {
            return 1.0;
        }
        let alone = if self.application.number() == 1 {
            1.0
        } else {
            2.0
        };
        let weight = match &self.application.source {
            ApplicationSource::Synthetic(settings) => {
                self.tasks() * (2.0 + f64::from(settings.mean_nodes.0)) / 24.0
            }
            ApplicationSource::CyberShake(_) | ApplicationSource::File { .. } => self.tasks(),
        };
        weight * alone
    }

    /// How many instants one simulation begins or submits at: users come when their jobs do.
    pub(super) fn instants_each(&self, settings: &ProvisioningSettings) -> u32 {
        match self.users_percent {
            Some(_) => 1,
            None => settings.submissions(),
        }
    }

    /// Tasks of all applications, about.
    pub(super) fn tasks(&self) -> f64 {
        if self.users_percent.is_some() {
            return 1.0;
        }
        let of_each = match &self.application.source {
            ApplicationSource::Synthetic(settings) => f64::from(settings.tasks),
            ApplicationSource::CyberShake(_) => 8_039.0,
            ApplicationSource::File { .. } => TASKS_OF_A_FILE,
        };
        of_each * f64::from(self.application.number())
    }
}
