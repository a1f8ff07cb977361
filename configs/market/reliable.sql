-- What a broker's rule is worth beside the best score by what it believes ("reputation"): measures less those of the same battery, with 95 %
-- intervals of Student's t over the 20 paired batteries.
--   bookahead sql - --store STORE < configs/market/reliable.sql
WITH RECURSIVE cell AS (
    SELECT p.replication, p.axes ->> '$."clusters.policy"' AS policy, p.axes ->> '$."market.rule"' AS rule, m.measure, m.value
    FROM v_point p JOIN v_measure m USING (run, place)
    WHERE p.run = (SELECT max(id) FROM run WHERE name = 'market-ctc-reliable')
      AND m.measure IN ('market_provider_gain_percent', 'market_customer_gain_percent', 'market_delegated_percent', 'market_kept_percent',
                        'market_jain_percent', 'market_optimistic_share_percent')
),
pair AS (
    SELECT a.policy, a.rule, a.measure, a.value - b.value AS more, b.value AS base
    FROM cell a JOIN cell b USING (policy, measure, replication)
    WHERE a.rule <> 'reputation' AND b.rule = 'reputation'
),
total AS (
    SELECT policy, rule, measure, count(*) AS n, avg(base) AS base, avg(more) AS more,
           (sum(more * more) - sum(more) * sum(more) / count(*)) / (count(*) - 1) / count(*) AS variance
    FROM pair GROUP BY 1, 2, 3
),
-- The square root by Newton's method: the SQLite of the program has no sqrt().
newton AS (
    SELECT t.*, 0 AS step, variance + 1 AS root FROM total t
    UNION ALL
    SELECT policy, rule, measure, n, base, more, variance, step + 1, (root + max(variance, 0) / root) / 2
    FROM newton WHERE step < 80
)
SELECT policy, rule, measure, n, round(base, 2) AS base, round(more, 2) AS more, round(2.093 * root, 2) AS half_width
FROM newton WHERE step = 80 ORDER BY policy, rule, measure
