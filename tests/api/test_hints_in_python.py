"""Errors that Python sees say what to write in Python: calls, and keywords in place of flags."""

from __future__ import annotations

import pytest

import podsim
from podsim.errors import PodsimError

HINTS = (
    ("predict", "brt", {"pod": 64}, "podsim.list_workloads()"),
    ("predict", "bert", {"topology": "nope"}, "podsim.list_topologies()"),
    ("predict", "bert", {"pod": 64, "chip": "gc"}, "podsim.list_chips()"),
    ("explain", "bert", {"topology": "dgx-a100:64"}, 'podsim.predict("bert", topology="dgx-a100:64")'),
    ("predict", "bert", {"pod": 64, "faults": ["ipu:99=lost"]}, 'faults=["ipu:63=lost"]'),
    ("predict", "bert", {"pod": 64, "changes": {"chip.clok": "2GHz"}}, 'changes={"chip.clock": "2GHz"}'),
    ("predict", "bert", {"pod": 64, "changes": {"gw-link.latency": "3"}}, 'changes={"gw-link.latency": "3 us"}'),
    ("predict", "bert", {"pod": 64, "preset": "mlperf-v1.1-close"}, 'preset="mlperf-v1.1-closed"'),
    ("plan", "bert", {"within": "1h30"}, 'within="1h30min"'),
    ("plan", "bert", {"within": "5 min", "max_power": "3"}, 'max_power="3 kW"'),
    (
        "compare",
        "bert",
        {"machines": ["pod64"]},
        'podsim.compare("bert", ["pod64", "pod128"]), or podsim.compare("bert", pod=64, to=["pod128"])',
    ),
    ("plan", "resnet50", {"p99": "10ms"}, 'rate="20k/s", p99="10ms"'),
    ("infer", "bert", {"pod": 16, "rate": "20k"}, 'rate="20k/s"'),
)


def hint(verb: str, workload: str, flags: dict[str, object]) -> str:
    with pytest.raises(PodsimError) as error:
        getattr(podsim, verb)(workload, **flags)
    return error.value.hint


@pytest.mark.parametrize(("verb", "workload", "flags", "text"), HINTS)
def test_a_hint_is_python(verb: str, workload: str, flags: dict[str, object], text: str) -> None:
    assert hint(verb, workload, flags) == text


def test_a_command_with_flags_that_no_function_has_stays() -> None:
    flags = {"pod": 64, "faults": ["link:a-b=down"]}
    assert hint("predict", "bert", flags) == "podsim topology show pod64 --links"


def test_a_whole_number_with_a_point_is_said_as_it_was_written() -> None:
    with pytest.raises(PodsimError, match=r"sdk must be a text, not 3\.0"):
        podsim.predict("bert", pod=64, sdk=3.0)
