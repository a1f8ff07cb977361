//! Simulations that are not about a policy on a cluster: which machine they are about, and its settings.

use serde::{Deserialize, Serialize};

use super::CoReservationSettings;
use super::provisioning::ProvisioningSettings;
use crate::scheduling::reserving::ReservingSettings;
use crate::scheduling::{SlotStudySettings, VirtualStudySettings};

/// The machine of a study. Its name stands where a policy's stands (`scheduling.strategy`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "machine")]
pub enum StudySettings {
    /// A planning-based machine that takes reservations (Heine et al. 2005; Singh 2008, chapter 5).
    Replanning(ReservingSettings),
    /// A machine that advertises slots (Singh 2008, chapter 3).
    Slots(SlotStudySettings),
    /// A machine at which virtual and adaptive reservations are tried out side by side (Singh 2008, chapter 6).
    VirtualReservations(VirtualStudySettings),
    /// Several clusters and a broker that co-reserves parts at them (Meltzer 2005).
    CoReservation(Box<CoReservationSettings>),
    /// Sites that sell slots, and applications that buy them (Singh 2008, chapters 4 and 7).
    Provisioning(Box<ProvisioningSettings>),
}

impl StudySettings {
    /// Names and what they are, in the order of tables.
    pub const NAMES: &'static [(&'static str, &'static str)] = &[
        (
            "replanning",
            "planning-based machine with reservations: variable jobs planned anew at every event",
        ),
        ("slots", "planning-based machine that advertises its holes"),
        (
            "virtual-reservations",
            "virtual against adaptive reservations on forks of a planning-based machine",
        ),
        (
            "co-reservation",
            "several clusters and a broker that reserves parts at them together",
        ),
        (
            "provisioning",
            "sites that sell slots, and workflows that buy them",
        ),
    ];

    /// Whether a name stands for the machine of a study and not for a policy.
    #[must_use]
    pub fn is_name(name: &str) -> bool {
        Self::NAMES.iter().any(|(known, _)| *known == name)
    }

    /// The name in configurations, in the store and in reports.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Replanning(_) => "replanning",
            Self::Slots(_) => "slots",
            Self::VirtualReservations(_) => "virtual-reservations",
            Self::CoReservation(_) => "co-reservation",
            Self::Provisioning(_) => "provisioning",
        }
    }
}
