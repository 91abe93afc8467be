"""A scenario that is varied part by part is checked as one that is made of flags."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import podsim
from podsim.errors import InputError
from podsim.scenario import Scenario

BASE = Scenario.of("bert", pod=16)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("length", "samples", -1.0),
        ("length", "samples", float("nan")),
        ("engine", "engine", "nonsense"),
        ("engine", "fidelity", "xx"),
        ("mapping", "micro_batch", 0),
        ("mapping", "replicas", 2.5),
        ("machine", "pod", "16"),
        ("", "interval", 7),
        ("", "interval", -1.0),
    ],
)
def test_a_value_that_no_flag_takes_is_refused(part: str, name: str, value: Any) -> None:
    """Some were answered, such as a run of −1 samples, others ended in a traceback."""
    change = {name: value}
    varied = replace(BASE, **({part: replace(getattr(BASE, part), **change)} if part else change))
    with pytest.raises(InputError, match=name):
        podsim.predict(varied)
    with pytest.raises(InputError, match=name):
        podsim.infer(varied) if name == "interval" else podsim.explain(varied)


@pytest.mark.parametrize(("part", "value"), [("machine", "pod64"), ("length", None), ("mapping", {"micro_batch": 1})])
def test_a_part_of_another_type_is_refused(part: str, value: Any) -> None:
    with pytest.raises(InputError, match=f"{part} of a scenario must be of type"):
        podsim.predict(replace(BASE, **{part: value}))


def test_a_scenario_is_answered_as_its_flags_are() -> None:
    varied = replace(BASE, machine=replace(BASE.machine, pod=64))
    assert podsim.predict(varied).to_dict() == podsim.predict("bert", pod=64).to_dict()
