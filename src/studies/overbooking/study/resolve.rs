//! The keys of users and of jobs without promises, checked and with their defaults.

use super::keys::{RawBestEffort, RawClient, RawReleases};
use crate::best_effort::BestEffortSettings;
use crate::{ClientSettings, Lengthening};
use bookahead_core::scheduling::PolicySpec;
use bookahead_core::units::Seconds;
use bookahead_core::workload::ReleaseSettings;
use bookahead_lab::keys::problem::{ProblemKind, Problems};

pub(super) fn releases(
    raw: &RawReleases,
    problems: &mut Problems,
) -> Option<Option<ReleaseSettings>> {
    let share_percent = raw.share_percent().or_default(problems);
    let spread = raw
        .spread_hours()
        .limited(|hours| hours <= 1e4)
        .or_default(problems);
    let settings = ReleaseSettings {
        share_percent: share_percent?,
        spread: Seconds::from_hours(spread?),
    };
    Some((!settings.is_none()).then_some(settings))
}

pub(super) fn client(
    raw: &RawClient,
    policy: &PolicySpec,
    problems: &mut Problems,
) -> Option<ClientSettings> {
    let after = raw
        .resubmit_after_minutes()
        .limited(|minutes| (1.0 / 60.0..=1e6).contains(&minutes))
        .or_default(problems);
    let gap = raw
        .session_gap_minutes()
        .limited(|minutes| minutes <= 1e6)
        .or_default(problems);
    let patience = raw.patience_hours().limited(|hours| hours <= 1e6);
    let minutes = |minutes: f64| Seconds((minutes * 60.0).round() as i64);
    let settings = ClientSettings {
        resubmit_rejected: raw.resubmit_rejected().or_default(problems)?,
        resubmit_failed: raw.resubmit_failed().or_default(problems)?,
        resubmit_after: minutes(after?),
        dependencies: raw.dependencies.unwrap_or_default(),
        session_gap: minutes(gap?),
        patience: patience.checked(problems)?.map(Seconds::from_hours),
        refuses_late_offers: raw.refuses_late_offers().is_on(),
        lengthening: lengthening(raw, policy, problems)?,
    };
    if let (Some(_), Some(share)) = (settings.lengthening, raw.lengthen_percent.as_ref())
        && !settings.clone().normalised().is_open_loop()
    {
        problems.add(
            ProblemKind::Conflict,
            "client.lengthen_percent",
            share.span(),
            "which user asks for more time is drawn for jobs that are submitted once, as they are listed",
            "leave out `lengthen_percent` or the other keys of `[client]`",
        );
        return None;
    }
    if settings.refuses_late_offers && !settings.clone().normalised().is_open_loop() {
        let places = [
            raw.resubmit_rejected().place(),
            raw.resubmit_failed().place(),
        ];
        let places = places.into_iter().chain([raw.patience_hours().place()]);
        problems.add(
            ProblemKind::Conflict,
            "client.refuses_late_offers",
            places.max_by_key(|place| place.end).unwrap_or_default(),
            "a user who leaves when offered a late end neither asks again nor waits for others",
            "leave out `refuses_late_offers` or the other keys of `[client]`",
        );
        return None;
    }
    Some(settings)
}

/// Users who ask for more time while their jobs run; the inner `None` where nobody does. Which time
/// would be asked for by a job that saves its work, or that runs twice, is not known.
fn lengthening(
    raw: &RawClient,
    policy: &PolicySpec,
    problems: &mut Problems,
) -> Option<Option<Lengthening>> {
    let percent = raw.lengthen_percent().or_default(problems);
    let before = raw
        .lengthen_before_minutes()
        .limited(|minutes| (1.0 / 60.0..=1e6).contains(&minutes))
        .or_default(problems);
    let (percent, before) = (percent?, before?);
    if percent == 0.0 {
        return Some(None);
    }
    let refused = match policy {
        policy if policy.checkpoint.is_some() => {
            Some("jobs that save their work go on later: they do not ask for more time")
        }
        policy if policy.double_execution.is_some() => {
            Some("jobs with two runs do not ask for more time")
        }
        _ => None,
    };
    if let Some(message) = refused {
        raw.lengthen_percent().refuse(message, problems);
        return None;
    }
    Some(Some(Lengthening {
        percent,
        before: Seconds((before * 60.0).round() as i64),
    }))
}

pub(super) fn best_effort(
    raw: &RawBestEffort,
    clients: &ClientSettings,
    problems: &mut Problems,
) -> Option<Option<BestEffortSettings>> {
    let default = BestEffortSettings::default();
    let share_percent = raw.share_percent().or_default(problems);
    let fee = raw
        .fee_per_node_hour()
        .limited(|fee| fee <= 1e6)
        .or_default(problems);
    let settings = BestEffortSettings {
        share_percent: share_percent?,
        start: raw.start.unwrap_or(default.start),
        when_stopped: raw.when_stopped.unwrap_or(default.when_stopped),
        fee_per_node_hour: fee?,
    };
    let is_none = settings.share_percent == 0.0;
    if let Some(share) = raw.share_percent.as_ref()
        && !is_none
        && !clients.is_default()
    {
        problems.add(
            ProblemKind::Conflict,
            "best_effort.share_percent",
            share.span(),
            "jobs without promises are submitted as they are listed, and `[client]` submits jobs by what becomes of others or lets users leave",
            "leave out one of the two tables",
        );
        return None;
    }
    Some((!is_none).then_some(settings))
}
