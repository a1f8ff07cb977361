//! To which queues best effort sends tasks.

use super::{RawProvisioning, RawTables};
use crate::provisioning::{ProvisioningSettings, QueueChoice};
use bookahead_lab::keys::problem::{ProblemKind, Problems};

pub(super) fn queue_choice(raw: &RawProvisioning, problems: &mut Problems) -> Option<QueueChoice> {
    let quantile = raw.queue_quantile().or_default(problems);
    let copies = raw.queue_copies().or_default(problems);
    let name = raw.queue_choice().name(problems)?;
    let (quantile, copies) = (quantile?, copies?);
    Some(match name {
        "predicted-wait" => QueueChoice::PredictedWait { quantile },
        "redundant" => QueueChoice::Redundant { copies },
        _ => QueueChoice::FewestTasks,
    })
}

/// Sites that keep free rectangles predict no waits and cancel no copies of tasks.
pub(super) fn queues_fit(
    own: &RawTables,
    settings: &ProvisioningSettings,
    problems: &mut Problems,
) -> Option<()> {
    if settings.queue_choice.is_default() || !settings.has_rectangles() {
        return Some(());
    }
    let field = own.provisioning.queue_choice();
    problems.add(
        ProblemKind::Conflict,
        field.key.path,
        field.place(),
        "on free rectangles every job has its place when it comes: no wait is predicted, and nothing is cancelled in favour of others",
        "say `slots.source = \"plan\"`, or `queue_choice = \"fewest-tasks\"`",
    );
    None
}
