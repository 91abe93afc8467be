"""Any file to lines of text, a few at a time: compressed or not, in the usual encodings."""

import bz2
import codecs
import gzip
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, Final, NamedTuple

from podsim.files.contents import open_file

LONGEST: Final = 2**20
"""Characters of a line that are kept; a log line has some hundred."""
MOST_BYTES: Final = 2**31
"""Bytes of one unpacked file that are read: a hundred times the longest published log."""
READ_ERRORS: Final = (OSError, EOFError, zlib.error, lzma.LZMAError)
_COMPRESSIONS: Final[dict[bytes, Callable[[BinaryIO], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


class Line(NamedTuple):
    """A line with its number, from 1; `cut` where it was longer than is kept."""

    number: int
    text: str
    cut: bool


def lines(path: Path) -> Iterator[Line]:
    """The lines of a file; one of `BROKEN` where it cannot be read any further, ValueError where it is too long."""
    with open_file(path) as file:
        start = file.read(6)
        file.seek(0)
        unpack = next((reader for magic, reader in _COMPRESSIONS.items() if start.startswith(magic)), None)
        stream = io.BufferedReader(_LimitedStream(unpack(file) if unpack else file))
        encoding = _encoding(stream.peek(256)[:256])
        # Only 8-bit encodings keep a line end in one byte; the others are decoded first.
        yield from _narrow(stream) if encoding == "utf-8" else _wide(stream, encoding)


class _LimitedStream(io.RawIOBase):
    """A stream that ends with ValueError after `MOST_BYTES`."""

    def __init__(self, inner: "IO[bytes] | gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile") -> None:
        self._inner, self._seen = inner, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "memoryview | bytearray") -> int:  # type: ignore[override]
        data = self._inner.read(len(buffer))
        self._seen += len(data)
        if self._seen > MOST_BYTES:
            raise ValueError(f"longer than {MOST_BYTES // 2**30} GiB, the rest is not read")
        buffer[: len(data)] = data
        return len(data)


def _encoding(start: bytes) -> str:
    """By the byte-order mark, else by where the zero bytes of Latin letters stand."""
    for mark, name in _MARKS:
        if start.startswith(mark):
            return name
    even, odd = start[0::2], start[1::2]
    if even and odd.count(0) > 0.8 * len(odd) and not even.count(0):
        return "utf-16-le"
    return "utf-16-be" if odd and even.count(0) > 0.8 * len(even) and not odd.count(0) else "utf-8"


def _narrow(stream: "io.BufferedReader[_LimitedStream]") -> Iterator[Line]:
    number = 0
    while piece := stream.readline(LONGEST):
        number += 1
        cut = len(piece) == LONGEST and not piece.endswith(b"\n")
        while cut and (more := stream.readline(LONGEST)) and not more.endswith(b"\n"):
            continue
        yield Line(number, _text(piece), cut)


def _text(piece: bytes) -> str:
    try:
        return piece.decode("utf-8-sig")
    except UnicodeDecodeError:
        return piece.decode("latin-1")


def _wide(stream: "io.BufferedReader[_LimitedStream]", encoding: str) -> Iterator[Line]:
    text_stream = io.TextIOWrapper(stream, encoding=encoding, errors="replace")
    number = 0
    while piece := text_stream.readline(LONGEST):
        number += 1
        cut = len(piece) == LONGEST and not piece.endswith("\n")
        while cut and (more := text_stream.readline(LONGEST)) and not more.endswith("\n"):
            continue
        yield Line(number, piece, cut)
