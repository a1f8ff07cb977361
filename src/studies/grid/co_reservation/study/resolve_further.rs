//! Whether parts may have what the file says that they need beside CPUs.

use super::keys::RawTables;
use crate::co_reservation::CoReservationSettings;
use bookahead_core::workload::{CoRequestSettings, FurtherResource, WorkflowShape};
use bookahead_lab::keys::problem::{ProblemKind, Problems};

/// Refuses parts whose needs nobody knows, and warns of those that fit nowhere.
pub(super) fn further(
    settings: &CoReservationSettings,
    requests: Option<&CoRequestSettings>,
    raw: &RawTables,
    problems: &mut Problems,
) -> Option<()> {
    let Some(requests) = requests else {
        return Some(());
    };
    let is_from_file = requests
        .kinds
        .as_ref()
        .is_some_and(|it| it.workflow_percent > 0.0 && matches!(it.tasks, WorkflowShape::File(_)));
    for resource in FurtherResource::ALL {
        let keys = &raw.requests;
        let (need, percent, each, noun, unit, local) = match resource {
            FurtherResource::Licences => (
                requests.licences,
                keys.licences_percent(),
                keys.licences(),
                "licences",
                "licences",
                "local.licences",
            ),
            FurtherResource::Storage => (
                requests.storage,
                keys.storage_percent(),
                keys.storage_gb(),
                "storage",
                "GB of storage",
                "local.storage_gb",
            ),
        };
        let most = settings.local.further.of(resource);
        let Some(need) = need.filter(|_| most > 0) else {
            continue;
        };
        if is_from_file {
            percent.refuse(
                &format!(
                    "`requests.workflow_file` does not say which tasks need {noun}: leave one of the two out"
                ),
                problems,
            );
            return None;
        }
        if need.each > most {
            problems.warn(
                ProblemKind::OutOfRange,
                each.key.path,
                each.place(),
                format!(
                    "no part that needs {} {unit} fits on a cluster of {most}",
                    need.each
                ),
                format!("set `{}` lower or `{local}` higher", each.key.path),
            );
        }
    }
    Some(())
}
