"""A bar on stderr for work that takes longer than a second."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from podsim.cli.console import look
from podsim.cli.options import OutputFlags
from podsim.report import numbers
from podsim.report.terminal import console

if TYPE_CHECKING:
    from rich.progress import Progress, Task

PATIENCE_S = 1.0
EVERY_S = 10.0
OnProgress = Callable[[int, int], None]


@contextmanager
def progress(what: str, output: OutputFlags, *, rate: str = "", lines: bool = False) -> Iterator[OnProgress | None]:
    """A callback (done, total) that draws, or None where stderr is no terminal; the bar leaves when the work is done.

    `rate` is what is counted, where its number a second is shown too. With `lines`, for work of minutes, a line is
    written now and then where stderr is no terminal.
    """
    if not sys.stderr.isatty() or output.quiet:
        yield _Lines(what) if lines and not output.quiet else None
        return
    bar = _Bar(what, output, rate)
    try:
        yield bar
    finally:
        bar.close()


class _Lines:
    """A line on stderr every ten seconds: "holding out: 12 of 60"."""

    def __init__(self, what: str) -> None:
        self.what, self.next_s = what, time.monotonic() + EVERY_S

    def __call__(self, finished_count: int, total: int) -> None:
        if time.monotonic() >= self.next_s:
            self.next_s = time.monotonic() + EVERY_S
            print(f"{self.what}: {finished_count:,} of {total:,}", file=sys.stderr, flush=True)


class _Bar:
    """Draws once the work has lasted a second, so that quick answers do not flicker."""

    def __init__(self, what: str, output: OutputFlags, rate: str = "") -> None:
        self.what, self.output, self.rate = what, output, rate
        self.began_s = time.monotonic()
        self.drawn: Progress | None = None

    def __call__(self, finished_count: int, total: int) -> None:
        if self.drawn is None:
            if time.monotonic() - self.began_s < PATIENCE_S:
                return
            self.drawn = self._draw(finished_count, total)
        self.drawn.update(self.drawn.task_ids[0], completed=finished_count, total=total)

    def _draw(self, finished_count: int, total: int) -> "Progress":
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text

        class RateColumn(TextColumn):
            """How many a second, of those that were done while somebody watched."""

            def render(self, task: "Task") -> Text:
                return Text(f"{numbers.short(task.speed)} {self.text_format}/s" if task.speed else "")

        shape = look(sys.stderr, self.output.color)
        rate = (RateColumn(self.rate),) if self.rate else ()
        progress_bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            *rate,
            TimeRemainingColumn(),
            console=console(shape, sys.stderr),
            transient=True,
        )
        progress_bar.add_task(self.what, total=total, completed=finished_count)
        progress_bar.start()
        return progress_bar

    def close(self) -> None:
        """Take the bar away."""
        if self.drawn is not None:
            with suppress(OSError):
                self.drawn.stop()
