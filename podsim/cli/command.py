"""Commands built from what their studies declare: ask the verb, print the answer, write it where `--out` says.

A command with a module of its own in `podsim.cli.commands` does more than that. `podsim.cli.parser` names the others as
attributes of this module, so that only the one that is used is built.
"""

from collections.abc import Callable
from importlib import import_module
from inspect import Parameter as Variable
from inspect import Signature
from types import ModuleType
from typing import Annotated, Any, Final, Literal

from cyclopts import Group

import podsim
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_MODEL,
    ANY_OUTPUT,
    FLAG_NAMES,
    GROUPS,
    ModelFlags,
    OutputFlags,
    flag,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.model.argument import NO_DEFAULT, Argument, ArgumentKind
from podsim.model.verb import Command
from podsim.report import fields_document
from podsim.studies import arguments, commands, documents, notebook

Run = Callable[..., int]
OWN_HEADINGS: Final = 3
"""Headings of a command stand after those of machine and mapping, before that of the run."""
NOT_TYPED: Final = (ArgumentKind.CALLBACK, ArgumentKind.WARNING, ArgumentKind.ANSWER)
"""Kinds of arguments that only Python can give."""
TYPES: Final = {
    ArgumentKind.WHOLE: int,
    ArgumentKind.NUMBER: float,
    ArgumentKind.SHARE: float,
    ArgumentKind.SWITCH: bool,
    ArgumentKind.TEXTS: tuple[str, ...],
    ArgumentKind.CHANGES: tuple[str, ...],
}
"""What a word of the command line becomes; a text where nothing is said."""


def __getattr__(name: str) -> Run:
    """The command of that name, built from its study."""
    if name not in commands():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    folder, command = commands()[name]
    return build(folder, command)


def build(folder: str, command: Command) -> Run:
    """A function for cyclopts with the flags of the verb, of the output, and, with a page, of where it is written."""
    typed_arguments = [argument for argument in arguments(command.name).values() if argument.kind not in NOT_TYPED]
    names = {FLAG_NAMES.get(argument.name, argument.name): argument for argument in typed_arguments}
    ahead = [name for name, argument in names.items() if argument.default is NO_DEFAULT and not argument.named]
    rest = [name for name, argument in names.items() if argument.rest]

    def call(*positional: Any, **flags: Any) -> int:  # noqa: ANN401  (as the verb declares them)
        output: OutputFlags = flags.pop("output", ANY_OUTPUT)
        report: ReportFlags = flags.pop("report", ANY_REPORT)
        model: ModelFlags = flags.pop("model", ANY_MODEL)
        output.check()
        report.check()
        flag_values = dict(zip(ahead, positional, strict=False)) | flags
        if rest:
            flag_values[rest[0]] = positional[len(ahead) :]
        question = {names[name].name: value for name, value in flag_values.items()}
        if model.changes:
            question["changes"] = (*question.get("changes", ()), *model.changes)
        with progress(command.progress or command.name, output) as on_progress:
            callback = {"on_progress": on_progress} if "on_progress" in arguments(command.name) else {}
            answer = getattr(podsim, command.name)(**question, **callback)
        return _give(folder, command, answer, question, output, report)

    variables = sorted(
        (_variable(command.name, name, argument) for name, argument in names.items()),
        key=lambda variable: variable.kind,
    )
    if command.reads_models:
        variables.append(_group_of_flags("model", ModelFlags, ANY_MODEL))
    if command.saves:
        variables.append(_group_of_flags("report", ReportFlags, ANY_REPORT))
    variables.append(_group_of_flags("output", OutputFlags, ANY_OUTPUT))
    call.__name__ = call.__qualname__ = command.name
    call.__doc__ = command.about or command.help
    call.__signature__ = Signature(variables)  # type: ignore[attr-defined]
    call.__annotations__ = {variable.name: variable.annotation for variable in variables}
    return call


def _variable(verb: str, name: str, argument: Argument) -> Variable:
    """A parameter of the command: arguments that every call gives come without a name."""
    is_required = argument.default is NO_DEFAULT
    kind: Any = TYPES.get(argument.kind, str)
    if argument.kind is ArgumentKind.CHOICE and not argument.metavar:
        kind = Literal[argument.choices]
    default = Variable.empty if is_required else argument.default
    has_default = not (is_required or argument.default is None or argument.default is False or argument.default == ())
    group = None if is_required else _heading(verb, argument)
    parameter = flag(verb, argument.name, group, show_default=has_default)
    annotation: Any = Annotated[kind | None if default is None else kind, parameter]
    if argument.rest:
        return Variable(name, Variable.VAR_POSITIONAL, annotation=Annotated[str, parameter])
    where = Variable.POSITIONAL_ONLY if is_required and not argument.named else Variable.KEYWORD_ONLY
    return Variable(name, where, default=default, annotation=annotation)


def _heading(verb: str, argument: Argument) -> Group | None:
    """Where a flag stands in the help: under a heading of the command, or one that all commands have."""
    if not argument.group:
        return GROUPS.get(argument.name)
    own = list(dict.fromkeys(other.group for other in arguments(verb).values() if other.group))
    return Group(argument.group, sort_key=OWN_HEADINGS + own.index(argument.group) / len(own))


def _group_of_flags(name: str, flags: type, default: object) -> Variable:
    return Variable(name, Variable.KEYWORD_ONLY, default=default, annotation=flags)


def _give(
    folder: str,
    command: Command,
    answer: Any,  # noqa: ANN401  (of any study)
    question: dict[str, Any],
    output: OutputFlags,
    report: ReportFlags,
) -> int:
    """Print the answer and write it; what a study leaves unsaid is said by the names of its fields."""
    view = _view(folder)
    give(
        output,
        screen=lambda: view.document(answer, verbose=output.verbose),
        document=documents.answer_document(answer),
        line=lambda: view.answer(answer),
    )
    if command.saves:
        save(
            report,
            output,
            report=lambda: notebook.page(answer, question),
            document=documents.answer_document(answer),
        )
    return ExitCode.NO if getattr(answer, "is_refused", False) else ExitCode.ANSWERED


def _view(folder: str) -> ModuleType:
    """The screen of a study, or what stands for it where the study has none."""
    name = f"podsim.studies.{folder}.report"
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        return fields_document
