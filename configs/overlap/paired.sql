-- What it is worth to plan jobs on top of their predecessors: gain, accepted and failed jobs of a battery less those of the planner that
-- does not, with 95 % intervals of Student's t over the 20 paired batteries.
--   bookahead sql - --store STORE < configs/overlap/paired.sql
WITH RECURSIVE point AS (
    SELECT r.name, p.replication, p.axes ->> '$."acceptance.pof_max"' AS pof_max,
           p.axes ->> '$."scheduling.hold_for_overbooked"' AS held, p.axes ->> '$."scheduling.overlap"' AS overlap,
           p.gain, p.accepted, p.failed
    FROM v_point p JOIN v_run r USING (run)
    WHERE r.name LIKE 'overlap-%' AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
quantity AS (
    SELECT *, 'gain' AS quantity, 1.0 * gain AS value FROM point
    UNION ALL SELECT *, 'accepted', 1.0 * accepted FROM point
    UNION ALL SELECT *, 'failed', 1.0 * failed FROM point
),
pair AS (
    SELECT a.name, a.pof_max, a.held, a.quantity, a.value - b.value AS more, b.value AS base
    FROM quantity a JOIN quantity b USING (name, pof_max, held, replication, quantity)
    WHERE a.overlap = 'predecessors' AND b.overlap = 'none'
),
total AS (
    SELECT name, pof_max, held, quantity, count(*) AS n, sum(more <> 0) AS differing, avg(base) AS base, avg(more) AS more,
           (sum(more * more) - sum(more) * sum(more) / count(*)) / (count(*) - 1) / count(*) AS variance
    FROM pair GROUP BY name, pof_max, held, quantity
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT t.*, 0 AS step, variance + 1 AS root FROM total t
    UNION ALL
    SELECT name, pof_max, held, quantity, n, differing, base, more, variance, step + 1, (root + max(variance, 0) / root) / 2
    FROM newton WHERE step < 80
)
SELECT name, held, pof_max, quantity, n, differing, round(base, 1) AS base, round(more, 1) AS more, round(2.093 * root, 1) AS half_width
FROM newton WHERE step = 80 ORDER BY name, held, pof_max, quantity
