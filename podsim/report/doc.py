"""What a result says, before anybody decides how it looks."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

NOT_MLPERF = "podsim predictions are not MLPerf results"


def label(text: str) -> str:
    """The text with a capital first letter, as labels are written."""
    return text[:1].upper() + text[1:]


@dataclass(frozen=True, slots=True)
class Heading:
    """One line that names what follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Fact:
    """A label, a number with its unit, and up to two remarks on it; a row without a number is its remarks.

    `hint` is what to type for another answer, which a screen shows and a document to hand over does not. `priority` as
    of a column, where the document has too many lines.
    """

    label: str
    number: str
    unit: str = ""
    remark: str = ""
    second: str = ""
    strong: bool = False
    hint: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Facts:
    """Facts under each other, aligned."""

    rows: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a table. Priority 0 always stays; the highest leaves first where the screen is too narrow.

    `note` explains it below the table wherever the column stays. `hint`: the column has what to type, which a screen
    shows and a document to hand over does not.
    """

    title: str
    number: bool = False
    priority: int = 0
    wraps: bool = False
    note: str = ""
    hint: bool = False


@dataclass(frozen=True, slots=True)
class DocTable:
    """Rows of text under titled columns; `marked` is the row that was chosen.

    `stacks` lets titles stand in two lines on a screen that is too narrow for them in one. `priorities` of rows are as
    of a column, where the document has too many lines; () where every row stays.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    marked: int | None = None
    stacks: bool = False
    priorities: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError("rows: each must have one cell a column")
        if self.priorities and len(self.priorities) != len(self.rows):
            raise ValueError("priorities: one a row")

    def without_row(self, at: int) -> "DocTable":
        """The table without a row that is not marked."""
        marked_row = self.marked if self.marked is None or self.marked < at else self.marked - 1
        priorities = (*self.priorities[:at], *self.priorities[at + 1 :])
        return replace(self, rows=(*self.rows[:at], *self.rows[at + 1 :]), priorities=priorities, marked=marked_row)

    @property
    def without_hints(self) -> "DocTable":
        """The table without columns of what to type."""
        visible_columns = [at for at, column in enumerate(self.columns) if not column.hint]
        if len(visible_columns) == len(self.columns):
            return self
        rows = tuple(tuple(row[at] for at in visible_columns) for row in self.rows)
        return replace(self, columns=tuple(self.columns[at] for at in visible_columns), rows=rows)


@dataclass(frozen=True, slots=True)
class Bar:
    """One share of a whole, 0..1, with its size and a remark; it is drawn from `start` on, another share.

    One that `falls` has another colour: what gets less.
    """

    label: str
    share: float
    share_text: str
    text: str
    remark: str = ""
    start: float = 0.0
    falls: bool = False

    @property
    def until(self) -> float:
        """Where it ends."""
        return self.start + self.share


@dataclass(frozen=True, slots=True)
class Bars:
    """Shares under each other, drawn to one scale."""

    rows: tuple[Bar, ...]


class Tone(StrEnum):
    """How loudly a note is said."""

    PLAIN = "plain"
    QUIET = "quiet"
    WARNING = "warning"
    STRONG = "strong"


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence or two; `label` stands before it and later lines are indented below the text.

    `hint` is what to type for another answer, which a screen shows and a document to hand over does not. `priority` as
    of a column, where the document has too many lines.
    """

    text: str
    label: str = ""
    tone: Tone = Tone.PLAIN
    hint: str = ""
    priority: int = 0

    @property
    def on_screen(self) -> str:
        """The text with what to type."""
        return "; ".join(filter(None, (self.text.removesuffix("."), self.hint))) if self.hint else self.text


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """What one direction of a chart measures; `ticks` are the values to name, none to leave that to the drawing."""

    title: str
    log: bool = False
    ticks: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class DocSeries:
    """Points (x, y) that belong together; `band` has (low, high) of each: an area if `joined`, else error bars.

    `names` has what each point is called, "" for one without a label; `marked` is drawn larger: what was chosen.
    """

    label: str
    points: tuple[tuple[float, float], ...]
    joined: bool = True
    band: tuple[tuple[float, float], ...] = ()
    names: tuple[str, ...] = ()
    marked: bool = False

    def __post_init__(self) -> None:
        if self.band and len(self.band) != len(self.points):
            raise ValueError("band: one pair a point")
        if self.names and len(self.names) != len(self.points):
            raise ValueError("names: one a point")


@dataclass(frozen=True, slots=True)
class ReferenceLine:
    """A limit that points are compared with: a value of the y axis, or of the x axis where it is `vertical`."""

    at: float
    label: str
    vertical: bool = False


@dataclass(frozen=True, slots=True)
class Chart:
    """Series over one pair of axes, with limits as lines across.

    On a screen it is drawn in so many `rows`, which become fewer, down to `fewest_rows`, by `priority`, as columns
    leave, where the document has too many lines.
    """

    title: str
    x: ChartAxis
    y: ChartAxis
    series: tuple[DocSeries, ...]
    limits: tuple[ReferenceLine, ...] = ()
    rows: int = 8
    fewest_rows: int = 5
    priority: int = 0


Block = Heading | Facts | DocTable | Bars | Chart | Note


@dataclass(frozen=True, slots=True)
class Doc:
    """A result as groups of blocks; an empty line stands between two groups.

    A screen has at most `most_lines`, 0 for any number: first `with_fewer_rows` makes it again with one row less of its
    table, then what has a priority leaves.
    """

    groups: tuple[tuple[Block, ...], ...]
    most_lines: int = 0
    with_fewer_rows: "Callable[[], Doc] | None" = field(default=None, compare=False)
