"""Runs in phases: one prediction after the other, and their sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from podsim.model.phases import PhasesPrediction


def in_phases(workload: str) -> bool:
    """Whether a name or a file means a run in phases."""
    from podsim.files import run_phases

    return run_phases.phases(workload) is not None


def predict_phases(run: str, **flags: Any) -> PhasesPrediction:  # noqa: ANN401  (those of `predict`)
    """Predict every phase of a run with the flags of `predict`, and their sum (Eq. 77).

    Raises InputError, as `predict` does and where the length of the whole is asked for, or Infeasible.
    """
    from podsim.api.answers import predict
    from podsim.errors import InputError
    from podsim.files import run_phases
    from podsim.model.prediction import Prediction
    from podsim.predicting.phases import together

    found = run_phases.phases(run)
    if found is None:
        known = ", ".join(run_phases.names())
        raise InputError(f'"{run}" is no run in phases', code="unknown-workload", context=[f"known: {known}"])
    if flags.get("samples") is not None:
        raise InputError("--samples says nothing to a run in phases: each has its length", code="conflicting-flags",
                         hint=f"podsim predict {found.phases[0].workload} --samples X")  # fmt: skip
    answers = []
    for phase in found.phases:
        answer = predict(phase.workload, **flags)
        if not isinstance(answer, Prediction):
            raise InputError(f"no law knows phases, and {answer.topology} has no IPUs", code="conflicting-flags",
                             hint="--pod 64")  # fmt: skip
        answers.append(answer)
    return together(found, tuple(answers))
