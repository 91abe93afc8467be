"""What a query string says to a verb: values of its declared arguments, and what is wrong with each of the others."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from podsim.errors import did_you_mean
from podsim.files import find
from podsim.files.inputs import Ledger
from podsim.model.argument import NO_DEFAULT, Argument, ArgumentKind, short
from podsim.model.arguments import MONEY
from podsim.scenario import LISTS, of_texts, texts_of
from podsim.studies import arguments, notebook
from podsim.studies.call_record import ARGUMENTS, COMMANDS, FLAGS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

NOT_ASKED: Final = (ArgumentKind.FILE, ArgumentKind.CALLBACK, ArgumentKind.WARNING, ArgumentKind.ANSWER)
"""Kinds of arguments that the app does not take: files of this machine, and what only Python can give."""
CHANGE: Final = "changes:"
"""How the name of a form field of one change begins: "changes:chip.clock"."""
NAMES: Final = ("machines", "against", "topologies", "to")
"""Lists of names that the command line takes as paths too."""
PRICED_BY: Final[Mapping[str, str]] = {"predict": "price"}
"""Verbs that are asked for an answer, with that which adds what it costs: one command line asks for both."""
OF_MACHINE: Final[tuple[str, ...]] = ("topology", "chip", "changes")
"""What the second verb has to know of the question."""
NO_FILE: Final = "names a file: the app opens none, the command line does"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A question to a verb: `values` that are given and right, and `errors` by argument ("" for the question whole)."""

    verb: str
    values: Mapping[str, Any]
    texts: Mapping[str, tuple[str, ...]]
    errors: Mapping[str, str]

    @property
    def text(self) -> str:
        """The query string of the values that are not at their default, in the order of the verb."""
        pairs = [
            (name, text)
            for name, argument in declared_arguments(self.verb).items()
            if name in self.values and self.values[name] != argument.default
            for text in texts_of(self.values[name])
        ]
        return urlencode(pairs)

    @property
    def command(self) -> list[str]:
        """The words of the command line that asks the same."""
        names = {**FLAGS, **ARGUMENTS.get(self.verb, {})}
        flags = {names.get(name, name): value for name, value in self._given_flags().items()}
        return notebook.command(Ledger(verb=COMMANDS.get(self.verb, self.verb), flags=dict(sorted(flags.items()))))

    @property
    def line(self) -> str:
        """The command line that asks the same."""
        return shlex.join(self.command)

    @property
    def call(self) -> str:
        """The call in Python that asks the same."""
        given_flags = self._given_flags()
        ahead = [repr(given_flags.pop("workload"))] if "workload" in given_flags else []
        money = {name: given_flags.pop(name) for name in self.money}
        text = f"podsim.{self.verb}({', '.join((*ahead, *_command_words(given_flags)))})"
        if not money:
            return text
        flags = {name: given_flags[name] for name in OF_MACHINE if name in given_flags} | money
        return f"podsim.{PRICED_BY[self.verb]}({', '.join((text, *_command_words(flags)))})"

    @property
    def money(self) -> dict[str, Any]:
        """Terms of the verb that adds costs, as far as they are stated."""
        return {name: value for name, value in self._given_flags().items() if name not in arguments(self.verb)}

    def _given_flags(self) -> dict[str, Any]:
        arguments_by_name = declared_arguments(self.verb)
        return {
            name: self.values[name]
            for name in arguments_by_name
            if self.values.get(name, None) not in (None, arguments_by_name[name].default)
        }


def _command_words(flags: Mapping[str, Any]) -> list[str]:
    return [f"{name}={list(value) if isinstance(value, tuple) else value!r}" for name, value in flags.items()]


def declared_arguments(verb: str) -> dict[str, Argument]:
    """The arguments of a verb, and of that which adds what its answer costs."""
    return {**arguments(verb), **({argument.name: argument for argument in MONEY} if verb in PRICED_BY else {})}


def app_arguments(verb: str) -> dict[str, Argument]:
    """The arguments of a verb that the app takes."""
    return {name: argument for name, argument in declared_arguments(verb).items() if argument.kind not in NOT_ASKED}


def read(verb: str, pairs: Iterable[tuple[str, str]]) -> Query:
    """The question of a form or a query string; empty fields are left out, lists take a line for each item."""
    arguments_by_name = app_arguments(verb)
    texts: dict[str, list[str]] = {}
    errors: dict[str, str] = {}
    for name, text in _by_argument(pairs):
        if name in arguments_by_name:
            texts.setdefault(name, []).extend(_items(arguments_by_name[name], text))
        elif text.strip():
            errors[""] = _unknown_argument(verb, name, arguments_by_name)
    values = {}
    for name, items in texts.items():
        if not items:
            continue
        try:
            _refuse_paths(arguments_by_name[name], items)
            values[name] = of_texts(arguments_by_name[name], items)
        except ValueError as error:
            errors[name] = str(error)
    for name, argument in arguments_by_name.items():
        if argument.default is NO_DEFAULT and name not in values:
            errors.setdefault(name, "is missing")
    return Query(verb=verb, values=values, texts={name: tuple(items) for name, items in texts.items()}, errors=errors)


def _by_argument(pairs: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """Pairs with fields of one change each as items of the list of changes."""
    for name, text in pairs:
        if not name.startswith(CHANGE):
            yield name, text
        elif text.strip():
            yield "changes", f"{name.removeprefix(CHANGE)}={text.strip()}"


def _items(argument: Argument, text: str) -> list[str]:
    if argument.kind not in LISTS:
        return [text.strip()] if text.strip() else []
    return [line.strip() for line in text.splitlines() if line.strip()]


def _unknown_argument(verb: str, name: str, arguments_by_name: Mapping[str, Argument]) -> str:
    if name in declared_arguments(verb):
        return f"{short(name)} {NO_FILE}"
    return f"{verb} has no argument {short(name)}{did_you_mean(name, arguments_by_name)}"


def _refuse_paths(argument: Argument, texts: Iterable[str]) -> None:
    """Raise ValueError where a text names a file instead of something podsim knows by its name."""
    if "FILE" not in argument.metavar and argument.name not in NAMES:
        return
    items = [item for text in texts for item in text.split(",")]
    if any(find.is_path(item.strip()) for item in items):
        raise ValueError(NO_FILE)
