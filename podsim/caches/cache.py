"""Results kept by content: in memory, and in a folder that several processes share and anybody may damage or delete.

The folder is `podsim-results` in PODSIM_CACHE ("" for none), else in `podsim` in XDG_CACHE_HOME, else in
~/.cache/podsim. A result is found again only by the same podsim, down to the text of the modules that compute it, asked
with the same inputs. Whatever is wrong with the folder or a file in it, the result is recomputed and nothing but
one debug line tells. Only what podsim made is ever removed: `podsim.caches.cache_folder`.
"""

import errno
import json
import logging
import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, TypeVar

from podsim.caches import cache_folder
from podsim.caches.packing import content_key, pack, reader
from podsim.caches.tables import TABLES, Table

T = TypeVar("T")
FORMAT: Final = "1"
MOST_BYTES: Final = 2**20
"""Largest file that is read: a plan takes a few kB."""
MOST_IN_MEMORY: Final = 4096
"""Results of one shelf that stay in memory."""
_COMPUTED_BY: Final = ("engines", "lowering", "model", "physics", "predicting", "tiles")
_PACKAGE: Final = Path(__file__).resolve().parents[1]
_READ_FLAGS: Final = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)
_WRITE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_LOG: Final = logging.getLogger(__name__)


def user_folder(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Where results are kept between runs; None where the user wants none or has no home."""
    if (setting := environ.get("PODSIM_CACHE")) is not None:
        return Path(setting) if setting.strip() else None
    home = Path(environ.get("XDG_CACHE_HOME", ""))
    if home.is_absolute():  # the XDG rules ignore any other
        return home / "podsim"
    try:
        home = Path.home()
    except RuntimeError:
        return None
    return home / ".cache" / "podsim" if home.is_absolute() else None


def shelf(about: object) -> "Shelf":
    """The results about something (a chip, a precision, fitted numbers): one shelf a content in this process."""
    folder, content = user_folder(), content_key(about)
    return _SHELVES.remember((folder, content), lambda: Shelf(folder, content))


class Shelf:
    """Results that share what they are about; each is named by what else it depends on."""

    def __init__(self, folder: Path | None, about: str) -> None:
        self._folder = folder / cache_folder.NAME if folder is not None else None
        self._digest = blake2b(about.encode(), digest_size=16)
        self._known: Table[str, Any] = Table(MOST_IN_MEMORY)
        self._writes = True
        self._has_warned = False

    def remember(self, inputs: object, kind: type[T], compute: Callable[[], T]) -> T:
        """The result for `inputs`, of the dataclass `kind`, computed where it is not stored; errors of `compute` pass.

        Inputs are dataclasses, mappings, tuples, enums, texts, numbers and None; TypeError for anything else, since
        its content cannot be told.
        """
        digest = self._digest.copy()
        digest.update(f"{kind.__qualname__} {content_key(inputs)}".encode())
        key = digest.hexdigest()
        result: T | None = self._known.get(key)
        if result is not None:
            return result
        value = self._read(key, kind)
        if value is None:
            value = compute()
            self._write(key, value)
        self._known.keep(key, value)
        return value

    def _read(self, key: str, kind: type[T]) -> T | None:
        if self._folder is None:
            return None
        try:
            raw = _contents(self._folder / _version() / key)
            if raw is None:
                return None
            plain: Any = kind
            value: T = reader(plain)(json.loads(_verify(raw, key)))
        except Exception as error:  # noqa: BLE001  (garbage may break a decoder in any way; it is only a miss)
            self._tell("is not read", error)
            return None
        return value

    def _write(self, key: str, value: object) -> None:
        if self._folder is None or not self._writes:
            return
        try:
            body = json.dumps(pack(value), allow_nan=False, separators=(",", ":")).encode()
            _replace(self._folder / _version(), key, _checksum(key, body) + b"\n" + body)
        except OSError as error:
            self._writes = False  # a full or read-only folder will not mend while this process runs
            self._tell("is not written", error)
        except (TypeError, ValueError, RecursionError) as error:
            self._tell("does not hold every result", error)

    def _tell(self, what: str, error: Exception) -> None:
        if not self._has_warned:
            self._has_warned = True
            _LOG.debug("the cache in %s %s, so results are computed: %r", self._folder, what, error)


_SHELVES: Final = TABLES.add("shelves", Table[tuple[Path | None, str], Shelf](16))


@cache
def _version() -> str:
    """Folder name of this podsim: a digest of the text of the modules that compute, in 16 hexadecimal digits."""
    digest = blake2b(FORMAT.encode(), digest_size=8)
    for path in sorted(path for name in _COMPUTED_BY for path in (_PACKAGE / name).rglob("*.py")):
        digest.update(f"{path.relative_to(_PACKAGE).as_posix()}\n".encode())
        with suppress(OSError):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _contents(path: Path) -> bytes | None:
    """What a file holds, None where there is none; ValueError for what is no file, and so might never end."""
    try:
        descriptor = os.open(path, _READ_FLAGS)
    except FileNotFoundError:
        return None
    with open(descriptor, "rb") as file:  # noqa: PTH123  (a descriptor opened so that a pipe does not block)
        fstat = os.fstat(descriptor)
        if not stat.S_ISREG(fstat.st_mode) or fstat.st_size > MOST_BYTES:
            raise ValueError(f"{path.name} is no result")
        return file.read(MOST_BYTES)


def _checksum(key: str, body: bytes) -> bytes:
    return blake2b(body, digest_size=16, key=key.encode()).hexdigest().encode()


def _verify(raw: bytes, key: str) -> bytes:
    checksum, _, body = raw.partition(b"\n")
    if checksum != _checksum(key, body):
        raise ValueError(f"{key} is damaged")
    return body


def _replace(folder: Path, key: str, raw: bytes) -> None:
    """Put the whole file in its place at once; readers see the old one or the new one. OSError where it cannot be."""
    beside = f"{folder}{os.sep}{cache_folder.temporary_name(key)}"
    try:
        descriptor = os.open(beside, _WRITE, 0o644)
    except FileNotFoundError:
        cache_folder.make(folder)
        descriptor = os.open(beside, _WRITE, 0o644)
    try:
        try:
            if os.write(descriptor, raw) != len(raw):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        finally:
            os.close(descriptor)
        os.replace(beside, folder / key)  # noqa: PTH105  (a result is written in the time that Path takes)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)  # noqa: PTH108
        raise
