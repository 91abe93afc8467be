"""The verb that holds machines against each other: wiring only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast

from podsim.api.answers import practice_of
from podsim.api.checking import checked
from podsim.api.comparators import predict_comparator
from podsim.api.money import priced
from podsim.errors import Infeasible
from podsim.planning import asking, runs, sides
from podsim.planning.purse import MoneyFlags, Purse, purse

if TYPE_CHECKING:
    from podsim.api.answers import Progress
    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.comparison import Comparison, Difference
    from podsim.model.prediction import Prediction
    from podsim.predicting.comparing import Simulated

    Found = tuple[Prediction | ComparatorPrediction, tuple[Simulated, ...]]


SPLIT = ("replicas", "ipus_per_replica", "micro_batch", "accumulation", "global_batch")


class Flags(MoneyFlags, sides.SideFlags, asking.LengthFlags, total=False):
    """Terms of owning, what the sides are, how long the run of each is, and how its work is split."""

    preset: str | None
    replicas: int | None
    ipus_per_replica: int | None
    micro_batch: int | None
    accumulation: int | None
    global_batch: int | None


@checked
def compare(
    workload: str,
    machines: Sequence[str] = (),
    *,
    chip: str | None = None,
    chips: int | None = None,
    samples: float | None = None,
    division: Literal["closed", "open"] = "closed",
    sdk: str | None = None,
    interval: float = 0.9,
    hosts: int | None = None,
    parameters: str | None = None,
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    seed: int = 0,
    on_progress: Progress | None = None,
    practice: Mapping[str, Any] | None = None,
    **flags: Unpack[Flags],
) -> Comparison:
    """Machines by name, or one by `pod` or `topology` and what it is compared `to`: `podsim compare`.

    Sides that do not fit are listed as `infeasible`, and others are compared with the first that fits.
    Raises InputError where the question is malformed, Infeasible where no side fits.
    """
    of_sides = ("preset", *SPLIT, *asking.LengthFlags.__annotations__)
    asked = {
        **{name: flags.get(name) for name in of_sides}, "chip": chip, "chips": chips, "samples": samples,
        "division": division, "sdk": sdk, "interval": interval, "hosts": hosts, "parameters": parameters,
        "engine": engine, "fidelity": fidelity, "seed": seed, **(practice or {}),
    }  # fmt: skip
    told = cast("sides.SideFlags", {name: flags.get(name) for name in sides.SideFlags.__annotations__ if name in flags})
    terms = cast("MoneyFlags", {name: flags.get(name) for name in MoneyFlags.__annotations__ if name in flags})
    meant, known = sides.wanted(machines, told, asked), purse(**terms)
    sides.check_chips(meant)
    return _compared(_answers(workload, meant, known, on_progress), meant, interval, seed)


def _answers(
    workload: str, meant: Sequence[sides.Wanted], known: Purse, on_progress: Progress | None
) -> list[Found | Infeasible]:
    """The answer of each side, or why it does not fit."""
    found: list[Found | Infeasible] = []
    for done, side in enumerate(meant):
        try:
            found.append(_side(workload, side, known))
        except Infeasible as error:
            found.append(error)
        if on_progress:
            on_progress(done + 1, len(meant))
    return found


def _side(workload: str, side: sides.Wanted, known: Purse) -> Found:
    """The answer of one side with what it costs, and what may move it."""
    from podsim.files import catalog
    from podsim.predicting import comparing

    name = side.asked["topology"]
    if sides.has_law(side):
        law = predict_comparator(workload, **sides.of_law(side))
        scored = catalog.workload(workload).value.benchmark.runs_scored
        return priced(law, known=known), (comparing.of_law(law, max(3, scored)),)
    run, asked = runs.run(workload), {key: value for key, value in side.asked.items() if key != "chips"}
    run.check(asked)
    found = [_predicted(one, run, **asked) for one in run.workloads]
    answer, simulated = run.whole([one for one, _ in found]), tuple(moved for _, moved in found)
    changes = side.asked.get("changes", ())
    return priced(answer, topology=name, chip=side.asked["chip"], changes=changes, known=known), simulated


def _predicted(
    workload: str,
    run: runs.Run,
    **asked: Any,  # noqa: ANN401  (those of `predict`)
) -> tuple[Prediction, Simulated]:
    from podsim.planning.practice import what_if
    from podsim.planning.search import Wanted
    from podsim.predicting import comparing

    chip, sdk, hosts = asked["chip"], asked["sdk"], asked["hosts"]
    machine, model, named = asking.asked_of(
        workload, asking.machine_name(asked.get("pod"), asked["topology"], chip), chip=chip, preset=asked["preset"],
        sdk=sdk, hosts=hosts, changes=asked.get("changes", ()), parameters_file=asked["parameters"],
    )  # fmt: skip
    samples, by_law = asking.length(model, asked["samples"], asked)
    question = asking.question(
        machine, model, named, samples=samples, by_law=by_law,
        **{name: asked[name] for name in ("division", "engine", "fidelity", "seed", "interval")},
    )  # fmt: skip
    split = {name: asked[name] for name in SPLIT}
    wanted = Wanted(**split, what_if=what_if(**practice_of(asked)))
    answer = asking.answer(question, wanted, named, (sdk, hosts, chip), None)
    return answer, comparing.of_prediction(answer, question, run.phases.name if run.phases else "")


def _compared(
    answers: Sequence[Found | Infeasible], sides_of: Sequence[sides.Wanted], level: float, seed: int
) -> Comparison:
    """The sides that fit, compared with the first of them; Infeasible where there is none."""
    from podsim.model.comparison import Comparison, InfeasibleSide, Side

    pairs = list(zip(answers, sides_of, strict=True))
    found = [one for one in answers if not isinstance(one, Infeasible)]
    meant = [side for one, side in pairs if not isinstance(one, Infeasible)]
    refused = [(one, side) for one, side in pairs if isinstance(one, Infeasible)]
    if not found:
        raise refused[0][0]
    first = found[0][0]
    named = sides.labels([answer.topology_title for answer, _ in found], meant)
    return Comparison(
        workload=first.workload,
        workload_title=first.workload_title,
        target=first.target,
        sides=tuple(
            Side(
                label=label,
                answer=answer,
                topology=side.asked.get("topology") or answer.topology,
                chip=side.asked.get("chip"),
                changes=sides.spelled(side.asked.get("changes", ())),
            )
            for label, (answer, _), side in zip(named, found, meant, strict=True)
        ),
        differences=tuple(
            _difference(label, found[0], other, level, seed) for label, other in zip(named[1:], found[1:], strict=True)
        ),
        interval=level,
        seed=seed,
        infeasible=tuple(
            InfeasibleSide(
                label=sides.name(side), code=error.code, message=error.message, context=error.context, hint=error.hint
            )
            for error, side in refused
        ),
    )


def _difference(label: str, first: Found, other: Found, level: float, seed: int) -> Difference:
    from podsim.model.comparison import Difference
    from podsim.predicting import comparing

    (before, simulated), (after, against) = first, other
    time = comparing.ratio(simulated, against, seed=seed, level=level)
    rates, needs = (
        getattr(after, name).value / getattr(before, name).value
        for name in ("throughput_samples_per_s", "samples_to_converge")
    )
    return Difference(
        label=label,
        time=time,
        unshared=comparing.ratio(simulated, against, seed=seed, level=level, shared=False),
        throughput=rates,
        samples=needs,
        causes=comparing.causes(simulated, against),
        parts=tuple(comparing.parts(before, after)),
        per_dollar=sides.per_dollar(time, before.money, after.money),
        per_watt=sides.per_watt(time, before.money, after.money),
    )
