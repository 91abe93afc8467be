"""What an input may do: be answered or refused, in bounded time and memory, with answers inside their intervals."""

import math
import re
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

from podsim.cli.error_text import screen
from podsim.errors import Infeasible, PodsimError
from podsim.report.terminal import Look

ACCEPTED, REFUSED = "accepted", "refused"
CPU_S, CLOCK_S = 10.0, 60.0
"""An input takes no more of either; the machine may be busy, so that the clock alone says little."""
MOST_BYTES = 2**30
"""Memory that one input may take beyond what the process had before it."""
_PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "errors.md").read_text(encoding="utf-8")
CODES = frozenset(re.findall(r"^\| `([a-z-]+)` \|", _PAGE, re.MULTILINE))
LOOK = Look()
ROUNDING = 1e-9


class Violation(Exception):
    """What no input may lead to."""


class TooLong(BaseException):
    """An input that takes too long."""


def peak_bytes() -> int:
    """The most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


@contextmanager
def limits() -> Iterator[None]:
    """Raise Violation where the block takes too long or too much memory."""

    def ring(_signal: int, _frame: object) -> None:
        raise TooLong

    before = peak_bytes()
    handlers = {number: signal.signal(number, ring) for number in (signal.SIGPROF, signal.SIGALRM)}
    signal.setitimer(signal.ITIMER_PROF, CPU_S)
    signal.setitimer(signal.ITIMER_REAL, CLOCK_S)
    try:
        yield
    except TooLong as error:
        raise Violation(f"more than {CPU_S:g} s of a core, or {CLOCK_S:g} s") from error
    except MemoryError as error:
        raise Violation("out of memory") from error
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in handlers.items():
            signal.signal(number, handler)
    if peak_bytes() - before > MOST_BYTES:
        raise Violation(f"{(peak_bytes() - before) / 2**20:,.0f} MiB of memory")


def judged(ask: Callable[[], object]) -> str:
    """Whether a question is answered (a true "no" is an answer) or refused; any other exception passes."""
    try:
        answer = ask()
    except PodsimError as error:
        check_error(error)
        return ACCEPTED if isinstance(error, Infeasible) else REFUSED
    check_intervals(answer)
    return ACCEPTED


def check_error(error: PodsimError) -> None:
    """Raise Violation for a code that no page lists, or an error that cannot be shown."""
    if error.code not in CODES:
        raise Violation(f"{error.code} is no code of docs/reference/errors.md")
    if "\x1b" in screen(error, LOOK):
        raise Violation("an escape sequence on the screen")


def check_intervals(document: object) -> None:
    """Raise Violation where a JSON document has a number outside its own interval, or one that is no number."""
    if isinstance(document, dict):
        low, high = document.get("low"), document.get("high")
        value = document.get("value", document.get("median"))
        known = [number for number in (low, value, high) if _is_number(number)]
        if _is_number(low) and _is_number(high) and not _ascending(known):
            raise Violation(f"{value} is outside {low} to {high}")
        for item in document.values():
            check_intervals(item)
    elif isinstance(document, list):
        for item in document:
            check_intervals(item)
    elif isinstance(document, float) and not math.isfinite(document):
        raise Violation(f"{document} in an answer")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _ascending(numbers: list[float]) -> bool:
    return all(a <= b + ROUNDING * abs(b) for a, b in pairwise(numbers))
