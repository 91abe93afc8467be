"""Two scenarios side by side: what a query string asks of each, and how the same is asked elsewhere."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

from podsim.studies.app.query import Query, read

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SIDES: Final = ("a", "b")
"""How the names of the fields of each scenario begin: "a.workload", "b.workload"."""
TITLES: Final = ("Scenario A", "Scenario B")
FILES: Final = tuple(f"{side}.json" for side in SIDES)
"""Files in which the command line and Python keep the answers that they compare."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two questions to one verb, with what is wrong with each under the names of its fields."""

    sides: tuple[Query, Query]
    errors: Mapping[str, str]

    @property
    def values(self) -> Mapping[str, Any]:
        """What another view takes over: the first scenario."""
        return self.sides[0].values

    @property
    def text(self) -> str:
        """The query string of both."""
        return urlencode(
            [
                (f"{side}.{name}", text)
                for side, query in zip(SIDES, self.sides, strict=True)
                for name, text in parse_qsl(query.text)
            ]
        )

    @property
    def line(self) -> str:
        """The command lines that ask the same: two answers saved, then compared."""
        commands = [f"{query.line} -q -o {file}" for file, query in zip(FILES, self.sides, strict=True)]
        return " && ".join((*commands, shlex.join(["podsim", "diff", *FILES])))

    @property
    def call(self) -> str:
        """The calls in Python that ask the same."""
        calls = [f"{query.call}.save({file!r})" for file, query in zip(FILES, self.sides, strict=True)]
        return "; ".join((*calls, f"podsim.diff({', '.join(map(repr, FILES))})"))


def pair(first: Query, second: Query, errors: Mapping[str, str]) -> Pair:
    """Two questions, with their errors and `errors` of none of them."""
    own = {
        f"{side}.{name}" if name else "": text
        for side, query in zip(SIDES, (first, second), strict=True)
        for name, text in query.errors.items()
    }
    return Pair(sides=(first, second), errors={**own, **errors})


def read_pair(verb: str, pairs: Iterable[tuple[str, str]]) -> Pair:
    """Two questions of a form or a query string, whose names begin with the side they are of."""
    by_side: dict[str, list[tuple[str, str]]] = {side: [] for side in SIDES}
    errors = {}
    for name, text in pairs:
        side, _, rest = name.partition(".")
        if side in by_side and rest:
            by_side[side].append((rest, text))
        elif text.strip():
            errors[""] = f"{name} names neither scenario: a.{name} or b.{name}"
    first, second = (read(verb, by_side[side]) for side in SIDES)
    return pair(first, second, errors)
