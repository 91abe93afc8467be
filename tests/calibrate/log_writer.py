"""Writes MLPerf result logs whose figures are known: of published runs, and of runs that the model predicts."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[2]
BEGAN_MS = 1_620_000_000_000
HOUR_MS = 3_600_000


@dataclass
class Spec:
    """One run as it is to be logged, seconds; `later_s` is from stop to stop where evaluations follow training."""

    platform: str
    benchmark: str
    division: str
    optimizer: str
    global_batch: int
    accumulation: int | None
    target: float
    startup_s: float
    blocks_s: Sequence[float]
    evaluations: int
    first_s: float
    later_s: float
    samples: float
    dataset: int = 0  # 0: evaluates between its blocks
    switch_s: float = 0.0
    init_s: float = 100.0
    normalisation: float = 1.0
    reached: bool = True
    seed: int = 1
    number: int = 0
    extra: list[tuple[str, object, dict[str, object]]] = field(default_factory=list)


def log(spec: Spec) -> list[str]:
    """The lines of a log, among other text."""
    began = BEGAN_MS + spec.number * HOUR_MS
    start = began + 1e3 * spec.init_s
    lines = ["poprun: starting instances", _event("submission_platform", spec.platform, began)]
    table = {
        "submission_org": "Graphcore",
        "submission_division": spec.division,
        "submission_benchmark": spec.benchmark,
        "global_batch_size": spec.global_batch,
        "opt_name": spec.optimizer,
        "opt_base_learning_rate": 0.002,
        "seed": spec.seed,
        "target_accuracy": spec.target,
    }
    if spec.accumulation:
        table["gradient_accumulation_steps"] = spec.accumulation
    if spec.dataset:
        table["train_samples"] = spec.dataset
    lines += [_event(key, value, began) for key, value in table.items()]
    lines += [_event(key, value, began, **metadata) for key, value, metadata in spec.extra]
    lines += [_event("init_stop", None, start), _event("run_start", None, start)]
    stop, middle = _body(spec, start)
    status = "success" if spec.reached else "aborted"
    end = start + (stop - start) * spec.normalisation
    if not spec.dataset:
        middle.append(_event("train_samples", round(spec.samples), stop))
    return [*lines, *middle, _event("run_stop", None, end, status=status), "poprun: done"]


def _body(spec: Spec, start: float) -> tuple[float, list[str]]:
    """Training and evaluations, and when they end [ms]."""
    at, lines = start + 1e3 * spec.startup_s, []
    for number, block_s in enumerate(spec.blocks_s, 1):
        lines += [_event("block_start", None, at, first_epoch_num=number), f"loss at {number}"]
        at += 1e3 * block_s
        lines.append(_event("block_stop", None, at, first_epoch_num=number))
        if not spec.dataset:
            length_s = spec.first_s if number == 1 else spec.later_s
            at, notes = _evaluation(
                spec, at, length_s, number == len(spec.blocks_s), spec.samples * number / len(spec.blocks_s)
            )
            lines += notes
    if spec.dataset:
        at += 1e3 * spec.switch_s
        for number in range(spec.evaluations):
            last = number == spec.evaluations - 1
            length_s = spec.first_s if number == 0 else spec.later_s
            at, notes = _evaluation(spec, at, length_s, last, len(spec.blocks_s) * (number + 1) / spec.evaluations)
            lines += notes
    return at, lines


def _evaluation(spec: Spec, at: float, length_s: float, last: bool, epoch_num: float) -> tuple[float, list[str]]:
    stop = at + 1e3 * length_s
    quality = spec.target + (0.001 if last and spec.reached else -0.01)
    return stop, [
        _event("eval_start", None, at, epoch_num=epoch_num),
        _event("eval_accuracy", quality, stop, epoch_num=epoch_num),
        _event("eval_stop", None, stop, epoch_num=epoch_num),
    ]


def _event(key: str, value: object, time_ms: float, **metadata: object) -> str:
    table = {
        "namespace": "",
        "time_ms": round(time_ms),
        "event_type": "POINT_IN_TIME",
        "key": key,
        "value": value,
        "metadata": {"file": "train.py", "lineno": 1, **metadata},
    }
    return f":::MLLOG {json.dumps(table)}"


def _stack(locator: str) -> str:
    """What sets a submission apart from the others of its round, workload and machine."""
    if "Paddle" not in locator:
        return ""
    return "-paddle-baidu" if locator.startswith("Baidu/") else "-paddle"


def published() -> dict[str, list[Spec]]:
    """Point id to the runs that were published, with their training blocks one by one."""
    blocks: dict[tuple[str, str], tuple[float, list[float]]] = {}
    with (ROOT / "calibration/blocks.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            seconds = [float(text) for text in row["blocks_s"].split(";")]
            blocks[row["point"], row["run"]] = float(row["init_s"]), seconds
    published: dict[str, list[Spec]] = {}
    with (ROOT / "tests/data/mlperf-ipu-runs.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            workload = {"bert": "bert", "resnet": "resnet50"}[row["benchmark"]]
            id_ = f"{workload}/{row['system'].removeprefix('IPU-').lower()}/v{row['round']}-{row['division']}"
            id_ += _stack(row["source_path"])
            published.setdefault(id_, []).append(_of_row(row, *blocks[id_, row["run"]]))
    return published


def _of_row(row: dict[str, str], init_s: float, blocks_s: list[float]) -> Spec:
    bert = row["benchmark"] == "bert"
    evaluations = int(row["evaluations"])
    return Spec(
        platform=row["source_path"].split("/")[2],
        benchmark=row["benchmark"],
        division=row["division"],
        optimizer=row["optimizer"],
        global_batch=int(row["global_batch"]),
        accumulation=None,
        target=0.72 if bert else 0.759,
        startup_s=float(row["startup_s"]),
        blocks_s=blocks_s,
        evaluations=evaluations,
        first_s=float(row["first_evaluation_s"]),
        later_s=float(row["each_evaluation_s"]),
        samples=float(row["samples_to_converge"]),
        dataset=0 if bert else 1_281_167,
        switch_s=float(row["graph_switch_s"] or 0),
        init_s=init_s,
        normalisation=float(row["normalisation"]),
        reached=row["target_reached"] == "True",
        seed=int(row["seed"]),
        number=int(row["run"]),
    )


def predicted(case: object, step_s: float, run_s: dict[str, float], runs: int = 2) -> Iterable[Spec]:
    """Noise-free runs of one case with a given step time, of different lengths where they evaluate as they go."""
    point, workload, preset = case.point, case.workload, case.preset  # type: ignore[attr-defined]
    inside = workload.benchmark.dataset_samples is None
    for number in range(runs):
        if inside:
            evaluations = round(point.evaluations) + number
            per_block = round(point.steps / point.evaluations)
            samples = per_block * evaluations * point.global_batch * workload.packing
            blocks = [per_block * step_s] * evaluations
        else:
            length = round(point.samples_to_converge / workload.benchmark.dataset_samples)
            evaluations, samples = round(point.evaluations), point.samples_to_converge
            each_s = math.ceil(samples / point.global_batch) * step_s / length
            blocks = [each_s + (run_s["checkpoint"] if at % 4 == 1 else 0.0) for at in range(length)]
        yield Spec(
            platform=f"IPU-{point.topology.upper()}",
            benchmark="bert" if inside else "resnet",
            division=str(point.division),
            optimizer={"momentum": "sgd"}.get(point.optimizer, point.optimizer),
            global_batch=point.global_batch,
            accumulation=preset.accumulation,
            target=0.7,
            startup_s=run_s["startup"],
            blocks_s=blocks,
            evaluations=evaluations,
            first_s=run_s["evaluation"],
            later_s=run_s["evaluation"] / 2,
            samples=samples,
            dataset=0 if inside else workload.benchmark.dataset_samples,
            switch_s=0.0 if inside else run_s["switch"],
            number=number,
            seed=number,
        )


def write(folder: Path, specs: Iterable[Spec]) -> None:
    """One file a run."""
    folder.mkdir(parents=True, exist_ok=True)
    for spec in specs:
        (folder / f"result_{spec.number}.txt").write_text("\n".join(log(spec)) + "\n", encoding="utf-8")
