#!/usr/bin/env python3
"""A trace with a deep queue: users who submit blocks of equal jobs to a large machine, three quarters of them of one processor.

176 users, of whom few submit most; a submission is one job or a block of up to some hundred that ask for the same; limits are round
numbers, and most jobs end long before them.

    python3 benches/peers/deep_trace.py deep.swf --jobs 448000 --nodes 8192 --load 0.85
"""

import argparse
import math
import random

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out")
parser.add_argument("--jobs", type=int, default=448_000)
parser.add_argument("--nodes", type=int, default=8_192)
parser.add_argument("--users", type=int, default=176)
parser.add_argument("--load", type=float, default=0.85, help="by run times; `simulate --load` meets it exactly")
parser.add_argument("--seed", type=int, default=7)
case = parser.parse_args()
draw = random.Random(case.seed)
LIMITS = [h * 3600 for h in (1, 2, 4, 8, 12, 24, 24, 24, 48, 72, 72, 96)]
users = [(1 / rank, draw.choices(LIMITS, k=3), draw.uniform(0.5, 2)) for rank in range(1, case.users + 1)]
weights = [weight for weight, *_ in users]
submissions = []
jobs = 0
work = 0.0
while jobs < case.jobs:
    user = draw.choices(range(case.users), weights)[0]
    _, limits, scale = users[user]
    limit = draw.choice(limits)
    narrow = draw.random() < 0.5
    size = min(400, int(draw.paretovariate(0.75))) if narrow else min(100, int(draw.paretovariate(1.0)))
    size = min(size, case.jobs - jobs)
    nodes = 1 if narrow else min(case.nodes // 4, 2 ** int(draw.triangular(1, 12, 4)))
    typical = limit * min(0.9, scale * draw.betavariate(0.5, 2.5))
    runs = [max(1, min(limit, int(typical * draw.lognormvariate(0, 0.4)))) for _ in range(size)]
    submissions.append((user + 1, nodes, limit, runs))
    jobs += size
    work += nodes * sum(runs)
gap = work / (case.nodes * case.load) / len(submissions)
time = 0.0
number = 0
with open(case.out, "w", encoding="utf-8") as file:
    file.write(f"; MaxProcs: {case.nodes}\n")
    for user, nodes, limit, runs in submissions:
        time += draw.expovariate(1 / gap)
        for run in runs:
            number += 1
            file.write(f"{number} {int(time)} -1 {run} {nodes} -1 -1 {nodes} {limit} -1 1 {user} 1 1 1 -1 -1 -1\n")
