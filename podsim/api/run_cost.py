"""What answers cost: wiring only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, Unpack

from podsim.api.checking import checked
from podsim.errors import MissingParameter
from podsim.files import catalog, comparator_machines
from podsim.files.changes import parse
from podsim.model.prediction import Prediction
from podsim.planning.ownership import OwnershipKeywords, OwnershipTerms
from podsim.planning.ownership import purse as _purse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.fabric import Topology

purse = checked(_purse)
Answer = TypeVar("Answer", "Prediction", "ComparatorPrediction")


@checked
def priced(
    answer: Answer,
    *,
    topology: str | None = None,
    chip: str | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    known: OwnershipTerms | None = None,
    **flags: Unpack[OwnershipKeywords],
) -> Answer:
    """The answer of `predict` with what its machine and the run cost: `podsim predict --money`.

    `topology`, `chip` and `changes` are those of the question. Raises InputError for a price list with faults, or for
    terms out of range.
    """
    terms = known or _purse(**flags)
    if not isinstance(answer, Prediction):
        machine = comparator_machines.machine(answer.topology).machine
        return replace(answer, money=terms.run(answer.time_to_train_s, terms.comparator(machine, answer.chips)))
    return on_machine(answer, catalog.topology(topology or answer.topology, changes, chip=chip).value, changes, terms)


def on_machine(
    answer: Prediction, machine: Topology, changes: Mapping[str, str] | Sequence[str], terms: OwnershipTerms
) -> Prediction:
    """The answer for a machine that was read already, `changes` applied, with what it and the run cost."""
    if not answer.timed:
        raise MissingParameter("the cost of a run needs its length", hint=" or ".join(answer.length_flags))
    changed = any(change.path.startswith("economics.") for change in parse(changes))
    return replace(
        answer, money=terms.run(answer.time_to_train_s, terms.machine(machine, answer.hosts, changed=changed))
    )
