"""The studies: one folder each, with the functions that answer, what they compute, and how an answer is written.

A folder declares its verbs and commands in its `__init__`, its functions are in `study`, the screen is in `report` and
the keys of the JSON in `json_keys`. A new folder is a new verb: nothing else lists it.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from podsim.model.argument import Argument
from podsim.model.verb import Command, Verb
from podsim.scenario import Scenario as Scenario
from podsim.studies import notebook as notebook

if TYPE_CHECKING:  # for editors and type checkers; names are looked up below
    from podsim.studies.app.study import app as app
    from podsim.studies.calibrate.study import calibrate as calibrate
    from podsim.studies.calibrate.study import calibrate_comparators as calibrate_comparators
    from podsim.studies.calibrate.study import calibrate_compile_times as calibrate_compile_times
    from podsim.studies.calibrate.study import calibrate_frameworks as calibrate_frameworks
    from podsim.studies.calibrate.study import calibrate_noise as calibrate_noise
    from podsim.studies.calibrate.study import calibrate_own as calibrate_own
    from podsim.studies.collective.study import collective as collective
    from podsim.studies.collective.study import trace_collective as trace_collective
    from podsim.studies.compare.study import compare as compare
    from podsim.studies.diff.study import diff as diff
    from podsim.studies.explain.measurements import explain_measurements as explain_measurements
    from podsim.studies.explain.operators import explain_operators as explain_operators
    from podsim.studies.explain.study import explain as explain
    from podsim.studies.goodput.study import goodput as goodput
    from podsim.studies.infer.study import infer as infer
    from podsim.studies.look_up.models import import_model as import_model
    from podsim.studies.look_up.study import check as check
    from podsim.studies.look_up.study import config as config
    from podsim.studies.look_up.study import list_chips as list_chips
    from podsim.studies.look_up.study import list_topologies as list_topologies
    from podsim.studies.look_up.study import list_workloads as list_workloads
    from podsim.studies.look_up.study import show_chip as show_chip
    from podsim.studies.look_up.study import show_topology as show_topology
    from podsim.studies.look_up.study import show_workload as show_workload
    from podsim.studies.mappings.study import mappings as mappings
    from podsim.studies.op.study import op as op
    from podsim.studies.plan.study import plan as plan
    from podsim.studies.plan.study import plan_mix as plan_mix
    from podsim.studies.predict.economics import ownership_terms as ownership_terms
    from podsim.studies.predict.economics import price as price
    from podsim.studies.predict.gate import gate as gate
    from podsim.studies.predict.scenario_files import read_scenario as read_scenario
    from podsim.studies.predict.scenario_files import write_scenario as write_scenario
    from podsim.studies.predict.study import predict as predict
    from podsim.studies.predict.study import predict_comparator as predict_comparator
    from podsim.studies.sample.study import sample as sample
    from podsim.studies.scale.study import scale as scale
    from podsim.studies.stencil.study import stencil as stencil
    from podsim.studies.sweep.study import sweep as sweep
    from podsim.studies.trace.study import trace as trace
    from podsim.studies.trace.two_traces import trace_diff as trace_diff
    from podsim.studies.validate.study import claims as claims
    from podsim.studies.validate.study import coverage as coverage
    from podsim.studies.validate.study import freeze as freeze
    from podsim.studies.validate.study import hold_outs as hold_outs
    from podsim.studies.validate.study import microbenchmarks as microbenchmarks
    from podsim.studies.validate.study import validate as validate
    from podsim.studies.validate.study import validate_comparators as validate_comparators
    from podsim.studies.validate.study import validate_published as validate_published


@cache
def folders() -> tuple[str, ...]:
    """The names of the studies."""
    return tuple(sorted(module.name for module in iter_modules(__path__) if module.ispkg))


@cache
def verbs() -> Mapping[str, tuple[str, Verb]]:
    """Every verb by name: the module that holds its function, and what its study declares of it."""
    table: dict[str, tuple[str, Verb]] = {}
    for folder in folders():
        study_verbs: Mapping[str, Verb] = import_module(f"podsim.studies.{folder}").VERBS
        table |= {name: (f"podsim.studies.{folder}.{verb.module}", verb) for name, verb in study_verbs.items()}
    return table


@cache
def arguments(verb: str) -> Mapping[str, Argument]:
    """The arguments of a verb by name, in the order of its positional ones."""
    return {argument.name: argument for argument in verbs()[verb][1].arguments}


@cache
def commands() -> Mapping[str, tuple[str, Command]]:
    """Every command by name in the order of the first page: its study, and what the study declares of it."""
    study_commands = [
        (folder, command) for folder in folders() for command in import_module(f"podsim.studies.{folder}").COMMANDS
    ]
    return {
        command.name: (folder, command) for folder, command in sorted(study_commands, key=lambda pair: pair[1].place)
    }


def load(name: str) -> Any:  # noqa: ANN401  (a function of any signature)
    """The function of a verb, from the module that holds it; KeyError where there is no such verb."""
    return getattr(import_module(verbs()[name][0]), name)
