//! How tight the estimates of a workload are.

use toml::Spanned;

use crate::keys::problem::{ProblemKind, Problems};
use crate::sweep::raw::RawWorkload;
use crate::workload::{Compression, LoadTime, Tightness, WhichEstimate};

/// The tightness that the workload asks for, with what of it the workload reads; the inner `None`
/// where estimates are as they are recorded, the outer one where something is wrong.
pub(super) fn tightness(
    raw: &RawWorkload,
    compression: Option<Compression>,
    is_whole: bool,
    problems: &mut Problems,
) -> Option<Option<Tightness>> {
    let share = raw.estimate_tightness().or_default(problems)?;
    let chosen = |given: &Option<Spanned<WhichEstimate>>| {
        given
            .as_ref()
            .map(|which| *which.get_ref())
            .unwrap_or_default()
    };
    if share == 1.0 {
        return Some(None);
    }
    if is_whole && raw.exact_estimates().is_on() {
        problems.add(
            ProblemKind::Conflict,
            "workload.estimate_tightness",
            raw.estimate_tightness().place(),
            "estimates that are the run times cannot be tightened",
            "leave out `exact_estimates`: with `estimate_tightness = 0` estimates are run times, too, but those of jobs that outlast them",
        );
        return None;
    }
    let deadline = chosen(&raw.deadline_estimate);
    if is_whole && deadline.is_recorded() {
        problems.add(
            ProblemKind::Conflict,
            "workload.deadline_estimate",
            raw.deadline_estimate().place(),
            "the log gives no job of a whole trace a deadline",
            "leave it out, or leave out `whole_trace`: deadlines of batteries may follow the recorded estimates",
        );
        return None;
    }
    // Nothing else counts estimates.
    let counts = matches!(
        compression,
        Some(
            Compression::TargetLoad {
                time: LoadTime::Estimates,
                ..
            } | Compression::BatteryLoad {
                time: LoadTime::Estimates,
                ..
            }
        )
    );
    let load = if counts {
        chosen(&raw.load.estimate)
    } else {
        WhichEstimate::default()
    };
    Some(Some(Tightness {
        share,
        deadline,
        load,
    }))
}
