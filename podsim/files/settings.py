"""Flags that need not be typed each time: `podsim.toml` here or in a folder above, and the user's own."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from podsim.errors import InputError

NAME: Final = "podsim.toml"
CODE: Final = "bad-settings-file"
Value = str | int | float | bool | list[str | int | float | bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One flag of one command: as a file or a variable has it, and where."""

    command: tuple[str, ...]
    flag: str  # as in Python: global_batch
    value: Value
    origin: str

    @property
    def words(self) -> tuple[str, ...]:
        """The value as a command line has it; several where the flag is repeated."""
        values = self.value if isinstance(self.value, list) else [self.value]
        return tuple(str(item).lower() if isinstance(item, bool) else str(item) for item in values)


def files(environ: Mapping[str, str] = os.environ) -> tuple[Path, ...]:
    """The nearest podsim.toml from here upward, then the user's, of those that are there."""
    found = [path for path in (_nearest(), _of_user(environ)) if path is not None]
    return tuple(dict.fromkeys(found))


def _nearest() -> Path | None:
    try:
        here = Path.cwd()
    except OSError:  # a folder that was removed
        return None
    return next((folder / NAME for folder in (here, *here.parents) if _is_file(folder / NAME)), None)


def _of_user(environ: Mapping[str, str]) -> Path | None:
    home = Path(environ.get("XDG_CONFIG_HOME", ""))
    if not home.is_absolute():  # the XDG rules ignore any other
        try:
            home = Path.home() / ".config"
        except RuntimeError:  # a user without a home, as containers have them
            return None
    path = home / "podsim" / NAME
    return path if _is_file(path) else None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def read(path: Path) -> tuple[Setting, ...]:
    """What a file sets, in its order; InputError where it is no TOML, or a value is no flag's."""
    from podsim.files.contents import text_of
    from podsim.files.faults import Fault, error_of, shown  # most command lines have no file to read
    from podsim.files.load import tables_of
    from podsim.files.locate import line_of, lines

    text = text_of(path, CODE)
    tables, at = dict(tables_of(text, path.name, CODE)), lines(text)
    faults: list[Fault] = []
    found = []
    for keys, value in _leaves(tables):
        if len(keys) < 2:
            faults.append(Fault(keys, "stands in no table: [predict] holds flags of podsim predict"))
        elif not _plain(value):
            faults.append(
                Fault(keys, f"this flag wants a text, a number, a truth or an array of them, not {shown(value)}")
            )
        else:
            origin = f"{_spelled(path)}:{line_of(at, keys)}"
            found.append(Setting(command=keys[:-1], flag=keys[-1].replace("-", "_"), value=value, origin=origin))
    if faults:
        raise error_of("settings", path.name, faults, at)
    return tuple(found)


def _spelled(path: Path) -> str:
    try:
        return path.name if path.parent == Path.cwd() else str(path)
    except OSError:
        return str(path)


def _leaves(tables: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for key, value in tables.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, key))
        else:
            yield (*above, key), value


def _plain(value: object) -> bool:
    if isinstance(value, list):
        return all(isinstance(item, str | int | float | bool) for item in value)
    return isinstance(value, str | int | float | bool)


def of_variables(
    command: tuple[str, ...], flags: Mapping[str, bool], environ: Mapping[str, str] = os.environ
) -> tuple[Setting, ...]:
    """What PODSIM_PREDICT_POD and its like set of a command; `flags` says which may be repeated, with ";" between.

    Raises InputError for a variable of the command that names no flag.
    """
    beginning = "_".join(("PODSIM", *command, "")).upper().replace("-", "_")
    found = []
    for name, text in sorted(environ.items()):
        if not name.startswith(beginning) or not text:
            continue
        flag = name.removeprefix(beginning).lower()
        if flag not in flags:
            raise unknown(name, f"--{flag.replace('_', '-')}", command, flags)
        value: Value = list[str | int | float | bool](text.split(";")) if flags[flag] else text
        found.append(Setting(command=command, flag=flag, value=value, origin=name))
    return tuple(found)


def unknown(origin: str, flag: str, command: tuple[str, ...], flags: Mapping[str, bool]) -> InputError:
    """Say that a setting names no flag of its command, and which one may have been meant."""
    from podsim.files.faults import meant

    known = [f"--{name.replace('_', '-')}" for name in flags]
    verb = " ".join(("podsim", *command))
    return InputError(f"{origin}: {verb} has no flag {flag}{meant(flag, known)}", code="bad-setting",
                      hint=f"{verb} --help")  # fmt: skip
