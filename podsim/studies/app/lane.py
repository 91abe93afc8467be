"""A process that answers, seen from the web server: one task at a time, with progress, cancelled by a new question."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from asyncio.subprocess import Process
    from collections.abc import AsyncGenerator

MODULE: Final = "podsim.studies.app.process"
LONGEST_LINE: Final = 2**28
"""Bytes of an event: the spans of a trace are tens of megabytes."""
IDLE_S: Final = 1.0
"""After the last question, nothing is computed ahead for so long."""
LAST: Final = ("done", "error", "bug", "cancelled")
"""Keys of which one is in the last event of a task."""


class Lane:
    """Tasks of one process, one after the other."""

    def __init__(self) -> None:
        self._process: Process | None = None
        self._turn = asyncio.Lock()
        self._number = 0
        self._used_s = 0.0

    async def start(self) -> None:
        """Start the process, so that it has loaded what it needs when the first task comes."""
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            MODULE,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=LONGEST_LINE,
        )

    async def stop(self) -> None:
        """End the process."""
        if self._process is not None and self._process.returncode is None:
            self._process.kill()
            await self._process.wait()

    async def run_idle(self, task: str, view: str, query: str) -> None:
        """Run a task without an answer once nothing was asked for a while."""
        while (remaining_s := self._used_s + IDLE_S - time.monotonic()) > 0:
            await asyncio.sleep(remaining_s)
        async for _ in self._run(task, view, query):
            pass

    async def run(self, task: str, view: str, query: str) -> AsyncGenerator[dict[str, Any], None]:
        """Events of a task, the last one with its result or its error; who stops listening cancels it."""
        try:
            async with aclosing(self._run(task, view, query)) as events:
                async for event in events:
                    self._used_s = time.monotonic()
                    yield event
        finally:
            self._used_s = time.monotonic()

    async def _run(self, task: str, view: str, query: str) -> AsyncGenerator[dict[str, Any], None]:
        async with self._turn:
            if self._process is None or self._process.returncode is not None:
                await self.start()
            self._number += 1
            number, is_over = self._number, False
            self._send({"id": number, "task": task, "view": view, "query": query})
            try:
                while not is_over:
                    event = await self._event(number)
                    is_over = any(key in event for key in LAST)
                    yield event
            finally:
                if not is_over:
                    self._send({"cancel": number})

    def _send(self, message: dict[str, Any]) -> None:
        """Hand over a line, without waiting: who is cancelled cannot wait for anything."""
        assert self._process is not None, "started before"
        assert self._process.stdin is not None, "it has a pipe"
        self._process.stdin.write(json.dumps(message).encode() + b"\n")

    async def _event(self, number: int) -> dict[str, Any]:
        """The next event of a task; those of a task that was cancelled before are passed over."""
        assert self._process is not None, "started before"
        assert self._process.stdout is not None, "it has a pipe"
        while line := await self._process.stdout.readline():
            event: dict[str, Any] = json.loads(line)
            if event["id"] == number:
                return event
        await self._process.wait()
        return {"bug": "the process that answers has ended; the next question starts another"}
