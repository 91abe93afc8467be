"""What changed between two saved answers, and which input did it: one input at a time is reverted."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from podsim.errors import InputError, PodsimError
from podsim.files.file_faults import MOST_SHOWN, printable
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.studies.diff import headlines
from podsim.studies.diff.question import MAPPING, ChangedInput, changed_inputs, differing, split
from podsim.studies.diff.result import ChangedValue, Difference, Headline, InputChange

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from podsim.files.answer_files import SavedAnswer

    Ask = Callable[[str, Mapping[str, Any], Mapping[str, float]], tuple[Mapping[str, Any], Mapping[str, str]]]
    """The document of a verb under flags and fitted numbers, and the files that it read, by digest."""

NOT_FIGURES: Final = ("schema", "podsim", "inputs")
SAME: Final = 1e-9


def difference(
    old: SavedAnswer, new: SavedAnswer, ask: Ask, again: Callable[[SavedAnswer, SavedAnswer], str] | None = None
) -> Difference:
    """Two answers of one verb compared; InputError where they answer different questions, with `again` as its hint."""
    if old.what != new.what:
        raise InputError(
            f"{old.name} is an answer of podsim {_verb(old)}, {new.name} one of podsim {_verb(new)}: podsim diff "
            "compares two answers of the same command",
            code="different-answers",
            hint=again(old, new) if again else "",
        )
    changed_values = tuple(_changed_leaves(old.body, new.body, ""))
    _refuse_kinds(changed_values, old, new)
    by_place = headlines.other_cases(old, new)
    before, after = (headlines.figures(item.what, item.body, by_place=by_place) for item in (old, new))
    headline = headlines.headline(before, after)
    differing_inputs, notes = list(changed_inputs(old, new)), [*_notes(old, new)]
    causes = [InputChange(what=item.what, old=item.old, new=item.new, why=item.why) for item in differing_inputs]
    singles = headlines.singles(before, after)
    if (headline or singles) and new.inputs and old.inputs and changed_values:
        causes = _attribute(differing_inputs, Replay(old, new, ask, headline, differing_inputs), causes, notes)
    return Difference(
        what=new.what,
        old_hash=str(old.inputs.get("hash", "")),
        new_hash=str(new.inputs.get("hash", "")),
        moved=changed_values,
        headline=headline,
        causes=tuple(causes),
        remainder=_remainder(headline, causes),
        notes=tuple(notes),
        chosen=(headlines.recommendation(old.what, old.body), headlines.recommendation(new.what, new.body)),
        singles=singles,
    )


def _verb(item: SavedAnswer) -> str:
    """The verb that a saved answer names; else what it is."""
    return str(item.inputs.get("verb", item.what))


def _changed_leaves(old: Any, new: Any, path: str) -> Iterator[ChangedValue]:  # noqa: ANN401  (any JSON)
    """Leaves that differ, in the order of the documents."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            if path or key not in NOT_FIGURES:
                yield from _changed_leaves(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list):
        before, after = _by_id(old), _by_id(new)
        for key in dict.fromkeys((*before, *after)):
            yield from _changed_leaves(before.get(key), after.get(key), f"{path}[{key}]")
    elif old != new:
        yield ChangedValue(path=path, old=old, new=new)


def _refuse_kinds(changed_values: Sequence[ChangedValue], old: SavedAnswer, new: SavedAnswer) -> None:
    """Raise InputError where answers of one version have a number at a place and a text or a table there."""
    if old.schema != new.schema:
        return
    unlike = [
        move
        for move in changed_values
        if move.old is not None and move.new is not None and _kind(move.old) != _kind(move.new)
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


def _by_id(items: Sequence[Any]) -> dict[str, Any]:
    """Members of a list by id where each has its own, else by place."""
    ids = [item.get("id") if isinstance(item, dict) else None for item in items]
    own = all(isinstance(id_, str) for id_ in ids) and len({*map(str, ids)}) == len(ids)
    return {str(id_) if own else str(place): item for place, (id_, item) in enumerate(zip(ids, items, strict=True))}


def _notes(old: SavedAnswer, new: SavedAnswer) -> Iterator[AnswerNote]:
    if old.schema != new.schema:
        yield AnswerNote.of(NoteCode.SCHEMA_CHANGED, old=old.schema, new=new.schema)
    for item in (old, new):
        if not item.inputs:
            yield AnswerNote.of(NoteCode.INPUTS_NOT_NAMED, name=item.name)


class Replay:
    """The new answer asked for again, as it was or with one input reverted."""

    def __init__(
        self,
        old: SavedAnswer,
        new: SavedAnswer,
        ask: Ask,
        headline: Sequence[Headline],
        differing_inputs: Sequence[ChangedInput],
    ) -> None:
        self._old, self._new, self._ask, self._headline = old, new, ask, headline
        self._flags, self._parameters = dict(new.part("flags")), dict(new.part("parameters"))
        if any(item.what == "mapping" and not item.why for item in differing_inputs):
            # so that a parameter's effect is not mixed with that of the mapping it leads to
            self._flags |= dict(zip(MAPPING, split(new), strict=True))
        self._by_place = headlines.other_cases(old, new)
        self._names = {*self._figures(new.body)}
        self._now: tuple[float, ...] = ()
        self._choice = ""

    def begin(self) -> AnswerNote | None:
        """Ask again as it was: why the new answer cannot be repeated here, None where it can."""
        body, files = self._ask(self._new.what, self._flags, self._parameters)
        self._now, self._choice = self._values(body), headlines.recommendation(self._new.what, body)
        names = [name for name, *_ in differing(self._new.part("files"), files)]
        others = tuple(name for name in names if not name.startswith("parameters "))
        if others:
            return AnswerNote.of(NoteCode.FILES_CHANGED, name=self._new.name, files=others)
        again = [now / figure.new for now, figure in zip(self._now, self._headline, strict=True)]
        if not all(abs(factor - 1) <= SAME for factor in again):
            return AnswerNote.of(NoteCode.PREDICTION_CHANGED, name=self._new.name)
        return None

    def effects(self, item: ChangedInput) -> tuple[tuple[float, ...], str]:
        """New over old of every headline figure were this the only input that differs, and what else it changes.

        PodsimError where it fails.
        """
        flags, parameters = dict(self._flags), dict(self._parameters)
        if item.parameter:
            parameters[item.parameter] = self._old.part("parameters")[item.parameter]
        for name, value in (item.flags or {}).items():
            if value is None:
                flags.pop(name, None)
            else:
                flags[name] = value
        body, _ = self._ask(self._new.what, flags, parameters)
        choice = headlines.recommendation(self._new.what, body)
        remarks = [f"without this change, the recommendation is {choice}"] if choice != self._choice else []
        for verb, names in (("adds", self._names - self._figures(body).keys()), ("removes", self._removals(body))):
            remarks += [f"{verb} {', '.join(sorted(names))}"] if names else []
        return tuple(now / was for now, was in zip(self._now, self._values(body), strict=True)), "; ".join(remarks)

    def _figures(self, body: Mapping[str, Any]) -> dict[str, headlines.SavedFigure]:
        return headlines.figures(self._new.what, body, by_place=self._by_place)

    def _removals(self, body: Mapping[str, Any]) -> set[str]:
        """Figures of an answer that the older one has too and the newer one has not."""
        return (self._figures(body).keys() & self._figures(self._old.body).keys()) - self._names

    def _values(self, body: Mapping[str, Any]) -> tuple[float, ...]:
        """The headline figures of an answer; NaN for one that it has not."""
        values = self._figures(body)
        return tuple(values[item.name].value if item.name in values else math.nan for item in self._headline)


def _attribute(
    differing_inputs: Sequence[ChangedInput], replay: Replay, causes: Sequence[InputChange], notes: list[AnswerNote]
) -> list[InputChange]:
    """Causes with what each does on its own, where it can be reverted."""
    try:
        doubts = replay.begin()
    except PodsimError as no:
        notes.append(AnswerNote.of(NoteCode.NOT_PREDICTED_AGAIN, message=no.message))
        return [*causes]
    notes += [doubts] if doubts else []
    changes = []
    for item, cause in zip(differing_inputs, causes, strict=True):
        effects: tuple[float, ...] = ()
        why = cause.why
        if not why:
            try:
                effects, why = replay.effects(item)
            except PodsimError as no:
                why = f"cannot be reverted alone: {no.message}"
        changes.append(InputChange(what=cause.what, old=cause.old, new=cause.new, effects=effects, why=why))
    return changes


def _remainder(headline: Sequence[Headline], causes: Sequence[InputChange]) -> tuple[float, ...]:
    """What the causes leave of each headline figure's move, as factors; () where nothing was predicted again."""
    values = [cause.effects for cause in causes if cause.effects]
    if not values:
        return ()
    return tuple((1 + figure.change) / math.prod(each[at] for each in values) for at, figure in enumerate(headline))
