//! Studies: what a simulation can be about. One file a study, and one line in the list below.
//!
//! A study says what determines its simulations ([`StudySpec`] holds the settings of one), which
//! settings it does not read, and what its simulations cost. The machines, policies and brokers
//! that it runs are in the modules beside this one.

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use super::*;
use crate::estimates::{EstimateSettings, LearningSettings};
use crate::failures::{FailureSettings, FailureSource};
use crate::scheduling::measures::Measure;
use crate::scheduling::predicted_queue::PredictedQueueSettings;
use crate::scheduling::{NodeKnowledge, PolicySettings, Reliability, registry};
use crate::workload::WorkloadSettings;

/// A kind of simulation.
pub trait Study {
    /// Sets everything that cannot change the result to its default, in the study's own settings
    /// and in those that simulations have in common, so that equal simulations have equal
    /// specifications. By default it has a machine of its own that nothing fails on and reads its
    /// jobs only.
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        common.without_all();
    }

    /// Jobs and requests of a simulation, about, each weighed by how much more than a job of a
    /// short queue it costs.
    fn work(&self, simulation: &SimulationSpec) -> f64 {
        jobs_of(&simulation.workload)
    }

    /// Seconds that one of them takes on one core, about, before anything was measured.
    fn seconds_per_job(&self, strategy: &str) -> f64;

    /// Bytes that the outcomes of a simulation take in a store, about; by default those of its
    /// jobs.
    fn outcome_bytes(&self, simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * jobs_of(&simulation.workload)
    }

    /// Whether its jobs are only what goes on at a machine while something else is studied: they
    /// are kept with outcomes, but their waits are no result of the study.
    fn jobs_are_background(&self) -> bool {
        false
    }

    /// Whether it takes reservations that are made from its jobs.
    fn takes_reservations(&self) -> bool {
        false
    }

    /// How often the engine has changed the results of this study only, and what changed them last;
    /// `None` where it never did.
    fn revision(&self) -> Option<u32> {
        None
    }
}

/// What every simulation has beside its study, while it is normalised.
#[derive(Debug)]
pub struct CommonSettings<'a> {
    /// The statistics.
    pub estimates: &'a mut Option<EstimateSettings>,
    /// Node failures.
    pub failures: &'a mut FailureSettings,
    /// The policy.
    pub scheduling: &'a mut PolicySettings,
}

impl CommonSettings<'_> {
    /// For studies that have a machine of their own: of the policy nothing but its name is read.
    pub(crate) fn without_policy(&mut self) {
        *self.scheduling = PolicySettings {
            strategy: std::mem::take(&mut self.scheduling.strategy),
            ..PolicySettings::default()
        };
    }

    /// For studies with a machine of their own, without failures or statistics.
    pub(crate) fn without_all(&mut self) {
        *self.estimates = None;
        self.without_failures();
        self.without_policy();
    }

    /// What planners of this strategy believe of nodes (`[reliability]`, common to all nodes);
    /// `None` where no node fails or the strategy computes nothing from it.
    pub(crate) fn believed(&self, strategy: &str) -> Option<Reliability> {
        let reads = self.failures.source != FailureSource::None
            && overbooking::computes_probabilities(registry::strategy(strategy));
        reads.then(|| Reliability {
            nodes: NodeKnowledge::Common,
            ..self.scheduling.reliability.clone()
        })
    }

    /// For studies without node failures.
    pub(crate) fn without_failures(&mut self) {
        self.failures.source = FailureSource::None;
    }
}

/// Everything that determines one schedule. Its canonical JSON is hashed into the simulation's
/// identity, and kept in the store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulationSpec {
    /// The jobs.
    pub workload: WorkloadSettings,
    /// The statistics; `None` where the policy never asks for a distribution, so that all families
    /// share one baseline.
    pub estimates: Option<EstimateSettings>,
    /// Node failures.
    pub failures: FailureSettings,
    /// The policy; values that the strategy does not read are set to their defaults, for the same
    /// reason.
    pub scheduling: PolicySettings,
    /// What is simulated.
    #[serde(flatten)]
    pub study: StudySpec,
    /// Which battery, or which draw of the model; for plans that are discarded, which submission.
    pub replication: u32,
    /// The sweep's seed.
    pub seed: u64,
}

impl SimulationSpec {
    /// The same simulation with everything that it does not read set to its default (spec §3.4.4).
    #[must_use]
    pub fn normalised(mut self) -> Self {
        let Self {
            estimates,
            failures,
            scheduling,
            study,
            workload,
            ..
        } = &mut self;
        study.study_mut().normalise(CommonSettings {
            estimates,
            failures,
            scheduling,
        });
        if let (true, Some(estimates)) = (workload.fresh, estimates) {
            // Nothing lies between the learning jobs and the battery.
            estimates.learning.batteries_before = LearningSettings::default().batteries_before;
        }
        self
    }
}

/// The list of studies: each is handed, with its comment, its variant, its module and its settings,
/// to the macro that is named.
///
/// Settings (here) and inputs, keys, tables and runs (`bookahead-lab`) of a study are found through
/// it. Its order is the one of tables, of keys and of their documentation.
#[macro_export]
macro_rules! for_each_study {
    ($callback:ident) => {
        $callback! {
            /// A policy on one cluster (Birkenheuer et al. 2008; Birkenheuer 2012).
            Overbooking(overbooking::OverbookingStudy),
            /// A planning-based machine that takes reservations (Heine et al. 2005; Singh 2008,
            /// chapter 5).
            Reservations(reservations::ReservationsStudy),
            /// A machine that advertises slots (Singh 2008, chapter 3).
            Slots(slots::SlotsStudy),
            /// A machine at which virtual and adaptive reservations are tried out side by side
            /// (Singh 2008, chapter 6).
            VirtualReservations(virtual_reservations::VirtualReservationsStudy),
            /// Several clusters and a broker that co-reserves parts at them (Meltzer 2005).
            CoReservation(co_reservation::CoReservationStudy),
            /// Sites that sell slots, and applications that buy them (Singh 2008, chapters 4 and
            /// 7).
            Provisioning(provisioning::ProvisioningStudy),
            /// A queue that plans with predicted run times (Tsafrir et al. 2007; Gaussier et al.
            /// 2015).
            PredictedQueue(predicted_queue::PredictedQueueStudy),
            /// Clusters that quote price and risk of single jobs, and a broker that delegates them.
            Market(market::MarketStudy),
            /// A queue on a machine as its operators configure it: partitions, priorities, limits,
            /// classes of nodes and a calendar.
            MachineQueue(machine_queue::MachineQueueStudy),
        }
    };
}

macro_rules! studies {
    ($($(#[$doc:meta])* $variant:ident($module:ident::$settings:ident),)*) => {
        /// The settings of a study.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum StudySpec {
            $($(#[$doc])* $variant(Box<$module::$settings>),)*
        }

        /// The measures of each study.
        pub(super) const STUDY_MEASURES: &[&[Measure]] = &[$($module::MEASURES),*];

        impl StudySpec {
            /// What it is asked as a study.
            #[must_use]
            pub fn study(&self) -> &dyn Study {
                match self {
                    $(Self::$variant(settings) => settings.as_ref(),)*
                }
            }

            fn study_mut(&mut self) -> &mut dyn Study {
                match self {
                    $(Self::$variant(settings) => settings.as_mut(),)*
                }
            }
        }

        impl<'de> Deserialize<'de> for StudySpec {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let (name, settings) = spec_format::stored(deserializer)?;
                $(
                    if $module::STRATEGY.map(|strategy| strategy.name) == name.as_deref() {
                        let settings = $module::$settings::deserialize(settings);
                        return settings.map(Self::from).map_err(D::Error::custom);
                    }
                )*
                Err(D::Error::custom(format!("there is no study {name:?}")))
            }
        }

        $(impl From<$module::$settings> for StudySpec {
            fn from(settings: $module::$settings) -> Self {
                Self::$variant(Box::new(settings))
            }
        })*

        pub(super) const NAMES: &[Option<Strategy>] = &[$($module::STRATEGY),*];
    };
}

for_each_study!(studies);

/// A policy on one cluster, and nothing beside its jobs.
#[must_use]
pub fn policy_alone() -> StudySpec {
    overbooking::OverbookingStudy::default().into()
}

/// A queue that plans with predictions, and nothing beside its jobs; with what stands for it where
/// a policy's name stands.
#[must_use]
pub fn predicting_queue(settings: PredictedQueueSettings) -> (&'static str, StudySpec) {
    let name = predicted_queue::STRATEGY.map_or("", |study| study.name);
    (
        name,
        predicted_queue::PredictedQueueStudy { settings }.into(),
    )
}

/// What stands for a study with a machine of its own where a policy's name stands
/// (`scheduling.strategy`).
#[derive(Clone, Copy, Debug)]
pub struct Strategy {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Whether the metrics of its jobs (utilisation, slowdown) say something of it beside its
    /// measures.
    pub has_metrics: bool,
    /// The measure, or the metric of jobs, by which two of its runs are compared: declared here so
    /// that nobody chooses it after the results were seen.
    pub primary: &'static str,
}

/// Those names, in the order of tables.
pub fn strategies() -> impl Iterator<Item = Strategy> {
    NAMES.iter().copied().flatten()
}

/// Whether a name stands for a study with a machine of its own, and not for a policy.
#[must_use]
pub fn is_strategy(name: &str) -> bool {
    strategies().any(|known| known.name == name)
}

/// Bytes of one stored job outcome, indexes included.
pub(crate) const JOB_BYTES: f64 = 40.0;

/// Jobs that are submitted to a machine on a day, about.
pub(crate) const JOBS_A_DAY: f64 = 250.0;

/// Jobs of a battery, or of a whole trace, about: that is not known before it is read.
pub(crate) fn jobs_of(workload: &WorkloadSettings) -> f64 {
    match &workload.whole {
        None => f64::from(workload.battery_jobs),
        Some(whole) => {
            let all = whole.days.map_or(75_000.0, |days| days * JOBS_A_DAY);
            all * (1.0 + whole.copy.map_or(0.0, |copy| copy.percent / 100.0))
        }
    }
}
