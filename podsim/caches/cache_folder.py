"""Folders of the cache, one for each version of podsim: how they are marked as podsim's own, and when one is removed.

`podsim-results/VERSION/` holds results named by their keys, files that are being written, and a marker. A folder is
removed only where its name, its marker and the name of every file in it prove that podsim made it; links are never
followed. One file of anybody else keeps the whole folder.
"""

import os
import re
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

NAME: Final = "podsim-results"
MARKER: Final = "CACHEDIR.TAG"
"""Named and begun as bford.info/cachedir has it, so that backups leave the folder out."""
VERSIONS_KEPT: Final = 3
"""Folders of other versions that are left when a new one is made."""
_VERSION: Final = re.compile(r"[0-9a-f]{16}")
_RESULT: Final = re.compile(r"[0-9a-f]{32}|\.[0-9a-f]{32}\.[0-9a-f]{16}")
_BY_DESCRIPTOR: Final = {os.open, os.unlink, os.stat} <= os.supports_dir_fd and os.scandir in os.supports_fd
_NO_LINK: Final = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER: Final = _NO_LINK | getattr(os, "O_DIRECTORY", 0)


def marker_of(version: str) -> bytes:
    """Content of the marker of one version's folder: format, purpose, and the folder's own name."""
    return (
        "Signature: 8a477f597d28d172789f06886806bc55\n"
        f"# podsim cache, format 1, folder {version}: results that podsim computes again where they are missing.\n"
        "# podsim removes this folder when newer versions have made theirs, unless other files are in it.\n"
    ).encode()


def temporary_name(key: str) -> str:
    """A name that no other process uses for a result that is being written."""
    return f".{key}.{os.urandom(8).hex()}"


def make(folder: Path) -> None:
    """Make the folder of a version, mark it, and remove the oldest of other versions. OSError where it cannot be made.

    A folder that is there already gets no marker: podsim did not make it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        return
    with suppress(OSError), (folder / MARKER).open("xb") as file:
        file.write(marker_of(folder.name))
    with suppress(OSError):
        _remove_old(folder)


def _remove_old(current: Path) -> None:
    """Remove versions that were not used for longest. A system without calls relative to a folder keeps all."""
    if not _BY_DESCRIPTOR:
        return
    with os.scandir(current.parent) as entries:
        others = [
            (entry.stat(follow_symlinks=False).st_mtime, entry.name)
            for entry in entries
            if entry.name != current.name and _VERSION.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
        ]
    for _, name in sorted(others, reverse=True)[VERSIONS_KEPT:]:
        with suppress(OSError):
            _remove(current.parent / name)


def _remove(folder: Path) -> None:
    """Remove one version's folder where everything in it is podsim's own; OSError where that is refused."""
    descriptor = os.open(folder, _FOLDER)
    try:
        if not _has_marker(descriptor, folder.name):
            return
        with os.scandir(descriptor) as entries:
            result = [(entry.name, entry.is_file(follow_symlinks=False)) for entry in entries]
        results = [name for name, _ in result if name != MARKER]
        if all(plain for _, plain in result) and all(map(_RESULT.fullmatch, results)):
            for name in (*results, MARKER):  # the marker last: what is interrupted here is finished another time
                os.unlink(name, dir_fd=descriptor)
            folder.rmdir()  # refuses where a file has come meanwhile
    finally:
        os.close(descriptor)


def _has_marker(folder: int, version: str) -> bool:
    """Whether the folder holds the marker that podsim wrote for it."""
    try:
        descriptor = os.open(MARKER, _NO_LINK, dir_fd=folder)
    except OSError:
        return False
    with open(descriptor, "rb") as file:  # noqa: PTH123  (a descriptor that followed no link)
        expected = marker_of(version)
        return stat.S_ISREG(os.fstat(descriptor).st_mode) and file.read(len(expected) + 1) == expected
