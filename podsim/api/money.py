"""What answers cost: wiring only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar, Unpack

from podsim.planning.purse import MoneyFlags, Purse, purse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.prediction import Prediction

Answer = TypeVar("Answer", "Prediction", "ComparatorPrediction")


def priced(
    answer: Answer,
    *,
    topology: str | None = None,
    chip: str | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    known: Purse | None = None,
    **flags: Unpack[MoneyFlags],
) -> Answer:
    """The answer of `predict` with what its machine and the run cost: `podsim predict --money`.

    `topology`, `chip` and `changes` are those of the question. Raises InputError for a price list with faults, or for
    terms out of range.
    """
    from podsim.files import catalog
    from podsim.files.changes import parse
    from podsim.model.prediction import Prediction

    terms = known or purse(**flags)
    if not isinstance(answer, Prediction):
        from podsim.files import comparator_machines

        machine = comparator_machines.machine(answer.topology).machine
        return replace(answer, money=terms.run(answer.time_to_train_s, terms.comparator(machine, answer.chips)))
    found = catalog.topology(topology or answer.topology, changes, chip=chip).value
    changed = any(change.path.startswith("economics.") for change in parse(changes))
    owned = terms.machine(found, answer.hosts, changed=changed)
    return replace(answer, money=terms.run(answer.time_to_train_s, owned))
