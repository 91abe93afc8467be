"""Charts and bars as vector or pixel pictures, drawn by matplotlib without a screen."""

import io
import logging
import math
import re
import warnings
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from podsim.report.doc import Bars, Chart, ChartAxis, Doc, Heading
from podsim.report.escape import escaped, escaped_block

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Format = Literal["svg", "png", "pdf"]
INK = "#010203"  # stands for the colour of the page's text until the page says which that is
COLOURS = ("#2f6fb3", "#d1661f", "#3c8d53", "#9a4fa3", "#8a6d3b", "#5b6770")  # told apart in print and by most eyes
WIDTH_IN = 7.0
ALIKE = 1e-6  # relative
CHART_IN, BAR_IN, AROUND_IN = 3.2, 0.3, 0.9
DOTS_AN_INCH = 160
# matplotlib writes no date and no random names, so that the same answer is the same file
SAME_BYTES: dict[Format, dict[str, None]] = {
    "svg": {"Date": None},
    "png": {"Software": None},
    "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
}

Drawn = Chart | Bars


def drawn(doc: Doc) -> list[tuple[str, Drawn]]:
    """What of a document can be drawn, each with its title: its own, or the heading before it."""
    result: list[tuple[str, Drawn]] = []
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


def svg(block: Drawn, label: str = "") -> str:
    """One block as an SVG element in the colours of the page it stands in; `label` is for who cannot see it."""
    text = picture([("", block)], "svg", ink=INK).decode()
    text = text[text.index("<svg") :].replace(INK, "currentColor")
    text = re.sub(r' width="[^"]*pt"| height="[^"]*pt"', "", text, count=2)
    return text.replace("<svg", f'<svg role="img" aria-label="{_quoted(label)}"', 1)


def _quoted(text: str) -> str:
    return escape(escaped(text), quote=True)


def picture(blocks: Sequence[tuple[str, Drawn]], form: Format, *, ink: str = "#1a1a1a") -> bytes:
    """Titled blocks under each other in one file; ValueError where there are none."""
    if not blocks:
        raise ValueError("blocks: nothing to draw")
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # that it finds no home for its cache is no news
    from matplotlib import rc_context

    with rc_context(_style(ink)), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # letters that no font has, names too long for the picture
        figure = _figure([(escaped(title), escaped_block(block)) for title, block in blocks])
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


def _height_in(block: Drawn) -> float:
    return AROUND_IN + (CHART_IN if isinstance(block, Chart) else BAR_IN * len(block.rows))


def _figure(blocks: Sequence[tuple[str, Drawn]]) -> "Figure":
    # the class and not pyplot: no window, no state that outlives the call
    from matplotlib.figure import Figure

    heights = [_height_in(block) for _, block in blocks]
    figure = Figure(figsize=(WIDTH_IN, sum(heights)), layout="constrained")
    all_axes = figure.subplots(len(blocks), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    for axes, (title, block) in zip(all_axes, blocks, strict=True):
        axes.set_title(title)
        if isinstance(block, Chart):
            _draw_chart(axes, block)
        else:
            _draw_bars(axes, block)
    return figure


def _draw_chart(axes: "Axes", chart: Chart) -> None:
    for index, series in enumerate(chart.series):
        colour = COLOURS[index % len(COLOURS)]
        xs, ys = [x for x, _ in series.points], [y for _, y in series.points]
        line = "-" if series.joined else "none"
        axes.plot(
            xs, ys, marker="o", markersize=4.5, linestyle=line, color=colour, label=series.label, zorder=3 + index
        )
        if series.band:
            low, high = zip(*series.band, strict=True)
            if series.joined:
                axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
            else:
                axes.vlines(xs, low, high, color=colour, alpha=0.6, linewidth=1)
    _scale(axes, "x", chart.x)
    _scale(axes, "y", chart.y)
    axes.grid(visible=True, alpha=0.25, linewidth=0.6)
    if len(chart.series) > 1 or chart.series[0].label:
        axes.legend(frameon=False)


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
    """1, 2, 5 times powers of ten within two ends; more within a decade, powers alone over three and more."""
    leads = (1, 2, 3, 4, 6, 8) if high / low < 10 else (1, 2, 5) if high / low < 1000 else (1,)
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [lead * 10.0**decade for decade in decades for lead in leads if low <= lead * 10.0**decade <= high]


def _none() -> Any:  # noqa: ANN401  (a locator of matplotlib)
    from matplotlib.ticker import NullLocator

    return NullLocator()


def _draw_bars(axes: "Axes", bars: Bars) -> None:
    rows = bars.rows[::-1]  # matplotlib counts upward
    left = [100 * row.start for row in rows]
    widths, colours = [100 * row.share for row in rows], [COLOURS[2 if row.falls else 0] for row in rows]
    axes.barh([row.label for row in rows], widths, left=left, color=colours, height=0.66)
    most = max((row.until for row in rows), default=0.0) or 1.0
    for at, row in enumerate(rows):
        text = "  ".join(filter(None, (row.share_text, row.text)))
        axes.text(100 * (row.start + max(row.share, 0.0)) + most, at, text, va="center", fontsize=8.5)
    axes.set_xlim(0, 100 * most * 1.4)
    axes.set_xticks([])
    axes.tick_params(length=0)
    for side in ("bottom", "left"):
        axes.spines[side].set_visible(False)
