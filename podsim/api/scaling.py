"""The verb that asks one question of machines of growing size: wiring only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from podsim.api.answers import PracticeFlags
from podsim.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from podsim.api.answers import Progress
    from podsim.model.prediction import Prediction
    from podsim.model.scaling import ScaleReport
    from podsim.planning.search import Wanted


def scale(
    workload: str,
    *,
    pods: str | Iterable[int] | None = None,
    topologies: str | Iterable[str] | None = None,
    scaling: Literal["best", "strong", "weak"] = "best",
    knee: float = 0.5,
    chip: str | None = None,
    ipus_per_replica: int | None = None,
    micro_batch: int | None = None,
    accumulation: int | None = None,
    global_batch: int | None = None,
    samples: float | None = None,
    division: Literal["closed", "open"] = "closed",
    sdk: str | None = None,
    interval: float = 0.9,
    changes: Mapping[str, str] | Sequence[str] = (),
    parameters: str | None = None,
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    seed: int = 0,
    on_progress: Progress | None = None,
    **practice: Unpack[PracticeFlags],
) -> ScaleReport:
    """Predict a run on machines of growing size; names and defaults are those of the flags of `podsim scale`.

    Raises InputError where the question is malformed, Infeasible where the workload fits none of the machines.
    """
    from podsim.files import catalog
    from podsim.model.scaling import Scaling
    from podsim.model.training import Division
    from podsim.planning import asking
    from podsim.planning import scaling as planning
    from podsim.planning.practice import what_if
    from podsim.planning.search import Wanted

    model = catalog.workload(workload, changes).value

    def answer(name: str, wanted: Wanted) -> Prediction:
        machine, _, _ = asking.asked_of(workload, name, chip=chip, preset=None, sdk=sdk, hosts=None, changes=changes,
                                        parameters_file=parameters, known=model)  # fmt: skip
        question = asking.question(machine, model, None, division=division, samples=samples, engine=engine,
                                   fidelity=fidelity, seed=seed, interval=interval)  # fmt: skip
        return asking.answer(question, wanted, None, (sdk, None, chip), None)

    as_published = not changes and (topologies is None or chip is None)
    return planning.report(planning.Asked(
        workload=model, machines=_machines(pods, topologies, chip, changes),
        scaling=Scaling(asking.one_of("scaling", scaling, Scaling)),
        wanted=Wanted(None, ipus_per_replica, micro_batch, accumulation, global_batch, what_if(**practice)),
        division=Division(asking.one_of("division", division, Division)), interval=interval, knee_gain=knee,
        points=catalog.points() if as_published else (), answer=answer, on_progress=on_progress,
    ))  # fmt: skip


def _machines(
    pods: str | Iterable[int] | None,
    topologies: str | Iterable[str] | None,
    chip: str | None,
    changes: Mapping[str, str] | Sequence[str],
) -> tuple[tuple[str, int], ...]:
    """Name and IPUs of the machines meant, the smallest first."""
    from podsim.files import catalog
    from podsim.planning import asking
    from podsim.planning.scaling import sizes

    if (pods is None) == (topologies is None):
        which = "both" if pods is not None else "neither"
        raise InputError(f"give one of --pods and --topologies, not {which}", code="no-machine",
                         hint="--pods 16..1024, or --topologies pod64,pod256-switched")  # fmt: skip
    if pods is not None:
        return tuple((asking.machine_name(ipus, None, chip), ipus) for ipus in sizes(pods))
    listed = topologies.split(",") if isinstance(topologies, str) else topologies or ()
    names = dict.fromkeys(name.strip() for name in listed)
    found = [(name, catalog.topology(name, changes, chip=chip).value.ipus) for name in names]
    return tuple(sorted(found, key=lambda machine: machine[1]))
