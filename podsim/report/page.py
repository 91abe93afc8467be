"""A document as one HTML page that needs nothing else: no network, light and dark, A4."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from podsim.report import figure
from podsim.report.doc import NOT_MLPERF, Block, Doc
from podsim.report.escape import escaped
from podsim.report.version import version

if TYPE_CHECKING:
    from jinja2 import Environment


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """How a page came about: its title, and the command that makes it again ("" from Python)."""

    title: str
    command: str = ""


def html(doc: Doc, made: Made) -> str:
    """The whole page."""
    return (
        _environment()
        .get_template("page.html.j2")
        .render(title=made.title, command=made.command, groups=_blocks(doc), version=version(), remark=NOT_MLPERF)
    )


def fragment(doc: Doc) -> str:
    """The document alone, for a notebook."""
    return _environment().get_template("fragment.html.j2").render(groups=_blocks(doc))


def _environment() -> "Environment":
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("podsim.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_escaped,
    )
    environment.filters["kind"] = lambda block: type(block).__name__
    # the template marks this one text as safe: it is matplotlib's, whose texts matplotlib escapes
    environment.filters["svg"] = lambda chart: figure.svg(chart, chart.title)
    return environment


def _escaped(value: object) -> object:
    """What a template prints, without control characters; pieces of HTML are made of such texts already."""
    return escaped(value) if isinstance(value, str) and not hasattr(value, "__html__") else value


def _blocks(doc: Doc) -> list[tuple[Block, ...]]:
    return [group for group in doc.groups if group]
