-- What merging classes of users changes, paired over batteries: against no merging at all, the mean
-- difference in gain in percent of the mean gain without it, its variance in VC (2.093 times its
-- root is half of the 95 % interval: t of 19 degrees of freedom), and the percent of accepted jobs
-- that failed, without merging and with it.
--   bookahead sql - --store STORE < configs/merging/paired.sql
WITH cell AS MATERIALIZED (
    SELECT r.name, p.strategy, p.replication, p.gain,
           100.0 * p.failed / max(p.accepted, 1) AS failed,
           p.axes ->> '$."acceptance.pof_max"' AS pof_max,
           p.axes ->> '$."estimates.merge_distance"' AS distance
    FROM v_point p JOIN run r ON r.id = p.run
    WHERE r.name LIKE 'merged-%' AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
pair AS (
    SELECT a.*, b.gain AS base, a.gain - b.gain AS more, b.failed AS base_failed
    FROM cell a JOIN cell b USING (name, strategy, replication, pof_max)
    WHERE b.distance = 0 AND a.distance > 0
)
SELECT name, strategy, pof_max, distance, count(*) AS n, avg(base) AS gain,
       100 * avg(more) / avg(base) AS percent,
       (sum(more * more) - sum(more) * sum(more) / count(*)) / (count(*) - 1) / count(*)
           AS variance,
       avg(base_failed) AS failed_without, avg(failed) AS failed
FROM pair GROUP BY name, strategy, pof_max, distance ORDER BY name, strategy, pof_max, distance
