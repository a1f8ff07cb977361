//! `[reservations]`: requests that are made from the jobs of the workload.

use crate::keys::declaration::Table;
use crate::keys::problem::Problems;
use crate::keys::reservations::{RawRequests, RawReservations};
use crate::units::Seconds;
use crate::workload::{RequestSettings, StartRule};

/// `[reservations]`, resolved; the outer `None` where something is wrong.
pub(crate) fn reservations(
    raw: &Table<RawReservations>,
    wishes: &RawRequests,
    problems: &mut Problems,
) -> Option<Option<RequestSettings>> {
    if raw.place.is_none() {
        return Some(None);
    }
    let share = raw.share_percent().or_default(problems);
    let factor = raw.start_factor().or_default(problems);
    let lead = raw
        .lead_hours()
        .limited(|hours| hours <= 1e6)
        .or_default(problems);
    let interactive = raw.interactive_percent().or_default(problems);
    let alpha = wishes.alpha().or_default(problems);
    let random = raw.random_alpha().is_on();
    let start = raw.start().name(problems).and_then(|start| match start {
        "lead" => lead.map(|hours| StartRule::Lead {
            seconds: Seconds::from_hours(hours),
        }),
        "choice" => alpha.map(|alpha| StartRule::Choice {
            alpha: (!random).then_some(alpha),
        }),
        _ => factor.map(|factor| StartRule::EstimateFactor { factor }),
    });
    Some(Some(RequestSettings {
        share_percent: share?,
        origin: raw.origin.unwrap_or_default(),
        start: start?,
        duration: raw.duration.unwrap_or_default(),
        rounding: raw.rounding.unwrap_or_default(),
        duration_used: raw.duration_used.unwrap_or_default(),
        interactive_percent: interactive?,
    }))
}
