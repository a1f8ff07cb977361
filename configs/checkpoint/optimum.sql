-- What checkpoints are worth: for each log, strategy, ratio and row the threshold with the highest mean gain over the even batteries, and on the
-- odd ones, which did not choose it, the gain there less that of the first row (no checkpoints; all or nothing) at its own best threshold ("more"; the 95 % interval of its mean
-- is 2.262 times the root of "variance": t of 9 degrees of freedom), and failed jobs of both.
WITH each AS MATERIALIZED (
    SELECT r.name AS log, p.strategy, p.penalty_ratio AS ratio, p.replication, p.gain, p.failed,
        coalesce(
            json_extract(p.axes, '$."checkpoint.interval"') || ', ' || json_extract(p.axes, '$."checkpoint.gap_end"'),
            json_extract(p.axes, '$."penalty.function"') || ', ' || json_extract(p.axes, '$."penalty.full_after_hours"') || ' h, '
                || json_extract(p.axes, '$."penalty.refund"')
        ) AS arm,
        CAST(json_extract(p.axes, '$."acceptance.pof_max"') AS REAL) AS pof_max
    FROM v_point p JOIN run r ON r.id = p.run
    WHERE r.name LIKE 'checkpoint-%' OR r.name LIKE 'late-%'
), ranked AS MATERIALIZED (
    SELECT log, strategy, ratio, arm, pof_max, row_number() OVER (
        PARTITION BY log, strategy, ratio, arm ORDER BY avg(gain) DESC, pof_max
    ) AS place
    FROM each WHERE replication % 2 = 0 GROUP BY log, strategy, ratio, arm, pof_max
), judged AS MATERIALIZED (
    SELECT each.* FROM each JOIN ranked USING (log, strategy, ratio, arm, pof_max) WHERE place = 1 AND replication % 2 = 1
), paired AS (
    SELECT one.log, one.strategy, one.ratio, one.arm, none.pof_max AS without, one.pof_max AS with_them,
        none.gain AS gain, one.gain - none.gain AS more, none.failed AS failed_without, one.failed AS failed_with
    FROM judged one JOIN judged none USING (log, strategy, ratio, replication)
    WHERE (none.arm = 'none, checkpoint' OR none.arm LIKE 'all-or-nothing%') AND one.arm <> none.arm
)
SELECT log, strategy, ratio, arm, without, with_them, round(avg(gain)) AS gain_without, round(avg(more)) AS more,
    round((avg(more * more) - avg(more) * avg(more)) / (count(*) - 1)) AS variance,
    round(avg(failed_without), 1) AS failed_without, round(avg(failed_with), 1) AS failed_with
FROM paired GROUP BY log, strategy, ratio, arm ORDER BY log, strategy, ratio, arm
