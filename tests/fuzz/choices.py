"""Decisions drawn from bytes, so that the same bytes are always the same input and a fuzzer may steer them."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Reads decisions off `data`; what lies beyond its end follows from it."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._after = random.Random(data)  # noqa: S311  (no secret)

    def byte(self) -> int:
        """The next byte."""
        if self._at < len(self._data):
            self._at += 1
            return self._data[self._at - 1]
        return self._after.randrange(256)

    def below(self, count: int) -> int:
        """A number from 0 to below `count`."""
        drawn, reach = self.byte(), 256
        while reach < count:
            drawn, reach = drawn * 256 + self.byte(), reach * 256
        return drawn % count

    def chance(self, percent: int) -> bool:
        """True in so many of a hundred cases."""
        return self.below(100) < percent

    def of(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def some(self, most: int) -> int:
        """A count from 1 to `most`, small ones more often."""
        count = 1
        while count < most and self.chance(35):
            count += 1
        return count
