"""Runs pyss (Python 2) on a trace and leaves its schedule as a trace: pyss itself prints only means, without the first hundredth of the
jobs and without those that end after the last submission.

    python2 -O pyss_run.py PYSS_SOURCE_FOLDER TRACE NODES easy|conservative SCHEDULE
"""

import sys

source, trace, nodes, policy, schedule = sys.argv[1:]
nodes = int(nodes)
sys.path.insert(0, source)

from base.prototype import _job_inputs_to_jobs
from base.workload_parser import parse_lines
from schedulers import simulator
from schedulers.conservative_scheduler import ConservativeScheduler
from schedulers.easy_scheduler import EasyBackfillScheduler


def write(jobs, _):
    with open(schedule, "w") as out:
        for job in jobs:
            wait = job.start_to_run_at_time - job.submit_time
            out.write("%d %d %d %d %d -1 -1 %d %d -1 1 1 1 1 1 -1 -1 -1\n" % (
                job.id, job.submit_time, wait, job.actual_run_time, job.num_required_processors,
                job.num_required_processors, job.user_estimated_run_time))


simulator.print_statistics = write
scheduler = {"easy": EasyBackfillScheduler, "conservative": ConservativeScheduler}[policy]
with open(trace) as lines:
    simulator.run_simulator(nodes, _job_inputs_to_jobs(parse_lines(lines), nodes), scheduler(nodes))
