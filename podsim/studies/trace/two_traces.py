"""What two saved traces differ in: parts of a step and what runs in a row, with the whole of each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from podsim.errors import InputError
from podsim.files import answer_files
from podsim.model.trace import TraceLevel
from podsim.studies.argument_check import check_arguments
from podsim.studies.trace.difference_result import TraceDifference, TraceTotals

if TYPE_CHECKING:
    from collections.abc import Mapping

HINT: Final = "podsim trace bert --pod 16 -o old.json"


@check_arguments
def trace_diff(old: str | Path, new: str | Path) -> TraceDifference:
    """What takes longer in the newer of two traces that `podsim trace -o` or `--json` wrote.

    Raises InputError where a file is not a trace, or where one is of a step and the other of a stage or a collective.
    """
    before, after = (_totals(Path(path)) for path in (old, new))
    if before.level != after.level:
        raise InputError(
            f"one trace has level {before.level} and the other level {after.level}",
            code="bad-saved-answer",
            hint="compare traces of one level",
        )
    return TraceDifference(old=before, new=after)


def _totals(path: Path) -> TraceTotals:
    """The totals of a trace in a file, for a viewer or as `--json` has it."""
    name, body = answer_files.table(path, HINT)
    for_viewer = isinstance(body.get("traceEvents"), list)
    if not for_viewer and body.get("schema") != "podsim.trace/1":
        raise InputError(f"{name} is no trace of podsim's", code="bad-saved-answer", hint=HINT)
    try:
        return _read(name, body["otherData"] if for_viewer else body)
    except (AttributeError, KeyError, TypeError, ValueError):  # a file may hold anything
        raise InputError(
            f"{name} has no totals of a step: it is damaged, or of a version before they were written",
            code="bad-saved-answer",
            hint=f"write it again: {HINT}",
        ) from None


def _read(name: str, totals: Mapping[str, Any]) -> TraceTotals:
    """The totals that a trace states; what a viewer ignores is refused here."""
    segments = {str(each["name"]): each for each in totals["segments"]}
    return TraceTotals(
        file=name,
        workload=str(totals["workload"]),
        topology=str(totals["topology"]),
        level=TraceLevel(totals["level"]),
        step_s=_seconds(totals["step_s"]),
        parts_s={str(part): _seconds(value) for part, value in totals["parts_s"].items()},
        segments_s={segment: _seconds(each["seconds"]) for segment, each in segments.items()},
        times={segment: int(each["times"]) for segment, each in segments.items()},
    )


def _seconds(value: object) -> float:
    """A time; ValueError for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise ValueError("no time")
    return float(value)
