"""Common random numbers: what two answers share cancels in their difference."""

import math

import pytest

import podsim
from podsim.model.quantity import Cause
from podsim.studies.compare import difference as comparing
from podsim.studies.compare.difference import Doubts, SimulatedScores
from podsim.studies.compare.result import CaseDifference, Comparison, PowerBasis

MODEL, CHIP = (Cause.MODEL, "bert on 64"), (Cause.CHIP, "bow")


def side(time_s: float, pace: dict[comparing.Source, float], luck: float = 0.0) -> SimulatedScores:
    return SimulatedScores(time_s=time_s, doubts=Doubts(pace=pace, luck=luck), runs=10)


def compared(**keywords: object) -> Comparison:
    return podsim.compare(
        "bert", pod=64, engine="analytic", replicas=8, ipus_per_replica=8, global_batch=3072, **keywords
    )


@pytest.fixture(scope="module")
def links() -> Comparison:
    return compared(changes=["ipu-link.bandwidth=32 GB/s"], to_sdk="2.1")


def half_width(value: object) -> float:
    return math.log(value.high / value.low) / 2  # type: ignore[attr-defined]


@pytest.mark.parametrize("shared", [0.0, 0.1, 0.4])
def test_what_is_shared_cancels_and_what_is_not_stays(shared: float) -> None:
    first, other = side(100.0, {MODEL: shared}, luck=0.3), side(80.0, {MODEL: shared, CHIP: 0.06}, luck=0.3)
    ratio = comparing.ratio([first], [other], seed=1, level=0.9)
    assert ratio.value == pytest.approx(0.8)
    assert half_width(ratio) == pytest.approx(1.645 * 0.06, rel=0.06)
    assert comparing.causes([first], [other]) == {Cause.CHIP: 1.0}


def test_strangers_share_nothing() -> None:
    first, other = side(100.0, {MODEL: 0.1}), side(80.0, {MODEL: 0.1})
    assert half_width(comparing.ratio([first], [other], seed=1, level=0.9)) == pytest.approx(0.0, abs=1e-12)
    apart = comparing.ratio([first], [other], seed=1, level=0.9, shared=False)
    assert half_width(apart) == pytest.approx(1.645 * math.hypot(0.1, 0.1), rel=0.06)


@pytest.mark.parametrize(("flags", "apart"), [({"to_chip": "bow"}, True), ({"changes": {"chip.clock": "2x"}}, False)])
def test_what_no_parameter_explains_is_another_on_another_chip(flags: dict[str, object], apart: bool) -> None:
    """Residuals of GC200 and Bow differ as those of any two points; a changed clock keeps the program and its error."""
    (difference,) = podsim.compare("bert", pod=64, engine="analytic", **flags).differences
    assert (difference.causes.get(Cause.MODEL, 0.0) > 0.5) == apart
    assert (half_width(difference.time) > 0.04) == apart


def test_a_machine_differs_from_itself_by_nothing() -> None:
    difference = compared(to=["pod64"]).differences[0]
    assert (difference.time.value, difference.time.low, difference.time.high) == (1.0, 1.0, 1.0)
    assert all(part.difference_s == 0 for part in difference.parts)
    assert difference.per_dollar is not None
    assert difference.per_watt is not None
    assert difference.per_dollar.value == difference.per_watt.value == 1.0


def test_the_interval_of_a_difference_is_narrower_than_the_difference_of_intervals(links: Comparison) -> None:
    before = links.sides[0].answer.time_to_train_s
    for at, difference in enumerate(links.differences, 1):
        after = links.sides[at].answer.time_to_train_s
        apart = math.hypot(half_width(before), half_width(after))
        assert half_width(difference.time) < (0.65 if difference.label.startswith("SDK") else 0.45) * apart
        assert half_width(difference.unshared) == pytest.approx(apart, rel=0.15)
        assert difference.time.low <= difference.time.value <= difference.time.high


def test_to_first_order_the_interval_is_that_of_the_sizes(links: Comparison) -> None:
    difference = links.differences[0]
    assert set(difference.causes) >= {Cause.PARAMETERS}
    assert sum(difference.causes.values()) == pytest.approx(1.0)


def total_s(difference: CaseDifference) -> float:
    return sum(part.difference_s for part in difference.parts)


def test_parts_add_up_to_the_difference_of_the_runs(links: Comparison) -> None:
    runs = [case.answer.run.total_s for case in links.sides]
    assert [total_s(difference) for difference in links.differences] == pytest.approx(
        [run - runs[0] for run in runs[1:]]
    )


def test_more_samples_and_less_throughput_make_the_time_of_the_steps(links: Comparison) -> None:
    for at, difference in enumerate(links.differences, 1):
        steps = [case.answer.run.training_s for case in (links.sides[0], links.sides[at])]
        assert steps[1] / steps[0] == pytest.approx(difference.samples / difference.throughput, rel=0.02)


def test_a_law_is_compared_by_its_steps_as_one() -> None:
    comparison = podsim.compare("resnet50", ["pod16", "dgx-a100"], engine="analytic")
    (difference,) = comparison.differences
    assert {part.part for part in difference.parts} == {"steps", "start", "evaluations", "checkpoints"}
    assert total_s(difference) == pytest.approx(
        comparison.sides[1].answer.run.total_s - comparison.sides[0].answer.run.total_s
    )
    assert difference.per_dollar is not None
    times = difference.time
    assert difference.per_dollar.low == pytest.approx(149_000 / 300_000 / times.high)
    assert difference.per_dollar.high == pytest.approx(149_000 / 199_000 / times.low)
    assert difference.per_watt is not None
    assert difference.per_watt.value == pytest.approx(7.0 / 6.5 / times.value)
    assert difference.per_watt.basis is PowerBasis.PEAK


def test_given_samples_leave_doubt_in_steps_alone() -> None:
    difference = compared(samples=2.5e6, changes=["ipu-link.bandwidth=32 GB/s"]).differences[0]
    assert Cause.SEEDS not in difference.causes
    assert half_width(difference.time) > 0
