"""The fuzz targets of `tests/fuzz` at a size that suits the suite: the same inputs every time."""

from collections import Counter

import pytest
from fuzz import judge
from fuzz.choices import Choices
from fuzz.judge import Violation
from fuzz.targets import NAMES, target
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from podsim.errors import InputError

SLOW = {
    "config_json": 10,
    "command_lines": 12,
    "results_file": 3,
    "onnx_file": 20,
    "workload_file": 25,
    "topology_file": 25,
}
LIMITED = HealthCheck.too_slow, HealthCheck.function_scoped_fixture


@pytest.fixture(autouse=True)
def no_cache_of_the_user(monkeypatch):
    monkeypatch.setenv("PODSIM_CACHE", "")


@pytest.mark.parametrize("name", NAMES)
def test_an_input_is_answered_or_refused(name):
    ask, verdicts = target(name), Counter()

    @settings(max_examples=SLOW.get(name, 40) * settings.default.max_examples // 25, suppress_health_check=LIMITED)
    @given(st.binary(min_size=8, max_size=80))
    def of_any_bytes(data):
        with judge.limits():
            verdicts[ask(data)] += 1

    of_any_bytes()
    assert set(verdicts) <= {"accepted", "refused"}
    assert verdicts["accepted"]


def test_the_same_bytes_are_the_same_input():
    drawn = [[Choices(b"abc").below(1000) for _ in range(2)] for _ in range(2)]
    assert drawn[0] == drawn[1]
    item, other = Choices(b"\x01\x02"), Choices(b"\x01\x02")
    assert [item.below(7) for _ in range(50)] == [other.below(7) for _ in range(50)]


@pytest.mark.parametrize(
    "answer",
    [
        {"step": {"value": 3.0, "low": 1.0, "high": 2.0}},
        [{"low": 2, "high": 1}],
        {"a": [{"median": 0.5, "low": 1.0, "high": 2.0}]},
        {"a": float("nan")},
    ],
)
def test_an_answer_outside_its_interval_is_a_violation(answer):
    with pytest.raises(Violation):
        judge.judged(lambda: answer)


def test_an_error_of_no_code_is_a_violation():
    def ask():
        raise InputError("no", code="no-such-code-anywhere")

    with pytest.raises(Violation):
        judge.judged(ask)


def test_what_takes_too_long_is_a_violation(monkeypatch):
    monkeypatch.setattr(judge, "CPU_S", 0.05)

    def ask():
        while True:
            sum(range(1000))

    with pytest.raises(Violation, match="s of a core"), judge.limits():
        ask()
