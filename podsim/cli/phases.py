"""`podsim predict` of runs in phases."""

from typing import Any

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import OutputFlags, keywords
from podsim.cli.progress import progress
from podsim.cli.saving import ReportFlags, save
from podsim.errors import InputError


def predicted(run: str, groups: tuple[Any, ...], report: ReportFlags, output: OutputFlags, *, priced: bool) -> int:
    """Answer `podsim predict` of a run in phases; InputError where it is to be priced."""
    if priced:
        raise InputError("a run in phases is not priced; each of its phases is", code="conflicting-flags",
                         hint="podsim predict bert-large-128 --money")  # fmt: skip
    from podsim import api
    from podsim.report import json_phases
    from podsim.report.views import phases as view

    with progress("weighing mappings", output) as on_progress:
        answer = api.predict_phases(run, on_progress=on_progress, **keywords(*groups))
    give(
        output,
        screen=lambda: view.document(answer),
        json_text=lambda: json_phases.prediction(answer),
        line=lambda: view.answer(answer),
    )
    save(report, output, report=lambda: view.document(answer), json_text=lambda: json_phases.prediction(answer))
    return ExitCode.ANSWERED
