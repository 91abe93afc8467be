"""What moved between two saved answers, as a document."""

from collections.abc import Iterator, Sequence

from podsim.model.difference import Cause, Difference, Moved
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, Heading, Note, Table, Tone

MOST_ROWS = 20
LEAST_FACTOR = 5e-6
MOST_LETTERS = 20
HEADS = ("time to train", "step")
DETAILS = (".low", ".high", "choice.", "memory.ipus", "mapping.layout", "assumptions", "limited_by", "memory_relief")


def answer(found: Difference) -> str:
    """The answer in one line: "time to train +3.2 %, step +1.0 %; 2 inputs differ"."""
    if not found.moved:
        return "identical" if not found.causes else f"no figure moved; {_count(len(found.causes), 'input')} differ"
    moves = [f"{one.path.removesuffix('.value')} {_change(one)}" for one in found.headline]
    told = ", ".join(moves) or f"{_count(len(found.moved), 'value')} moved"
    differ = len(found.causes)
    return f"{told}; {_count(differ, 'input')} {'differs' if differ == 1 else 'differ'}"


def document(found: Difference, *, verbose: bool = False) -> Doc:
    """Figures that moved, then inputs with what each did alone; `verbose` lists every value."""
    groups: list[tuple[Block, ...]] = [(Note(answer(found), "", Tone.STRONG),)]
    if found.moved:
        groups.append((Heading(f"what moved of the {found.what}"), *_moved(found.moved, verbose=verbose)))
    if found.causes:
        groups.append((Heading("which input did it"), *_causes(found)))
    if found.notes:
        groups.append(tuple(Note(note, "·") for note in found.notes))
    return Doc(tuple(groups))


def _moved(moved: Sequence[Moved], *, verbose: bool) -> Iterator[Block]:
    shown = [one for one in moved if verbose or not any(part in one.path for part in DETAILS)]
    rows = shown if verbose else shown[:MOST_ROWS]
    columns = (
        Column("figure", wraps=True),
        Column("old", number=True, priority=1),
        Column("new", number=True, priority=1),
        Column("change", number=True),
    )
    yield Table(columns, tuple((one.path, _text(one.old), _text(one.new), _change(one)) for one in rows))
    if len(rows) < len(moved):
        yield Note(f"and {_count(len(moved) - len(rows), 'more value')}: -v lists them", "", Tone.QUIET)


def _causes(found: Difference) -> Iterator[Block]:
    columns = (
        Column("input", wraps=True),
        Column("old", number=True, priority=2),
        Column("new", number=True, priority=2),
        *(Column(name, number=True) for name in HEADS),
        Column("", wraps=True, priority=1),
    )
    rows = [(cause.what, _text(cause.old), _text(cause.new), *_effects(cause), cause.why) for cause in found.causes]
    if found.remainder:
        effects = tuple(_percent(factor) for factor in found.remainder)
        rows.append(("remainder", "", "", *effects, "together, and in files"))
    yield Table(columns, tuple(rows))
    if found.remainder:
        yield Note("each is put back alone and predicted again; effects multiply", "", Tone.QUIET)


def _effects(cause: Cause) -> tuple[str, ...]:
    return tuple(_percent(factor) for factor in cause.effects) or (numbers.UNKNOWN,) * len(HEADS)


def _percent(factor: float) -> str:
    return "0" if abs(factor - 1) < LEAST_FACTOR else numbers.signed_percent(factor - 1, 2)


def _change(one: Moved) -> str:
    return "" if one.change is None else numbers.signed_percent(one.change, 2)


def _text(value: object) -> str:
    if isinstance(value, float):
        return numbers.significant(value, 5)
    text = numbers.UNKNOWN if value is None else str(value)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
