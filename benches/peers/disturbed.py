"""The simulators of `beside.py --with failures` and `--with reservations`: bookahead's study `replanning`, and the fork of Batsim.

Nothing else that is compared here has node failures together with a backfilling queue that it gives back a schedule of, or reservations
(README.md says which rules these two have).
"""

import collections
import csv
import json
import os
import sqlite3
import subprocess

import compare

# A run of bookahead that leaves every outcome in a store, as the other one leaves its table of jobs.
EXPERIMENT = """[experiment]
name = "beside"
description = "One trace, beside another simulator."
seed = {seed}
replications = 1

[workload]
trace = "input.swf"
nodes = {nodes}
whole_trace = true

[scheduling]
strategy = "replanning"

[planning]
backfilling = "{backfilling}"

[reservations]
share_percent = {percent}
origin = "copy"
start = "estimate-factor"
start_factor = 1.0

[admission]
rule = "{rule}"
preemptible_percent = {preemptible}
displacement = "skip"

[failures]
source = "{source}"
rate_per_hour = {rate:g}
repair_rate_per_hour = {repair:g}
"""


def experiment(case):
    """The experiment of one policy."""
    fails = case.extra == "failures"
    text = EXPERIMENT.format(
        seed=case.seed, nodes=case.nodes, backfilling={"easy": "aggressive", "conservative": "conservative"}[case.policy],
        percent=0 if fails else case.percent, rule="reject" if fails else "requeue", preemptible=0 if fails else 100,
        source="generated" if fails else "none", rate=1 / case.mtbf, repair=1 / max(case.repair, 1 / 3600),
    )
    # What has no meaning without the rest may not be given.
    drop = ["rate_per_hour", "repair_rate_per_hour"] if not fails else ["origin", "start", "preemptible_percent", "displacement"]
    return "\n".join(line for line in text.splitlines() if line.split("=")[0].strip().removesuffix("_factor") not in drop) + "\n"


def simulated(case, folder):
    """The command that runs the experiment in a folder."""
    with open(os.path.join(folder, "experiment.toml"), "w", encoding="ascii") as file:
        file.write(experiment(case))
    return ["env", f"BOOKAHEAD_TRACES={os.path.dirname(case.input)}", case.bookahead, "run", "experiment.toml", "--workers", "1",
            "--outcomes", "all"]


def asked(case, folder):
    """The requests for reservations that bookahead makes of a trace: submission, start, duration, use and nodes."""
    own = os.path.join(folder, "asked")
    os.mkdir(own)
    subprocess.run(simulated(case, own), cwd=own, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with sqlite3.connect(os.path.join(own, "data", "bookahead.db")) as store:
        return store.execute("SELECT asked_at, earliest, duration, runtime, nodes FROM v_reservation ORDER BY asked_at, request").fetchall()


class Bookahead(compare.Bookahead):
    policies = ("easy", "conservative")

    def command(self, folder, schedule):
        return simulated(self.case, folder)

    def schedule(self, folder, schedule):
        with sqlite3.connect(os.path.join(folder, "data", "bookahead.db")) as store:
            jobs = {
                number: (submit, wait, run)
                for number, submit, wait, run in store.execute(
                    "SELECT trace_number, submit, waiting, runtime FROM v_job WHERE start IS NOT NULL")
            }
            verdicts = collections.Counter(verdict for verdict, in store.execute("SELECT verdict FROM v_reservation"))
            restarts, failures = store.execute("SELECT sum(restarts), sum(node_failures) FROM v_job").fetchone()
        if self.case.extra == "failures":
            self.note = f"{failures} runs lost"
        else:
            self.note = f"{verdicts['granted']} of {sum(verdicts.values())} granted, {restarts} runs stopped"
        return jobs


class Batsim4(compare.Batsim4):
    # What it refuses stays in its queue of reservations (conservative_bf.cpp, handle_reservations), and it never says that it has done.
    lingers = True

    def missing(self):
        if self.case.extra == "reservations" and self.case.policy != "conservative":
            return "has reservations with conservative backfilling only"
        return super().missing()

    def prepare(self, folder):
        super().prepare(folder)
        if self.case.extra == "failures":
            return
        workload = os.path.join(folder, "workload.json")
        with open(workload, encoding="ascii") as file:
            content = json.load(file)
        first = max(int(job["id"]) for job in content["jobs"]) + 1
        for number, (submit, start, duration, use, nodes) in enumerate(asked(self.case, folder), first):
            content["profiles"][f"d{use}"] = {"type": "delay", "delay": use}
            # One second more, as its own reservations.py does, so that what needs all of its time is not killed.
            content["jobs"].append({
                "id": str(number), "subtime": submit, "walltime": duration + 1, "res": nodes, "profile": f"d{use}", "start": start,
                "purpose": "reservation",
            })
        content["jobs"].sort(key=lambda job: job["subtime"])
        with open(workload, "w", encoding="ascii") as file:
            json.dump(content, file)

    def options(self):
        case, options = self.case, "--enable-dynamic-jobs --acknowledge-dynamic-jobs --queue-policy ORIGINAL-FCFS"
        if case.extra == "failures":
            options += (
                f" --SMTBF {3600 * case.mtbf / case.nodes:g} --seed-failures {case.seed} --seed-failure-machine {case.seed + 1}"
                f" --seed-repair-times {case.seed + 2}"
            )
            return options + (f" --MTTR {3600 * case.repair:g}" if case.repair else "")
        return options + " --reschedule-policy RESCHEDULE_ALL"

    def schedule(self, folder, schedule):
        jobs, kinds = {}, collections.Counter()
        with open(os.path.join(folder, "out", "out_jobs.csv"), encoding="ascii") as file:
            for row in csv.DictReader(file):
                kinds[row["purpose"], row["final_state"]] += 1
                if row["purpose"] == "job" and row["final_state"] in ("COMPLETED_SUCCESSFULLY", "COMPLETED_WALLTIME_REACHED"):
                    submit = float(row["original_submit"])
                    # A job that ran again is submitted again under its number and #1, #2 …
                    number = int(row["job_id"].split("#")[0])
                    jobs[number] = (submit, float(row["starting_time"]) - submit, float(row["execution_time"]))
        lost = kinds["job", "COMPLETED_KILLED"]
        if self.case.extra == "failures":
            self.note = f"{lost} runs lost"
        else:
            reservations = sum(count for (purpose, _), count in kinds.items() if purpose == "reservation")
            self.note = f"{kinds['reservation', 'COMPLETED_SUCCESSFULLY']} of {reservations} granted, {lost} runs stopped"
        return jobs
