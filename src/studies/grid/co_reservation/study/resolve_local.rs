//! From what the file says to the scheduler and the reservation service of each cluster.

use super::keys::RawLocal;
use crate::co_reservation::local::{
    AccuracySource, AccuracyWindow, JobMixSettings, LocalSettings, LookAhead, NextEventSource,
    QuotaPeriodError, QuotaPeriods, TariffError,
};
use bookahead_core::units::{Nodes, Seconds};
use bookahead_core::workload::FurtherCounts;
use bookahead_lab::keys::problem::Problems;

/// Why there is no plan by limits whose end could be the backlog time, if there is none.
pub(super) fn has_no_plan(local: &LocalSettings, is_risky: bool) -> Option<&'static str> {
    let reasons = [
        (
            local.accuracy == AccuracySource::Category,
            "`local.accuracy = \"category\"` has an accuracy for each job, and the plan has one",
        ),
        (
            local.partition.is_some(),
            "with `local.partition_percent` parts and jobs have plans of their own",
        ),
        (is_risky, "clusters of `[risk]` have no plan by limits"),
    ];
    let mut reasons = reasons.into_iter().filter(|(holds, _)| *holds);
    reasons.next().map(|(_, reason)| reason)
}

/// `[local]`, resolved.
pub(super) fn local(raw: &RawLocal, problems: &mut Problems) -> Option<LocalSettings> {
    let accuracy_window = raw
        .accuracy_window()
        .or_default(problems)
        .map(AccuracyWindow);
    let accuracy_factor = raw.accuracy_factor().or_default(problems);
    let quota = raw.quota_percent().checked(problems);
    let quota_periods = match &raw.quota_periods {
        Some(given) => given.get_ref().parse().map(|QuotaPeriods(periods)| periods),
        None => Ok(Vec::new()),
    };
    let quota_periods = quota_periods.map_err(|error: QuotaPeriodError| {
        raw.quota_periods().refuse(&error.to_string(), problems);
    });
    let look_ahead = raw.look_ahead().or_default(problems).map(LookAhead);
    if raw.next_event == Some(NextEventSource::Oracle) && look_ahead != Some(LookAhead::default()) {
        raw.look_ahead().refuse(
            "the plan of the queue goes by estimates, and `local.next_event` asks for true ends",
            problems,
        );
        return None;
    }
    let partition = raw.partition_percent().or_default(problems);
    let partition = partition.map(|percent| Some(percent / 100.0).filter(|share| *share > 0.0));
    let (quota, quota_periods) = (quota?, quota_periods.ok()?);
    let is_bounded = quota.is_some_and(|percent| percent < 100.0) || !quota_periods.is_empty();
    if is_bounded && partition.is_some_and(|share| share.is_some()) {
        raw.partition_percent().refuse(
            "parts that have CPUs to themselves need no quota: leave `local.quota_percent` and `local.quota_periods` out",
            problems,
        );
        return None;
    }
    let licences = raw.licences().or_default(problems);
    let storage_gb = raw.storage_gb().or_default(problems);
    let mix_days = raw.mix_days().or_default(problems);
    let large_cpus = raw.large_cpus().or_default(problems);
    let origin = raw.calendar_origin_hours().or_default(problems);
    let tariff = raw.tariff().text().parse();
    let tariff =
        tariff.map_err(|error: TariffError| raw.tariff().refuse(&error.to_string(), problems));
    Some(LocalSettings {
        backfilling: raw.backfilling().variant()?,
        planned_visible: raw.planned_visible().is_on(),
        backlog_work: raw.backlog_work.unwrap_or_default(),
        accuracy: raw.accuracy.unwrap_or_default(),
        accuracy_window: accuracy_window?,
        accuracy_factor: accuracy_factor?,
        next_event: raw.next_event.unwrap_or_default(),
        look_ahead: look_ahead?,
        quota: quota.map(|percent| percent / 100.0),
        quota_periods,
        partition: partition?,
        further: FurtherCounts {
            licences: licences?,
            storage_gb: storage_gb?,
        },
        job_mix: JobMixSettings {
            window: Seconds::from_hours(mix_days? * 24.0).max(Seconds(1)),
            large: Nodes(large_cpus?),
        },
        tariff: tariff.ok()?,
        hour_edge: raw.hour_edge.unwrap_or_default(),
        calendar_origin: Seconds::from_hours(origin?),
    })
}
