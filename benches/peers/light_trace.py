#!/usr/bin/env python3
"""A trace with a short queue: Poisson arrivals, widths 1, 2, 4 … 32, exponential run times of an hour, estimates one to five times as long.

    python3 benches/peers/light_trace.py light.swf --jobs 200000 --nodes 256 --load 0.85
"""

import argparse
import random

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("out")
parser.add_argument("--jobs", type=int, default=200_000)
parser.add_argument("--nodes", type=int, default=256)
parser.add_argument("--load", type=float, default=0.85, help="by run times; `simulate --load` meets it exactly")
parser.add_argument("--seed", type=int, default=7)
case = parser.parse_args()
draw = random.Random(case.seed)
mean_gap = 10.5 * 3600 / (case.nodes * case.load)
time = 0.0
with open(case.out, "w", encoding="utf-8") as file:
    file.write(f"; MaxProcs: {case.nodes}\n")
    for number in range(1, case.jobs + 1):
        time += draw.expovariate(1 / mean_gap)
        nodes = 2 ** draw.randint(0, 5)
        run = max(1, int(draw.expovariate(1 / 3600)))
        estimate = max(run, int(run * draw.uniform(1, 5)))
        file.write(f"{number} {int(time)} -1 {run} {nodes} -1 -1 {nodes} {estimate} -1 1 1 1 1 1 -1 -1 -1\n")
