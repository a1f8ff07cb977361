"""`python -m bookahead` is the program itself, wherever the wheel put it."""

import os
import sys

from ._errors import ProgramNotFoundError
from ._program import program

if __name__ == "__main__":
    try:
        found = str(program())
    except ProgramNotFoundError as error:
        sys.exit(f"error: {error}")
    os.execv(found, [found, *sys.argv[1:]])
