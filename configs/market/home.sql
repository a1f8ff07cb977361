-- Measures of jobs with a home, and how they differ from those of the same batteries where jobs may not leave it, with a 95 % interval of
-- Student's t over paired batteries (20 of one log behind each other: they are alike, so it is rather too narrow).
--   bookahead sql - --store STORE < configs/market/home.sql
WITH RECURSIVE cell AS (
    SELECT p.replication,
           p.axes ->> '$."clusters.policy"' AS policy,
           p.axes ->> '$."market.first_home_percent"' AS first_percent,
           CASE WHEN p.axes ->> '$."market.home"' = 'none' THEN 'none'
                WHEN p.axes ->> '$."market.list_below_percent"' = 0 THEN 'later'
                ELSE p.axes ->> '$."market.overflow"' END AS overflow,
           m.measure, m.value
    FROM v_point p JOIN v_measure m ON m.run = p.run AND m.place = p.place
    WHERE p.run = (SELECT max(id) FROM run WHERE name = 'market-ctc-home')
      AND m.measure IN ('market_provider_gain_percent', 'market_customer_gain_percent', 'market_delegated_percent', 'market_kept_percent',
                        'market_away_percent', 'market_most_loaded_kept_percent', 'market_least_loaded_kept_percent',
                        'market_most_loaded_refused_percent', 'market_least_loaded_refused_percent', 'market_listed_percent',
                        'market_list_taken_percent', 'market_list_hours')
),
pair AS (
    SELECT a.*, a.value - b.value AS more
    FROM cell a LEFT JOIN cell b
      ON b.overflow = 'stay' AND b.policy = a.policy AND b.first_percent = a.first_percent AND b.measure = a.measure AND b.replication = a.replication
),
total AS (
    SELECT policy, first_percent, overflow, measure, count(*) AS n, avg(value) AS mean, avg(more) AS more
    FROM pair GROUP BY 1, 2, 3, 4
),
spread AS (
    SELECT t.*, sum((p.more - t.more) * (p.more - t.more)) / (t.n - 1) / t.n AS variance
    FROM total t JOIN pair p USING (policy, first_percent, overflow, measure)
    GROUP BY t.policy, t.first_percent, t.overflow, t.measure
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT s.*, 0 AS step, variance + 1 AS root FROM spread s
    UNION ALL
    SELECT policy, first_percent, overflow, measure, n, mean, more, variance, step + 1, (root + variance / root) / 2
    FROM newton WHERE step < 80
)
SELECT policy, first_percent, overflow, measure, n, round(mean, 1) AS mean, round(more, 1) AS more, round(2.093 * root, 1) AS half_width
FROM newton WHERE step = 80
ORDER BY policy, first_percent, overflow, measure
