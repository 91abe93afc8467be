"""The verb that asks one question of machines of growing size: wiring only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Unpack

from podsim.api.answers import PracticeFlags, practice_of
from podsim.api.checking import checked
from podsim.api.money import on_machine
from podsim.errors import InputError
from podsim.model.quantity import NINETY_PERCENT
from podsim.planning.asking import LengthFlags
from podsim.planning.purse import MoneyFlags, Purse, no_rent, purse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from podsim.api.answers import Progress
    from podsim.model.fabric import Topology
    from podsim.model.prediction import Prediction
    from podsim.model.scaling import ScaleReport
    from podsim.model.workload import Workload
    from podsim.planning.runs import Length, Named
    from podsim.planning.search import Wanted
    from podsim.predicting.assemble import Question


class ScaleAsked(PracticeFlags, MoneyFlags, LengthFlags, total=False):
    """What is the same on every machine, as the flags of the same names."""

    hosts: int | None
    preset: str | None
    ipus_per_replica: int | None
    micro_batch: int | None
    accumulation: int | None
    global_batch: int | None
    samples: float | None
    division: Literal["closed", "open"]
    sdk: str | None
    interval: float
    parameters: str | None
    engine: Literal["des", "analytic"]
    fidelity: Literal["folded", "full"]
    seed: int
    failures: bool


@checked
def scale(
    workload: str,
    *,
    pods: str | Iterable[int] | None = None,
    topologies: str | Iterable[str] | None = None,
    scaling: Literal["best", "strong", "weak"] = "best",
    knee: float = 0.5,
    chip: str | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    on_progress: Progress | None = None,
    **asked: Unpack[ScaleAsked],
) -> ScaleReport:
    """Predict a run on machines of growing size; names and defaults are those of the flags of `podsim scale`.

    Raises InputError where the question is malformed, Infeasible where the workload fits none of the machines.
    """
    from podsim.files import catalog
    from podsim.model.scaling import Scaling
    from podsim.model.training import Division
    from podsim.planning import runs
    from podsim.planning import scaling as planning

    meant, known = runs.named(workload, changes), _purse(asked)
    length = meant.length(asked.get("samples"), asked)
    as_published = not changes and (topologies is None or chip is None)
    return planning.report(planning.Asked(
        workload=meant.name, title=meant.title, target=meant.target, packing=meant.models[0].packing,
        phases=len(meant.models), machines=_machines(pods, topologies, chip, changes),
        scaling=Scaling(scaling), wanted=_wanted(asked),
        division=Division(asked.get("division", "closed")),
        interval=asked.get("interval", NINETY_PERCENT), knee_gain=knee,
        points=catalog.points() if as_published else (), preset=_published(meant, asked.get("preset")),
        notes=planning.stops(pods) if pods is not None else (),
        answer=lambda name, wanted: on_machine(
            *_whole((meant, length), name, chip, changes, wanted, asked), changes, known
        ),
        on_progress=on_progress,
    ))  # fmt: skip


def _published(run: Named, preset: str | None) -> str | None:
    """The preset where it is a published mapping; a configuration leaves batch and mapping to the search."""
    configurations = {one.name for model in run.models for one in model.configurations}
    return None if preset in configurations else preset


def _whole(
    run: tuple[Named, Length], name: str, chip: str | None, changes: Mapping[str, str] | Sequence[str],
    wanted: Wanted, asked: ScaleAsked,
) -> tuple[Prediction, Topology]:  # fmt: skip
    """The prediction of the whole run for one machine, and that machine."""
    meant, length = run
    found = [_answer((model, length), name, chip, changes, wanted, asked) for model in meant.models]
    return meant.run.whole([prediction for prediction, _ in found]), found[0][1]


def _answer(
    run: tuple[Workload, Length],
    name: str,
    chip: str | None,
    changes: Mapping[str, str] | Sequence[str],
    wanted: Wanted,
    asked: ScaleAsked,
) -> tuple[Prediction, Topology]:
    """The prediction for one machine, of the workload as it was read once with its length, and that machine."""
    from podsim.planning import asking

    read, (samples, by_law) = run
    sdk, hosts, lasting = asked.get("sdk"), asked.get("hosts"), asked.get("failures", False)
    machine, model, named = asking.asked_of(
        read.name, name, chip=chip, preset=asked.get("preset"), sdk=sdk, hosts=hosts, changes=changes,
        also="failures." if lasting else "", parameters_file=asked.get("parameters"), known=read,
    )  # fmt: skip
    question = asking.question(
        machine, model, named, division=asked.get("division", "closed"), samples=samples, by_law=by_law,
        engine=asked.get("engine", "des"), fidelity=asked.get("fidelity", "folded"), seed=asked.get("seed", 0),
        interval=asked.get("interval", NINETY_PERCENT),
    )  # fmt: skip
    answer = asking.answer(question, wanted, named, (sdk, hosts, chip), None)
    return (_lasting(answer, question, changes) if lasting else answer), machine.topology


def _lasting(answer: Prediction, question: Question, changes: Mapping[str, str] | Sequence[str]) -> Prediction:
    """The answer with what failures make of it, checkpoints at the best interval."""
    from podsim.files import failures
    from podsim.predicting import goodput

    rates = failures.failures(changes).value
    found = goodput.goodput(answer, question, rates, work_s=None, interval_s=None, runs=None, spares=0)
    return replace(answer, goodput=found)


def _purse(asked: ScaleAsked) -> Purse:
    """The price list and terms meant; InputError for a rent, which is that of one machine."""
    no_rent(asked.get("rent_per_hour"))
    return purse(**MoneyFlags(**{name: asked[name] for name in MoneyFlags.__annotations__ if name in asked}))  # type: ignore[literal-required, typeddict-item]


def _wanted(asked: ScaleAsked) -> Wanted:
    from podsim.planning.practice import what_if
    from podsim.planning.search import Wanted

    return Wanted(
        None, asked.get("ipus_per_replica"), asked.get("micro_batch"), asked.get("accumulation"),
        asked.get("global_batch"), what_if(**practice_of(asked)),
    )  # fmt: skip


def _machines(
    pods: str | Iterable[int] | None,
    topologies: str | Iterable[str] | None,
    chip: str | None,
    changes: Mapping[str, str] | Sequence[str],
) -> tuple[tuple[str, int], ...]:
    """Name and IPUs of the machines meant, the smallest first."""
    from podsim.files import catalog
    from podsim.planning import asking
    from podsim.planning.scaling import ascending

    if (pods is None) == (topologies is None):
        which = "both" if pods is not None else "neither"
        raise InputError(f"give one of --pods and --topologies, not {which}", code="no-machine",
                         hint="--pods 16..1024, or --topologies pod64,pod256-switched")  # fmt: skip
    if pods is not None:
        return tuple((asking.machine_name(ipus, None, chip), ipus) for ipus in ascending(pods))
    listed = topologies.split(",") if isinstance(topologies, str) else topologies or ()
    names = [name.strip() for name in listed]
    asking.once("topologies", names, "--topologies pod64,pod256-switched")
    found = [(name, catalog.topology(name, changes, chip=chip).value.ipus) for name in names]
    return tuple(sorted(found, key=lambda machine: machine[1]))
