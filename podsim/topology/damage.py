"""What faults leave of a network: links that are down or slow, endpoints that are slow or lost."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Mapping

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
