"""How answers look in a notebook."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from podsim.model.displayable import Displayable, page

if TYPE_CHECKING:
    from podsim.report.doc import Doc


class _View(NamedTuple):
    """The view of one type of answer, loaded when an answer of it is shown, and how it is asked for the whole."""

    module: str
    function: str = "document"
    flags: tuple[tuple[str, Any], ...] = (("verbose", True),)


_VIEWS: Final[dict[str, _View]] = {
    "Prediction": _View("prediction_page", "report", ()),
    "ComparatorPrediction": _View("comparator"),
    "SweepReport": _View("sweep", flags=(("charts", True),)),
    "Plan": _View("plan", flags=(("verbose", True), ("charts", True))),
    "MixPlan": _View("mix"),
    "ScaleReport": _View("scaling"),
    "Comparison": _View("comparison", flags=()),
    "Mappings": _View("advice", flags=(("charts", True),)),
    "Explanation": _View("explanation"),
    "InferenceReport": _View("inference"),
}


@page.register(Displayable)
def drawn(answer: object) -> str | None:
    """An answer as HTML; None for what has no view, which a notebook then shows as text."""
    result = _VIEWS.get(type(answer).__name__)
    if result is None or not type(answer).__module__.startswith("podsim.model."):
        return None
    from podsim.report.page import fragment

    return fragment(_document(answer, result))


def _document(answer: object, result: _View) -> Doc:
    view = getattr(import_module(f"podsim.report.views.{result.module}"), result.function)
    document: Doc = view(answer, **dict(result.flags))
    return document
