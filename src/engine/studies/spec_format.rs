//! How specifications are written: one flat table, whatever the study. Identities are hashed from it, so its fields never change.

use serde::{Deserialize, Serialize};

use super::co_reservation::CoReservationStudy;
use super::overbooking::OverbookingStudy;
use super::provisioning::{ProvisionedSettings, ProvisioningStudy};
use super::reservations::ReservationsStudy;
use super::slots::SlotsStudy;
use super::virtual_reservations::VirtualReservationsStudy;
use super::{SimulationSpec, StudySpec};
use crate::brokering::CoReservationSettings;
use crate::brokering::provisioning::ProvisioningSettings;
use crate::estimates::EstimateSettings;
use crate::failures::FailureSettings;
use crate::scheduling::reserving::ReservingSettings;
use crate::scheduling::{PolicySettings, SlotStudySettings, VirtualStudySettings};
use crate::workload::{ClusterSettings, CoRequestSettings, RequestSettings, WorkloadSettings};

#[derive(Clone, Serialize, Deserialize)]
pub(super) struct StoredSpec {
    workload: WorkloadSettings,
    estimates: Option<EstimateSettings>,
    failures: FailureSettings,
    scheduling: PolicySettings,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reservations: Option<RequestSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    study: Option<StoredMachine>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    clusters: Option<ClusterSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    co_requests: Option<CoRequestSettings>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    provisioning: Option<ProvisionedSettings>,
    replication: u32,
    seed: u64,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "machine")]
enum StoredMachine {
    Replanning(ReservingSettings),
    Slots(SlotStudySettings),
    VirtualReservations(VirtualStudySettings),
    CoReservation(Box<CoReservationSettings>),
    Provisioning(Box<ProvisioningSettings>),
}

impl From<SimulationSpec> for StoredSpec {
    fn from(spec: SimulationSpec) -> Self {
        let mut stored = Self {
            workload: spec.workload,
            estimates: spec.estimates,
            failures: spec.failures,
            scheduling: spec.scheduling,
            reservations: None,
            study: None,
            clusters: None,
            co_requests: None,
            provisioning: None,
            replication: spec.replication,
            seed: spec.seed,
        };
        match spec.study {
            StudySpec::Overbooking(study) => stored.reservations = study.requests,
            StudySpec::Reservations(study) => {
                stored.reservations = study.requests;
                stored.study = Some(StoredMachine::Replanning(study.machine));
            }
            StudySpec::Slots(study) => {
                stored.study = Some(StoredMachine::Slots(study.0));
            }
            StudySpec::VirtualReservations(study) => {
                stored.study = Some(StoredMachine::VirtualReservations(study.0));
            }
            StudySpec::CoReservation(study) => {
                stored.clusters = Some(study.clusters);
                stored.co_requests = study.requests;
                stored.study = Some(StoredMachine::CoReservation(Box::new(study.settings)));
            }
            StudySpec::Provisioning(study) => {
                stored.provisioning = Some(study.about);
                stored.study = Some(StoredMachine::Provisioning(Box::new(study.settings)));
            }
        }
        stored
    }
}

impl TryFrom<StoredSpec> for SimulationSpec {
    type Error = &'static str;

    fn try_from(stored: StoredSpec) -> Result<Self, Self::Error> {
        let study = match stored.study {
            None => StudySpec::Overbooking(Box::new(OverbookingStudy {
                requests: stored.reservations,
            })),
            Some(StoredMachine::Replanning(machine)) => {
                StudySpec::Reservations(Box::new(ReservationsStudy {
                    machine,
                    requests: stored.reservations,
                }))
            }
            Some(StoredMachine::Slots(settings)) => {
                StudySpec::Slots(Box::new(SlotsStudy(settings)))
            }
            Some(StoredMachine::VirtualReservations(settings)) => {
                StudySpec::VirtualReservations(Box::new(VirtualReservationsStudy(settings)))
            }
            Some(StoredMachine::CoReservation(settings)) => {
                StudySpec::CoReservation(Box::new(CoReservationStudy {
                    settings: *settings,
                    clusters: stored
                        .clusters
                        .ok_or("a co-reservation study without clusters")?,
                    requests: stored.co_requests,
                }))
            }
            Some(StoredMachine::Provisioning(settings)) => {
                StudySpec::Provisioning(Box::new(ProvisioningStudy {
                    settings: *settings,
                    about: stored
                        .provisioning
                        .ok_or("a provisioning study without sites")?,
                }))
            }
        };
        Ok(Self {
            workload: stored.workload,
            estimates: stored.estimates,
            failures: stored.failures,
            scheduling: stored.scheduling,
            study,
            replication: stored.replication,
            seed: stored.seed,
        })
    }
}
