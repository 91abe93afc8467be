"""What is compared: the machine that is named, and each other machine, chip, release, preset or change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from podsim.errors import InputError
from podsim.model.comparison import Ratio as Quotient
from podsim.model.run_cost import per_dollar as of
from podsim.planning.comparator_runs import has_law

if TYPE_CHECKING:
    from podsim.model.comparison import Ratio
    from podsim.model.run_cost import Money
    from podsim.scenario import Scenario

HINT = "podsim compare bert pod64 pod128, or --pod 64 with --to, --to-chip, --to-sdk, --to-preset or --set"


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
    """The sides that a scenario means with other machines, a chip, an SDK or a preset; its changes are one more.

    Raises InputError where there is one side, or machines are named twice.
    """
    machine, changes = scenario.machine, scenario.what_if.changes
    if machines and (machine.pod is not None or machine.topology is not None):
        raise InputError("machines stand both by name and by --pod or --topology", code="conflicting-flags", hint=HINT)
    unchanged = replace(scenario, what_if=replace(scenario.what_if, changes=()))
    first = _on(unchanged, machines[0]) if machines else unchanged
    sides = [Variant(first), *(Variant(_on(first, name)) for name in (*machines[1:], *to))]
    if to_chip is not None:
        sides.append(Variant(replace(first, machine=replace(first.machine, chip=to_chip)), f"chip {to_chip}"))
    if to_sdk is not None:
        sides.append(Variant(replace(first, software=replace(first.software, sdk=to_sdk)), f"SDK {to_sdk}"))
    if to_preset is not None:
        sides.append(Variant(replace(first, mapping=replace(first.mapping, preset=to_preset)), f"preset {to_preset}"))
    if changes:
        sides.append(Variant(replace(first, what_if=scenario.what_if), ", ".join(changes)))
    if len(sides) < 2:
        raise InputError("there is one machine, and nothing to compare it with", code="conflicting-flags", hint=HINT)
    return tuple(sides)


def with_configuration(scenario: Scenario, configuration: Mapping[str, Any]) -> Scenario:
    """The scenario with flags of its what-ifs and framework, by name."""
    flags = dict(configuration)
    framework = flags.pop("framework", scenario.software.framework)
    software = replace(scenario.software, framework=framework)
    return replace(scenario, software=software, what_if=replace(scenario.what_if, **flags))


def _on(scenario: Scenario, machine: str) -> Scenario:
    return replace(scenario, machine=replace(scenario.machine, pod=None, topology=machine))


def check_law(side: Variant) -> None:
    """Raise InputError where a side without IPUs is to be changed, or given what a law has no answer to."""
    scenario = side.scenario
    machine, length = scenario.machine.topology, scenario.length
    if side.remark:
        raise InputError(
            f"{side.remark} says nothing to {machine}, which has no IPUs",
            code="conflicting-flags",
            hint="put the machine with IPUs first, or change --chips and --global-batch",
        )
    for flag, value in (("tokens", length.tokens), ("law", length.law), ("target-loss", length.target_loss)):
        if value is not None:
            raise InputError(
                f"--{flag} says nothing to {machine}, which has no IPUs",
                code="conflicting-flags",
                hint="--samples says how long a run is to both",
            )


def check_chips(sides: Sequence[Variant]) -> None:
    """Raise InputError where --chips is given and every side has IPUs."""
    chips = sides[0].scenario.machine.chips
    if chips is not None and not any(has_law(side.scenario.machine) for side in sides):
        raise InputError("--chips sizes machines without IPUs, and there is none", code="conflicting-flags", hint=HINT)


def labels(titles: Sequence[str], sides: Sequence[Variant]) -> tuple[str, ...]:
    """What to call each side: its machine, or what alone tells it from the first; alike ones are counted."""
    texts: list[str] = []
    for title, side in zip(titles, sides, strict=True):
        name = side.remark or title if title == titles[0] else title
        again = sum(text == name or text.startswith(f"{name} (") for text in texts)
        texts.append(f"{name} ({again + 1})" if again else name)
    return tuple(texts)


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


def per_watt(time: Ratio, first: Money | None, other: Money | None) -> float | None:
    """Performance per watt over that of the first: at the peak of both, else as both typically draw; else None."""
    base, mine = (money.owned.draw if money else None for money in (first, other))
    if base is None or mine is None:
        return None
    for one_w, other_w in ((base.peak_w, mine.peak_w), (base.typical_w, mine.typical_w)):
        if one_w and other_w:
            return one_w / (other_w * time.value)
    return None
