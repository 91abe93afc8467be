"""The verbs of podsim as functions: those that answer, and those that keep the model honest."""

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from podsim.api import drawing as drawing
from podsim.scenario import Scenario

if TYPE_CHECKING:
    from podsim.api.advising import mappings
    from podsim.api.answers import predict
    from podsim.api.collectives import (
        collective,
        trace_collective,
    )
    from podsim.api.comparators import (
        calibrate_comparators,
        predict_comparator,
        validate_comparators,
    )
    from podsim.api.comparing import compare
    from podsim.api.differences import diff
    from podsim.api.evidence import (
        claims,
        microbenchmarks,
        published,
    )
    from podsim.api.explaining import explain
    from podsim.api.failures import goodput
    from podsim.api.frameworks import calibrate_frameworks
    from podsim.api.inference import infer
    from podsim.api.lookups import (
        check,
        config,
        list_chips,
        list_topologies,
        list_workloads,
        show_chip,
        show_topology,
        show_workload,
    )
    from podsim.api.models import import_model
    from podsim.api.operators import (
        explain_operators,
        op,
    )
    from podsim.api.plans import (
        plan,
        plan_mix,
    )
    from podsim.api.run_cost import (
        priced,
        purse,
    )
    from podsim.api.samplers import sample
    from podsim.api.scaling import scale
    from podsim.api.scenarios import (
        read_scenario,
        write_scenario,
    )
    from podsim.api.stencils import stencil
    from podsim.api.sweeping import sweep
    from podsim.api.tracing import trace
    from podsim.api.upkeep import (
        calibrate,
        calibrate_noise,
        calibrate_own,
        coverage,
        freeze,
        hold_outs,
        validate,
    )

__all__ = [
    "Scenario",
    "calibrate",
    "calibrate_comparators",
    "calibrate_frameworks",
    "calibrate_noise",
    "calibrate_own",
    "check",
    "claims",
    "collective",
    "compare",
    "config",
    "coverage",
    "diff",
    "explain",
    "explain_operators",
    "freeze",
    "goodput",
    "hold_outs",
    "import_model",
    "infer",
    "list_chips",
    "list_topologies",
    "list_workloads",
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
    "show_chip",
    "show_topology",
    "show_workload",
    "stencil",
    "sweep",
    "trace",
    "trace_collective",
    "validate",
    "validate_comparators",
    "write_scenario",
]

_MODULES: Final[Mapping[str, tuple[str, ...]]] = {
    "advising": ("mappings",),
    "answers": ("predict",),
    "collectives": (
        "collective",
        "trace_collective",
    ),
    "comparators": (
        "calibrate_comparators",
        "predict_comparator",
        "validate_comparators",
    ),
    "comparing": ("compare",),
    "differences": ("diff",),
    "evidence": (
        "claims",
        "microbenchmarks",
        "published",
    ),
    "explaining": ("explain",),
    "failures": ("goodput",),
    "frameworks": ("calibrate_frameworks",),
    "inference": ("infer",),
    "lookups": (
        "check",
        "config",
        "list_chips",
        "list_topologies",
        "list_workloads",
        "show_chip",
        "show_topology",
        "show_workload",
    ),
    "models": ("import_model",),
    "operators": (
        "explain_operators",
        "op",
    ),
    "plans": (
        "plan",
        "plan_mix",
    ),
    "run_cost": (
        "priced",
        "purse",
    ),
    "samplers": ("sample",),
    "scaling": ("scale",),
    "scenarios": (
        "read_scenario",
        "write_scenario",
    ),
    "stencils": ("stencil",),
    "sweeping": ("sweep",),
    "tracing": ("trace",),
    "upkeep": (
        "calibrate",
        "calibrate_noise",
        "calibrate_own",
        "coverage",
        "freeze",
        "hold_outs",
        "validate",
    ),
}
"""Verbs by the module that holds them, which is loaded when the first of them is used: each needs much of its own."""
_MODULE_OF: Final = {verb: module for module, verbs in _MODULES.items() for verb in verbs}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (a module attribute may be anything)
    """A verb, of the module that holds it."""
    if name in _MODULE_OF:
        return getattr(import_module(f"podsim.api.{_MODULE_OF[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """The verbs, and what a module has."""
    return sorted({*globals(), *__all__})
