//! The study of reservations: a planning-based machine that takes them beside its jobs (Heine et
//! al. 2005; Singh 2008, chapter 5).

use serde::{Deserialize, Serialize, Serializer};

use crate::replanning::{Displacement, ReplanningSettings};
use bookahead_core::workload::{RequestOrigin, RequestSettings, StartRule, WorkloadSettings};
use bookahead_lab::study::{Strategy, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "replanning",
    about: "planning-based machine with reservations: variable jobs planned anew at every event",
    has_metrics: true,
    primary: "job_wait_hours",
    earned: None,
});

/// The machine and the requests for reservations that it gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReservationsStudy {
    /// Requests that are made from the jobs; `None` where there are none.
    #[serde(
        rename = "reservations",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub requests: Option<RequestSettings>,
    /// The machine: queue, admission, prices.
    #[serde(rename = "study", serialize_with = "named")]
    pub machine: ReplanningSettings,
}

fn named<S: Serializer>(settings: &ReplanningSettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}

impl ReservationsStudy {
    /// How much longer a simulation takes when its queue grows: reservations that push jobs away do
    /// that.
    pub(super) fn congestion(&self) -> f64 {
        let Some(requests) = self
            .requests
            .as_ref()
            .filter(|_| self.machine.admission.moves())
        else {
            return 1.0;
        };
        // In the place of jobs they leave fewer of them to be pushed away.
        if requests.origin == RequestOrigin::Instead {
            return 1.0 + 4.0 * (1.0 - requests.share_percent / 100.0);
        }
        let lead = match requests.start {
            StartRule::EstimateFactor { factor } => factor,
            StartRule::Lead { .. } | StartRule::Choice { .. } => 1.0,
        };
        let record = match self.machine.displacement {
            Displacement::Record => 10.0,
            Displacement::Skip => 1.0,
        };
        (1.0 + (requests.share_percent / 25.0).powi(2) * (0.5 + lead)) * record
    }
}

/// How much longer a simulation takes whose queue grows because jobs are submitted a second time:
/// on CTC SP2, 20 % of them make it five times as long for each job, 40 % twelve times.
pub(super) fn queue_growth(workload: &WorkloadSettings) -> f64 {
    let copy = workload.whole.as_ref().and_then(|whole| whole.copy);
    let percent = copy.map_or(0.0, |copy| copy.percent);
    1.0 + 0.5 * (percent / 10.0).powi(2)
}
