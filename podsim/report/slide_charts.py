"""Charts of slides, drawn by the program that shows them: bars, lines, points with error bars and limits."""

import math
from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

from podsim.report.doc import Bars, Chart, ChartAxis, DocSeries, ReferenceLine
from podsim.report.escape import escape_text
from podsim.report.figure import COLOURS, LIMIT
from podsim.report.office_file import describe

FONT: Final = "Arial"
BAR, FALLS = COLOURS[0], COLOURS[2]
MARKERS: Final = ("CIRCLE", "SQUARE", "DIAMOND", "TRIANGLE", "X", "PLUS")
PLACES: Final = ("RIGHT", "LEFT")
"""Where names stand at the points of a series, so that those of two rarely meet."""
TEXT_PT, NAME_PT = 12, 10
ROUNDING: Final = 1e-9
WIDE_RANGE: Final = 50.0
"""Ratio of the ends of a logarithmic axis from which on it counts in powers of ten, below in powers of two."""

Place = tuple[float, float, float, float]
"""Left, top, width and height of a shape [in]."""


class _Ends(NamedTuple):
    """Ends of an axis; `base` is that of its logarithm, None of a linear one."""

    low: float
    high: float
    base: int | None


def add_bars(slide: Any, block: Bars, title: str, place: Place) -> None:  # noqa: ANN401  (a slide of python-pptx)
    """Add bars to a slide, each from where it starts; `title` is for who cannot see them."""
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    rows = block.rows[::-1]  # the first is drawn lowest
    data = CategoryChartData()
    data.categories = [escape_text(", ".join(filter(None, (row.label, row.share_text, row.text)))) for row in rows]
    data.add_series("start", [round(100 * row.start, 6) for row in rows])
    data.add_series("share, %", [round(100 * row.share, 6) for row in rows])
    shape = slide.shapes.add_chart(XL_CHART_TYPE.BAR_STACKED, *map(Inches, place), data)
    describe(shape._element.nvGraphicFramePr.cNvPr, block, title)  # noqa: SLF001  (python-pptx has no name for it)
    chart = shape.chart
    _font(chart)
    chart.has_legend = False
    chart.value_axis.visible = False
    chart.value_axis.has_major_gridlines = False
    plot = chart.plots[0]
    plot.gap_width, plot.overlap = 40, 100
    plot.series[0].format.fill.background()
    _fill(plot.series[1].format, BAR)
    for at, row in enumerate(rows):
        if row.falls:
            _fill(plot.series[1].points[at].format, FALLS)


def add_chart(slide: Any, block: Chart, title: str, place: Place) -> None:  # noqa: ANN401
    """Add series over two axes to a slide, with their intervals as error bars, names of points, and limits as lines."""
    from pptx.chart.data import XyChartData
    from pptx.enum.chart import XL_CHART_TYPE, XL_LEGEND_POSITION
    from pptx.util import Inches

    indexed_series = _longest_first(block)
    across, up = (
        _ends(block, [series for _, series in indexed_series], vertical=vertical) for vertical in (False, True)
    )
    data = XyChartData()
    for _, series in indexed_series:
        _add_points(data, series.label or block.y.title, series.points)
    for limit in block.limits:
        _add_points(data, limit.label, _line(limit, across, up))
    shape = slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER_LINES, *map(Inches, place), data)
    describe(shape._element.nvGraphicFramePr.cNvPr, block, title)  # noqa: SLF001
    chart = shape.chart
    _font(chart)
    chart.has_title = False
    chart.has_legend = len(indexed_series) + len(block.limits) > 1
    if chart.has_legend:
        chart.legend.position = XL_LEGEND_POSITION.BOTTOM
        chart.legend.include_in_layout = False
    for (at, series), item in zip(indexed_series, chart.plots[0].series, strict=False):
        _draw_series(item, series, at)
    for item in [*chart.plots[0].series][len(indexed_series) :]:
        _draw_limit(item)
    _draw_axis(chart.category_axis, block.x, across)
    _draw_axis(chart.value_axis, block.y, up)


def _longest_first(chart: Chart) -> list[tuple[int, DocSeries]]:
    """The series that have points, with their place in the chart.

    The longest comes first: LibreOffice shows no series before a longer one.
    """
    visible = [(at, _visible(series, chart)) for at, series in enumerate(chart.series)]
    return sorted((item for item in visible if item[1].points), key=lambda item: -len(item[1].points))


def _visible(series: DocSeries, chart: Chart) -> DocSeries:
    """A series without the points that an axis cannot show."""
    visible_points = [
        at
        for at, (x, y) in enumerate(series.points)
        if math.isfinite(x) and math.isfinite(y) and not (chart.x.log and x <= 0) and not (chart.y.log and y <= 0)
    ]
    return DocSeries(
        series.label,
        tuple(series.points[at] for at in visible_points),
        joined=series.joined,
        band=tuple(series.band[at] for at in visible_points if series.band),
        names=tuple(series.names[at] for at in visible_points if series.names),
        marked=series.marked,
    )


def _add_points(data: Any, label: str, points: Sequence[tuple[float, float]]) -> None:  # noqa: ANN401
    series = data.add_series(escape_text(label))
    for x, y in points:
        series.add_data_point(x, y)


def _ends(chart: Chart, visible_series: Sequence[DocSeries], *, vertical: bool) -> _Ends:
    """The ends of the x axis, or of the `vertical` one, around all that is drawn."""
    axis = chart.y if vertical else chart.x
    values = [point[vertical] for series in visible_series for point in series.points]
    values += [limit.at for limit in chart.limits if limit.vertical is not vertical]
    if vertical:
        values += [end for series in visible_series for pair in series.band for end in pair]
    values = [value for value in values if math.isfinite(value) and not (axis.log and value <= 0)]
    low, high = min(values, default=1.0), max(values, default=1.0)
    if not axis.log:
        return _Ends(low, high, None)
    base = 10 if high / low >= WIDE_RANGE and not _doubles(axis) else 2
    first, last = math.floor(math.log(low, base) + ROUNDING), math.floor(math.log(high, base) + ROUNDING) + 1
    return _Ends(float(base) ** first, float(base) ** last, base)


def _doubles(axis: ChartAxis) -> bool:
    """Whether the named values of an axis are powers of two, as counts of IPUs are."""
    return bool(axis.ticks) and all(math.log2(tick).is_integer() for tick in axis.ticks)


def _line(limit: ReferenceLine, across: _Ends, up: _Ends) -> tuple[tuple[float, float], ...]:
    """Both ends of the line of a limit."""
    if limit.vertical:
        return (limit.at, up.low), (limit.at, up.high)
    return (across.low, limit.at), (across.high, limit.at)


def _draw_series(item: Any, series: DocSeries, at: int) -> None:  # noqa: ANN401
    from pptx.enum.chart import XL_LABEL_POSITION, XL_MARKER_STYLE
    from pptx.util import Pt

    colour = COLOURS[at % len(COLOURS)]
    item.smooth = False
    item.marker.style = getattr(XL_MARKER_STYLE, MARKERS[at % len(MARKERS)])
    item.marker.size = 11 if series.marked else 7
    _fill(item.marker.format, colour)
    _stroke(item.marker.format.line, colour)
    if series.joined:
        _stroke(item.format.line, colour, 2.0)
    else:
        item.format.line.fill.background()
    for number, name in enumerate(series.names):
        if name:
            label = item.points[number].data_label
            label.position = getattr(XL_LABEL_POSITION, "BELOW" if series.marked else PLACES[at % len(PLACES)])
            run = label.text_frame.paragraphs[0].add_run()
            run.text = escape_text(name)
            run.font.size, run.font.bold = Pt(NAME_PT), series.marked
    if series.band:
        _add_error_bars(item, series, colour)


def _draw_limit(item: Any) -> None:  # noqa: ANN401
    from pptx.enum.chart import XL_MARKER_STYLE
    from pptx.enum.dml import MSO_LINE

    item.smooth = False
    item.marker.style = XL_MARKER_STYLE.NONE
    _stroke(item.format.line, LIMIT, 1.5)
    item.format.line.dash_style = MSO_LINE.DASH


def _draw_axis(axis: Any, chart_axis: ChartAxis, ends: _Ends) -> None:  # noqa: ANN401
    from pptx.enum.chart import XL_TICK_LABEL_POSITION
    from pptx.util import Pt

    axis.has_title = True
    run = axis.axis_title.text_frame.paragraphs[0].add_run()
    run.text, run.font.size, run.font.bold = escape_text(chart_axis.title), Pt(TEXT_PT), False
    axis.has_major_gridlines = True
    _stroke(axis.major_gridlines.format.line, "#d3d8de", 0.5)
    axis.tick_label_position = XL_TICK_LABEL_POSITION.LOW
    axis.tick_labels.number_format = "#,##0" if ends.base and ends.low >= 1 else "General"
    axis.tick_labels.number_format_is_linked = False
    if ends.base:
        scaling = axis._element.find("{*}scaling")  # noqa: SLF001  (python-pptx has no name for logarithms)
        scaling.insert(0, _element(f'<c:logBase {{names}} val="{ends.base}"/>'))
        axis.minimum_scale, axis.maximum_scale, axis.major_unit = ends.low, ends.high, ends.base


def _add_error_bars(item: Any, series: DocSeries, colour: str) -> None:  # noqa: ANN401
    """Intervals of a series, which python-pptx has no name for."""
    pairs = list(zip(series.points, series.band, strict=True))
    above = _numbers(max(high - y, 0.0) for (_, y), (_, high) in pairs)
    below = _numbers(max(y - low, 0.0) for (_, y), (low, _) in pairs)
    bars = _element(
        '<c:errBars {names}><c:errDir val="y"/><c:errBarType val="both"/><c:errValType val="cust"/>'
        f'<c:noEndCap val="0"/><c:plus>{above}</c:plus><c:minus>{below}</c:minus>'
        f'<c:spPr><a:ln w="12700"><a:solidFill><a:srgbClr val="{colour[1:].upper()}"/></a:solidFill></a:ln></c:spPr>'
        "</c:errBars>"
    )
    item._element.find("{*}xVal").addprevious(bars)  # noqa: SLF001


def _numbers(values: Iterator[float]) -> str:
    points = [f'<c:pt idx="{at}"><c:v>{value!r}</c:v></c:pt>' for at, value in enumerate(values)]
    return f'<c:numLit><c:formatCode>General</c:formatCode><c:ptCount val="{len(points)}"/>{"".join(points)}</c:numLit>'


def _element(text: str) -> Any:  # noqa: ANN401
    """An element of a chart from XML in which `{names}` stands for the namespaces."""
    from pptx.oxml import parse_xml
    from pptx.oxml.ns import nsdecls

    return parse_xml(text.format(names=nsdecls("c", "a")))


def _font(chart: Any) -> None:  # noqa: ANN401
    from pptx.util import Pt

    chart.font.size, chart.font.name = Pt(TEXT_PT), FONT


def _fill(form: Any, colour: str) -> None:  # noqa: ANN401
    form.fill.solid()
    form.fill.fore_color.rgb = _rgb(colour)


def _stroke(line: Any, colour: str, width_pt: float = 1.0) -> None:  # noqa: ANN401
    from pptx.util import Pt

    line.color.rgb = _rgb(colour)
    line.width = Pt(width_pt)


def _rgb(colour: str) -> Any:  # noqa: ANN401
    from pptx.dml.color import RGBColor

    return RGBColor.from_string(colour[1:].upper())
