"""Templates of the app as HTML; every text is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from podsim.caches.tables import TABLES, Table
from podsim.report.escape import escape_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from jinja2 import Environment

    from podsim.studies.app.headline import AnswerFigures

_ENVIRONMENTS = TABLES.add("templates of the app", Table[str, "Environment"](1))


def answer(headline: AnswerFigures, screen: str) -> str:
    """An answer: its figures and intervals, then the screen, which is HTML already."""
    return render("answer.html.j2", headline=headline, screen=screen)


def sides(screens: Sequence[tuple[str, str]], difference: str) -> str:
    """Screens of two answers next to each other under their titles, and below how they differ; all HTML already."""
    return render("sides.html.j2", screens=screens, difference=difference)


def render(template: str, **values: Any) -> str:  # noqa: ANN401  (what the template names)
    """A template with its values."""
    return _ENVIRONMENTS.remember("", _environment).get_template(template).render(**values)


def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    return Environment(
        loader=PackageLoader("podsim.studies.app", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_escape,
    )


def _escape(value: object) -> object:
    """What a template prints, without control characters; HTML is made of such texts already."""
    return escape_text(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
