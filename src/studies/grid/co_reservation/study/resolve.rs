//! From what the file says to the settings of the co-reservation study: clusters, requests, broker,
//! local schedulers, failures, risk.
//!
//! One function a section. Each returns `None` after it has said what is wrong.

use toml::Spanned;

use super::CoReservationStudy;
use super::keys::{MAXIMUM_STARTS, RawBroker, RawClusterFailures, RawClusters, RawTables};
use super::resolve_further::further;
use super::resolve_local::{has_no_plan, local};
use super::resolve_requests::{exclude, requests};
use crate::co_reservation::local::{BacklogWork, LookAhead};
use crate::co_reservation::{
    Algorithm, ClusterFailureSettings, CoReservationSettings, InformationSettings, MessageSettings,
    Patience, RiskChoice, RiskSettings, SearchSettings, SecondThoughts, SortBy, WatchSettings,
};
use bookahead_core::failures::FailureSource;
use bookahead_core::units::Seconds;
use bookahead_core::workload::{ClusterSettings, CoRequestSettings, Excerpts};
use bookahead_lab::keys::declaration::Table;
use bookahead_lab::keys::problem::{ProblemKind, Problems};
use bookahead_lab::study::Asked;

/// The study with its clusters and requests.
pub(super) fn resolve(
    raw: &RawTables,
    asked: &Asked<'_>,
    problems: &mut Problems,
) -> Option<CoReservationStudy> {
    let settings = settings(raw, problems);
    let clusters = clusters(&raw.clusters, asked.laxity, problems);
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
    queued_parts(&settings, requests.as_ref(), raw, asked, problems)?;
    further(&settings, requests.as_ref(), raw, problems)?;
    let early_ends = asked.workload.early_ends.unwrap_or_default();
    let key = if asked.workload.tightness.is_some() {
        Some("workload.estimate_tightness")
    } else if early_ends.no_show_percent > 0.0 {
        Some("workload.no_show_percent")
    } else {
        (early_ends.crashes_per_hour > 0.0).then_some("workload.crashes_per_hour")
    };
    if let Some(key) = key
        && clusters.excerpts == Excerpts::Fingerprint
    {
        problems.add(
            ProblemKind::Conflict,
            key,
            asked.place(),
            "excerpts are found by how accurate the recorded estimates are",
            "add `clusters.excerpts = \"drawn\"` or `\"spaced\"`, which find the same excerpts whatever estimates and run times are",
        );
        return None;
    }
    let draws_nodes =
        (settings.failures.as_ref()).is_some_and(|failures| failures.node_mtbf.is_some());
    if draws_nodes && asked.failures.source != FailureSource::None {
        raw.grid_failures.node_mtbf_days().refuse(
            "the nodes of clusters fail by `[failures]` already",
            problems,
        );
        return None;
    }
    let asked_for = match &requests {
        Some(_) if settings.search.unsplit => 1,
        Some(requests) => requests.parts,
        None => 0,
    };
    let known = settings.information.covered(clusters.count);
    if let Some(most) = settings.information.probe_only
        && most < asked_for
    {
        let why = format!("a request of {asked_for} parts needs as many clusters");
        raw.broker.probe_only().refuse(&why, problems);
        return None;
    }
    let preference = requests
        .as_ref()
        .map(|it| it.preference)
        .unwrap_or_default();
    let further = [
        ("requests.mix_weight", preference.mix_weight),
        ("requests.degree_weight", preference.degree_weight),
    ];
    if let Some((key, _)) = further.iter().find(|(_, weight)| *weight > 0.0)
        && settings.search.cost_tolerance > 0.0
    {
        let why = format!(
            "it is in units of money, and with `{key}` candidates are compared by cost and that together: leave one of them out"
        );
        raw.broker.cost_tolerance().refuse(&why, problems);
        return None;
    }
    if asked_for > known {
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
                "no request of {asked_for} parts can be granted on {known} clusters: each part has a cluster of its own"
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
    let search = search(raw, raw.clusters.count().or_default(problems), problems);
    let messages = messages(broker, problems);
    let second_thoughts = second_thoughts(broker, problems);
    let information = information(broker, problems);
    let watch = watch(broker, problems);
    let local = local(&raw.local, problems);
    let failures = of_grid_failures(&raw.grid_failures, problems);
    let risk = match &raw.risk.place {
        None => Some(None),
        Some(_) => risk(raw, problems).map(Some),
    };
    let (search, risk, local) = (search?, risk?, local?);
    if risk.is_some() && local.look_ahead != LookAhead::default() {
        raw.local.look_ahead().refuse(
            "only the queue of a cluster without `[risk]` has a plan to look ahead in",
            problems,
        );
        return None;
    }
    if local.backlog_work == BacklogWork::Planned
        && let Some(message) = has_no_plan(&local, risk.is_some())
    {
        let key = raw.local.backlog_work().key.path;
        let place = raw.local.place.clone().unwrap_or(0..0);
        let help = "leave one of the two out";
        problems.add(ProblemKind::Conflict, key, place, message, help);
        return None;
    }
    if risk.is_some()
        && second_thoughts.is_some_and(|it| it.is_some_and(|it| it.priority_percent > 0.0))
    {
        raw.broker.priority_percent().refuse(
            "clusters of `[risk]` do not say what they could promise without what they promised",
            problems,
        );
        return None;
    }
    if risk.is_some() && local.partition.is_some() {
        raw.local.partition_percent().refuse(
            "clusters of `[risk]` place parts on CPUs that jobs may hold",
            problems,
        );
        return None;
    }
    if search.sort_by == SortBy::ReservationDegree
        && risk
            .as_ref()
            .is_some_and(|risk| risk.choice == RiskChoice::ExpectedCost)
    {
        problems.add(
            ProblemKind::Conflict,
            "broker.sort_by",
            raw.risk.place.clone().unwrap_or(0..0),
            "candidates cannot be ordered by reservation degree and by expected cost at once",
            "set `risk.choice = \"limit\"`, or leave `broker.sort_by` out",
        );
        return None;
    }
    Some(CoReservationSettings {
        search,
        messages: messages?,
        local,
        failures: failures?,
        renegotiate: broker.renegotiate().is_on(),
        watch: watch?,
        second_thoughts: second_thoughts?,
        risk,
        information: information?,
    })
}

fn clusters(raw: &RawClusters, laxity: f64, problems: &mut Problems) -> Option<ClusterSettings> {
    let count = raw.count().or_default(problems);
    let days = raw.days().or_default(problems);
    let most = raw.merge_at_most().or_default(problems);
    if most == Some(1) {
        raw.merge_at_most()
            .refuse("one job alone is not merged", problems);
        return None;
    }
    Some(ClusterSettings {
        count: count?,
        days: days?,
        excerpts: raw.excerpts.unwrap_or_default(),
        merging: raw.merging().is_on(),
        // Windows and requests are those of merged jobs also where the clusters' own jobs are not.
        merge_at_most: Some(most?).filter(|most| *most > 0),
        sizes: raw.sizes.unwrap_or_default(),
        laxity: raw.deadlines().is_on().then_some(laxity),
    })
}

fn search(
    tables: &RawTables,
    clusters: Option<u32>,
    problems: &mut Problems,
) -> Option<SearchSettings> {
    let raw = &tables.broker;
    let algorithm = raw.algorithm().name(problems).and_then(|name| {
        let found = Algorithm::ALL.iter().find(|(_, known, _)| *known == name);
        found.map(|(algorithm, _, _)| *algorithm)
    });
    let step = raw.minimum_step_seconds().or_default(problems);
    let starts = match raw.starts_per_request().checked(problems)? {
        None => raw.maximum_starts().or_default(problems),
        Some(_) if raw.maximum_starts.is_some() => {
            let why = "`broker.maximum_starts` says how many starts each cluster is asked for";
            raw.starts_per_request().refuse(why, problems);
            None
        }
        Some(starts) => clusters.and_then(|clusters| {
            let of_each = starts.div_ceil(clusters);
            if of_each > MAXIMUM_STARTS {
                let why = format!("{of_each} starts at each of {clusters} clusters are too many");
                raw.starts_per_request().refuse(&why, problems);
                return None;
            }
            Some(of_each)
        }),
    };
    let start_tolerance = raw.start_tolerance_seconds().or_default(problems);
    let cost_tolerance = raw.cost_tolerance().or_default(problems);
    let split_overhead = tables.requests.split_overhead().or_default(problems);
    let patience = patience(raw, problems);
    Some(SearchSettings {
        algorithm: algorithm?,
        sort_by: raw.sort_by.unwrap_or_default(),
        minimum_step: Seconds(i64::from(step?)),
        maximum_starts: starts?,
        start_cap: raw.start_cap.unwrap_or_default(),
        memoise: raw.memoise().is_on(),
        start_tolerance: Seconds(i64::from(start_tolerance?)),
        cost_tolerance: cost_tolerance?,
        patience: patience?,
        unsplit: !tables.requests.split().is_on(),
        split_overhead: split_overhead?,
        record_free_cpus: raw.record_free_cpus().is_on(),
    })
}

fn patience(raw: &RawBroker, problems: &mut Problems) -> Option<Patience> {
    let (factor, seconds) = (&raw.patience_factor, &raw.patience_seconds);
    exclude(
        ("broker.patience_factor", factor),
        ("broker.patience_seconds", seconds),
        problems,
    )?;
    if let Some(seconds) = raw.patience_seconds().checked(problems)? {
        return Some(Patience::Fixed(Seconds(i64::from(seconds))));
    }
    let factor = raw.patience_factor().or_default(problems)?;
    Some(Patience::Factor(factor))
}

/// What queued parts cannot have: they are jobs of clusters that keep what they begin.
fn queued_parts(
    settings: &CoReservationSettings,
    requests: Option<&CoRequestSettings>,
    raw: &RawTables,
    asked: &Asked<'_>,
    problems: &mut Problems,
) -> Option<()> {
    let kinds = requests.and_then(|requests| requests.kinds.as_ref());
    if !settings.search.algorithm.row().queues {
        return Some(());
    }
    let why = if settings.messages.loss > 0.0 {
        "messages to queued parts are not lost: leave `broker.message_loss_percent` out"
    } else if settings.failures.is_some() || asked.failures.source != FailureSource::None {
        "queued parts run on nodes that do not fail: leave `[grid_failures]` and `[failures]` out"
    } else if settings.local.further.licences > 0
        && requests.is_some_and(|it| it.licences.is_some())
    {
        "a queue is one of CPUs, and parts in it hold no licences: leave `requests.licences_percent` out"
    } else if settings.local.further.storage_gb > 0
        && requests.is_some_and(|it| it.storage.is_some())
    {
        "a queue is one of CPUs, and parts in it hold no storage: leave `requests.storage_percent` out"
    } else if settings.risk.is_some() {
        "queued parts are no windows, at a risk or not: leave `[risk]` out"
    } else if kinds.is_some_and(|kinds| kinds.workflow_percent > 0.0) {
        "nobody knows when a queued part ends, after which a task of a workflow could be sought: leave `requests.workflow_percent` out"
    } else {
        return Some(());
    };
    raw.broker.algorithm().refuse(why, problems);
    None
}

fn messages(raw: &RawBroker, problems: &mut Problems) -> Option<MessageSettings> {
    let default = MessageSettings::default();
    let latency = raw.latency_seconds().or_default(problems);
    let loss = raw.message_loss_percent().or_default(problems);
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
                raw.timeout_seconds().refuse(&message, problems);
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

/// The inner `None` where everybody negotiates once.
fn second_thoughts(raw: &RawBroker, problems: &mut Problems) -> Option<Option<SecondThoughts>> {
    let share_percent = raw.renegotiable_percent().or_default(problems);
    let every = raw
        .renegotiate_every_minutes()
        .limited(|minutes| (1.0..=1e6).contains(&minutes))
        .or_default(problems);
    let surcharge = raw.renegotiable_surcharge().or_default(problems);
    let priority = raw.priority_percent().or_default(problems);
    let settings = SecondThoughts {
        share_percent: share_percent?,
        priority_percent: priority?,
        surcharge: surcharge?,
        every: Seconds((every? * 60.0).round() as i64),
    };
    Some((settings.share_percent > 0.0).then_some(settings))
}

/// The inner `None` without an agent.
fn watch(raw: &RawBroker, problems: &mut Problems) -> Option<Option<WatchSettings>> {
    let every = raw.watch_every_seconds().or_default(problems);
    let misses = raw.watch_misses().or_default(problems);
    let watch = WatchSettings {
        every: Seconds(i64::from(every?)),
        misses: misses?,
    };
    if watch.every == Seconds::ZERO {
        return Some(None);
    }
    if !raw.renegotiate().is_on() {
        raw.watch_every_seconds().refuse(
            "what the agent gives up is sought elsewhere: add `broker.renegotiate = true`",
            problems,
        );
        return None;
    }
    Some(Some(watch))
}

fn information(raw: &RawBroker, problems: &mut Problems) -> Option<InformationSettings> {
    let period = raw.information_period_seconds().or_default(problems);
    let coverage = raw.information_coverage().or_default(problems);
    let probe_only = raw.probe_only().or_default(problems);
    Some(InformationSettings {
        period: Seconds(i64::from(period?)),
        coverage: coverage?,
        probe_only: Some(probe_only?).filter(|most| *most > 0),
    })
}

/// `[grid_failures]`, resolved; the inner `None` where nothing fails.
pub(crate) fn of_grid_failures(
    raw: &Table<RawClusterFailures>,
    problems: &mut Problems,
) -> Option<Option<ClusterFailureSettings>> {
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
    let never_or = |time: f64| time == 0.0 || (0.001..=1e6).contains(&time);
    let cluster_mtbf = (raw.cluster_mtbf_days().limited(never_or)).or_default(problems);
    let node_mtbf = raw.node_mtbf_days().limited(never_or).or_default(problems);
    let bounded = |hours: f64| hours <= 1e6;
    let cluster_repair = (raw.cluster_repair_hours().limited(bounded)).or_default(problems);
    let node_repair = raw
        .node_repair_hours()
        .limited(bounded)
        .or_default(problems);
    let node_cpus = raw.node_cpus().or_default(problems);
    let often = |days: f64| (days > 0.0).then(|| Seconds::from_hours(days * 24.0));
    let settings = ClusterFailureSettings {
        cluster_mtbf: often(cluster_mtbf?),
        cluster_repair: Seconds::from_hours(cluster_repair?),
        node_mtbf: often(node_mtbf?),
        node_repair: Seconds::from_hours(node_repair?),
        node_cpus: node_cpus?,
        silent: raw.silent_outages().is_on(),
    };
    let fails = settings.cluster_mtbf.is_some() || settings.node_mtbf.is_some();
    Some(fails.then_some(settings))
}

fn risk(tables: &RawTables, problems: &mut Problems) -> Option<RiskSettings> {
    let raw = &tables.risk;
    let limit = raw.pof_limit().or_default(problems);
    let pof_max = tables.acceptance.pof_max().or_default(problems);
    let penalty_ratio = tables.acceptance.penalty_ratio().or_default(problems);
    let choice = raw.choice().name(problems).and_then(|choice| match choice {
        "limit" => limit.map(|pof| RiskChoice::Limit { pof }),
        _ => Some(RiskChoice::ExpectedCost),
    });
    let strategy = tables.clusters.policy().name(problems).map(str::to_owned);
    limit?;
    Some(RiskSettings {
        choice: choice?,
        penalty_ratio: penalty_ratio?,
        pof_max: pof_max?,
        strategy: strategy?,
        reliability: None,
        policy: None,
    })
}

#[cfg(test)]
mod tests;
