"""The answer of a case: its mapping chosen, timed and put together."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from podsim.caches.garbage import without_collection
from podsim.errors import PodsimError
from podsim.planning import shorter_rows, with_faults
from podsim.planning.choose import choose
from podsim.predicting import assemble

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.model.prediction import Prediction
    from podsim.resolve import Case


def answer(
    case: Case, on_progress: Callable[[int, int], None] | None = None, *, takes_sdk: bool = True, weighs: bool = True
) -> tuple[Prediction, Case]:
    """The prediction of a case and the case that it answers: that of what is left, where parts are lost.

    `takes_sdk` says whether the command has flags for SDK and division, `weighs` whether assumptions say what other
    software would do. Raises Infeasible where nothing fits, InputError where no mapping divides.
    """
    try:
        if case.scenario.faults:
            return with_faults.answer(case, on_progress, takes_sdk=takes_sdk)
        chosen_mapping = choose(case, on_progress)
    except PodsimError as no:
        raise shorter_rows.with_advice(no, case) from None
    assumptions = (*chosen_mapping.assumptions, *case.notes)
    with without_collection() if case.question.folded else nullcontext():  # a simulation of all leaves many cycles
        return assemble.predict(
            case.question, chosen_mapping.mapping, chosen_mapping.choice, assumptions, weighs=weighs
        ), case
