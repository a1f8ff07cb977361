-- What it is worth to run risky jobs twice: gain, failed and accepted jobs of a battery less those of the planner that runs each job
-- once, with 95 % intervals of Student's t over the 20 paired batteries.
--   bookahead sql - --store STORE < configs/double-execution/paired.sql
WITH RECURSIVE point AS (
    SELECT r.name, p.strategy, p.axes ->> '$."acceptance.penalty_ratio"' AS ratio,
           p.axes ->> '$."scheduling.double_execution"' AS double, p.axes ->> '$."scheduling.node_hour_price"' AS price,
           p.replication, p.gain, p.failed, p.accepted
    FROM v_point p JOIN v_run r USING (run)
    WHERE r.name LIKE 'double-%' AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
quantity AS (
    SELECT *, 'gain' AS quantity, 1.0 * gain AS value FROM point
    UNION ALL SELECT *, 'failed', 1.0 * failed FROM point
    UNION ALL SELECT *, 'accepted', 1.0 * accepted FROM point
),
pair AS (
    SELECT a.name, a.strategy, a.ratio, a.price, a.quantity, a.value - b.value AS more, b.value AS base
    FROM quantity a JOIN quantity b USING (name, strategy, ratio, price, replication, quantity)
    WHERE a.double AND NOT b.double
),
total AS (
    SELECT name, strategy, ratio, price, quantity, count(*) AS n, avg(base) AS base, avg(more) AS more,
           (sum(more * more) - sum(more) * sum(more) / count(*)) / (count(*) - 1) / count(*) AS variance
    FROM pair GROUP BY 1, 2, 3, 4, 5
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT t.*, 0 AS step, variance + 1 AS root FROM total t
    UNION ALL
    SELECT name, strategy, ratio, price, quantity, n, base, more, variance, step + 1, (root + max(variance, 0) / root) / 2
    FROM newton WHERE step < 80
)
SELECT name, strategy, ratio, price, quantity, n, round(base, 1) AS base, round(more, 1) AS more, round(2.093 * root, 1) AS half_width
FROM newton WHERE step = 80 ORDER BY name, strategy, ratio, price, quantity
