"""Charts and bars as vector or pixel pictures, drawn by matplotlib without a screen."""

import hashlib
import io
import logging
import math
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from podsim.report import numbers, point_names
from podsim.report.doc import Bars, Chart, ChartAxis, Doc, DocSeries, Heading
from podsim.report.escape import escape_text, escaped_block

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Format = Literal["svg", "png"]
INK = "#010203"  # stands for the colour of the page's text until the page says which that is
COLOURS = ("#2f6fb3", "#d1661f", "#3c8d53", "#9a4fa3", "#8a6d3b", "#5b6770")  # told apart in print and by most eyes
MARKERS = ("o", "s", "D", "^", "v", "P")  # and by those who see no colours
LIMIT = "#c0392b"
WIDTH_IN = 7.0
NARROW_IN = 4.1
"""For a page as wide as a telephone, where the other's letters would be too small."""
MOST_DESCRIBED = 30  # points that a description repeats: a table has them all
LEGEND_IN, LEGEND_BELOW = 0.22, -0.19
LETTER_IN, MARK_IN = 0.075, 0.5  # of a name in a legend, and of the line before it
MOST_COLUMNS, MOST_NARROW_COLUMNS = 4, 2
MOST_IN_FULL = 1e9  # a count of more digits is rounded
ALIKE = 1e-6  # relative
CLOSE_ENDS, MOST_STEPS = 3.0, 6
CHART_IN, BAR_IN, AROUND_IN = 3.2, 0.3, 0.9
DOTS_AN_INCH = 160
# matplotlib writes no date and no random names, so that the same answer is the same file
SAME_BYTES: dict[Format, dict[str, None]] = {
    "svg": {"Date": None},
    "png": {"Software": None},
}

Drawable = Chart | Bars


def drawables(doc: Doc) -> list[tuple[str, Drawable]]:
    """What of a document can be drawn, each with its title: its own, or the heading before it."""
    result: list[tuple[str, Drawable]] = []
    for group in doc.groups:
        title = ""
        for block in group:
            if isinstance(block, Heading):
                title = block.text
            elif isinstance(block, Chart):
                result.append((block.title, block))
            elif isinstance(block, Bars) and block.rows:
                result.append((title, block))
    return result


def svg(block: Drawable, label: str = "", *, width_in: float = WIDTH_IN) -> str:
    """One block as an SVG element in the colours of the page it stands in.

    `label` is for who cannot see it; each named point has its name and its numbers as a title. Element ids are made of
    the picture, so that several stand in one page.
    """
    text = picture([("", block)], "svg", ink=INK, width_in=width_in).decode()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r' width="[^"]*pt"| height="[^"]*pt"', "", text, count=2)
    text = _with_titles(re.sub(r"<metadata>.*?</metadata>\s*", "", text, flags=re.DOTALL), _point_titles(block))
    return _own_ids(text).replace("<svg", f'<svg role="img" aria-label="{_quote(label)}"', 1)


def describe(block: Drawable, title: str) -> str:
    """What a drawing shows, for who cannot see it: its title, and the points or bars with their numbers."""
    if isinstance(block, Bars):
        texts = [" ".join(filter(None, (row.label, row.share_text, row.text))) for row in block.rows]
    else:
        texts = [text for _, text in _point_titles(block)]
        texts += [f"{limit.label} at {_plain(limit.at)}" for limit in block.limits]
    listing = "; ".join(texts[:MOST_DESCRIBED])
    more = f"; and {len(texts) - MOST_DESCRIBED} more" if len(texts) > MOST_DESCRIBED else ""
    return f"{title}: {listing}{more}" if listing else title


def _point_titles(block: Drawable) -> list[tuple[str, str]]:
    """The id of each drawn point of a chart, and what it says."""
    if isinstance(block, Bars):
        return []
    result = []
    for at, series in enumerate(block.series):
        for number, (x, y) in enumerate(series.points):
            name = series.names[number] if series.names and series.names[number] else series.label
            ends = f" ({_plain(series.band[number][0])} – {_plain(series.band[number][1])})" if series.band else ""
            place = f"{block.x.title} {_plain(x)}, {block.y.title} {_plain(y)}{ends}"
            result.append((_point_id(at, number), f"{name}: {place}" if name else place))
    return result


def _point_id(series: int, number: int) -> str:
    return f"point-{series}-{number}"


def _plain(value: float) -> str:
    """A number of an axis: counts such as a global batch in full, others with three digits."""
    return f"{value:,.0f}" if abs(value) < MOST_IN_FULL and value == round(value) else numbers.short(value, 3)


def _with_titles(text: str, titles: Iterable[tuple[str, str]]) -> str:
    for name, title in titles:
        text = text.replace(f'<g id="{name}">', f"<g><title>{_quote(title)}</title>", 1)
    return text


def _own_ids(text: str) -> str:
    """The element with ids that nothing refers to left out, and the others made its own by a digest of it."""
    digest = hashlib.sha256(text.encode()).hexdigest()[:8]
    referenced_ids = set(re.findall(r"""(?:url\(#|href="#)([^")]+)""", text))

    def own(match: re.Match[str]) -> str:
        return f' id="{digest}-{match[1]}"' if match[1] in referenced_ids else ""

    text = re.sub(r' id="([^"]+)"', own, text)
    return re.sub(r"""(url\(#|href="#)([^")]+)""", rf"\g<1>{digest}-\g<2>", text)


def _quote(text: str) -> str:
    return escape(escape_text(text), quote=True)


def picture(
    blocks: Sequence[tuple[str, Drawable]], form: Format, *, ink: str = "#1a1a1a", width_in: float = WIDTH_IN
) -> bytes:
    """Titled blocks under each other in one file; ValueError where there are none."""
    if not blocks:
        raise ValueError("blocks: nothing to draw")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it finds no home for its cache is no news
    from matplotlib import rc_context

    with rc_context(_style(ink)), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that no font has, names too long for the picture
        figure = _figure([(escape_text(title), escaped_block(block)) for title, block in blocks], width_in)
        out = io.BytesIO()
        figure.savefig(out, format=form, dpi=DOTS_AN_INCH, transparent=form == "svg", metadata=SAME_BYTES[form])
    return out.getvalue()


def _style(ink: str) -> Any:  # noqa: ANN401  (matplotlib spells out its 300 keys)
    names = ("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color", "legend.labelcolor")
    return {
        **dict.fromkeys(names, ink),
        "text.parse_math": False,
        "svg.hashsalt": "podsim",
        "svg.fonttype": "none",
        "font.size": 9.5,
        "font.family": "sans-serif",
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 11,
    }


def _height_in(block: Drawable, width_in: float) -> float:
    if isinstance(block, Bars):
        return AROUND_IN + BAR_IN * len(block.rows)
    rows = math.ceil(len(_legend(block)) / _legend_columns(block, width_in))
    return AROUND_IN + CHART_IN * (1.0 if width_in >= WIDTH_IN else 0.9) + LEGEND_IN * rows


def _figure(blocks: Sequence[tuple[str, Drawable]], width_in: float) -> "Figure":
    # the class and not pyplot: no window, no state that outlives the call
    from matplotlib.figure import Figure

    heights = [_height_in(block, width_in) for _, block in blocks]
    figure = Figure(figsize=(width_in, sum(heights)), layout="constrained")
    all_axes = figure.subplots(len(blocks), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, (title, block) in zip(all_axes, blocks, strict=True):
        axes.set_title(title)
        if isinstance(block, Chart):
            _draw_chart(axes, block, _legend_columns(block, width_in))
        else:
            _draw_bars(axes, block)
    figure.draw_without_rendering()  # sets the room that is left, in which names are placed
    for axes, (_, block) in zip(all_axes, blocks, strict=True):
        if isinstance(block, Chart):
            point_names.place(axes, block)
    return figure


def _legend(chart: Chart) -> list[str]:
    """What the legend says: nothing for one series without a name."""
    labels = [series.label for series in chart.series]
    return labels if len(labels) > 1 or labels[0] else []


def _legend_columns(chart: Chart, width_in: float) -> int:
    """Columns of the legend that fit next to each other, at most as many as look well."""
    longest = max(map(len, _legend(chart)), default=0)
    fitting = math.floor(width_in / (MARK_IN + LETTER_IN * longest))
    return max(1, min(fitting, MOST_COLUMNS if width_in >= WIDTH_IN else MOST_NARROW_COLUMNS))


def _draw_chart(axes: "Axes", chart: Chart, columns: int) -> None:
    handles = []
    for index, series in enumerate(chart.series):
        colour = COLOURS[index % len(COLOURS)]
        xs, ys = [x for x, _ in series.points], [y for _, y in series.points]
        look: dict[str, Any] = {
            "marker": MARKERS[index % len(MARKERS)],
            "markersize": 8 if series.marked else 5,
            "color": colour,
        }
        for number, point in enumerate(series.points):  # each by itself: it has an id, for its title
            axes.plot(*point, linestyle="none", zorder=4 + index, gid=_point_id(index, number), **look)
        (line,) = axes.plot(xs, ys, linestyle="-" if series.joined else "none", color=colour, zorder=3 + index)
        handles.append(_handle(series, look) if series.points else line)
        if series.band:
            _draw_band(axes, series, colour, 2 + index)
    _scale(axes, "x", chart.x)
    _scale(axes, "y", chart.y)
    _draw_limits(axes, chart)
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)
    if labels := _legend(chart):
        axes.legend(
            handles, labels, frameon=False, loc="upper center", bbox_to_anchor=(0.5, LEGEND_BELOW), ncols=columns
        )


def _handle(series: DocSeries, look: Mapping[str, Any]) -> Any:  # noqa: ANN401  (an artist of matplotlib)
    from matplotlib.lines import Line2D

    return Line2D([], [], linestyle="-" if series.joined else "none", **look)


def _draw_band(axes: "Axes", series: DocSeries, colour: str, order: int) -> None:
    """An area, or an error bar at each point."""
    xs, ys = [x for x, _ in series.points], [y for _, y in series.points]
    low, high = zip(*series.band, strict=True)
    if series.joined:
        axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
        return
    below = [max(y - end, 0.0) for y, end in zip(ys, low, strict=True)]
    above = [max(end - y, 0.0) for y, end in zip(ys, high, strict=True)]
    axes.errorbar(
        xs, ys, yerr=(below, above), fmt="none", ecolor=colour, alpha=0.7, elinewidth=1, capsize=2.5, zorder=order
    )


def _draw_limits(axes: "Axes", chart: Chart) -> None:
    """Lines across at the limits, each with its name at its end; the axes reach as far as they do."""
    for limit in chart.limits:
        draw, scale = (axes.axvline, axes.get_xlim) if limit.vertical else (axes.axhline, axes.get_ylim)
        low, high = scale()
        if not low <= limit.at <= high:
            (axes.set_xlim if limit.vertical else axes.set_ylim)(min(low, limit.at * 0.92), max(high, limit.at * 1.08))
        draw(limit.at, color=LIMIT, linewidth=1.2, linestyle=(0, (5, 3)), zorder=2)


def _scale(axes: "Axes", which: Literal["x", "y"], axis: ChartAxis) -> None:
    from matplotlib.ticker import FuncFormatter, NullFormatter

    getattr(axes, f"set_{which}label")(axis.title)
    if axis.log:
        getattr(axes, f"set_{which}scale")("log")
    low, high = getattr(axes, f"{which}axis").get_data_interval()
    if 0 < abs(high - low) < ALIKE * abs(high):  # values that differ by rounding alone leave no room between two ends
        getattr(axes, f"set_{which}lim")(*sorted((low * 0.9, high * 1.1)))
    ticks = getattr(axes, f"{which}axis")
    if axis.ticks:
        ticks.set_ticks(list(axis.ticks))
    elif axis.log:
        low, high = getattr(axes, f"get_{which}lim")()
        ticks.set_ticks(_rounds(low, high))
    if axis.log:
        ticks.set_minor_formatter(NullFormatter())
        ticks.set_minor_locator(_none())
    ticks.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))


def _rounds(low: float, high: float) -> list[float]:
    """1, 2, 5 times powers of ten within two ends; more within a decade, powers alone over three and more.

    Ends that are closer than that have equal steps between them.
    """
    if high / low < CLOSE_ENDS:
        size = 10.0 ** math.floor(math.log10((high - low) / 2))
        step = next(size * lead for lead in (1, 2, 5, 10) if (high - low) / (size * lead) <= MOST_STEPS)
        return [step * number for number in range(math.ceil(low / step), math.floor(high / step) + 1)]
    leads = (1, 2, 3, 4, 6, 8) if high / low < 10 else (1, 2, 5) if high / low < 1000 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [lead * 10.0**decade for decade in decades for lead in leads if low <= lead * 10.0**decade <= high]


def _none() -> Any:  # noqa: ANN401  (a locator of matplotlib)
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _draw_bars(axes: "Axes", bars: Bars) -> None:
    rows = bars.rows[::-1]  # matplotlib counts upward
    starts = [100 * row.start for row in rows]
    widths, colours = [100 * row.share for row in rows], [COLOURS[2 if row.falls else 0] for row in rows]
    axes.barh([row.label for row in rows], widths, left=starts, color=colours, height=0.66)
    most = max((row.until for row in rows), default=0.0) or 1.0
    for at, row in enumerate(rows):
        text = "  ".join(filter(None, (row.share_text, row.text)))
        axes.text(100 * (row.start + max(row.share, 0.0)) + most, at, text, va="center", fontsize=8.5)
    axes.set_xlim(0, 100 * most * 1.4)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in ("bottom", "left"):
        axes.spines[side].set_visible(False)
