"""Every call of a verb is checked, at its entry, against what `podsim.model.verbs` declares of its arguments."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from podsim.errors import InputError
from podsim.model.argument import REQUIRED
from podsim.model.keywords import unknown, values
from podsim.model.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

P = ParamSpec("P")
R = TypeVar("R")


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
        if strangers := [one for one in given if one not in declared]:
            raise unknown(f"podsim.{name}()", strangers, declared)
        if missing := [one for one in required if one not in given]:
            raise InputError(f"podsim.{name}() needs {' and '.join(missing)}", code="missing-argument",
                             hint=f"help(podsim.{name})")  # fmt: skip
        return verb(**values(declared, given))  # type: ignore[call-arg]

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
