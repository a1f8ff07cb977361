#!/usr/bin/env python3
"""The same trace and the same policy through bookahead and through every peer that is installed, in turns.

Prints for each simulator the medians of wall and processor time of whole processes, jobs a second, peak memory, and of the schedule
the mean wait, slowdown, bounded slowdown and queue depth, how many jobs start at another second than in bookahead's, and the ratios of
time and memory to bookahead's, round by round. Installs nothing: README.md says how to get each peer and which variable names it.
Python 3.8 or later, nothing else.

    python3 benches/peers/compare.py trace.swf --nodes 256 --policy easy --pairs 5
"""

import argparse
import csv
import json
import os
import random
import shlex
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))


def jobs_of(path):
    """[number, submit, run, nodes, estimate] of every usable record of a plain SWF file, as bookahead cleans it."""
    with open(path, encoding="latin-1") as trace:
        for line in trace:
            fields = line.split()
            if len(fields) < 9 or fields[0].startswith(";"):
                continue
            number, submit, run, allocated, requested, estimate = (
                int(float(fields[place])) for place in (0, 1, 3, 4, 7, 8)
            )
            nodes = allocated if allocated > 0 else requested
            if submit >= 0 and run > 0 and nodes > 0 and estimate > 0:
                yield [number, submit, min(run, estimate), nodes, estimate]


def write_input(case, path):
    """Writes what every simulator gets; peers know no --estimates and clean in their own ways. Gives the number of jobs."""
    draw, jobs = random.Random(1), []
    for job in jobs_of(case.trace):
        if job[3] > case.nodes:
            continue
        if case.apart > 1:
            exact = job[4] == job[2]
            for place in (1, 2, 4):
                job[place] = job[place] * case.apart + draw.randrange(case.apart)
            job[4] = job[2] if exact else max(job[2], job[4])
        if case.estimates == "perfect":
            job[4] = job[2]
        jobs.append(job)
        if len(jobs) == case.jobs:
            break
    jobs.sort(key=lambda job: job[1])
    if getattr(case, "load", None) and jobs[0][1] < jobs[-1][1]:
        # As `simulate --load`: run times offer so much of the machine while jobs are submitted.
        first, span = jobs[0][1], jobs[-1][1] - jobs[0][1]
        wanted = sum(job[2] * job[3] for job in jobs) / (case.nodes * case.load)
        for job in jobs:
            job[1] = round((job[1] - first) * wanted / span)
    with open(path, "w", encoding="ascii") as file:
        file.write(f"; MaxProcs: {case.nodes}\n")
        for number, submit, run, nodes, estimate in jobs:
            file.write(f"{number} {submit} -1 {run} {nodes} -1 -1 {nodes} {estimate} -1 1 1 1 1 1 -1 -1 -1\n")
    return len(jobs)


def schedule_of(path):
    """{number: (submit, wait, run)} of a schedule that is a SWF file; empty if there is none."""
    jobs = {}
    if os.path.isfile(path):
        with open(path, encoding="latin-1") as schedule:
            for line in schedule:
                fields = line.split()
                if fields and not fields[0].startswith(";") and float(fields[3]) > 0:
                    jobs[int(fields[0])] = tuple(float(fields[place]) for place in (1, 2, 3))
    return jobs


def figures(schedule):
    """Means over all jobs that ran. Depth is the sum of waits over the makespan."""
    rows = list(schedule.values())
    if not rows:
        return {}
    count = len(rows)
    span = max(sum(row) for row in rows) - min(row[0] for row in rows)
    return {
        "ran": count,
        "mean_wait": sum(wait for _, wait, _ in rows) / count,
        "slowdown": sum((wait + run) / run for _, wait, run in rows) / count,
        "bounded": sum(max(1.0, (wait + run) / max(run, 10)) for _, wait, run in rows) / count,
        "depth": sum(wait for _, wait, _ in rows) / span if span else None,
    }


class Peer:
    """A simulator: `prepare` makes its inputs (not timed), `command` runs it and leaves its schedule at `schedule`."""

    name = ""
    policies = ("easy", "conservative")
    estimates = ("user", "perfect")
    # Whether a run that does nothing any more is over, although it does not end.
    lingers = False

    def __init__(self, case):
        self.case = case
        self.variable = f"BOOKAHEAD_PEER_{self.name.upper()}"
        # Runs happen in folders of their own, so paths are made absolute.
        parts = os.environ.get(self.variable, "").split(os.pathsep)
        self.place = os.pathsep.join(os.path.abspath(part) if part and os.path.exists(part) else part for part in parts)

    def missing(self):
        """Why it cannot run, or None."""
        if self.case.policy not in self.policies:
            return f"has no {self.case.policy}"
        if self.case.estimates not in self.estimates:
            return "has no estimates beside run times (--estimates perfect)"
        return self.not_here()

    def not_here(self):
        return None if self.place else f"{self.variable} is not set"

    def prepare(self, folder):
        pass

    def command(self, folder, schedule):
        raise NotImplementedError

    def schedule(self, folder, schedule):
        return schedule_of(schedule)

    def complaint(self, folder):
        """What it said when it came to a stop, or nothing."""
        return ""


class Bookahead(Peer):
    name = "bookahead"
    policies = ("easy", "conservative", "reservations")
    options = {
        "easy": ["--policy", "easy-backfilling"],
        "conservative": ["--policy", "heuristic-planning"],
        "reservations": ["--fixed-starts"],
    }

    def not_here(self):
        return None if shutil.which(self.case.bookahead) else f"{self.case.bookahead} is no program (--bookahead PATH)"

    def command(self, folder, schedule):
        command = [self.case.bookahead, "simulate", self.case.input, "--nodes", str(self.case.nodes)]
        command += self.options[self.case.policy]
        if self.case.policy == "reservations":
            command += ["--lead", str(self.case.lead)]
        return command + ["--json", "--schedule", schedule]


class Pyss(Peer):
    name = "pyss"

    def not_here(self):
        self.python = os.environ.get("BOOKAHEAD_PEER_PYSS_PYTHON", "python2")
        if not os.path.isfile(os.path.join(self.place, "run_simulator.py")):
            return f"{self.variable} names no folder with run_simulator.py"
        return None if shutil.which(self.python) else f"{self.python} is no program (BOOKAHEAD_PEER_PYSS_PYTHON)"

    def command(self, folder, schedule):
        return [self.python, "-O", os.path.join(HERE, "pyss_run.py"), self.place, self.case.input, str(self.case.nodes), self.case.policy, schedule]


class Batsim(Peer):
    name = "batsim"
    variants = {"easy": "easy_bf", "conservative": "conservative_bf"}

    def not_here(self):
        # A folder with both, or nothing for the path.
        self.programs = [os.path.join(self.place, program) for program in ("batsim", "batsched")]
        absent = [program for program in self.programs if not shutil.which(program)]
        return f"{absent[0]} is no program ({self.variable} may name a folder with both)" if absent else None

    def prepare(self, folder):
        jobs, profiles = [], {}
        for number, submit, run, nodes, estimate in jobs_of(self.case.input):
            profiles[f"d{run}"] = {"type": "delay", "delay": run}
            jobs.append({"id": str(number), "subtime": submit, "walltime": estimate, "res": nodes, "profile": f"d{run}"})
        with open(os.path.join(folder, "workload.json"), "w", encoding="ascii") as file:
            json.dump({"nb_res": self.case.nodes, "jobs": jobs, "profiles": profiles}, file)
        with open(os.path.join(folder, "platform.xml"), "w", encoding="ascii") as file:
            file.write(
                '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
                '<platform version="4.1"><zone id="all" routing="Full">'
                f'<cluster id="nodes" prefix="n" suffix="" radical="0-{self.case.nodes - 1}" speed="1Gf" bw="125MBps" lat="50us"/>'
                '<cluster id="masters" prefix="master_host" suffix="" radical="0-0" speed="1Gf" bw="125MBps" lat="50us">'
                '</cluster><link id="backbone" bandwidth="1.25GBps" latency="500us"/>'
                '<zoneRoute src="nodes" dst="masters" gw_src="nnodes_router" gw_dst="master_hostmasters_router">'
                '<link_ctn id="backbone"/></zoneRoute></zone></platform>\n'
            )

    def command(self, folder, schedule):
        socket = f"ipc://{folder}/socket"
        batsim, batsched = map(shlex.quote, self.programs)
        # The simulator's answer counts; the scheduler is waited for, too, so that both are measured, unless nobody speaks to it any more.
        return ["sh", "-c", (
            f"{batsched} -v {self.variants[self.case.policy]} -s {socket} >/dev/null 2>&1 & {batsim} --quiet --disable-schedule-tracing "
            f"--disable-machine-state-tracing -s {socket} -m master_host0 -p platform.xml -w workload.json -e out >/dev/null; status=$?; "
            "[ $status = 0 ] || kill $!; wait; exit $status"
        )]

    def schedule(self, folder, schedule):
        with open(os.path.join(folder, "out_jobs.csv"), encoding="ascii") as file:
            return {
                int(row["job_id"]): tuple(float(row[name]) for name in ("submission_time", "waiting_time", "execution_time"))
                for row in csv.DictReader(file)
                if float(row["execution_time"]) > 0
            }


class Batsim4(Batsim):
    """The fork of Batsim and batsched with failures, repairs, checkpoints and reservations."""

    name = "batsim4"
    variants = {"easy": "easy_bf3", "conservative": "conservative_bf"}

    def not_here(self):
        # Its programs have the names of the other ones, so they are not looked for on the path.
        return super().not_here() if self.place else f"{self.variable} is not set"

    def prepare(self, folder):
        super().prepare(folder)
        # Its failures look for nodes whose names begin with a; its network is that of its own platforms, without latencies.
        platform = os.path.join(folder, "platform.xml")
        with open(platform, encoding="ascii") as file:
            text = file.read()
        for theirs, ours in (
            ('prefix="n"', 'prefix="a"'), ("nnodes_router", "anodes_router"), ('bw="125MBps" lat="50us"', 'bw="1250MBps" lat="0us"'),
            ('"1.25GBps" latency="500us"', '"10.25GBps" latency="0us"'), ("1Gf", "1f"),
        ):
            text = text.replace(theirs, ours)
        with open(platform, "w", encoding="ascii") as file:
            file.write(text)
        os.mkdir(os.path.join(folder, "out"))

    def options(self):
        """What else Batsim is told."""
        return ""

    def command(self, folder, schedule):
        socket = f"ipc://{folder}/socket"
        batsim, batsched = map(shlex.quote, self.programs)
        return ["sh", "-c", (
            f"{batsched} -v {self.variants[self.case.policy]} -s {socket} --verbosity silent >/dev/null 2>batsched.txt & {batsim} --quiet "
            f"--disable-schedule-tracing --disable-machine-state-tracing --turn-off-extra-info --forward-profiles-on-submission -s {socket} "
            f"-m master_host0 -p platform.xml -w workload.json -e out/out {self.options()} >/dev/null 2>&1; status=$?; "
            "[ $status = 0 ] || kill $!; wait; exit $status"
        )]

    def schedule(self, folder, schedule):
        return super().schedule(os.path.join(folder, "out"), schedule)

    def complaint(self, folder):
        # Batsim waits for ever for a batsched that has stopped.
        with open(os.path.join(folder, "batsched.txt"), encoding="utf-8", errors="replace") as said:
            lines = [line.strip() for line in said]
        found = [place for place, line in enumerate(lines) if line.startswith("Assertion")]
        return f"batsched stopped: {' '.join(lines[found[-1]:found[-1] + 2])}" if found else ""


class AccaSim(Peer):
    name = "accasim"
    policies = ("easy",)

    def not_here(self):
        return None if shutil.which(self.place) else f"{self.variable} names no Python that has it"

    def command(self, folder, schedule):
        return [self.place, os.path.join(HERE, "accasim_run.py"), self.case.input, str(self.case.nodes), schedule]


class Alea(Peer):
    name = "alea"

    def not_here(self):
        if not os.path.isfile(os.path.join(self.place, "configuration.properties")):
            return f"{self.variable} names no folder with configuration.properties"
        return None if shutil.which("java") else "java is not on the path"

    def command(self, folder, schedule):
        return [sys.executable, os.path.join(HERE, "alea_run.py"), self.place, self.case.input, str(self.case.nodes), self.case.policy, schedule]


class Servsim(Peer):
    name = "servsim"
    policies = ("easy", "conservative", "reservations")
    options = {
        "easy": ["--policy", "easy-backfilling"],
        "conservative": ["--policy", "heuristic-planning"],
        "reservations": ["--fixed-starts"],
    }
    estimates = ("perfect",)

    def not_here(self):
        if not self.place:
            return f"{self.variable} names no class path"
        return None if shutil.which("javac") else "javac is not on the path"

    def prepare(self, folder):
        subprocess.run(
            ["javac", "-nowarn", "-cp", self.place, "-d", os.path.join(folder, "run"), os.path.join(HERE, "ServsimRun.java")], check=True
        )

    def command(self, folder, schedule):
        classes = os.path.join(folder, "run") + os.pathsep + self.place
        return ["java", "-cp", classes, "ServsimRun", self.case.input, str(self.case.nodes), self.case.policy, str(self.case.lead), schedule]


class Other(Peer):
    """Any other simulator: a command with {trace}, {nodes}, {policy}, {lead}, {folder} and {schedule} in it, which leaves a SWF file at
    {schedule}."""

    name = "other"
    policies = ("easy", "conservative", "reservations")
    options = {
        "easy": ["--policy", "easy-backfilling"],
        "conservative": ["--policy", "heuristic-planning"],
        "reservations": ["--fixed-starts"],
    }

    def command(self, folder, schedule):
        case, text = self.case, os.environ[self.variable]
        names = {"trace": case.input, "nodes": case.nodes, "policy": case.policy, "lead": case.lead, "folder": folder, "schedule": schedule}
        return [part.format(**names) for part in shlex.split(text)]


# Seconds by the clock after which a run that used no processor is ended, where there is a limit of processor time.
STALLED = 30

KINDS = [Pyss, Batsim, Batsim4, AccaSim, Alea, Servsim, Other]


class Failed(Exception):
    """A peer that did not give a schedule."""


class TooLong(Failed):
    """A peer that used up the processor time that it had; its second argument is the memory that it then held."""


def high_water(pid):
    """The most memory that a process and those that it started ever held, in bytes. (What wait4 says has the memory of this program in
    it, from before the other one was loaded.)"""
    total = 0
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            for line in status:
                if line.startswith("VmHWM:"):
                    total = int(line.split()[1]) * 1024
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            total += sum(high_water(child) for child in children.read().split())
    except OSError:
        pass
    return total


def processor_seconds(pid):
    """User and system time of a process, of those that it waited for and of those that it started and that still run."""
    total = 0
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            total = sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:15])) / os.sysconf("SC_CLK_TCK")
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
            total += sum(processor_seconds(child) for child in children.read().split())
    except OSError:
        pass
    return total


def measured(peer, folder):
    """Wall and processor seconds, peak bytes (sampled) and the schedule of one run of a whole process, those that it starts included."""
    schedule = os.path.join(folder, "schedule.swf")
    try:
        peer.prepare(folder)
        command = peer.command(folder, schedule)
    except (OSError, KeyError, ValueError, IndexError, subprocess.CalledProcessError) as error:
        raise Failed(f"cannot be prepared: {error}") from error
    peak, used, late, idle, done = [0], [0.0], threading.Event(), threading.Event(), threading.Event()

    def sample(pid, limit):
        begin = time.perf_counter()
        since = begin
        while not done.is_set():
            now = time.perf_counter()
            peak[0] = max(peak[0], high_water(pid))
            if busy and processor_seconds(pid) > used[0] + 0.05:
                used[0], since = processor_seconds(pid), now
            if limit and now > limit or busy and (used[0] > busy or now > since + STALLED):
                try:
                    os.killpg(pid, signal.SIGKILL)
                except ProcessLookupError:
                    return  # it ended in this instant, by itself
                (idle if busy and used[0] <= busy else late).set()
                return
            done.wait(0.002 if now < begin + 1 else 0.02)

    said = os.path.join(folder, "said.txt")
    with open(said, "w", encoding="utf-8") as file:
        begin = time.perf_counter()
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file, cwd=folder, start_new_session=True
            )
        except OSError as error:
            raise Failed(f"cannot be started: {error}") from error
        limit = begin + peer.case.timeout if peer.case.timeout else None
        busy = getattr(peer.case, "processor_limit", None)
        sampler = threading.Thread(target=sample, args=(process.pid, limit))
        sampler.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begin
        except KeyboardInterrupt:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            done.set()
            sampler.join()
        process.returncode = status
    if idle.is_set() and not peer.lingers:
        raise Failed(peer.complaint(folder) or f"did nothing for {STALLED} s")
    if late.is_set() and busy:
        raise TooLong(f"not done after {busy:g} s", peak[0])
    if late.is_set():
        raise Failed(f"was ended after {peer.case.timeout:g} s (--timeout)")
    if status != 0 and not idle.is_set():
        with open(said, encoding="utf-8", errors="replace") as file:
            last = file.read().strip().splitlines()[-1:] or ["it said nothing"]
        how = f"signal {os.WTERMSIG(status)}" if os.WIFSIGNALED(status) else f"status {os.WEXITSTATUS(status)}"
        raise Failed(f"ended with {how}: {last[0]}")
    try:
        jobs = peer.schedule(folder, schedule)
    except (OSError, KeyError, ValueError, IndexError) as error:
        raise Failed(f"left a schedule that cannot be read: {error}") from error
    if not jobs:
        raise Failed("left no schedule")
    processor = used[0] if idle.is_set() else usage.ru_utime + usage.ru_stime
    return {"wall": wall, "processor": processor, "peak": peak[0]}, jobs


def median_ratio(ours, theirs, what):
    ratios = [own[what] / base[what] for own, base in zip(theirs, ours) if base[what] > 0]
    return statistics.median(ratios) if ratios else None


def other_starts(mine, base):
    """Jobs that start at another second in one of two schedules, or in one of them only."""
    return sum(
        1 for number in base.keys() | mine.keys()
        if number not in mine or number not in base or abs(sum(mine[number][:2]) - sum(base[number][:2])) > 0.5
    )


def answer_of(peer, runs, schedules, jobs):
    """What is printed of a simulator."""
    mine, base = schedules[peer.name], schedules["bookahead"]
    answer = {"name": peer.name, "runs": len(runs[peer.name])}
    for what in ("wall", "processor", "peak"):
        answer[what] = statistics.median(run[what] for run in runs[peer.name])
    answer["peak"] = answer["peak"] or None  # over before it was looked at
    answer["jobs_per_second"] = jobs / answer["wall"]
    answer.update(figures(mine))
    answer["other_starts"] = other_starts(mine, base)
    for what in ("wall", "processor", "peak"):
        answer[f"times_{what}"] = median_ratio(runs["bookahead"], runs[peer.name], what)
    return answer


COLUMNS = [
    ("wall s", "wall", "{:.2f}", 9), ("cpu s", "processor", "{:.2f}", 9), ("jobs/s", "jobs_per_second", "{:.0f}", 9),
    ("peak MB", "peak", "{:.1f}", 9), ("ran", "ran", "{}", 8), ("wait s", "mean_wait", "{:.1f}", 10), ("slowdown", "slowdown", "{:.2f}", 10),
    ("bounded", "bounded", "{:.2f}", 9), ("depth", "depth", "{:.2f}", 9), ("other starts", "other_starts", "{}", 13),
    ("x wall", "times_wall", "{:.1f}", 9), ("x cpu", "times_processor", "{:.1f}", 9), ("x memory", "times_peak", "{:.1f}", 9),
]


def table(answers):
    yield " " * 10 + "".join(f"{title:>{width}}" for title, _, _, width in COLUMNS)
    for answer in answers:
        cells = []
        for _, key, pattern, width in COLUMNS:
            value = answer.get(key)
            if key == "peak" and value:
                value /= 1e6
            cells.append(f"{'-' if value is None else pattern.format(value):>{width}}")
        yield f"{answer['name']:10}" + "".join(cells)


def compared(case, folder):
    """Runs everybody in turns and gives the answers, bookahead's first."""
    case.input = os.path.join(folder, "input.swf")
    case.usable = write_input(case, case.input)
    if not case.usable:
        sys.exit(f"{case.trace} has no usable job for {case.nodes} nodes")
    kinds = KINDS
    present = [Bookahead(case)]
    reason = present[0].missing()
    if reason:
        sys.exit(f"nothing to compare with: {reason}")
    unknown = set(case.peers) - {kind.name for kind in kinds}
    if unknown:
        sys.exit(f"--peers: {', '.join(sorted(unknown))}: known are {', '.join(kind.name for kind in kinds)}")
    for peer in (kind(case) for kind in kinds if not case.peers or kind.name in case.peers):
        reason = peer.missing()
        if reason is None:
            present.append(peer)
        else:
            print(f"left out: {peer.name}: {reason}", file=sys.stderr)
    runs, schedules = {peer.name: [] for peer in present}, {}
    for pair in range(case.pairs):
        # Every other round backwards, so that nobody always runs behind the same neighbour.
        for peer in list(present if pair % 2 == 0 else present[::-1]):
            own = os.path.join(folder, f"{peer.name}-{pair}")
            os.mkdir(own)
            try:
                run, schedules[peer.name] = measured(peer, own)
                runs[peer.name].append(run)
            except Failed as failure:
                if peer.name == "bookahead":
                    sys.exit(f"bookahead {failure}")
                print(f"left out: {peer.name}: {failure}", file=sys.stderr)
                present.remove(peer)
            shutil.rmtree(own)
    return [answer_of(peer, runs, schedules, case.usable) for peer in present]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="a plain SWF file")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--policy", choices=["easy", "conservative", "reservations"], required=True)
    parser.add_argument("--estimates", choices=["user", "perfect"], default="user")
    parser.add_argument("--lead", type=int, default=3600, help="reservations: seconds from submission to the wanted start")
    parser.add_argument("--jobs", type=int, default=0, help="only the first usable jobs (default: all)")
    parser.add_argument("--apart", type=int, default=1, metavar="K",
                        help="multiply times by K and add less than K at random, so that hardly two events share a second")
    parser.add_argument("--peers", type=lambda names: names.split(","), default=[], help="only these, with commas between them")
    parser.add_argument("--pairs", type=int, default=5, help="alternating runs (default 5)")
    parser.add_argument("--timeout", type=float, default=0, metavar="SECONDS", help="end a peer's run after so long and leave it out")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--bookahead", default="bookahead", help="the program (default: the one on the path)")
    case = parser.parse_args()
    if case.pairs < 1 or case.apart < 1 or case.nodes < 1 or case.jobs < 0:
        parser.error("--pairs, --apart and --nodes are at least 1, --jobs at least 0")
    case.trace = os.path.abspath(case.trace)
    if os.path.dirname(case.bookahead):
        case.bookahead = os.path.abspath(case.bookahead)
    try:
        with tempfile.TemporaryDirectory() as folder:
            answers = compared(case, folder)
    except (OSError, UnicodeError, ValueError) as error:
        sys.exit(f"{case.trace}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
    about = {
        "jobs": case.usable, "nodes": case.nodes, "policy": case.policy, "estimates": case.estimates, "apart": case.apart,
        "pairs": case.pairs, "cores": os.cpu_count(),
    }
    if case.json:
        print(json.dumps({**about, "simulators": answers}, indent=2))
        return
    print("{jobs} jobs, {nodes} nodes, {policy}, {estimates} estimates, {pairs} rounds, {cores} cores; whole processes".format(**about))
    for line in table(answers):
        print(line)


if __name__ == "__main__":
    main()
