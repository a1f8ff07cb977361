"""Runs an experiment, and reads what the store has of it."""

from __future__ import annotations

import json
import numbers
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import polars as pl
import tomli_w

from . import _program
from ._errors import BookaheadError, ExperimentError, PointsFailedError, Problem

Outcomes = Literal["all", "metrics"]
"""What a sweep keeps: every job's outcome, or the metrics of points only."""

Durability = Literal["fast", "normal", "full"]
"""What a power failure may cost a store."""

DEFAULT_STORE = Path("data/bookahead.db")
"""The store that the program takes where no other is named, below the current folder."""

AnyPath = str | os.PathLike[str]
Points = pl.DataFrame | pl.Series | Iterable[int]


@dataclass(frozen=True)
class Run:
    """A run of an experiment in a store: what `run` and `open_run` return and everything else takes.

    Attributes:
        id: Its number in the store.
        store: The store.
        name: The name of the experiment.
        state: `done`, `interrupted`, `failed` or `running`, when this was read.
        points_total: How many points the sweep has.
        points_done: How many of them were done.
        points_failed: How many of them failed.
    """

    id: int
    store: Path
    name: str
    state: str
    points_total: int
    points_done: int
    points_failed: int

    def points(self) -> pl.DataFrame:
        """As the function `points`."""
        return points(self)

    def jobs(self, *, points: Points | None = None, where: str | None = None) -> pl.DataFrame:
        """As the function `jobs`."""
        return jobs(self, points=points, where=where)

    def reservations(self, *, points: Points | None = None, where: str | None = None) -> pl.DataFrame:
        """As the function `reservations`."""
        return reservations(self, points=points, where=where)

    def export(self, what: str, *, points: Points | None = None, where: str | None = None) -> pl.DataFrame:
        """As the function `export`."""
        return export(self, what, points=points, where=where)

    def report(self, folder: AnyPath) -> Path:
        """As the function `report`."""
        return report(self, folder)

    def tables(self) -> dict[str, pl.DataFrame]:
        """As the function `tables`."""
        return tables(self)

    def figures(self) -> dict[str, pl.DataFrame]:
        """As the function `figures`."""
        return figures(self)


AnyRun = Run | int | str
"""A run, its number in the store, the name of its experiment (the last run of that name), or `latest`."""


def run(
    configuration: Mapping[str, Any] | AnyPath,
    *,
    store: AnyPath = DEFAULT_STORE,
    workers: int | None = None,
    seed: int | None = None,
    outcomes: Outcomes = "all",
    durability: Durability = "normal",
    report: AnyPath | None = None,
    retry_failed: bool = False,
    fresh: bool = False,
    progress: bool | None = None,
    check_points: bool = True,
) -> Run:
    """Runs an experiment, or goes on with it: points that the store has are not run again.

    A `KeyboardInterrupt` lets the program finish the simulations under way and is raised then; what was done is in the store, and the same
    call goes on. (A second one stops it at once; the store stays whole.)

    Args:
        configuration: The experiment file, or what would stand in it as a dictionary: tables are dictionaries, `[[axis]]` is a list of
            them. Numbers of numpy and columns of Polars are taken where numbers and lists are.
        store: The database; it is made if it is missing.
        workers: How many simulations run at once; all cores if not given.
        seed: Takes the place of the configuration's.
        outcomes: `all` keeps every job's outcome, `metrics` the metrics of points only.
        durability: What a power failure may cost: `fast` what was committed since the last checkpoint, `normal` the last ten seconds, `full`
            nothing. A kill of the program costs nothing that was committed in any case.
        report: A folder for the report; none is written if not given.
        retry_failed: Try points again that failed before.
        fresh: Compute everything anew, whatever the store has; older runs keep their results.
        progress: Whether progress is shown on standard error; if not given, where that is a terminal. Without it, warnings of the program
            go to the logger `bookahead`.
        check_points: Whether it is an error that some points failed.

    Raises:
        ExperimentError: When the configuration is wrong; it names every key.
        PointsFailedError: When some points failed, unless `check_points` is false.
        BookaheadError: When a trace is missing, the store cannot be written, and so on.
        TypeError: When a dictionary holds what no experiment file can hold.
    """
    named, text = _configuration(configuration)
    arguments = ["run", "--json", f"--store={os.fspath(store)}", f"--outcomes={outcomes}"]
    arguments += [f"--durability={durability}"]
    arguments += ["--no-report"] if report is None else [f"--report={os.fspath(report)}"]
    arguments += _option("--workers", workers) + _option("--seed", seed)
    arguments += ["--retry-failed"] if retry_failed else []
    arguments += ["--fresh"] if fresh else []
    shown = sys.stderr.isatty() if progress is None else progress
    arguments += [] if shown else ["--quiet"]
    ended = _program.start([*arguments, "--", named], text, terminal=shown)
    told = _object(ended.out)
    if "run" not in told:
        raise _experiment_error(ended, told, of_dictionary=text is not None)
    if ended.exit_code not in (0, 1):
        raise BookaheadError(_program.message(ended), ended.exit_code)
    _program.log(ended, only_warnings=not shown)
    made = _run(told, Path(store))
    if ended.exit_code == 1 and check_points:
        raise PointsFailedError(
            f"{made.points_failed} of {made.points_total} points of run {made.id} in {made.store} failed: the column `error` of its points "
            "says why; retry_failed=True tries them again",
            ended.exit_code,
            made,
        )
    return made


def check(configuration: Mapping[str, Any] | AnyPath, *, store: AnyPath = DEFAULT_STORE) -> dict[str, Any]:
    """Does everything that `run` does before it runs.

    Returns:
        Among others `points`, `points_done`, `simulations_to_do`, the `seconds` and `megabytes` that they will take, and the `inputs`.

    Raises:
        BookaheadError: As `run` does.
    """
    named, text = _configuration(configuration)
    ended = _program.start(["check", "--json", f"--store={os.fspath(store)}", "--", named], text)
    told = _object(ended.out)
    if ended.exit_code != 0:
        raise _experiment_error(ended, told, of_dictionary=text is not None)
    _program.log(ended)
    return told


def open_run(run: AnyRun = "latest", *, store: AnyPath = DEFAULT_STORE) -> Run:
    """Returns a run that a store has, as it stands now.

    Raises:
        BookaheadError: When the store cannot be read or has no such run.
    """
    named, file = _named(run, store)
    return _run(_object(_program.call(["show", "--json", f"--store={file}", "--", named]).out), file)


def points(run: AnyRun = "latest", *, store: AnyPath = DEFAULT_STORE, where: str | None = None) -> pl.DataFrame:
    """Returns the points of a run: a row for each, a column for each axis (called after its key), and their metrics.

    Points that are not done have a `state` other than `done` and no numbers. Points with the same `simulation` differ only in what their
    strategy does not read or in a price, and are no independent observations; the unit of replication is `replication`.

    Args:
        run: Which run.
        store: The store, unless `run` is a `Run`.
        where: A condition in SQL on the columns; one with a dot is put in double quotes: `'"acceptance.pof_max" <= 0.1'`.

    Raises:
        BookaheadError: When the store cannot be read, has no such run, or the condition is wrong.
    """
    return export(run, "points", store=store, where=where)


def jobs(
    run: AnyRun = "latest",
    *,
    points: Points | None = None,
    where: str | None = None,
    store: AnyPath = DEFAULT_STORE,
) -> pl.DataFrame:
    """Returns what became of jobs: a row for each job of each simulation; `simulation` joins them to points.

    Args:
        run: Which run.
        points: Only the jobs of these points: rows of `points()`, or numbers of their column `place`.
        where: A condition in SQL on the columns, such as `"overbooked AND outcome = 'failed'"`. Only rows that meet it are read.
        store: The store, unless `run` is a `Run`.

    Raises:
        BookaheadError: When the store cannot be read, has no such run, or has no jobs of it (`outcomes="metrics"`).
    """
    return export(run, "jobs", points=points, where=where, store=store)


def reservations(
    run: AnyRun = "latest",
    *,
    points: Points | None = None,
    where: str | None = None,
    store: AnyPath = DEFAULT_STORE,
) -> pl.DataFrame:
    """Returns what became of requests for reservations: a row for each request of each simulation. Arguments and errors as for `jobs`."""
    return export(run, "reservations", points=points, where=where, store=store)


def export(
    run: AnyRun,
    what: str,
    *,
    points: Points | None = None,
    where: str | None = None,
    store: AnyPath = DEFAULT_STORE,
) -> pl.DataFrame:
    """Returns the rows of any kind that `bookahead export --help` lists: `simulations`, `node-events`, `measures`, `tasks` and others.

    Arguments and errors as for `jobs`.
    """
    with tempfile.TemporaryDirectory(prefix="bookahead-") as folder:
        file = export_file(run, what, Path(folder) / "rows.parquet", points=points, where=where, store=store)
        return pl.read_parquet(file, memory_map=False)


def export_file(
    run: AnyRun,
    what: str,
    out: AnyPath,
    *,
    points: Points | None = None,
    where: str | None = None,
    store: AnyPath = DEFAULT_STORE,
) -> Path:
    """Writes the rows into a Parquet file, for `polars.scan_parquet` and other readers of more than fits the memory.

    Args:
        out: The file; it appears when it is whole.

    Returns:
        The file. The other arguments and errors are as for `jobs`.
    """
    named, file = _named(run, store)
    # What would be read as an option is still the value of one, and a name behind `--` is none.
    arguments = ["export", "--format=parquet", f"--what={what}", f"--out={os.fspath(out)}", f"--store={file}"]
    places = None if points is None else _places(points)
    if places == "":
        places, where = None, "FALSE"
    with tempfile.TemporaryDirectory(prefix="bookahead-") as folder:
        if places is not None:
            # A list of points may be longer than a command line.
            arguments.append("--point=@-")
        if where is not None:
            arguments.append(f"--where={_in_file(where, Path(folder) / 'where.sql')}")
        _program.call([*arguments, "--", named], places)
    return Path(out)


def sql(
    query: str,
    parameters: Sequence[Any] | Mapping[str, Any] | None = None,
    *,
    store: AnyPath = DEFAULT_STORE,
    timeout: int = 600,
) -> pl.DataFrame:
    """Asks a store a question in SQL; nothing is ever changed.

    Args:
        query: One question. `docs/schema.md` explains the views; `points` is `v_point` with a column for each axis (`acceptance_pof_max`).
        parameters: Values in the place of `?`, or by name in the place of `:name`.
        store: The store.
        timeout: Seconds after which it is given up; 0 for never.

    Returns:
        The rows. A column has the type that holds all its values; without any value it is text.

    Raises:
        BookaheadError: When the question is wrong, would write, or takes too long, or the store cannot be read.
    """
    with tempfile.TemporaryDirectory(prefix="bookahead-") as folder:
        out = Path(folder) / "rows.parquet"
        arguments = ["sql", "-", "--format=parquet", f"--out={out}", f"--store={os.fspath(store)}", f"--timeout={timeout}"]
        if parameters is not None:
            values = json.dumps(_plain(parameters, "parameters"))
            arguments.append(f"--parameters={_in_file(values, Path(folder) / 'parameters.json')}")
        _program.call(arguments, query)
        return pl.read_parquet(out, memory_map=False)


def report(run: AnyRun, folder: AnyPath, *, store: AnyPath = DEFAULT_STORE) -> Path:
    """Writes the report of a run.

    Returns:
        The page, `index.html` in the folder.

    Raises:
        BookaheadError: When the store cannot be read, has no such run, or the folder cannot be written.
    """
    named, file = _named(run, store)
    _program.call(["report", "--json", f"--out={os.fspath(folder)}", f"--store={file}", "--", named])
    return Path(folder) / "index.html"


def tables(run: AnyRun, *, store: AnyPath = DEFAULT_STORE) -> dict[str, pl.DataFrame]:
    """The tables of the report of a run, by the names of their files, such as `best` and `summary`.

    Estimates have columns for the mean and the ends of their intervals.

    Raises:
        BookaheadError: When the store cannot be read, or has no such run.
    """
    with tempfile.TemporaryDirectory(prefix="bookahead-") as folder:
        report(run, folder, store=store)
        files = sorted(Path(folder, "tables").glob("*.parquet"))
        return {file.stem: pl.read_parquet(file, memory_map=False) for file in files}


def figures(run: AnyRun, *, store: AnyPath = DEFAULT_STORE) -> dict[str, pl.DataFrame]:
    """What the figures of the report of a run show, by the names of their files, such as `gain-by-acceptance-pof-max`: a row for each mark.

    Raises:
        BookaheadError: When the store cannot be read, or has no such run.
    """
    with tempfile.TemporaryDirectory(prefix="bookahead-") as folder:
        report(run, folder, store=store)
        files = sorted(Path(folder, "plots").glob("*.csv"))
        return {file.stem: pl.read_csv(file, infer_schema_length=None) for file in files}


def _configuration(configuration: Mapping[str, Any] | AnyPath) -> tuple[str, str | None]:
    """What the program is told to read, and the text on its standard input where that is it."""
    if isinstance(configuration, Mapping):
        return "-", tomli_w.dumps(_plain(configuration, ""))
    return os.fspath(configuration), None


def _plain(value: Any, key: str) -> Any:
    """A value of Python as experiment files and parameters can hold it."""
    if isinstance(value, str | bool) or (value is None and key.startswith("parameters")):
        return value
    if isinstance(value, Mapping):
        return {str(name): _plain(held, f"{key}.{name}" if key else str(name)) for name, held in value.items()}
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(value, "to_list") or hasattr(value, "tolist"):
        value = value.to_list() if hasattr(value, "to_list") else value.tolist()
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, str | bool):
        return value
    if isinstance(value, Sequence | set | frozenset):
        return [_plain(held, f"{key}[{place}]") for place, held in enumerate(value)]
    raise TypeError(
        f"`{key}` is {value!r}, which no experiment file can hold: allowed are texts, numbers, true, false, lists and dictionaries"
        + ("; leave the key out for its default" if value is None else "")
    )


def _in_file(value: str, file: Path) -> str:
    """The value as an argument that may be longer than a command line."""
    file.write_text(value, encoding="utf-8")
    return f"@{file}"


def _named(run: AnyRun, store: AnyPath) -> tuple[str, Path]:
    if isinstance(run, Run):
        return str(run.id), run.store
    return str(run), Path(store)


def _option(name: str, value: int | None) -> list[str]:
    return [] if value is None else [f"{name}={value}"]


def _places(points: Points) -> str:
    """Places as the program takes them: 1-8,12."""
    held = points["place"] if isinstance(points, pl.DataFrame) else points
    places = sorted({int(place) for place in held})
    ranges: list[list[int]] = []
    for place in places:
        if ranges and place == ranges[-1][1] + 1:
            ranges[-1][1] = place
        else:
            ranges.append([place, place])
    return ",".join(f"{first}-{last}" for first, last in ranges)


def _object(out: bytes) -> dict[str, Any]:
    try:
        told = json.loads(out)
    except json.JSONDecodeError:
        return {}
    return told if isinstance(told, dict) else {}


def _run(told: Mapping[str, Any], store: Path) -> Run:
    return Run(
        id=told["run"],
        store=store.absolute(),
        name=told["name"],
        state=told["state"],
        points_total=told["points"],
        points_done=told["points_done"],
        points_failed=told["points_failed"],
    )


def _experiment_error(ended: _program.Ended, told: Mapping[str, Any], *, of_dictionary: bool) -> BookaheadError:
    error = told.get("error")
    if error is None:
        return BookaheadError(_program.message(ended), ended.exit_code)
    problems = tuple(
        Problem(key=one["key"], message=one["message"], help=one["help"], line=one["line"], file=one["file"]) for one in error["problems"]
    )
    if not problems:
        return BookaheadError(error["message"], ended.exit_code)
    # A dictionary has no lines.
    message = "\n".join(map(str, problems)) if of_dictionary else error["message"]
    return ExperimentError(message, ended.exit_code, problems)
