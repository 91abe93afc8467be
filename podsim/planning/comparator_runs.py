"""Scenarios on machines that have no IPUs: a scaling law answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.training import Division

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorPrediction
    from podsim.planning.workload_sequence import WorkloadSequence
    from podsim.scenario import MachineSpec, Scenario

OF_LAWS: Final = ("workload", "topology", "chips", "global_batch", "samples", "division")
"""Flags that a scaling law has an answer to."""
FLAG_NAMES: Final = {"changes": "set", "faults": "fault"}


def has_law(machine: MachineSpec) -> bool:
    """Whether a machine has no IPUs, so that a scaling law answers for it."""
    if machine.topology is None:  # most questions: what reads laws is not loaded for them
        return False
    from podsim.files import comparator_machines

    return comparator_machines.names_comparator(machine.topology)


def predict(scenario: Scenario, run: WorkloadSequence) -> ComparatorPrediction:
    """The answer of the law; InputError for phases, and for flags that say nothing to a law."""
    machine = scenario.machine.topology
    for name in scenario.flags():
        if name not in OF_LAWS:
            flag = FLAG_NAMES.get(name, name).replace("_", "-")
            raise InputError(
                f"--{flag} does not apply to {machine}, which has no IPUs and is predicted by a scaling law",
                code="conflicting-flags",
                hint=f"leave out --{flag}: a scaling law takes chips, global batch, samples and division",
            )
    if run.phases is not None:
        chips_flag = " --chips" if scenario.machine.chips is not None else ""
        raise InputError(
            f"no law knows phases, and {machine} has no IPUs",
            code="conflicting-flags",
            hint=f"--pod 64 in place of --topology{chips_flag}",
        )
    return answer(scenario)


def answer(scenario: Scenario) -> ComparatorPrediction:
    """The answer of the law to workload, machine, chips, global batch, samples and division of a scenario.

    Raises InputError where the question is malformed, MissingParameter where nothing is published of it.
    """
    from podsim.files import comparator_machines
    from podsim.predicting import comparator_law

    name, number = comparator_machines.name_and_count(scenario.machine.topology or "")
    comparator, chips = comparator_machines.machine(name), scenario.machine.chips
    if number is not None and chips not in (None, number):
        raise InputError(
            f"{name}:{number} says how many chips, and so does --chips {chips}",
            code="conflicting-flags",
            hint=f"write {name}:{chips}, or leave out one of them",
        )
    flag = "--chips " if number is None else f"write {name}:"
    return comparator_law.predict(
        comparator_law.ComparatorCase(
            workload=catalog.workload(scenario.workload).value,
            chip=comparator.chip.value,
            machine=comparator.machine,
            chips=comparator_machines.count(comparator, chips if number is None else number, flag),
            laws=comparator_machines.laws(),
            division=Division(scenario.length.division),
            global_batch=scenario.mapping.global_batch,
            samples=scenario.length.samples,
        )
    )


def refuse_chips(machine: MachineSpec) -> None:
    """Raise InputError where IPUs are counted with --chips."""
    if machine.chips is None:
        return
    if machine.topology:
        catalog.topology(machine.topology)  # an unknown name is refused as that
    topology_or_pod = machine.topology or machine.pod
    write = "leave out --chips" if topology_or_pod else f"--pod {machine.chips} in place of --chips"
    raise InputError(
        f"--chips sizes machines without IPUs, not {machine.topology or 'an IPU-POD'}",
        code="conflicting-flags",
        hint=f"{write}, or name a machine without IPUs: podsim topology list",
    )
