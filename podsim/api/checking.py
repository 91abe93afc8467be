"""Every call of a verb is checked, at its entry, against what `podsim.model.verbs` declares of its arguments."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from podsim.errors import InputError
from podsim.model.argument import REQUIRED, Kind, short
from podsim.model.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from podsim.model.argument import Argument

P = ParamSpec("P")
R = TypeVar("R")
MOST_NAMED = 5  # arguments that a message lists


def checked(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb with its arguments checked: it gets whole numbers of numpy as Python's, paths as texts, lists as tuples.

    Raises InputError where an argument is unknown, missing, there twice, of another kind or out of range.
    """
    name, declared = verb.__name__, VERBS[verb.__name__]
    code = verb.__code__
    positional = code.co_varnames[: code.co_argcount]
    required = tuple(one.name for one in declared.values() if one.default is REQUIRED)

    @wraps(verb)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        given = _named(name, positional, args, keywords) if args else keywords
        if unknown := [one for one in given if one not in declared]:
            raise _unknown(f"podsim.{name}()", unknown, declared)
        if missing := [one for one in required if one not in given]:
            raise InputError(f"podsim.{name}() needs {' and '.join(missing)}", code="missing-argument",
                             hint=f"help(podsim.{name})")  # fmt: skip
        return verb(**_values(declared, given))  # type: ignore[call-arg]

    return call


def _named(
    verb: str, positional: tuple[str, ...], args: tuple[object, ...], keywords: Mapping[str, object]
) -> Mapping[str, object]:
    """All arguments of a call by name; InputError where there are too many, or one is there twice."""
    if len(args) > len(positional):
        takes = " and ".join(positional) or "no argument"
        raise InputError(
            f"podsim.{verb}() takes {takes} without a name, and was called with {len(args)}", code="too-many-arguments",
            hint=f"name the others: help(podsim.{verb})",
        )  # fmt: skip
    given = dict(zip(positional, args, strict=False))
    if twice := [name for name in given if name in keywords]:
        raise InputError(f"podsim.{verb}() was called with {twice[0]} twice", code="bad-value")
    return {**given, **keywords}


def _unknown(where: str, unknown: list[str], declared: Iterable[str]) -> InputError:
    from podsim.files.faults import meant

    listed = ", ".join(f"{short(one)}{meant(one, declared)}" for one in unknown[:MOST_NAMED])
    several = "s" if len(unknown) > 1 else ""
    return InputError(f"{where} has no argument{several} {listed}", code="unknown-argument",
                      context=() if "mean" in listed else (f"known: {', '.join(declared)}",))  # fmt: skip


def _values(declared: Mapping[str, Argument], given: Mapping[str, object]) -> dict[str, Any]:
    """The values of arguments that are known; InputError with all that is wrong with them."""
    found: dict[str, Any] = {}
    faults: list[tuple[Argument, str]] = []
    for name, value in given.items():
        argument = declared[name]
        try:
            found[name] = argument.checked(value)
        except ValueError as error:
            faults.append((argument, str(error)))
            continue
        if argument.kind is Kind.MAPPING and value is not None:
            found[name] = _members(argument, found[name])
    if faults:
        raise _refused(faults)
    return found


def _members(argument: Argument, given: Mapping[object, object]) -> dict[str, Any]:
    """The values of an argument that is a mapping of others."""
    declared = {member.name: member for member in argument.members}
    if unknown := [one for one in given if one not in declared]:
        raise _unknown(argument.name, [str(one) if isinstance(one, str) else repr(type(one)) for one in unknown],
                       declared)  # fmt: skip
    return _values(declared, {str(name): value for name, value in given.items()})


def _refused(faults: list[tuple[Argument, str]]) -> InputError:
    lines = [
        f"{argument.name}{' ' if text.startswith(('must', 'is at fault')) else ': '}{text}" for argument, text in faults
    ]
    first = faults[0][0]
    hint = f"{first.name}={first.example}" if first.example else ""
    if len(lines) == 1:
        return InputError(lines[0], code=first.code, hint=hint)
    return InputError(f"{len(lines)} arguments are at fault", code=first.code, context=lines, hint=hint)
