"""What flags compare: the machine that is named, and each other machine, chip, release, preset or change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from podsim.errors import InputError
from podsim.planning.asking import LengthFlags

if TYPE_CHECKING:
    from podsim.model.comparison import Ratio
    from podsim.model.money import Money

HINT = "podsim compare bert pod64 pod128, or --pod 64 with --to, --to-chip, --to-sdk, --to-preset or --set"
OF_LAWS = ("topology", "chips", "global_batch", "samples", "division")
"""Flags that a scaling law has an answer to."""


class SideFlags(TypedDict, total=False):
    """What the sides are, as the flags of the same names."""

    pod: int | None
    topology: str | None
    to: Sequence[str]
    to_chip: str | None
    to_sdk: str | None
    to_preset: str | None
    changes: Mapping[str, str] | Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """One side: what is said of it, and the keywords of `predict` that ask for it."""

    remark: str
    asked: Mapping[str, Any]


def wanted(machines: Sequence[str], flags: SideFlags, asked: Mapping[str, Any]) -> tuple[Wanted, ...]:
    """The sides that machines and flags mean, each with the other keywords `asked`; InputError where there is one."""
    pod, topology = flags.get("pod"), flags.get("topology")
    if machines and (pod is not None or topology is not None):
        raise InputError("machines stand both by name and by --pod or --topology", code="conflicting-flags", hint=HINT)
    first, *others = [{**asked, "topology": name} for name in machines] or [{**asked, "pod": pod, "topology": topology}]
    sides = [Wanted(remark="", asked=first), *(Wanted(remark="", asked=other) for other in others)]
    sides += [Wanted(remark="", asked={**first, "pod": None, "topology": name}) for name in flags.get("to", ())]
    for flag, key, title in (("to_chip", "chip", "chip"), ("to_sdk", "sdk", "SDK"), ("to_preset", "preset", "preset")):
        value = flags.get(flag)
        if value is not None:
            sides.append(Wanted(remark=f"{title} {value}", asked={**first, key: value}))
    changes = flags.get("changes", ())
    if changes:
        sides.append(Wanted(remark=", ".join(spelled(changes)), asked={**first, "changes": changes}))
    if len(sides) < 2:
        raise InputError("there is one machine, and nothing to compare it with", code="conflicting-flags", hint=HINT)
    return tuple(sides)


def spelled(changes: Mapping[str, str] | Sequence[str]) -> tuple[str, ...]:
    """Changes as `--set` takes them."""
    if isinstance(changes, Mapping):
        return tuple(f"{path}={text}" for path, text in changes.items())
    return (changes,) if isinstance(changes, str) else tuple(changes)


def name(side: Wanted) -> str:
    """What to call a side that has no answer: its machine, or what alone tells it from the first."""
    return side.remark or str(side.asked.get("topology") or f"pod{side.asked.get('pod')}")


def has_law(side: Wanted) -> bool:
    """Whether a side has no IPUs, so that a scaling law answers for it."""
    from podsim.files import comparator_machines

    topology = side.asked["topology"]
    return topology is not None and comparator_machines.meant(topology)


def of_law(side: Wanted) -> dict[str, Any]:
    """The keywords of a side without IPUs, to which others say nothing; InputError where it is to be changed."""
    if side.remark:
        raise InputError(
            f"{side.remark} says nothing to {side.asked['topology']}, which has no IPUs", code="conflicting-flags",
            hint="put the machine with IPUs first, or change --chips and --global-batch",
        )  # fmt: skip
    for name in LengthFlags.__annotations__:
        if side.asked.get(name) is not None:
            raise InputError(
                f"--{name.replace('_', '-')} says nothing to {side.asked['topology']}, which has no IPUs",
                code="conflicting-flags", hint="--samples says how long a run is to both",
            )  # fmt: skip
    return {name: side.asked[name] for name in OF_LAWS if name in side.asked}


def check_chips(sides: Sequence[Wanted]) -> None:
    """Raise InputError where --chips is given and every side has IPUs."""
    chips = sides[0].asked["chips"]
    if chips is not None and not any(map(has_law, sides)):
        raise InputError("--chips sizes machines without IPUs, and there is none", code="conflicting-flags", hint=HINT)


def labels(titles: Sequence[str], sides: Sequence[Wanted]) -> tuple[str, ...]:
    """What to call each side: its machine, or what alone tells it from the first; alike ones are counted."""
    found: list[str] = []
    for title, side in zip(titles, sides, strict=True):
        name = side.remark or title if title == titles[0] else title
        again = sum(one == name or one.startswith(f"{name} (") for one in found)
        found.append(f"{name} ({again + 1})" if again else name)
    return tuple(found)


def per_dollar(time: Ratio, first: Money | None, other: Money | None) -> Ratio | None:
    """Performance per dollar over that of the first (Eq. 61); None where a price is not known."""
    from podsim.model.comparison import Ratio as Quotient
    from podsim.model.money import per_dollar as of

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
