"""The verb that ranks mappings: wiring only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from podsim.api.answers import PracticeFlags, practice_of
from podsim.api.checking import checked
from podsim.planning.asking import LengthFlags

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podsim.api.answers import Progress
    from podsim.convergence.samples import LawLength
    from podsim.model.advice import Mappings
    from podsim.model.workload import Workload


class MappingsFlags(PracticeFlags, LengthFlags, total=False):
    """What else `mappings` takes: what is to be otherwise than practice, how long a run of a language model is."""


@checked
def mappings(
    workload: str,
    *,
    pod: int | None = None,
    topology: str | None = None,
    chip: str | None = None,
    hosts: int | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    parameters: str | None = None,
    replicas: int | None = None,
    ipus_per_replica: int | None = None,
    micro_batch: int | None = None,
    accumulation: int | None = None,
    global_batch: int | None = None,
    samples: float | None = None,
    sdk: str | None = None,
    by: Literal["time", "throughput"] = "time",
    most: int = 20,
    on_progress: Progress | None = None,
    **others: Unpack[MappingsFlags],
) -> Mappings:
    """Rank the legal mappings that fit; flags as those of `podsim workload map`. Raises InputError or Infeasible."""
    from podsim.model.advice import Rank
    from podsim.planning import advising, asking
    from podsim.planning.practice import what_if
    from podsim.planning.search import Wanted
    from podsim.predicting import convolutions

    machine, model, _ = asking.asked_of(
        workload, asking.machine_name(pod, topology, chip), chip=chip, preset=None, sdk=sdk, hosts=hosts,
        changes=changes, parameters_file=parameters,
    )  # fmt: skip
    rank = Rank(by)
    length, timed = _length(model, samples, others, needed=rank is Rank.TIME)
    question = asking.question(machine, model, None, samples=length[0], by_law=length[1], engine="analytic")
    wanted = Wanted(replicas, ipus_per_replica, micro_batch, accumulation, global_batch, what_if(**practice_of(others)))
    evidence = convolutions.unmeasured(model, machine.chip)
    said = (*machine.topology.notes, *evidence, *asking.silent(machine, sdk, hosts, chip))
    return advising.mappings(question, wanted, rank, most, said, on_progress, timed=timed)


def _length(
    model: Workload, samples: float | None, asked: MappingsFlags, *, needed: bool
) -> tuple[tuple[float | None, LawLength | None], bool]:
    """How long a run is, any where nobody says and it is not needed; whether somebody says it."""
    from podsim.planning import asking

    given = (samples, *(asked.get(name) for name in LengthFlags.__annotations__))
    if needed or asking.has_length(model) or any(value is not None for value in given):
        return asking.length(model, samples, asked, also="--by throughput, which needs none"), True
    return (asking.ANY_LENGTH, None), False
