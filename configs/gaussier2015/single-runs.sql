-- How well one run ranks triples: of each two replications of the last run of sdsc-sp2-grid-shaken,
-- whose submissions were moved by other seconds, the covariance of the ranks of their mean bounded
-- slowdowns and the variances of both. Spearman's correlation is the covariance divided by the root
-- of the product of the variances.
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
)
SELECT a.replication AS one, b.replication AS other, count(*) AS triples,
    avg(a.place * b.place) - avg(a.place) * avg(b.place) AS covariance,
    avg(a.place * a.place) - avg(a.place) * avg(a.place) AS variance_of_one,
    avg(b.place * b.place) - avg(b.place) * avg(b.place) AS variance_of_other
FROM ranked a JOIN ranked b ON a.axes = b.axes AND a.replication < b.replication
GROUP BY one, other ORDER BY one, other;
