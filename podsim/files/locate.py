"""The line on which each key of a TOML text stands."""

import re
from bisect import bisect_left
from collections.abc import Mapping
from typing import Final

Path = tuple[str | int, ...]

_KEY: Final = re.compile(r'\s*("(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|[A-Za-z0-9_-]+)\s*')
_SCALAR: Final = re.compile(r"[^,\]}#\n]+")
_STRING: Final = re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'', re.DOTALL)
_BLANK: Final = re.compile(r"(?:\s|#[^\n]*)*")


def lines(text: str, until: Path | None = None) -> Mapping[Path, int]:
    """Line of every table, key and array member of a text that is sound TOML; the first line is 1.

    With `until`, of what stands before that path and of the path itself; the file itself, (), needs no reading.
    """
    if until == ():
        return {}
    return _Scanner(text, until).scan()


def line_of(table: Mapping[Path, int], path: Path) -> int:
    """The line of `path`, or of the nearest table around it."""
    while path and path not in table:
        path = path[:-1]
    return table.get(path, 1)


class _Scanner:
    """Walks a text once; it trusts that tomllib has read it before."""

    def __init__(self, text: str, until: Path | None) -> None:
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.until = until
        self.line_of_path: dict[Path, int] = {}
        self.counts: dict[Path, int] = {}
        self.ends = [match.start() for match in re.finditer("\n", self.text)]

    def scan(self) -> Mapping[Path, int]:
        table: Path = ()
        while self._blank():
            if self.text.startswith("[", self.at):
                table = self._header()
            else:
                self._pair(table)
        return self.line_of_path

    def _blank(self) -> bool:
        if match := _BLANK.match(self.text, self.at):
            self.at = match.end()
        return self.at < len(self.text)

    def _mark(self, path: Path, at: int) -> None:
        self.line_of_path.setdefault(path, bisect_left(self.ends, at) + 1)
        if path == self.until:
            self.at = len(self.text)

    def _keys(self) -> list[str]:
        keys = []
        while match := _KEY.match(self.text, self.at):
            self.at = match.end()
            keys.append(match[1].strip("\"'"))
            if not self.text.startswith(".", self.at):
                break
            self.at += 1
        return keys

    def _header(self) -> Path:
        start, many = self.at, self.text.startswith("[[", self.at)
        self.at += 2 if many else 1
        keys = self._keys()
        self.at = self._after("]]" if many else "]")
        path: Path = ()
        for depth, key in enumerate(keys, 1):
            path = (*path, key)
            if many and depth == len(keys):
                self._mark(path, start)
                self.counts[path] = self.counts.get(path, -1) + 1
            if path in self.counts:
                path = (*path, self.counts[path])
            self._mark(path, start)
        return path

    def _after(self, token: str) -> int:
        number = self.text.find(token, self.at)
        return len(self.text) if number < 0 else number + len(token)

    def _pair(self, table: Path) -> None:
        start = self.at
        keys = self._keys()
        for depth in range(1, len(keys) + 1):
            self._mark((*table, *keys[:depth]), start)
        self.at = self._after("=")
        self._value((*table, *keys))

    def _value(self, path: Path) -> None:
        self._blank()
        bracket = self.text[self.at : self.at + 1]
        if bracket in ("[", "{"):
            self.at += 1
            self._members(path, array=bracket == "[")
        elif match := _STRING.match(self.text, self.at) or _SCALAR.match(self.text, self.at):
            self.at = match.end()
        else:
            self.at += 1

    def _members(self, path: Path, *, array: bool) -> None:
        count = 0
        while self._blank():
            if self.text[self.at] in "]}":
                self.at += 1
                return
            if self.text[self.at] == ",":
                self.at += 1
            elif array:
                self._mark((*path, count), self.at)
                self._value((*path, count))
                count += 1
            else:
                self._pair(path)
