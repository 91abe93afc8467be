"""One point of a sweep: its key, by the content of all that it is computed from, and what comes of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from podsim.caches.packing import content_key
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
from podsim.resolve import Case, Target, target, topology
from podsim.resolve import question as asked
from podsim.scenario import Constraints, MachineSpec, Scenario, Software, WhatIfs

if TYPE_CHECKING:
    from podsim.model.prediction import Prediction

FILES = ("topology", "chip")  # flags that may name a file
MOST_TRIED = 200  # points; a sweep that can be asked at fewer than one in that many is a slip
BUGS = (ArithmeticError, AssertionError, LookupError, TypeError, ValueError)
_turn: list[str] = []  # the sweep for which files were read last
_files = FilesRead()  # what that sweep has read: all its points see the same state of every file


def key(question: SweepQuestion, folder: str) -> str:
    """A text that only the same point has: its flags, podsim, and the contents of the files it reads.

    Files are looked for from `folder`; of a machine or chip that is none, the reason counts. InputError where the
    workload is none.
    """
    workloads = [_workload(name) for name in _run(_path(folder, question.workload)).workloads]
    read = (_machine_read(_from(folder, question.flags)), *workloads, _parameters())
    content = content_key((code_digest(), read, dict(question.flags)))
    return blake2b(content.encode(), digest_size=16).hexdigest()


def _machine_read(flags: Mapping[str, str]) -> str:
    try:
        return _machine(_scenario("", flags).machine)
    except PodsimError as error:  # that there is none is what comes of the point
        return f"{error.code}: {error.message}"


@lru_cache(maxsize=256)
def _machine(spec: MachineSpec) -> str:
    return _digest(topology(spec).value)


_run = lru_cache(maxsize=16)(workload_sequence.run)


@lru_cache(maxsize=16)
def _workload(name: str) -> str:
    return _digest(catalog.workload(name).value)


@lru_cache(maxsize=1)
def _parameters() -> str:
    return _digest((catalog.parameters(), frameworks_file.costs()))


def _digest(content: object) -> str:
    return blake2b(content_key(content).encode(), digest_size=16).hexdigest()


def begin(turn: str) -> None:
    """Forget what was read for another sweep, in a process that outlives it: files may have changed since."""
    if _turn != [turn]:
        for read in (_run, _machine, _workload, _parameters, _target):
            read.cache_clear()
        _files.clear()
        _turn[:] = [turn]


def check(questions: Sequence[SweepQuestion], folder: str) -> None:
    """Raise InputError where every point names what podsim does not know: a machine, a path, a chip, an SDK, a preset.

    What only some of them name is a result of theirs. The error is that of the first point; of many points it and
    MOST_TRIED drawn ones are looked at.
    """
    first: PodsimError | None = None
    others = questions[1:]
    drawn = Random(0).sample(others, MOST_TRIED) if len(others) > MOST_TRIED else others  # noqa: S311  (no secret)
    for question in (*questions[:1], *drawn):
        try:
            for name in _run(_path(folder, question.workload)).workloads:
                _target(_file_names(_scenario(name, _from(folder, question.flags))))
        except PodsimError as error:
            first = first or error
        else:
            return
    if first is not None:
        raise first


def outcome(question: SweepQuestion, folder: str, turn: str) -> SweepOutcome:
    """The key of a point and its prediction, or why there is none; InputError as `key` has it."""
    begin(turn)
    with reading_once(_files):
        return _outcome(question, folder)


def _outcome(question: SweepQuestion, folder: str) -> SweepOutcome:
    own = key(question, folder)
    try:
        return SweepOutcome(key=own, answer=_answer(_predict(question, folder)))
    except PodsimError as error:
        refusal = SweepRefusal(code=error.code, message="; ".join((error.message, *error.context[:1])))
    except BUGS as error:  # one point in a corner nobody tried must not cost the others
        refusal = SweepRefusal(code=BUG, message=f"{type(error).__name__}: {error}")
    return SweepOutcome(key=own, refusal=refusal)


def _predict(question: SweepQuestion, folder: str) -> Prediction:
    run = _run(_path(folder, question.workload))
    scenario = _scenario(question.workload, _from(folder, question.flags))
    run.check(scenario)
    return run.whole([_of_one(replace(scenario, workload=name)) for name in run.workloads])


def _of_one(scenario: Scenario) -> Prediction:
    result = _target(_file_names(scenario))
    length = run_length(result.workload, scenario.length)
    case = Case(scenario=scenario, question=asked(scenario, result, length), preset=result.preset)
    return answer(case, weighs=False)[0]


@lru_cache(maxsize=64)  # points that differ in their mapping have the same machine
def _target(scenario: Scenario) -> Target:
    return target(scenario)


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
    stated = {name: _value(FLAGS[name], text) for name, text in flags.items() if name in FLAGS}
    changes = tuple(f"{name}={value}" for name, value in flags.items() if name not in FLAGS)
    return Scenario.of_checked({"workload": workload, **stated, "changes": changes})


def _value(flag: Argument, text: str) -> object:
    return text == TRUTHS[0] if flag.kind is ArgumentKind.SWITCH else flag.parse(text)


def _from(folder: str, flags: Mapping[str, str]) -> Mapping[str, str]:
    return {name: _path(folder, value) if name in FILES else value for name, value in flags.items()}


def _path(folder: str, name: str) -> str:
    """A file as seen from the sweep file; names stay."""
    return str(Path(folder) / name) if find.is_path(name) else name


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
        limited_by=p.limited_by,
        breakdown_s={part.value: float(seconds) for part, seconds in p.breakdown_s.items()},
    )
    numbers = (train.value, train.low, train.high, step.value, step.low, step.high, *result.breakdown_s.values())
    if not all(map(math.isfinite, (*numbers, result.mfu, result.samples_to_converge, result.throughput_samples_per_s))):
        raise ValueError("a number of the prediction is not finite")
    return result
