"""A handout as one HTML page that needs nothing else: no network, no script, light and dark, A4."""

from typing import TYPE_CHECKING, Final

from podsim.report import figure
from podsim.report.doc import NOT_MLPERF, Bars, Block, Chart, Doc, DocTable
from podsim.report.escape import escape_text
from podsim.report.handout import Cover, Handout, further_rows, printed_rows
from podsim.report.version import version

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_RUNNING: Final = 56
"""Letters of a title or of a customer at the top of a printed page: two of them fit in its width."""


def html(handout: Handout, cover: Cover) -> str:
    """The whole page."""
    return (
        _environment()
        .get_template("page.html.j2")
        .render(handout=handout, cover=cover, version=version(), remark=NOT_MLPERF)
    )


def fragment(doc: Doc) -> str:
    """A document alone, for a notebook."""
    return _environment().get_template("fragment.html.j2").render(groups=[group for group in doc.groups if group])


def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("podsim.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_escape,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    environment.filters["css"] = css_text
    environment.filters["running"] = running_head
    environment.filters["small"] = _is_small
    environment.filters["printed"] = printed_rows
    environment.filters["further"] = further_rows
    # the template marks these texts as safe: they are matplotlib's, whose texts matplotlib escapes
    environment.filters["svg"] = _svg
    environment.filters["narrow"] = _narrow
    return environment


def _svg(chart: Chart) -> str:
    return figure.svg(chart, figure.describe(chart, chart.title))


def _narrow(chart: Chart) -> str:
    """The same chart for a telephone, drawn smaller so that its letters are larger."""
    return figure.svg(chart, figure.describe(chart, chart.title), width_in=figure.NARROW_IN)


def _is_small(block: Block) -> bool:
    """Whether a block may stand in a column: it has no wide table."""
    return not isinstance(block, Chart | Bars) and not (isinstance(block, DocTable) and len(block.columns) > 3)


def css_text(text: str) -> str:
    """A text as a string of CSS: every character that is no letter or figure by its number."""
    body = "".join(c if c.isalnum() and c.isascii() else f"\\{ord(c):x} " for c in escape_text(text))
    return f'"{body}"'


def running_head(text: str) -> str:
    """A text as it stands at the top of each printed page: on one line, the end left out where it is long."""
    return text if len(text) <= MOST_RUNNING else f"{text[: MOST_RUNNING - 2].rsplit(' ', 1)[0]} …"


def _escape(value: object) -> object:
    """What a template prints, without control characters; pieces of HTML are made of such texts already."""
    return escape_text(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
