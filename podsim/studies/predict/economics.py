"""What answers cost: wiring only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar, Unpack

from podsim.errors import MissingParameter
from podsim.files import catalog, find
from podsim.files.changes import parse
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Prediction
from podsim.planning.machine_cost import POWER, PRICE
from podsim.planning.ownership import OwnershipKeywords, OwnershipTerms
from podsim.planning.ownership import ownership_terms as _ownership_terms
from podsim.studies.argument_check import check_arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from podsim.model.activity import StepActivity
    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.fabric import Topology
    from podsim.model.run_cost import MachineOwnership

ownership_terms = check_arguments(_ownership_terms)
Answer = TypeVar("Answer", "Prediction", "ComparatorPrediction")

HARDWARE: Final = ("chip.", "ipu-link.", "gw-link.", "gateway.", "hosts.", "level.")
"""How paths of inputs begin that would change the price and the power of a machine."""
UNCHANGED_NOTE: Final = AnswerNote.of(NoteCode.PRICE_UNCHANGED, caveat=True)
WHOLE: Final = AnswerNote.of(NoteCode.PRICE_WHOLE, caveat=True)


@check_arguments
def price(
    answer: Answer,
    *,
    topology: str | None = None,
    chip: str | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    terms: OwnershipTerms | None = None,
    **flags: Unpack[OwnershipKeywords],
) -> Answer:
    """Predict a run with the price and power of its machine and the cost and energy of the run.

    Raises InputError for a malformed question, a faulty price list, or terms out of range.
    """
    terms = terms or _ownership_terms(**flags)
    if not isinstance(answer, Prediction):
        machines = catalog.without_ipus()
        if (placed_machine := machines.get(answer.topology)) is None:
            raise find.unknown_name("topologies", answer.topology, tuple(machines))
        return replace(
            answer, money=terms.run(answer.time_to_train_s, terms.comparator(placed_machine.machine, answer.chips))
        )
    return on_machine(answer, catalog.topology(topology or answer.topology, changes, chip=chip).value, changes, terms)


def on_machine(
    answer: Prediction, machine: Topology, changes: Mapping[str, str] | Sequence[str], terms: OwnershipTerms
) -> Prediction:
    """The answer for a machine that was read already, `changes` applied, with what it and the run cost."""
    if not answer.has_length:
        raise MissingParameter("a training cost needs the length of the run", hint=" or ".join(answer.length_flags))
    ownership, notes = machine_ownership(machine, answer.hosts, changes, terms, answer.activity)
    whole = (WHOLE,) if answer.faults and answer.faults.left else ()
    return replace(
        answer,
        money=terms.run(answer.time_to_train_s, ownership, tokens(answer), answer.pace),
        assumptions=(*answer.assumptions, *notes, *whole),
    )


def machine_ownership(
    machine: Topology,
    hosts: int,
    changes: Mapping[str, str] | Sequence[str],
    terms: OwnershipTerms,
    activity: StepActivity | None = None,
) -> tuple[MachineOwnership, tuple[AnswerNote, ...]]:
    """Price and power of a machine with `changes` applied, and a caveat where they are of the unchanged one.

    Power is that of the `activity` of its IPUs, unless the user states that of a machine.
    """
    paths = [change.path for change in parse(changes)]
    has_economics = any(path.startswith(catalog.ECONOMICS) for path in paths)
    notes = (UNCHANGED_NOTE,) if not has_economics and any(path.startswith(HARDWARE) for path in paths) else ()
    ownership = terms.machine(machine, hosts, activity=activity)
    return ownership, tuple(_of_another_chip(machine, ownership, terms)) or notes


def _of_another_chip(machine: Topology, ownership: MachineOwnership, terms: OwnershipTerms) -> Iterator[AnswerNote]:
    """A caveat where a chip of the user's own is priced as the one in whose place it stands."""
    chip, by_hand = machine.chip, machine.economics.by_hand
    if find.is_shipped("chips", chip.name):
        return
    of_price = ownership.capital is not None and PRICE not in by_hand and terms.machine_usd is None
    of_power = ownership.draw is not None and POWER not in by_hand and chip.activity_power is None
    if of_price or of_power:
        what = "Price and power are" if of_price and of_power else "Price is" if of_price else "Power is"
        yield AnswerNote.of(NoteCode.PRICE_OF_ANOTHER_CHIP, caveat=True, what=what, chip=chip.name)


def tokens(answer: Prediction) -> float | None:
    """Tokens that a language model is trained on; None for other models and for runs of no known length."""
    each_s = answer.tokens_per_s
    if each_s is None or not answer.has_length:
        return None
    return answer.samples_to_converge.value * each_s.value / answer.throughput_samples_per_s.value
