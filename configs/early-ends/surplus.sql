-- What heuristic overbooking earns beyond heuristic planning, for each experiment, rate of early ends and threshold: batteries, the gain of
-- planning, the mean paired difference and its share of that gain in percent, the variance of this mean (2.093 times its root is half
-- of the 95 % interval: t of 19 degrees of freedom), in how many batteries the two differ at all, and the accepted jobs of overbooking
-- that failed, in percent; and by how much the surplus differs from that of the same batteries without early ends (change), with the
-- variance of that mean.
WITH arm AS MATERIALIZED (
    SELECT r.name AS experiment, p.strategy, p.replication, p.gain, 100.0 * p.failed / max(p.accepted, 1) AS failed,
        coalesce(p.axes ->> '$."workload.no_show_percent"', p.axes ->> '$."workload.crashes_per_hour"') AS rate,
        p.axes ->> '$."acceptance.pof_max"' AS threshold
    FROM v_point p JOIN run r ON r.id = p.run
    WHERE (r.name LIKE 'no-shows-%' OR r.name LIKE 'crashes-%') AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
pairs AS (
    SELECT experiment, rate, threshold, replication, planning.gain AS planning, more.gain - planning.gain AS surplus, more.failed
    FROM arm planning JOIN arm more USING (experiment, rate, threshold, replication)
    WHERE planning.strategy = 'heuristic-planning' AND more.strategy = 'heuristic-overbooking'
)
SELECT p.experiment, p.threshold, p.rate, count(*) AS n, avg(p.planning) AS planning, avg(p.surplus) AS surplus,
    100 * avg(p.surplus) / avg(p.planning) AS percent,
    (sum(p.surplus * p.surplus) - sum(p.surplus) * sum(p.surplus) / count(*)) / (count(*) - 1) / count(*) AS variance,
    sum(p.surplus <> 0) AS differing, avg(p.failed) AS failed, avg(p.surplus - q.surplus) AS change,
    (sum((p.surplus - q.surplus) * (p.surplus - q.surplus)) - sum(p.surplus - q.surplus) * sum(p.surplus - q.surplus) / count(*))
        / (count(*) - 1) / count(*) AS change_variance
FROM pairs p JOIN pairs q USING (experiment, threshold, replication) WHERE q.rate = 0
GROUP BY p.experiment, p.threshold, p.rate ORDER BY p.experiment, p.threshold, p.rate
