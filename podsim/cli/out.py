"""Where a trace goes: a file, or stdout."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from podsim.cli.console import put
from podsim.errors import InputError

if TYPE_CHECKING:
    from podsim.model.trace import Trace

STDOUT = "-"
SUFFIXES = ("", ".json", ".trace")
OutFile = Annotated[str | None, Parameter(name=("--out", "-o"), metavar="FILE", allow_leading_hyphen=True)]


def check_out(out: str | None) -> None:
    """Raise InputError where a flag was taken for the file, or the file is to be of another format."""
    if out is not None and out != STDOUT and out.startswith("-"):
        raise InputError(
            f"--out wants a file, not {out}", code="bad-value", hint=f"{shlex.quote(f'./{out}')} is a file of that name"
        )
    path = Path(out or "")
    if path.suffix.lower() not in SUFFIXES and (path.is_file() or not path.exists()):
        other = path.with_suffix(".json")
        raise InputError(
            f"a trace is JSON, not {path.suffix}", code="bad-value", hint=f"--out {shlex.quote(str(other))}"
        )


def write_trace(trace: "Trace", out: str | None) -> bool:
    """Write a trace where it is wanted, if it is; true where stdout has it and nothing else belongs there.

    Raises InputError where the file cannot be written; then nothing is left of it.
    """
    from podsim.files.write import write_atomic
    from podsim.report import chrome_trace

    if out == STDOUT:
        put(chrome_trace.text(trace), sys.stdout)
    elif out is not None:
        write_atomic(Path(out), chrome_trace.text(trace))
    return out == STDOUT
