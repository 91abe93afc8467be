"""`podsim predict` on machines that have no IPUs."""

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ComparatorFlags, MachineFlags, OutputFlags
from podsim.errors import InputError

if TYPE_CHECKING:
    from podsim.planning.purse import Purse

TAKEN = ("topology", "global_batch", "samples", "division")
"""Flags that a scaling law has an answer to; the output flags too."""


def is_comparator(machine: MachineFlags) -> bool:
    """Whether the machine meant is one without IPUs."""
    if machine.topology is None:
        return False
    from podsim.files import catalog, comparator_machines

    return machine.topology not in catalog.names("topologies") and comparator_machines.known(machine.topology)


def chips_refused(comparator: ComparatorFlags, machine: MachineFlags) -> None:
    """Raise InputError where IPUs are counted with --chips."""
    if comparator.chips is not None:
        which = machine.topology or "an IPU-POD"
        if machine.topology:
            from podsim.files import catalog

            catalog.topology(machine.topology)  # a name that nobody knows is said to be that
        raise InputError(
            f"--chips sizes machines without IPUs, not {which}", code="conflicting-flags",
            hint=f"--pod {comparator.chips}, or --topology of one without IPUs: podsim topology list",
        )  # fmt: skip


def predicted(
    workload: str,
    groups: tuple[Any, ...],
    comparator: ComparatorFlags,
    purse: "Purse | None",
    output: OutputFlags,
) -> int:
    """Answer `podsim predict` by a scaling law; InputError for flags that say nothing to one."""
    from podsim import api
    from podsim.report import json_comparators
    from podsim.report.views import comparator as view

    given = {}
    for flags in groups:
        for field in fields(flags):
            value = getattr(flags, field.name)
            if field.name in TAKEN:
                given[field.name] = value
            elif value != field.default:
                _refuse(field.name, groups[0].topology)
    answer = api.predict_comparator(workload, chips=comparator.chips, **given)
    if purse:
        answer = api.priced(answer, known=purse)
    give(
        output,
        screen=lambda: view.document(answer, verbose=output.verbose),
        json_text=lambda: json_comparators.prediction(answer),
        line=lambda: view.answer(answer),
    )
    return ExitCode.ANSWERED


def _refuse(name: str, topology: str) -> None:
    flag = f"--{name.replace('_', '-')}"
    raise InputError(
        f"{flag} says nothing to {topology}, which has no IPUs: a scaling law answers", code="conflicting-flags",
        hint="it takes --chips, --global-batch, --samples and --division",
    )  # fmt: skip
