"""Runs in phases: every phase answered by the verb that was asked, and their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from podsim.model.prediction import Prediction


def predicted(asked: Mapping[str, Any], verb: Callable[..., object]) -> Prediction | None:
    """The sum of its phases where the keywords of `predict` name a run in phases; None where they name a workload.

    `asked` holds the names of the verb, those beyond its signature under "others". Raises InputError for keywords that
    say nothing to a run in phases, and what the verb raises.
    """
    from podsim.model.prediction import Prediction
    from podsim.planning import runs

    flags = {name: value for name, value in asked.items() if name not in ("workload", "others")} | asked["others"]
    run = runs.run(asked["workload"])
    if run.phases is None:
        return None
    run.check(flags)
    answers = [verb(name, **flags) for name in run.workloads]
    found = [answer for answer in answers if isinstance(answer, Prediction)]
    if len(found) < len(answers):
        raise InputError(f"no law knows phases, and {asked['topology']} has no IPUs", code="conflicting-flags",
                         hint="--pod 64")  # fmt: skip
    return run.whole(found)
