"""A call in Python: what it asks and reads, kept as the command line keeps it, and its errors, in words of Python.

Both ways to ask write the same document; an error names keywords here, and flags there.
"""

from __future__ import annotations

import json
import re
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from podsim.errors import PodsimError
from podsim.files import find, inputs
from podsim.model.argument import Argument, ArgumentKind
from podsim.model.keywords import FLAGS as KEYWORDS
from podsim.studies import arguments, verbs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

COMMANDS: Final[Mapping[str, str]] = {
    "mappings": "workload mappings",
    "explain_operators": "explain",
    "explain_measurements": "explain",
    "predict_comparator": "predict",
    "plan_mix": "plan",
    "trace_collective": "trace",
    "trace_diff": "trace",
    "calibrate_own": "calibrate",
    "show_topology": "topology show",
    "show_chip": "chip show",
    "show_workload": "workload show",
    "list_topologies": "topology list",
    "list_chips": "chip list",
    "list_workloads": "workload list",
}
"""Commands of another name than their verb."""
FLAGS: Final[Mapping[str, str]] = {keyword: flag for flag, keyword in KEYWORDS.items()}
"""Flags of another name than their keyword."""
ARGUMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "mappings": {"workload": "name"},
    "collective": {"collective": "what"},
    "trace_collective": {"collective": "what"},
}
"""Arguments without a flag that have another name there, by verb."""
SWITCHES: Final = {"explain_operators": "ops", "explain_measurements": "measure"}
"""Flags of the command line that stand for a verb of their own."""
NO_QUESTION: Final = (ArgumentKind.CALLBACK, ArgumentKind.WARNING, ArgumentKind.ANSWER)
NAMED_FILES: Final = ("workload", "topology", "chip", "file", "name", "old", "new")


@contextmanager
def asking(verb: str, table: Mapping[str, Any]) -> Iterator[inputs.Ledger | None]:
    """Keep what a verb is asked and reads; None where somebody further out keeps it, as the command line does."""
    if inputs.current() is not None:
        yield None
        return
    with inputs.recording() as record:
        record.verb, record.question = COMMANDS.get(verb, verb), dict(table)
        names = {**FLAGS, **ARGUMENTS.get(verb, {})}
        flags = dict(sorted((names.get(name, name), value) for name, value in _given_flags(arguments(verb), table)))
        if verb in SWITCHES:
            flags[SWITCHES[verb]] = True
        record.named = frozenset(name for name in flags if name in NAMED_FILES and find.is_path(str(flags[name])))
        record.flags = {
            name: str(value).rpartition("/")[2] if name in record.named else value for name, value in flags.items()
        }
        yield record


def _given_flags(arguments_by_name: Mapping[str, Argument], table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Flags that are not at their default, in the types of JSON and by keyword."""
    for name, value in table.items():
        argument = arguments_by_name.get(name)
        if argument is None or argument.kind in NO_QUESTION or value is None or value == argument.default:
            continue
        if argument.kind is ArgumentKind.CHANGES and isinstance(value, dict):
            yield name, [f"{path}={text}" for path, text in value.items()]
        else:
            yield name, list(value) if isinstance(value, tuple) else value


FLAG: Final = re.compile(r"--(?P<flag>[a-z][a-z-]*)(?: (?P<value>[\w.-]*\d[\w-]*|[a-z]+(?=:|\)| \[)))?")
"""A flag in a line of help, with a value that follows it: one with a digit, or the last word before a mark."""
COMMAND_LINE: Final = re.compile(r"podsim [^;·]*?(?=;|,? or -|,? or podsim|: | \(|, and | has | have |$)")
"""A command in a hint, up to where the sentence goes on."""
CALLS: Final[Mapping[str, str]] = {
    **{command: verb for verb, command in COMMANDS.items() if " " in command and verb != "mappings"},
    "workload map": "mappings",
}
"""Commands of two words, by the function that answers them."""
COMMAND: Final = re.compile(r"(podsim [^;,.()]*)")
POWERS: Final = {"k": 3, "M": 6, "B": 9, "T": 12}
COUNT: Final = re.compile(r"\b(\d+(?:\.\d+)?)([kMBT])\b")
"""A count as flags take it, and the power of ten of its letter."""
ADVICE: Final = re.compile(
    r"podsim [^;,]*|(?<![\w-])--(?P<flag>[a-z][a-z0-9-]*)"
    r"(?: (?P<value>[\w.-]+=(?:'[^']*'|\"[^\"]*\")|'[^']*'|\"[^\"]*\"|(?:[^\s,;()]|,(?=\w))*[^\s,;():.]))?"
)
"""A command, which stays, or a flag of an error with the word behind it, which is not always its value."""
IN_A_ROW: Final = re.compile(r"(\b[a-z_0-9]+=(?:\"[^\"]*\"|\{[^}]*\}|\[[^\]]*\]|[^\s,;]+)) (?=[a-z_0-9]+=)")
"""An argument before another, which Python puts a comma between."""
MARKS: Final = re.compile(r"[\d/.:=']|^[A-Z]+$")
"""What a value has and an English word has not."""
PLACEHOLDERS: Final = ("FILE", "DIR", "USD", "NAME")
"""Words that stand for a value."""
QUOTES: Final = "'\""
NUMBERS: Final = (ArgumentKind.WHOLE, ArgumentKind.NUMBER, ArgumentKind.SHARE)


def help_text(argument: Argument, names: frozenset[str]) -> str:
    """The help of an argument in Python: `--steps` is `steps`, `--chips 256` `chips=256`, 3M 3e6; commands stay."""

    def keyword(match: re.Match[str]) -> str:
        name = match["flag"].replace("-", "_")
        if name not in names:
            return match[0]
        if match["value"] is None:
            return f"`{name}`"
        value = match["value"] if match["value"].isdigit() else repr(match["value"])
        is_list = name == argument.name and argument.kind is ArgumentKind.TEXTS
        return f"`{name}=[{value}]`" if is_list else f"`{name}={value}`"

    parts = COMMAND.split(argument.help)  # commands stay as they are typed
    text = "".join(part if at % 2 else FLAG.sub(keyword, part) for at, part in enumerate(parts))
    several = "a list, even of one" if argument.kind is ArgumentKind.TEXTS else "several as a list"
    text = text.replace(", repeatable", f" ({several})").replace("Exit code 1 if", "`is_refused` is True if")
    if argument.multiples and argument.kind is not ArgumentKind.QUANTITY:
        text = _without_letters(text)
    return text


def _without_letters(text: str) -> str:
    """Counts such as 3M as Python writes them: 3e6."""
    return COUNT.sub(lambda match: f"{match[1]}e{POWERS[match[2]]}", text)


@contextmanager
def errors_in_python(verb: str) -> Iterator[None]:
    """Errors of a verb that Python calls name its keywords; those that a command line ends with keep the flags."""
    is_python_call = inputs.current() is None
    try:
        yield
    except PodsimError as error:
        if is_python_call:
            arguments_by_name = arguments(verb)
            error.message = advice(error.message, arguments_by_name)
            error.context = tuple(advice(line, arguments_by_name) for line in error.context)
            error.hint = advice(COMMAND_LINE.sub(_as_call, error.hint), arguments_by_name)
            error.args = (error.message,)
        raise


def _as_call(match: re.Match[str]) -> str:
    """A command line as a call of the library; as it is where it has a flag that no function takes."""
    command, end = match[0].rstrip(), match[0][len(match[0].rstrip()) :]
    try:
        words = shlex.split(command)[1:]
    except ValueError:
        return match[0]
    of_two = CALLS.get(" ".join(words[:2]), "")
    verb = of_two or (words[0] if words and words[0] in verbs() else "")
    if not verb:
        return match[0]
    rest = words[2 if of_two else 1 :]
    if rest[-1:] == ["--help"]:
        return f"help(podsim.{verb}){end}"
    texts = _arguments(arguments(verb), rest)
    return match[0] if texts is None else f"podsim.{verb}({', '.join(texts)}){end}"


def _arguments(arguments_by_name: Mapping[str, Argument], words: Sequence[str]) -> list[str] | None:
    """The words behind a command as arguments of a call; None where one is not declared, or has no value."""
    places, texts, several, waiting = list[str](), list[str](), dict[str, list[str]](), iter(words)
    for word in waiting:
        flag, equals, text = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            places.append(_literal(word))
            continue
        argument = arguments_by_name.get(KEYWORDS.get(flag, flag.replace("-", "_")))
        if flag == "json":
            continue
        if argument is None:
            return None
        if argument.kind is ArgumentKind.SWITCH:
            texts.append(f"{argument.name}=True")
            continue
        value = text if equals else next(waiting, "")
        literal = _without_letters(value.replace(",", "")) if argument.kind in NUMBERS else _literal(value)
        if argument.kind in (ArgumentKind.TEXTS, ArgumentKind.CHANGES):
            several.setdefault(argument.name, []).append(_literal(value))
        elif value:
            texts.append(f"{argument.name}={literal}")
        else:
            return None
    if "machines" in arguments_by_name and len(places) > 1:  # of a comparison, which takes them as one list
        places = [places[0], f"[{', '.join(places[1:])}]"]
    return [*places, *texts, *(f"{name}=[{', '.join(values)}]" for name, values in several.items())]


def _literal(text: str) -> str:
    """A text as Python writes it, in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def advice(text: str, arguments_by_name: Mapping[str, Argument]) -> str:
    """A text of an error with the keywords of a function in place of flags; commands and other flags stay."""

    def keyword(match: re.Match[str]) -> str:
        flag = match["flag"]
        argument = flag and arguments_by_name.get(KEYWORDS.get(flag, flag.replace("-", "_")))
        if not argument:
            return match[0]
        if match["value"] is None:
            return argument.name
        value = _value(argument, match["value"])
        return f"{argument.name} {match['value']}" if value is None else f"{argument.name}={value}"

    return IN_A_ROW.sub(r"\1, ", ADVICE.sub(keyword, text))


def _value(argument: Argument, word: str) -> str | None:
    """The word behind a flag as a value of Python; None where it goes on with the sentence."""
    if argument.kind is ArgumentKind.SWITCH or not (MARKS.search(word) or word in argument.words):
        return None
    if argument.kind is ArgumentKind.CHANGES:
        path, _, value = word.strip(QUOTES).partition("=")
        return f'{{"{path}": "{value.strip(QUOTES)}"}}'
    if argument.kind in NUMBERS and word.endswith("%"):
        return f"{float(word.removesuffix('%')) / 100:g}"
    if argument.kind in NUMBERS:
        return _without_letters(word.replace(",", ""))
    if word in PLACEHOLDERS:
        return word
    text = f'"{word.strip(QUOTES)}"'
    return f"[{text}]" if argument.kind is ArgumentKind.TEXTS else text
