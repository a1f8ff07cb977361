"""Sweeps of planning-based scheduling experiments from Python.

The package starts the program `bookahead`, which the same wheel brings, and reads what it exports; nothing is simulated here, and no table
of the store is known here.

    import bookahead

    run = bookahead.run("configs/quickstart.toml")
    points = run.points()                      # a row for each point, a column for each axis
    jobs = run.jobs(points=points.filter(strategy="heuristic-overbooking", replication=0))
    runs = bookahead.sql("SELECT run, name, state FROM v_run WHERE name = ?", ["quickstart"])

Columns have the names and units of the store's views, which `docs/schema.md` explains. A store may be read while a sweep writes into it.
"""

from ._errors import BookaheadError, ExperimentError, PointsFailedError, Problem, ProgramNotFoundError
from ._program import program, version
from ._runs import (
    DEFAULT_STORE,
    Durability,
    Outcomes,
    Run,
    check,
    export,
    export_file,
    figures,
    jobs,
    open_run,
    points,
    report,
    reservations,
    run,
    sql,
    tables,
)

__all__ = [
    "DEFAULT_STORE",
    "BookaheadError",
    "Durability",
    "ExperimentError",
    "Outcomes",
    "PointsFailedError",
    "Problem",
    "ProgramNotFoundError",
    "Run",
    "check",
    "export",
    "export_file",
    "figures",
    "jobs",
    "open_run",
    "points",
    "program",
    "report",
    "reservations",
    "run",
    "sql",
    "tables",
    "version",
]
