"""A document as text for a terminal, a pipe or a file."""

import io
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING

from podsim.report.doc import Bar, Bars, Block, Chart, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.escape import escape_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table as RichTable

INDENT = 2
GLUE = "\ue000"  # stands for a space that no line breaks at, until the lines are drawn
OF_NUMBER = re.compile(
    r"(?<=\d) (?=(?:%|[kMGT]?(?:B|FLOP|bit)(?:/s)?|[kMGT]?Hz|[kM]?W|[kMG]?Wh|[nµum]?s|min|h|days|years|[KMGTP])\b|%)"
)
IN_TITLE = re.compile(r" |(?<=\w-)(?=\w)")  # where a title of a column may go on in a second line
GAP = 2
LONGEST_BAR = 36
SHORTEST_BAR = 6
LEAST_WRAPPED = 24  # cells below which prose is unreadable, so that another column leaves first
LEAST_FOLDED = 12  # of a name
ASCII = str.maketrans(
    {
        "–": "-",
        "−": "-",
        "×": "x",
        "·": "-",
        "…": "...",
        "▸": ">",
        "→": "->",
        "±": "+-",
        "σ": "sigma",
        "≤": "<=",
        "≥": ">=",
        "█": "#",
        "│": "|",
        "└": "\\",
        "╰": "`",
        "µ": "u",
        "²": "2",
        "Δ": "delta ",
        "χ": "chi",
        "“": '"',
        "”": '"',
        "’": "'",
        "┤": "+",
        "─": "-",
        "┬": "+",
        "╌": "-",
        "┆": ":",
    }
)
EIGHTHS = " ▏▎▍▌▋▊▉"
THINNEST = "▏"
STYLES = {Tone.PLAIN: "", Tone.QUIET: "dim", Tone.WARNING: "yellow", Tone.STRONG: "bold"}


@dataclass(frozen=True, slots=True)
class Look:
    """What the output can show: columns of text, colour, characters beyond ASCII."""

    width: int = 100
    colour: bool = False
    unicode: bool = True

    def clean(self, text: str) -> str:
        """`text` with nothing in it that this output cannot show, control characters included."""
        safe = escape_text(text)
        return safe if self.unicode else safe.translate(ASCII).encode("ascii", "replace").decode()


def render(doc: Doc, look: Look) -> str:
    """The document as text, each line at most `look.width` wide where its words and numbers allow it."""
    groups = [[part for block in group for part in _block(block, look)] for group in doc.groups]
    text = "\n\n".join("\n".join(lines) for lines in groups if lines)
    return f"\n{text}\n"


def _block(block: Block, look: Look) -> list[str]:
    match block:
        case Heading():
            return _paragraph(block.text, "", "bold", look)
        case Note():
            return _paragraph(block.on_screen, block.label, STYLES[block.tone], look)
        case Facts():
            return _facts([_with_hint(row) for row in block.rows], look)
        case Bars():
            return _bars(block, look)
        case DocTable():
            return _table(block, look)
        case Chart():
            return _chart(block, look)


def _chart(chart: Chart, look: Look) -> list[str]:
    from podsim.report.plot import lines

    chart_lines = lines(chart, look.width - INDENT, unicode=look.unicode)
    return [" " * INDENT + look.clean(line).rstrip() for line in chart_lines]


def console(look: Look, file: IO[str] | None = None) -> "Console":
    """A rich console that does exactly what `look` says, whatever the environment holds."""
    from rich.console import Console

    return Console(
        file=file or io.StringIO(),
        width=look.width,
        force_terminal=look.colour,
        color_system="standard" if look.colour else None,
        no_color=not look.colour,
        legacy_windows=False,
        highlight=False,
        markup=False,
        emoji=False,
        _environ={},
    )


def _draw(table: "RichTable", look: Look) -> list[str]:
    out = io.StringIO()
    console(Look(max(look.width, 10**4), look.colour, look.unicode), out).print(table)  # widths are set by column
    return [" " * INDENT + line.rstrip() for line in out.getvalue().replace(GLUE, " ").splitlines()]


def _keep_units(text: str) -> str:
    """The text with its numbers and their units on one line, wherever it folds; values in quotes may fold."""
    return '"'.join(OF_NUMBER.sub(GLUE, part) if not at % 2 else part for at, part in enumerate(text.split('"')))


def _grid() -> "RichTable":
    from rich.table import Table as RichTable

    return RichTable(box=None, show_header=False, pad_edge=False, padding=(0, GAP, 0, 0), expand=False)


def _cells(texts: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, texts), default=0)


def _paragraph(text: str, label: str, style: str, look: Look) -> list[str]:
    from rich.text import Text

    grid = _grid()
    if label := look.clean(label):
        grid.add_column(width=_cells([label]), no_wrap=True)
    text = _keep_units(look.clean(text))
    room = look.width - INDENT - (_cells([label]) + GAP if label else 0)
    grid.add_column(width=max(LEAST_WRAPPED, min(room, _cells([text]))), overflow="fold")
    grid.add_row(*([Text(label, "dim")] if label else []), Text(text, style))
    return _draw(grid, look)


def _facts(rows: Sequence[Fact], look: Look) -> list[str]:
    """Labels aligned; numbers with their remarks in columns, a row without a number as text to the edge."""
    clean = look.clean
    labels = [clean(row.label) for row in rows]
    values = _align([(clean(row.number), clean(row.unit)) for row in rows])
    numeric_rows = [row for row in rows if row.number or row.unit]
    remarks, seconds = [clean(row.remark) for row in numeric_rows], [clean(row.second) for row in numeric_rows]
    widths = _cells(labels), _cells(values), _cells(remarks)
    room = look.width - INDENT - sum(widths) - GAP * len(widths)
    if seconds and room >= min(LEAST_WRAPPED, _cells(seconds)):
        return _fact_lines(rows, labels, values, (*widths, min(room, _cells(seconds))), look)
    room = look.width - INDENT - sum(widths[:2]) - GAP * 2
    if numeric_rows and room >= min(LEAST_WRAPPED, max(widths[2], _cells(seconds))):
        return _fact_lines([_one_remark(row) for row in rows], labels, values, (*widths[:2], room), look)
    stacked_rows = [part for row in rows for part in _stack(row)]
    return _fact_lines(
        stacked_rows, [clean(row.label) for row in stacked_rows], [""] * len(stacked_rows), widths[:1], look
    )


def _with_hint(row: Fact) -> Fact:
    """The row with what to type as its last remark."""
    if not row.hint:
        return row
    if row.second:
        return replace(row, second=f"{row.second} · {row.hint}")
    return replace(row, remark=" · ".join(filter(None, (row.remark, row.hint))))


def _one_remark(row: Fact) -> Fact:
    return replace(row, remark=" · ".join(filter(None, (row.remark, row.second))), second="")


def _stack(row: Fact) -> Sequence[Fact]:
    """The number as a row of its own, its remarks below."""
    number = f"{row.number} {row.unit}".strip()
    remark = _one_remark(row).remark
    if not number:
        return (Fact(row.label, "", remark=remark, strong=row.strong),)
    below = (Fact("", "", second=remark),) if remark else ()
    return (Fact(row.label, "", remark=number, strong=row.strong), *below)


def _fact_lines(
    rows: Sequence[Fact], labels: Sequence[str], values: Sequence[str], widths: Sequence[int], look: Look
) -> list[str]:
    """Each row in columns of these widths, of which the last folds; one without a value from the second column on."""
    from rich.text import Text

    lines: list[str] = []
    for row, label, value in zip(rows, labels, values, strict=True):
        grid = _grid()
        grid.add_column(width=widths[0], no_wrap=True)
        strong = "bold" if row.strong else ""
        remark, second = _keep_units(look.clean(row.remark)), _keep_units(look.clean(row.second))
        texts = [Text(remark, "" if value else strong), Text(second, "dim")]
        if value:
            for width in widths[1:-1]:
                grid.add_column(width=width, no_wrap=True)
            grid.add_column(width=widths[-1], overflow="fold")
            grid.add_row(Text(label, "dim"), Text(value, strong), *texts[: len(widths) - 2])
        else:
            grid.add_column(width=max(LEAST_WRAPPED, look.width - INDENT - GAP - widths[0]), overflow="fold")
            grid.add_row(Text(label, "dim"), Text(look.clean(" · ")).join(text for text in texts if text))
        lines += _draw(grid, look)
    return lines


def _align(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Numbers right aligned in front of their units; what has no unit and is no number starts where numbers start."""
    widest = _cells([number for number, unit in pairs if unit])
    return [
        f"{' ' * (widest - _cells([number]))}{number} {unit}" if unit or number[:1].isdigit() else number
        for number, unit in pairs
    ]


def _bars(bars: Bars, look: Look) -> list[str]:
    from rich.text import Text

    clean = look.clean
    columns = [
        [clean(text) for text in column]
        for column in zip(*((r.label, r.share_text, r.text, r.remark) for r in bars.rows), strict=True)
    ]
    widths = [_cells(column) for column in columns]
    if INDENT + sum(widths) + 4 * GAP + 2 * SHORTEST_BAR > look.width:
        columns, widths = columns[:3], widths[:3]
    room = min(LONGEST_BAR, look.width - INDENT - sum(widths) - len(widths) * GAP)
    longest = max((bar.until for bar in bars.rows), default=0.0)
    grid = _grid()
    grid.add_column(width=widths[0], no_wrap=True)
    if room >= SHORTEST_BAR:
        grid.add_column(width=room, no_wrap=True)
    for width, justify in zip(widths[1:], ("right", "right", "left"), strict=False):
        grid.add_column(width=width, no_wrap=True, justify=justify)  # type: ignore[arg-type]
    for row, (label, *rest) in zip(bars.rows, zip(*columns, strict=True), strict=True):
        colour = "green" if row.falls else "cyan"
        bar = [Text(_from(row, longest or 1.0, room, look), colour)] if room >= SHORTEST_BAR else []
        grid.add_row(label, *bar, *map(Text, rest))
    return _draw(grid, look)


def _from(row: Bar, longest: float, room: int, look: Look) -> str:
    """A bar that starts on a whole column; one too short for a column where it starts shows as the thinnest."""
    before = min(math.floor(row.start / longest * room + 0.5), room - 1) if row.start else 0
    bar_text = _bar(row.share / longest, room, look)[: room - before]
    return " " * before + (bar_text or (THINNEST if row.start and look.unicode else ""))


def _bar(share: float, room: int, look: Look) -> str:
    if not look.unicode:
        return "#" * math.floor(share * room + 0.5)
    whole, eighths = divmod(round(share * room * 8), 8)
    return "█" * whole + EIGHTHS[eighths].strip()


def _table(table: DocTable, look: Look) -> list[str]:
    from rich.text import Text

    cells = [[look.clean(cell) for cell in row] for row in table.rows]
    titles = [look.clean(column.title) for column in table.columns]
    each = _columns(cells, len(titles))
    lead = 1 + GAP if table.marked is not None else 0
    heads = titles
    widths = [_cells([title, *column]) for title, column in zip(titles, each, strict=True)]
    if table.stacks and sum(widths) + GAP * (len(widths) - 1) > look.width - INDENT - lead:
        heads = [IN_TITLE.sub("\n", title, count=1) for title in titles]
        widths = [_cells([*head.split("\n"), *column]) for head, column in zip(heads, each, strict=True)]
    visible_columns, column_widths = _fit(table.columns, widths, look.width - INDENT - lead)
    grid = _grid()
    if lead:
        grid.add_column(width=1, no_wrap=True)
    for index in visible_columns:
        column = table.columns[index]
        folds = column.wraps or column_widths[index] < widths[index]
        grid.add_column(
            width=column_widths[index],
            no_wrap=not folds,
            justify="right" if column.number else "left",
            overflow="fold" if folds else "crop",
            vertical="bottom" if heads is not titles else "top",
        )
    mark = look.clean("▸")
    grid.add_row(*([""] if lead else []), *(Text(heads[index], "dim") for index in visible_columns))
    for number, row in enumerate(cells):
        is_marked = number == table.marked
        first = [mark if is_marked else ""] if lead else []
        grid.add_row(*first, *(Text(_keep_units(row[index]), "bold" if is_marked else "") for index in visible_columns))
    legend = [
        _name_dropped_columns(titles, visible_columns),
        _column_meanings([table.columns[index] for index in visible_columns]),
    ]
    return _draw(grid, look) + (_paragraph(" · ".join(filter(None, legend)), "", "dim", look) if any(legend) else [])


def _columns(rows: Sequence[Sequence[str]], count: int) -> list[list[str]]:
    return [[row[index] for row in rows] for index in range(count)]


def _fit(columns: Sequence[Column], widths: Sequence[int], room: int) -> tuple[list[int], list[int]]:
    """Which columns stay, and how wide: wrapping ones give way, then columns leave by priority, then names fold."""
    visible_columns, column_widths = list(range(len(columns))), list(widths)

    def least(index: int) -> int:
        return min(widths[index], LEAST_WRAPPED) if columns[index].wraps else widths[index]

    while sum(least(index) + GAP for index in visible_columns) - GAP > room:
        leaving = max(visible_columns, key=lambda index: (columns[index].priority, index))
        if columns[leaving].priority == 0:
            break
        visible_columns.remove(leaving)
    spare = room - sum(least(index) + GAP for index in visible_columns) + GAP
    for index in visible_columns:
        column_widths[index] = min(widths[index], least(index) + max(spare, 0))
        spare -= column_widths[index] - least(index)
    names = [index for index in visible_columns if not columns[index].number]
    if spare < 0 and names:
        longest = max(names, key=lambda index: column_widths[index])
        column_widths[longest] = max(column_widths[longest] + spare, LEAST_FOLDED)
    return visible_columns, column_widths


def _column_meanings(columns: Sequence[Column]) -> str:
    """What the columns that stay mean, once each."""
    return " ".join(dict.fromkeys(column.note for column in columns if column.note))


def _name_dropped_columns(titles: Sequence[str], visible_columns: Sequence[int]) -> str:
    """The columns for which there is no room."""
    dropped_titles = [title for index, title in enumerate(titles) if index not in visible_columns]
    return (
        f"left out at this width: {', '.join(name.partition(', ')[0] for name in dropped_titles)}"
        if dropped_titles
        else ""
    )
