//! The study of co-reservations: several clusters and a broker that reserves parts at them together
//! (Meltzer 2005).

use serde::{Deserialize, Serialize, Serializer};

use crate::brokering::co_reservation::{CoReservationSettings, Order, Repair, SortBy};
use crate::estimates::LearningSettings;
use crate::failures::FailureSource;
use crate::scheduling::{Reliability, registry};
use crate::studies::{CommonSettings, JOB_BYTES, SimulationSpec, Strategy, Study, spec_format};
use crate::units::Seconds;
use crate::workload::{
    ClusterSettings, CoRequestSettings, FurtherParts, Preference, TemplateSelection,
};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "co-reservation",
    about: "several clusters and a broker that reserves parts at them together",
    has_metrics: false,
    primary: "co_failure_rate",
});

/// The broker, the clusters and the requests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoReservationStudy {
    /// How the broker searches, what its messages suffer, what fails.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: CoReservationSettings,
    /// The clusters.
    pub clusters: ClusterSettings,
    /// Requests that are made from their jobs; `None` where there are none.
    #[serde(
        rename = "co_requests",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub requests: Option<CoRequestSettings>,
}

fn named<S: Serializer>(
    settings: &CoReservationSettings,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}

impl CoReservationStudy {
    fn jobs_and_requests(&self) -> f64 {
        let days = self.clusters.days;
        let requests = self
            .requests
            .as_ref()
            .map_or(0.0, |requests| match requests.selection {
                TemplateSelection::Count { count } => f64::from(count),
                TemplateSelection::Chance { probability } => probability * days * 150.0,
            });
        // A request asks every cluster.
        f64::from(self.clusters.count) * (days * 150.0 + requests)
    }
}

impl Study for CoReservationStudy {
    /// What the algorithm, the network and the requests do not read. What is measured under every
    /// algorithm (backlog times, costs) is read under every algorithm.
    fn normalise(&mut self, mut common: CommonSettings<'_>) {
        let nodes_fail = common.failures.source != FailureSource::None;
        if let Some(risk) = &mut self.settings.risk {
            let believed = common.believed(&risk.strategy);
            risk.reliability = match (believed, risk.reliability.take()) {
                // The policy of a specification that was normalised before is the default one.
                (Some(believed), Some(before)) if believed == Reliability::default() => {
                    Some(before)
                }
                (believed, _) => believed,
            };
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
        let something_fails = nodes_fail || settings.failures.is_some();
        if !something_fails && settings.risk.is_none() {
            // Nothing is ever lost that could be asked for anew.
            settings.renegotiate = false;
        }
        if let Some(failures) = &mut settings.failures {
            // What never fails is never repaired.
            if failures.cluster_mtbf.is_none() {
                failures.cluster_repair = Seconds::ZERO;
            }
            if failures.node_mtbf.is_none() {
                failures.node_repair = Seconds::ZERO;
                failures.node_cpus = 1;
            }
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
                settings.second_thoughts = None;
            }
            Some(requests) => {
                let row = settings.search.algorithm.row();
                if !row.probes {
                    settings.search.sort_by = default.search.sort_by;
                }
                let by_degree = settings.search.sort_by == SortBy::ReservationDegree;
                if row.order != Order::Value || by_degree {
                    requests.preference = Preference::default();
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
            }
        }
    }

    fn work(&self, _simulation: &SimulationSpec) -> f64 {
        self.jobs_and_requests()
    }

    fn seconds_per_job(&self, _strategy: &str) -> f64 {
        1e-5
    }

    fn outcome_bytes(&self, _simulation: &SimulationSpec) -> f64 {
        JOB_BYTES * self.jobs_and_requests()
    }
}
