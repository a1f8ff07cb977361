"""Running an experiment, and reading it, as a notebook would."""

from __future__ import annotations

import logging
import os
import signal
import stat
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import tomli_w
from conftest import ROOT, experiment

import bookahead


def test_a_dictionary_and_its_file_are_the_same_points(
    small: bookahead.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "small.toml"
    file.write_text(tomli_w.dumps(experiment()))
    of_file = bookahead.run(file, store=tmp_path / "store.db", workers=1)
    assert (of_file.name, of_file.state, of_file.points_total, of_file.points_done, of_file.points_failed) == ("small", "done", 24, 24, 0)
    assert of_file.points().drop("run").equals(small.points().drop("run"))
    assert not Path("reports").exists()


def test_points_have_a_typed_column_for_each_axis(small: bookahead.Run) -> None:
    points = small.points()
    assert points.height == 24
    assert points.schema["scheduling.strategy"] == pl.String
    assert points.schema["acceptance.pof_max"] == pl.Float64
    assert points.schema["replication"] == pl.Int64
    assert points["place"].to_list() == list(range(24))
    asked = bookahead.sql("SELECT avg(gain) AS gain FROM v_point", store=small.store)
    assert points["gain"].mean() == pytest.approx(asked["gain"][0])


def test_calling_again_runs_nothing_and_another_seed_runs_everything(small: bookahead.Run, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    first = bookahead.run(experiment(), store=store)
    assert bookahead.check(experiment(), store=store)["simulations_to_do"] == 0
    again = bookahead.run(experiment(), store=store)
    assert again.id == first.id + 1
    assert bookahead.sql("SELECT count(*) AS n FROM v_simulation WHERE state = 'done'", store=store)["n"][0] == 16
    other = bookahead.run(experiment(), store=store, seed=4, outcomes="metrics")
    assert not other.points()["gain"].equals(first.points()["gain"])
    assert bookahead.open_run(first.id, store=store).points().equals(first.points())
    assert bookahead.open_run(store=store) == other


def test_jobs_are_those_of_the_points_and_the_condition_that_were_asked_for(small: bookahead.Run) -> None:
    points = small.points()
    all_jobs = small.jobs()
    assert all_jobs.schema["overbooked"] == pl.Boolean
    # Twelve simulations overbook, four are the baseline's for all thresholds.
    assert all_jobs["simulation"].n_unique() == points["simulation"].n_unique() == 16
    chosen = points.filter((pl.col("acceptance.pof_max") == 0.5) & (pl.col("replication") == 1))
    expected = all_jobs.filter(pl.col("simulation").is_in(chosen["simulation"].to_list()))
    assert expected.height > 0
    assert small.jobs(points=chosen).equals(expected)
    assert small.jobs(points=chosen["place"]).equals(expected)
    assert small.jobs(points=[int(place) for place in chosen["place"]]).equals(expected)
    failed = small.jobs(points=chosen, where="overbooked AND outcome = 'failed'")
    assert failed.equals(expected.filter(pl.col("overbooked") & (pl.col("outcome") == "failed")))
    assert small.jobs(points=points.clear()).schema == all_jobs.schema
    assert small.jobs(points=points.clear()).is_empty()


def test_reservations_are_a_frame(tmp_path: Path) -> None:
    run = bookahead.run(ROOT / "tests/goldens/experiments/reservations.toml", store=tmp_path / "store.db")
    reservations = run.reservations()
    assert reservations.height > 0
    wide = run.reservations(where="nodes > 8")
    assert 0 < wide.height < reservations.height
    assert wide.equals(reservations.filter(pl.col("nodes") > 8))
    # Of the six combinations, three have no reservations.
    assert reservations["simulation"].n_unique() == 3 * 2
    assert bookahead.export(run, "measures").height > 0


def test_rows_can_be_left_in_a_file(small: bookahead.Run, tmp_path: Path) -> None:
    file = bookahead.export_file(small, "jobs", tmp_path / "jobs.parquet", where="overbooked")
    assert pl.scan_parquet(file).select(pl.len()).collect().item() == small.jobs(where="overbooked").height


def test_a_question_takes_parameters_and_never_writes(small: bookahead.Run) -> None:
    def ask(query: str, *parameters: object) -> pl.DataFrame:
        return bookahead.sql(query, *parameters, store=small.store)  # type: ignore[arg-type]

    assert ask("SELECT count(*) AS n FROM points WHERE acceptance_pof_max = ?", [np.float64(0.2)])["n"][0] == 8
    assert ask("SELECT name FROM v_run WHERE name = :name", {"name": "small"})["name"].to_list() == ["small"]
    assert ask("SELECT ? AS a, ? AS b", ["it's; --", None]).to_dicts() == [{"a": "it's; --", "b": None}]
    with pytest.raises(bookahead.BookaheadError, match="only reads") as refused:
        ask("DELETE FROM run")
    assert refused.value.exit_code == 2
    with pytest.raises(bookahead.BookaheadError, match="near names: gain"):
        ask("SELECT gainn FROM points")


def test_the_report_is_a_page(small: bookahead.Run, tmp_path: Path) -> None:
    page = small.report(tmp_path / "report")
    assert page == tmp_path / "report" / "index.html"
    assert "small" in page.read_text()
    other = bookahead.run(experiment(), store=small.store, report=tmp_path / "other")
    assert (tmp_path / "other" / "index.html").is_file()
    assert other.state == "done"


def test_the_tables_and_figures_of_the_report_are_frames(small: bookahead.Run) -> None:
    best = small.tables()["best"].row(by_predicate=pl.col("strategy") == "heuristic-overbooking", named=True)
    figure = small.figures()["gain-by-acceptance-pof-max"]
    marks = figure.filter(pl.col("series") == "heuristic-overbooking").sort("mean")
    assert marks["x"].to_list().count(0.05) == 1
    assert marks["mean"].last() == pytest.approx(best["gain"])
    points = small.points().filter(pl.col("strategy") == "heuristic-overbooking")
    means = points.group_by("acceptance.pof_max").agg(pl.col("gain").mean())
    assert means["gain"].max() == pytest.approx(best["gain"])


def test_what_is_wrong_is_said_with_its_key_and_what_is_allowed(tmp_path: Path) -> None:
    wrong = experiment(acceptance={"penalty_ratioo": 1.0}, failures={"source": "sometimes"})
    with pytest.raises(bookahead.ExperimentError) as error:
        bookahead.run(wrong, store=tmp_path / "store.db")
    assert error.value.exit_code == 2
    assert {problem.key for problem in error.value.problems} == {"acceptance.penalty_ratioo", "failures.source"}
    assert "`acceptance.penalty_ratioo`: there is no such key (did you mean `penalty_ratio`?" in str(error.value)
    # No file was named, so none is.
    assert "standard input" not in str(error.value)
    assert "tmp" not in str(error.value)
    assert not (tmp_path / "store.db").exists()
    file = tmp_path / "wrong.toml"
    file.write_text(tomli_w.dumps(wrong))
    with pytest.raises(bookahead.ExperimentError, match=r"wrong\.toml:\d+: `failures\.source`"):
        bookahead.run(file, store=tmp_path / "store.db")
    with pytest.raises(bookahead.ExperimentError, match="penalty_ratioo"):
        bookahead.check(wrong, store=tmp_path / "store.db")


def test_files_stores_and_runs_that_are_not_there_are_named(small: bookahead.Run, tmp_path: Path) -> None:
    with pytest.raises(bookahead.BookaheadError, match=r"none\.toml cannot be read"):
        bookahead.run(tmp_path / "none.toml", store=tmp_path / "store.db")
    with pytest.raises(bookahead.BookaheadError, match="there is no store at"):
        bookahead.points(store=tmp_path / "none.db")
    with pytest.raises(bookahead.BookaheadError, match="no run with the number 77"):
        bookahead.jobs(77, store=small.store)
    trace = experiment()
    trace["workload"] = {"trace": "no-such-log.swf", "nodes": 64, "battery_jobs": 100, "load": {"value": 2.0}}
    with pytest.raises(bookahead.BookaheadError, match=r"no-such-log\.swf"):
        bookahead.run(trace, store=tmp_path / "store.db")
    (tmp_path / "text.db").write_text("no database")
    with pytest.raises(bookahead.BookaheadError, match=r"text\.db"):
        bookahead.run(experiment(), store=tmp_path / "text.db")


def test_values_of_numpy_and_polars_are_taken_and_others_are_named(small: bookahead.Run, tmp_path: Path) -> None:
    same = experiment()
    same["experiment"]["replications"] = np.int64(4)
    same["axis"][0]["values"] = pl.Series(["heuristic-planning", "heuristic-overbooking"])
    same["axis"][1]["values"] = np.array([0.05, 0.2, 0.5])
    made = bookahead.run(same, store=tmp_path / "store.db")
    assert made.points()["identity"].equals(small.points()["identity"])
    for nothing in (None, object(), [1.0, None]):
        with pytest.raises(TypeError, match=r"`acceptance\.sigmas(\[1\])?` is "):
            bookahead.run(experiment(acceptance={"sigmas": nothing}), store=tmp_path / "store.db")


def test_points_that_fail_are_an_error_with_the_run(small: bookahead.Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    # The program, but for the exit code of a sweep with failed points.
    pretender = tmp_path / "pretender"
    pretender.write_text(f'#!/bin/sh\n"{bookahead.program()}" "$@" || exit $?\ncase $1 in run) exit 1;; esac\n')
    pretender.chmod(pretender.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("BOOKAHEAD_PROGRAM", str(pretender))
    with pytest.raises(bookahead.PointsFailedError, match="points of run") as error:
        bookahead.run(experiment(), store=tmp_path / "store.db")
    assert error.value.exit_code == 1
    assert error.value.run.points().height == 24
    assert bookahead.run(experiment(), store=tmp_path / "store.db", check_points=False).points_done == 24


def test_warnings_reach_the_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, logger="bookahead"):
        bookahead.run(experiment(exclude=[{"acceptance.pof_max": 0.9}]), store=tmp_path / "store.db")
    assert "matches" in caplog.text


# More than ten seconds for one worker on a fast machine, in 2,000 simulations: an interrupt a second after the first one is early.
LONG = textwrap.dedent("""
    import sys, bookahead
    from conftest import experiment
    long = experiment(experiment={"name": "long", "replications": 1000, "seed": 3})
    long["workload"] |= {"jobs": 2_004_000, "battery_jobs": 2000}
    long["axis"][0]["values"] = ["comprehensive-overbooking", "heuristic-overbooking"]
    long["axis"][1]["values"] = [0.2]
    print("begins", flush=True)
    try:
        run = bookahead.run(long, store=sys.argv[1], outcomes="metrics", workers=int(sys.argv[2]))
    except KeyboardInterrupt:
        print("interrupted", bookahead.open_run(store=sys.argv[1]).state)
    else:
        print(run.state, run.points().select("gain").sum().item())
""")


def long(store: Path, workers: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", LONG, str(store), str(workers)]
    return subprocess.Popen(command, cwd=Path(__file__).parent, stdout=subprocess.PIPE, text=True, start_new_session=True)


@pytest.mark.parametrize("whole_group", [False, True], ids=["as a notebook does", "as a terminal does"])
def test_an_interrupt_keeps_what_is_done_and_the_same_call_goes_on(whole_group: bool, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    process = long(store, 1)
    done = "SELECT count(*) AS n FROM v_simulation WHERE state = 'done'"
    while True:
        try:
            if bookahead.sql(done, store=store)["n"][0] > 0:
                break
        except bookahead.BookaheadError:
            assert process.poll() is None, "it ended before its store could be read"
    (os.killpg if whole_group else os.kill)(process.pid, signal.SIGINT)
    said, _ = process.communicate(timeout=120)
    assert said.split() == ["begins", "interrupted", "interrupted"]
    first = bookahead.sql(done, store=store)["n"][0]
    assert 0 < first < 2000
    again = long(store, 2)
    said, _ = again.communicate(timeout=600)
    assert said.split()[:2] == ["begins", "done"]
    assert bookahead.sql(done, store=store)["n"][0] == 2000


def test_a_store_can_be_read_while_a_sweep_writes(tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    bookahead.run(experiment(), store=store)
    more = experiment(experiment={"name": "more", "replications": 60, "seed": 9})
    more["workload"]["jobs"] = 8000
    sweep = threading.Thread(target=bookahead.run, args=(more,), kwargs={"store": store})
    sweep.start()
    seen = set()
    while sweep.is_alive():
        assert bookahead.points("small", store=store).height == 24
        seen.add(bookahead.sql("SELECT count(*) AS n FROM v_job", store=store)["n"][0])
    sweep.join()
    assert bookahead.open_run("more", store=store).points_done == 360
    assert sorted(seen)[0] >= 1600


def test_progress_is_shown_where_it_is_asked_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    bookahead.run(experiment(), store=tmp_path / "store.db", progress=True)
    assert "24 points" in capfd.readouterr().err
    bookahead.run(experiment(), store=tmp_path / "store.db", fresh=True)
    assert capfd.readouterr().err == ""


def test_a_name_that_begins_with_a_dash_is_a_name(small: bookahead.Run) -> None:
    for name in ("--help", "-x", "--store=other.db"):
        with pytest.raises(bookahead.BookaheadError, match="no run"):
            bookahead.open_run(name, store=small.store)
        with pytest.raises(bookahead.BookaheadError, match="no run"):
            bookahead.points(name, store=small.store)


def test_lists_and_texts_may_be_longer_than_a_command_line(small: bookahead.Run) -> None:
    # One argument of a program has at most 128 KiB on Linux.
    every_other = range(0, 200_000, 2)
    assert bookahead.jobs(small, points=every_other).height > 0
    long = " OR ".join(["place = 0", *(f"place = {10_000 + place}" for place in range(900)), "replication < 0 /*" + "x" * 200_000 + "*/"])
    assert bookahead.points(small, where=long).height == 1
    texts = {"name": "small", "long": "x" * 300_000}
    found = bookahead.sql("SELECT count(DISTINCT name) AS n, length(:long) AS l FROM v_run WHERE name = :name", texts, store=small.store)
    assert found.row(0) == (1, 300_000)
    question = "SELECT 1 AS one /*" + "y" * 300_000 + "*/"
    assert bookahead.sql(question, store=small.store).row(0) == (1,)
