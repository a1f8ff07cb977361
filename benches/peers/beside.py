#!/usr/bin/env python3
"""bookahead beside other simulators: one trace, several policies, alternating rounds, a Markdown table of processor time and memory.

Each round runs bookahead and every peer that is installed (README.md says how to name them), each once, every other round backwards.
What counts is user and system time of the whole process with those that it starts; ratios are of the two runs of one round, and the
table has their median, minimum and maximum. A peer that needs more than --long processor seconds is run in the first round only, one
that needs more than --limit is ended, and the table says so. Schedules are compared with bookahead's: jobs that ran, mean wait, jobs that
start at another second. What cannot be run is named on standard error with the reason. Python 3.8 or later, nothing else.

    python3 benches/peers/deep_trace.py deep.swf --jobs 20000 --load 1.1
    python3 benches/peers/beside.py deep.swf --nodes 8192 --bookahead target/release/bookahead
"""

import argparse
import os
import shutil
import statistics
import sys
import tempfile

import compare
import disturbed


def rounds(case, folder):
    """Runs everybody in turns. Gives {name: (runs by round, schedule, why it ended)}, bookahead's first, without those that cannot run."""
    own, kinds = (disturbed.Bookahead, [disturbed.Batsim4]) if case.extra else (compare.Bookahead, compare.KINDS)
    peers = [kind(case) for kind in [own] + [kind for kind in kinds if not case.peers or kind.name in case.peers]]
    present = []
    for peer in peers:
        reason = peer.missing()
        if reason is None:
            present.append(peer)
        elif peer.name == "bookahead":
            sys.exit(f"nothing to compare with: {reason}")
        else:
            print(f"left out: {peer.name}, {case.policy}: {reason}", file=sys.stderr)
    found = {peer.name: ({}, {}, "") for peer in present}
    for turn in range(case.rounds):
        for peer in list(present if turn % 2 == 0 else present[::-1]):
            own = os.path.join(folder, f"{peer.name}-{turn}")
            os.mkdir(own)
            runs, schedule, _ = found[peer.name]
            try:
                runs[turn], schedule = compare.measured(peer, own)
                runs[turn]["note"] = getattr(peer, "note", "")
                found[peer.name] = (runs, schedule, "")
                print(f"round {turn + 1}: {peer.name}, {case.policy}: {runs[turn]['processor']:.2f} s, {len(schedule)} jobs", file=sys.stderr)
                if peer.name != "bookahead" and runs[turn]["processor"] > case.long:
                    present.remove(peer)
            except compare.Failed as failure:
                if peer.name == "bookahead":
                    sys.exit(f"bookahead {failure}")
                found[peer.name] = (runs, schedule, failure.args[0])
                if isinstance(failure, compare.TooLong):
                    runs[turn] = {"processor": case.processor_limit, "peak": failure.args[1]}
                present.remove(peer)
                print(f"{peer.name}, {case.policy}: {failure.args[0]}", file=sys.stderr)
            shutil.rmtree(own)
    return found


def span(values, pattern):
    """Median, and minimum and maximum where there is more than one."""
    middle = pattern.format(statistics.median(values))
    return middle if len(values) == 1 else f"{middle} ({pattern.format(min(values))} to {pattern.format(max(values))})"


def rows(case, found):
    """The lines of the table, one a peer."""
    base_runs, base, _ = found["bookahead"]
    for name, (runs, schedule, ended) in found.items():
        cells = [case.policy, name, str(len(runs)), "", "", "", "", "", ""] + ([""] if case.extra else [])
        if runs:
            more = "more than " if ended else ""
            cells[3] = ended or span([run["processor"] for run in runs.values()], "{:.3f}" if name == "bookahead" else "{:.1f}")
            cells[4] = more + span([run["processor"] / base_runs[turn]["processor"] for turn, run in runs.items()], "{:,.0f}")
            cells[5] = f"{statistics.median(run['peak'] for run in runs.values()) / 1e6:.0f}"
        else:
            cells[3] = ended
        if schedule:
            cells[6] = str(len(schedule))
            cells[7] = f"{compare.figures(schedule)['mean_wait']:.1f}"
            cells[8] = str(compare.other_starts(schedule, base))
            if case.extra:
                cells[9] = max(run.get("note", "") for run in runs.values())
        yield "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="a plain SWF file")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--jobs", type=int, default=0, help="only the first usable jobs (default: all)")
    parser.add_argument("--load", type=float, help="compress the times between submissions until run times offer so much of the machine")
    parser.add_argument("--policies", type=lambda names: names.split(","), default=["easy", "conservative"], help="default: easy,conservative")
    parser.add_argument("--estimates", choices=["user", "perfect"], default="user")
    parser.add_argument("--apart", type=int, default=1, metavar="K",
                        help="multiply times by K and add less than K at random, so that hardly two events share a second")
    parser.add_argument("--peers", type=lambda names: names.split(","), default=[], help="only these, with commas between them")
    parser.add_argument("--rounds", type=int, default=3, help="alternating runs (default 3)")
    parser.add_argument("--limit", type=float, default=600, help="processor seconds after which a peer's run is ended (default 600)")
    parser.add_argument("--long", type=float, default=60, help="processor seconds beyond which a peer is run once only (default 60)")
    parser.add_argument("--with", choices=["failures", "reservations"], dest="extra",
                        help="node failures, or reservations, with bookahead and batsim4 only")
    parser.add_argument("--mtbf", type=float, default=1000, help="failures: mean hours between those of one node (default 1000)")
    parser.add_argument("--repair", type=float, default=4, help="failures: mean hours until a node is back; 0 for at once (default 4)")
    parser.add_argument("--percent", type=float, default=5, help="reservations: requests, as a share of the jobs (default 5)")
    parser.add_argument("--seed", type=int, default=1, help="of failures and requests (default 1)")
    parser.add_argument("--bookahead", default="bookahead", help="the program (default: the one on the path)")
    case = parser.parse_args()
    if case.rounds < 1 or case.apart < 1 or case.nodes < 1 or case.jobs < 0 or case.limit <= 0:
        parser.error("--rounds, --apart and --nodes are at least 1, --jobs at least 0, --limit is above 0")
    known = {kind.name for kind in compare.KINDS}
    if set(case.peers) - known:
        parser.error(f"--peers {','.join(sorted(set(case.peers) - known))}: known are {', '.join(sorted(known))}")
    case.lead, case.timeout, case.processor_limit = 3600, 0, case.limit
    case.trace = os.path.abspath(case.trace)
    if os.path.dirname(case.bookahead):
        case.bookahead = os.path.abspath(case.bookahead)
    try:
        with tempfile.TemporaryDirectory() as folder:
            case.input = os.path.join(folder, "input.swf")
            usable = compare.write_input(case, case.input)
            if not usable:
                sys.exit(f"{case.trace} has no usable job for {case.nodes} nodes")
            before = os.getloadavg()[1]
            lines = []
            for case.policy in case.policies:
                own = os.path.join(folder, case.policy)
                os.mkdir(own)
                lines += rows(case, rounds(case, own))
    except (OSError, UnicodeError, ValueError) as error:
        sys.exit(f"{case.trace}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    print(f"{os.path.basename(case.trace)}: {usable} jobs, {case.nodes} nodes, {f'load {case.load:g}, ' if case.load else ''}{case.estimates} "
          f"estimates; {os.cpu_count()} cores, load average {before:.1f} before and {os.getloadavg()[1]:.1f} after\n")
    titles = ["Policy", "Program", "Runs", "Processor s", "Times bookahead's", "Memory (MB)", "Jobs that ran", "Mean wait (s)", "Other starts"]
    titles += [case.extra.capitalize()] if case.extra else []
    print("| " + " | ".join(titles) + " |")
    print("|---|---|" + "---:|" * (len(titles) - 2))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
