"""A collective on a network with faults, beside the same on the healthy one."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible
from podsim.model.collective import WithFaults
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.studies.collective.simulation import answer
from podsim.topology.fault_text import parse
from podsim.topology.faults import apply_faults, ranges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.engines.base import Engine
    from podsim.model.collective import CollectiveReport
    from podsim.studies.collective.simulation import CollectiveCase


def compare_with_faults(case: CollectiveCase, engine: tuple[Engine, str], texts: Sequence[str]) -> CollectiveReport:
    """The report on the network with these faults, which says what they cost.

    Raises InputError: a fault that is none, names nothing or contradicts another. Infeasible: members are cut off from
    each other, or lost.
    """
    hurt = apply_faults(case.network, parse(texts))
    lost_members = sorted(hurt.damage.lost)
    if lost_members:
        raise Infeasible(
            f"{len(lost_members):,} of {hurt.endpoints:,} members are lost, and the collective needs all",
            code="parts-lost",
            context=[ranges(lost_members, hurt.word)],
            hint="a smaller machine or fabric without them",
        )
    healthy = answer(case, *engine)
    usual = None if case.algorithm else healthy.algorithm
    report = answer(replace(case, network=hurt, usual=usual), *engine)
    faults = WithFaults(
        texts=tuple(texts),
        healthy_time_s=healthy.time_s,
        healthy_algorithm=healthy.algorithm,
        slowdown=report.time_s / healthy.time_s - 1 if healthy.time_s else 0.0,
    )
    slow = (AnswerNote.of(NoteCode.CLOCKS_LEFT_OUT),) if hurt.damage.slow else ()
    return replace(report, faults=faults, notes=(*report.notes, *slow))
