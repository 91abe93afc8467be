"""The support matrix: what podsim answers for each workload on each machine, and on what that answer stands."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import cpu_count, get_context
from typing import Final

import podsim
from podsim.errors import Infeasible, PodsimError
from podsim.files import catalog
from podsim.model.quantity import Grade

MACHINES: Final = ("pod16", "pod64", "pod256", "pod1024", "bow-pod16", "bow-pod64", "bow-pod256", "bow-pod1024")
OTHERS: Final = ("dgx-a100", "tpu-v4")
DOES_NOT_FIT: Final = "does not fit"
NOT_EXPRESSIBLE: Final = "not expressible"
NAMES: Final = {Grade.INTERPOLATED: "interpolated", Grade.EXTRAPOLATED: "extrapolated", Grade.ASSUMED: "assumed"}


def page() -> str:
    """The table, a row a workload, and how many answers there are of each kind."""
    workloads = [listed.name for listed in podsim.list_workloads()]
    measured = {(point.workload, point.topology) for point in catalog.points()}
    with ProcessPoolExecutor(cpu_count(), mp_context=get_context("fork")) as pool:
        cells = [*pool.map(row, workloads)]
    rows = [
        [
            cell if (name, machine) not in measured else "measured"
            for machine, cell in zip(all_machines(), row_, strict=True)
        ]
        for name, row_ in zip(workloads, cells, strict=True)
    ]
    counts = Counter(cell for row_ in rows for cell in row_)
    head = f"| workload | {' | '.join(all_machines())} |\n|---|{'---|' * len(all_machines())}"
    table = "\n".join(
        f"| {name} | "
        + " | ".join(f'<span class="grade {cell.replace(" ", "-")}">{cell}</span>' for cell in row_)
        + " |"
        for name, row_ in zip(workloads, rows, strict=True)
    )
    total = ", ".join(f"{count} {cell}" for cell, count in counts.most_common())
    return f"{head}\n{table}\n\nOf {sum(counts.values())} answers: {total}."


def all_machines() -> tuple[str, ...]:
    """The columns."""
    return (*MACHINES, *OTHERS)


def row(workload: str) -> list[str]:
    """What podsim says of one workload on every machine."""
    return [grade(workload, machine) for machine in all_machines()]


def grade(workload: str, machine: str) -> str:
    """The grade of a predicted time to train, or of the throughput where a run has no length."""
    try:
        answer = podsim.predict(workload, topology=machine, **({} if machine in OTHERS else {"engine": "analytic"}))
    except Infeasible:
        return DOES_NOT_FIT
    except PodsimError:
        return NOT_EXPRESSIBLE
    estimate = getattr(answer, "time_to_train_s", None) or answer.throughput_samples_per_s
    return NAMES.get(estimate.grade, str(estimate.grade))
