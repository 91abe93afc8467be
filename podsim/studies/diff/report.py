"""What changed between two saved answers, as a document."""

from collections.abc import Iterator, Sequence

from podsim.report import numbers
from podsim.report.doc import Bar, Bars, Block, Column, Doc, DocTable, Heading, Note, Tone
from podsim.studies.diff import headlines
from podsim.studies.diff.result import ChangedValue, Difference, Headline, InputChange, SingleFigure

MOST_ROWS = 20
LEAST_FACTOR = 5e-6
MOST_LETTERS = 20
MOST_NAMES = 3
_HOW = (
    "each input is reverted on its own and the newer answer predicted again; interaction: joint effect of inputs, and "
    "inputs that cannot be reverted"
)
_NOUNS = {"scale": "Time by machine", "compare": "Time by alternative"}
DETAILS = (".low", ".high", "choice.", "memory.ipus", "mapping.layout", "assumptions", "limited_by", "memory_relief")


def answer(difference: Difference) -> str:
    """The answer in one line: "time to train +3.2 %, step +1.0 %; 2 inputs differ"."""
    if not difference.moved:
        return "identical" if not difference.causes else f"no figure changed; {_inputs(len(difference.causes))}"
    moves = [f"{_column(figure)} {_moved_by(figure.change)}" for figure in difference.headline]
    singles = [f"{_names(names)} {word}" for word, names in _singles(difference) if names]
    text = [", ".join(moves)] if moves else [] if singles else [f"{_count(len(difference.moved), 'value')} changed"]
    return "; ".join((*text, *singles, _inputs(len(difference.causes))))


def _singles(difference: Difference) -> tuple[tuple[str, list[str]], ...]:
    """Names of figures that only the newer answer has, and of those that only the older has."""
    added_names = [figure.name for figure in difference.singles if figure.old is None]
    removed_names = [figure.name for figure in difference.singles if figure.new is None]
    return ("added", added_names), ("removed", removed_names)


def _names(names: Sequence[str]) -> str:
    """Names of a list, of a long one the first with how many follow."""
    return ", ".join(names) if len(names) <= MOST_NAMES else f"{names[0]} and {len(names) - 1} more"


def _inputs(count: int) -> str:
    return f"{_count(count, 'input')} {'differs' if count == 1 else 'differ'}"


def document(difference: Difference, *, verbose: bool = False, charts: bool = False) -> Doc:
    """Headline figures, then inputs with what each did alone; every value that moved where `verbose` or none leads.

    `charts` adds what each input does to the first headline figure.
    """
    groups: list[tuple[Block, ...]] = [(Note(answer(difference), "", Tone.STRONG),)]
    if difference.moved and (difference.headline or difference.singles):
        groups.append(tuple(_headline(difference)))
    if charts:
        groups.append(tuple(_effect_bars(difference)))
    if difference.causes:
        groups.append((Heading("Inputs that changed"), *_causes(difference)))
    if difference.moved and (verbose or not (difference.headline or difference.singles)):
        groups.append(
            (
                Heading(f"Every value of the {difference.what} that changed, by its key under --json"),
                *_change_blocks(difference.moved, verbose=verbose),
            )
        )
    if difference.notes:
        groups.append(tuple(Note(str(note), "·") for note in difference.notes))
    return Doc(tuple(group for group in groups if group))


def _headline(difference: Difference) -> Iterator[Block]:
    columns = (Column("Figure"), *(Column(name, number=True) for name in ("Old", "New", "Change")))
    rows = [
        (
            _case(figure),
            _amount(figure.old, figure, 4),
            _amount(figure.new, figure, 4),
            _moved_by(figure.change),
        )
        for figure in difference.headline
    ]
    for single in difference.singles[: headlines.MOST]:
        amount = _amount(single.value, single, 4)
        pair = (numbers.NO_VALUE, amount, "added") if single.old is None else (amount, numbers.NO_VALUE, "removed")
        rows.append((single.name, *pair))
    was, now = difference.chosen
    if was or now:
        rows.insert(0, ("recommendation", was, now, "" if was == now else "changed"))
    heading = _NOUNS.get(difference.what, f"Main figures of the {difference.what}")
    most = max(len(difference.headline), len(difference.singles))
    full = difference.what in _NOUNS and most >= headlines.MOST
    yield Heading(f"{heading}, {headlines.MOST} at most; --verbose lists all that changed" if full else heading)
    yield DocTable(columns, tuple(rows))


def _column(figure: Headline) -> str:
    """The name of a figure; of a case the label that it has in both answers."""
    was, now = figure.labels
    return was if was and was == now else figure.name


def _case(figure: Headline) -> str:
    """The name of a figure, with both labels where the case is another."""
    was, now = figure.labels
    return _column(figure) if was == now else f"{figure.name}: {was} → {now}"


def _effect_bars(difference: Difference) -> Iterator[Block]:
    """The effect of each input on the first headline figure, and of all together beyond that."""
    if not difference.headline:
        return
    figure = difference.headline[0]
    effects = [(cause.what, figure.effect(cause.effects[0])) for cause in difference.causes if cause.effects]
    if not effects:
        return
    effects += [("interaction", difference.interaction[0])] if difference.remainder else []
    most = max(abs(value) for _, value in effects) or 1.0
    yield Heading(f"Effect of each input on {_column(figure)}, from {_amount(figure.old, figure)}")
    yield Bars(
        tuple(
            Bar(what, abs(value) / most, "", _change_text(value, figure), "", falls=value < 0)
            for what, value in effects
        )
    )


def _amount(value: float, figure: Headline | SingleFigure, figures: int = 3) -> str:
    """A time in the unit in which the figure reads best, money, or a number in the unit of the figure."""
    if figure.unit == "USD":
        return f"{'−' if value < 0 else ''}{numbers.money(abs(value), figures=figures)}"
    if figure.unit == "samples":
        return f"{'−' if value < 0 else ''}{abs(value):,.0f} samples"
    if figure.unit != "s":
        return f"{numbers.significant(value, figures)} {figure.unit}"
    values = [each for each in (figure.old, figure.new) if each is not None]
    return numbers.scale(values, numbers.TIME).text(value, figures)


def _change_blocks(changed_values: Sequence[ChangedValue], *, verbose: bool) -> Iterator[Block]:
    visible_values = [move for move in changed_values if verbose or not any(part in move.path for part in DETAILS)]
    rows = visible_values if verbose else visible_values[:MOST_ROWS]
    columns = (
        Column("Key", wraps=True),
        Column("Old", number=True, priority=1),
        Column("New", number=True, priority=1),
        Column("Change", number=True),
    )
    yield DocTable(columns, tuple((row.path, _text(row.old), _text(row.new), _change(row)) for row in rows))
    if len(rows) < len(changed_values):
        yield Note(f"and {_count(len(changed_values) - len(rows), 'more value')}", "", Tone.QUIET, hint="-v lists them")


def _causes(difference: Difference) -> Iterator[Block]:
    last = len(difference.headline) - 1
    columns = (
        Column("Input", wraps=True),
        Column("Old → new", wraps=True),
        *(
            Column(_column(figure), number=True, priority=at if 0 < at < last else 0)  # the middle is left out first
            for at, figure in enumerate(difference.headline)
        ),
        *([Column("", wraps=True)] if any(cause.why for cause in difference.causes) else []),
    )
    rows = [
        (
            cause.what,
            f"{_value(cause.old)} → {_value(cause.new)}",
            *_effects(cause, difference.headline),
            *([cause.why] if len(columns) > 2 + len(difference.headline) else []),
        )
        for cause in difference.causes
    ]
    if difference.remainder:
        values = zip(difference.interaction, difference.headline, strict=True)
        cells = ("interaction", "", *(_change_text(value, figure) for value, figure in values))
        rows.append((*cells, *[""] * (len(columns) - len(cells))))
    yield DocTable(columns, tuple(rows))
    if difference.remainder:
        yield Note(_HOW, "", Tone.QUIET)


def _value(text: str) -> str:
    """The value of an input, or that an answer has none."""
    return "not given" if text == numbers.NO_VALUE else _text(text)


def _effects(cause: InputChange, headline: Sequence[Headline]) -> tuple[str, ...]:
    """What an input adds to each headline figure, in its unit and as a share of what it is without."""
    pairs = zip(cause.effects, headline, strict=False)
    effects = tuple(f"{_change_text(figure.effect(factor), figure)} ({_percent(factor)})" for factor, figure in pairs)
    return effects or (numbers.NO_VALUE,) * len(headline)


def _change_text(value: float, figure: Headline) -> str:
    """A change of a figure in the unit of the figure; what would be rounding is 0."""
    if abs(value) < LEAST_FACTOR * abs(figure.new):
        return "0"
    text = _amount(value, figure)
    return text if text.startswith(("−", numbers.NO_VALUE)) else f"+{text}"


def _percent(factor: float) -> str:
    return "0 %" if abs(factor - 1) < LEAST_FACTOR else numbers.signed_percent(factor - 1, 1)


def _moved_by(change: float) -> str:
    """A change in per cent, with two decimals below 1 %."""
    return numbers.signed_percent(change, 2 if abs(change) < 0.01 else 1)


def _change(move: ChangedValue) -> str:
    return "" if move.change is None else _moved_by(move.change)


def _text(value: object) -> str:
    if isinstance(value, float):
        return numbers.significant(value, 5)
    if isinstance(value, dict | list):
        return f"{{{_count(len(value), 'key')}}}" if isinstance(value, dict) else f"[{_count(len(value), 'value')}]"
    text = numbers.NO_VALUE if value is None else str(value)
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}…"


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
