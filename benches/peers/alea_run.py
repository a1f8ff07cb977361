#!/usr/bin/env python3
"""Runs Alea 4 on a trace and leaves its schedule as a trace. ALEA is the folder with lib/, configuration.properties and out/ (its classes).

    alea_run.py ALEA TRACE NODES easy|conservative SCHEDULE
"""

import os
import shutil
import subprocess
import sys
import tempfile

alea, trace, nodes, policy, schedule = sys.argv[1:]
alea, trace = os.path.abspath(alea), os.path.abspath(trace)
# One machine with all processors: nothing here depends on which ones a job gets. The plan is not cut, and estimates are the users'.
ours = {
    "data_sets": "trace.swf",
    "data_set_dir": "./data",
    "first_arrival": "0",
    "algorithms": {"easy": "2", "conservative": "4"}[policy],
    "limit_schedule_size": "false",
    "fast_schedule_compression": "false",
    "use_RAM": "false",
    "estimate": "true",
    "skip": "1",
}

with open(trace, encoding="latin-1") as lines:
    records = [line.split() for line in lines if line.strip() and not line.startswith(";")]
by_number = {record[0]: record for record in records}
with tempfile.TemporaryDirectory() as folder:
    os.mkdir(os.path.join(folder, "data"))
    shutil.copy(trace, os.path.join(folder, "data", "trace.swf"))
    with open(os.path.join(folder, "data", "trace.swf.machines"), "w", encoding="ascii") as file:
        file.write(f"0\tall\t1\t{nodes}\t1\t67108864\n")
    ours["total_gridlet"] = str(len(records))
    with open(os.path.join(alea, "configuration.properties"), encoding="latin-1") as theirs:
        lines = [line.rstrip("\n") for line in theirs if line.split("=")[0].strip() not in ours]
    with open(os.path.join(folder, "configuration.properties"), "w", encoding="latin-1") as file:
        file.write("\n".join(lines + [f"{key}={value}" for key, value in ours.items()]) + "\n")
    classes = ":".join(os.path.join(alea, part) for part in ("out", "lib/simjava.jar", "lib/gridsim.jar"))
    subprocess.run(
        ["java", "-Djava.awt.headless=true", "-cp", classes, "xklusac.environment.ExperimentSetup"],
        cwd=folder, stdout=None if os.environ.get("ALEA_SHOW") else subprocess.DEVNULL, check=True,
    )
    found = [os.path.join(path, name) for path, _, names in os.walk(folder) for name in names if name.startswith("jobs_") and name.endswith(".csv")]
    with open(found[0], encoding="latin-1") as rows, open(schedule, "w", encoding="ascii") as out:
        for row in rows:
            fields = row.replace(",", ".").split("\t")
            record = by_number.get(fields[0].strip())
            if record:
                record[2] = str(round(float(fields[3])))
                out.write(" ".join(record) + "\n")
