"""The process that computes answers: tasks as lines of JSON on its input, events as lines of JSON on its output."""

from __future__ import annotations

import gc
import json
import os
import queue
import signal
import sys
import threading
import time
import traceback
from typing import TYPE_CHECKING, Any, Final

from podsim.errors import Infeasible, PodsimError
from podsim.studies.app import answers

if TYPE_CHECKING:
    from typing import TextIO

EVERY_S: Final = 0.1
"""Progress is sent no more often than this."""
SELDOM: Final = (50_000, 20, 50)
"""Generations of the garbage collector, as the command line has them."""


class CancelledError(Exception):
    """The answer is no longer wanted."""


class Session:
    """Tasks in the order in which they came, each until it is done or cancelled."""

    def __init__(self, source: TextIO, sink: TextIO) -> None:
        self._source, self._sink = source, sink
        self._tasks: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._cancelled: set[int] = set()

    def run(self) -> None:
        """Answer until the input ends."""
        threading.Thread(target=self._read, daemon=True).start()
        while (task := self._tasks.get()) is not None:
            self._send({"id": task["id"], **self._answer(task)})
            self._cancelled.discard(task["id"])

    def _read(self) -> None:
        for line in self._source:
            message = json.loads(line)
            if "cancel" in message:
                self._cancelled.add(message["cancel"])
            else:
                self._tasks.put(message)
        self._tasks.put(None)

    def _send(self, event: dict[str, Any]) -> None:
        self._sink.write(json.dumps(event) + "\n")
        self._sink.flush()

    def _answer(self, task: dict[str, Any]) -> dict[str, Any]:
        try:
            return {"done": answers.run(task["task"], task["view"], task["query"], _Progress(self, task["id"]))}
        except CancelledError:
            return {"cancelled": True}
        except PodsimError as error:
            fields = {"code": error.code, "message": error.message, "context": list(error.context), "hint": error.hint}
            return {"error": {**fields, "no": isinstance(error, Infeasible)}}
        except Exception:  # noqa: BLE001  (whatever is left is a bug, and the app goes on)
            traceback.print_exc()
            return {"bug": traceback.format_exc(limit=-1).strip().splitlines()[-1]}

    def check(self, number: int) -> None:
        """Raise CancelledError for a task that was cancelled."""
        if number in self._cancelled:
            raise CancelledError

    def progress(self, number: int, completed_count: int, total: int) -> None:
        """Say how far a task is."""
        self._send({"id": number, "progress": [completed_count, total]})


class _Progress:
    """The callback of one task."""

    def __init__(self, session: Session, number: int) -> None:
        self._session, self._number, self._next_s = session, number, 0.0
        session.check(number)

    def __call__(self, completed_count: int, total: int) -> None:
        self._session.check(self._number)
        if time.monotonic() >= self._next_s:
            self._next_s = time.monotonic() + EVERY_S
            self._session.progress(self._number, completed_count, total)


def main() -> None:
    """Serve tasks of standard input; whatever else prints goes to standard error."""
    gc.set_threshold(*SELDOM)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C ends the server, and its end the input of this process
    sink = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    Session(sys.stdin, sink).run()


if __name__ == "__main__":
    main()
