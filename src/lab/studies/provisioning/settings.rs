//! The study of provisioning: sites that sell slots, and workflows that buy them (Singh 2008,
//! chapters 4 and 7).

use serde::{Deserialize, Serialize, Serializer};

use crate::brokering::provisioning::{Provider, ProvisioningSettings, SearchMethod};
use crate::failures::FailureSource;
use crate::scheduling::SlotSource;
use crate::studies::{CommonSettings, SimulationSpec, Strategy, Study, spec_format};
use crate::units::Seconds;
use crate::workload::SiteSettings;
use crate::workload::workflows::{
    ApplicationSettings, ApplicationSource, Network, RealRuntimes, RuntimeUncertainty,
};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "provisioning",
    about: "sites that sell slots, and workflows that buy them",
    has_metrics: false,
    primary: "wf_makespan_hours",
});

/// Bytes of one task of an application: its slot, its run and its run by best effort.
const TASK_BYTES: f64 = 120.0;

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProvisionedSettings {
    /// The sites in order; the first one's workload is the simulation's own.
    pub sites: Vec<SiteSettings>,
    /// The application.
    pub application: ApplicationSettings,
    /// A wish that is a multiple of what the application needs, in the place of the settings' own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_wish: Option<RelativeWish>,
    /// How long its tasks really run, and are booked for.
    #[serde(default, skip_serializing_if = "RuntimeUncertainty::is_default")]
    pub uncertainty: RuntimeUncertainty,
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

impl Study for ProvisioningStudy {
    /// What the search, the kind of site and a single site do not read. Failures are read.
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        *common.estimates = None;
        common.without_policy();
        let Self { settings, about } = self;
        let default = ProvisioningSettings::default();
        let best_effort = settings.search == SearchMethod::BestEffort;
        if best_effort {
            settings.wish = default.wish;
            about.relative_wish = None;
            // Queues book nothing.
            about.uncertainty.booking_factor = RuntimeUncertainty::default().booking_factor;
        }
        if about.uncertainty.real == RealRuntimes::Exact || about.uncertainty.variation == 0.0 {
            about.uncertainty = RuntimeUncertainty {
                booking_factor: about.uncertainty.booking_factor,
                ..RuntimeUncertainty::default()
            };
        }
        if settings.tariff.day_factor == 1.0 {
            (settings.tariff.day_begins, settings.tariff.day_ends) =
                (default.tariff.day_begins, default.tariff.day_ends);
        }
        if !settings.is_genetic() {
            settings.tariff = default.tariff;
            settings.brokers = default.brokers;
            settings.genetic = default.genetic.clone();
            settings.site_choice = default.site_choice;
        }
        if settings.search == SearchMethod::Nsga2 {
            settings.genetic.sharing_radius = default.genetic.sharing_radius;
        }
        let source = match settings.provider {
            Provider::Advertised { source, .. } => Some(source),
            Provider::Queried => None,
        };
        if best_effort && source == Some(SlotSource::Plan) {
            // Nobody asks for slots, and the queue is the same.
            settings.provider = Provider::Queried;
        }
        if source == Some(SlotSource::FreeRectangles) {
            // The rectangles are the queue's plan.
            settings.replanning.order = default.replanning.order;
            settings.replanning.backfilling = default.replanning.backfilling;
        }
        if about.sites.len() == 1 {
            settings.site_choice = default.site_choice;
            about.application.network = Network::default();
        }
        if best_effort || (settings.latency == Seconds::ZERO && settings.brokers == 1) {
            // What is offered is never gone.
            settings.latency = Seconds::ZERO;
            settings.replans = default.replans;
        }
        if best_effort || common.failures.source == FailureSource::None {
            settings.after_failure = default.after_failure;
        }
    }

    fn work(&self, simulation: &SimulationSpec) -> f64 {
        // Applications of a hundred tasks; what all submissions share is made by the first.
        let replay = if simulation.replication == 0 {
            10.0
        } else {
            0.0
        };
        // Answers and snapshots hold the more, the longer the queues of the sites are.
        let sites: f64 = (self.about.sites.iter())
            .map(|site| 0.4 / (1.0 - site.utilisation_percent.unwrap_or(60.0).min(99.0) / 100.0))
            .sum();
        f64::from(self.settings.applications()) * sites * self.about.weight() / 100.0 + replay
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        5e-2
    }

    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        f64::from(self.settings.applications()) * self.about.tasks() * TASK_BYTES
    }

    /// 1: tasks that are ready together do not all go to the site that had the fewest before them
    /// (AMB-24d).
    fn revision(&self) -> Option<u32> {
        (self.about.sites.len() > 1).then_some(1)
    }
}

impl ProvisionedSettings {
    /// Tasks of the application, about, wide ones counted more than once: they have more places to
    /// choose from.
    fn weight(&self) -> f64 {
        match &self.application.source {
            ApplicationSource::Synthetic(settings) => {
                f64::from(settings.tasks) * (2.0 + f64::from(settings.mean_nodes.0)) / 24.0
            }
            ApplicationSource::CyberShake(_) | ApplicationSource::File { .. } => self.tasks(),
        }
    }

    /// Tasks of the application, about.
    fn tasks(&self) -> f64 {
        match &self.application.source {
            ApplicationSource::Synthetic(settings) => f64::from(settings.tasks),
            ApplicationSource::CyberShake(_) => 8_039.0,
            ApplicationSource::File { .. } => TASKS_OF_A_FILE,
        }
    }
}
