"""One curve from a run: gain over the threshold of acceptance, one line a strategy, with 95 % intervals.

    bookahead export latest --format parquet --out points.parquet
    python docs/examples/curve.py data/bookahead.db points.parquet curve.svg

Needs polars and matplotlib; sqlite3 comes with Python. Explained in docs/python.md.
"""

import sqlite3
import sys

import matplotlib

matplotlib.use("svg")  # draws without a display
import matplotlib.pyplot as plt
import polars as pl

# Two-sided 95 % quantiles of Student's t for n - 1 degrees of freedom, n = 2 to 30; the normal one after that.
T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
     2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045]  # fmt: skip


def t_95(count):
    return T[count - 2] if count - 2 < len(T) else 1.960


def main(store, export, picture):
    # The export says what came out: a row for every point, an axis a column, each with its own type.
    points = pl.read_parquet(export).filter(pl.col("state") == "done")
    axis = "acceptance.pof_max"
    curve = (
        points.group_by("strategy", axis)
        .agg(
            pl.col("gain").mean().alias("mean"),
            pl.col("gain").std().fill_null(0.0).alias("deviation"),
            pl.len().alias("count"),
        )
        .sort("strategy", axis)
    )

    # The store says what was run. Opened read-only: a sweep may be writing to it.
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    name, done, of, version = connection.execute(
        "SELECT name, points_done, points, program_version FROM v_run WHERE run = ?", [points["run"][0]]
    ).fetchone()
    connection.close()

    plt.rcParams["svg.fonttype"] = "none"  # text stays text
    plt.rcParams["svg.hashsalt"] = "bookahead"  # the same picture from the same numbers
    figure, plot = plt.subplots(figsize=(8, 5))
    for (strategy,), part in curve.group_by("strategy", maintain_order=True):
        half = [t_95(n) * s / n**0.5 if n > 1 else 0 for n, s in zip(part["count"], part["deviation"])]
        plot.errorbar(part[axis], part["mean"], yerr=half, marker="o", capsize=3, label=strategy)
    plot.set_xlabel("Accepted probability of failure")
    plot.set_ylabel("Gain (VC), mean and 95 % interval")
    plot.set_title(f"{name}: {done} of {of} points, bookahead {version}")
    plot.set_ylim(bottom=0)
    plot.legend()
    figure.savefig(picture, metadata={"Date": None})

    best = curve.sort("mean", descending=True).row(0, named=True)
    print(f"highest mean gain: {best['mean']:.2f} VC, {best['strategy']} at {axis} = {best[axis]}")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
