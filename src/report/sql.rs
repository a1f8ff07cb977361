//! The queries behind the numbers of the tables, as text for the report. A test runs them and
//! compares.

use super::analysis::{Analysis, STRATEGY_AXIS};
use super::statistics::Choice;
use bookahead_lab::store::{METRICS, Shown};

/// The run of a report, by the hash of its configuration: the text does not depend on the run's
/// number in a store.
pub fn this_run(configuration_hash: &str) -> String {
    format!("(SELECT max(id) FROM run WHERE configuration_hash = '{configuration_hash}')")
}

/// Means, and the variance of the gain; the standard deviation is its root.
pub(super) fn summary(configuration_hash: &str) -> String {
    let run = this_run(configuration_hash);
    let means: Vec<String> = METRICS
        .iter()
        .filter(|metric| metric.shown >= Shown::Tables)
        .map(|metric| format!("avg({0}) AS {0}", metric.name))
        .collect();
    format!(
        "SELECT axes, strategy, count(*) AS replications,
    {},
    sum((gain - centre) * (gain - centre)) / (count(*) - 1) AS gain_variance
FROM (SELECT *, avg(gain) OVER (PARTITION BY axes, strategy) AS centre
      FROM v_point WHERE state = 'done' AND run = {run})
GROUP BY axes, strategy
ORDER BY axes, strategy;",
        means.join(",\n    ")
    )
}

/// Means and variances of all measures, and of some of the [`METRICS`], one row a measure: a study
/// may have a hundred.
pub(super) fn measures(configuration_hash: &str, metrics: &[usize]) -> String {
    let run = this_run(configuration_hash);
    let metrics: String = metrics
        .iter()
        .map(|index| {
            format!(
                "\n    UNION ALL SELECT axes, strategy, '{0}', {0} FROM v_point WHERE state = 'done' AND run = {run}",
                METRICS[*index].name
            )
        })
        .collect();
    format!(
        "SELECT axes, strategy, measure, count(value) AS n, avg(value) AS mean,
    sum((value - centre) * (value - centre)) / (count(value) - 1) AS variance
FROM (SELECT *, avg(value) OVER (PARTITION BY axes, strategy, measure) AS centre FROM (
    SELECT axes, strategy, measure, value FROM v_measure WHERE run = {run}{metrics}
))
GROUP BY axes, strategy, measure
ORDER BY axes, strategy, measure;"
    )
}

/// Every measure by axis and value, the means of the replications folded.
pub(super) fn each_axis(configuration_hash: &str) -> String {
    let run = this_run(configuration_hash);
    format!(
        "WITH by_replication AS (
    SELECT a.key AS axis, a.value AS setting, measure, replication, avg(m.value) AS mean
    FROM v_measure m, json_each(m.axes) a WHERE run = {run}
    GROUP BY axis, setting, measure, replication
)
SELECT axis, setting, measure, count(*) AS n, avg(mean) AS mean,
    sum((mean - centre) * (mean - centre)) / (count(*) - 1) AS variance
FROM (SELECT *, avg(mean) OVER (PARTITION BY axis, setting, measure) AS centre FROM by_replication)
GROUP BY axis, setting, measure
ORDER BY axis, setting, measure;"
    )
}

/// The best combination per strategy and the paired differences to its baseline.
pub(super) fn best(configuration_hash: &str, analysis: &Analysis) -> String {
    let run = this_run(configuration_hash);
    let tuned = analysis
        .tuned_axes()
        .into_iter()
        .map(|axis| analysis.axes[axis].key.as_str());
    let given = without(std::iter::once(STRATEGY_AXIS).chain(tuned));
    let same = without(
        std::iter::once(STRATEGY_AXIS).chain(analysis.relaxed_axes.iter().map(String::as_str)),
    );
    format!(
        "WITH p AS (
    SELECT *, {given} AS given, {same} AS same
    FROM v_point WHERE state = 'done' AND run = {run}
),
baseline AS (
    SELECT DISTINCT strategy, same, replication, simulation, fees, forfeited FROM p
),
combination AS (
    SELECT p.given, p.axes, p.strategy, count(*) AS replications, avg(p.gain) AS gain,
        avg(p.gain - (b.fees - p.penalty_ratio * b.forfeited)) AS surplus,
        avg(CASE WHEN b.fees IS NOT NULL THEN b.fees - p.penalty_ratio * b.forfeited END) AS baseline_gain
    FROM p
    JOIN strategy s ON s.name = p.strategy
    LEFT JOIN baseline b ON b.strategy = s.baseline AND b.same = p.same AND b.replication = p.replication
    GROUP BY p.given, p.axes, p.strategy
)
SELECT given, strategy, axes, replications, gain, surplus, baseline_gain,
    CASE WHEN baseline_gain > 0 THEN 100.0 * surplus / baseline_gain END AS surplus_percent
FROM (SELECT *, row_number() OVER (PARTITION BY given, strategy ORDER BY gain DESC) AS place FROM combination)
WHERE place = 1
ORDER BY given, strategy;"
    )
}

/// What policies earned more than their baselines over an axis, at the points that fulfil a
/// condition.
pub(super) fn surplus(
    configuration_hash: &str,
    analysis: &Analysis,
    key: &str,
    condition: &str,
) -> String {
    let run = this_run(configuration_hash);
    let (source, competing, relaxed) = match (analysis.earned_measure(), analysis.competitors()) {
        (Some(measure), Some(axis)) => {
            let competing = analysis.axes[axis].key.as_str();
            let source = format!(
                "SELECT axes, replication, axes ->> '$.\"{competing}\"' AS policy, value AS earned,
        value AS at_baseline, 0.0 AS forfeited, 0.0 AS penalty_ratio
    FROM v_measure WHERE measure = '{}' AND run = {run}",
                measure.name
            );
            (source, competing, &[][..])
        }
        _ => {
            let source = format!(
                "SELECT axes, replication, strategy AS policy, gain AS earned,
        fees AS at_baseline, forfeited, penalty_ratio
    FROM v_point WHERE state = 'done' AND run = {run}"
            );
            (source, STRATEGY_AXIS, &analysis.relaxed_axes[..])
        }
    };
    let same = without(std::iter::once(competing).chain(relaxed.iter().map(String::as_str)));
    format!(
        "WITH p AS (
    SELECT *, {same} AS same FROM ({source})
),
baseline AS (
    SELECT DISTINCT policy, same, replication, at_baseline, forfeited FROM p
)
SELECT policy, axes ->> '$.\"{key}\"' AS value, count(*) AS n, avg(surplus) AS surplus
FROM (
    SELECT p.policy, p.axes, p.earned - (b.at_baseline - p.penalty_ratio * b.forfeited) AS surplus
    FROM p
    JOIN strategy s ON s.name = p.policy
    JOIN baseline b ON b.policy = s.baseline AND b.same = p.same AND b.replication = p.replication
){condition}
GROUP BY policy, axes
ORDER BY policy, value;"
    )
}

/// What every policy of a study earned at the best of the values that a provider chooses.
pub(super) fn best_earned(configuration_hash: &str, measure: &str, tuned: &[&str]) -> String {
    let run = this_run(configuration_hash);
    let situation = match tuned {
        [] => "axes".to_owned(),
        tuned => without(tuned.iter().copied()),
    };
    format!(
        "WITH setting AS (
    SELECT axes, {situation} AS situation, count(*) AS replications, avg(value) AS earned
    FROM v_measure WHERE run = {run} AND measure = '{measure}'
    GROUP BY axes
)
SELECT axes, replications, earned
FROM (SELECT *, row_number() OVER (PARTITION BY situation ORDER BY earned DESC) AS place FROM setting)
WHERE place = 1
ORDER BY axes;"
    )
}

/// The best and the risk-optimal threshold of every overbooking strategy, with gain and failed jobs
/// at both.
pub fn risk_optimal(configuration_hash: &str) -> String {
    let run = this_run(configuration_hash);
    let given = without([STRATEGY_AXIS, "acceptance.pof_max"].into_iter());
    let fewest = Choice::FEWEST_BATTERIES;
    format!(
        "WITH p AS (
    SELECT {given} AS given, strategy, penalty_ratio, axes ->> '$.\"acceptance.pof_max\"' AS threshold, replication,
        gain, failed, sum(gain) OVER (PARTITION BY axes, strategy) AS total
    FROM v_point
    WHERE state = 'done' AND run = {run} AND strategy IN (SELECT name FROM strategy WHERE overbooks = 1)
),
curve AS (
    SELECT given, strategy, penalty_ratio, 1.0 / (1.0 + penalty_ratio) AS pays_below, threshold, avg(gain) AS gain,
        avg(failed) AS failed
    FROM p GROUP BY given, strategy, penalty_ratio, threshold
),
others AS (
    SELECT given, strategy, penalty_ratio, avg(gain) AS gain
    FROM (SELECT *, row_number() OVER (PARTITION BY given, strategy, penalty_ratio, replication
              ORDER BY total - gain DESC, threshold) AS place FROM p)
    WHERE place = 1 GROUP BY given, strategy, penalty_ratio HAVING count(*) >= {fewest}
),
best AS (
    SELECT *, row_number() OVER (PARTITION BY given, strategy, penalty_ratio ORDER BY gain DESC) AS place FROM curve
),
optimal AS (
    SELECT *, row_number() OVER (PARTITION BY given, strategy, penalty_ratio ORDER BY threshold DESC) AS place
    FROM curve WHERE threshold <= pays_below + 1e-9
)
SELECT b.given, b.strategy, b.penalty_ratio, b.pays_below, b.threshold AS best_threshold, b.gain AS best_gain,
    c.gain AS best_on_others, b.failed AS best_failed, o.threshold, o.gain, o.failed, b.gain - o.gain AS forgone
FROM best b
LEFT JOIN others c ON c.given = b.given AND c.strategy = b.strategy AND c.penalty_ratio = b.penalty_ratio
LEFT JOIN optimal o ON o.given = b.given AND o.strategy = b.strategy AND o.penalty_ratio = b.penalty_ratio AND o.place = 1
WHERE b.place = 1
ORDER BY b.given, b.strategy, b.penalty_ratio;"
    )
}

/// The gain of the best setting on the batteries that chose it, and on each battery of the setting
/// that the others chose: among all strategies and settings, and then among the settings of each
/// policy. Where all settings saw the same.
pub(super) fn optimism(configuration_hash: &str, analysis: &Analysis) -> String {
    let run = this_run(configuration_hash);
    let tuned = (analysis
        .tuned_axes()
        .into_iter()
        .chain(analysis.competitors()))
    .map(|axis| analysis.axes[axis].key.as_str());
    let given = without(std::iter::once(STRATEGY_AXIS).chain(tuned));
    let policy = match analysis.competitors() {
        Some(axis) => format!("axes ->> '$.\"{}\"'", analysis.axes[axis].key),
        None => "strategy".to_owned(),
    };
    let (gain, from) = match analysis.earned_measure() {
        Some(earned) => (
            "value",
            format!(
                "v_measure WHERE measure = '{}' AND run = {run}",
                earned.name
            ),
        ),
        None => (
            "gain",
            format!("v_point WHERE state = 'done' AND run = {run}"),
        ),
    };
    let among = |strategy: &str| {
        format!(
            "WITH p AS (
    SELECT {given} AS given, {policy} AS strategy, replication, {gain} AS gain, min(place) OVER setting AS place,
        sum({gain}) OVER setting AS total
    FROM {from}
    WINDOW setting AS (PARTITION BY axes, strategy)
),
chosen AS (
    SELECT *, max(total) OVER (PARTITION BY given{strategy}) AS most,
        row_number() OVER (PARTITION BY given{strategy}, replication ORDER BY total - gain DESC, place) AS rank
    FROM p
)
SELECT given{strategy}, count(*) AS batteries, max(most) / count(*) AS same, avg(gain) AS others,
    max(most) / count(*) - avg(gain) AS optimism
FROM chosen WHERE rank = 1 GROUP BY given{strategy} ORDER BY given{strategy};"
        )
    };
    format!("{}\n\n{}", among(""), among(", strategy"))
}

/// The axes as JSON without some of them.
fn without<'k>(keys: impl Iterator<Item = &'k str>) -> String {
    let paths: Vec<String> = keys.map(|key| format!("'$.\"{key}\"'")).collect();
    format!("json_remove(axes, {})", paths.join(", "))
}

pub(super) fn failures(configuration_hash: &str) -> String {
    format!(
        "SELECT strategy, axes, replication, identity, error FROM v_point
WHERE state = 'failed' AND run = {}
ORDER BY strategy, axes, replication;",
        this_run(configuration_hash)
    )
}

pub(super) fn missing(configuration_hash: &str) -> String {
    format!(
        "SELECT place, strategy, axes, replication, state FROM v_point
WHERE state IN ('pending', 'running') AND run = {}
ORDER BY place LIMIT 1000;",
        this_run(configuration_hash)
    )
}

pub(super) fn run(configuration_hash: &str) -> String {
    format!(
        "SELECT * FROM v_run WHERE run = {};",
        this_run(configuration_hash)
    )
}
