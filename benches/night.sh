#!/usr/bin/env bash
# A night on one server: a million points planned, run, killed five times, resumed, joined from four shards and reported.
#
#   benches/night.sh [CONFIG [WORKERS]]        (benches/night.toml, 2 workers; the program is $BOOKAHEAD or target/release/bookahead)
#
# Prints for each step the seconds of the clock, those of the processors, the most memory and the size of the store; then whether the
# store that was killed and the one that was joined give the same points. Needs GNU time, and room for the store four times.
set -euo pipefail
config=${1:-benches/night.toml}
workers=${2:-2}
program=${BOOKAHEAD:-target/release/bookahead}
folder=$(mktemp -d "${TMPDIR:-/tmp}/night.XXXXXX")
trap 'rm -rf "$folder"' EXIT

row() {
    printf '%-34s %8s s %8s s %8s MB %8s MB\n' "$1" "$2" "$3" "$4" "$5"
}

megabytes() {
    du -cm "$@" 2>/dev/null | tail -n 1 | cut -f 1
}

# NAME STORE COMMAND...: one step, which must succeed.
step() {
    local name=$1 store=$2 wall processor kilobytes
    shift 2
    /usr/bin/time -f '%e %U %S %M' -o "$folder/time" "$@" >"$folder/said" 2>&1 || {
        tail -n 20 "$folder/said" >&2
        exit 1
    }
    read -r wall user system kilobytes < <(tail -n 1 "$folder/time")
    processor=$(awk "BEGIN { print $user + $system }")
    row "$name" "$wall" "$processor" "$((kilobytes / 1024))" "$(megabytes "$store"*)"
}

points() {
    "$program" sql --store "$1" --format csv \
        "SELECT place, penalty_ratio, replication, gain, failed FROM v_point WHERE run = (SELECT max(id) FROM run) ORDER BY place" >"$2"
    [ "$(wc -l <"$2")" -gt "$all" ]
}

printf '%-34s %10s %10s %11s %11s\n' step clock processors 'most memory' store
one="$folder/one.db"
step "plan" "$one" "$program" run "$config" --dry-run --workers "$workers" --store "$one"
# Each is killed when a fifth more of the simulations is done; what was committed counts.
all=$("$program" run "$config" --dry-run --store "$one" 2>&1 | tail -n 1 | grep -o '([0-9]* simulations)' | head -n 1 | tr -dc 0-9)
for kill in 1 2 3 4 5; do
    begun=$(date +%s.%N)
    "$program" run "$config" --workers "$workers" --outcomes metrics --store "$one" --report "$folder/report" --quiet \
        >"$folder/said" 2>&1 &
    process=$!
    while kill -0 "$process" 2>/dev/null; do
        done=$("$program" sql --store "$one" --format csv "SELECT count(*) FROM simulation WHERE state = 2" 2>/dev/null | tail -n 1 || true)
        [ "${done:-0}" -lt $((all * kill / 6)) ] || break
        sleep 0.3
    done
    memory=$(awk '/VmHWM/ { print int($2 / 1024) }' "/proc/$process/status" 2>/dev/null || printf '?')
    ticks=$(awk '{ print $14 + $15 }' "/proc/$process/stat" 2>/dev/null || printf 0)
    kill -KILL "$process" 2>/dev/null || { printf 'it had ended before kill %d\n' "$kill" >&2; exit 1; }
    wait "$process" 2>/dev/null || true
    row "killed at ${done:-0} of $all" "$(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $begun }")" \
        "$(awk "BEGIN { print $ticks / $(getconf CLK_TCK) }")" "$memory" "$(megabytes "$one"*)"
done
step "resumed to its end" "$one" "$program" run "$config" --workers "$workers" --outcomes metrics --store "$one" \
    --report "$folder/report" --quiet
step "the same again: nothing to do" "$one" "$program" run "$config" --workers "$workers" --outcomes metrics \
    --store "$one" --report "$folder/report" --quiet
mkdir "$folder/shards"
for share in 1 2 3 4; do
    step "share $share of 4" "$folder/shards/$share.db" "$program" run "$config" --shard "$share/4" --workers "$workers" \
        --outcomes metrics --store "$folder/shards/$share.db" --quiet
done
step "joined" "$folder/joined.db" "$program" merge "$folder/joined.db" "$folder/shards"
step "reported" "$folder/joined.db" "$program" report latest --store "$folder/joined.db" --out "$folder/joined"
points "$one" "$folder/one.csv"
points "$folder/joined.db" "$folder/joined.csv"
if cmp "$folder/one.csv" "$folder/joined.csv"; then
    printf 'the killed store and the joined one have the same points\n'
else
    printf 'THE KILLED STORE AND THE JOINED ONE DIFFER\n' >&2
    exit 1
fi
