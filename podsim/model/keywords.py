"""Keywords of a call checked against declared arguments, with all that is wrong with them in one error."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from podsim.errors import InputError, did_you_mean
from podsim.model.argument import Argument, short

MOST_NAMED: Final = 5
"""Arguments that a message lists."""
FLAGS: Final = {"set": "changes", "fault": "faults"}
"""Flags of the command line that a function takes under another name."""


def unknown_keywords(where: str, strangers: Sequence[str], argument_names: Collection[str]) -> InputError:
    """The error for keywords that are not declared, with the names they resemble."""
    strangers_text = ", ".join(
        f'{short(stranger)}; did you mean "{FLAGS[stranger]}"?'
        if FLAGS.get(stranger) in argument_names
        else f"{short(stranger)}{did_you_mean(stranger, argument_names)}"
        for stranger in strangers[:MOST_NAMED]
    )
    several = "s" if len(strangers) > 1 else ""
    return InputError(
        f"{where} has no argument{several} {strangers_text}",
        code="unknown-argument",
        context=() if "mean" in strangers_text else (f"known: {', '.join(argument_names)}",),
    )


def values(arguments: Mapping[str, Argument], inputs: Mapping[str, object]) -> dict[str, Any]:
    """The values of declared arguments as verbs use them; InputError with all that is wrong with them."""
    table: dict[str, Any] = {}
    faults: list[tuple[Argument, ValueError]] = []
    for name, value in inputs.items():
        argument = arguments[name]
        try:
            table[name] = argument.check(value)
        except ValueError as error:
            faults.append((argument, error))
    if faults:
        raise refused_values(faults)
    return table


def refused_values(faults: Sequence[tuple[Argument, ValueError]]) -> InputError:
    """The error for values at fault, each with what is wrong with it."""
    lines = [
        f"{argument.name}{'' if text.startswith('[') else ' ' if text.startswith('must') else ': '}{text}"
        for argument, text in ((argument, str(error)) for argument, error in faults)
    ]
    first, error = faults[0]
    instead = getattr(error, "instead", "")
    example = f'"{instead}"' if instead else first.example
    hint = f"{first.name}={example}" if example and ": write " not in str(error) else ""
    if len(lines) == 1:
        return InputError(lines[0], code=first.code, hint=hint)
    return InputError(f"{len(lines)} invalid arguments", code=first.code, context=lines, hint=hint)
