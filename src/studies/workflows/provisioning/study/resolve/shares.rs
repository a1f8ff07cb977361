//! In which parts processors are sold.

use super::RawTables;
use crate::provisioning::study::ProcessorShares;
use bookahead_core::failures::{FailureSettings, FailureSource};
use bookahead_lab::keys::problem::{ProblemKind, Problems};

/// Shares of a processor, and what of them a task needs.
pub(super) fn shares(
    own: &RawTables,
    failures: &FailureSettings,
    problems: &mut Problems,
) -> Option<ProcessorShares> {
    let (raw, of_task) = (own.sites.shares(), own.workflow.task_shares());
    let given = of_task.checked(problems);
    let of_processor = raw.or_default(problems)?;
    let shares = ProcessorShares {
        of_processor,
        of_task: given?.unwrap_or(of_processor),
    };
    if shares.of_task > of_processor {
        let why = format!("a processor has {of_processor}");
        of_task.refuse(&why, problems);
        return None;
    }
    if !shares.are_whole() && failures.source != FailureSource::None {
        problems.add(
            ProblemKind::Conflict,
            raw.key.path,
            raw.place(),
            "a processor that fails takes all its shares with it, and nodes of failures are counted one by one",
            "say `failures.source = \"none\"`, or leave it out",
        );
        return None;
    }
    Some(shares)
}
