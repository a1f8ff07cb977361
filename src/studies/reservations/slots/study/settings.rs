//! The study of slots: a planning-based machine that advertises its holes (Singh 2008, chapter 3).

use serde::{Deserialize, Serialize, Serializer};

use crate::slots::SlotStudySettings;
use bookahead_lab::study::{Strategy, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "slots",
    about: "planning-based machine that advertises its holes",
    has_metrics: false,
    primary: "slots_mean",
    earned: None,
});

/// Bytes of a stored sample with about twenty slots.
pub(super) const SAMPLE_BYTES: f64 = 400.0;

/// Where slots come from and how often they are looked at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlotsStudy {
    /// The source of slots, the rules of their list, the time between samples.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: SlotStudySettings,
}

fn named<S: Serializer>(settings: &SlotStudySettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}
