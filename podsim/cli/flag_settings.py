"""Flags from variables and files, behind those of the command line: flag > variable > podsim.toml > the user's."""

import os
import sys
from collections.abc import Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from podsim.cli.console import JSON, look, put
from podsim.cli.error_text import usage
from podsim.cli.settable import refuse
from podsim.errors import InputError, did_you_mean
from podsim.files import inputs, settings
from podsim.files.settings import IgnoredFile, Setting
from podsim.studies import commands

if TYPE_CHECKING:
    from collections.abc import Callable

    from cyclopts import App
    from cyclopts.argument import Argument, ArgumentCollection

SPLIT: Final = ("replicas", "ipus_per_replica", "micro_batch", "accumulation", "global_batch")
OWN_VARIABLES: Final = ("PODSIM_CACHE", "PODSIM_UPDATE")
"""Variables that set no flag: where results are kept, and whether tests write transcripts anew."""
RIVALS: Final[Mapping[str, tuple[str, ...]]] = {
    "pod": ("topology",),
    "topology": ("pod",),
    "preset": (*SPLIT, "pod", "topology"),
    **dict.fromkeys(SPLIT, ("preset",)),
    "accumulation": ("preset", "global_batch"),
    "global_batch": ("preset", "accumulation"),
    "json": ("quiet", "verbose"),
    "quiet": ("json", "verbose"),
    "verbose": ("json", "quiet"),
}
"""Flags that say the same otherwise: one that stands nearer displaces the others."""


USED_SETTINGS: ContextVar[tuple[Setting, ...]] = ContextVar("USED", default=())  # settings that the command line takes
IGNORED_SETTINGS: ContextVar[tuple[IgnoredFile, ...]] = ContextVar(
    "IGNORED", default=()
)  # files that were met and not read


@dataclass(frozen=True, slots=True)
class Effective:
    """A setting, and what displaces it ("" where it holds)."""

    setting: Setting
    displaced_by: str = ""


class Settings:
    """What cyclopts asks for the flags that a command line leaves out."""

    def __call__(self, _app: "App", command: tuple[str, ...], arguments: "ArgumentCollection") -> None:
        """Give each argument without a value the nearest setting of its command."""
        from cyclopts import CycloptsError
        from cyclopts.token import Token

        by_flag = flags(arguments)
        if not by_flag or command[:1] == ("config",):
            return
        used_settings: list[Setting] = []
        origin_by_flag = {flag: "the command line" for flag, argument in by_flag.items() if argument.tokens}

        def use(setting: Setting) -> None:
            argument = by_flag[setting.flag]
            for index, word in enumerate(setting.words):
                argument.append(Token(keyword=_flag(setting), value=word, source=setting.origin, index=index))
            try:
                argument.convert()
            except CycloptsError as error:
                if error.argument is None:
                    error.argument = argument
                error.command_chain = error.command_chain or command
                raise usage(error) from None
            used_settings.append(setting)
            if setting.flag == "json":
                JSON.set(setting.words == ("true",))

        effective(command, {flag: _repeats(argument) for flag, argument in by_flag.items()}, origin_by_flag, use)
        USED_SETTINGS.set(tuple(used_settings))
        ledger = inputs.current()
        if ledger is not None:
            ledger.settings = {setting.flag: setting.origin for setting in used_settings}


def begin() -> None:
    """Forget what was set for the command line before, in a process that runs several."""
    USED_SETTINGS.set(())
    IGNORED_SETTINGS.set(())


def say() -> None:
    """Say on stderr which file set what, and which files are not read: of a short answer too, which they may change."""
    _warn()
    by_file: dict[str, list[str]] = {}
    for setting in USED_SETTINGS.get():
        if setting.path is not None:
            words = [_flag(setting), *(word for word in setting.words if word != "true")]
            by_file.setdefault(str(setting.path), []).append(" ".join(words))
    lines = [f"{settings.NAME} sets {', '.join(texts)} ({path})" for path, texts in by_file.items()]
    put("".join(f"{look(sys.stderr).clean(line)}\n" for line in lines), sys.stderr)


def _warn() -> None:
    """Say on stderr which settings files are not read, and why."""
    for fromkey in dict.fromkeys(IGNORED_SETTINGS.get()):
        text = f"warning: {fromkey.path} is ignored: {fromkey.why}; {fromkey.hint}"
        put(look(sys.stderr).clean(text) + "\n", sys.stderr)


def flags(arguments: "Iterable[Argument]") -> dict[str, "Argument"]:
    """Arguments by the Python name of their long flag; positional ones are none."""
    flags = {}
    for argument in arguments:
        name = argument.name
        if name.startswith("--") and argument.parameter.parse is not False and not argument.children:
            flags[name.removeprefix("--").replace("-", "_")] = argument
    return flags


def _flag(setting: Setting) -> str:
    """The flag as a command line spells it."""
    return f"--{setting.flag.replace('_', '-')}"


def _repeats(argument: "Argument") -> bool:
    return bool(argument.token_count()[1])


def effective(
    command: tuple[str, ...],
    repeats_by_flag: Mapping[str, bool],
    origin_by_flag: Mapping[str, str] | None = None,
    use: "Callable[[Setting], None] | None" = None,
) -> tuple[Effective, ...]:
    """Settings of a command from the nearest to the farthest, each with what stands before it.

    `origin_by_flag` has the flags of the command line; `use` takes each setting that holds, or raises InputError.
    Raises InputError with all faults of a file, such as settings that name no flag.
    """
    _refuse_strangers()
    stand = dict(origin_by_flag or {})
    effectives: list[Effective] = []
    files = settings.files()
    IGNORED_SETTINGS.set(files.ignored)
    for near in (settings.variables(command, repeats_by_flag), *map(settings.parse_file, files.read)):
        before = dict(stand)
        refusals: list[tuple[Setting, InputError]] = []
        for setting in near.settings:
            try:
                if not _of(setting, command, repeats_by_flag):
                    continue
                rival = _rival(setting, before)
                if not rival and use:
                    use(setting)
            except InputError as error:
                refusals.append((setting, error))
                continue
            effectives.append(Effective(setting, rival))
            if not rival:
                stand[setting.flag] = setting.origin
        near.refuse(refusals)
    return tuple(effectives)


def _rival(setting: Setting, before: Mapping[str, str]) -> str:
    """Where a flag is set that displaces this setting, "" where none is."""
    return next((before[name] for name in (setting.flag, *RIVALS.get(setting.flag, ())) if name in before), "")


def _refuse_strangers(environ: Mapping[str, str] = os.environ) -> None:
    """Raise InputError for a variable PODSIM_… that names no command, such as PODSIM_PERDICT_POD."""
    command_names = [*commands()]
    for name in sorted(environ):
        word = name.removeprefix("PODSIM_").partition("_")[0].lower()
        if name.startswith("PODSIM_") and environ[name] and name not in OWN_VARIABLES and word not in command_names:
            raise InputError(
                f"{name}: podsim has no command {word}{did_you_mean(word, command_names)}",
                code="bad-setting",
                hint="PODSIM_PREDICT_POD sets --pod of podsim predict",
            )


def _of(setting: Setting, command: tuple[str, ...], repeats_by_flag: Mapping[str, bool]) -> bool:
    """Whether a setting is of this command; InputError where it is, and names no flag, or its command is none."""
    first = setting.command[0]
    if first not in commands():
        near = did_you_mean(first, [*commands()])
        raise InputError(
            f"{setting.origin}: podsim has no command {first}{near}", code="bad-setting", hint="podsim --help"
        )
    if setting.command != command:
        return False
    if setting.flag not in repeats_by_flag:
        raise settings.unknown_setting(setting.origin, _flag(setting), command, repeats_by_flag)
    refuse(setting)
    return True
