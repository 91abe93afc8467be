"""Machines without IPUs beside those that are asked for: at the sizes that have published results of the workload."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from podsim.convergence.lengths import run_length
from podsim.errors import InputError, MissingParameter
from podsim.files import comparator_machines, comparator_results
from podsim.model.comparator import ComparatorPrediction
from podsim.model.training import Division
from podsim.planning.workload_sequence import once
from podsim.predicting import comparator_law as laws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.workload import Workload
    from podsim.planning.ownership import OwnershipTerms
    from podsim.scenario import Scenario

HINT: Final = "--against dgx-a100,dgx-h100:64,tpu-v4"
LEFT_OUT: Final = ("beyond-comparator", "bad-mapping")
"""Codes of errors that leave one size out and not the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedRun:
    """What a published run took on a competitor, its official score [s]; `older` software than that of its law."""

    id: str
    round: str
    older: bool
    global_batch: int
    time_to_train_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Competitor:
    """A machine without IPUs of some size: what its law predicts, with what it costs, and what was published of it.

    `machine` is how --against names it without a size, `name` with one.
    """

    machine: str
    name: str
    prediction: ComparatorPrediction
    published: tuple[PublishedRun, ...]


def names(against: str | Sequence[str] | None) -> tuple[str, ...]:
    """The competitors that flags name, each once; InputError for a machine of IPUs or one that is not known."""
    if against is None:
        return ()
    texts = against.split(",") if isinstance(against, str) else against
    names = tuple(name for text in texts if (name := text.strip()))
    if not names:
        raise InputError("--against names no machine", code="bad-value", hint=HINT)
    once("against", names, HINT)
    for name in names:
        if not comparator_machines.names_comparator(name):
            machine_names = ", ".join(comparator_machines.machines())
            raise InputError(
                f"--against takes machines without IPUs that podsim knows; {name[:60]} is not one",
                code="unknown-topology",
                context=(f"known: {machine_names}",),
                hint=f"{HINT}: machines with IPUs are candidates already",
            )
        machine, chips = comparator_machines.name_and_count(name, "--against ")
        comparator_machines.count(comparator_machines.machine(machine), chips, f"--against {machine}:")
    return names


def answers(name: str, workload: Workload, scenario: Scenario, terms: OwnershipTerms) -> tuple[Competitor, ...]:
    """A competitor at its own size, or at every size with a published result, smallest first.

    Raises MissingParameter where nothing is published of the workload on it, InputError where its size is none.
    """
    machine, chips = comparator_machines.name_and_count(name, "--against ")
    comparator = comparator_machines.machine(machine)
    runs = [
        row
        for row in comparator_results.published_results()
        if (row.workload, row.chip, row.division)
        == (workload.name, comparator.chip.value.name, Division(scenario.length.division))
    ]
    sizes = sorted({row.chips for row in runs if row.chips % comparator.machine.multiple == 0})
    result = []
    for size in sizes if chips is None and sizes else [chips]:
        count = comparator_machines.count(comparator, size, f"--against {machine}:")
        try:
            prediction = predict(comparator, count, workload, scenario)
        except InputError as no:
            if chips is not None or no.code not in LEFT_OUT:
                raise
            continue
        money = terms.run(prediction.time_to_train_s, terms.comparator(comparator.machine, count))
        result.append(
            Competitor(
                machine=machine,
                name=f"{machine}:{count}",
                prediction=replace(prediction, money=money),
                published=tuple(
                    PublishedRun(
                        id=row.id,
                        round=row.round,
                        older=row.round != prediction.round,
                        global_batch=row.global_batch,
                        time_to_train_s=60 * row.minutes,
                    )
                    for row in sorted(runs, key=lambda row: (row.round, row.id))
                    if row.chips == count
                ),
            )
        )
    return tuple(result)


def predict(
    comparator: comparator_machines.MachineWithChip, chips: int, workload: Workload, scenario: Scenario
) -> ComparatorPrediction:
    """The answer of the law of a machine to a workload and the length of a scenario.

    Raises MissingParameter where a law of losses decides the length, or nothing is published of the workload.
    """
    length = run_length(workload, scenario.length, needed=False)
    if length.by_law:
        raise MissingParameter(f"{comparator.machine.title} follows its own results, which no law of losses speaks of")
    return laws.predict(
        laws.ComparatorCase(
            workload=workload,
            chip=comparator.chip.value,
            machine=comparator.machine,
            chips=chips,
            laws=comparator_machines.laws(),
            division=Division(scenario.length.division),
            samples=length.samples if scenario.length.is_given else None,
        )
    )
