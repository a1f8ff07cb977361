-- What a rule about users changes, paired over batteries: users who estimate accurately left out against all overbooked (accurate-*),
-- estimates cut by a share against not cut at all (excess-*), and more time for underestimators against none (underestimators-*). The mean difference in gain in percent of the mean gain without the rule, its
-- variance in VC (2.093 times its root is half of the 95 % interval: t of 19 degrees of freedom), and per cent of accepted jobs that failed.
--   bookahead sql - --store STORE < configs/users/paired.sql
WITH cell AS MATERIALIZED (
    SELECT r.name, p.strategy, p.replication, p.gain, 100.0 * p.failed / max(p.accepted, 1) AS failed, p.accepted,
           p.axes ->> '$."acceptance.pof_max"' AS pof_max,
           coalesce(p.axes ->> '$."acceptance.accurate_users"', p.axes ->> '$."acceptance.shortening"',
               p.axes ->> '$."acceptance.underestimators"') AS rule,
           p.axes ->> '$."acceptance.shortening_share"' AS share
    FROM v_point p JOIN run r ON r.id = p.run
    WHERE (r.name LIKE 'accurate-%' OR r.name LIKE 'excess-%' OR r.name LIKE 'underestimators-%') AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
pair AS (
    SELECT a.*, b.gain AS base, a.gain - b.gain AS more, b.failed AS base_failed, b.accepted AS base_accepted
    FROM cell a JOIN cell b USING (name, strategy, replication)
    WHERE a.pof_max IS b.pof_max AND ((a.rule = 'not-overbooked' AND b.rule = 'as-others')
        OR (a.rule = 'more-time' AND b.rule = 'as-estimated') OR (b.rule = a.rule AND b.share = 0 AND a.share > 0))
)
SELECT name, strategy, pof_max, rule, share, count(*) AS n, avg(base) AS gain, 100 * avg(more) / avg(base) AS percent,
       (sum(more * more) - sum(more) * sum(more) / count(*)) / (count(*) - 1) / count(*) AS variance, sum(more <> 0) AS differing,
       avg(base_failed) AS failed_without, avg(failed) AS failed, avg(base_accepted) AS accepted_without, avg(accepted) AS accepted
FROM pair GROUP BY name, strategy, pof_max, rule, share ORDER BY name, strategy, pof_max, rule, share
