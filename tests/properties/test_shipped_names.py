"""Every shipped name on every shipped machine: a sane answer, a true no, or a message that names what to state.

Slow tests take one cell in `SHARE`, the same ones each time; `FEW` are always asked. All of them, a verb at a time
and some ten minutes of one core together: `SHIPPED_NAMES=all pytest tests/properties/test_shipped_names.py -s`.
"""

import dataclasses
import json
import math
import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

import podsim
from podsim.errors import Infeasible, PodsimError
from podsim.files import catalog, comparator_machines, run_phases, samplers
from podsim.model.prediction import MemoryFit, Prediction
from podsim.model.quantity import Estimate
from podsim.predicting.stencils import STENCILS
from podsim.studies.compare.result import Ratio
from podsim.studies.documents import answer_document

ALL = os.environ.get("SHIPPED_NAMES") == "all"
SHARE = 97  # of the whole matrix; prime, so that no period of it coincides with that of machines or lengths
FEW = (
    ("resnet50", "pod16", {}),
    ("bert", "dgx-a100", {}),
    ("bert-base", "c600", {"samples": 1e7}),
    ("gpt2-small", "pod4", {"tokens": 2e10}),
    ("bert", "ring-16", {}),
)
WORKLOADS = (*catalog.names("workloads"), *run_phases.names())
IPU_MACHINES = catalog.names("topologies")
MACHINES = (*IPU_MACHINES, *comparator_machines.machines(), *catalog.names("fabrics"))
LENGTHS = ({}, {"samples": 1e7}, {"tokens": 2e10})
NEAR = 1e-9  # relative, of a value and its bounds
STATED = re.compile(
    r"--[a-z]|leave out|[a-z]=|podsim [a-z]+ |\[[a-z]+\]|name a phase|replicas|of calibration|published"
)


def predict(workload, machine, length):
    return podsim.predict(workload, topology=machine, engine="analytic", **length)


def plan(workload, machine, length):
    return podsim.plan(workload, machines=machine, **length)


def compare(workload, machine, length):
    return podsim.compare(workload, [machine, "pod64"], engine="analytic", **length)


def infer(workload, machine, length):
    return podsim.infer(workload, topology=machine, engine="analytic", requests=500, **length)


def generate(workload, machine, length):
    return podsim.infer(workload, topology=machine, engine="analytic", requests=500, generate=16, prompt=64, **length)


VERBS = {
    predict: LENGTHS,
    plan: LENGTHS,
    compare: LENGTHS,
    infer: ({},),
    generate: ({},),
}


def cells(verb):
    for workload in WORKLOADS:
        for machine in MACHINES:
            for length in VERBS[verb]:
                yield workload, machine, length


def sampled(verb):
    """One cell in `SHARE`, spread by a checksum of their names; the card without streaming memory more often."""
    for workload, machine, length in cells(verb):
        key = zlib.crc32(f"{verb.__name__} {workload} {machine} {length}".encode())
        if key % (7 if machine == "c600" else SHARE) == 0:
            yield workload, machine, length


def parts_of(value, path="answer") -> Iterator[tuple[str, object]]:
    """Every dataclass and number within an answer, with its path."""
    yield path, value
    if dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from parts_of(getattr(value, field.name), f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from parts_of(item, f"{path}[{key}]")
    elif isinstance(value, tuple):
        for number, item in enumerate(value):
            yield from parts_of(item, f"{path}[{number}]")


def faults_of(answer) -> Iterator[str]:
    """What no answer may have; without a length of the run whatever follows from one is not a number."""
    sides = [side.answer for side in getattr(answer, "sides", ())]
    endless = any(getattr(one, "length_flags", ()) for one in (answer, *sides))
    for one in sides or [answer]:
        if endless and isinstance(one, Prediction):
            yield from faults_of((one.step_s, one.throughput_samples_per_s, one.memory))
    for path, part in parts_of(answer):
        size = part.value if isinstance(part, Estimate | Ratio) else part
        if endless and isinstance(size, float) and math.isnan(size):
            continue
        if isinstance(part, Estimate | Ratio):
            if not 0 < part.value < math.inf:
                yield f"{path} is {part.value}"
            if not part.low * (1 - NEAR) <= part.value <= part.high * (1 + NEAR):
                yield f"{path}: {part.value} outside {part.low} to {part.high}"
        elif isinstance(part, MemoryFit) and not 0 < part.fraction <= 1:
            yield f"{path}: memory {part.fraction}"
        elif isinstance(part, float) and math.isnan(part):
            yield f"{path} is not a number"


def refuse_constant(name):
    raise ValueError(f"JSON has {name}")


def verdict(verb, workload, machine, length) -> str:
    """`answer`, or the code with which it is refused; AssertionError for anything else."""
    cell = f"{verb.__name__} {workload} {machine} {length}"
    answer, refused = asked(verb, workload, machine, length)
    if refused:
        text = " ".join((refused.message, *refused.context, refused.hint))
        if isinstance(refused, Infeasible):
            assert refused.context or refused.hint, cell
            assert_true(refused.hint, verb, workload, length)
        else:
            assert STATED.search(text), f"{cell}: {text}"
        return refused.code
    faults = tuple(faults_of(answer))
    assert not faults, f"{cell}: {faults}"
    json.loads(answer_document(answer).json(), parse_constant=refuse_constant)
    assert answer._repr_html_(), cell
    return "answer"


def asked(verb, *cell):
    """The answer, or the error of podsim that stands for it."""
    try:
        return verb(*cell), None
    except PodsimError as error:
        return None, error


def assert_true(hint, verb, workload, length):
    """A hint that names a pod is tried: the pod answers."""
    if verb is predict and (match := re.search(r"--pod (\d+)", hint)):
        assert answers(workload, int(match[1]), tuple(length.items())), f"{workload} {length}: not true: {hint}"


@cache
def answers(workload, pod, length):
    return podsim.predict(workload, pod=pod, engine="analytic", **dict(length))


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_a_few_names_answer_or_are_refused(verb):
    counts = Counter(
        verdict(verb, workload, machine, length if length in VERBS[verb] else {}) for workload, machine, length in FEW
    )
    assert counts["answer"]


@pytest.mark.slow
@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.__name__)
def test_shipped_names_answer_or_are_refused(verb):
    began, counts, failures = time.process_time(), Counter(), []
    for cell in cells(verb) if ALL else sampled(verb):
        try:
            counts[verdict(verb, *cell)] += 1
        except Exception as error:  # noqa: BLE001  (what is not refused is a failure, listed with the others)
            failures.append(f"{cell}: {type(error).__name__}: {error}")
    print(verb.__name__, sum(counts.values()), dict(counts), f"{time.process_time() - began:.0f} s")  # noqa: T201
    assert counts["answer"]
    assert not failures, "\n".join((str(len(failures)), *failures[:40]))


def sample(name, machine):
    return podsim.sample(name, topology=machine)


def stencil(name, machine):
    return podsim.stencil(name, grid="x".join(["512"] * STENCILS[name].dimensions), topology=machine)


@pytest.mark.parametrize("machine", MACHINES)
def test_samplers_and_stencils_answer_or_are_refused(machine):
    for verb, names in ((sample, samplers.names()), (stencil, STENCILS)):
        for name in names:
            answer, refused = asked(verb, name, machine)
            assert refused.hint or refused.context if refused else not tuple(faults_of(answer))


def test_an_answer_outside_its_interval_is_noticed():
    """The check itself can fail."""
    answer = podsim.predict("resnet50", pod=16, engine="analytic")
    wrong = dataclasses.replace(answer, step_s=dataclasses.replace(answer.step_s, low=answer.step_s.high))
    assert not tuple(faults_of(answer))
    assert tuple(faults_of(wrong))
