-- Mean bounded slowdown of plans over all jobs that started.
--   bookahead sql - --store STORE < configs/queue-orders/plans.sql
SELECT r.name, p.strategy, count(*) AS jobs, p.submitted - count(*) AS not_started,
       round(avg(max(1.0, (j."end" - j.submit) * 1.0 / max(j."end" - j.start, 10))), 1) AS bounded_slowdown
FROM v_point p JOIN v_run r USING (run) JOIN v_job j USING (simulation)
WHERE j.start IS NOT NULL AND r.name LIKE 'queue-orders-%-plans'
GROUP BY r.name, p.strategy
ORDER BY r.name, p.strategy;
