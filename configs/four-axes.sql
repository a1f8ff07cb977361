-- What each policy of the last run of four-axes earned at its best threshold, in every situation:
-- ρ, α and the number of clusters. `earned` is in VC a replication; `broken` is the share of
-- accepted jobs whose promise was broken, `overbooked` that of those that were overbooked; of
-- granted requests, `promised` is the mean probability of failure that was told, `lost` the share
-- that lost a part, `paid` the mean cost after penalties that were paid back, and `lead` the hours
-- from the request to its start; `refused` is the share of requests that were not granted.
--
--   bookahead sql --store data/bookahead.db --format csv - < configs/four-axes.sql
WITH quantity AS (
    SELECT axes ->> '$."acceptance.penalty_ratio"' AS penalty_ratio, axes ->> '$."requests.alpha"' AS alpha,
        axes ->> '$."clusters.count"' AS clusters, axes ->> '$."clusters.policy"' AS policy,
        axes ->> '$."acceptance.pof_max"' AS pof_max, measure, value
    FROM v_measure WHERE run = (SELECT max(run) FROM v_run WHERE name = 'four-axes')
),
setting AS (
    SELECT penalty_ratio, alpha, clusters, policy, pof_max,
        avg(value) FILTER (WHERE measure = 'grid_gain') AS earned,
        avg(value) FILTER (WHERE measure = 'grid_overbooked_rate') AS overbooked,
        avg(value) FILTER (WHERE measure = 'grid_broken_rate') AS broken,
        avg(value) FILTER (WHERE measure = 'co_failure_rate') AS refused,
        avg(value) FILTER (WHERE measure = 'co_pof_mean') AS promised,
        avg(value) FILTER (WHERE measure = 'co_lost_rate') AS lost,
        avg(value) FILTER (WHERE measure = 'co_realised_cost_mean') AS paid,
        avg(value) FILTER (WHERE measure = 'co_lead_hours') AS lead
    FROM quantity GROUP BY penalty_ratio, alpha, clusters, policy, pof_max
),
ranked AS (
    SELECT *, row_number() OVER (PARTITION BY penalty_ratio, alpha, clusters, policy ORDER BY earned DESC, pof_max) AS place
    FROM setting
)
SELECT penalty_ratio, alpha, clusters, policy, pof_max, round(earned) AS earned, round(overbooked, 4) AS overbooked,
    round(broken, 4) AS broken, round(refused, 4) AS refused, round(promised, 4) AS promised, round(lost, 4) AS lost,
    round(paid, 1) AS paid, round(lead, 2) AS lead
FROM ranked WHERE place = 1 ORDER BY penalty_ratio, alpha, clusters, policy;
