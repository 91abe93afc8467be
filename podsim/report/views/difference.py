"""What moved between two saved answers, as a document."""

from collections.abc import Iterator, Sequence

from podsim.model.difference import Difference, InputChange, Moved
from podsim.report import numbers
from podsim.report.doc import Block, Column, Doc, DocTable, Heading, Note, Tone

MOST_ROWS = 20
LEAST_FACTOR = 5e-6
MOST_LETTERS = 20
HEADS = ("time to train", "step")
DETAILS = (".low", ".high", "choice.", "memory.ipus", "mapping.layout", "assumptions", "limited_by", "memory_relief")


def answer(difference: Difference) -> str:
    """The answer in one line: "time to train +3.2 %, step +1.0 %; 2 inputs differ"."""
    if not difference.moved:
        return (
            "identical"
            if not difference.causes
            else f"no figure moved; {_count(len(difference.causes), 'input')} differ"
        )
    moves = [f"{move.path.removesuffix('.value')} {_change(move)}" for move in difference.headline]
    text = ", ".join(moves) or f"{_count(len(difference.moved), 'value')} moved"
    differ = len(difference.causes)
    return f"{text}; {_count(differ, 'input')} {'differs' if differ == 1 else 'differ'}"


def document(difference: Difference, *, verbose: bool = False) -> Doc:
    """Figures that moved, then inputs with what each did alone; `verbose` lists every value."""
    groups: list[tuple[Block, ...]] = [(Note(answer(difference), "", Tone.STRONG),)]
    if difference.moved:
        groups.append((Heading(f"what moved of the {difference.what}"), *_moved(difference.moved, verbose=verbose)))
    if difference.causes:
        groups.append((Heading("which input did it"), *_causes(difference)))
    if difference.notes:
        groups.append(tuple(Note(note, "·") for note in difference.notes))
    return Doc(tuple(groups))


def _moved(moved: Sequence[Moved], *, verbose: bool) -> Iterator[Block]:
    shown = [move for move in moved if verbose or not any(part in move.path for part in DETAILS)]
    rows = shown if verbose else shown[:MOST_ROWS]
    columns = (
        Column("figure", wraps=True),
        Column("old", number=True, priority=1),
        Column("new", number=True, priority=1),
        Column("change", number=True),
    )
    yield DocTable(columns, tuple((row.path, _text(row.old), _text(row.new), _change(row)) for row in rows))
    if len(rows) < len(moved):
        yield Note(f"and {_count(len(moved) - len(rows), 'more value')}: -v lists them", "", Tone.QUIET)


def _causes(difference: Difference) -> Iterator[Block]:
    columns = (
        Column("input", wraps=True),
        Column("old", number=True, priority=2),
        Column("new", number=True, priority=2),
        *(Column(name, number=True) for name in HEADS),
        Column("", wraps=True, priority=1),
    )
    rows = [
        (cause.what, _text(cause.old), _text(cause.new), *_effects(cause), cause.why) for cause in difference.causes
    ]
    if difference.remainder:
        effects = tuple(_percent(factor) for factor in difference.remainder)
        rows.append(("remainder", "", "", *effects, "together, and in files"))
    yield DocTable(columns, tuple(rows))
    if difference.remainder:
        yield Note("each is put back alone and predicted again; effects multiply", "", Tone.QUIET)


def _effects(cause: InputChange) -> tuple[str, ...]:
    return tuple(_percent(factor) for factor in cause.effects) or (numbers.UNKNOWN,) * len(HEADS)


def _percent(factor: float) -> str:
    return "0" if abs(factor - 1) < LEAST_FACTOR else numbers.signed_percent(factor - 1, 2)


def _change(move: Moved) -> str:
    return "" if move.change is None else numbers.signed_percent(move.change, 2)


def _text(value: object) -> str:
    if isinstance(value, float):
        return numbers.significant(value, 5)
    text = numbers.UNKNOWN if value is None else str(value)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
