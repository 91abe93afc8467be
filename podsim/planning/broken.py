"""A training run on a machine with faults: the mapping of the healthy one, or what fits on the machines left."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.planning.asking import settled
from podsim.predicting import assemble, faults
from podsim.topology.fault_text import parse
from podsim.topology.faults import broken

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.prediction import Prediction
    from podsim.model.training import Preset
    from podsim.planning.asking import Flag, Progress
    from podsim.planning.search import Wanted
    from podsim.predicting.assemble import Question


def answer(
    question: Question,
    texts: Sequence[str],
    wanted: Wanted,
    named: Preset | None,
    given: tuple[Flag, Flag, Flag],
    on_progress: Progress | None,
) -> tuple[Prediction, Question]:
    """The prediction with these faults beside that without, and what it answers.

    Raises InputError: a fault that is none, names nothing or contradicts another. Infeasible: what is left is cut in
    two, or too small for the mapping.
    """
    fabric = broken(question.fabric, parse(texts))
    mapping, choice, said = settled(question, wanted, named, given, on_progress)
    healthy = assemble.predict(question, mapping, choice, said)
    hurt = replace(question, fabric=fabric)
    there = assemble.predict(hurt, mapping, choice, said)
    ways = faults.detours(hurt, question.fabric, mapping)
    return faults.compared(healthy, there, texts, ways), hurt
