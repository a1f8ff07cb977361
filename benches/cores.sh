#!/usr/bin/env bash
# How a sweep scales over cores: the same experiment with one worker and with several, alternating, each into a new store.
#
#   benches/cores.sh CONFIG [WORKERS [PAIRS]]        (4 workers, 5 pairs; the program is $BOOKAHEAD or target/release/bookahead)
#
# Prints for every run the seconds of the whole process, its processor time, the seconds before the first simulation begins and
# after the last one ends, and how much of the workers was idle until the last simulation began; then the median ratio. Only an
# idle machine with as many cores as workers gives figures that mean anything.
set -euo pipefail
config=${1:?which experiment file}
workers=${2:-4}
pairs=${3:-5}
program=${BOOKAHEAD:-target/release/bookahead}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
TIMEFORMAT='%R %U %S'

# Of the newest run: what begins when, from the moment at which it ended and how long it took.
idle() {
    "$program" sql --store "$1" --format csv "
WITH t AS (
    SELECT t.finished / 1000.0 - t.wall_seconds AS begun, t.finished / 1000.0 AS finish
    FROM simulation m JOIN simulation_timing t ON t.simulation = m.id WHERE m.computed_by = (SELECT max(id) FROM run)
), w AS (SELECT min(begun) AS first, max(begun) AS last, max(finish) AS ended FROM t)
SELECT round(first, 3), round(last - first, 2), round(ended, 3),
    round(100.0 * (1 - sum(min(t.finish, last) - t.begun) / ($2 * max(last - first, 0.001))), 1)
FROM t, w" | tail -n 1
}

measure() {
    local store="$folder/$1-$2.db" begun ended first until finish percent real user system
    begun=$(date +%s.%N)
    { time "$program" run "$config" --workers "$2" --outcomes metrics --store "$store" \
        --report "$folder/report-$1-$2" --quiet >"$folder/said" 2>&1; } 2>"$folder/time" || {
        cat "$folder/said" >&2
        return 1
    }
    read -r real user system <"$folder/time"
    ended=$(date +%s.%N)
    IFS=, read -r first until finish percent < <(idle "$store" "$2")
    awk -v w="$2" -v real="$real" -v cpu="$user" -v sys="$system" -v b="$begun" -v f="$first" -v l="$finish" -v e="$ended" \
        -v p="$percent" 'BEGIN { printf "%d workers: %.2f s, processor time %.2f s, head %.2f s, tail %.2f s, idle until the last began %.1f %%\n",
            w, real, cpu + sys, f - b, e - l, p }' >&2
    printf '%s\n' "$real"
}

for pair in $(seq "$pairs"); do
    one=$(measure "$pair" 1)
    several=$(measure "$pair" "$workers")
    awk -v one="$one" -v several="$several" 'BEGIN { printf "%.3f\n", one / several }' >>"$folder/ratios"
done
sort -n "$folder/ratios" | awk -v w="$workers" '{ ratio[NR] = $1 } END { printf "median of %d pairs: %d workers are %.2f times one (%.2f to %.2f)\n",
    NR, w, ratio[int((NR + 1) / 2)], ratio[1], ratio[NR] }'
