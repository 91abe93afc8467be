"""The grammar of `--fault`: KIND:NAME=STATE."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NoReturn

from podsim.errors import InputError
from podsim.model.fault import FaultyPart, PartFault

if TYPE_CHECKING:
    from collections.abc import Iterable

DOWN: Final = "down"
LOST_WORD: Final = "lost"
EXAMPLES: Final = (
    "link:ipu4-ipu6=down",
    "link:ipu4->ipu6=0.5",
    "link:gateway3-gateway19=1/2",
    "ipu:17=0.8",
    "machine:5=lost",
    "rack:1=lost",
    "link:rank3-rank4=0.5",
)
_FAULT: Final = re.compile(r"\s*([a-z][\w-]*)\s*:\s*([\w.>-]+)\s*=\s*(\S+)\s*", re.ASCII)
_NUMBER: Final = re.compile(r"0|[1-9]\d{0,8}", re.ASCII)
_DECIMAL: Final = re.compile(r"\d{1,9}(?:\.\d{1,17})?|\.\d{1,17}", re.ASCII)
_RATIO: Final = re.compile(r"(\d{1,9})/(\d{1,9})", re.ASCII)


def parse(texts: Iterable[str]) -> tuple[PartFault, ...]:
    """What `--fault` flags say; InputError where one is none, whatever the machine."""
    return tuple(_parse(text) for text in texts)


def _parse(text: str) -> PartFault:
    match = _FAULT.fullmatch(text)
    if match is None:
        _refuse(text, "write it as KIND:NAME=STATE")
    kind, name, state = match.groups()
    parts = {str(part): part for part in FaultyPart}
    part = parts.get(kind, FaultyPart.LINK)
    if part is not FaultyPart.LINK and not _NUMBER.fullmatch(name):
        _refuse(text, f"{kind} needs a number; the first is 0")
    return PartFault(text, part, name, _rate(text, part, state), "" if kind in parts else kind)


def _rate(text: str, part: FaultyPart, state: str) -> float:
    if state == (DOWN if part is FaultyPart.LINK else LOST_WORD):
        return 0.0
    if state in (DOWN, LOST_WORD):
        right = f"a link is {DOWN}, not {LOST_WORD}" if part is FaultyPart.LINK else f"only a link is {DOWN}"
        instead = f"{text.partition('=')[0].strip()}={DOWN if part is FaultyPart.LINK else LOST_WORD}"
        _refuse(text, f"{right}; write {instead}", part)
    if part in (FaultyPart.MACHINE, FaultyPart.RACK):
        _refuse(text, f"a {part} is {LOST_WORD}; what is slow is an IPU or a link of it", part)
    if ratio := _RATIO.fullmatch(state):
        above, below = int(ratio[1]), int(ratio[2])
        rate = above / below if below else 0.0
    elif state.endswith("%") and _DECIMAL.fullmatch(state[:-1]):
        rate = float(state[:-1]) / 100
    else:
        rate = float(state) if _DECIMAL.fullmatch(state) else 0.0
    if not 0 < rate < 1:
        word = DOWN if part is FaultyPart.LINK else LOST_WORD
        _refuse(text, f"its state must be {word}, or a share of its rate between 0 and 1 such as 0.5, 5/6 or 80%", part)
    return rate


def _refuse(text: str, why: str, part: FaultyPart | None = None) -> NoReturn:
    """Raise InputError with examples of the part, of all parts where none is recognised."""
    printable_text = "".join(character if character.isprintable() else " " for character in text[:80])
    examples = [example for example in EXAMPLES if part is None or example.startswith(f"{part}:")]
    raise InputError(
        f'fault "{printable_text}": {why}', code="bad-fault", context=[f"for example {', '.join(examples)}"]
    )
