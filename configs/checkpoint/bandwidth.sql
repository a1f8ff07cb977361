-- What it costs that jobs share the bandwidth with which they write checkpoints: for each log, interval, cost of a write, strategy and threshold the means of
-- 20 batteries with bandwidth of their own, and shared less own, battery by battery (the 95 % interval of such a mean is 2.093 times the root of its
-- "variance": t of 19 degrees of freedom).
WITH each AS MATERIALIZED (
    SELECT r.name AS log, p.strategy, p.replication, p.gain, p.failed,
        json_extract(p.axes, '$."checkpoint.bandwidth"') AS bandwidth,
        json_extract(p.axes, '$."checkpoint.interval"') AS interval,
        CAST(json_extract(p.axes, '$."checkpoint.cost_seconds"') AS INTEGER) AS cost,
        CAST(json_extract(p.axes, '$."acceptance.pof_max"') AS REAL) AS pof_max,
        max(m.value) FILTER (WHERE m.measure = 'checkpoint_node_hours') AS written,
        max(m.value) FILTER (WHERE m.measure = 'bandwidth_wait_node_hours') AS waited,
        max(m.value) FILTER (WHERE m.measure = 'most_writers') AS writers,
        max(m.value) FILTER (WHERE m.measure = 'stops_at_window_end') AS stops,
        max(m.value) FILTER (WHERE m.measure = 'lost_work_node_hours') AS lost
    FROM v_point p JOIN run r ON r.id = p.run JOIN v_measure m USING (run, place)
    WHERE r.name LIKE 'bandwidth-%' GROUP BY p.run, p.place
), paired AS (
    SELECT own.*, shared.bandwidth AS sharing, shared.gain - own.gain AS more, shared.failed - own.failed AS more_failed,
        shared.stops - own.stops AS more_stops, shared.lost - own.lost AS more_lost,
        shared.written AS shared_written, shared.waited AS shared_waited, shared.writers AS most_writers
    FROM each own JOIN each shared USING (log, strategy, replication, interval, cost, pof_max)
    WHERE own.bandwidth = 'own' AND shared.bandwidth <> 'own'
)
SELECT log, interval, cost, strategy, pof_max, sharing, round(avg(gain)) AS gain_own, round(avg(more)) AS more,
    round((avg(more * more) - avg(more) * avg(more)) / (count(*) - 1)) AS more_variance,
    round(avg(failed), 1) AS failed_own, round(avg(more_failed), 2) AS more_failed,
    round((avg(more_failed * more_failed) - avg(more_failed) * avg(more_failed)) / (count(*) - 1), 4) AS failed_variance,
    round(avg(written)) AS written_own, round(avg(shared_written)) AS written_shared, round(avg(shared_waited)) AS waited, max(most_writers) AS most_writers,
    round(avg(stops), 1) AS stops_own, round(avg(more_stops), 1) AS more_stops, round(avg(lost)) AS lost_own, round(avg(more_lost)) AS more_lost
FROM paired GROUP BY log, interval, cost, strategy, pof_max, sharing ORDER BY log, interval, cost, strategy, pof_max, sharing
