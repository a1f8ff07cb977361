//! The study of co-reservations: several clusters and a broker that reserves parts at them together
//! (Meltzer 2005).

use serde::{Deserialize, Serialize, Serializer};

use crate::co_reservation::CoReservationSettings;
use bookahead_core::workload::{
    ClusterSettings, CoRequestSettings, RequestKinds, TemplateSelection, WorkflowShape,
};
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

/// Bytes of a stored request, about.
const REQUEST_BYTES: f64 = 85.0;

/// Bytes of a stored part of one, about.
const PART_BYTES: f64 = 17.0;

/// Bytes of what is measured of a cluster, about, with a share of the time lines.
const CLUSTER_BYTES: f64 = 2_000.0;

/// Tasks of a workflow that a file describes, about.
const TASKS_OF_A_FILE: f64 = 30.0;

/// How many requests a template becomes, about.
fn mean_tasks(kinds: &RequestKinds) -> f64 {
    let tasks = match kinds.tasks {
        WorkflowShape::Stages(stages) => f64::from(stages),
        WorkflowShape::File(_) => TASKS_OF_A_FILE,
    };
    1.0 + kinds.workflow_percent / 100.0 * (tasks - 1.0)
}

fn named<S: Serializer>(
    settings: &CoReservationSettings,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}

impl CoReservationStudy {
    fn requests(&self) -> f64 {
        let selection = self.requests.as_ref().map(|requests| &requests.selection);
        let templates = selection.map_or(0.0, |selection| match selection {
            TemplateSelection::Count { count } => f64::from(*count),
            TemplateSelection::Chance { probability } => probability * self.clusters.days * 150.0,
        });
        let kinds = self.requests.as_ref().and_then(|it| it.kinds.as_ref());
        templates * kinds.map_or(1.0, mean_tasks)
    }

    pub(super) fn jobs_and_requests(&self) -> f64 {
        // A request asks every cluster.
        f64::from(self.clusters.count) * (self.clusters.days * 150.0 + self.requests())
    }

    /// Requests with their parts, and the measures of clusters, which are kept with metrics, too.
    pub(super) fn measured_bytes(&self) -> f64 {
        let parts = self.requests.as_ref().map_or(0, |requests| requests.parts);
        let of_request = REQUEST_BYTES + f64::from(parts) * PART_BYTES;
        self.requests() * of_request + f64::from(self.clusters.count) * CLUSTER_BYTES
    }
}
