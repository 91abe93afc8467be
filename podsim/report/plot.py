"""A chart in characters: plotille draws the curves in Braille, the axes are ours."""

import math
from collections.abc import Iterator, Sequence
from itertools import count, pairwise

from podsim.report import numbers
from podsim.report.doc import Chart, ChartAxis, DocSeries

WIDEST = 72
NARROWEST = 24
MARKS = "●○◆◇▲△■□"
SEVERAL, PLAIN_SEVERAL = "◉", "&"  # points of several series in one cell
PLAIN_MARKS = "*o+x#@%&"
LIMIT_MARKS = "╌┆"  # of a value of the y axis, and of the x axis
PLAIN_LIMIT_MARKS = "-:"
ROOM = 0.04  # share of the range left free at each end, so that no point sits on an axis
TWICE = math.log10(2)
DECADES = (0.01, 0.02, 0.05, 0.1, TWICE / 2, 0.2, 0.25, TWICE, 0.4, 0.5)  # heights of a row on a logarithm, or 1, 2, …
TWO_DIGITS = 0.1  # decades a row from which two digits tell the rows apart


def lines(chart: Chart, width: int, *, unicode: bool) -> list[str]:
    """The chart in at most `width` columns: title with what the marks mean, curves with marked points, axes.

    Without Unicode only the marks are drawn. Points that an axis cannot show (zero on a logarithm) are left out.
    """
    visible_points = [_points_on_axes(series, chart) for series in chart.series]
    everything = [point for points in visible_points for point in points]
    if not everything:
        return [chart.title]
    frame_x = _frame([x for x, _ in everything])
    frame_y, y_ticks = _rows(chart.y, [y for _, y in everything], chart.rows)
    margin = max((len(text) for _, text in y_ticks), default=0)
    columns = max(NARROWEST, min(WIDEST, width - margin - 3))
    grid = _curves(chart, visible_points, (columns, frame_x, frame_y), unicode=unicode)
    limits = _limits(grid, chart, (frame_x, frame_y), unicode=unicode)
    marks = MARKS if unicode else PLAIN_MARKS
    of_cell: dict[tuple[int, int], set[int]] = {}
    for index, points in enumerate(visible_points):
        for x, y in points:
            of_cell.setdefault((_row(y, frame_y, chart.rows), _column(x, frame_x, columns)), set()).add(index)
    overlap_mark = SEVERAL if unicode else PLAIN_SEVERAL
    for (row, column), indices in of_cell.items():
        grid[row][column] = marks[min(indices) % len(marks)] if len(indices) == 1 else overlap_mark
    meanings = [f"{marks[i % len(marks)]} {series.label}" for i, series in enumerate(chart.series)]
    meanings += [f"{overlap_mark} overlap"] if any(len(indices) > 1 for indices in of_cell.values()) else []
    legend = "   ".join(meanings)
    return [
        *_title_lines(chart.title, legend, limits, width),
        *_draw_frame(grid, y_ticks, frame_y, margin),
        *_below(chart.x, frame_x, columns, margin, width),
    ]


def _title_lines(title: str, legend: str, limits: Sequence[str], width: int) -> list[str]:
    """The title and what marks and lines mean, on as few lines as the width allows."""
    together = "   ".join((legend, *limits))
    if len(title) + len("   ") + len(together) <= width:
        return [f"{title}   {together}"]
    return [title, together] if len(together) <= width else [title, legend, *limits]


def _limits(
    grid: list[list[str]],
    chart: Chart,
    frames: tuple[tuple[float, float], tuple[float, float]],
    *,
    unicode: bool,
) -> list[str]:
    """Draw each limit through the cells that nothing stands in, and return what the lines mean.

    One that lies outside what is drawn is only named, with its value.
    """
    result = []
    for limit in chart.limits:
        axis, frame = (chart.x, frames[0]) if limit.vertical else (chart.y, frames[1])
        mark = LIMIT_MARKS[limit.vertical] if unicode else PLAIN_LIMIT_MARKS[limit.vertical]
        is_inside = not (axis.log and limit.at <= 0) and frame[0] <= _place(limit.at, axis) <= frame[1]
        result.append(f"{mark} {limit.label}" if is_inside else f"{limit.label} ({_text(limit.at)}, outside)")
        if not is_inside:
            continue
        place = _place(limit.at, axis)
        if limit.vertical:
            cells = [(row, _column(place, frame, len(grid[0]))) for row in range(len(grid))]
        else:
            cells = [(_row(place, frame, len(grid)), column) for column in range(len(grid[0]))]
        for row, column in cells:
            if grid[row][column] == " ":
                grid[row][column] = mark
    return result


def _place(value: float, axis: ChartAxis) -> float:
    return math.log10(value) if axis.log else value


def _points_on_axes(series: DocSeries, chart: Chart) -> list[tuple[float, float]]:
    """The points of a series on the axes' own scales, less those that have no place there."""
    return [
        (_place(x, chart.x), _place(y, chart.y))
        for x, y in series.points
        if math.isfinite(x) and math.isfinite(y) and not (chart.x.log and x <= 0) and not (chart.y.log and y <= 0)
    ]


def _frame(values: Sequence[float]) -> tuple[float, float]:
    low, high = min(values), max(values)
    room = ROOM * (high - low) or abs(high) * ROOM or 1.0
    return low - room, high + room


def _rows(axis: ChartAxis, places: Sequence[float], rows: int) -> tuple[tuple[float, float], list[tuple[float, str]]]:
    """What the rows of a chart span, on the axis's own scale, and every other row with the value in its middle.

    Rows are few: a label away from the middle of its row would be read as the value of a point that stands there.
    """
    low, high = min(places), max(places)
    size = next(size for size in _heights(axis, low, high, rows) if round(high / size) - round(low / size) < rows)
    free = rows - 1 - (round(high / size) - round(low / size))
    first = round(low / size) - free // 2
    if low >= 0 and not axis.log:
        first = max(first, 0)
    labelled_places = [number * size for number in range(first, first + rows) if number % 2 == 0]
    frame = ((first - 0.5) * size, (first + rows - 0.5) * size)
    if axis.log:
        digits = 2 if size >= TWO_DIGITS else 3
        return frame, [(place, _text(float(f"{10**place:.{digits}g}"))) for place in labelled_places]
    decimals = max(0, -math.floor(math.log10(size)))
    return frame, [(place, f"{place + 0.0:,.{decimals}f}") for place in labelled_places]


def _heights(axis: ChartAxis, low: float, high: float, rows: int) -> Iterator[float]:
    """Heights that a row may have, ascending, the first at most what all of the range needs."""
    if axis.log:
        yield from DECADES
    span = (high - low) / rows or abs(high) * ROOM or 1.0
    least = 0 if axis.log else math.floor(math.log10(span))
    yield from (lead * 10.0**power for power in count(least) for lead in (1, 2, 5))


def _row(place: float, frame: tuple[float, float], rows: int) -> int:
    return rows - 1 - _cell(place, frame, rows, 4)


def _column(place: float, frame: tuple[float, float], columns: int) -> int:
    return _cell(place, frame, columns, 2)


def _cell(place: float, frame: tuple[float, float], cells: int, dots: int) -> int:
    """The cell of a place, with the rounding of the curves, whose cells have so many dots that way."""
    dot = round((place - frame[0]) / (frame[1] - frame[0]) * cells * dots)
    return min(cells - 1, max(0, dot // dots))


def _curves(
    chart: Chart,
    visible_points: Sequence[Sequence[tuple[float, float]]],
    size: tuple[int, tuple[float, float], tuple[float, float]],
    *,
    unicode: bool,
) -> list[list[str]]:
    columns, (left_edge, right_edge), (low, high) = size
    if not unicode:
        return [[" "] * columns for _ in range(chart.rows)]
    from plotille import Canvas

    canvas = Canvas(columns, chart.rows, left_edge, low, right_edge, high)
    for item, points in zip(chart.series, visible_points, strict=True):
        if item.joined:
            for (x0, y0), (x1, y1) in pairwise(points):
                canvas.line(x0, y0, x1, y1)
    blank = "\u2800"  # a Braille cell without dots
    return [list(line.replace(blank, " ").ljust(columns)[:columns]) for line in canvas.plot().split("\n")]


def _ticks(axis: ChartAxis, frame: tuple[float, float], most: int) -> list[tuple[float, str]]:
    """Where an axis is named, on its own scale, and how."""
    values = [value for value in axis.ticks or _round(axis, frame) if frame[0] <= _place(value, axis) <= frame[1]]
    every = math.ceil(len(values) / most) if len(values) > most else 1
    return [(_place(value, axis), _text(value)) for value in values[::every]]


def _text(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 and value == round(value) else numbers.short(value, 3)


def _round(axis: ChartAxis, frame: tuple[float, float]) -> list[float]:
    """Round values inside a frame: 1, 2, 5 times powers of ten on a logarithm, equal steps otherwise."""
    low, high = frame
    if axis.log:
        decades = range(math.floor(low), math.ceil(high) + 1)
        return [lead * 10.0**decade for decade in decades for lead in (1, 2, 5)]
    size = 10.0 ** math.floor(math.log10((high - low) / 3))
    step = next(size * lead for lead in (1, 2, 5, 10) if (high - low) / (size * lead) <= 5)
    return [step * count for count in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _draw_frame(
    grid: Sequence[Sequence[str]], ticks: Sequence[tuple[float, str]], frame: tuple[float, float], margin: int
) -> Iterator[str]:
    label_by_row = {_row(place, frame, len(grid)): text for place, text in ticks}
    for index, row in enumerate(grid):
        yield f"{label_by_row.get(index, ''):>{margin}} {'┤' if index in label_by_row else '│'}{''.join(row)}"


def _below(axis: ChartAxis, frame: tuple[float, float], columns: int, margin: int, width: int) -> list[str]:
    """The axis with its ticks; what it measures beside them, or below where that would be too wide."""
    rule, names = ["─"] * columns, [" "] * (columns + margin + 2)
    free = 0
    for place, text in _ticks(axis, frame, most=columns // 8):
        at = _column(place, frame, columns)
        start = max(0, margin + 2 + at - len(text) // 2)
        if start < free or start + len(text) > len(names):
            continue
        rule[at] = "┬"
        names[start : start + len(text)] = text
        free = start + len(text) + 1
    frame_line, names_line = f"{'':>{margin}} └{''.join(rule)}", f"{''.join(names).rstrip()}  {axis.title}"
    if len(names_line) <= width:
        return [frame_line, names_line]
    return [frame_line, "".join(names).rstrip(), f"{axis.title:>{len(names)}}"]
