-- What it is worth to let jobs pass the first of a queue at a risk: given-up jobs, gain, mean wait (hours) and slowdown of a battery less
-- those at risk 0, with 95 % intervals of Student's t over the 20 paired batteries.
--   bookahead sql - --store STORE < configs/backfill-risk/paired.sql
WITH RECURSIVE point AS (
    SELECT r.name, p.axes ->> '$."workload.load.value"' AS load, p.axes ->> '$."workload.laxity"' AS laxity,
           p.axes ->> '$."scheduling.backfill_risk"' AS risk, p.replication, p.gain, p.failed, p.mean_wait / 3600.0 AS wait, p.slowdown
    FROM v_point p JOIN v_run r USING (run)
    WHERE r.name LIKE 'backfill-risk-%' AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
quantity AS (
    SELECT *, 'gain' AS quantity, 1.0 * gain AS value FROM point
    UNION ALL SELECT *, 'failed', 1.0 * failed FROM point
    UNION ALL SELECT *, 'slowdown', slowdown FROM point
    UNION ALL SELECT *, 'wait', wait FROM point
),
pair AS (
    SELECT a.name, a.load, a.laxity, a.risk, a.quantity, a.value - b.value AS more, b.value AS base
    FROM quantity a JOIN quantity b USING (name, load, laxity, replication, quantity)
    WHERE a.risk > 0 AND b.risk = 0
),
total AS (
    SELECT name, load, laxity, risk, quantity, count(*) AS n, avg(base) AS base, avg(more) AS more,
           (sum(more * more) - sum(more) * sum(more) / count(*)) / (count(*) - 1) / count(*) AS variance
    FROM pair GROUP BY 1, 2, 3, 4, 5
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT t.*, 0 AS step, variance + 1 AS root FROM total t
    UNION ALL
    SELECT name, load, laxity, risk, quantity, n, base, more, variance, step + 1, (root + max(variance, 0) / root) / 2
    FROM newton WHERE step < 80
)
SELECT name, load, laxity, risk, quantity, n, round(base, 4) AS base, round(more, 4) AS more, round(2.093 * root, 4) AS half_width
FROM newton WHERE step = 80 ORDER BY name, load, laxity, risk, quantity
