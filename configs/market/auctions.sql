-- Measures of tenders and auctions, and how they differ from those of the same batteries and policy at posted prices, with a 95 % interval of
-- Student's t over paired batteries (20 of one log behind each other: they are alike, so it is rather too narrow).
--   bookahead sql - --store STORE < configs/market/auctions.sql
WITH RECURSIVE cell AS (
    SELECT p.replication,
           p.axes ->> '$."clusters.policy"' AS policy,
           p.axes ->> '$."market.mechanism"' AS mechanism,
           m.measure, m.value
    FROM v_point p JOIN v_measure m ON m.run = p.run AND m.place = p.place
    WHERE p.run = (SELECT max(id) FROM run WHERE name = 'market-ctc-auctions')
      AND m.measure IN ('market_provider_gain_percent', 'market_customer_gain_percent', 'market_delegated_percent', 'market_kept_percent',
                        'market_agreed_price_percent', 'market_jain_percent')
),
pair AS (
    SELECT a.*, a.value - b.value AS more
    FROM cell a LEFT JOIN cell b
      ON b.mechanism = 'posted' AND b.policy = a.policy AND b.measure = a.measure AND b.replication = a.replication
),
total AS (
    SELECT policy, mechanism, measure, count(*) AS n, avg(value) AS mean, avg(more) AS more
    FROM pair GROUP BY 1, 2, 3
),
spread AS (
    SELECT t.*, sum((p.more - t.more) * (p.more - t.more)) / (t.n - 1) / t.n AS variance
    FROM total t JOIN pair p USING (policy, mechanism, measure)
    GROUP BY t.policy, t.mechanism, t.measure
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT s.*, 0 AS step, variance + 1 AS root FROM spread s
    UNION ALL
    SELECT policy, mechanism, measure, n, mean, more, variance, step + 1, (root + variance / root) / 2
    FROM newton WHERE step < 80
)
SELECT policy, mechanism, measure, n, round(mean, 1) AS mean, round(more, 1) AS more, round(2.093 * root, 1) AS half_width
FROM newton WHERE step = 80
ORDER BY policy, mechanism, measure
