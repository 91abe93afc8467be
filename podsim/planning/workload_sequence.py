"""A run is a list of workloads, mostly one: every verb asks each, and the answers add up here."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from podsim.convergence.lengths import run_length
from podsim.errors import InputError
from podsim.files import catalog, run_phases
from podsim.predicting.run_sequence import together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.files.changes import Changes
    from podsim.model.phases import Phases
    from podsim.model.prediction import Prediction
    from podsim.model.workload import Workload
    from podsim.scenario import Scenario

LENGTHS = ("samples", "tokens", "law", "target_loss", "epochs")
"""Flags of how long a run is."""


@dataclass(frozen=True, slots=True)
class WorkloadSequence:
    """What is to be trained one after the other; `phases` is None where it is one workload."""

    workloads: tuple[str, ...]
    phases: Phases | None = None

    def check(self, scenario: Scenario, *, failures: bool = False) -> None:
        """Raise InputError where flags say what each phase says itself, or what one workload alone answers."""
        if self.phases is None:
            return
        first, why = self.workloads[0], "a run in phases: each has its length"
        if failures:
            raise InputError(
                "--failures simulates one workload at a time",
                code="conflicting-flags",
                context=[f"{self.phases.name} is a run in phases"],
                hint=f"podsim scale {shlex.quote(first)} --failures",
            )
        flags = scenario.flags()
        for name in (*LENGTHS, "steps"):
            if name in flags:
                flag, why = name.replace("_", "-"), why if name != "steps" else "a run in phases, whose steps differ"
                raise InputError(
                    f"--{flag} does not apply to {self.phases.name}, {why}",
                    code="conflicting-flags",
                    hint=f"leave out --{flag}, or name a phase: {first}",
                )

    def whole(self, answers: Sequence[Prediction]) -> Prediction:
        """The prediction of the whole, of those of its workloads in order (Eq. 77)."""
        if self.phases is None:
            return answers[0]
        return together(self.phases, answers)


@dataclass(frozen=True, slots=True)
class NamedRun:
    """A run whose workloads were read: how answers call it, and what ends it."""

    run: WorkloadSequence
    models: tuple[Workload, ...]

    @property
    def name(self) -> str:
        """How flags call it."""
        return self.run.phases.name if self.run.phases else self.models[0].name

    @property
    def title(self) -> str:
        """How screens call it."""
        return self.run.phases.title if self.run.phases else self.models[0].title

    def check(self, scenario: Scenario, *, failures: bool = False, needs_length: bool = True) -> None:
        """Raise as `WorkloadSequence.check`, and where a scenario states no length that its only workload needs."""
        self.run.check(scenario, failures=failures)
        if self.run.phases is None:
            run_length(self.models[0], scenario.length, needed=needs_length)

    def check_global_batch(self, global_batch: int | None) -> None:
        """Raise InputError for one batch of several workloads."""
        if global_batch and self.run.phases:
            raise InputError(
                f"--global-batch is of one workload, and {self.name} is a run in phases",
                code="conflicting-flags",
                hint="global_batch in [benchmark] of each workload",
            )

    @property
    def target(self) -> str:
        """What ends it: the last of its phases, or the target of its only workload."""
        return ", then ".join(self.run.workloads) if self.run.phases else self.models[0].benchmark.target


def by_name(workload: str, changes: Changes = ()) -> NamedRun:
    """A run with its workloads, `changes` applied; errors as `catalog.workload` has them."""
    sequence = run(workload)
    return NamedRun(sequence, tuple(catalog.workload(name, changes).value for name in sequence.workloads))


def run(workload: str) -> WorkloadSequence:
    """What a name or a file means; InputError where a file of phases has faults.

    An unknown name is a workload: its reader reports it.
    """
    phases = run_phases.phases(workload)
    return WorkloadSequence((workload,)) if phases is None else WorkloadSequence(phases.workloads, phases)


def once(flag: str, values: Sequence[object], hint: str) -> None:
    """Raise InputError where a list of a flag has the same thing twice."""
    twice = [f"{fromkey}" for fromkey in dict.fromkeys(values) if values.count(fromkey) > 1]
    if twice:
        raise InputError(f"--{flag} names {', '.join(twice)} twice", code="bad-value", hint=hint)
