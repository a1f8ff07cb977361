//! The study of virtual reservations: they and adaptive ones on forks of a planning-based machine
//! (Singh 2008, chapter 6).

use serde::{Deserialize, Serialize, Serializer};

use crate::virtual_reservations::VirtualStudySettings;
use bookahead_lab::study::{Strategy, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "virtual-reservations",
    about: "virtual against adaptive reservations on forks of a planning-based machine",
    has_metrics: false,
    primary: "var_cost",
    earned: None,
});

/// Bytes of a stored trial.
pub(super) const TRIAL_BYTES: f64 = 50.0;

/// When and how reservations are tried out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VirtualReservationsStudy {
    /// The request, its instants, and how waits are predicted.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: VirtualStudySettings,
}

fn named<S: Serializer>(settings: &VirtualStudySettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}
