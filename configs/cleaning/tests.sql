-- What dropping jobs that only test the machine changes, by strategy and rule: means over 20 batteries with 95 % intervals of Student's t
-- (19 degrees of freedom), and overbooked jobs of one node with the risks that they were promised.
--   bookahead sql - --store STORE < configs/cleaning/tests.sql
WITH RECURSIVE point AS (
    SELECT p.simulation, p.strategy, p.gain, p.accepted, p.failed,
           CASE WHEN p.axes ->> '$."workload.cleaning.drop_test_jobs"' = 0 THEN 'none'
                WHEN p.axes ->> '$."workload.cleaning.test_job_estimate_seconds"' = 600 THEN 'of 600 s' ELSE 'of any estimate' END AS dropped
    FROM v_point p JOIN run r ON r.id = p.run
    WHERE r.name LIKE 'tests-%' AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
of_one AS (
    SELECT p.strategy, p.dropped, count(*) AS jobs, round(100 * avg(j.pof), 1) AS promised, round(100 * avg(j.outcome = 'failed'), 1) AS broken
    FROM point p JOIN v_job j USING (simulation) WHERE j.nodes = 1 AND j.overbooked = 1 GROUP BY 1, 2
),
total AS (
    SELECT strategy, dropped, count(*) AS n, avg(gain) AS gain, avg(accepted) AS accepted, avg(failed) AS failed,
           (sum(gain * gain) - sum(gain) * sum(gain) / count(*)) / (count(*) - 1) / count(*) AS variance
    FROM point GROUP BY 1, 2
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT t.*, 0 AS step, variance + 1 AS root FROM total t
    UNION ALL
    SELECT strategy, dropped, n, gain, accepted, failed, variance, step + 1, (root + max(variance, 0) / root) / 2
    FROM newton WHERE step < 80
)
SELECT n.strategy, n.dropped, n.n, round(gain, 0) AS gain, round(2.093 * root, 0) AS half_width, round(accepted, 1) AS accepted,
       round(failed, 1) AS failed, coalesce(o.jobs, 0) AS of_one_node, o.promised, o.broken
FROM newton n LEFT JOIN of_one o USING (strategy, dropped) WHERE step = 80 ORDER BY n.strategy, n.dropped
