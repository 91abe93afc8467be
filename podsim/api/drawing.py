"""How answers look in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from podsim.report.doc import Doc


def drawn(answer: object) -> str:
    """An answer as HTML; TypeError for what is none."""
    from podsim.report.page import fragment

    return fragment(_document(answer))


def _document(answer: object) -> Doc:
    """The document of an answer, by its type; each view is loaded when an answer of its kind is shown."""
    from podsim.model.prediction import Prediction

    if isinstance(answer, Prediction):
        from podsim.report.views import prediction_page

        return prediction_page.report(answer)
    from podsim.model.explanation import Explanation

    if isinstance(answer, Explanation):
        from podsim.report.views import explanation

        return explanation.document(answer, verbose=True)
    raise TypeError(f"{type(answer).__name__} is no answer of podsim")
