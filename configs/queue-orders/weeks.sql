-- Mean bounded slowdown of each order on the whole log, and how far it is from that of FCFS in the same queue, with a 95 % interval over weeks of
-- submission: the ratio estimator of the differences of weeks. Weeks behind each other are alike, so the intervals are rather too narrow.
--   bookahead sql - --store STORE < configs/queue-orders/weeks.sql
WITH RECURSIVE queue AS (
    SELECT DISTINCT r.name, p.simulation, p.axes ->> '$."queue.order"' AS ordered,
           coalesce(p.axes ->> '$."queue.backfill"', p.strategy) AS backfill, p.axes ->> '$."queue.predictor"' AS predictor
    FROM v_point p JOIN v_run r USING (run)
),
week AS (
    SELECT q.name, q.ordered, q.backfill, q.predictor, j.submit / 604800 AS week, count(*) AS jobs,
           sum(max(1.0, (j."end" - j.submit) * 1.0 / max(j."end" - j.start, 10))) AS slowdowns
    FROM queue q JOIN v_job j ON j.simulation = q.simulation
    WHERE j.start IS NOT NULL
    GROUP BY 1, 2, 3, 4, 5
),
pair AS (
    SELECT w.*, w.slowdowns - f.slowdowns AS more
    FROM week w JOIN week f USING (name, backfill, predictor, week)
    WHERE f.ordered = 'fcfs'
),
total AS (
    SELECT name, ordered, backfill, predictor, count(*) AS weeks, sum(jobs) AS jobs, sum(slowdowns) / sum(jobs) AS mean,
           sum(more) / sum(jobs) AS more, sum(more < 0) AS better
    FROM pair GROUP BY 1, 2, 3, 4
),
settled AS (
    SELECT t.*, sum((p.more - t.more * p.jobs) * (p.more - t.more * p.jobs)) * t.weeks / (t.weeks - 1) / t.jobs / t.jobs AS variance
    FROM total t JOIN pair p USING (name, ordered, backfill, predictor)
    GROUP BY t.name, t.ordered, t.backfill, t.predictor
),
-- The square root of the variance by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT name, ordered, backfill, predictor, variance, 0 AS step, variance + 1 AS root FROM settled
    UNION ALL
    SELECT name, ordered, backfill, predictor, variance, step + 1, (root + variance / root) / 2 FROM newton WHERE step < 80
)
SELECT s.name, s.backfill, s.predictor, s.ordered, s.weeks, round(s.mean, 1) AS bounded_slowdown, round(s.more, 1) AS against_fcfs,
       round(1.96 * n.root, 1) AS half_width, s.better AS weeks_better
FROM settled s JOIN newton n USING (name, ordered, backfill, predictor)
WHERE n.step = 80
ORDER BY s.name, s.backfill, s.predictor, bounded_slowdown;
