"""What a hint suggests to type: commands, flags for the command that was refused, words in place of others."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

SPLIT = re.compile(r"; |: |, or |, (?=--|podsim )| or (?=--|podsim )")
LEADS = ("for example ", "leave out ", "write ", "take ", "use ")
RIVALS = (("--pod", "--topology"), ("--pods", "--topologies"), ("-o", "--out"), ("--global-batch", "--accumulation"))


def suggestions(hint: str) -> Iterator[tuple[str, list[str]]]:
    """Kind ("command", "flags", "without", "word") and words of each thing to type that a hint holds."""
    for part in SPLIT.split(hint):
        lead = next((lead for lead in LEADS if part.startswith(lead)), "")
        words = shlex.split(part.removeprefix(lead))
        if not words:
            continue
        if words[0] == "podsim" and lead in ("", "for example ", "use "):
            yield "command", words[1:]
        elif words[0].startswith("--"):
            yield ("without" if lead == "leave out " else "flags"), words
        elif lead == "write ":
            yield "word", words


def corrected(line: list[str], kind: str, words: list[str]) -> list[str]:
    """The command line to type by a suggestion, from the one that was refused."""
    if kind == "command":
        return words
    if kind == "word":
        name = words[0].partition(":")[0]
        return [words[0] if word.partition(":")[0] == name else word for word in line]
    flags = {word for word in words if word.startswith("--")}
    rivals = {rival for pair in RIVALS for rival in pair if flags & set(pair)}
    added = words[: words.index("in")] if "in" in words else words  # --samples 1e6 in place of --tokens
    kept = list(_without(line, {*flags, *rivals}))
    return kept if kind == "without" else [*kept, *added]


def _without(line: list[str], flags: set[str]) -> Iterator[str]:
    """The words less some flags and their values."""
    skip = False
    for at, word in enumerate(line):
        if word in flags:
            skip = at + 1 < len(line) and not line[at + 1].startswith("--")
        elif not skip:
            yield word
        else:
            skip = False
