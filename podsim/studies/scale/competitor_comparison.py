"""Competitors beside machines of growing size."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import InputError, MissingParameter
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.planning import competitors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.planning.competitors import Competitor
    from podsim.planning.ownership import OwnershipTerms
    from podsim.planning.workload_sequence import NamedRun
    from podsim.scenario import Scenario
    from podsim.studies.scale.result import ScaleReport


def with_competitors(
    report: ScaleReport, names: Sequence[str], run: NamedRun, scenario: Scenario, terms: OwnershipTerms
) -> ScaleReport:
    """The report with competitors at their published sizes between the smallest and the largest machine.

    Where a competitor has none there, at the size that is nearest. One of which nothing is published is a note.
    """
    if run.run.phases is not None or not report.has_length:
        note = AnswerNote.of(NoteCode.COMPARATORS_LEFT_OUT, names=tuple(names))
        return replace(report, notes=(*report.notes, note))
    competitor_sizes: list[Competitor] = []
    notes = []
    least, most = (machine.ipus for machine in (report.rows[0], report.rows[-1]))
    for name in names:
        try:
            sizes = competitors.answers(name, run.models[0], scenario, terms)
        except (MissingParameter, InputError) as no:
            notes.append(AnswerNote.of(NoteCode.COMPARATOR_REFUSED, name=name, message=no.message))
            continue
        inside = [size for size in sizes if least <= size.prediction.chips <= most]
        middle = math.sqrt(least * most)
        competitor_sizes += inside or [min(sizes, key=lambda size: abs(math.log(size.prediction.chips / middle)))]
    return replace(report, against=tuple(competitor_sizes), notes=(*report.notes, *notes))
