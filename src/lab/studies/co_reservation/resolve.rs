//! From what the file says to the settings of the co-reservation study: clusters, requests, broker, local schedulers, failures,
//! risk.
//!
//! One function a section, as in [`crate::sweep`]. Each returns `None` after it has said what is wrong.

use toml::Spanned;

use super::CoReservationStudy;
use super::keys::{RawBroker, RawClusters, RawGridFailures, RawLocal, RawRisk, RawTables};
use super::resolve_requests::requests;
use crate::brokering::{
    Algorithm, CoReservationSettings, GridFailureSettings, MessageSettings, RiskChoice,
    RiskSettings, SearchSettings,
};
use crate::scheduling::local::{LocalSettings, Tariff, TariffError};
use crate::scheduling::registry::STRATEGIES;
use crate::scheduling::reserving::Backfilling;
use crate::studies::Asked;
use crate::sweep::keys::declaration::Table;
use crate::sweep::problem::{ProblemKind, Problems};
use crate::sweep::resolve::{out_of_range, real, unknown_name, whole};
use crate::units::Seconds;
use crate::workload::ClusterSettings;

/// The study with its clusters and requests.
pub(super) fn resolve(asked: &Asked<'_>, problems: &mut Problems) -> Option<CoReservationStudy> {
    let raw = &asked.raw.studies.co_reservation;
    let settings = settings(raw, problems);
    let clusters = clusters(&raw.clusters, problems);
    let requests = requests(&raw.requests, problems);
    if asked.workload.whole.is_none() {
        problems.add(
            ProblemKind::Conflict,
            "workload.whole_trace",
            asked.place(),
            "the workloads of several clusters are cut out of a whole trace",
            "add `whole_trace = true`, and leave out what belongs to batteries",
        );
        return None;
    }
    let (settings, clusters, requests) = (settings?, clusters?, requests?);
    if let Some(requests) = &requests
        && requests.parts > clusters.count
    {
        let (parts, count) = (&raw.requests.parts, &raw.clusters.count);
        let place = parts
            .as_ref()
            .or(count.as_ref())
            .map_or(0..0, Spanned::span);
        problems.warn(
            ProblemKind::OutOfRange,
            "requests.parts",
            place,
            format!(
                "no request of {} parts can be granted on {} clusters: each part has a cluster of its own",
                requests.parts, clusters.count
            ),
            "ask for fewer parts or for more clusters",
        );
    }
    Some(CoReservationStudy {
        settings,
        clusters,
        requests,
    })
}

fn settings(raw: &RawTables, problems: &mut Problems) -> Option<CoReservationSettings> {
    let broker = &raw.broker;
    let search = search(broker, problems);
    let messages = messages(broker, problems);
    let local = local(&raw.local, problems);
    let failures = failures(&raw.grid_failures, problems);
    let risk = match &raw.risk.place {
        None => Some(None),
        Some(_) => risk(&raw.risk, problems).map(Some),
    };
    Some(CoReservationSettings {
        search: search?,
        messages: messages?,
        local: local?,
        failures: failures?,
        renegotiate: broker.renegotiate.unwrap_or(false),
        risk: risk?,
    })
}

fn clusters(raw: &RawClusters, problems: &mut Problems) -> Option<ClusterSettings> {
    let default = ClusterSettings::default();
    let count = whole(
        "clusters.count",
        &raw.count,
        default.count,
        1..=ClusterSettings::MOST,
        problems,
    );
    let days = real(
        "clusters.days",
        &raw.days,
        default.days,
        |days| (0.05..=1e4).contains(&days),
        problems,
    );
    let most = whole(
        "clusters.merge_at_most",
        &raw.merge_at_most,
        0,
        0..=u32::MAX,
        problems,
    );
    if most == Some(1) {
        let span = raw.merge_at_most.as_ref().map_or(0..0, Spanned::span);
        let message = "one job alone is not merged";
        out_of_range("clusters.merge_at_most", span, message, problems);
        return None;
    }
    Some(ClusterSettings {
        count: count?,
        days: days?,
        excerpts: raw.excerpts.unwrap_or_default(),
        merging: raw.merging.unwrap_or(default.merging),
        // Windows and requests are those of merged jobs also where the clusters' own jobs are not.
        merge_at_most: Some(most?).filter(|most| *most > 0),
        sizes: raw.sizes.unwrap_or_default(),
    })
}

fn search(raw: &RawBroker, problems: &mut Problems) -> Option<SearchSettings> {
    let default = SearchSettings::default();
    let algorithm = match &raw.algorithm {
        None => Some(default.algorithm),
        Some(name) => {
            let found = Algorithm::ALL
                .iter()
                .find(|(_, known, _)| known == name.get_ref());
            if found.is_none() {
                let known: Vec<&str> = Algorithm::ALL.iter().map(|(_, name, _)| *name).collect();
                unknown_name("broker.algorithm", name, &known, problems);
            }
            found.map(|(algorithm, _, _)| *algorithm)
        }
    };
    let step = whole(
        "broker.minimum_step_seconds",
        &raw.minimum_step_seconds,
        default.minimum_step.0 as u32,
        1..=u32::MAX,
        problems,
    );
    let starts = whole(
        "broker.maximum_starts",
        &raw.maximum_starts,
        default.maximum_starts,
        1..=100_000,
        problems,
    );
    let start_tolerance = whole(
        "broker.start_tolerance_seconds",
        &raw.start_tolerance_seconds,
        0,
        0..=u32::MAX,
        problems,
    );
    let cost_tolerance = real(
        "broker.cost_tolerance",
        &raw.cost_tolerance,
        default.cost_tolerance,
        |cost| cost >= 0.0,
        problems,
    );
    Some(SearchSettings {
        algorithm: algorithm?,
        minimum_step: Seconds(i64::from(step?)),
        maximum_starts: starts?,
        start_cap: raw.start_cap.unwrap_or_default(),
        memoise: raw.memoise.unwrap_or(default.memoise),
        start_tolerance: Seconds(i64::from(start_tolerance?)),
        cost_tolerance: cost_tolerance?,
    })
}

fn messages(raw: &RawBroker, problems: &mut Problems) -> Option<MessageSettings> {
    let default = MessageSettings::default();
    let latency = whole(
        "broker.latency_seconds",
        &raw.latency_seconds,
        0,
        0..=86_400,
        problems,
    );
    let loss = real(
        "broker.message_loss_percent",
        &raw.message_loss_percent,
        0.0,
        |percent| (0.0..100.0).contains(&percent),
        problems,
    );
    let latency = latency?;
    let timeout = match &raw.timeout_seconds {
        None => Seconds(i64::from(latency) * 4).max(default.timeout),
        Some(given) => {
            let timeout = *given.get_ref();
            if timeout > 1_000_000 || u64::from(timeout) <= 2 * u64::from(latency) {
                let message = format!(
                    "{timeout} s is too {}: an answer takes {} s",
                    if timeout > 1_000_000 { "long" } else { "short" },
                    2 * u64::from(latency)
                );
                out_of_range("broker.timeout_seconds", given.span(), &message, problems);
                return None;
            }
            Seconds(i64::from(timeout))
        }
    };
    Some(MessageSettings {
        latency: Seconds(i64::from(latency)),
        timeout,
        loss: loss? / 100.0,
    })
}

fn local(raw: &RawLocal, problems: &mut Problems) -> Option<LocalSettings> {
    let default = LocalSettings::default();
    let accuracy_factor = real(
        "local.accuracy_factor",
        &raw.accuracy_factor,
        default.accuracy_factor,
        |factor| (0.0..=100.0).contains(&factor),
        problems,
    );
    let quota = real(
        "local.quota_percent",
        &raw.quota_percent,
        100.0,
        |percent| percent > 0.0 && percent <= 100.0,
        problems,
    );
    let origin = real(
        "local.calendar_origin_hours",
        &raw.calendar_origin_hours,
        default.calendar_origin.hours(),
        |hours| (0.0..168.0).contains(&hours),
        problems,
    );
    let tariff = match &raw.tariff {
        None => Some(Tariff::default()),
        Some(text) => match text.get_ref().parse() {
            Ok(tariff) => Some(tariff),
            Err(error) => {
                let message = TariffError::to_string(&error);
                out_of_range("local.tariff", text.span(), &message, problems);
                None
            }
        },
    };
    let quota = quota?;
    Some(LocalSettings {
        backfilling: raw.backfilling.unwrap_or(Backfilling::Aggressive),
        planned_visible: raw.planned_visible.unwrap_or(default.planned_visible),
        backlog_work: raw.backlog_work.unwrap_or_default(),
        accuracy: raw.accuracy.unwrap_or_default(),
        accuracy_factor: accuracy_factor?,
        next_event: raw.next_event.unwrap_or_default(),
        quota: raw.quota_percent.is_some().then_some(quota / 100.0),
        tariff: tariff?,
        hour_edge: raw.hour_edge.unwrap_or_default(),
        calendar_origin: Seconds::from_hours(origin?),
    })
}

/// `[grid_failures]`, resolved; the inner `None` where nothing fails.
fn failures(
    raw: &Table<RawGridFailures>,
    problems: &mut Problems,
) -> Option<Option<GridFailureSettings>> {
    let Some(place) = raw.place.clone() else {
        return Some(None);
    };
    if raw.cluster_mtbf_days.is_none() && raw.node_mtbf_days.is_none() {
        problems.add(
            ProblemKind::Missing,
            "grid_failures.cluster_mtbf_days",
            place,
            "it is not said how often anything fails",
            "add `cluster_mtbf_days = …` or `node_mtbf_days = …`, or leave the table out",
        );
        return None;
    }
    // Shorter than a few seconds is no failure, and would have simulations without end.
    let mean = |key, given, default, problems: &mut Problems| {
        let fits = |time: f64| (0.001..=1e6).contains(&time) || (default == 0.0 && time == 0.0);
        real(key, given, default, fits, problems)
    };
    let cluster_mtbf = mean(
        "grid_failures.cluster_mtbf_days",
        &raw.cluster_mtbf_days,
        0.0,
        problems,
    );
    let cluster_repair = mean(
        "grid_failures.cluster_repair_hours",
        &raw.cluster_repair_hours,
        4.0,
        problems,
    );
    let node_mtbf = mean(
        "grid_failures.node_mtbf_days",
        &raw.node_mtbf_days,
        0.0,
        problems,
    );
    let node_repair = mean(
        "grid_failures.node_repair_hours",
        &raw.node_repair_hours,
        4.0,
        problems,
    );
    let node_cpus = whole(
        "grid_failures.node_cpus",
        &raw.node_cpus,
        8,
        1..=10_000_000,
        problems,
    );
    let often = |days: f64| (days > 0.0).then(|| Seconds::from_hours(days * 24.0));
    let settings = GridFailureSettings {
        cluster_mtbf: often(cluster_mtbf?),
        cluster_repair: Seconds::from_hours(cluster_repair?),
        node_mtbf: often(node_mtbf?),
        node_repair: Seconds::from_hours(node_repair?),
        node_cpus: node_cpus?,
    };
    let fails = settings.cluster_mtbf.is_some() || settings.node_mtbf.is_some();
    Some(fails.then_some(settings))
}

fn risk(raw: &RawRisk, problems: &mut Problems) -> Option<RiskSettings> {
    let probability = |value: f64| (0.0..=1.0).contains(&value);
    let limit = real("risk.pof_limit", &raw.pof_limit, 0.1, probability, problems);
    let pof_max = real("risk.pof_max", &raw.pof_max, 0.2, probability, problems);
    let penalty_ratio = real(
        "risk.penalty_ratio",
        &raw.penalty_ratio,
        1.0,
        |ratio| ratio >= 0.0,
        problems,
    );
    let choice = match raw
        .choice
        .as_ref()
        .map(|choice| (choice, choice.get_ref().as_str()))
    {
        None | Some((_, "expected-cost")) => Some(RiskChoice::ExpectedCost),
        Some((_, "limit")) => limit.map(|pof| RiskChoice::Limit { pof }),
        Some((choice, _)) => {
            unknown_name("risk.choice", choice, &["expected-cost", "limit"], problems);
            None
        }
    };
    let overbooking: Vec<&str> = STRATEGIES
        .iter()
        .filter(|strategy| strategy.overbooks)
        .map(|strategy| strategy.name)
        .collect();
    let strategy = match &raw.strategy {
        None => Some("heuristic-overbooking".to_owned()),
        Some(name) if overbooking.contains(&name.get_ref().as_str()) => {
            Some(name.get_ref().clone())
        }
        Some(name) => {
            unknown_name("risk.strategy", name, &overbooking, problems);
            None
        }
    };
    limit?;
    Some(RiskSettings {
        choice: choice?,
        penalty_ratio: penalty_ratio?,
        pof_max: pof_max?,
        strategy: strategy?,
    })
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
