"""What one argument of a verb may be: its kind, range and unit, checked alike for Python and for the command line."""

import math
import operator
import os
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from itertools import islice
from numbers import Real
from typing import Any, Final, NamedTuple

from podsim.errors import did_you_mean
from podsim.model.sizes import sizes
from podsim.units import (
    MULTIPLES,
    WHAT,
    UnitError,
    count,
    decimal,
    dollars,
    duration,
    parse,
    per_second,
    share,
    split_unit,
)

NO_DEFAULT: Final = object()
"""The default of an argument that every call gives."""
LONGEST_TEXT: Final = 65_536  # characters: far above any path, and no message becomes unreadable
MOST_ITEMS: Final = 10_000
_WHOLE: Final = re.compile(r"[+-]?(?:\d{1,3}(?:,\d{3})+|\d+(?:_\d+)*)", re.ASCII)
_MULTIPLE: Final = re.compile(
    rf"[+-]?(?:\d{{1,3}}(?:,\d{{3}})+|\d+)?(?:\.\d+)?\s*(?:{'|'.join(MULTIPLES)})", re.ASCII | re.IGNORECASE
)
_SHOWN_CHARACTERS: Final = 40  # characters of a refused text that a message repeats


IN_HELP: Final = "USD"
"""The unit that the line of help states, since it is that of the currency of the call."""


class ArgumentKind(Enum):
    """What sort of value an argument takes, as a message names it."""

    WHOLE = "a whole number"
    NUMBER = "a number"
    SHARE = "a share"
    QUANTITY = "a text with a unit"
    CHOICE = "one of"
    NAME = "a text"
    FILE = "the path of a file"
    SWITCH = "True or False"
    TEXTS = "a list of texts"
    LISTED = "a list of texts, or one text with commas"
    SIZES = "a list of whole numbers, or a text such as"
    CHANGES = 'a mapping of path to value, or a list of texts "PATH=VALUE"'
    CALLBACK = "a function of two counts: done and total"
    WARNING = "a function of one text"
    ANSWER = "an answer of podsim"


class Argument(NamedTuple):
    """An argument of a verb: name, kind, range, unit and one line of help; `default` is None where it may be left out.

    `low` and `high` bound numbers, in `unit` (SI; "USD" and "requests/s" have their own texts); `open_low` and
    `open_high` exclude the bound itself. `plain` takes a bare number too: of a quantity in its unit, of a name as text.
    `multiples` takes counts such as "20k" and "300B", `minutes` reads "5m" as five minutes. `why` explains the range.
    `choices` are words, or the types of an answer, `aliases` further words with the choice that each means. `group` is
    its heading in the help of a command, if not that of all commands; `named` makes it a flag even where it must be
    given, `rest` makes it all further words of the command line.
    """

    name: str
    kind: ArgumentKind
    help: str = ""
    default: object = None
    low: float = -math.inf
    high: float = math.inf
    open_low: bool = False
    open_high: bool = False
    unit: str = ""
    choices: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    plain: bool = False
    multiples: bool = False
    minutes: bool = False
    why: str = ""
    example: str = ""
    code: str = "bad-value"
    metavar: str = ""
    group: str = ""
    named: bool = False
    rest: bool = False

    def check(self, value: object) -> Any:  # noqa: ANN401  (of any kind)
        """The value as verbs use it; ValueError, whose text goes on after the name, where it is of another kind.

        numpy's whole numbers and floats become Python's, paths texts, lists tuples. A text is never read as a number.
        """
        if value is None:
            if self.default is None:
                return None
            raise ValueError(f"must be {self.noun}, not None")
        return _CHECKS[self.kind](self, value)

    def parse(self, text: str) -> Any:  # noqa: ANN401
        """The value that a word of a command line means; ValueError where it means none."""
        if self.kind is ArgumentKind.WHOLE:
            return self.inside(_whole_of(self, text))
        if self.kind in (ArgumentKind.NUMBER, ArgumentKind.SHARE):
            return self.inside(_number_of(self, text), text)
        return self.check(text)

    def si(self, value: str | float) -> float:
        """A quantity in SI units; ValueError for another unit, or outside its range [`unit`]."""
        if not isinstance(value, str):
            return float(self.inside(value))
        own = duration if self.minutes else _PARSERS.get(self.unit)
        try:
            number = own(value) if own else parse(value, self.unit)
        except UnitError as error:  # with an example that suits the argument
            instead = error.instead or self._with_unit(value)
            example = instead or self.example.strip('"')
            examples = (example,) if error.examples and example else ()
            raise UnitError(error.reason, *examples, instead=instead) from None
        except ValueError as error:
            raise UnitError(str(error), instead=self._with_unit(value)) from None
        return float(self.inside(number, value))

    def _with_unit(self, text: str) -> str:
        """A number without a unit with that of the example; "" for any other text."""
        if not (decimal(text) or 0.0) > 0 or not self.example:
            return ""
        number, _, unit = self.example.strip('"').partition(" ")
        return f"{text.strip()} {unit}" if unit and decimal(number) is not None else ""

    def given_si(self, value: str | float | None) -> float | None:
        """The same of an argument that may be left out; None where it is."""
        return None if value is None else self.si(value)

    @property
    def words(self) -> tuple[str, ...]:
        """Every word of a choice that is taken."""
        return (*self.choices, *(word for word, _ in self.aliases))

    @property
    def noun(self) -> str:
        """What the argument must be."""
        if self.kind is ArgumentKind.CHOICE:
            return f"one of {', '.join(self.choices)}"
        if self.kind is ArgumentKind.NAME and "FILE" in self.metavar:
            return "a name or the path of a file"
        if self.kind is ArgumentKind.SIZES:
            return f"{self.kind.value} {self.example}"
        if self.kind is ArgumentKind.QUANTITY:
            return f"{WHAT.get(self.unit, 'a rate')} such as {self.example}"
        return str(self.kind.value)

    def description(self, noun: str) -> str:
        """What the argument is, in which unit and range, and its default; `noun` says what, for that reader."""
        is_unit_clear = self.unit in ("", IN_HELP) or self.kind is ArgumentKind.QUANTITY
        unit = "" if is_unit_clear else f" [{self.unit}]"
        bounds = self.bounds if self.kind in (ArgumentKind.WHOLE, ArgumentKind.NUMBER, ArgumentKind.SHARE) else ""
        default = (
            ""
            if self.default is NO_DEFAULT
            else f"default {self.default!r}"
            if self.default is not None
            else "optional"
        )
        return ", ".join(filter(None, (f"{noun}{unit}", bounds, default)))

    @property
    def bounds(self) -> str:
        """The range in words, "" where there is none."""
        if -math.inf < self.low and self.high < math.inf and not (self.open_low or self.open_high):
            return f"from {_bound_text(self.low)} to {_bound_text(self.high)}"
        low = f"{'above' if self.open_low else 'at least'} {_bound_text(self.low)}" if self.low > -math.inf else ""
        high = f"{'below' if self.open_high else 'at most'} {_bound_text(self.high)}" if self.high < math.inf else ""
        return " and ".join(filter(None, (low, high)))

    def inside(self, number: Any, text: str | None = None) -> Any:  # noqa: ANN401  (int stays int)
        """The number; ValueError where it is outside the range, `text` is how it was written."""
        above = number > self.low or (number == self.low and not self.open_low)
        below = number < self.high or (number == self.high and not self.open_high)
        if above and below and (isinstance(number, int) or math.isfinite(number)):
            return number
        bound = self.bounds
        if (
            self.kind in (ArgumentKind.WHOLE, ArgumentKind.QUANTITY) and self.high < math.inf
        ):  # the bound that is crossed says enough
            bound = f"at most {_bound_text(self.high)}" if above else self._replace(high=math.inf).bounds
        if self.high == math.inf:
            bound = f"{bound} and finite" if bound else "finite"
        is_explained = above or self.kind not in (ArgumentKind.QUANTITY, ArgumentKind.SHARE)  # the bound `why` is of
        is_explained = is_explained and not (self.kind is ArgumentKind.SHARE and number >= 1)  # no share at all
        more = f"; {self.why}" if self.why and is_explained else ""
        if self.kind is ArgumentKind.SHARE:
            bound = f"a share {bound}"
            if self.low <= number / 100 <= self.high:
                more = f": {number:g} % is {number / 100:g}"
        raise ValueError(f"must be {bound}, not {value_text(number) if text is None else short(text)}{more}")


def value_text(value: object) -> str:
    """A refused value, short enough for a message; of foreign types the name alone."""
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return f'"{short(value)}"'
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**24 else "a number of more than 24 digits"
    if isinstance(value, float):
        return f"{float(value):g}"
    if isinstance(value, list | tuple):
        return "a list"
    return "a mapping" if isinstance(value, dict) else f"a value of type {type(value).__name__}"


def short(text: str) -> str:
    """A text on one line, cut where it is long."""
    line = "".join(character if character.isprintable() else " " for character in text[:_SHOWN_CHARACTERS])
    return line if len(text) <= _SHOWN_CHARACTERS else line[:-1] + "…"


def _bound_text(bound: float) -> str:
    return f"{bound:,.0f}" if bound == int(bound) and abs(bound) <= 2**53 else f"{bound:g}".replace("e+", "e")


def _whole_of(argument: Argument, text: str) -> int:
    if _WHOLE.fullmatch(text.strip()) and len(text) <= 4000:
        return int(text.replace(",", ""))
    number = _count(argument, text)
    if number is None or not number.is_integer():
        raise ValueError(f'"{short(text)}" is not a whole number')
    return int(number)


def _count(argument: Argument, text: str) -> float | None:
    """A count with a multiple such as "20k"; None for what is no count, ValueError where 64k may be 65,536."""
    if not _MULTIPLE.fullmatch(text.strip()):
        return None
    number = count(text)
    if argument.multiples:
        return number
    thousands = number / 1e3
    binary = f" or {thousands * 1024:,.0f}" if text.strip()[-1] in "kK" and thousands.is_integer() else ""
    raise ValueError(f'"{short(text)}" may mean {number:,.0f}{binary}; write the number itself')


def _number_of(argument: Argument, text: str) -> float:
    number = _float(text)
    if number is not None:
        return number
    if text.strip().endswith("%") and (number := _share(text)) is not None:
        if argument.kind is ArgumentKind.SHARE:
            return number
        raise ValueError(f'"{short(text)}" is not a number: write {number:g}')
    count_text = text.strip().removesuffix(argument.name)  # "300B tokens" of --tokens
    if argument.multiples and (number := _count(argument, count_text)) is not None:
        return number
    raise ValueError(f'"{short(text)}" is not a number{"" if not argument.multiples else ", nor a count such as 3M"}')


def _share(text: str) -> float | None:
    try:
        number = share(text)
    except ValueError:
        return None
    return float(f"{number:.12g}") if math.isfinite(number) else None


def _float(text: str) -> float | None:
    try:
        number, unit = split_unit(text)
    except ValueError:
        return None
    return None if unit else number


def _other(argument: Argument, value: object, advice: str = "") -> ValueError:
    """What to raise for a value of another kind."""
    literal = str(value) if isinstance(value, float) and value.is_integer() else value_text(value)
    return ValueError(f"must be {argument.noun}, not {literal}{advice}")


def _index(value: object) -> int | None:
    """The whole number that Python's or numpy's integers stand for; None for all else, True and False among it."""
    if isinstance(value, int):
        return None if isinstance(value, bool) else int(value)
    if not hasattr(type(value), "__index__") or type(value).__name__.startswith("bool"):
        return None
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return None


def _whole(argument: Argument, value: object) -> int:
    number = _index(value)
    if number is not None:
        return int(argument.inside(number))
    advice = ""
    if isinstance(value, float) and math.isfinite(value) and value == int(value) and abs(value) < 1e15:
        advice = f": write {argument.inside(int(value))}"
        raise ValueError(f"must be a whole number, not {float(value)}{advice}")
    if isinstance(value, str) and _WHOLE.fullmatch(value.strip()) and len(value) < _SHOWN_CHARACTERS:
        advice = f": write {argument.inside(int(value.replace(',', '')), value)}"
    raise ValueError(f"must be a whole number, not {value_text(value)}{advice}")


def _real(value: object) -> float | None:
    """The float of Python's or numpy's numbers, infinite where it is too large; None for all else."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _number(argument: Argument, value: object) -> float:
    number = _real(value)
    if number is None:
        raise _other(argument, value, _advice(argument, value))
    return float(argument.inside(number, value_text(value)))


def _advice(argument: Argument, value: object) -> str:
    """The number to write in place of a text that means one, "" where it means none.

    Raises ValueError: the text means a number that is outside the range.
    """
    if not isinstance(value, str):
        return ""
    try:
        number = _number_of(argument, value)
    except ValueError:
        return ""
    return f": write {argument.inside(number, value):g}"


def _quantity(argument: Argument, value: object) -> str | float:
    if isinstance(value, str):
        argument.si(text := _text(argument, value))
        return text
    number = _real(value)
    if number is not None and argument.plain:
        return float(argument.inside(number, value_text(value)))
    usable = number is not None and argument.low <= number <= argument.high and math.isfinite(number)
    advice = f': write "{value_text(value)} {argument.unit}"' if usable else ""
    raise _other(argument, value, advice)


def _choice(argument: Argument, value: object) -> str:
    if isinstance(value, str):
        word = str(value.value) if isinstance(value, Enum) else str(value)
        if word in argument.words:
            return dict(argument.aliases).get(word, word)
        raise _other(argument, value, did_you_mean(word, argument.words))
    raise _other(argument, value)


def _text(argument: Argument, value: object) -> str:
    if not isinstance(value, str):
        raise _other(argument, value)
    text = str(value.value) if isinstance(value, Enum) else str(value)
    if not text.strip():
        raise ValueError("must not be empty")
    if len(text) > LONGEST_TEXT:
        raise ValueError(f"must have at most {LONGEST_TEXT:,} characters, not {len(text):,}")
    if "\0" in text:
        raise ValueError("must not have a NUL character in it")
    return text


def _name(argument: Argument, value: object) -> str:
    number = _index(value) if argument.plain else None
    if number is not None:
        return str(argument.inside(number))
    if isinstance(value, os.PathLike):
        text = _file(argument, value)
        return text if os.sep in text else f"{os.curdir}{os.sep}{text}"  # a path is never taken for a name
    return _text(argument, value)


def _file(argument: Argument, value: object) -> str:
    return _text(argument, os.fspath(value) if isinstance(value, os.PathLike) else value)


def _switch(argument: Argument, value: object) -> bool:
    if not isinstance(value, bool):
        raise _other(argument, value)
    return value


def _items(argument: Argument, value: object) -> tuple[object, ...]:
    """The items of a list; a text, bytes or a mapping is none."""
    if isinstance(value, str | bytes | bytearray | memoryview | Mapping) or not isinstance(value, Iterable):
        items = [f'"{part.strip()}"' for part in short(value).split(",")] if isinstance(value, str) else []
        advice = f": write [{', '.join(items)}]" if items else ""
        raise _other(argument, value, advice)
    try:
        result = tuple(islice(value, MOST_ITEMS + 1))
    except TypeError:  # numpy's arrays without dimensions
        raise _other(argument, value) from None
    if len(result) > MOST_ITEMS:
        raise ValueError(f"must have at most {MOST_ITEMS:,} items")
    return result


def _texts(argument: Argument, value: object) -> tuple[str, ...]:
    return tuple(_item(_name, argument, at, item) for at, item in enumerate(_items(argument, value)))


def _item(check: Callable[[Argument, object], Any], argument: Argument, at: int, item: object) -> Any:  # noqa: ANN401
    if item is None or isinstance(item, bytes) or (check is _name and not isinstance(item, str | os.PathLike)):
        raise ValueError(f"must be {argument.noun}; item {at} is {value_text(item)}")
    try:
        return check(argument, item)
    except ValueError as error:
        raise ValueError(f"[{at}] {error}") from None


def _as_list(argument: Argument, value: object) -> str | tuple[str, ...]:
    return _text(argument, value) if isinstance(value, str) else _texts(argument, value)


def _sizes(argument: Argument, value: object) -> str | tuple[int, ...]:
    if isinstance(value, str):
        for size in sizes(text := _text(argument, value)):
            argument.inside(size)
        return text
    return tuple(_item(_whole, argument, at, item) for at, item in enumerate(_items(argument, value)))


def _changes(argument: Argument, value: object) -> tuple[str, ...] | dict[str, str]:
    if isinstance(value, str):
        return (_text(argument, value),)
    if not isinstance(value, Mapping):
        return _texts(argument, value)
    changes = {}
    for path, text in value.items():
        if not isinstance(path, str):
            raise _other(argument, path)
        if not isinstance(text, str):
            advice = f': write "{value_text(text)}", with its unit where it has one' if _real(text) is not None else ""
            raise _other(argument, text, f" for {short(path)}{advice}")
        changes[str(path)] = str(text)
    return changes


def _callback(argument: Argument, value: object) -> object:
    if not callable(value):
        raise _other(argument, value)
    return value


def _answer(argument: Argument, value: object) -> object:
    types = {kind.__name__ for kind in type(value).__mro__ if kind.__module__.startswith("podsim.")}
    if not types.intersection(argument.choices):
        raise ValueError(f"must be a {' or '.join(argument.choices)}, not {value_text(value)}")
    return value


_PARSERS: Final[Mapping[str, Callable[[str], float]]] = {"USD": dollars, "requests/s": per_second}
_CHECKS: Final[Mapping[ArgumentKind, Callable[[Argument, object], Any]]] = {
    ArgumentKind.WHOLE: _whole,
    ArgumentKind.NUMBER: _number,
    ArgumentKind.SHARE: _number,
    ArgumentKind.QUANTITY: _quantity,
    ArgumentKind.CHOICE: _choice,
    ArgumentKind.NAME: _name,
    ArgumentKind.FILE: _file,
    ArgumentKind.SWITCH: _switch,
    ArgumentKind.TEXTS: _texts,
    ArgumentKind.LISTED: _as_list,
    ArgumentKind.SIZES: _sizes,
    ArgumentKind.CHANGES: _changes,
    ArgumentKind.CALLBACK: _callback,
    ArgumentKind.WARNING: _callback,
    ArgumentKind.ANSWER: _answer,
}
