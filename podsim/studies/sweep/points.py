"""One point of a sweep: its key, by the content of all that it is computed from, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Final

from podsim.caches.packing import content_key
from podsim.caches.tables import TABLES, Table
from podsim.convergence.lengths import run_length
from podsim.errors import PodsimError
from podsim.files import catalog, find, frameworks_file
from podsim.files.contents import FilesRead, reading_once
from podsim.files.results import code_digest
from podsim.files.sweeps import FLAGS, TRUTHS
from podsim.model.argument import Argument, ArgumentKind
from podsim.model.sweep import BUG, SweepAnswer, SweepOutcome, SweepQuestion, SweepRefusal
from podsim.planning import workload_sequence
from podsim.planning.answering import answer
from podsim.planning.workload_sequence import WorkloadSequence
from podsim.resolve import Case, Target, target, topology
from podsim.resolve import question as training_question
from podsim.scenario import Constraints, MachineSpec, Scenario, Software, WhatIfs

if TYPE_CHECKING:
    from podsim.model.prediction import Prediction

FILES = ("topology", "chip")  # flags that may name a file
MOST_TRIED = 200  # points; a sweep that can be asked at fewer than one in that many is a slip
BUGS = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)


@dataclass(frozen=True, eq=False)
class SweepFiles:
    """The files that one sweep reads, looked for from `folder`: all its points see the same state of each."""

    folder: str
    contents: FilesRead = field(default_factory=FilesRead)
    runs: Table[str, WorkloadSequence] = field(default_factory=lambda: Table(16))
    targets: Table[Scenario, Target] = field(default_factory=lambda: Table(64))
    """Of points that differ in their mapping alone, by what of a scenario names files."""
    digests: Table[object, str] = field(default_factory=lambda: Table(256))

    def path(self, name: str) -> str:
        """A file as seen from the sweep file; names stay."""
        return str(Path(self.folder) / name) if find.is_path(name) else name

    def flags(self, question: SweepQuestion) -> Mapping[str, str]:
        """The flags of a point, with files as seen from the sweep file."""
        return {name: self.path(value) if name in FILES else value for name, value in question.flags.items()}

    def run(self, workload: str) -> WorkloadSequence:
        """The workloads that a point runs one after another; InputError where there is none of the name."""
        path = self.path(workload)
        return self.runs.remember(path, lambda: workload_sequence.run(path))

    def target(self, scenario: Scenario) -> Target:
        """Workload and machine of a scenario; InputError as `podsim.resolve.target` has it."""
        scenario_of_files = _file_names(scenario)
        return self.targets.remember(scenario_of_files, lambda: target(scenario_of_files))

    def machine(self, spec: MachineSpec) -> str:
        """A digest of a machine; InputError as `podsim.resolve.topology` has it."""
        return self.digests.remember(spec, lambda: _digest(topology(spec).value))

    def workload(self, name: str) -> str:
        """A digest of a workload."""
        return self.digests.remember(("workload", name), lambda: _digest(catalog.workload(name).value))

    def parameters(self) -> str:
        """A digest of the fitted parameters and the costs of frameworks."""
        digests = self.digests
        return digests.remember("parameters", lambda: _digest((catalog.parameters(), frameworks_file.costs())))


_FILES: Final = TABLES.add("files of a sweep", Table[tuple[str, str], SweepFiles](1))


def files_of(turn: str, folder: str) -> SweepFiles:
    """What was read for the sweep of that number, and nothing of another: files may have changed since."""
    return _FILES.remember((turn, folder), lambda: SweepFiles(folder))


def key(question: SweepQuestion, files: SweepFiles) -> str:
    """A text that only the same point has: its flags, podsim, and the contents of the files it reads.

    Of a machine or chip that is none, the reason counts. InputError where the workload is none.
    """
    workloads = [files.workload(name) for name in files.run(question.workload).workloads]
    read = (_machine_digest(question, files), *workloads, files.parameters())
    content = content_key((code_digest(), read, dict(question.flags)))
    return blake2b(content.encode(), digest_size=16).hexdigest()


def _machine_digest(question: SweepQuestion, files: SweepFiles) -> str:
    try:
        return files.machine(_scenario("", files.flags(question)).machine)
    except PodsimError as error:  # that there is none is what comes of the point
        return f"{error.code}: {error.message}"


def _digest(content: object) -> str:
    return blake2b(content_key(content).encode(), digest_size=16).hexdigest()


def check(questions: Sequence[SweepQuestion], files: SweepFiles) -> None:
    """Raise InputError where every point names what podsim does not know: a machine, a path, a chip, an SDK, a preset.

    What only some of them name is a result of theirs. The error is that of the first point; of many points it and
    MOST_TRIED drawn ones are looked at.
    """
    first: PodsimError | None = None
    others = questions[1:]
    sample = Random(0).sample(others, MOST_TRIED) if len(others) > MOST_TRIED else others  # noqa: S311  (no secret)
    for question in (*questions[:1], *sample):
        try:
            for name in files.run(question.workload).workloads:
                files.target(_scenario(name, files.flags(question)))
        except PodsimError as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first


def outcome(question: SweepQuestion, folder: str, turn: str) -> SweepOutcome:
    """The key of a point and its prediction, or why there is none; InputError as `key` has it."""
    files = files_of(turn, folder)
    with reading_once(files.contents):
        own = key(question, files)
        try:
            return SweepOutcome(key=own, answer=_answer(_predict(question, files)))
        except PodsimError as error:
            refusal = SweepRefusal(code=error.code, message="; ".join((error.message, *error.context[:1])))
        except BUGS as error:  # a defect that one point meets must not cost the others
            refusal = SweepRefusal(code=BUG, message=f"{type(error).__name__}: {error}")
        return SweepOutcome(key=own, refusal=refusal)


def _predict(question: SweepQuestion, files: SweepFiles) -> Prediction:
    run = files.run(question.workload)
    scenario = _scenario(question.workload, files.flags(question))
    run.check(scenario)
    answers = []
    for name in run.workloads:
        of_workload = replace(scenario, workload=name)
        result = files.target(of_workload)
        length = run_length(result.workload, scenario.length)
        case = Case(scenario=of_workload, question=training_question(of_workload, result, length), preset=result.preset)
        answers.append(answer(case, weighs=False)[0])
    return run.whole(answers)


def _file_names(scenario: Scenario) -> Scenario:
    """What of a scenario names files, so that points that differ in the rest share what was read."""
    return Scenario(
        workload=scenario.workload,
        machine=scenario.machine,
        mapping=Constraints(preset=scenario.mapping.preset),
        software=Software(sdk=scenario.software.sdk),
        what_if=WhatIfs(changes=scenario.what_if.changes),
    )


def _scenario(workload: str, flags: Mapping[str, str]) -> Scenario:
    """The scenario of a point; InputError as `Scenario.of` has it."""
    values = {name: _value(FLAGS[name], text) for name, text in flags.items() if name in FLAGS}
    changes = tuple(f"{name}={value}" for name, value in flags.items() if name not in FLAGS)
    return Scenario.of_checked({"workload": workload, **values, "changes": changes})


def _value(flag: Argument, text: str) -> object:
    return text == TRUTHS[0] if flag.kind is ArgumentKind.SWITCH else flag.parse(text)


def _answer(p: Prediction) -> SweepAnswer:
    """The numbers of a prediction; ValueError where one is none."""
    mapping, train, step = p.mapping, p.time_to_train_s, p.step_s
    result = SweepAnswer(
        topology=p.topology,
        chip=p.chip,
        ipus=p.ipus,
        hosts=p.hosts,
        sdk=p.sdk,
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
        global_batch=mapping.global_batch,
        time_to_train_s=train.value,
        time_to_train_low_s=train.low,
        time_to_train_high_s=train.high,
        time_to_train_grade=train.grade,
        step_s=step.value,
        step_low_s=step.low,
        step_high_s=step.high,
        throughput_samples_per_s=p.throughput_samples_per_s.value,
        samples_to_converge=p.samples_to_converge.value,
        mfu=p.mfu,
        memory=p.memory.fraction,
        limited_by=str(p.limited_by),
        breakdown_s={part.value: float(seconds) for part, seconds in p.breakdown_s.items()},
    )
    numbers = (train.value, train.low, train.high, step.value, step.low, step.high, *result.breakdown_s.values())
    if not all(map(math.isfinite, (*numbers, result.mfu, result.samples_to_converge, result.throughput_samples_per_s))):
        raise ValueError("a number of the prediction is not finite")
    return result
