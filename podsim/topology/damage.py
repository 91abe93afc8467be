"""What faults leave of a network: links that are down or slow, endpoints that are slow or lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from podsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from podsim.model.fault import PartFault

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Damage(Generic[Key]):
    """Links by key that are `down` or at a fraction of their `rates`; endpoints `lost` or at a fraction of their clock.

    The links of a lost endpoint are down as well.
    """

    down: frozenset[Key] = frozenset()
    rates: Mapping[Key, float] = field(default_factory=dict)
    lost: frozenset[int] = frozenset()
    slow: Mapping[int, float] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.down or self.rates or self.lost or self.slow)


class Gathered(Generic[Key]):
    """Damage as it is read fault by fault; what is said of a part once cannot be said again."""

    def __init__(self) -> None:
        self.down: dict[Key, None] = {}
        self.rates: dict[Key, float] = {}
        self.lost: dict[int, PartFault] = {}
        self.slow: dict[int, float] = {}
        self._fault_of: dict[object, PartFault] = {}

    def link(self, key: Key, fault: PartFault) -> None:
        """One link that is down or slow."""
        self.say(key, fault)
        if fault.rate:
            self.rates[key] = fault.rate
        else:
            self.down[key] = None

    def endpoint(self, number: int, fault: PartFault) -> None:
        """One endpoint that is slow or lost."""
        self.say(number, fault)
        if fault.rate:
            self.slow[number] = fault.rate
        else:
            self.lost[number] = fault

    def take_down(self, keys: Iterable[Key], fault: PartFault) -> None:
        """Links that are down because a part at their end is lost; InputError where more is said of one of them."""
        for key in keys:
            text = self._fault_of.get(key)
            if text is not None and text is not fault:
                raise _twice(text, fault)
            self.down[key] = None

    def say(self, part: object, fault: PartFault) -> None:
        """Note that a fault is about a part; InputError where another is too."""
        if part in self._fault_of:
            raise _twice(self._fault_of[part], fault)
        self._fault_of[part] = fault

    def damage(self) -> Damage[Key]:
        """All of it."""
        return Damage(frozenset(self.down), dict(self.rates), frozenset(self.lost), dict(self.slow))


def _twice(fault: PartFault, other: PartFault) -> InputError:
    return InputError(
        f'"{fault.text}" and "{other.text}" are about the same part',
        code="conflicting-faults",
        hint="say of each part once what is wrong with it",
    )
