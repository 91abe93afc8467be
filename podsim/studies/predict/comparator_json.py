"""Answers about chips that are no IPUs as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.report.json_text import plain, text

if TYPE_CHECKING:
    from podsim.model.comparator import (
        ComparatorChip,
        ComparatorMachine,
        ComparatorPrediction,
        ComparatorReport,
        ComparatorResult,
    )
    from podsim.model.run_cost import Owned

RUN = ("steps", "evaluations", "interval_samples", "startup_s", "training_s", "evaluation_s", "checkpoint_s")


def prediction(p: ComparatorPrediction) -> str:
    """`podsim predict --json` on such chips: the keys of podsim.prediction/1 that a scaling law has."""
    question = ("workload", "topology", "chip", "chips", "division", "optimizer", "round")
    return text(
        "prediction",
        {
            **{name: plain(getattr(p, name)) for name in question},
            "engine": "law",
            "mapping": {"global_batch": p.global_batch},
            "step_s": plain(p.step_s.value),
            "step_interval_s": {"low": plain(p.step_s.low), "high": plain(p.step_s.high)},
            "step_grade": p.step_s.grade.value,
            "breakdown_s": plain(p.breakdown_s),
            "throughput_samples_per_s": plain(p.throughput_samples_per_s),
            "samples_to_converge": plain(p.samples_to_converge),
            **{name: plain(getattr(p.run, name)) for name in RUN},
            "time_to_train_s": plain(p.time_to_train_s),
            "limited_by": p.limited_by,
            "assumptions": plain(p.assumptions),
            "calibration": p.calibration,
            **({"money": plain(p.money)} if p.money else {}),
        },
    )


def report(report: ComparatorReport) -> str:
    """`podsim validate --comparators --json` and `calibrate --comparators --json`; errors are fractions."""
    return text(
        "comparators",
        {
            "points": plain(report.points),
            "left_out": plain(report.left_out),
            "summaries": plain(report.summaries),
            "judged": plain(report.judged),
            "larger": plain(report.larger),
            "passed": not report.misses,
            "path": report.path,
        },
    )


def machine(
    chip: ComparatorChip, machine: ComparatorMachine, results: tuple[ComparatorResult, ...], money: Owned
) -> str:
    """`podsim topology show --json` of a machine that has no IPUs, with its published results."""
    facts = {name: plain(getattr(chip, name)) for name in ("title", "clock_hz", "memory_bytes", "power_w")}
    return text(
        "comparator",
        {
            "topology": plain(machine),
            "chip": {"name": chip.name, **facts},
            "money": plain(money),
            "results": plain(results),
        },
    )
