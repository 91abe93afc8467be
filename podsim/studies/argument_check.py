"""Every call of a verb is checked, at its entry, against what its study declares of its arguments."""

from __future__ import annotations

from functools import wraps
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from podsim.errors import InputError
from podsim.files.contents import reading_once
from podsim.model.argument import NO_DEFAULT, ArgumentKind
from podsim.model.arguments import FLAGS
from podsim.model.displayable import keep, ledger
from podsim.model.keywords import unknown_keywords, values
from podsim.scenario import PART_OF, Scenario
from podsim.studies import arguments
from podsim.studies.call_record import asking, errors_in_python, help_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from podsim.model.argument import Argument

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


TYPES: Final = {
    ArgumentKind.WHOLE: "int",
    ArgumentKind.NUMBER: "float",
    ArgumentKind.SHARE: "float",
    ArgumentKind.NAME: "str",
    ArgumentKind.FILE: "str or Path",
    ArgumentKind.SWITCH: "bool",
    ArgumentKind.TEXTS: "list of str",
    ArgumentKind.LISTED: "list of str, or a str with commas",
    ArgumentKind.CHANGES: 'dict of path to value, str "PATH=VALUE", or list of such str',
    ArgumentKind.CALLBACK: "callable",
    ArgumentKind.WARNING: "callable",
}
"""Kinds of arguments as types of Python; a result of podsim is named as such."""


class ScenarioVerb(Protocol[R_co]):
    """A verb that takes a scenario, or a workload with the flags of one; both with what the verb has of its own."""

    __name__: str

    def __call__(self, workload: Scenario | str, *own: Any, **flags: Any) -> R_co:  # noqa: ANN401  (checked by the table)
        """Answer the scenario."""


def check_arguments(verb: Callable[P, R]) -> Callable[P, R]:
    """The verb with its arguments checked: it gets whole numbers of numpy as Python's, paths as texts, lists as tuples.

    Raises InputError where an argument is unknown, missing, there twice, of another kind or out of range.
    """
    name = verb.__name__
    positional = verb.__code__.co_varnames[: verb.__code__.co_argcount]

    @wraps(verb)
    def call(*args: P.args, **keywords: P.kwargs) -> R:
        with errors_in_python(name):
            table = _check_values(name, _by_name(name, positional, args, keywords) if args else keywords)
            with asking(name, table) as record:
                answer = verb(**table)  # type: ignore[call-arg]
        before = ledger(table.get("answer"))
        keep(answer, before.followed_by(record) if before and record else before or record)
        return answer

    call.__doc__ = _with_parameters(verb.__doc__ or "", arguments(name).values())
    return call


def takes_scenario(verb: Callable[Concatenate[Scenario, P], R]) -> ScenarioVerb[R]:
    """The verb for a scenario, or for a workload and flags, which become one; its own arguments are checked too.

    Raises InputError as `checked`, and for a scenario with flags that say nothing to the verb.
    """
    name = verb.__name__
    _, *own = signature(verb).parameters.values()
    own_names = {parameter.name for parameter in own} | set(arguments(name)) - set(FLAGS)
    positional = (
        "workload",
        *(parameter.name for parameter in own if parameter.kind is Parameter.POSITIONAL_OR_KEYWORD),
    )

    @wraps(verb)
    def call(*args: object, **keywords: object) -> R:
        with errors_in_python(name):
            given_values = _by_name(name, positional, args, keywords) if args else keywords
            scenario = given_values.get("workload")
            if isinstance(scenario, Scenario):
                scenario = scenario.check()
                _refuse_idle(name, scenario, own_names)
                table = _check_values(name, {**given_values, "workload": scenario.workload})
            else:
                table = _check_values(name, given_values)
                scenario = Scenario.of_checked({key: value for key, value in table.items() if key not in own_names})
            mine = {key: value for key, value in table.items() if key in own_names}
            with asking(name, {**scenario.flags(), **mine}) as record, reading_once():
                answer = verb(scenario, **mine)  # type: ignore[call-arg]
        keep(answer, record)
        return answer

    call.__signature__ = Signature(_parameters(name, positional))  # type: ignore[attr-defined]
    call.__doc__ = _with_parameters(verb.__doc__ or "", arguments(name).values())
    return call


def _with_parameters(text: str, parameters: Collection[Argument]) -> str:
    """The docstring of a verb with its parameters, their kinds, units, ranges and defaults, and its errors."""
    lines = [cleandoc(text), ""]
    if parameters:
        lines += ["Parameters", "----------"]
    names = frozenset(argument.name for argument in parameters)
    for argument in parameters:
        lines.append(f"{argument.name} : {argument.description(_type_text(argument))}")
        lines += [f"    {line}" for line in wrap(help_text(argument, names), 100)]
    errors = "An argument is unknown, of another kind or out of range, or a file has faults (docs/reference/errors.md)."
    lines += ["", "Raises", "------", "InputError", f"    {errors}"]
    if "Infeasible" in text:
        lines += ["Infeasible", "    The answer is no; `hint` has the nearest thing that would work."]
    return "\n".join(lines)


def _type_text(argument: Argument) -> str:
    """The type of an argument as the docstring of a function names it."""
    if argument.kind is ArgumentKind.CHOICE:
        return f"{{{', '.join(map(repr, argument.choices))}}}"
    if argument.kind is ArgumentKind.NAME and "FILE" in argument.metavar:
        return "str or Path"
    if argument.kind is ArgumentKind.SIZES:
        return f"list of int, or a str such as {argument.example}"
    if argument.kind is ArgumentKind.QUANTITY:
        return f"{f'float [{argument.unit}] or ' if argument.plain else ''}str such as {argument.example}"
    return TYPES.get(argument.kind, argument.noun)


def _check_values(name: str, given_values: Mapping[str, object]) -> dict[str, Any]:
    """The arguments of a call, checked against the table."""
    arguments_by_name = arguments(name)
    if strangers := [text for text in given_values if text not in arguments_by_name]:
        raise unknown_keywords(f"podsim.{name}()", strangers, arguments_by_name)
    if missing := [
        text
        for text, argument in arguments_by_name.items()
        if argument.default is NO_DEFAULT and text not in given_values
    ]:
        raise InputError(
            f"podsim.{name}() needs {' and '.join(missing)}", code="missing-argument", hint=f"help(podsim.{name})"
        )
    return values(arguments_by_name, given_values)


def _refuse_idle(name: str, scenario: Scenario, own_names: set[str]) -> None:
    """Raise InputError for flags of a scenario that the verb does not look at."""
    idle = [flag for flag in scenario.flags() if flag not in arguments(name) or flag in own_names]
    if idle:
        parts = ", ".join(".".join(filter(None, (PART_OF[flag], flag))) for flag in idle)
        raise InputError(
            f"podsim.{name}() does not look at {parts} of a scenario",
            code="conflicting-flags",
            hint="leave it out: dataclasses.replace",
        )


def _parameters(name: str, positional: tuple[str, ...]) -> list[Parameter]:
    """The parameters of a verb as the table declares them, those without a name first."""
    arguments_by_name = arguments(name)
    names = [*positional, *(text for text in arguments_by_name if text not in positional)]
    return [
        Parameter(
            text,
            Parameter.POSITIONAL_OR_KEYWORD if text in positional else Parameter.KEYWORD_ONLY,
            default=Parameter.empty
            if arguments_by_name[text].default is NO_DEFAULT
            else arguments_by_name[text].default,
        )
        for text in names
    ]


def _one_list(positional: tuple[str, ...]) -> str:
    """The advice for a call with several values of the last argument, where it takes a list; "" where it does not."""
    last = positional[-1] if positional else ""
    return f"write several {last} as one list; " if last.endswith("s") else ""


def _by_name(
    verb: str, positional: tuple[str, ...], args: tuple[object, ...], keywords: Mapping[str, object]
) -> Mapping[str, object]:
    """All arguments of a call by name; InputError where there are too many, or one is there twice."""
    if len(args) > len(positional):
        takes = " and ".join(positional) or "no argument"
        raise InputError(
            f"podsim.{verb}() takes {takes} by position, and was called with {len(args)}",
            code="too-many-arguments",
            hint=f"{_one_list(positional)}write other arguments by name: help(podsim.{verb})",
        )
    positional_values = dict(zip(positional, args, strict=False))
    if twice := [name for name in positional_values if name in keywords]:
        raise InputError(f"podsim.{verb}() was called with {twice[0]} twice", code="bad-value")
    return {**positional_values, **keywords}
