"""Files that people get wrong: a number changed, a line lost or twice, values exchanged, odd letters, huge numbers."""

import re
import sys
from collections.abc import Callable

from fuzz.choices import Choices

VALUE = re.compile(r'(?<== )(?:"[^"\n]*"|[-\d.]+|true|false)')
NUMBER = re.compile(r"(?<![\w.#-])\d+(?:\.\d+)?(?![\w.])|(?<=\")\d+(?:\.\d+)?(?= ?[A-Za-z%])")
FACTORS = (0.5, 2.0, 0.9, 1.1, 4.0, 0.25, 1.5, 10.0, 0.1, 3.0)
STRANGE = (
    "0",
    "-1",
    "1",
    "0.5",
    "inf",
    "-inf",
    "nan",
    '"x"',
    '""',
    "true",
    "[]",
    "{}",
    "[[1]]",
    "[{}]",
    "1e308",
    "1e-308",
    "9" * 400,
    "2026-11-20",
    '"-1 s"',
    '"0 GB/s"',
    '"inf GHz"',
    '"1 B"',
    '"../x.toml"',
    "{ value = 1 }",
    "{ value = [] }",
    "{ value = {} }",
    "{ value = 1, kind = 2, counts = [] }",
    '"1e308 GB/s"',
    '"1e-300 s"',
    "2",
    "7",
    "1024",
    "65536",
    "1000000",
    "9007199254740993",
    "9223372036854775808",
    '"/dev/zero"',
    '"=1+1"',
    '"\\u202e"',
    "'''a'''",
    '"²"',
    '"\\u0000"',
    "0x7f",
    "1_000",
    "00:00:00",
    "{ a.b = 1 }",
    '"nan s"',
    '"1 kB"',
    '"100 %"',
)
LETTERS = ("²", "\u202e", "\u0000", "é", "\U0001f600", "\u0661", "\u2028", "\x1b[31m", "\x07", "=", "\ufeff", "\r", '"')


def toml(text: str, draw: Choices) -> bytes:
    """A TOML file with one to four slips; three in four of them leave it one that may well be read."""
    for _ in range(draw.some(4)):
        text = draw.of(KIND_ONES if draw.chance(74) else ROUGH_ONES)(text, draw)
    return damaged(text.encode("utf-8", "surrogatepass"), draw) if draw.chance(3) else text.encode(errors="replace")


def with_another_number(text: str, draw: Choices) -> str:
    """One number a little smaller or larger."""
    matches = list(NUMBER.finditer(text))
    if not matches:
        return text
    chosen = draw.of(matches)
    value = min(float(chosen[0]) * draw.of(FACTORS), sys.float_info.max)
    words = f"{value:.6g}" if "." in chosen[0] and "e" not in f"{value:.6g}" else str(max(1, round(value)))
    return text[: chosen.start()] + words + text[chosen.end() :]


def with_a_comment(text: str, draw: Choices) -> str:
    """A remark that changes nothing."""
    lines = text.splitlines(keepends=True)
    at = draw.below(len(lines) + 1)
    return "".join([*lines[:at], f"# {draw.of(LETTERS[:1] + LETTERS[3:6])}\n", *lines[at:]])


def with_a_value_of_another_line(text: str, draw: Choices) -> str:
    """The value of one key in place of that of another."""
    matches = list(VALUE.finditer(text))
    if len(matches) < 2:
        return text
    chosen, other = draw.of(matches), draw.of(matches)
    return text[: chosen.start()] + other[0] + text[chosen.end() :]


def with_strange_value(text: str, draw: Choices) -> str:
    """A value of another kind, or beyond what is meant."""
    matches = list(VALUE.finditer(text))
    if not matches:
        return text
    chosen = draw.of(matches)
    return text[: chosen.start()] + draw.of(STRANGE) + text[chosen.end() :]


def with_values_exchanged(text: str, draw: Choices) -> str:
    """Two values in each other's place."""
    matches = list(VALUE.finditer(text))
    if len(matches) < 2:
        return text
    first, second = sorted((draw.below(len(matches)), draw.below(len(matches))))
    if first == second:
        return text
    item, other = matches[first], matches[second]
    return text[: item.start()] + other[0] + text[item.end() : other.start()] + item[0] + text[other.end() :]


def without_a_line(text: str, draw: Choices) -> str:
    """One line lost."""
    lines = text.splitlines(keepends=True) or [""]
    at = draw.below(len(lines))
    return "".join(lines[:at] + lines[at + 1 :])


def with_a_line_twice(text: str, draw: Choices) -> str:
    """One line again, anywhere."""
    lines = text.splitlines(keepends=True) or [""]
    at, to = draw.below(len(lines)), draw.below(len(lines) + 1)
    return "".join([*lines[:to], lines[at], *lines[to:]])


def with_a_table_twice(text: str, draw: Choices) -> str:
    """A whole table again, at the end."""
    heads = [match.start() for match in re.finditer(r"^\[", text, re.MULTILINE)]
    if not heads:
        return text
    at = draw.below(len(heads))
    until = heads[at + 1] if at + 1 < len(heads) else len(text)
    return text + "\n" + text[heads[at] : until]


def with_an_odd_letter(text: str, draw: Choices) -> str:
    """A letter that no keyboard has, anywhere."""
    at = draw.below(len(text) + 1)
    return text[:at] + draw.of(LETTERS) + text[at:]


def cut_short(text: str, draw: Choices) -> str:
    """The beginning alone."""
    return text[: draw.below(len(text) + 1)]


def damaged(raw: bytes, draw: Choices) -> bytes:
    """Bytes lost, added or changed, so that it need be no text."""
    at = draw.below(len(raw) + 1)
    added = bytes(draw.byte() for _ in range(draw.below(4)))
    return raw[:at] + added + raw[at + draw.below(4) :]


Mutation = Callable[[str, Choices], str]
KIND_ONES: tuple[Mutation, ...] = (
    with_another_number,
    with_another_number,
    with_another_number,
    with_another_number,
    with_a_comment,
    with_a_value_of_another_line,
)
ROUGH_ONES: tuple[Mutation, ...] = (
    with_strange_value,
    with_strange_value,
    with_values_exchanged,
    without_a_line,
    with_a_line_twice,
    with_a_table_twice,
    with_an_odd_letter,
    cut_short,
)


def json_value(value: object, draw: Choices, strange: tuple[object, ...]) -> object:
    """A JSON document with one value, key or member changed, at any depth."""
    if isinstance(value, dict) and value and not draw.chance(8):
        key = draw.of(list(value))
        if draw.chance(6):
            return {name: item for name, item in value.items() if name != key}
        return {**value, key: json_value(value[key], draw, strange)}
    if isinstance(value, list) and value and not draw.chance(8):
        at = draw.below(len(value))
        if draw.chance(10):
            return [*value[:at], *value[at + draw.below(2) :], value[at]]
        return [*value[:at], json_value(value[at], draw, strange), *value[at + 1 :]]
    number = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e300
    if number and draw.chance(70):
        scaled = value * draw.of(FACTORS)
        return max(1, round(scaled)) if isinstance(value, int) else scaled
    return draw.of(strange) if draw.chance(70) else value


JSON_STRANGE: tuple[object, ...] = (
    None,
    True,
    False,
    0,
    -1,
    1,
    0.5,
    1e308,
    -1e308,
    1e-308,
    10**400,
    2**63,
    "",
    "x",
    "²",
    "\u202e",
    "\x1b[31m",
    [],
    {},
    [1],
    [[]],
    {"value": 1},
    "1e400",
    "nan",
    "=1+1",
    "\x00",
    "\udcff",
    float("nan"),
    float("inf"),
    64,
    7,
    4096,
)
