"""Events of one file to the complete runs in it."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from podsim.files.file_faults import value_text
from podsim.files.mllog.events import Event, Say, number
from podsim.model.mllog import Evaluation, LogRun, LogSpan

JITTER_MS: Final = 1000.0
"""How far the clock may seem to run backwards, since several processes write one log."""
MOST_COUNT: Final = 10**9
"""Largest global batch or gradient accumulation of a run."""
MOST_EVENTS: Final = 200_000
"""Starts and stops of one run that are kept."""
Number = Callable[[object], float | int | None]


def _whole(value: object) -> int | None:
    result = number(value)
    return int(result) if result is not None and result == int(result) and 0 < result <= MOST_COUNT else None


def _seed(value: object) -> int | None:
    result = number(value)
    return None if result is None else int(result)


TEXTS: Final = {
    "submission_platform": "platform",
    "submission_org": "organisation",
    "submission_division": "division",
    "submission_benchmark": "benchmark",
    "opt_name": "optimizer",
}
NUMBERS: Final[dict[str, tuple[str, Number]]] = {
    "global_batch_size": ("global_batch", _whole),
    "gradient_accumulation_steps": ("accumulation", _whole),
    "opt_base_learning_rate": ("learning_rate", number),
    "seed": ("seed", _seed),
}
STARTS: Final = {"block_start": "blocks", "epoch_start": "epochs", "eval_start": "evaluations"}
STOPS: Final = {"block_stop": "blocks", "epoch_stop": "epochs", "eval_stop": "evaluations"}


class _Open:
    """A run that has not stopped yet; what was said before its start belongs to it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.stated: dict[str, Any] = {}
        self.inherited: dict[str, Any] = {}
        self.first_ms: float | None = None
        self.start: Event | None = None
        self.spans: dict[str, list[LogSpan]] = {"blocks": [], "epochs": [], "evaluations": []}
        self.begun: dict[str, Event] = {}
        self.quality: list[tuple[float, float | None, float | None]] = []  # seconds, quality, epoch_num
        self.last_ms = 0.0
        self.backwards: tuple[int, float] | None = None
        self.unpaired = False

    def since_s(self, time_ms: float) -> float:
        """Seconds after run_start."""
        return (time_ms - (self.start.time_ms if self.start else time_ms)) / 1e3

    @property
    def has_training(self) -> bool:
        """Whether anything of training has begun."""
        return bool(self.begun or any(self.spans.values()))


def runs(events: Iterable[Event], file: str, say: Say) -> list[LogRun]:
    """The complete runs, in their order; `say` hears why another is left out."""
    runs: list[LogRun] = []
    now = _Open(file)
    for event in events:
        if event.key == "run_start":
            now = _start(now, event, say)
        elif event.key == "run_stop":
            if now.start is None:
                say(event.line, "run_stop without a run_start, ignored")
            else:
                runs += _stop(now, event, say)
                now = _after(now)
        else:
            _take(now, event, say)
    if now.start is not None:
        say(now.start.line, "the run has no run_stop: cut short or killed, left out")
    return runs


def _start(now: _Open, event: Event, say: Say) -> _Open:
    if now.start is None:
        now.first_ms = now.first_ms or event.time_ms
    elif not now.has_training:
        say(event.line, f"run_start again before any training, that of line {now.start.line} counts")
        return now
    else:
        say(now.start.line, f"the run has no run_stop before the run_start of line {event.line}, left out")
        now = _after(now)
    now.start = event
    _clock(now, event)
    return now


def _after(now: _Open) -> _Open:
    """The next run of the file; the submission is still the same."""
    fresh = _Open(now.file)
    inherited_names = (
        *TEXTS.values(),
        *(name for name, _ in NUMBERS.values() if name != "seed"),
        "target",
        "samples_set",
    )
    fresh.inherited = {name: value for name, value in (now.inherited | now.stated).items() if name in inherited_names}
    return fresh


def _clock(now: _Open, event: Event) -> float:
    """The event's time, not before the one before it [ms]."""
    if event.time_ms < now.last_ms - JITTER_MS and now.backwards is None:
        now.backwards = event.line, (now.last_ms - event.time_ms) / 1e3
    now.last_ms = max(now.last_ms, event.time_ms)
    return now.last_ms


def _take(now: _Open, event: Event, say: Say) -> None:
    now.first_ms = now.first_ms or event.time_ms
    if event.key in STARTS or event.key in STOPS:
        _span(now, event, say)
    elif event.key == "eval_accuracy":
        _quality(now, event, say)
    elif event.key in TEXTS and isinstance(event.value, str):
        _state(now, TEXTS[event.key], event.value.strip(), event, say)
    elif event.key in NUMBERS:
        name, read = NUMBERS[event.key]
        _state(now, name, read(event.value), event, say)
    elif event.key == "train_samples":
        samples = number(event.value)
        if samples is None or samples <= 0:
            say(event.line, "train_samples is no number that can be, ignored")
        else:
            now.stated["samples_done" if now.has_training else "samples_set"] = samples
    elif event.key.startswith("target"):
        now.stated["target"] = number(event.value)
    elif event.key in {"tracked_stats", "throughput"}:
        stats = event.value.get("throughput") if isinstance(event.value, dict) else event.value
        now.stated["throughput_samples_per_s"] = number(stats)


def _state(now: _Open, name: str, value: float | str | None, event: Event, say: Say) -> None:
    if value is None:
        say(event.line, f"{event.key} is no number that can be, ignored")
    elif now.stated.setdefault(name, value) != value and name != "seed":
        say(
            event.line,
            f"{event.key} is {value_text(value)} here and was {value_text(now.stated[name])}; the first counts",
        )


def _quality(now: _Open, event: Event, say: Say) -> None:
    quality, epoch_num = number(event.value), event.number("epoch_num")
    if quality is None:
        say(event.line, "eval_accuracy is no number, ignored")
    else:
        now.quality.append((now.since_s(event.time_ms), quality, epoch_num))


def _span(now: _Open, event: Event, say: Say) -> None:
    what = STARTS.get(event.key) or STOPS[event.key]
    if now.start is None:
        say(event.line, f"{event.key} outside a run, ignored")
        return
    time_ms = _clock(now, event)
    if event.key in STARTS:
        if what in now.begun:
            now.unpaired = now.unpaired or what != "evaluations"
            say(event.line, f"{event.key} again before its stop, that of line {now.begun[what].line} is ignored")
        now.begun[what] = event
        return
    start = now.begun.pop(what, None)
    if start is None:
        now.unpaired = now.unpaired or what != "evaluations"
        say(event.line, f"{event.key} without a start, ignored")
    elif len(now.spans[what]) < MOST_EVENTS:
        start_s = now.since_s(min(start.time_ms, time_ms))
        now.spans[what].append(LogSpan(start_s=start_s, stop_s=now.since_s(time_ms), epoch_count=_count(start, event)))


def _count(start: Event, stop: Event) -> float | None:
    """Epochs of a block, as either end states them."""
    return start.number("epoch_count") or stop.number("epoch_count")


def _stop(now: _Open, event: Event, say: Say) -> list[LogRun]:
    """The run that ends here, unless something forbids its use."""
    assert now.start is not None
    time_ms = _clock(now, event)
    clock_s, line = now.since_s(time_ms), now.start.line
    if now.backwards:
        at, by_s = now.backwards
        say(at, f"the clock runs backwards by {by_s:g} s, the run of line {line} is left out")
        return []
    if not (now.spans["blocks"] or now.spans["epochs"]) or not clock_s > 0:
        say(line, "the run has no block and no epoch of training, left out")
        return []
    status = event.metadata.get("status", event.value)
    if now.begun:
        now.unpaired = now.unpaired or bool({*now.begun} - {"evaluations"})
        say(event.line, f"{', '.join(sorted(now.begun))} begun and not ended when the run stops, ignored")
    return [
        LogRun(
            file=now.file,
            line=line,
            began_ms=now.start.time_ms,
            clock_s=clock_s,
            init_s=(now.start.time_ms - (now.first_ms or now.start.time_ms)) / 1e3,
            status=status.strip().lower() if isinstance(status, str) else "",
            blocks=tuple(now.spans["blocks"]),
            epochs=tuple(now.spans["epochs"]),
            evaluations=_evaluations(now),
            unpaired=now.unpaired,
            **(now.inherited | now.stated),
        )
    ]


def _evaluations(now: _Open) -> tuple[Evaluation, ...]:
    """Each with the quality logged between its start and the next start."""
    spans = now.spans["evaluations"]
    result = []
    for at, span in enumerate(spans):
        until = spans[at + 1].start_s if at + 1 < len(spans) else float("inf")
        inside = [(quality, epoch) for s, quality, epoch in now.quality if span.start_s <= s < until]
        quality, epoch = inside[-1] if inside else (None, None)
        result.append(Evaluation(span=span, quality=quality, epoch_num=epoch))
    return tuple(result)
