"""`podsim predict --json` prints what `podsim.predict` returns, number by number."""

import json

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.cli.commands.predict_command import StartFlags
from podsim.cli.options import (
    KEYWORDS,
    ComparatorFlags,
    ConfigurationFlags,
    EngineFlags,
    FaultFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    NoiseFlags,
    RunFlags,
)
from podsim.report.digits import round_floats

ASKED = [
    ("bert", {"pod": 512}),
    ("bert", {"pod": 64, "preset": "mlperf-v1.1-open", "engine": "analytic", "seed": 7}),
    (
        "bert",
        {
            "topology": "bow-pod64",
            "replicas": 8,
            "ipus_per_replica": 8,
            "micro_batch": 3,
            "accumulation": 96,
            "samples": 2.5e6,
        },
    ),
    ("resnet50", {"pod": 16, "chip": "bow", "hosts": 1, "sdk": "2.1", "division": "open"}),
    ("bert", {"pod": 16, "preset": "mlperf-v1.1-closed", "schedule": "1f1b", "prefetch": 3, "io_tiles": 32}),
    ("resnet50", {"pod": 256, "changes": ["gw-link.bandwidth=400 Gbit/s", "program.stretch=1.3"]}),
]
ESTIMATES = ("throughput_samples_per_s", "samples_to_converge", "time_to_train_s")


def words(flags):
    """Keywords as flags."""
    for name, value in flags.items():
        for each in value if isinstance(value, list) else [value]:
            yield f"--{'set' if name == 'changes' else name.replace('_', '-')}"
            yield str(each)


def refuse(text):
    raise AssertionError(f"{text} is no JSON")


@pytest.fixture(scope="module", params=ASKED, ids=lambda request: f"{request[0]}-{'-'.join(request[1])}")
def both(request):
    """The answer in Python and the document on stdout."""
    workload, flags = request.param
    with pytest.MonkeyPatch.context() as patch:
        written = []
        patch.setattr("podsim.cli.answer.put", lambda text, _: written.append(text))
        assert main(["predict", workload, *words(flags), "--json"]) == 0
    (text,) = written
    return podsim.predict(workload, **flags), json.loads(text, parse_constant=refuse)


def test_numbers_are_attributes(both):
    result, document = both
    for name in ("workload", "topology", "chip", "ipus", "sdk", "hosts", "engine", "mfu", "calibration"):
        assert document[name] == round_floats(getattr(result, name))
    assert document["limited_by"] == str(result.limited_by)
    for name in ESTIMATES:
        estimate = getattr(result, name)
        assert document[name] == round_floats(
            {
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "grade": estimate.grade,
                "beyond": estimate.beyond,
                "causes": dict(estimate.causes),
                "smaller": estimate.smaller,
            }
        )
    assert document["step_s"] == round_floats(result.step_s.value)
    assert document["assumptions"] == [*map(str, result.assumptions)]


def test_the_mapping_and_the_run_are_attributes(both):
    result, document = both
    mapping = result.mapping
    for name in ("replicas", "ipus_per_replica", "micro_batch", "accumulation", "global_batch"):
        assert document["mapping"][name] == getattr(mapping, name)
    assert document["mapping"]["stages"] == len(mapping.stages)
    for name in ("steps", "evaluations", "evaluation_s", "startup_s", "training_s", "checkpoint_s"):
        assert document[name] == round_floats(getattr(result.run, name))
    assert document["memory"]["fraction"] == round_floats(result.memory.fraction)


def test_the_breakdown_adds_up_to_the_step(both):
    document = both[1]
    assert sum(document["breakdown_s"].values()) == pytest.approx(document["step_s"], rel=1e-11)


def test_the_document_says_what_it_is_first(both):
    assert list(both[1])[:2] == ["schema", "podsim"]
    assert both[1]["schema"] == "podsim.prediction/1"


def test_the_same_question_gives_the_same_bytes(capsys):
    texts = set()
    for _ in range(2):
        main(["predict", "bert", "--pod", "128", "--json"])
        texts.add(capsys.readouterr().out)
    assert len(texts) == 1


def test_every_flag_of_a_question_is_a_keyword_of_the_function():
    from dataclasses import fields
    from inspect import signature

    groups = (
        MachineFlags,
        ComparatorFlags,
        MappingFlags,
        ConfigurationFlags,
        RunFlags,
        LengthFlags,
        StartFlags,
        EngineFlags,
        NoiseFlags,
        FaultFlags,
    )
    flags = {field.name for flags in groups for field in fields(flags)}
    keywords = set(signature(podsim.predict).parameters) - {"workload", "on_progress"}
    assert {KEYWORDS.get(name, name) for name in flags} == keywords
