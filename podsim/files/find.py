"""Where files are looked for, by kind: here, the user's data folder, then what podsim ships."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from podsim.errors import InputError, did_you_mean
from podsim.files.contents import bytes_of, is_plain, is_there, not_plain
from podsim.files.file_faults import printable, value_text

Kind = Literal["chips", "fabrics", "topologies", "workloads"]
SINGULAR: Final[dict[Kind, str]] = {
    "chips": "chip",
    "fabrics": "fabric",
    "topologies": "topology",
    "workloads": "workload",
}
FAMILY: Final = "family"
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True, slots=True)
class FileMatch:
    """A file, and what to warn of: that it hides another of its name."""

    path: Path
    warnings: tuple[str, ...] = ()


def data_folder(folder: str) -> Path:
    """The folder `topologies` or `calibration` of an installed podsim, else of the repository around the package."""
    inside = _PACKAGE / "_data" / folder
    return inside if inside.is_dir() else _PACKAGE.parent / folder


def own_name(path: Path) -> str:
    """The name of a file of the user's; "" for one that podsim ships."""
    place = Path(os.path.abspath(path))  # noqa: PTH100  (no file is looked at)
    roots = (data_folder("topologies"), data_folder("calibration"), _PACKAGE)
    return "" if any(place.is_relative_to(root) for root in roots) else path.name


def folders(kind: Kind) -> tuple[Path, ...]:
    """Where files of a kind are looked for, in order."""
    below = Path("topologies", kind) if kind in ("chips", "fabrics") else Path(kind)
    built_in = _PACKAGE / "workloads" if kind == "workloads" else data_folder("topologies") / Path(*below.parts[1:])
    return below, *(home / "podsim" / below for home in _data_home()), built_in


def _data_home() -> tuple[Path, ...]:
    if data_home := os.environ.get("XDG_DATA_HOME"):
        return (Path(data_home),)
    try:
        return (Path.home() / ".local" / "share",)
    except RuntimeError:
        return ()  # a user without a home, as containers have them


def is_shipped(kind: Kind, name: str) -> bool:
    """Whether podsim ships a file of that name, whatever else a user has under it."""
    return is_name(name) and is_there(folders(kind)[-1] / f"{name}.toml")


def is_path(name: str) -> bool:
    """Whether a name means a file rather than something podsim knows."""
    return "/" in name or os.sep in name or name.endswith((".toml", ".json", ".onnx"))


def is_name(name: str) -> bool:
    """Whether a text can be the name of a file, without its suffix."""
    return _NAME.fullmatch(name) is not None


def find(kind: Kind, name: str, *, near: Path | None = None) -> FileMatch | None:
    """The file of a name, or of a path seen from the file `near`; None where no folder has it.

    A folder of the user's that cannot be looked into counts as empty. Raises InputError where what podsim ships cannot
    be looked at: something else would answer under its name.
    """
    if is_path(name):
        return FileMatch(near.parent / name if near else Path(name))
    if not is_name(name) or (kind, name) == ("topologies", FAMILY):
        return None
    *own, built_in = (folder / f"{name}.toml" for folder in folders(kind))
    hits = [*(path for path in own if is_plain(path)), *([built_in] if is_there(built_in) else [])]
    return _first(hits) if hits else None


def _first(hits: list[Path]) -> FileMatch:
    first, *others = hits
    # In the repository ./topologies is itself what podsim ships; a file that says the same hides nothing.
    hidden = [path for path in others if _differ(path, first)]
    return FileMatch(first, tuple(f"{first} is used; it hides {path}" for path in hidden))


def _differ(path: Path, other: Path) -> bool:
    try:
        return not path.samefile(other) and bytes_of(path, "bad-input-file") != bytes_of(other, "bad-input-file")
    except (OSError, InputError):
        return True


def files(kind: Kind) -> Iterator[Path]:
    """Every file of a kind that a name can find, in the order in which they are looked for."""
    return (path for path in _files(kind) if is_name(path.stem))


def _files(kind: Kind) -> Iterator[Path]:
    for folder in folders(kind):
        try:
            paths = sorted(folder.glob("*.toml"))
        except OSError:
            continue
        yield from (path for path in paths if (kind, path.stem) != ("topologies", FAMILY))


def unlisted_warnings(kind: Kind) -> tuple[str, ...]:
    """A warning for each file of a kind that no name can find, because of the characters in its own."""
    return tuple(
        f"{printable(str(path))} is not listed: a name has letters from a to z, digits, '.', '_' and '-'; "
        "rename the file, or give its path"
        for path in _files(kind)
        if not is_name(path.stem)
    )


def names(kind: Kind) -> tuple[str, ...]:
    """Every name of a kind, numbers in them in their natural order."""
    return tuple(sorted({path.stem for path in files(kind)}, key=_natural))


def _natural(name: str) -> list[tuple[int, str]]:
    parts = re.split(r"([0-9]{1,18})", name)
    return [(int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts if part]


def unknown_name(kind: Kind, name: str, known_names: tuple[str, ...], also: tuple[str, ...] = ()) -> InputError:
    """Say that nothing has a name, and which one may have been meant, of files or of `also`."""
    what = SINGULAR[kind]
    near = did_you_mean(name, (*known_names, *also))
    context = () if near else (f"known: {', '.join(known_names)}",)
    if kind_here := not_plain(Path(name)):  # a pipe or a folder of that name, which no path with a / names
        context = (f"./{printable(name)} {kind_here}: podsim reads plain files", *context)
    elif is_plain(Path(name)):
        context = (f"a file is named with its folder: ./{printable(name)}", *context)
    message = f"no {what} {printable(value_text(name))}{near}"
    listing = "topology" if kind == "fabrics" else what
    return InputError(message, code=f"unknown-{what}", context=context, hint=f"podsim {listing} list")
