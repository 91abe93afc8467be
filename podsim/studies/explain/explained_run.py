"""Phases that follow each other, taken apart together."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from podsim.model.prediction import Prediction
from podsim.model.sums import sum_in_order
from podsim.predicting import intervals
from podsim.studies.explain.result import Alternative, Explanation, Influence, Rise, Without


def together(whole: Prediction, phases: Sequence[Explanation]) -> Explanation:
    """The explanation of the sum of phases: seconds add up, shares weigh as the phase does (Eq. 77).

    Another choice is of all phases where its flags are the same in all, else of one, with the others as they are.
    """
    return Explanation(
        prediction=whole,
        waterfall=tuple(_waterfall(phases)),
        without=tuple(_without(whole, phases)),
        influences=tuple(sorted(_influences(whole, phases), key=lambda item: (-abs(item.change), item.name))),
        alternatives=tuple(
            sorted(_alternatives(whole, phases), key=lambda item: (item.change is None, item.change or 0.0, item.name))
        ),
    )


def _waterfall(phases: Sequence[Explanation]) -> Iterator[Rise]:
    until_s = 0.0
    for mechanism in dict.fromkeys(rise.mechanism for phase in phases for rise in phase.waterfall):
        added_s = sum_in_order(
            rise.added_s for phase in phases for rise in phase.waterfall if rise.mechanism == mechanism
        )
        until_s += added_s
        yield Rise(mechanism=mechanism, added_s=added_s, until_s=until_s)


def _without(whole: Prediction, phases: Sequence[Explanation]) -> Iterator[Without]:
    """Each mechanism taken from all phases; one that has none stays as it is."""
    whole_s = whole.time_to_train_s.value
    for name in dict.fromkeys(item.name for phase in phases for item in phase.without):
        taken_s = 0.0
        for phase in phases:
            own_s = phase.prediction.time_to_train_s.value
            taken_s += next((item.time_to_train_s for item in phase.without if item.name == name), own_s)
        yield Without(name=name, time_to_train_s=taken_s, change=taken_s / whole_s - 1)


def _influences(whole: Prediction, phases: Sequence[Explanation]) -> Iterator[Influence]:
    """One percent more of a number in all phases that have it."""
    whole_s = whole.time_to_train_s.value
    for name in dict.fromkeys(item.name for phase in phases for item in phase.influences):
        result = [(phase, item) for phase in phases for item in phase.influences if item.name == name]
        first, items = result[0][1], [item for _, item in result]
        yield replace(
            first,
            value=" + ".join(dict.fromkeys(item.value for item in items)),
            source="; ".join(dict.fromkeys(item.source for item in items)),
            grade=intervals.worst(*(item.grade for item in items)),
            change=sum_in_order(item.change * phase.prediction.time_to_train_s.value for phase, item in result)
            / whole_s,
        )


def _alternatives(whole: Prediction, phases: Sequence[Explanation]) -> Iterator[Alternative]:
    each = [(phase.prediction, item) for phase in phases for item in phase.alternatives]
    for key in dict.fromkeys((item.name, item.flags) for _, item in each):
        result = [(phase, item) for phase, item in each if (item.name, item.flags) == key]
        if len(result) == len(phases) and all(item.time_to_train_s is not None for _, item in result):
            yield _for_whole_run(whole, result, key[0])
        else:
            yield from (_for_whole_run(whole, [item], f"{item[0].workload}: {key[0]}") for item in result)


def _for_whole_run(whole: Prediction, result: Sequence[tuple[Prediction, Alternative]], name: str) -> Alternative:
    """A choice of those phases, by what it does to the whole."""
    item, whole_s = result[0][1], whole.time_to_train_s.value
    if item.time_to_train_s is None:
        return replace(item, name=name)
    more_s = sum_in_order(
        (alternative.time_to_train_s or 0.0) - phase.time_to_train_s.value for phase, alternative in result
    )
    same = len({alternative.why for _, alternative in result}) == 1
    why = item.why if same else "; ".join(f"{phase.workload}: {alternative.why}" for phase, alternative in result)
    return replace(item, name=name, time_to_train_s=whole_s + more_s, change=more_s / whole_s, why=why)
