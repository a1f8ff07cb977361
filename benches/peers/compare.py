#!/usr/bin/env python3
"""The same trace and the same policy through bookahead and through every peer that is installed, in turns.

Prints for each simulator the median of whole-process times, jobs a second, peak memory, and of the schedule the mean wait, mean
slowdown, mean bounded slowdown and mean queue depth; then the ratio of times to bookahead, pair by pair. Installs nothing: README.md
says how to get each peer and which variable names it. Python 3.8 or later, nothing else.

    python3 benches/peers/compare.py trace.swf --nodes 256 --policy easy --pairs 5
"""

import argparse
import csv
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time


def jobs_of(path):
    """(number, submit, run, nodes, estimate) of every usable record of a plain SWF file, as bookahead cleans it."""
    with open(path, encoding="latin-1") as trace:
        for line in trace:
            fields = line.split()
            if not fields or fields[0].startswith(";"):
                continue
            number, submit, run, allocated, requested, estimate = (
                int(float(fields[place])) for place in (0, 1, 3, 4, 7, 8)
            )
            nodes = allocated if allocated > 0 else requested
            if submit >= 0 and run > 0 and nodes > 0 and estimate > 0:
                yield number, submit, min(run, estimate), nodes, estimate


def figures(rows):
    """Figures of a schedule from (submit, wait, run) of its jobs."""
    rows = list(rows)
    if not rows:
        return {}
    count = len(rows)
    span = max(submit + wait + run for submit, wait, run in rows) - min(row[0] for row in rows)
    return {
        "jobs": count,
        "mean_wait": sum(wait for _, wait, _ in rows) / count,
        "slowdown": sum((wait + run) / run for _, wait, run in rows) / count,
        "bounded": sum(max(1.0, (wait + run) / max(run, 10)) for _, wait, run in rows) / count,
        "depth": sum(wait for _, wait, _ in rows) / span if span else None,
    }


class Peer:
    """A simulator: `prepare` makes its inputs, `command` runs it, `read` gives the schedule's figures."""

    name = ""

    def __init__(self, case):
        self.case = case

    def missing(self):
        """Why it cannot run, or None."""
        return None

    def prepare(self, folder):
        pass

    def command(self, folder):
        raise NotImplementedError

    def read(self, folder, output):
        return {}


class Bookahead(Peer):
    name = "bookahead"

    def missing(self):
        return None if shutil.which(self.case.bookahead) else f"{self.case.bookahead} is no program (--bookahead PATH)"

    def command(self, folder):
        command = [self.case.bookahead, "simulate", self.case.trace, "--policy", self.case.policy]
        command += ["--nodes", str(self.case.nodes), "--estimates", self.case.estimates, "--json"]
        if self.case.policy == "reservations":
            command += ["--lead", str(self.case.lead)]
        return command

    def read(self, folder, output):
        answer = json.loads(output)
        return {
            "jobs": answer["jobs"],
            "mean_wait": answer["mean_wait_seconds"],
            "slowdown": answer["mean_slowdown"],
            "bounded": answer["mean_bounded_slowdown"],
            "depth": answer["mean_queue_depth"],
            "engine": answer["jobs_per_second"],
        }


class Pyss(Peer):
    name = "pyss"
    schedulers = {"easy": "EasyBackfillScheduler", "conservative": "ConservativeScheduler"}

    def missing(self):
        if self.case.policy not in self.schedulers:
            return "has no such policy"
        self.home = os.environ.get("BOOKAHEAD_PEER_PYSS", "")
        self.python = os.environ.get("BOOKAHEAD_PEER_PYSS_PYTHON", "python2")
        if not os.path.isfile(os.path.join(self.home, "run_simulator.py")):
            return "BOOKAHEAD_PEER_PYSS names no folder with run_simulator.py"
        return None if shutil.which(self.python) else f"{self.python} is no program (BOOKAHEAD_PEER_PYSS_PYTHON)"

    def command(self, folder):
        return [
            self.python, "-O", os.path.join(self.home, "run_simulator.py"),
            f"--num-processors={self.case.nodes}", f"--input-file={self.case.input}",
            f"--scheduler={self.schedulers[self.case.policy]}",
        ]

    def read(self, folder, output):
        def value(label):
            found = re.search(re.escape(label) + r"\s*:?\s*([0-9.eE+-]+)", output)
            return float(found.group(1)) if found else None

        wait = value("Wait (Tw) [minutes]")
        return {
            "mean_wait": wait * 60 if wait is not None else None,
            "slowdown": value("Slowdown (Tw+Tr) / Tr"),
            "bounded": value("Bounded slowdown max(1, (Tw+Tr) / max(10, Tr)"),
        }


class Batsim(Peer):
    name = "batsim"
    variants = {"easy": "easy_bf", "conservative": "conservative_bf"}

    def missing(self):
        if self.case.policy not in self.variants:
            return "has no such policy"
        for program in ("batsim", "batsched"):
            if not shutil.which(program):
                return f"{program} is not on the path"
        return None

    def prepare(self, folder):
        jobs, profiles = [], {}
        for number, submit, run, nodes, estimate in jobs_of(self.case.input):
            profiles[f"d{run}"] = {"type": "delay", "delay": run}
            # Batsim kills at the walltime; a job that runs exactly as long as it said must live.
            jobs.append({"id": number, "subtime": submit, "walltime": estimate + 1, "res": nodes, "profile": f"d{run}"})
        with open(os.path.join(folder, "workload.json"), "w", encoding="utf-8") as file:
            json.dump({"nb_res": self.case.nodes, "jobs": jobs, "profiles": profiles}, file)
        with open(os.path.join(folder, "platform.xml"), "w", encoding="utf-8") as file:
            file.write(
                '<?xml version="1.0"?><!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
                '<platform version="4.1"><zone id="all" routing="Full">'
                f'<cluster id="nodes" prefix="n" suffix="" radical="0-{self.case.nodes - 1}" speed="1Gf" bw="125MBps" lat="50us"/>'
                '<zone id="master" routing="None"><host id="master_host" speed="1Gf"/></zone></zone></platform>\n'
            )

    def command(self, folder):
        variant = self.variants[self.case.policy]
        simulator = (
            f"batsim --quiet --disable-schedule-tracing --disable-machine-state-tracing -p {folder}/platform.xml "
            f"-w {folder}/workload.json -e {folder}/out"
        )
        return ["sh", "-c", f"batsched -v {variant} >/dev/null 2>&1 & {simulator} >/dev/null 2>&1; wait"]

    def read(self, folder, output):
        with open(os.path.join(folder, "out_jobs.csv"), encoding="utf-8") as file:
            rows = [
                (float(row["submission_time"]), float(row["waiting_time"]), float(row["execution_time"]))
                for row in csv.DictReader(file)
                if float(row["execution_time"]) > 0
            ]
        return figures(rows)


class Named(Peer):
    """Any other simulator: a command with {trace}, {nodes}, {policy}, {estimates}, {lead}, {folder} and {schedule} in it. If it
    leaves a SWF file at {schedule}, figures are read from that."""

    def __init__(self, case, name):
        super().__init__(case)
        self.name = name

    def missing(self):
        variable = f"BOOKAHEAD_PEER_{self.name.upper()}"
        self.template = os.environ.get(f"{variable}_{self.case.policy.upper()}", os.environ.get(variable))
        return None if self.template else f"{variable} (or {variable}_{self.case.policy.upper()}) names no command"

    def command(self, folder):
        case = self.case
        text = self.template.format(
            trace=case.input, nodes=case.nodes, policy=case.policy, estimates=case.estimates, lead=case.lead,
            folder=folder, schedule=os.path.join(folder, "schedule.swf"),
        )
        return shlex.split(text)

    def read(self, folder, output):
        path = os.path.join(folder, "schedule.swf")
        if not os.path.isfile(path):
            return {}
        rows = []
        with open(path, encoding="latin-1") as schedule:
            for line in schedule:
                fields = line.split()
                if fields and not fields[0].startswith(";") and float(fields[3]) > 0:
                    rows.append(tuple(float(fields[place]) for place in (1, 2, 3)))
        return figures(rows)


def high_water(pid):
    """The most memory that a process and those that it started ever held, in bytes. (What wait4 says has the memory of this
    program in it, from before the other one was loaded.)"""
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


def measured(peer, folder):
    """Seconds, peak bytes (sampled every 2 ms) and figures of one run of a whole process, its children included."""
    peer.prepare(folder)
    output = os.path.join(folder, "output.txt")
    peak, done = [0], threading.Event()

    def sample(pid):
        while not done.wait(0.002):
            peak[0] = max(peak[0], high_water(pid))

    with open(output, "w", encoding="utf-8") as file:
        begin = time.perf_counter()
        process = subprocess.Popen(peer.command(folder), stdout=file, stderr=subprocess.DEVNULL, cwd=folder)
        sampler = threading.Thread(target=sample, args=(process.pid,))
        sampler.start()
        status = process.wait()
        seconds = time.perf_counter() - begin
        done.set()
        sampler.join()
    if status != 0:
        raise RuntimeError(f"{peer.name} ended with status {status}")
    with open(output, encoding="utf-8", errors="replace") as file:
        return seconds, peak[0], peer.read(folder, file.read())


def shown(value, pattern):
    return pattern.format(value) if value is not None else "-"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace", help="a plain SWF file")
    parser.add_argument("--nodes", type=int, required=True)
    parser.add_argument("--policy", choices=["easy", "conservative", "reservations"], required=True)
    parser.add_argument("--estimates", choices=["user", "perfect"], default="user")
    parser.add_argument("--lead", type=int, default=3600, help="reservations: seconds from submission to the wanted start")
    parser.add_argument("--pairs", type=int, default=5, help="alternating runs (default 5)")
    parser.add_argument("--bookahead", default="bookahead", help="the program (default: the one on the path)")
    case = parser.parse_args()
    case.trace = os.path.abspath(case.trace)
    with tempfile.TemporaryDirectory() as folder:
        # Peers know no --estimates: they get a trace that says what is to be believed, and only jobs that fit.
        case.input = os.path.join(folder, "input.swf")
        jobs = 0
        with open(case.input, "w", encoding="utf-8") as file:
            file.write(f"; MaxProcs: {case.nodes}\n")
            for number, submit, run, nodes, estimate in jobs_of(case.trace):
                if nodes > case.nodes:
                    continue
                if case.estimates == "perfect":
                    estimate = run
                file.write(f"{number} {submit} -1 {run} {nodes} -1 -1 {nodes} {estimate} -1 1 1 1 1 1 -1 -1 -1\n")
                jobs += 1
        case.trace = case.input
        present = []
        for peer in [Bookahead(case), Pyss(case), Batsim(case)] + [
            Named(case, name) for name in ("accasim", "alea", "servsim")
        ]:
            reason = peer.missing()
            if reason is None:
                present.append(peer)
            else:
                print(f"left out: {peer.name}: {reason}", file=sys.stderr)
        if not present or present[0].name != "bookahead":
            sys.exit("nothing to compare with: bookahead itself is missing")
        seconds = {peer.name: [] for peer in present}
        peak, found = {}, {}
        for pair in range(case.pairs):
            # Every other round backwards, so that nobody always runs behind the same neighbour.
            for peer in present if pair % 2 == 0 else present[::-1]:
                own = os.path.join(folder, f"{peer.name}-{pair}")
                os.mkdir(own)
                took, bytes_, read = measured(peer, own)
                seconds[peer.name].append(took)
                peak[peer.name] = max(peak.get(peer.name, 0), bytes_)
                found[peer.name] = read
                shutil.rmtree(own)
        print(f"{jobs} jobs, {case.nodes} nodes, {case.policy}, {case.estimates} estimates, {os.cpu_count()} cores, {case.pairs} rounds")
        print(f"{'':12}{'seconds':>10}{'jobs/s':>12}{'peak MB':>10}{'mean wait':>12}{'slowdown':>12}{'bounded':>10}{'depth':>10}{'times bookahead':>18}")
        for peer in present:
            times, read = seconds[peer.name], found[peer.name]
            ratios = [own / base for own, base in zip(times, seconds["bookahead"])]
            median = statistics.median(times)
            print(
                f"{peer.name:12}{median:10.3f}{jobs / median:12.0f}{peak[peer.name] / 1e6:10.1f}"
                f"{shown(read.get('mean_wait'), '{:.1f}'):>12}{shown(read.get('slowdown'), '{:.3f}'):>12}"
                f"{shown(read.get('bounded'), '{:.3f}'):>10}{shown(read.get('depth'), '{:.2f}'):>10}"
                f"{statistics.median(ratios):18.1f}"
            )
        engine = found["bookahead"].get("engine")
        if engine:
            print(f"bookahead without start-up, reading and writing: {engine:.0f} jobs/s")


if __name__ == "__main__":
    main()
