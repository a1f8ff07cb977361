-- How well one run ranks triples: Spearman's correlation of the mean bounded slowdowns of each two
-- replications of the last run of sdsc-sp2-grid-shaken, whose submissions were moved by other
-- seconds; and their mean, `without` each replication for the jackknife.
--
--   bookahead sql --store data/bookahead.db - < configs/gaussier2015/single-runs.sql
WITH value AS (
    SELECT replication, axes, value FROM v_measure
    WHERE run = (SELECT max(run) FROM v_run WHERE name = 'sdsc-sp2-grid-shaken') AND measure = 'bounded_slowdown'
),
ranked AS (
    SELECT replication, axes, rank() OVER (PARTITION BY replication ORDER BY value)
        + (count(*) OVER (PARTITION BY replication, value) - 1) / 2.0 AS place
    FROM value
),
pair AS (
    SELECT a.replication AS one, b.replication AS other, count(*) AS triples,
        (avg(a.place * b.place) - avg(a.place) * avg(b.place))
            / sqrt((avg(a.place * a.place) - avg(a.place) * avg(a.place)) * (avg(b.place * b.place) - avg(b.place) * avg(b.place)))
            AS correlation
    FROM ranked a JOIN ranked b ON a.axes = b.axes AND a.replication < b.replication
    GROUP BY one, other
)
SELECT one, other, triples, round(correlation, 3) AS correlation FROM pair
UNION ALL
SELECT NULL, NULL, count(*), round(avg(correlation), 4) FROM pair
UNION ALL
SELECT 'without', replication, count(*), round(avg(correlation), 4)
FROM pair, (SELECT DISTINCT replication FROM value) WHERE one <> replication AND other <> replication GROUP BY replication;
