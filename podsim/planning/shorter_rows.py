"""The sequence that would fit where a model of a config.json does not, with as many tokens as it has positions for."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from podsim.errors import Infeasible, InputError, PodsimError
from podsim.files import catalog
from podsim.planning.configuration import MOST_IPUS, MappingBuilder, powers, relax, what_if

if TYPE_CHECKING:
    from podsim.model.fabric import Topology
    from podsim.model.workload import Workload
    from podsim.resolve import Case

SHORTEST: Final = 256
USUAL: Final = 8192  # tokens at which most of Llama 3.1 was trained (dubey-2024)
NO_DIVISION: Final = "mapping-does-not-divide"
OPTION: Final = "import.sequence="


def with_advice(refusal: PodsimError, case: Case) -> PodsimError:
    """The refusal with `--sequence` of the longest power of two that fits as its hint, tried; as it is where none.

    Where the machine is smaller than a replica that streams its weights in parts, on the machine that is as large.
    """
    model, here = case.question.workload, case.question.machine.topology
    if not is_config(case.scenario.workload) or not model.row_tokens:
        return refusal
    if refusal.code == Infeasible.code:
        if tokens := _longest(case, here, model.row_tokens - 1):
            hint = f"--sequence {tokens} fits, the longest power of two that does; this model has {model.row_tokens:,}"
            return Infeasible(refusal.message, code=refusal.code, context=refusal.context, hint=hint)
        return refusal
    shards = min((configuration.tensor_shards for configuration in model.configurations), default=1)
    small = refusal.code == NO_DIVISION and shards > here.ipus
    if small and (tokens := _longest(case, _pod(shards, here), model.row_tokens)):
        hint = f"--pod {shards} --sequence {tokens} fits, the longest power of two that does"
        return type(refusal)(refusal.message, code=refusal.code, context=refusal.context, hint=hint)
    return refusal


def _pod(ipus: int, like: Topology) -> Topology:
    """The pod of so many IPUs of the chip of a machine."""
    return catalog.pod(ipus, chip=like.chip.name).value


def _longest(case: Case, topology: Topology, most: int) -> int:
    """The longest row of a power of two that a replica on a machine holds, at most so many tokens; 0 where none."""
    others = [change for change in case.scenario.what_if.changes if not change.startswith(OPTION)]
    for tokens in reversed(powers(most)):
        if tokens < SHORTEST:
            break
        shorter = catalog.workload(case.scenario.workload, (*others, f"{OPTION}{tokens}")).value
        if _fits(case, shorter, topology):
            return tokens
    return 0


def usual(model: Workload, name: str) -> str:
    """The sequence that models of longer ones are mostly trained with, as a hint; "" where that is no shorter."""
    if not is_config(name) or (model.row_tokens or 0) <= USUAL:
        return ""
    here = f"this model has {model.row_tokens:,} tokens per row"
    return f"--sequence {USUAL}, at which most of Llama 3.1 was trained: {here}"


def is_config(name: str) -> bool:
    """Whether a workload is a config.json, which leaves the length of a row open."""
    return name.casefold().endswith(".json")


def _fits(case: Case, model: Workload, topology: Topology) -> bool:
    """Whether a replica of any size that the scenario allows holds one row, weights streamed if need be."""
    constraints = case.scenario.mapping
    planner = MappingBuilder(model, topology, case.question.machine.like, what_if(case.scenario))
    sizes = (constraints.ipus_per_replica,) if constraints.ipus_per_replica else powers(min(MOST_IPUS, topology.ipus))
    for way in (planner.what_if, *relax(planner.what_if, model, topology)):
        for size in sizes:
            with suppress(InputError):
                _, memory = planner.otherwise(way).first_that_fits(
                    replicas=constraints.replicas or topology.ipus // size,
                    ipus_per_replica=size,
                    micro_batch=constraints.micro_batch or 1,
                    accumulation=constraints.accumulation or 1,
                )
                if memory.fits:
                    return True
    return False
