"""What an answer rests on, for the eye and for programs."""

from __future__ import annotations

from typing import Any

from podsim.errors import InputError
from podsim.files import find, inputs
from podsim.files.contents import text_of
from podsim.report.doc import Note, Tone


def calibration_version() -> str | None:
    """A digest of the fitted parameters that answer, else of those shipped; None where nothing has been fitted."""
    ledger = inputs.current()
    if ledger is not None and ledger.calibration:
        return ledger.calibration
    try:
        return inputs.digest(text_of(find.shipped("calibration") / "parameters.toml", "bad-parameters-file"))
    except InputError:
        return None


def evidence_fields() -> dict[str, Any]:
    """`inputs` of a JSON document: hash, calibration, files by digest, flags, fitted values; {} unless recorded.

    `settings` is there only where a settings file or a variable set a flag.
    """
    ledger = inputs.current()
    if ledger is None:
        return {}
    return {
        "inputs": {
            "hash": ledger.hash,
            "calibration": calibration_version(),
            "verb": ledger.verb,
            "flags": ledger.flags,
            **({"settings": dict(sorted(ledger.settings.items()))} if ledger.settings else {}),
            "files": dict(sorted(ledger.files.items())),
            "parameters": dict(sorted(ledger.parameters.items())),
        }
    }


def note() -> Note | None:
    """The last line of a screen; None unless recorded."""
    ledger = inputs.current()
    if ledger is None:
        return None
    version = (calibration_version() or "none")[: inputs.SHORT]
    return Note(f"inputs {ledger.hash[: inputs.SHORT]} · calibration {version}", "", Tone.QUIET)
