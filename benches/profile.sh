#!/bin/sh
# A profile of one study on one worker: `benches/profile.sh STUDY [callgrind|perf] [BINARY]`.
#
# STUDY is a file of benches/profiles/ without its ending, `simulate-heuristic-planning` or `simulate-easy-backfilling`. The trace folder comes from
# BOOKAHEAD_TRACES (and BOOKAHEAD_FAILURES), as for every run. callgrind counts instructions, and repeats exactly but for
# what follows the clock; perf takes samples, and draws a flame graph where inferno-collapse-perf and inferno-flamegraph are on the path.
# Lists and graphs are written to target/profiles/.
set -eu
study=${1:?benches/profile.sh STUDY [callgrind|perf] [BINARY]: which study? Files of benches/profiles/, simulate-heuristic-planning, simulate-easy-backfilling}
tool=${2:-callgrind}
binary=${3:-target/release/bookahead}
cd "$(dirname "$0")/.."
out=target/profiles
mkdir -p "$out"
[ -x "$binary" ] || { echo "$binary is missing: cargo build --release" >&2; exit 2; }
command -v "$([ "$tool" = perf ] && echo perf || echo valgrind)" >/dev/null || { echo "$tool is not installed" >&2; exit 2; }

rm -f "$out/$study.db" "$out/$study.db-wal" "$out/$study.db-shm"
case $study in
simulate-*)
    trace=$out/light.swf
    [ -f "$trace" ] || python3 benches/peers/light_trace.py "$trace"
    set -- "$binary" simulate "$trace" --nodes 256 --load 0.85 --policy "${study#simulate-}" --json ;;
*)
    [ -f "benches/profiles/$study.toml" ] || { echo "no benches/profiles/$study.toml" >&2; exit 2; }
    set -- "$binary" run "benches/profiles/$study.toml" --workers 1 --quiet --store "$out/$study.db" --report "$out/report-$study" ;;
esac

case $tool in
callgrind)
    valgrind --tool=callgrind --callgrind-out-file="$out/$study.callgrind" "$@" >"$out/$study.log" 2>&1
    callgrind_annotate --auto=no --threshold=98 "$out/$study.callgrind" >"$out/$study.self.txt"
    callgrind_annotate --auto=no --inclusive=yes --threshold=100 "$out/$study.callgrind" >"$out/$study.inclusive.txt"
    grep -E 'PROGRAM TOTALS|%\)' "$out/$study.self.txt" | cut -c -160 | head -25
    echo "more: $out/$study.self.txt, $out/$study.inclusive.txt" ;;
perf)
    perf record --freq 997 --call-graph dwarf,16384 --output "$out/$study.perf" "$@" >"$out/$study.log" 2>&1
    perf report --input "$out/$study.perf" --stdio --no-children --call-graph none --sort symbol 2>/dev/null \
        | sed -e '/^#/d' -e '/^$/d' -e 's/ *- *- *$//' >"$out/$study.self.txt"
    head -25 "$out/$study.self.txt"
    if command -v inferno-collapse-perf >/dev/null && command -v inferno-flamegraph >/dev/null; then
        perf script --input "$out/$study.perf" 2>/dev/null | inferno-collapse-perf | inferno-flamegraph >"$out/$study.svg"
        echo "flame graph: $out/$study.svg"
    fi ;;
*) echo "callgrind or perf, not $tool" >&2; exit 2 ;;
esac
