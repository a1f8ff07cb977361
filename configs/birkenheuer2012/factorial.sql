-- Of all combinations of the rules about node failures: how many lose within a point of what is printed for heuristic planning, the
-- least and the most that any loses, and, for each log, which combinations come within a point on it. The share lost is that of
-- all booked coins (fees and penalties at ratio 1) of the 20 batteries.
--   bookahead sql - --store STORE < configs/birkenheuer2012/factorial.sql
WITH printed (name, lost) AS (
    VALUES ('ablation-ctc-factorial', 8.4), ('ablation-hpc2n-factorial', 9.4), ('ablation-lanl-factorial', 27.0), ('ablation-sdsc-blue-factorial', 14.7), ('ablation-sdsc-sp2-factorial', 13.9)
),
combination AS (
    SELECT r.name, p.axes, 100.0 * sum(p.forfeited) / sum(p.booked) AS lost
    FROM v_point p JOIN v_run r USING (run)
    WHERE r.name IN (SELECT name FROM printed) AND p.state = 'done'
    GROUP BY r.name, p.axes
)
SELECT c.name, w.lost AS printed, count(*) AS combinations, sum(abs(c.lost - w.lost) <= 1.0) AS within_a_point,
       round(min(c.lost), 1) AS least, round(max(c.lost), 1) AS most,
       round(min(abs(c.lost - w.lost)), 2) AS nearest
FROM combination c JOIN printed w USING (name)
GROUP BY c.name ORDER BY c.name
