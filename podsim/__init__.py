"""podsim: a scaling-law performance simulator and capacity planner for Graphcore IPU systems."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from podsim.errors import Infeasible as Infeasible
    from podsim.errors import InputError as InputError
    from podsim.errors import MissingParameter as MissingParameter
    from podsim.errors import NotWritten as NotWritten
    from podsim.errors import PodsimError as PodsimError
    from podsim.model.comparator import ComparatorPrediction as ComparatorPrediction
    from podsim.model.goodput import GoodputReport as GoodputReport
    from podsim.model.inference import InferenceReport as InferenceReport
    from podsim.model.prediction import Prediction as Prediction
    from podsim.model.sweep import SweepReport as SweepReport
    from podsim.studies import *  # noqa: F403  (the verbs)
    from podsim.studies.compare.result import Comparison as Comparison
    from podsim.studies.diff.result import Difference as Difference
    from podsim.studies.explain.result import Explanation as Explanation
    from podsim.studies.mappings.result import Mappings as Mappings
    from podsim.studies.plan.mix_result import MixPlan as MixPlan
    from podsim.studies.plan.result import Plan as Plan
    from podsim.studies.plan.serving_result import ServingPlan as ServingPlan
    from podsim.studies.scale.result import ScaleReport as ScaleReport

TYPES: Final = {
    **dict.fromkeys(("Infeasible", "InputError", "MissingParameter", "NotWritten", "PodsimError"), "podsim.errors"),
    "ComparatorPrediction": "podsim.model.comparator",
    "Comparison": "podsim.studies.compare.result",
    "Difference": "podsim.studies.diff.result",
    "Explanation": "podsim.studies.explain.result",
    "GoodputReport": "podsim.model.goodput",
    "InferenceReport": "podsim.model.inference",
    "Mappings": "podsim.studies.mappings.result",
    "MixPlan": "podsim.studies.plan.mix_result",
    "Plan": "podsim.studies.plan.result",
    "Prediction": "podsim.model.prediction",
    "ScaleReport": "podsim.studies.scale.result",
    "ServingPlan": "podsim.studies.plan.serving_result",
    "SweepReport": "podsim.model.sweep",
}
"""Errors and types of answers by name, with the modules that hold them."""


def __getattr__(name: str) -> Any:  # noqa: ANN401  (a module attribute may be anything)
    """The verbs, errors and types of answers, each loaded when first used; `__all__` lists the verbs."""
    if name in TYPES:
        return getattr(import_module(TYPES[name]), name)
    if name.startswith("_") and name != "__all__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if any(Path(__file__).with_name(name + end).exists() for end in ("", ".py")):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")  # a module that is not loaded yet
    studies = import_module("podsim.studies")

    if name == "__all__":
        return ["Scenario", *sorted(studies.verbs())]
    if name == "Scenario":
        return studies.Scenario
    if name in studies.verbs():
        return studies.load(name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The verbs, the types of answers and the errors."""
    return sorted({*__getattr__("__all__"), *TYPES, "__doc__", "__name__", "__all__"})
