"""SIGTERM and SIGHUP end a command as Ctrl-C does: what is stored stays, one line says so, and no process is left."""

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Final

from podsim.cli.exit import ExitCode

PAIR_S: Final = 1.0
"""A terminal that closes, or a service manager, sends two signals at once; the second must not cut the end short."""
AGAIN_S: Final = 0.05
_ENDINGS: Final = {"SIGTERM": (ExitCode.TERMINATED, "terminated"), "SIGHUP": (ExitCode.HUNG_UP, "terminal closed")}


class ProcessInterrupt(KeyboardInterrupt):
    """Raised in the place that a signal interrupts; `code` is the exit code and `message` the last line of stderr."""

    def __init__(
        self, code: ExitCode = ExitCode.INTERRUPTED, message: str = "interrupted", number: int = signal.SIGINT
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.number = number


class SignalHandler:
    """Ends the process on signals, once for a pair of them."""

    def __init__(self) -> None:
        self._last_s: float | None = None

    def end(self, number: int, _frame: FrameType | None) -> None:
        """Take a signal: raise ProcessInterrupt where the main thread is, but for the second of a pair."""
        now_s = time.monotonic()
        if self._last_s is not None and now_s - self._last_s < PAIR_S:
            return
        self._last_s = now_s
        raise ProcessInterrupt(*_ENDINGS[signal.Signals(number).name], number)

    def raise_again(self, unraisable: "sys.UnraisableHookArgs") -> None:
        """Send a signal again that fell into a finalizer or a callback of the garbage collector, where it is lost."""
        if isinstance(unraisable.exc_value, KeyboardInterrupt):
            error = unraisable.exc_value
            number = error.number if isinstance(error, ProcessInterrupt) else signal.SIGINT
            self._last_s = None
            again = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))  # sent here, it would be lost here too
            again.daemon = True
            again.start()
        else:
            sys.__unraisablehook__(unraisable)


def install() -> None:
    """Take SIGTERM and SIGHUP in this process, unless whoever started it had them ignored, as nohup does."""
    handler = SignalHandler()
    for name in _ENDINGS:
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, handler.end)
    sys.unraisablehook = handler.raise_again


def release() -> None:
    """Let SIGINT and the signals of `install` end this process at once: the answer is out, Python only tidies up."""
    for name in ("SIGINT", *_ENDINGS):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)


def interrupt_of(error: KeyboardInterrupt) -> ProcessInterrupt:
    """How a command ended that was interrupted: by one of these signals, or by Ctrl-C."""
    return error if isinstance(error, ProcessInterrupt) else ProcessInterrupt()
