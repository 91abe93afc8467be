"""Where a trace goes: a file, or stdout."""

import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podsim.cli.console import later, put
from podsim.errors import InputError
from podsim.files import write
from podsim.files.contents import is_plain
from podsim.report import chrome_trace

if TYPE_CHECKING:
    from podsim.model.trace import Trace

STDOUT = "-"
SUFFIXES = ("", ".json", ".trace")
OutFile = Annotated[str | None, Parameter(name=("--out", "-o"), metavar="FILE", allow_leading_hyphen=True)]


def check_out(out: str | None) -> None:
    """Raise InputError where a flag was taken for the file, or the file is of another format or cannot be written."""
    if out is None or out == STDOUT:
        return
    if out.startswith("-"):
        file = shlex.quote(f"./{out}")
        raise InputError(f"--out must be a file, not {out}", code="bad-value", hint=f"{file} is a file of that name")
    path = Path(out)
    if path.suffix.lower() not in SUFFIXES and (is_plain(path) or not os.path.lexists(path)):
        other = shlex.quote(str(path.with_suffix(".json")))
        raise InputError(f"a trace is JSON, not {path.suffix}", code="bad-value", hint=f"--out {other}")
    write.check_writable(path)


def write_trace(trace: "Trace", out: str | None) -> str:
    """Write a trace where it is wanted and return where that is: a file, `STDOUT`, or "" for nowhere.

    Where the file cannot be written the error follows what the screen says, and nothing is left of the file.
    """
    if out == STDOUT:
        put(chrome_trace.text(trace), sys.stdout)
    elif out is not None:
        try:
            write.write_atomic(Path(out), chrome_trace.text(trace))
        except InputError as error:
            later(error)
            return ""
    return out or ""
