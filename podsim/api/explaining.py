"""Why a run takes as long as it does: wiring only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Unpack

from podsim.api.answers import AskedFlags, Progress, practice_of
from podsim.api.checking import checked
from podsim.planning.asking import LengthFlags

if TYPE_CHECKING:
    from collections.abc import Mapping

    from podsim.model.explanation import Explanation
    from podsim.planning.search import Wanted


class ExplainFlags(AskedFlags, LengthFlags, total=False):
    """What else `explain` takes: a mapping on a machine, how long a run of a language model is."""


@checked
def explain(
    workload: str,
    *,
    samples: float | None = None,
    division: Literal["closed", "open"] = "closed",
    sdk: str | None = None,
    interval: float = 0.9,
    engine: Literal["des", "analytic"] = "des",
    seed: int = 0,
    on_progress: Progress | None = None,
    **asked: Unpack[ExplainFlags],
) -> Explanation:
    """Take a predicted run apart; flags as those of `podsim explain`.

    Raises InputError where the question is malformed, Infeasible where the answer is no.
    """
    from podsim.planning import runs

    told = {"samples": samples, "division": division, "sdk": sdk, "interval": interval, "engine": engine, "seed": seed}
    run = runs.run(workload)
    run.check({**told, **asked})
    found = [_of_one(name, told, asked, on_progress) for name in run.workloads]
    if run.phases is None:
        return found[0]
    from podsim.predicting import explained_run

    return explained_run.together(run.whole([one.prediction for one in found]), found)


def _of_one(workload: str, told: Mapping[str, Any], asked: ExplainFlags, on_progress: Progress | None) -> Explanation:
    """One workload taken apart."""
    from podsim.files import catalog
    from podsim.model.explanation import Explanation
    from podsim.planning import alternatives, influences
    from podsim.planning.asking import asked_of, length, machine_name, question, settled
    from podsim.predicting import assemble, explaining

    chip, sdk, hosts, changes = asked.get("chip"), told["sdk"], asked.get("hosts"), asked.get("changes", ())
    name = machine_name(asked.get("pod"), asked.get("topology"), chip)
    machine, model, named = asked_of(
        workload, name, chip=chip, preset=asked.get("preset"), sdk=sdk, hosts=hosts, changes=changes,
        parameters_file=asked.get("parameters"),
    )  # fmt: skip
    samples, by_law = length(model, told["samples"], asked)
    others = {name: value for name, value in told.items() if name not in ("sdk", "samples")}
    meant = question(machine, model, named, samples=samples, by_law=by_law, **others)
    wanted = _wanted(asked)
    prediction = assemble.predict(meant, *settled(meant, wanted, named, (sdk, hosts, chip), on_progress))
    known = explaining.answered(meant, prediction)
    return Explanation(
        prediction=prediction,
        waterfall=explaining.waterfall(meant, prediction),
        without=tuple(explaining.without(known)),
        influences=influences.influences(known, prediction, catalog.topology(name, changes, chip=chip), on_progress),
        alternatives=alternatives.alternatives(alternatives.around(known, wanted.what_if, name, changed=bool(changes))),
    )


def _wanted(asked: ExplainFlags) -> Wanted:
    from podsim.planning.practice import what_if
    from podsim.planning.search import Wanted

    split = (asked.get("replicas"), asked.get("ipus_per_replica"), asked.get("micro_batch"), asked.get("accumulation"))
    return Wanted(*split, asked.get("global_batch"), what_if(**practice_of(asked)))
