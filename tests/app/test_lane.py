"""Processes that answer: one task at a time, cancelled, started again."""

from __future__ import annotations

import asyncio
import io
import json
from contextlib import aclosing

import pytest

from podsim.errors import InputError
from podsim.studies.app import answers, process
from podsim.studies.app.lane import Lane

QUESTION = "workload=resnet50&pod=16"
LONG = "workload=gpt2-xl&tokens=1e10&global_batch=512"


def events_of(tasks: list[dict[str, object]]) -> list[dict[str, object]]:
    sink = io.StringIO()
    process.Session(io.StringIO("".join(f"{json.dumps(task)}\n" for task in tasks)), sink).run()
    return [json.loads(line) for line in sink.getvalue().splitlines()]


def test_each_task_ends_in_one_event(monkeypatch: pytest.MonkeyPatch) -> None:
    def run(task: str, _view: str, _text: str, on_progress) -> dict[str, str]:
        on_progress(1, 2)
        if task == "no":
            raise InputError("not so", code="bad-value", context=["line"], hint="hint")
        if task == "bug":
            raise ZeroDivisionError("by zero")
        return {"html": task}

    monkeypatch.setattr(answers, "run", run)
    tasks = [{"id": at, "task": name, "view": "v", "query": "q"} for at, name in enumerate(["yes", "no", "bug"])]
    events = events_of([{"cancel": 9}, *tasks, {"id": 9, "task": "late", "view": "v", "query": "q"}])
    assert [event for event in events if "progress" in event] == [{"id": at, "progress": [1, 2]} for at in range(3)]
    last = [event for event in events if "progress" not in event]
    assert last[0] == {"id": 0, "done": {"html": "yes"}}
    error = {"code": "bad-value", "message": "not so", "context": ["line"], "hint": "hint", "no": False}
    assert last[1] == {"id": 1, "error": error}
    assert last[2] == {"id": 2, "bug": "ZeroDivisionError: by zero"}
    assert last[3] == {"id": 9, "cancelled": True}


async def result(lane: Lane, task: str, view: str, query: str) -> dict[str, object]:
    return [event async for event in lane.run(task, view, query)][-1]


@pytest.mark.slow
def test_a_cancelled_task_makes_room_for_the_next() -> None:
    async def ask() -> None:
        lane = Lane()
        try:
            async with aclosing(lane.run("answer", "plan", LONG)) as events:
                async for event in events:
                    assert "progress" in event
                    break
            assert "done" in await result(lane, "json", "explain", QUESTION)
            assert not lane._turn.locked()
        finally:
            await lane.stop()

    asyncio.run(ask())


@pytest.mark.slow
def test_a_process_that_was_killed_is_started_again() -> None:
    async def ask() -> None:
        lane = Lane()
        try:
            first = await result(lane, "json", "predict", QUESTION)
            lane._process.kill()
            assert "bug" in await result(lane, "json", "predict", QUESTION)
            assert await result(lane, "json", "predict", QUESTION) == {**first, "id": 3}
        finally:
            await lane.stop()

    asyncio.run(ask())
