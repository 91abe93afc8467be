"""What moved between two saved answers, and which input did it: one input at a time is put back and predicted again."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from podsim.errors import InputError, PodsimError
from podsim.files.faults import MOST_SHOWN, printable
from podsim.files.spelling import canonical
from podsim.model.difference import Difference, InputChange, Moved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from podsim.files.saved import Saved
    from podsim.model.prediction import Prediction

    Predict = Callable[[Mapping[str, Any], Mapping[str, float]], tuple[Prediction, Mapping[str, str]]]
    """The prediction under flags and fitted numbers, and the files that it read, by digest."""

HEADLINE: Final = ("time_to_train_s.value", "step_s")
MAPPING: Final = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
NOT_FIGURES: Final = ("schema", "podsim", "inputs")
SAME: Final = 1e-9


def difference(old: Saved, new: Saved, predict: Predict) -> Difference:
    """Two answers of one verb compared; InputError where they answer different questions."""
    if old.what != new.what:
        raise InputError(
            f"{old.name} is a {old.what}, {new.name} a {new.what}: only answers of one verb can be compared",
            code="different-answers",
        )
    moved = tuple(_moved(old.body, new.body, ""))
    _refuse_kinds(moved, old, new)
    figures = {move.path: move for move in moved}
    headline = tuple(figures[path] for path in HEADLINE if path in figures and figures[path].change is not None)
    notes = [*_notes(old, new)]
    causes = [*_inputs(old, new)]
    if old.what == "prediction" and new.inputs and old.inputs and moved:
        causes = _attributed(causes, old, new, predict, notes)
    return Difference(
        what=new.what,
        old_hash=str(old.inputs.get("hash", "")),
        new_hash=str(new.inputs.get("hash", "")),
        moved=moved,
        headline=headline,
        causes=tuple(causes),
        remainder=_remainder(headline, causes),
        notes=tuple(notes),
    )


def _moved(old: Any, new: Any, path: str) -> Iterator[Moved]:  # noqa: ANN401  (any JSON)
    """Leaves that differ, in the order of the documents."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            if path or key not in NOT_FIGURES:
                yield from _moved(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list):
        before, after = _named(old), _named(new)
        for key in dict.fromkeys((*before, *after)):
            yield from _moved(before.get(key), after.get(key), f"{path}[{key}]")
    elif old != new:
        yield Moved(path=path, old=old, new=new)


def _refuse_kinds(moved: Sequence[Moved], old: Saved, new: Saved) -> None:
    """Raise InputError where answers of one version have a number at a place and a text or a table there."""
    if old.schema != new.schema:
        return
    unlike = [
        move for move in moved if move.old is not None and move.new is not None and _kind(move.old) != _kind(move.new)
    ]
    if unlike:
        raise InputError(
            f"{old.name} and {new.name} hold values of different kinds: one was edited or is damaged",
            code="bad-saved-answer",
            hint="save both again with --json",
            context=[
                printable(f"{move.path}: {_kind(move.old)} in {old.name}, {_kind(move.new)} in {new.name}")
                for move in unlike[:MOST_SHOWN]
            ],
        )


def _kind(value: object) -> str:
    """What sort of JSON a value is."""
    kinds = {bool: "true or false", str: "a text", dict: "a table", list: "an array"}
    return kinds.get(type(value), "a number")


def _named(items: Sequence[Any]) -> dict[str, Any]:
    """Members of a list by id where each has its own, else by place."""
    ids = [item.get("id") if isinstance(item, dict) else None for item in items]
    own = all(isinstance(id_, str) for id_ in ids) and len({*map(str, ids)}) == len(ids)
    return {str(id_) if own else str(place): item for place, (id_, item) in enumerate(zip(ids, items, strict=True))}


def _notes(old: Saved, new: Saved) -> Iterator[str]:
    if old.schema != new.schema:
        yield f"the schema is another: {old.schema}, now {new.schema}; keys may have changed their meaning"
    for item in (old, new):
        if not item.inputs:
            yield f"{item.name} does not say what it rests on: an earlier podsim wrote it, so no move is attributed"


def _inputs(old: Saved, new: Saved) -> Iterator[InputChange]:
    """Every input that differs; those whose old state the documents carry have no `why` yet."""
    if (was := old.body.get("podsim")) != (now := new.body.get("podsim")):
        yield InputChange(what="podsim", old=str(was), new=str(now), why="another version cannot be run from here")
    spelled = canonical(old.part("flags")), canonical(new.part("flags"))
    for name, before, after in _differing(old.part("flags"), new.part("flags")):
        if spelled[0].get(name) == spelled[1].get(name):
            continue
        yield InputChange(what=f"flag {name}", old=_text(before), new=_text(after))
    for name, before, after in _differing(old.part("parameters"), new.part("parameters")):
        why = "" if before is not None and after is not None else "only one of the two has it"
        yield InputChange(what=f"parameter {name}", old=_text(before), new=_text(after), why=why)
    for name, before, after in _differing(old.part("files"), new.part("files")):
        why = "holds the parameters above" if name.startswith("parameters ") else "only its digest is carried"
        yield InputChange(what=f"file {name}", old=_text(before), new=_text(after), why=why)
    # Under other flags another mapping is what they led to; under the same it is a cause of its own.
    if spelled[0] == spelled[1] and (before := _split(old)) != (after := _split(new)):
        why = "" if before and after else "only one of the two states its whole mapping"
        yield InputChange(what="mapping", old=_text(before), new=_text(after), why=why)


def _differing(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    for name in sorted({*old, *new}):
        if old.get(name) != new.get(name):
            yield name, old.get(name), new.get(name)


def _split(item: Saved) -> list[Any]:
    """Replicas, IPUs a replica, micro-batch and accumulation; [] where one of them is no whole number."""
    result = item.body.get("mapping")
    split = [result.get(name) for name in MAPPING] if isinstance(result, dict) else []
    return split if all(isinstance(item, int) and not isinstance(item, bool) for item in split) else []


def _text(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(str, value))
    return "–" if value is None else str(value)


class Replay:
    """The new answer predicted again, as it was or with one input put back."""

    def __init__(self, old: Saved, new: Saved, predict: Predict, *, pinned: bool) -> None:
        self._old, self._new, self._predict = old, new, predict
        self._flags, self._parameters = dict(new.part("flags")), dict(new.part("parameters"))
        if pinned:  # so that a parameter's effect is not mixed with that of the mapping it leads to
            self._flags |= dict(zip(MAPPING, _split(new), strict=True))
        answer, self._files = predict(self._flags, self._parameters)
        self._now = _headline(answer)

    @property
    def doubts(self) -> str:
        """Why the new answer cannot be had here as it was saved; "" where it can."""
        names = [name for name, *_ in _differing(self._new.part("files"), self._files)]
        others = [name for name in names if not name.startswith("parameters ")]
        if others:
            return f"files here are not those of {self._new.name}, so effects are those here: {', '.join(others)}"
        values = (_at(self._new.body, path) for path in HEADLINE)
        again = [now / was for now, was in zip(self._now, values, strict=True)]
        if not all(abs(factor - 1) <= SAME for factor in again):
            return f"this podsim does not predict what {self._new.name} says, so effects are those here"
        return ""

    def effects(self, cause: InputChange) -> tuple[float, ...]:
        """New over old of every headline figure were this the only input that differs; PodsimError where it fails."""
        flags, parameters = dict(self._flags), dict(self._parameters)
        kind, _, name = cause.what.partition(" ")
        if kind == "parameter":
            parameters[name] = self._old.part("parameters")[name]
        elif kind == "mapping":
            flags |= dict(zip(MAPPING, _split(self._old), strict=True))
        elif (was := self._old.part("flags").get(name)) is None:
            flags.pop(name, None)
        else:
            flags[name] = was
        answer, _ = self._predict(flags, parameters)
        return tuple(now / was for now, was in zip(self._now, _headline(answer), strict=True))


def _at(body: Mapping[str, Any], path: str) -> float:
    """The number at a dotted path; NaN where there is none."""
    here: Any = body
    for part in path.split("."):
        here = here.get(part) if isinstance(here, dict) else None
    return float(here) if isinstance(here, int | float) and here else math.nan


def _headline(answer: Prediction) -> tuple[float, ...]:
    return answer.time_to_train_s.value, answer.step_s.value


def _attributed(
    causes: Sequence[InputChange], old: Saved, new: Saved, predict: Predict, notes: list[str]
) -> list[InputChange]:
    """Causes with what each does alone, where it can be put back."""
    try:
        replay = Replay(old, new, predict, pinned=any(cause.what == "mapping" and not cause.why for cause in causes))
    except PodsimError as no:
        notes.append(f"{new.name} cannot be predicted again here: {no.message}")
        return [*causes]
    notes += [replay.doubts] if replay.doubts else []
    changes = []
    for cause in causes:
        effects: tuple[float, ...] = ()
        why = cause.why
        if not why:
            try:
                effects = replay.effects(cause)
            except PodsimError as no:
                why = f"cannot be put back alone: {no.message}"
        changes.append(InputChange(what=cause.what, old=cause.old, new=cause.new, effects=effects, why=why))
    return changes


def _remainder(headline: Sequence[Moved], causes: Sequence[InputChange]) -> tuple[float, ...]:
    """What the causes leave of each headline figure's move, as factors; () where nothing was predicted again."""
    values = [cause.effects for cause in causes if cause.effects]
    if not values:
        return ()
    moves = {move.path: 1 + (move.change or 0.0) for move in headline}
    return tuple(moves.get(path, 1.0) / math.prod(each[at] for each in values) for at, path in enumerate(HEADLINE))
