"""The verbs for chips that are no IPUs: wiring only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from podsim.api.checking import checked
from podsim.errors import InputError
from podsim.model.verbs import VERBS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from podsim.api.answers import Progress
    from podsim.model.comparator import ComparatorPrediction, ComparatorReport, Laws


@checked
def predict_comparator(
    workload: str,
    *,
    topology: str,
    chips: int | None = None,
    global_batch: int | None = None,
    samples: float | None = None,
    division: Literal["closed", "open"] = "closed",
) -> ComparatorPrediction:
    """Predict a training run on chips that are no IPUs: `podsim predict --topology dgx-a100`.

    Raises InputError where the question is malformed, MissingParameter where nothing is published of it.
    """
    from podsim.files import catalog, comparator_machines
    from podsim.model.training import Division
    from podsim.predicting import comparators

    placed = comparator_machines.machine(topology)
    return comparators.predict(comparators.Question(
        workload=catalog.workload(workload).value, chip=placed.chip.value, machine=placed.machine,
        chips=comparator_machines.count(placed, chips), laws=comparator_machines.laws(),
        division=Division(division), global_batch=global_batch, samples=samples,
    ))  # fmt: skip


SILENT = ("workload", "on_progress")
FLAGS = {"changes": "set", "faults": "fault"}


def by_law(asked: Mapping[str, Any]) -> ComparatorPrediction | None:
    """The answer to the keywords of `predict` where the machine has no IPUs; None where it has.

    `asked` holds the names of the verb, those beyond its signature under "others". Raises InputError for keywords that
    say nothing to a scaling law and for chips counted where there are IPUs.
    """
    flags = {**asked, **asked["others"]}
    del flags["others"]
    topology = flags["topology"]
    if topology is None or not _has_law(topology):
        _refuse_chips(flags.get("chips"), topology)
        return None
    from podsim.planning.sides import OF_LAWS

    usual = VERBS["predict"]
    for name, value in flags.items():
        if name not in (*OF_LAWS, *SILENT) and value != usual[name].default and value not in ([], {}):
            flag = f"--{FLAGS.get(name, name).replace('_', '-')}"
            raise InputError(
                f"{flag} says nothing to {topology}, which has no IPUs: a scaling law answers",
                code="conflicting-flags", hint="it takes --chips, --global-batch, --samples and --division",
            )  # fmt: skip
    return predict_comparator(flags["workload"], **{name: flags[name] for name in OF_LAWS if name in flags})


def _has_law(topology: str) -> bool:
    from podsim.files import comparator_machines

    return comparator_machines.meant(topology)


def _refuse_chips(chips: int | None, topology: str | None) -> None:
    """Raise InputError where IPUs are counted with --chips."""
    if chips is None:
        return
    if topology:
        from podsim.files import catalog

        catalog.topology(topology)  # a name that nobody knows is said to be that
    raise InputError(
        f"--chips sizes machines without IPUs, not {topology or 'an IPU-POD'}", code="conflicting-flags",
        hint=f"--pod {chips}, or --topology of one without IPUs: podsim topology list",
    )  # fmt: skip


@checked
def calibrate_comparators(
    *, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None
) -> ComparatorReport:
    """Fit the laws of other chips to their published results, and write them: `podsim calibrate --comparators`."""
    from podsim.files import comparator_machines
    from podsim.files.write import check_writable, laws_text, write_all

    target = Path(path) if path is not None else comparator_machines.laws_path()
    check_writable(target if write else None)
    laws, report = _fitted(on_progress)
    if not write:
        return report
    write_all([(target, laws_text(laws))], report)
    return replace(report, path=str(path or f"comparators/{target.name}"))


@checked
def validate_comparators(*, on_progress: Progress | None = None) -> ComparatorReport:
    """Hold laws of other chips against their results, with a chip count left out: `podsim validate --comparators`."""
    return _fitted(on_progress)[1]


def _fitted(on_progress: Progress | None) -> tuple[Laws, ComparatorReport]:
    from podsim.calibrate import comparator_holdout
    from podsim.calibrate.comparators import sort_out
    from podsim.files import catalog, comparator_machines, comparators

    chips = {chip.value.name: chip.value for chip in comparator_machines.chips()}
    kept, left_out = sort_out(comparators.shipped(), chips)
    known = {row.workload for row in kept} & set(catalog.names("workloads"))
    workloads = {name: catalog.workload(name).value for name in sorted(known)}
    return comparator_holdout.calibrate(kept, left_out, workloads, chips, on_progress)
