"""What is compared: the machine that is named, and each other machine, chip, release, preset or change."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from podsim.errors import InputError
from podsim.model.run_cost import per_dollar as of
from podsim.planning.comparator_runs import has_law
from podsim.studies.compare.result import PerWatt, PowerBasis
from podsim.studies.compare.result import Ratio as Quotient
from podsim.topology.fault_text import parse

if TYPE_CHECKING:
    from podsim.model.run_cost import Money
    from podsim.scenario import Scenario
    from podsim.studies.compare.result import Ratio

HINT = "podsim compare bert pod64 pod128, or podsim compare bert --pod 64 --to pod128"


@dataclass(frozen=True, slots=True)
class Variant:
    """One side of a comparison; `remark` is what tells it from the first on the same machine."""

    scenario: Scenario
    remark: str = ""

    @property
    def name(self) -> str:
        """What to call a side that has no answer: its machine, or what alone tells it from the first."""
        machine = self.scenario.machine
        return self.remark or machine.topology or f"pod{machine.pod}"


def variants(
    scenario: Scenario,
    machines: Sequence[str] = (),
    *,
    to: Sequence[str] = (),
    to_chip: str | None = None,
    to_sdk: str | None = None,
    to_preset: str | None = None,
) -> tuple[Variant, ...]:
    """The sides that a scenario means with other machines, a chip, an SDK or a preset.

    Its changes are one more side, its faults another.

    Raises InputError where there is one side, or machines are named twice.
    """
    machine, changes = scenario.machine, scenario.what_if.changes
    if machines and (machine.pod is not None or machine.topology is not None):
        raise InputError("machines stand both by name and by --pod or --topology", code="conflicting-flags", hint=HINT)
    base_scenario = replace(scenario, what_if=replace(scenario.what_if, changes=()), faults=())
    first = _on(base_scenario, machines[0]) if machines else base_scenario
    sdk = f"SDK {first.software.sdk}" if to_sdk is not None and first.software.sdk is not None else ""
    sides = [Variant(first, sdk), *(Variant(_on(first, name)) for name in (*machines[1:], *to))]
    if to_chip is not None:
        sides.append(Variant(replace(first, machine=replace(first.machine, chip=to_chip)), f"chip {to_chip}"))
    if to_sdk is not None:
        sides.append(Variant(replace(first, software=replace(first.software, sdk=to_sdk)), f"SDK {to_sdk}"))
    if to_preset is not None:
        sides.append(Variant(replace(first, mapping=replace(first.mapping, preset=to_preset)), f"preset {to_preset}"))
    if changes:
        sides.append(Variant(replace(first, what_if=scenario.what_if), ", ".join(changes)))
    if scenario.faults:
        damage = ", ".join(fault.in_words for fault in parse(scenario.faults))
        sides.append(Variant(replace(first, faults=scenario.faults), f"with {damage}"))
    if len(sides) < 2:
        alone = has_law(sides[0].scenario.machine)
        versus = f"podsim compare {shlex.quote(scenario.workload)} pod64 {sides[0].name}" if alone else HINT
        raise InputError("only one machine is named: nothing to compare it with", code="missing-argument", hint=versus)
    return tuple(sides)


def _on(scenario: Scenario, machine: str) -> Scenario:
    return replace(scenario, machine=replace(scenario.machine, pod=None, topology=machine))


def check_law(side: Variant) -> None:
    """Raise InputError where a side without IPUs is to be changed, or given what a law has no answer to."""
    scenario = side.scenario
    machine, length = scenario.machine.topology, scenario.length
    if side.remark:
        raise InputError(
            f"{side.remark} does not apply to {machine}, which has no IPUs",
            code="conflicting-flags",
            hint="put the machine with IPUs first, or change --chips and --global-batch",
        )
    for flag in ("tokens", "law", "target_loss", "epochs"):
        if getattr(length, flag) is not None:
            raise InputError(
                f"--{flag.replace('_', '-')} does not apply to {machine}, which has no IPUs",
                code="conflicting-flags",
                hint=f"leave out --{flag.replace('_', '-')}: both kinds of machines take a length as --samples",
            )


def check_chips(sides: Sequence[Variant]) -> None:
    """Raise InputError where --chips is given and every side has IPUs."""
    chips = sides[0].scenario.machine.chips
    if chips is not None and not any(has_law(side.scenario.machine) for side in sides):
        raise InputError("--chips sizes machines without IPUs, and there is none", code="conflicting-flags", hint=HINT)


def labels(titles: Sequence[str], sides: Sequence[Variant]) -> tuple[str, ...]:
    """What to call each side: its machine, or what alone tells it from the first; alike ones are counted."""
    texts: list[str] = []
    for at, (title, side) in enumerate(zip(titles, sides, strict=True), start=1):
        same = title == titles[0] or bool(side.scenario.faults)  # what is left of a machine has another title
        name = _title_with_chips(title, side)
        if same and side.remark:
            changes_or_faults = side.scenario.what_if.changes or side.scenario.faults
            name = side.remark if changes_or_faults or len(sides) > 2 else f"{title} with {side.remark}"
        again = sum(text == name or text.startswith(f"{name}, side ") for text in texts)
        texts.append(f"{name}, side {at}" if again else name)
    return tuple(texts)


def _title_with_chips(title: str, side: Variant) -> str:
    """The title of a side, with its chips where its name says how many: "DGX A100, 64 chips"."""
    chips = (side.scenario.machine.topology or "").partition(":")[2]
    return f"{title}, {int(chips):,} chips" if chips.isdigit() else title


def per_dollar(time: Ratio, first: Money | None, other: Money | None) -> Ratio | None:
    """Performance per dollar over that of the first (Eq. 61); None where a price is not known."""
    base, mine = (money.owned.capital if money else None for money in (first, other))
    if base is None or mine is None:
        return None
    if base == mine:  # whatever it costs
        return Quotient(value=1 / time.value, low=1 / time.high, high=1 / time.low)
    return Quotient(
        value=of(time.value, mine.usd.value, 1.0, base.usd.value),
        low=of(time.high, mine.usd.high, 1.0, base.usd.low),
        high=of(time.low, mine.usd.low, 1.0, base.usd.high),
    )


def per_watt(time: Ratio, first: Money | None, other: Money | None) -> PerWatt | None:
    """Performance per watt over that of the first; None where no power of the same kind is known of both.

    Power in training where both are predicted, else at the peak of both, else as both typically draw.
    """
    base, mine = (money.owned.draw if money else None for money in (first, other))
    if base is None or mine is None:
        return None
    steps = tuple(draw.predicted.value if draw.predicted else None for draw in (base, mine))
    powers = {
        PowerBasis.TRAINING: steps,
        PowerBasis.PEAK: (base.peak_w, mine.peak_w),
        PowerBasis.TYPICAL: (base.typical_w, mine.typical_w),
    }
    for basis, (one_w, other_w) in powers.items():
        if one_w and other_w:
            return PerWatt(value=one_w / (other_w * time.value), basis=basis)
    return None
