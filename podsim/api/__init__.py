"""The verbs of podsim as functions: those that answer, and those that keep the model honest."""

from podsim.api import drawing as drawing
from podsim.api.advising import mappings
from podsim.api.answers import (
    collective,
    explain_operators,
    goodput,
    op,
    predict,
    trace,
    trace_collective,
)
from podsim.api.comparators import calibrate_comparators, predict_comparator, validate_comparators
from podsim.api.comparing import compare
from podsim.api.explaining import explain
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
from podsim.api.plans import plan, plan_mix
from podsim.api.run_cost import priced, purse
from podsim.api.samplers import sample
from podsim.api.scaling import scale
from podsim.api.scenarios import read_scenario, write_scenario
from podsim.api.stencils import stencil
from podsim.api.sweeping import sweep
from podsim.api.upkeep import (
    calibrate,
    calibrate_noise,
    calibrate_own,
    claims,
    coverage,
    diff,
    freeze,
    hold_outs,
    microbenchmarks,
    published,
    validate,
)
from podsim.scenario import Scenario

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
