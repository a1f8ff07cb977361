"""Runs AccaSim 1.1.3 on a trace (its EASYBackfilling, the only policy here that it has) and leaves its schedule as a trace.

    python3.9 accasim_run.py TRACE NODES SCHEDULE
"""

import json
import os
import sys
import tempfile

from accasim.base.additional_data import AdditionalData
from accasim.base.allocator_class import FirstFit
from accasim.base.scheduler_class import EASYBackfilling
from accasim.base.simulator_class import Simulator

trace, nodes, schedule = sys.argv[1:]


class Schedule(AdditionalData):
    """Writes jobs as they end."""

    def exec_before_submission(self, *_):
        pass

    exec_after_submission = exec_before_submission
    exec_before_dispatching = exec_before_submission
    exec_after_dispatching = exec_before_submission
    exec_before_completion = exec_before_submission

    def exec_after_completion(self, jobs):
        for job in jobs:
            out.write(
                f"{job.id} {job.queued_time} {job.start_time - job.queued_time} {job.duration} {job.requested_nodes} -1 -1 "
                f"{job.requested_nodes} {job.expected_duration} -1 1 1 1 1 1 -1 -1 -1\n"
            )

    def stop(self):
        pass


with tempfile.TemporaryDirectory() as folder, open(schedule, "w", encoding="utf-8") as out:
    # One node with all the processors: an allocator that never has to look for more than one is the fastest that AccaSim can be, and
    # nothing here depends on which processors a job gets.
    system = os.path.join(folder, "system.json")
    with open(system, "w", encoding="utf-8") as file:
        json.dump({"groups": {"g0": {"core": int(nodes)}}, "resources": {"g0": 1}, "equivalence": {"processor": {"core": 1}}}, file)
    Simulator(
        trace, system, EASYBackfilling(FirstFit()), additional_data=[Schedule], scheduling_output=False, statistics_output=False,
        show_statistics=False, RESULTS_FOLDER_PATH=folder,
    ).start_simulation()
