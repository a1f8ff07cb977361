//! Jobs of a workload that end early for reasons of their own.

use crate::keys::problem::{ProblemKind, Problems};
use crate::sweep::raw::RawWorkload;
use crate::workload::EarlyEnds;

/// How often jobs end early; the inner `None` where all run as long as is recorded, the outer one
/// where something is wrong.
pub(super) fn early_ends(
    raw: &RawWorkload,
    is_whole: bool,
    problems: &mut Problems,
) -> Option<Option<EarlyEnds>> {
    let no_shows = raw.no_show_percent();
    let crashes = raw.crashes_per_hour();
    let early_ends = EarlyEnds {
        no_show_percent: no_shows.or_default(problems)?,
        crashes_per_hour: crashes.or_default(problems)?,
    };
    if early_ends == EarlyEnds::default() {
        return Some(None);
    }
    if is_whole && raw.exact_estimates().is_on() {
        let (key, place) = match early_ends.no_show_percent {
            0.0 => (crashes.key.path, crashes.place()),
            _ => (no_shows.key.path, no_shows.place()),
        };
        problems.add(
            ProblemKind::Conflict,
            key,
            place,
            "nobody who estimates foresees that a job ends early",
            "leave out `exact_estimates`, which makes estimates of the run times",
        );
        return None;
    }
    Some(Some(early_ends))
}
