//! The study of strip packing: lists of jobs that are packed onto a machine.

use serde::{Deserialize, Serialize, Serializer};

use crate::packing::PackingSettings;
use bookahead_lab::study::{Strategy, spec_format};

/// Its name and what it is.
pub const STRATEGY: Option<Strategy> = Some(Strategy {
    name: "packing",
    about: "list of jobs that is packed onto a machine, all at once",
    has_metrics: false,
    primary: "packing_ratio",
    earned: None,
});

/// How lists of jobs are packed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PackingStudy {
    /// The algorithm, and what it packs.
    #[serde(rename = "study", serialize_with = "named")]
    pub settings: PackingSettings,
}

fn named<S: Serializer>(settings: &PackingSettings, serializer: S) -> Result<S::Ok, S::Error> {
    spec_format::named(STRATEGY, settings, serializer)
}
