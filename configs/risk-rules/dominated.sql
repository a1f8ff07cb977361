-- For each log, strategy and penalty ratio of the last runs risk-rules-*: every setting of every rule with its mean gain and its mean
-- number of failed jobs a battery, and by how many settings of *other* rules it is dominated: with at least its gain and no more failed
-- jobs, by the 95 % intervals of paired differences over 20 batteries (Student's t with 19 degrees of freedom: 2.093), and more than
-- equal in one of the two.
--
--   bookahead sql --store data/risk-rules.db - < configs/risk-rules/dominated.sql
WITH runs AS (
    SELECT max(run) AS run FROM v_run WHERE name LIKE 'risk-rules-%' GROUP BY name
),
p AS MATERIALIZED (
    SELECT v.run, r.name AS log, v.strategy, v.penalty_ratio AS ratio, v.replication, v.gain, v.failed,
        v.axes ->> '$."acceptance.test"' AS rule,
        CASE v.axes ->> '$."acceptance.test"'
            WHEN 'pof' THEN v.axes ->> '$."acceptance.pof_max"'
            WHEN 'risk' THEN 'S = ' || (v.axes ->> '$."acceptance.security_factor"')
            WHEN 'mean-sigma' THEN 'N = ' || (v.axes ->> '$."acceptance.sigmas"')
            WHEN 'percentile' THEN (v.axes ->> '$."acceptance.percentile"') || ' %'
            ELSE 'N = ' || (v.axes ->> '$."acceptance.sigmas"') || ', ' || (v.axes ->> '$."acceptance.percentile"') || ' %'
        END AS setting
    FROM v_point v
    JOIN runs USING (run)
    JOIN v_run r USING (run)
    WHERE v.state = 'done' AND v.strategy IN ('comprehensive-overbooking', 'heuristic-overbooking', 'overbooking-2008')
),
pairs AS (
    SELECT a.run, a.log, a.strategy, a.ratio, a.rule, a.setting, b.rule AS other, b.setting AS other_setting, count(*) AS n,
        avg(b.gain - a.gain) AS gain,
        (avg((b.gain - a.gain) * (b.gain - a.gain)) - avg(b.gain - a.gain) * avg(b.gain - a.gain)) / (count(*) - 1) AS gain_error_squared,
        avg(b.failed - a.failed) AS failed,
        (avg((b.failed - a.failed) * (b.failed - a.failed)) - avg(b.failed - a.failed) * avg(b.failed - a.failed)) / (count(*) - 1)
            AS failed_error_squared
    FROM p a
    JOIN p b ON b.run = a.run AND b.strategy = a.strategy AND b.ratio = a.ratio AND b.replication = a.replication AND b.rule <> a.rule
    GROUP BY a.run, a.strategy, a.ratio, a.rule, a.setting, b.rule, b.setting
),
dominated AS (
    SELECT run, strategy, ratio, rule, setting, count(*) AS by_others, group_concat(DISTINCT other) AS rules
    FROM pairs
    -- 4.3807 is the square of 2.093: an interval does not reach 0 from above where the mean's square exceeds so many squared errors.
    WHERE gain >= -1e-6 AND gain * gain >= 4.3807 * gain_error_squared - 1e-9
        AND failed <= 1e-9 AND failed * failed >= 4.3807 * failed_error_squared - 1e-12
        AND (gain > 1e-6 OR failed < -1e-9)
    GROUP BY run, strategy, ratio, rule, setting
)
SELECT p.log, p.strategy, p.ratio, p.rule, p.setting, count(*) AS batteries, round(avg(p.gain)) AS gain, round(avg(p.failed), 1) AS failed,
    coalesce(d.by_others, 0) AS dominated_by, coalesce(d.rules, '') AS rules
FROM p
LEFT JOIN dominated d USING (run, strategy, ratio, rule, setting)
GROUP BY p.run, p.strategy, p.ratio, p.rule, p.setting
ORDER BY p.log, p.strategy, p.ratio, p.rule, p.setting;
