"""The command line that was probably meant, where one with a word of another tool cannot be parsed."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from podsim.cli import completion_candidates as candidates
from podsim.units import duration

OTHER_NAMES: Final[Mapping[str, tuple[str, ...]]] = {
    "machine": ("--topology", "--machines"),
    "system": ("--topology", "--machines"),
    "machines": ("--topologies",),
    "topology": ("--topologies", "--machines"),
    "topologies": ("--machines",),
    "ipus": ("--pod",),
    "gpus": ("--pod",),
    "devices": ("--pod",),
    "accelerators": ("--pod",),
    "sizes": ("--pods",),
    "size": ("--bytes",),
    "pod": ("--pods",),
    "time": ("--within",),
    "time-limit": ("--within",),
    "time-to-train": ("--within",),
    "max-time": ("--within",),
    "price": ("--budget",),
    "max-price": ("--budget",),
    "power": ("--max-power",),
    "qps": ("--rate",),
    "rps": ("--rate",),
    "throughput": ("--rate",),
    "latency": ("--p99",),
    "batch-size": ("--batch", "--global-batch"),
    "micro-batch-size": ("--micro-batch",),
    "gradient-accumulation": ("--accumulation",),
    "seq-length": ("--sequence",),
    "sequence-length": ("--sequence",),
    "output": ("--out",),
    "competitors": ("--against",),
    "inventory": ("--own",),
}
"""Flags as other tools name them, without dashes, and what podsim calls them; the first that a command has is meant."""
WITHOUT_IPUS: Final = ("predict", "plan", "compare", "scale")
"""Commands that take machines without IPUs."""
PLACES: Final = ("--topology", "--machines", "--topologies")
"""Flags that take the name of a machine; the first that a command has is meant by a name without a flag."""
COUNTS: Final = ("--pod", "--pods")
"""Flags that take a number of IPUs."""
LISTS: Final = ("--pods", "--topologies", "--machines")
"""Flags that take several machines, separated by commas."""
COUNT: Final = re.compile(r"[1-9]\d{0,5}")
WITH_COUNT: Final = re.compile(rf"(?P<machine>[\w.-]+):{COUNT.pattern}")
"""A machine without IPUs and its chips: dgx-a100:64."""


def likely_command(words: Sequence[str]) -> str:
    """The command to type instead, as a line for a shell; "" where none is likely.

    Parameters
    ----------
    words
        The words of the command line, without `podsim`.
    """
    path, entry = candidates.command_entry(words)
    if not path:
        return ""
    command_flags: Mapping[str, object] = entry["flags"]
    start, limit = len(path), len(path) + len(entry["places"])
    likely = _without_ipus(_several([*path, *_corrections(words[start:], command_flags, limit - start)]))
    path, entry = candidates.command_entry(likely)
    command_flags = entry["flags"]
    if path[0] not in WITHOUT_IPUS and any(map(_has_count, likely)):
        return ""
    return shlex.join(["podsim", *likely]) if likely != list(words) and _complete(likely, command_flags) else ""


def _several(words: Sequence[str]) -> Sequence[str]:
    """The words with a list of machines in place of a flag that stands in them several times.

    Two sizes of a pod are compared.
    """
    match words:
        case ["predict" | "explain" | "compare", workload, "--pod", first, "--pod", second, *rest] if (
            "--pod" not in rest
        ):
            return ["compare", workload, f"pod{first}", f"pod{second}", *rest]
    for flag in LISTS:
        others, values, remaining = list[str](), list[str](), iter(words)
        for word in remaining:
            if word == flag:
                values.append(next(remaining, ""))
            else:
                others.append(word)
        if len(values) > 1:
            return [*others, flag, ",".join(values)]
    return words


def _without_ipus(words: Sequence[str]) -> Sequence[str]:
    """The words with machines without IPUs where they are taken: beside the pods of `scale`, else in `predict`."""
    match words:
        case ["scale", workload, "--pods", sizes, *rest]:
            others = [size for size in sizes.split(",") if _has_count(size)]
            pods = ",".join(size for size in sizes.split(",") if size not in others)
            if others and pods and "--against" not in rest:
                return ["scale", workload, "--pods", pods, "--against", ",".join(others), *rest]
            if len(others) == 1 and not pods:
                return ["predict", workload, "--topology", others[0], *rest]
        case ["scale" | "explain" | "goodput" | "infer", workload, "--topology" | "--topologies", machine, *rest]:
            if _has_count(machine):
                return ["predict", workload, "--topology", machine, *rest]
        case ["trace", workload, "--topology", machine, *_] | ["workload", "map", workload, "--topology", machine, *_]:
            if _has_count(machine):
                return ["predict", workload, "--topology", machine]
    return words


def _has_count(word: str) -> bool:
    """Whether a word is a machine with a number of chips."""
    match = WITH_COUNT.fullmatch(word)
    return match is not None and match["machine"] in candidates.names("topologies")


def _is_machine(word: str) -> bool:
    """Whether a word names a machine, with a number of chips or without."""
    return _has_count(word) or word in candidates.names("topologies")


def _complete(words: Sequence[str], command_flags: Mapping[str, object]) -> bool:
    """Whether each flag is one of the command's, and has its value."""
    following = [*words[1:], "--"]
    flags = [(*word.partition("="), after) for word, after in zip(words, following, strict=True) if word[:2] == "--"]
    return all(
        flag in command_flags and (command_flags[flag] is None or bool(equals) or not after.startswith("--"))
        for flag, equals, _, after in flags
    )


def _corrections(words: Sequence[str], command_flags: Mapping[str, object], places: int) -> Iterator[str]:
    """The words with known flags in place of others, and a flag before each machine beyond the places of a command."""
    waiting = ""
    for at, word in enumerate(words):
        if waiting:
            waiting = ""
            yield word
        elif word.startswith("--"):
            flag, equals, value = word.partition("=")
            flag = _flag(flag, value if equals else words[at + 1] if at + 1 < len(words) else "", command_flags)
            waiting = "" if equals or command_flags.get(flag) is None else flag
            yield f"{flag}{equals}{value}"
        elif places > 0:
            places -= 1
            yield word
        else:
            yield from (*_before(word, command_flags), word)


def _flag(flag: str, value: str, command_flags: Mapping[str, object]) -> str:
    """The flag, or the one that is meant by it with that value."""
    if flag == "--deadline" and "--within" in command_flags and _is_time(value):
        return "--within"
    if flag in COUNTS and all(map(_is_machine, value.split(","))):
        return next((name for name in PLACES if name in command_flags), flag)
    if flag in command_flags:
        return flag
    if flag == "--pods" and "--pod" in command_flags and COUNT.fullmatch(value):
        return "--pod"
    return next((name for name in OTHER_NAMES.get(flag.removeprefix("--"), ()) if name in command_flags), flag)


def _is_time(text: str) -> bool:
    try:
        duration(text)
    except ValueError:
        return False
    return True


def _before(word: str, command_flags: Mapping[str, object]) -> list[str]:
    """The flag that a machine or a number of IPUs without one needs; nothing for any other word."""
    if COUNT.fullmatch(word):
        return [flag for flag in COUNTS if flag in command_flags][:1]
    if _is_machine(word):
        return [flag for flag in PLACES if flag in command_flags][:1]
    return []
