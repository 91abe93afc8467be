"""podsim: a scaling-law performance simulator and capacity planner for Graphcore IPU systems."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podsim.api import (
        calibrate,
        calibrate_comparators,
        calibrate_frameworks,
        calibrate_noise,
        collective,
        compare,
        explain,
        explain_operators,
        freeze,
        goodput,
        import_model,
        infer,
        mappings,
        microbenchmarks,
        op,
        plan,
        plan_mix,
        predict,
        predict_comparator,
        priced,
        published,
        purse,
        read_scenario,
        sample,
        scale,
        stencil,
        sweep,
        trace,
        trace_collective,
        validate,
        validate_comparators,
        write_scenario,
    )
    from podsim.scenario import Scenario

__all__ = [
    "Scenario",
    "calibrate",
    "calibrate_comparators",
    "calibrate_frameworks",
    "calibrate_noise",
    "collective",
    "compare",
    "explain",
    "explain_operators",
    "freeze",
    "goodput",
    "import_model",
    "infer",
    "mappings",
    "microbenchmarks",
    "op",
    "plan",
    "plan_mix",
    "predict",
    "predict_comparator",
    "priced",
    "published",
    "purse",
    "read_scenario",
    "sample",
    "scale",
    "stencil",
    "sweep",
    "trace",
    "trace_collective",
    "validate",
    "validate_comparators",
    "write_scenario",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (a module attribute may be anything)
    """The verbs of `podsim.api`, loaded when first used."""
    if name in __all__:
        from podsim import api

        return getattr(api, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
