"""What can go wrong, with the words of the program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._runs import Run


class BookaheadError(Exception):
    """The program ended without doing what it was asked for.

    The text is what the program said: the file, the key, and what to do.

    Attributes:
        exit_code: The exit code of the program: 1 where the store broke under way or points failed, 2 for wrong use, a wrong
            configuration or file, 130 where somebody else interrupted it, negative for a signal that killed it.
    """

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class ProgramNotFoundError(BookaheadError):
    """The program `bookahead` is not where the wheel or `BOOKAHEAD_PROGRAM` should have it."""

    def __init__(self, message: str) -> None:
        super().__init__(message, 127)


@dataclass(frozen=True)
class Problem:
    """One problem of an experiment.

    Attributes:
        key: The dotted key, such as `acceptance.pof_max`; empty where the text is no TOML.
        message: What is wrong.
        help: What is allowed, or what to do.
        line: The line of the file, from 1; of a dictionary the line of the TOML that was made of it.
        file: The file, or `standard input` for a dictionary.
    """

    key: str
    message: str
    help: str
    line: int
    file: str

    def __str__(self) -> str:
        lead = f"`{self.key}`: " if self.key else ""
        return f"{lead}{self.message} ({self.help})"


class ExperimentError(BookaheadError):
    """The experiment cannot be run as it is.

    Attributes:
        problems: Every problem that was found (up to twenty), with its key.
    """

    def __init__(self, message: str, exit_code: int, problems: tuple[Problem, ...]) -> None:
        super().__init__(message, exit_code)
        self.problems = problems


class PointsFailedError(BookaheadError):
    """The sweep went through, but some of its points failed; the results of the others are in the store.

    Attributes:
        run: The run; its `points()` have `state` and `error` of each.
    """

    def __init__(self, message: str, exit_code: int, run: Run) -> None:
        super().__init__(message, exit_code)
        self.run = run
