"""Errors as a person reads them."""

import platform
import re
import shlex
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from podsim.cli.exit import ExitCode
from podsim.errors import Infeasible, InputError, PodsimError, did_you_mean
from podsim.model.keywords import FLAGS as KEYWORDS
from podsim.report.terminal import Look
from podsim.report.version import version
from podsim.studies import arguments, commands, verbs

if TYPE_CHECKING:
    from cyclopts import CycloptsError

RED, YELLOW, FAINT, PLAIN = "\x1b[1;31m", "\x1b[1;33m", "\x1b[2m", "\x1b[0m"
USAGE_CODES = {
    "UnknownCommandError": "unknown-command",
    "UnknownOptionError": "unknown-flag",
    "CoercionError": "bad-value",
    "ValidationError": "bad-value",
    "MissingArgumentError": "missing-argument",
    "RepeatArgumentError": "repeated-flag",
    "UnusedCliTokensError": "too-many-arguments",
}

SUGGESTION = re.compile(r"(?P<word>\S+)\. Did you mean (?P<name>\S+)\?")  # as cyclopts writes it
NEGATIVE = re.compile(r"-\d[\d.,_]*[kMBT%]?$")  # a number below zero, which reads as a flag
UNKNOWN_FLAG = re.compile(r'unknown flag "?(?P<word>--[a-z0-9-]+)')
MIDWAY = ("cannot-write", "cluster-failed")  # codes of what goes wrong after something was run


def exit_code(error: PodsimError) -> ExitCode:
    """1 where the answer is no, 2 where the question cannot be asked."""
    return ExitCode.NO if isinstance(error, Infeasible) else ExitCode.BAD_INPUT


def screen(error: PodsimError, look: Look) -> str:
    """The error with its context and hint, wrapped; nothing but its code and message where that is all."""

    def paint(text: str, colour: str) -> str:
        return f"{colour}{text}{PLAIN}" if look.colour else text

    no = isinstance(error, Infeasible)
    clean = look.clean
    lines = [paint("no:", YELLOW) + f" {error.code}" if no else paint("error:", RED) + f" {error.code}"]
    space = [""] if error.context else []
    cross, bar, end = clean("×"), clean("│"), clean("╰")
    lines += [*space, *_wrap(clean(error.message), f"  {paint(cross, YELLOW if no else RED)} ", "    ", look.width)]
    for line in error.context:
        lines += _wrap(clean(line), f"  {bar} ", f"  {bar}   ", look.width)
    if error.context and not no and error.code not in MIDWAY:
        lines.append(f"  {end} nothing was executed")
    if error.hint:
        lines += [*space, *_wrap(clean(error.hint), f"  {paint('hint:', FAINT)} ", "        ", look.width)]
    return "\n".join(lines) + "\n"


def _wrap(text: str, first: str, later: str, width: int) -> list[str]:
    lines = textwrap.wrap(
        text,
        width - len(later),
        break_long_words=False,
        break_on_hyphens=False,
        replace_whitespace=False,
        drop_whitespace=True,
    ) or [""]
    return [first + lines[0], *(later + line for line in lines[1:])]


def usage(error: "CycloptsError") -> InputError:
    """A command line that does not parse, as an error of our own; its hint is what was probably meant, or the help."""
    from podsim.cli.likely_command import likely_command

    kind = type(error).__name__
    likely = _with_value(error) or likely_command(error.root_input_tokens or ())
    hint = likely or f"{' '.join(['podsim', *(error.command_chain or ())])} --help"
    code = getattr(error.__cause__, "code", "") or USAGE_CODES.get(kind, "bad-usage")
    negative = _negative_number(error) if kind == "MissingArgumentError" else ""
    message = f"{error.argument and error.argument.name} must be positive, not {negative}" if negative else ""
    code, message = ("bad-value", message) if negative else (code, _usage_message(kind, error))
    message = message.partition("; did you mean")[0] if likely else message
    return InputError(message, code=code, context=_origin(error), hint=hint)


def _with_value(error: "CycloptsError") -> str:
    """The command line with what was probably meant by a value that cannot be read; "" where that is not known."""
    instead, words = getattr(error.__cause__, "instead", ""), list(error.root_input_tokens or ())
    token = error.argument.tokens[0] if error.argument is not None and error.argument.tokens else None
    if not instead or token is None:
        return ""
    for old_word, new in ((token.value, instead), (f"{token.keyword}={token.value}", f"{token.keyword}={instead}")):
        at = words.index(old_word) if words.count(old_word) == 1 else None
        if at is not None and (old_word is not token.value or words[at + 1 : at + 2] == [] or words[at + 1][:1] == "-"):
            words[at] = new  # unless a word follows that may be its unit
            return shlex.join(["podsim", *words])
    return ""


def _origin(error: "CycloptsError") -> tuple[str, ...]:
    """Where a value that does not parse was set, if not on the command line."""
    tokens = error.argument.tokens if error.argument is not None else ()
    return tuple(f"set in {token.source}" for token in tokens[:1] if token.source not in {"", "cli"})


def _negative_number(error: "CycloptsError") -> str:
    """The number below zero that stands behind a flag, which reads as a flag of its own; "" where none does."""
    name, words = error.argument.name if error.argument is not None else "", error.root_input_tokens or []
    after = words[words.index(name) + 1 :][:1] if name in words else []
    return after[0] if after and NEGATIVE.match(after[0]) else ""


def _usage_message(kind: str, error: "CycloptsError") -> str:
    words = error.unused_tokens or [""]
    name = error.argument.name if error.argument is not None else ""
    if kind == "UnusedCliTokensError":
        return f"not understood: {shlex.join(words)}"
    if kind == "MissingArgumentError" and name:
        return f"{name} needs a value" if getattr(error, "keyword", None) else f"{name} is required"
    if kind == "UnknownCommandError" and words[0].startswith("-"):
        return f"{words[0]} stands where a command should; flags follow the command"
    # The list of commands that cyclopts adds is what the hint leads to.
    message = " ".join(str(error).partition(" Available commands:")[0].split()).rstrip(".")
    message = message.replace("Unknown option: ", "unknown flag ").replace("Parameter ", "")
    message = _elsewhere(message, " ".join(error.command_chain or ())) or SUGGESTION.sub(_suggestion, message)
    return message if message[:2].isupper() else message[:1].lower() + message[1:]


def _elsewhere(message: str, command: str) -> str:
    """An unknown flag with other commands that have it, which says more than a flag alike; "" where none does."""
    match = UNKNOWN_FLAG.match(message)
    if match is None:
        return ""
    name = match["word"].removeprefix("--").replace("-", "_")
    name = KEYWORDS.get(name, name)
    folders = [module.split(".")[2] for verb, (module, _) in verbs().items() if name in arguments(verb)]
    having = [
        folder for folder in dict.fromkeys(folders) if folder in commands() and folder != command.partition(" ")[0]
    ]
    if not having:
        return ""
    *others, last = having
    command_list = f"podsim {', '.join(others)} and {last}" if others else f"podsim {last}"
    return f"{command or 'podsim'} has no flag {match['word']}; {command_list} {'have' if others else 'has'} it"


def _suggestion(match: re.Match[str]) -> str:
    """A suggestion of cyclopts as all others are written; "" where the dashes alone make two flags alike."""
    word, name = match["word"].strip('"'), match["name"].strip('"')
    near = did_you_mean(word.lstrip("-"), [name.lstrip("-")])
    return f'{match["word"]}; did you mean "{name}"?' if near else match["word"]


def bug(argv: Sequence[str], look: Look) -> str:
    """What to paste into a report, printed below the traceback."""
    system = f"podsim {version()}, Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    command = look.clean(shlex.join(["podsim", *argv]))
    return f"\nThis is a bug in podsim. Please report it with the lines above and this one:\n  {system}: {command}\n"
