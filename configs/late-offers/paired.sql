-- What customers who refuse late ends change: gain, accepted, overbooked and failed jobs of a battery less those with customers who take
-- everything ("refusal"); and what overbooking earns beyond the plan that it is based on, with customers of either kind ("surplus, ..."),
-- and how much less that is where they refuse ("surplus lost"). 95 % intervals of Student's t over the 20 paired batteries.
--   bookahead sql - --store STORE < configs/late-offers/paired.sql
WITH RECURSIVE point AS (
    SELECT r.name, p.strategy, p.axes ->> '$."client.refuses_late_offers"' AS refuses, p.replication, p.gain, p.failed, p.accepted, p.overbooked
    FROM v_point p JOIN v_run r USING (run)
    WHERE r.name LIKE 'late-offers-%' AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
quantity AS (
    SELECT name, strategy, refuses, replication, 'gain' AS quantity, 1.0 * gain AS value FROM point
    UNION ALL SELECT name, strategy, refuses, replication, 'accepted', 1.0 * accepted FROM point
    UNION ALL SELECT name, strategy, refuses, replication, 'overbooked', 1.0 * overbooked FROM point
    UNION ALL SELECT name, strategy, refuses, replication, 'failed', 1.0 * failed FROM point
),
surplus AS (
    SELECT a.name, a.strategy, a.refuses, a.replication, a.quantity, a.value - b.value AS more, b.value AS base
    FROM quantity a JOIN quantity b USING (name, refuses, replication, quantity)
    WHERE (a.strategy = 'comprehensive-overbooking' AND b.strategy = 'conservative-backfilling')
       OR (a.strategy = 'heuristic-overbooking' AND b.strategy = 'heuristic-planning')
),
pair AS (
    SELECT a.name, 'refusal' AS what, a.strategy, a.quantity, a.value - b.value AS more, b.value AS base
    FROM quantity a JOIN quantity b USING (name, strategy, replication, quantity)
    WHERE a.refuses AND NOT b.refuses
    UNION ALL
    SELECT name, iif(refuses, 'surplus, customers refuse', 'surplus, customers take'), strategy, quantity, more, base FROM surplus
    UNION ALL
    SELECT a.name, 'surplus lost', a.strategy, a.quantity, a.more - b.more, b.more
    FROM surplus a JOIN surplus b USING (name, strategy, replication, quantity)
    WHERE a.refuses AND NOT b.refuses
),
total AS (
    SELECT name, what, strategy, quantity, count(*) AS n, avg(base) AS base, avg(more) AS more,
           (sum(more * more) - sum(more) * sum(more) / count(*)) / (count(*) - 1) / count(*) AS variance
    FROM pair GROUP BY 1, 2, 3, 4
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT t.*, 0 AS step, variance + 1 AS root FROM total t
    UNION ALL
    SELECT name, what, strategy, quantity, n, base, more, variance, step + 1, (root + max(variance, 0) / root) / 2
    FROM newton WHERE step < 80
)
SELECT name, what, strategy, quantity, n, round(base, 2) AS base, round(more, 2) AS more, round(2.093 * root, 2) AS half_width
FROM newton WHERE step = 80 ORDER BY name, what, strategy, quantity
