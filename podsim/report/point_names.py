"""Names of points in a chart, placed where they cover neither each other nor a point."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

from podsim.report.doc import Chart, ReferenceLine

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OFFSETS: Final = (
    (7, 0),
    (-7, 0),
    (0, 8),
    (0, -8),
    (6, 8),
    (6, -8),
    (-6, 8),
    (-6, -8),
    (0, 17),
    (0, -17),
    (8, 16),
    (8, -16),
    (-8, -16),
    (10, -25),
    (-10, -25),
)
"""Where a name may stand, in points from its own: right, left, above, below, and so on."""
SIZE: Final = 8.0
LIMIT_SIZE: Final = 8.5
LIMIT_PLACES: Final = (1.0, 0.7, 0.45, 1.0)
"""Where the name of a limit may end, as shares of the axis along it."""
POINT: Final = 4.0  # half the width of a marker, in points


class Box(NamedTuple):
    """A rectangle on the canvas, in pixels."""

    left: float
    low: float
    right: float
    high: float

    def meets(self, other: "Box") -> bool:
        """Whether the two share some of the canvas."""
        return self.left < other.right and other.left < self.right and self.low < other.high and other.low < self.high

    def inside(self, other: "Box") -> bool:
        """Whether it lies in the other."""
        return (
            self.left >= other.left and self.right <= other.right and self.low >= other.low and self.high <= other.high
        )


def place(axes: "Axes", chart: Chart) -> None:
    """Write the names of limits and of points into drawn axes; a name without room anywhere is left out.

    Marked series come first, so that what was chosen always has its name.
    """
    points = list(_points(axes, chart))
    obstacles = [*points, *_limits(axes, chart, points)]
    extent = axes.bbox
    room = Box(extent.x0 - 2, extent.y0, extent.x1 + 2, extent.y1)
    for x, y, name, strong in sorted(_named_points(chart), key=lambda item: not item[3]):
        for dx, dy in OFFSETS:
            box = _try(axes, (x, y), name, (dx, dy), strong=strong, obstacles=obstacles, room=room)
            if box is not None:
                obstacles.append(box)
                break


def _named_points(chart: Chart) -> Iterator[tuple[float, float, str, bool]]:
    for series in chart.series:
        for (x, y), name in zip(series.points, series.names, strict=bool(series.names)):
            if name:
                yield x, y, name, series.marked


def _try(
    axes: "Axes",
    point: tuple[float, float],
    name: str,
    offset: tuple[int, int],
    *,
    strong: bool,
    obstacles: Sequence[Box],
    room: Box,
) -> Box | None:
    """The place of a name at an offset from its point; None, and nothing drawn, where it is not free."""
    dx, dy = offset
    text = axes.annotate(
        name,
        point,
        xytext=offset,
        textcoords="offset points",
        ha="left" if dx > 0 else "right" if dx < 0 else "center",
        va="bottom" if dy > 0 else "top" if dy < 0 else "center",
        fontsize=SIZE + strong,
        fontweight="bold" if strong else "normal",
        zorder=20,
    )
    text.set_in_layout(False)
    extent = text.get_window_extent()
    box = Box(extent.x0, extent.y0, extent.x1, extent.y1)
    if box.inside(room) and not any(box.meets(other) for other in obstacles):
        return box
    text.remove()
    return None


def _points(axes: "Axes", chart: Chart) -> Iterator[Box]:
    half = POINT * _figure_scale(axes)
    for series in chart.series:
        for point in series.points:
            x, y = axes.transData.transform(point)
            yield Box(x - half, y - half, x + half, y + half)


def _limits(axes: "Axes", chart: Chart, points: Sequence[Box]) -> Iterator[Box]:
    """The names of lines across, drawn at their ends or where they cover no point, and the lines."""
    for limit in chart.limits:
        yield _named_limit(axes, limit, points)
        around = axes.bbox
        if limit.vertical:
            x = axes.transData.transform((limit.at, axes.get_ylim()[0]))[0]
            yield Box(x - 1, around.y0, x + 1, around.y1)
        else:
            y = axes.transData.transform((axes.get_xlim()[0], limit.at))[1]
            yield Box(around.x0, y - 1, around.x1, y + 1)


def _named_limit(axes: "Axes", limit: ReferenceLine, points: Sequence[Box]) -> Box:
    """The place of the name of a limit: the first inside the chart that covers no point, or the last."""
    # on the left of a line that goes up; on its right where that is outside the chart or covers points
    sides = ("right", "left") if limit.vertical else ("right",)
    places = [(along, side) for side in sides for along in LIMIT_PLACES]
    room = Box(axes.bbox.x0, axes.bbox.y0, axes.bbox.x1, axes.bbox.y1)
    for number, (along, alignment) in enumerate(places, 1):
        text = axes.annotate(
            limit.label,
            (limit.at, along) if limit.vertical else (along, limit.at),
            xycoords=axes.get_xaxis_transform() if limit.vertical else axes.get_yaxis_transform(),
            xytext=(-3 if alignment == "right" else 3, -3 if limit.vertical else 2),
            textcoords="offset points",
            ha=alignment,
            va="top" if limit.vertical else "bottom",
            rotation=90 if limit.vertical else 0,
            fontsize=LIMIT_SIZE,
        )
        text.set_in_layout(False)
        extent = text.get_window_extent()
        box = Box(extent.x0, extent.y0, extent.x1, extent.y1)
        if number == len(places) or (box.inside(room) and not any(box.meets(point) for point in points)):
            break
        text.remove()
    return box


def _figure_scale(axes: "Axes") -> float:
    """Pixels a point."""
    figure = axes.get_figure()
    return float(figure.dpi) / 72.0 if figure else 1.0
