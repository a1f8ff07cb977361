//! The study of co-reservations: several clusters and a broker that reserves parts at them together
//! (Meltzer 2005).

use serde::{Deserialize, Serialize, Serializer};

use crate::co_reservation::CoReservationSettings;
use bookahead_core::workload::{ClusterSettings, CoRequestSettings, TemplateSelection};
use bookahead_lab::study::{Earned, Strategy, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "co-reservation",
    about: "several clusters and a broker that reserves parts at them together",
    has_metrics: false,
    primary: "co_failure_rate",
    earned: Some(Earned {
        measure: "grid_gain",
        competitors: "clusters.policy",
    }),
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
    pub(super) fn jobs_and_requests(&self) -> f64 {
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
