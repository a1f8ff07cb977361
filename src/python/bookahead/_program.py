"""Finds the program and starts it."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from importlib import metadata
from pathlib import Path
from typing import IO, NamedTuple

from ._errors import BookaheadError, ProgramNotFoundError

_LOG = logging.getLogger("bookahead")
_NAME = "bookahead.exe" if os.name == "nt" else "bookahead"


def program() -> Path:
    """Returns the path of the program that this package calls.

    `BOOKAHEAD_PROGRAM` in the environment names another one. Otherwise it is the file that the wheel installed, which its own record
    knows: in a virtual environment that is not activated, below the home folder (`pip install --user`) or anywhere else. Last comes the
    search path.

    Raises:
        ProgramNotFoundError: When there is none.
    """
    named = os.environ.get("BOOKAHEAD_PROGRAM")
    if named:
        if os.access(named, os.X_OK) and Path(named).is_file():
            return Path(named).absolute()
        raise ProgramNotFoundError(f"BOOKAHEAD_PROGRAM names `{named}`, which is no program: correct it, or unset it")
    for place in _places():
        if place.is_file() and os.access(place, os.X_OK):
            return place
    found = shutil.which(_NAME)
    if found:
        return Path(found).absolute()
    raise ProgramNotFoundError(
        "the program bookahead is not installed with this package: install the wheel again "
        "(pip install --force-reinstall bookahead), or name the program in BOOKAHEAD_PROGRAM"
    )


def _places() -> list[Path]:
    """Where the wheel may have put the program, the surest first."""
    places: list[Path] = []
    try:
        files = metadata.files("bookahead") or []
    except metadata.PackageNotFoundError:
        files = []
    places += [Path(str(file.locate())).resolve() for file in files if file.name == _NAME]
    for scheme in (sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")):
        places.append(Path(sysconfig.get_path("scripts", scheme)) / _NAME)
    return places


def version() -> str:
    """Returns the version of the program, such as `0.2.0`."""
    return call(["--version"]).out.decode().split()[-1]


class Ended(NamedTuple):
    """What a program left when it ended: standard output, what it said (empty where that went to the terminal), and its exit code."""

    out: bytes
    said: str
    exit_code: int


def call(arguments: list[str], text: str | None = None) -> Ended:
    """Starts the program, waits for it, and returns what it wrote.

    Raises:
        BookaheadError: When its exit code is not 0.
    """
    ended = start(arguments, text)
    if ended.exit_code != 0:
        raise BookaheadError(message(ended), ended.exit_code)
    log(ended)
    return ended


def start(arguments: list[str], text: str | None = None, *, terminal: bool = False) -> Ended:
    """Starts the program with `text` as its standard input and waits for it, whatever its exit code.

    With `terminal`, what it says goes to standard error of this process, progress included. A `KeyboardInterrupt` is passed on as one
    interrupt, which the program answers by finishing the simulations under way; a second one stops it at once. It is raised when the
    program has ended.
    """
    with tempfile.TemporaryFile() as given:
        given.write((text or "").encode())
        given.seek(0)
        return _wait(_process(arguments, given, terminal))


def _process(arguments: list[str], given: IO[bytes], terminal: bool) -> subprocess.Popen[bytes]:
    environment = os.environ if terminal else {**os.environ, "NO_COLOR": "1"}
    return subprocess.Popen(
        [str(program()), *arguments],
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=None if terminal else subprocess.PIPE,
        env=environment,
        # Ctrl-C on a terminal reaches every process of a group: in a session of its own the program gets exactly the interrupts that
        # this process passes on, in a shell as in a notebook.
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes]) -> Ended:
    interrupted = False
    with process:
        while True:
            try:
                out, said = process.communicate()
                break
            except KeyboardInterrupt:
                interrupted = True
                process.send_signal(signal.SIGINT)
            except BaseException:
                process.send_signal(signal.SIGINT)
                raise
    if interrupted:
        raise KeyboardInterrupt
    return Ended(out, (said or b"").decode(errors="replace").strip(), process.returncode)


def message(ended: Ended) -> str:
    """What the program said went wrong."""
    said = ended.said.removeprefix("error: ")
    return said or f"bookahead ended with exit code {ended.exit_code} and said why on standard error"


def log(ended: Ended, *, only_warnings: bool = False) -> None:
    """Passes on what a program said although all went well."""
    for line in ended.said.splitlines():
        _LOG.log(logging.WARNING if only_warnings or line.startswith("warning") else logging.DEBUG, line)
