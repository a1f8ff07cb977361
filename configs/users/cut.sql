-- A cut by a share of what a user usually does not use (excess-*), against a cut of all promising estimates to x / (1 + maxPoF) (cut-*)
-- and against a share of every estimate, where both cut as much in the mean. The mean cut of a battery is that of its accepted jobs, so the
-- runs must keep outcomes. Gain and failed share of accepted jobs, own excess less the other in the same battery (2.093 times the root of a
-- variance is half of the 95 % interval). `rising` is 0 for a maxPoF beyond the one that cuts most. All pairs are printed; the page leaves
-- those out whose mean cuts differ by more than a tenth.
--   bookahead sql - --store STORE < configs/users/cut.sql
WITH cell AS MATERIALIZED (
    SELECT substr(r.name, instr(r.name, '-') + 1) AS log, p.replication, p.gain, 100.0 * p.failed / max(p.accepted, 1) AS failed,
        CASE WHEN r.name LIKE 'excess-%' THEN p.axes ->> '$."acceptance.shortening"'
            ELSE p.axes ->> '$."acceptance.promising"' END AS rule,
        coalesce(p.axes ->> '$."acceptance.shortening_share"', p.axes ->> '$."acceptance.pof_max"') AS much,
        (SELECT 100.0 * avg(1.0 - 1.0 * slot_length / estimate) FROM v_job j
            WHERE j.simulation = p.simulation AND j.outcome <> 'dropped') AS cut
    FROM v_point p JOIN run r ON r.id = p.run
    WHERE (r.name LIKE 'excess-%' OR r.name LIKE 'cut-%') AND p.run IN (SELECT max(id) FROM run GROUP BY name)
),
mean AS (
    SELECT log, rule, much, avg(cut) AS cut, row_number() OVER (PARTITION BY log, rule ORDER BY avg(cut) DESC) AS rank
    FROM cell GROUP BY log, rule, much
),
-- Which maxPoF cuts as much in the mean, among those up to the one that cuts most, and among the others.
nearest AS (
    SELECT o.log, o.much AS share, p.rule, p.much AS pof_max, o.cut, p.cut AS its_cut, p.much <= peak.much AS rising,
        row_number() OVER (PARTITION BY o.log, o.much, p.rule, p.much <= peak.much ORDER BY abs(p.cut - o.cut)) AS rank
    FROM mean o JOIN mean p USING (log) JOIN mean peak ON peak.log = p.log AND peak.rule = p.rule AND peak.rank = 1
    WHERE o.rule = 'own-excess' AND o.much > 0 AND p.rule <> 'own-excess' AND p.much > 0
),
pair AS (
    SELECT n.log, n.share, n.rule, n.rising, n.pof_max, n.cut, n.its_cut, p.gain AS its_gain, o.failed, p.failed AS its_failed,
        o.gain - p.gain AS more, o.failed - p.failed AS more_failed
    FROM nearest n
    JOIN cell o ON o.log = n.log AND o.rule = 'own-excess' AND o.much = n.share
    JOIN cell p ON p.log = n.log AND p.rule = n.rule AND p.much = n.pof_max AND p.replication = o.replication
    WHERE n.rank = 1
)
SELECT log, rule, rising, share, pof_max, avg(cut) AS cut, avg(its_cut) AS its_cut, count(*) AS n, avg(its_gain) AS gain, avg(more) AS more,
    (sum(more * more) - sum(more) * avg(more)) / (count(*) - 1) / count(*) AS variance, avg(failed) AS failed,
    avg(its_failed) AS its_failed, avg(more_failed) AS more_failed,
    (sum(more_failed * more_failed) - sum(more_failed) * avg(more_failed)) / (count(*) - 1) / count(*) AS failed_variance
FROM pair GROUP BY log, rule, rising, share ORDER BY log, rule, rising DESC, share;
