-- What it is worth to know at which hours nodes fail: gain and failed jobs of a battery less those of the planner that believes in one
-- rate, with 95 % intervals of Student's t over the 20 paired batteries; and how often jobs failed by how often they were promised to.
--   bookahead sql - --store STORE < configs/failures/rate.sql
WITH RECURSIVE point AS (
    SELECT r.name, p.run, p.place, p.strategy, p.axes ->> '$."scheduling.test_full_length"' AS full_length,
           CASE WHEN json_extract(p.axes, '$."reliability.hour_factors"[0]') > 1 THEN 'wrong'
                WHEN json_extract(p.axes, '$."reliability.hour_factors"[8]') > 1 THEN 'right' ELSE 'constant' END AS believed,
           p.replication, p.gain, p.failed
    FROM v_point p JOIN v_run r USING (run)
    WHERE r.name LIKE 'rate-%'
),
pair AS (
    SELECT a.name, a.strategy, a.full_length, a.believed, 'gain' AS quantity, a.gain - b.gain AS more, b.gain AS base
    FROM point a JOIN point b USING (name, strategy, full_length, replication) WHERE b.believed = 'constant'
    UNION ALL
    SELECT a.name, a.strategy, a.full_length, a.believed, 'failed', a.failed - b.failed, b.failed
    FROM point a JOIN point b USING (name, strategy, full_length, replication) WHERE b.believed = 'constant'
),
total AS (
    SELECT name, strategy, full_length, believed, quantity, count(*) AS n, avg(base) AS base, avg(more) AS more,
           (sum(more * more) - sum(more) * sum(more) / count(*)) / (count(*) - 1) / count(*) AS variance
    FROM pair GROUP BY 1, 2, 3, 4, 5
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT t.*, 0 AS step, variance + 1 AS root FROM total t
    UNION ALL
    SELECT name, strategy, full_length, believed, quantity, n, base, more, variance, step + 1, (root + max(variance, 0) / root) / 2
    FROM newton WHERE step < 80
)
SELECT name, strategy, full_length, believed, quantity, n, round(base, 1) AS base, round(more, 1) AS more,
       round(2.093 * root, 1) AS half_width
FROM newton WHERE step = 80 ORDER BY name, strategy, full_length, quantity, believed
