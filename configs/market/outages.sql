-- Measures where clusters fail as a whole, and how they differ from those of the same batteries where jobs save nothing, with a 95 % interval of
-- Student's t over paired batteries (20 of one log behind each other: they are alike, so it is rather too narrow).
--   bookahead sql - --store STORE < configs/market/outages.sql
WITH RECURSIVE point AS (
    SELECT run, place, replication, failed, axes ->> '$."grid_failures.cluster_mtbf_days"' AS mtbf_days,
           (axes ->> '$."checkpoint.interval"') || ', ' || (axes ->> '$."market.migration"') || ', '
               || (axes ->> '$."market.checkpoint_storage"') AS arm
    FROM v_point WHERE run = (SELECT max(id) FROM run WHERE name = 'market-ctc-outages')
),
cell AS (
    SELECT replication, mtbf_days, arm, 'failed' AS measure, failed AS value FROM point
    UNION ALL
    SELECT p.replication, p.mtbf_days, p.arm, m.measure, m.value FROM point p JOIN v_measure m USING (run, place)
    WHERE m.measure IN ('market_provider_gain_percent', 'market_customer_gain_percent', 'market_delegated_percent', 'market_kept_percent',
                        'market_moves', 'market_moved_kept_percent')
),
pair AS (
    SELECT a.*, a.value - b.value AS more
    FROM cell a LEFT JOIN cell b
      ON b.arm = 'none, none, remote' AND b.mtbf_days = a.mtbf_days AND b.measure = a.measure AND b.replication = a.replication
),
total AS (
    SELECT mtbf_days, arm, measure, count(*) AS n, avg(value) AS mean, avg(more) AS more
    FROM pair GROUP BY 1, 2, 3
),
spread AS (
    SELECT t.*, sum((p.more - t.more) * (p.more - t.more)) / (t.n - 1) / t.n AS variance
    FROM total t JOIN pair p USING (mtbf_days, arm, measure)
    GROUP BY t.mtbf_days, t.arm, t.measure
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT s.*, 0 AS step, variance + 1 AS root FROM spread s
    UNION ALL
    SELECT mtbf_days, arm, measure, n, mean, more, variance, step + 1, (root + variance / root) / 2
    FROM newton WHERE step < 80
)
SELECT mtbf_days, arm, measure, n, round(mean, 1) AS mean, round(more, 1) AS more, round(2.093 * root, 1) AS half_width
FROM newton WHERE step = 80
ORDER BY mtbf_days, arm, measure
