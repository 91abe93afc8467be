"""Figures that a saved answer is about, by verb: a time, a step, the times of machines and sides, a price."""

from __future__ import annotations

import math
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from podsim.studies.diff.result import Headline, SingleFigure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from podsim.files.answer_files import SavedAnswer

MACHINES: Final = ("machines", "pod", "topology", "chips", "to", "fault")
"""Flags of the cases of a comparison."""
MOST: Final = 5
"""Machines or sides whose times are headlines."""


class SavedFigure(NamedTuple):
    """A number of an answer with its name and unit."""

    name: str
    unit: str
    value: float
    label: str = ""


def figures(what: str, body: Mapping[str, Any], *, by_place: bool = False) -> dict[str, SavedFigure]:
    """The headline figures of a saved answer, by name, of cases `by_place` "case 2"; {} of verbs that have none."""
    read = {
        "prediction": _run,
        "phases-prediction": _run,
        "plan": _plan,
        "serving_plan": _serving,
        "inference": _inference,
        "goodput": _goodput,
    }
    rows = {"scale": (("machines", "topology"), ("against", "name")), "compare": (("sides", "label"),)}
    each = (_rows(body, key, name) for key, name in rows.get(what, ()))
    saved_figures: Iterable[SavedFigure] = read[what](body) if what in read else chain.from_iterable(each)
    if by_place:
        saved_figures = (
            figure._replace(name=f"case {place}", label=figure.name) for place, figure in enumerate(saved_figures, 1)
        )
    return {figure.name: figure for figure in saved_figures if math.isfinite(figure.value) and figure.value > 0}


def other_cases(old: SavedAnswer, new: SavedAnswer) -> bool:
    """Whether two comparisons are of other machines or values in the same places, so that these are compared."""
    before, after = (figures(item.what, item.body) for item in (old, new))
    alike = _shape(old.part("flags")) == _shape(new.part("flags"))
    return new.what == "compare" and len(before) == len(after) and before.keys() != after.keys() and alike


def _shape(flags: Mapping[str, Any]) -> tuple[object, ...]:
    """How many machines each flag of a comparison names, and what it changes."""
    counts = {name: len(flags[name]) if isinstance(flags[name], list) else 1 for name in MACHINES if name in flags}
    changes = flags.get("set", ())
    paths = sorted(str(text).partition("=")[0].strip() for text in changes) if isinstance(changes, list) else ()
    return counts, tuple(paths)


def recommendation(what: str, body: Mapping[str, Any]) -> str:
    """The machine that a plan recommends, and where none meets every demand the closest; "" of other answers."""
    if what not in ("plan", "serving_plan"):
        return ""
    machine, closest = body.get("chosen"), body.get("closest")
    if isinstance(machine, dict):
        return str(machine.get("title", ""))
    return f"none, closest {closest.get('title', '')}" if isinstance(closest, dict) else "none"


def headline(old: Mapping[str, SavedFigure], new: Mapping[str, SavedFigure]) -> tuple[Headline, ...]:
    """Figures that both answers have, at most `MOST`: the first and the last of a longer list among them."""
    names = [name for name in new if name in old]
    selection = names if len(names) <= MOST else [*names[: MOST - 1], names[-1]]
    pairs = [(old[name], new[name]) for name in selection]
    return tuple(
        Headline(name=now.name, unit=now.unit, old=was.value, new=now.value, labels=(was.label, now.label))
        for was, now in pairs
    )


def singles(old: Mapping[str, SavedFigure], new: Mapping[str, SavedFigure]) -> tuple[SingleFigure, ...]:
    """Figures that only one of two answers has, those of the older first."""
    old_figures = [SingleFigure(name=name, unit=item.unit, old=item.value, new=None) for name, item in old.items()]
    new_figures = [SingleFigure(name=name, unit=item.unit, old=None, new=item.value) for name, item in new.items()]
    return tuple(item for item in (*old_figures, *new_figures) if not (item.name in old and item.name in new))


def _run(body: Mapping[str, Any]) -> Iterator[SavedFigure]:
    yield SavedFigure("time to train", "s", _number(body, "time_to_train_s", "value"))
    yield SavedFigure("step", "s", _number(body, "step_s"))
    yield SavedFigure("global batch", "samples", _number(body, "mapping", "global_batch"))


def _best(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """The machine that a plan recommends, else the closest."""
    return next((body[key] for key in ("chosen", "closest") if isinstance(body.get(key), dict)), {})


def _serving(body: Mapping[str, Any]) -> Iterator[SavedFigure]:
    machines = _best(body)
    yield SavedFigure("rate held", "requests/s", _number(machines, "holds_per_s"))
    yield SavedFigure("P99 latency", "s", _number(machines, "p99_s"))
    yield SavedFigure("machine price", "USD", _number(machines, "capital_usd"))


def _plan(body: Mapping[str, Any]) -> Iterator[SavedFigure]:
    machine = _best(body)
    yield SavedFigure("time to train", "s", _number(machine, "time_to_train_s", "value"))
    yield SavedFigure("machine price", "USD", _number(machine, "capital_usd", "value"))


def _inference(body: Mapping[str, Any]) -> Iterator[SavedFigure]:
    yield SavedFigure("max throughput", "requests/s", _number(body, "capacity_requests_per_s", "value"))
    yield SavedFigure("unloaded latency", "s", _number(body, "service", "latency_s"))
    yield SavedFigure("P99 latency", "s", _number(body, "delays", "p99_s"))


def _goodput(body: Mapping[str, Any]) -> Iterator[SavedFigure]:
    yield SavedFigure("time to finish", "s", _number(body, "time_to_finish_s", "value"))
    yield SavedFigure("useful work", "s", _number(body, "work_s"))


def _rows(body: Mapping[str, Any], key: str, name: str) -> Iterator[SavedFigure]:
    rows = body.get(key)
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            time = _number(row, "time_to_train_s", "value")
            yield SavedFigure(str(row.get(name, "")), "s", _number(row, "step_s") if math.isnan(time) else time)


def _number(body: Any, *path: str) -> float:  # noqa: ANN401  (any JSON)
    """The number at a path; NaN where there is none. A table that holds a value stands for it."""
    here: Any = body
    for part in path:
        here = here.get(part) if isinstance(here, dict) else here if part == "value" else None
    if isinstance(here, dict):
        here = here.get("value")
    return float(here) if isinstance(here, int | float) and not isinstance(here, bool) else math.nan
