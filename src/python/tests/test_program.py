"""Where the program is found, and whether what is written about the package is true."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from nbclient import NotebookClient

import bookahead


def test_the_program_is_the_one_of_this_wheel_without_any_search_path() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("PATH", "BOOKAHEAD_PROGRAM")}
    question = "import bookahead; print(bookahead.program(), bookahead.version())"
    said = subprocess.run([sys.executable, "-c", question], env=environment, capture_output=True, text=True, check=True).stdout
    place, version = said.split()
    assert Path(place).parent == Path(sys.prefix).resolve() / "bin"
    assert version == metadata.version("bookahead")


def test_the_environment_names_another_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BOOKAHEAD_PROGRAM", "/bin/echo")
    assert bookahead.program() == Path("/bin/echo")
    monkeypatch.setenv("BOOKAHEAD_PROGRAM", "/no/such/program")
    with pytest.raises(bookahead.ProgramNotFoundError, match="BOOKAHEAD_PROGRAM names `/no/such/program`"):
        bookahead.sql("SELECT 1")


def test_the_package_is_the_program_when_it_is_run() -> None:
    said = subprocess.run([sys.executable, "-m", "bookahead", "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"bookahead {metadata.version('bookahead')}\n"


def test_the_package_is_typed_for_those_who_use_it(tmp_path: Path) -> None:
    user = tmp_path / "user.py"
    user.write_text(
        "from pathlib import Path\n"
        "import polars as pl\n"
        "import bookahead\n"
        "run: bookahead.Run = bookahead.run({'experiment': {'name': 'x'}}, store=Path('x.db'), workers=2)\n"
        "points: pl.DataFrame = run.points()\n"
        "page: Path = bookahead.report(run, 'folder')\n"
    )
    check = [sys.executable, "-m", "mypy", "--strict", f"--cache-dir={tmp_path}"]
    good = subprocess.run([*check, str(user)], capture_output=True, text=True, cwd=tmp_path)
    assert good.returncode == 0, good.stdout
    user.write_text("import bookahead\nbookahead.run({}, workers='two')\n")
    bad = subprocess.run([*check, str(user)], capture_output=True, text=True, cwd=tmp_path)
    assert 'incompatible type "str"; expected "int | None"' in bad.stdout


@pytest.mark.parametrize("notebook", sorted((ROOT / "src/python/notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_runs_from_start_to_plot(notebook: Path, tmp_path: Path) -> None:
    read = nbformat.read(notebook, as_version=4)
    made = NotebookClient(read, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    pictures = [output for cell in made.cells for output in cell.get("outputs", []) if "image/png" in output.get("data", {})]
    assert pictures, "there is a plot"


def test_the_page_about_python_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs/python.md").read_text()
    blocks = [rest.split("```")[0] for rest in text.split("```python\n")[1:]]
    assert len(blocks) > 3
    (tmp_path / "configs").symlink_to(ROOT / "configs")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, block in enumerate(blocks):
        exec(compile(block, f"docs/python.md, block {number}", "exec"), names)  # noqa: S102
