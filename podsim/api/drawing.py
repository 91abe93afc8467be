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
    from podsim.model.mix import MixPlan
    from podsim.model.plan import Plan
    from podsim.model.prediction import Prediction
    from podsim.model.sweep import SweepReport

    if isinstance(answer, Prediction):
        from podsim.report.views import prediction_page

        return prediction_page.report(answer)
    if isinstance(answer, SweepReport):
        from podsim.report.views import sweep

        return sweep.document(answer, charts=True)
    if isinstance(answer, Plan):
        from podsim.report.views import plan

        return plan.document(answer, verbose=True, charts=True)
    if isinstance(answer, MixPlan):
        from podsim.report.views import mix

        return mix.document(answer, verbose=True)
    from podsim.model.scaling import ScaleReport

    if isinstance(answer, ScaleReport):
        from podsim.report.views import scaling

        return scaling.document(answer, verbose=True)
    from podsim.model.comparison import Comparison

    if isinstance(answer, Comparison):
        from podsim.report.views import comparison

        return comparison.document(answer)
    raise TypeError(f"{type(answer).__name__} is no answer of podsim")
