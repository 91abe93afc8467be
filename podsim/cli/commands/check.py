"""`podsim check`."""

from collections.abc import Sized

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.report import json_text
from podsim.report.views import listing


def check(file: str, /, *, output: OutputFlags = ANY_OUTPUT) -> int:
    """Read a file of any kind; say what it is, or list all its faults.

    Parameters
    ----------
    file
        A chip, topology, workload, convergence, points, parameters or frozen file.
    """
    output.check()
    checked = api.check(file)
    what, document = checked.what, checked.document
    name = str(getattr(document.value, "name", ""))
    entries = len(document.value) if isinstance(document.value, Sized) else None
    give(
        output,
        screen=lambda: listing.check(file, what, name, entries, document.provenance, document.warnings),
        json_text=lambda: json_text.text(
            "check",
            {
                "file": file,
                "what": what,
                "name": name,
                "warnings": json_text.plain(document.warnings),
                "provenance": json_text.plain(document.provenance),
            },
        ),
        line=lambda: what,
    )
    return ExitCode.ANSWERED
