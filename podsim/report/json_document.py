"""The keys of JSON answers: a table beside each study says where they differ from the fields of its results."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

TOKEN: Final = re.compile(
    r"(?P<spread>\+)?(?P<key>[\w.]+|\*)(?:\?(?P<where>\w*))?(?P<drawn>~)?(?:\[(?P<given>\w+)\])?"
    r"(?:=(?:(?P<constant>'[^']*'|None|\[\])|(?P<count>len\()?(?P<path>[\w.]+)\)?))?(?:\{(?P<names>[\w,]+)\})?"
)
ALL: Final = "*"
NONE: Final = "None"


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonKey:
    """One key of an object of JSON, and the attribute of the result that it has the value of.

    `path` leads over attributes, keys of mappings and methods without arguments: of each element where a tuple is on
    its way, and to null where nothing is. `key` may name an object within the object, as "memory.fraction".
    """

    key: str
    path: tuple[str, ...]
    spread: bool = False  # the keys of what is there stand among those of the object
    where: str | None = None  # where the key is there: "" where it has a value, "None" where it is not None
    drawn: bool = False  # floats are statistics of random draws
    given: str = ""  # the attribute without whose truth the value is null
    constant: tuple[object, ...] = ()  # the value, where it is always the same
    count: bool = False  # how many there are
    names: tuple[str, ...] = ()  # keys of the elements of a tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Keys:
    """The keys of one type in their order; of every field, where it has them, but for those in `without`."""

    each: tuple[JsonKey, ...]
    without: frozenset[str]


@dataclass(frozen=True, slots=True)
class JsonDocument:
    """A kind of answer: its schema "podsim.NAME/1", and the keys of types that are not written by their fields.

    `keys` has, by the name of the class, words in the order of the keys:

    - `ipus`: the attribute of that name; `step_s=step_s.value`: another; `memory.fits=memory.fits`: in an object of
      that name; `engine='law'`: always the same text, as None and []; `stages=len(stages)`: how many there are;
    - `*`: every field; `-run`: but that one; `+run`: the keys of what is there, in this object;
    - `faults?`: only where there are some; `forms?None`: only where it is not None; `kept?inventory`: only where the
      attribute `inventory` is true; `steps[timed]`: null unless `timed` is true;
    - `finish_s~`: a statistic of random draws, of fewer digits; `moved{before,after}`: tuples as objects.

    `derived` has, by "Class.attribute", what the type does not know of itself: functions of an instance. `rows` is the
    key of the list that is the table of the answer, "" where the answer is a row.
    """

    schema: str
    keys: Mapping[str, str] = field(default_factory=dict)
    derived: Mapping[str, Callable[[Any], Any]] = field(default_factory=dict)
    rows: str = ""

    def of_types(self) -> dict[str, Keys]:
        """The keys of each type by the name of its class; ValueError for a word that says nothing."""
        return {name: _keys(words) for name, words in self.keys.items()}


def _keys(words: str) -> Keys:
    key_words = words.split()
    return Keys(
        each=tuple(_key(word) for word in key_words if not word.startswith("-")),
        without=frozenset(word.removeprefix("-") for word in key_words if word.startswith("-")),
    )


def _key(word: str) -> JsonKey:
    match = TOKEN.fullmatch(word)
    if match is None:
        raise ValueError(f'"{word}" declares no key')
    parts = match.groupdict()
    return JsonKey(
        key=parts["key"],
        path=tuple((parts["path"] or parts["key"]).split(".")),
        spread=bool(parts["spread"]),
        where=parts["where"],
        drawn=bool(parts["drawn"]),
        given=parts["given"] or "",
        constant=(ast.literal_eval(parts["constant"]),) if parts["constant"] else (),
        count=bool(parts["count"]),
        names=tuple(parts["names"].split(",")) if parts["names"] else (),
    )
