-- What is earned more than by a plan in which every job is promised its slot and none is overbooked, in percent of its gain, with a
-- 95 % interval of Student's t over paired batteries (20 of one log behind each other: they are alike, so it is rather too narrow).
-- A used node-hour of a job without a promise costs nothing, 0.5 or 1 VC; a booked one of the others costs 1 VC.
--   bookahead sql - --store STORE < configs/best-effort/gain.sql
WITH RECURSIVE cell AS (
    SELECT r.name, p.replication, p.strategy, p.axes ->> '$."acceptance.pof_max"' AS pof_max,
           p.axes ->> '$."best_effort.share_percent"' AS share, p.axes ->> '$."best_effort.when_stopped"' AS when_stopped,
           p.axes ->> '$."best_effort.start"' AS started, p.failed_overbooked, p.gain, h.value AS node_hours, f.value AS fees
    FROM v_point p JOIN v_run r USING (run)
    LEFT JOIN v_measure h ON h.run = p.run AND h.place = p.place AND h.measure = 'best_effort_node_hours'
    LEFT JOIN v_measure f ON f.run = p.run AND f.place = p.place AND f.measure = 'best_effort_fees_vc'
),
priced AS (
    SELECT c.*, 0.0 AS price, gain - coalesce(fees, 0) AS earned FROM cell c
    UNION ALL SELECT c.*, 0.5, gain - coalesce(fees, 0) + 0.5 * coalesce(node_hours, 0) FROM cell c
    UNION ALL SELECT c.*, 1.0, gain - coalesce(fees, 0) + coalesce(node_hours, 0) FROM cell c
),
pair AS (
    SELECT a.*, a.earned - b.gain AS more, b.gain AS planned
    FROM priced a JOIN cell b USING (name, replication)
    WHERE b.strategy = 'heuristic-planning' AND b.share = 0 AND (a.strategy <> b.strategy OR a.share <> 0)
),
total AS (
    SELECT name, strategy, pof_max, share, when_stopped, started, price, count(*) AS n, avg(more) AS more, avg(planned) AS planned,
           sum(more > 0) AS better, avg(failed_overbooked) AS broken
    FROM pair GROUP BY 1, 2, 3, 4, 5, 6, 7
),
spread AS (
    SELECT t.*, sum((p.more - t.more) * (p.more - t.more)) / (t.n - 1) / t.n AS variance
    FROM total t JOIN pair p USING (name, strategy, pof_max, share, when_stopped, started, price)
    GROUP BY t.name, t.strategy, t.pof_max, t.share, t.when_stopped, t.started, t.price
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT s.*, 0 AS step, variance + 1 AS root FROM spread s
    UNION ALL
    SELECT name, strategy, pof_max, share, when_stopped, started, price, n, more, planned, better, broken, variance, step + 1,
           (root + variance / root) / 2
    FROM newton WHERE step < 80
)
SELECT name, strategy, pof_max, share, when_stopped, started, price, round(100.0 * more / planned, 1) AS surplus_percent,
       round(100.0 * 2.093 * root / planned, 1) AS half_width, better, n, round(broken, 1) AS broken_promises
FROM newton WHERE step = 80 AND (strategy = 'heuristic-planning' OR price = 1.0)
ORDER BY name, strategy DESC, price, started, when_stopped, share, pof_max
