-- What it changes that users ask for more time while their jobs run, paired over batteries: with p per cent asking against nobody. Means
-- of a battery, the mean differences, and their variances (2.093 times the root is half of the 95 % interval: t of 19 degrees of freedom).
--   bookahead sql - --store STORE < configs/longer-estimates/paired.sql
WITH cell AS MATERIALIZED (
    SELECT r.name, p.strategy, p.replication, p.gain, p.accepted, p.failed, p.utilisation * 100 AS used,
           p.axes ->> '$."client.lengthen_percent"' AS share, p.axes ->> '$."client.lengthen_before_minutes"' AS before,
           (SELECT value FROM v_measure m WHERE m.run = p.run AND m.place = p.place AND m.measure = 'longer_asked') AS asked,
           (SELECT value FROM v_measure m WHERE m.run = p.run AND m.place = p.place AND m.measure = 'longer_in_full_percent') AS in_full,
           (SELECT value FROM v_measure m WHERE m.run = p.run AND m.place = p.place AND m.measure = 'longer_in_part_percent') AS in_part,
           (SELECT value FROM v_measure m WHERE m.run = p.run AND m.place = p.place AND m.measure = 'longer_granted_node_hours') AS granted
    FROM v_point p JOIN run r ON r.id = p.run
    WHERE r.name LIKE 'longer-estimates-%' AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
pair AS (
    SELECT a.*, b.gain AS base, a.gain - b.gain AS more_gain, a.accepted - b.accepted AS more_accepted, a.failed - b.failed AS more_failed,
           b.accepted AS base_accepted, b.failed AS base_failed
    FROM cell a JOIN cell b USING (name, strategy, replication, before)
    WHERE a.share > 0 AND b.share = 0
)
SELECT name, strategy, share, before, count(*) AS n, avg(asked) AS asked, sum(in_full * asked) / sum(asked) AS in_full,
       sum(in_part * asked) / sum(asked) AS in_part, avg(granted) AS granted, avg(base) AS base, avg(base_accepted) AS base_accepted,
       avg(base_failed) AS base_failed,
       avg(more_gain) AS gain, (avg(more_gain * more_gain) - avg(more_gain) * avg(more_gain)) / (count(*) - 1) AS gain_variance,
       avg(more_accepted) AS accepted,
       (avg(more_accepted * more_accepted) - avg(more_accepted) * avg(more_accepted)) / (count(*) - 1) AS accepted_variance,
       avg(more_failed) AS failed, (avg(more_failed * more_failed) - avg(more_failed) * avg(more_failed)) / (count(*) - 1) AS failed_variance
FROM pair GROUP BY name, strategy, share, before ORDER BY name, strategy, share, before
