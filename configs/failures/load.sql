-- What it is worth to know that busy machines fail more: gain and failed jobs of a battery less those of the planner that believes in
-- one rate, and of the right belief less the wrong one, with 95 % intervals of Student's t over the 20 paired batteries.
--   bookahead sql - --store STORE < configs/failures/load.sql
WITH RECURSIVE point AS (
    SELECT r.name, p.run, p.place, p.strategy, p.axes ->> '$."scheduling.test_full_length"' AS full_length,
           CASE p.axes ->> '$."reliability.load_factor"' WHEN 0.0 THEN 'constant' WHEN 1.0 THEN 'right' ELSE 'wrong' END AS believed,
           p.replication, p.gain, p.failed
    FROM v_point p JOIN v_run r USING (run)
    WHERE r.name LIKE 'load-%'
),
quantity AS (
    SELECT *, 'gain' AS quantity, 1.0 * gain AS value FROM point
    UNION ALL SELECT *, 'failed', 1.0 * failed FROM point
),
pair AS (
    SELECT a.name, a.strategy, a.full_length, a.believed || ' less ' || b.believed AS believed, a.quantity, a.value - b.value AS more,
           b.value AS base
    FROM quantity a JOIN quantity b USING (name, strategy, full_length, replication, quantity)
    WHERE b.believed = 'constant' AND a.believed <> 'constant' OR a.believed = 'right' AND b.believed = 'wrong'
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
