"""`podsim check`."""

from collections.abc import Sized

import podsim
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, OutputFlags
from podsim.errors import InputError
from podsim.files.catalog import CheckedFile
from podsim.model.checks import FAILURE, SUCCESS
from podsim.report.answer_formats import AnswerDocument
from podsim.studies.look_up import json_keys, listing


def check(file: str, /, *, output: OutputFlags = ANY_OUTPUT) -> int:
    """Read an input file of any kind: PASS and what it is, or FAIL with all its errors.

    Parameters
    ----------
    file
        A chip, topology, workload, convergence, points, parameters or frozen file.
    """
    output.check()
    checked_file = _check(file)
    what, document = checked_file.what, checked_file.document
    name = str(getattr(document.value, "name", ""))
    entries = len(document.value) if isinstance(document.value, Sized) else None
    give(
        output,
        screen=lambda: listing.check(file, what, name, entries, document.provenance, document.warnings),
        document=AnswerDocument(
            lambda: json_keys.CHECK,
            {
                "verdict": SUCCESS,
                "file": file,
                "what": what,
                "name": name,
                "warnings": document.warnings,
                "provenance": document.provenance,
            },
        ),
        line=lambda: f"{SUCCESS}, {what}",
    )
    return ExitCode.ANSWERED


def _check(file: str) -> CheckedFile:
    """The file as read; InputError where it has faults, which begins with the verdict."""
    try:
        return podsim.check(file)
    except InputError as error:
        has_faults = error.code.startswith("bad-") and bool(error.context)
        if not has_faults:  # no such file, or none that is read
            raise
        message = f"{FAILURE}: {error.message}"
        raise InputError(message, code=error.code, context=error.context, hint=error.hint) from None
