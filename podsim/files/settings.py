"""Flags that need not be typed each time: `podsim.toml` here or in a folder above, and the user's own.

Of the files above, one counts only where the user or root wrote it: another user may have put it there.
"""

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Any, Final

from podsim.errors import InputError, did_you_mean
from podsim.files.contents import open_file, text_of, working_folder
from podsim.files.file_faults import Fault, error_of, printable, value_text
from podsim.files.load import tables_of
from podsim.files.locate import line_of, lines
from podsim.model.limits import FILE_BYTES

NAME: Final = "podsim.toml"
CODE: Final = "bad-settings-file"
Value = str | int | float | bool | list[str | int | float | bool]


@dataclass(frozen=True, slots=True)
class IgnoredFile:
    """A settings file that is not read, why, and what to do about it."""

    path: Path
    why: str
    hint: str


class SettingSource(Enum):
    """Where a setting comes from: a variable, the user's own file, or one that was found in a folder."""

    VARIABLE = "variable"
    OWN = "own"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One flag of one command: as a file or a variable has it, and where."""

    command: tuple[str, ...]
    flag: str  # as in Python: global_batch
    value: Value
    origin: str
    source: SettingSource
    path: Path | None = None  # of the file
    keys: tuple[str, ...] = ()  # as the file spells them

    @property
    def words(self) -> tuple[str, ...]:
        """The value as a command line has it; several where the flag is repeated."""
        values = self.value if isinstance(self.value, list) else [self.value]
        return tuple(str(item).lower() if isinstance(item, bool) else str(item) for item in values)


@dataclass(frozen=True, slots=True)
class Files:
    """Settings files that are read, the nearest first, and those that are not, though they are there or may be."""

    read: tuple[Path, ...]
    ignored: tuple[IgnoredFile, ...]


def files(environ: Mapping[str, str] = os.environ) -> Files:
    """The nearest podsim.toml from here upward that the user or root wrote, then the user's own."""
    own = own_file(environ)
    nearest, ignored_files = _in_folders(own)
    if own is None or own == nearest:
        return Files((nearest,) if nearest else (), tuple(ignored_files))
    there, ignored_own = _there(own)
    if there is not None and (foreign := _foreign(own, there)):
        there, ignored_own = None, (foreign,)
    paths = [path for path in (nearest, own if there else None) if path is not None]
    return Files(tuple(paths), (*ignored_files, *ignored_own))


def _in_folders(own: Path | None) -> tuple[Path | None, list[IgnoredFile]]:
    """The nearest file that may be read, and those before it that may not."""
    ignored_files: list[IgnoredFile] = []
    for path, ignored_file in _upward():
        if ignored_file is not None:
            return None, [*ignored_files, ignored_file]
        status, why_not = _there(path)
        ignored_files += why_not
        if status is None:
            continue
        doubt = _doubt(path, status) if path != own else _foreign(path, status)
        if doubt is None:
            return path, ignored_files
        ignored_files.append(doubt)
    return None, ignored_files


def _upward() -> Iterator[tuple[Path, IgnoredFile | None]]:
    """Where a file may be: from the working folder to the home folder, a repository's root or a file system's edge.

    With the reason where the search ends at a folder that cannot be looked into.
    """
    here = working_folder()
    if here is None:
        return
    file_system = None
    for folder in (here, *here.parents):
        try:
            st_dev = folder.stat().st_dev
        except OSError as error:
            yield folder / NAME, _ignored_file(folder / NAME, error)
            return
        if st_dev != (file_system or st_dev):
            return
        file_system = st_dev
        yield folder / NAME, None
        if folder == _home() or os.path.lexists(folder / ".git"):
            return


def _there(path: Path) -> tuple[os.stat_result | None, tuple[IgnoredFile, ...]]:
    """What the system says of a file that is there, or why that cannot be known."""
    try:
        link, status = path.lstat(), path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None, ()
    except (OSError, ValueError) as error:
        return None, (_ignored_file(path, error),)
    if stat.S_ISLNK(link.st_mode) and hasattr(os, "geteuid") and link.st_uid not in {0, os.geteuid()}:
        return None, (IgnoredFile(path, "another user made this link", "replace it with a file of your own"),)
    return (status, ()) if stat.S_ISREG(status.st_mode) else (None, ())


def _ignored_file(path: Path, error: Exception) -> IgnoredFile:
    why = getattr(error, "strerror", None) or str(error)
    return IgnoredFile(path, f"it cannot be looked at: {why}", "flags that it sets are at their default")


def _home() -> Path | None:
    try:
        return Path.home().resolve()
    except (OSError, RuntimeError):  # a user without a home, as containers have them
        return None


def _doubt(path: Path, status: os.stat_result) -> IgnoredFile | None:
    """Why a file may hold what neither the user nor root wrote.

    The file alone counts: whoever may write its folder can put no file there but one of their own.
    """
    if foreign := _foreign(path, status):
        return foreign
    if hasattr(os, "geteuid") and status.st_mode & 0o022:
        return IgnoredFile(path, "its group or others may write it", f"its owner can change that: chmod go-w {path}")
    return None


def _foreign(path: Path, status: os.stat_result) -> IgnoredFile | None:
    """Why a file is another user's: that counts for the user's own settings too, which `sudo` finds in another home."""
    if not hasattr(os, "geteuid") or status.st_uid in {0, os.geteuid()}:  # Windows has no such owners
        return None
    return IgnoredFile(path, "another user owns it", "it is read where you or root own it")


def own_file(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where the user's own settings are, whether or not there are any; None for a user without a home."""
    home = Path(environ.get("XDG_CONFIG_HOME", ""))
    if not home.is_absolute():  # the XDG rules ignore any other
        try:
            home = Path.home() / ".config"
        except RuntimeError:
            return None
    return home / "podsim" / NAME


@dataclass(frozen=True, slots=True)
class ParsedSettings:
    """What a file sets, in its order, what is wrong with it, and the lines of its keys; of variables no path."""

    path: Path | None
    settings: tuple[Setting, ...]
    faults: tuple[Fault, ...] = ()
    at: Mapping[tuple[str | int, ...], int] = field(default_factory=dict)

    def refuse(self, refusals: Sequence[tuple[Setting, InputError]] = ()) -> None:
        """Raise one InputError with all faults of the file, among them settings that are refused; none for no fault."""
        if refusals and (self.path is None or (len(refusals) == 1 and not self.faults)):
            raise refusals[0][1]
        faults = [Fault(setting.keys, error.message.removeprefix(f"{setting.origin}: ")) for setting, error in refusals]
        if self.path is not None and (faults or self.faults):
            raise error_of("settings", _path_text(self.path), [*self.faults, *faults], self.at)


def read(path: Path) -> tuple[Setting, ...]:
    """What a file sets, in its order; InputError where it is no TOML, or a value is no flag's."""
    result = parse_file(path)
    result.refuse()
    return result.settings


def parse_file(path: Path) -> ParsedSettings:
    """What a file sets and what is wrong with its values; InputError where it cannot be read or is no TOML."""
    source = SettingSource.OWN if path == own_file() else SettingSource.FOLDER
    text = _text(path, source)
    tables, at = dict(tables_of(text, _path_text(path), CODE)), lines(text)
    faults: list[Fault] = []
    settings = []
    for keys, value in _leaves(tables):
        if len(keys) < 2:
            faults.append(Fault(keys, "stands in no table: [predict] holds flags of podsim predict"))
        elif not _plain(value):
            faults.append(
                Fault(
                    keys,
                    f"this flag must be a text, a number, true or false, or an array of them, not {value_text(value)}",
                )
            )
        else:
            origin = f"{_quoted_path(path)}:{line_of(at, keys)}"
            settings.append(
                Setting(
                    command=keys[:-1],
                    flag=keys[-1].replace("-", "_"),
                    value=value,
                    origin=origin,
                    source=source,
                    path=path,
                    keys=keys,
                )
            )
    return ParsedSettings(path, tuple(settings), tuple(faults), at)


def _text(path: Path, source: SettingSource) -> str:
    """The text of a file; none of one that others replaced since it was looked at."""
    with suppress(OSError, ValueError), open_file(path) as file:
        status = os.fstat(file.fileno())
        if _doubt(path, status) if source is SettingSource.FOLDER else _foreign(path, status):
            return ""
        raw = file.read(FILE_BYTES + 1)
        if len(raw) <= FILE_BYTES:
            return raw.decode("utf-8-sig")
    return text_of(path, CODE, FILE_BYTES)  # which says what is wrong with it


def _path_text(path: Path) -> str:
    return printable(_quoted_path(path))


def _quoted_path(path: Path) -> str:
    return path.name if path.parent == working_folder() else str(path)


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


def variables(
    command: tuple[str, ...], flags: Mapping[str, bool], environ: Mapping[str, str] = os.environ
) -> ParsedSettings:
    """What PODSIM_PREDICT_POD and its like set of a command; `flags` says which may be repeated, with ";" between.

    Raises InputError for a variable of the command that names no flag.
    """
    beginning = "_".join(("PODSIM", *command, "")).upper().replace("-", "_")
    settings = []
    for name, text in sorted(environ.items()):
        if not name.startswith(beginning) or not text:
            continue
        flag = name.removeprefix(beginning).lower()
        if flag not in flags:
            raise unknown_setting(name, f"--{flag.replace('_', '-')}", command, flags)
        value: Value = list[str | int | float | bool](text.split(";")) if flags[flag] else text
        settings.append(Setting(command=command, flag=flag, value=value, origin=name, source=SettingSource.VARIABLE))
    return ParsedSettings(None, tuple(settings))


def unknown_setting(origin: str, flag: str, command: tuple[str, ...], flags: Mapping[str, bool]) -> InputError:
    """Say that a setting names no flag of its command, and which one may have been meant."""
    flag_names = [f"--{name.replace('_', '-')}" for name in flags]
    verb = " ".join(("podsim", *command))
    return InputError(
        f"{origin}: {verb} has no flag {flag}{did_you_mean(flag, flag_names)}",
        code="bad-setting",
        hint=f"{verb} --help",
    )
