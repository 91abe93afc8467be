"""What IPUs do in a step: shares from the plans of its operators, of the mean IPU and not of the busiest."""

from __future__ import annotations

import pytest

import podsim
from podsim.files import catalog
from podsim.model.activity import StepActivity
from podsim.model.chip import Precision
from podsim.model.prediction import Prediction
from podsim.model.program import Part
from podsim.predicting.step_activity import shares, together
from podsim.tiles.cost import TileCost

CHIP = catalog.chip("gc200").value


@pytest.fixture(scope="module")
def bert() -> Prediction:
    return podsim.predict("bert", pod=16, engine="analytic")


def test_work_divides_into_products_at_their_peak_and_the_rest() -> None:
    peak = CHIP.peak_flop_per_s(Precision.FP16_16)
    work = TileCost(compute_s=0.5, exchange_s=0.2, sync_s=0.1, matrix_flop=0.3 * peak)
    activity = shares((work, work), 0.5, CHIP, Precision.FP16_16, updating=0.05)
    assert (activity.matrix, activity.vector, activity.exchange) == pytest.approx((0.3, 0.25, 0.2))
    assert activity.idle == pytest.approx(0.25)
    assert activity.flop_per_s == pytest.approx(0.3 * peak)


def test_phases_count_by_how_long_they_last() -> None:
    first, other = (
        StepActivity(precision=Precision.FP32, flop_per_s=4 * each, matrix=each, vector=each, exchange=0.0)
        for each in (0.1, 0.5)
    )
    both = together([first, other], [0.75, 0.25])
    assert (both.matrix, both.flop_per_s, both.idle) == pytest.approx((0.2, 0.8, 0.6))


def test_shares_of_a_step_are_those_of_its_breakdown(bert: Prediction) -> None:
    """The mean IPU works no longer than the busiest, and products do what the utilisation counts, and recomputation."""
    activity, step_s = bert.activity, bert.step_s.value
    assert activity is not None
    busiest = bert.breakdown_s[Part.COMPUTE] / step_s
    assert 0.8 * busiest < activity.matrix + activity.vector <= busiest * (1 + 1e-9)
    assert activity.exchange <= bert.breakdown_s[Part.EXCHANGE] / step_s * (1 + 1e-9)
    assert bert.mfu < activity.matrix < 1.5 * bert.mfu


def test_idle_ipus_of_a_machine_count(bert: Prediction) -> None:
    half = podsim.predict("bert", pod=16, engine="analytic", replicas=2, ipus_per_replica=4)
    assert bert.activity is not None
    assert half.activity is not None
    per_used = half.activity.flop_per_s * half.ipus / half.mapping.ipus
    assert (half.mapping.ipus, half.ipus) == (8, 16)
    assert half.activity.flop_per_s < 0.6 * bert.activity.flop_per_s < per_used


@pytest.mark.parametrize("engine", ["analytic", "des"])
def test_both_engines_have_the_same_products(engine: str, bert: Prediction) -> None:
    other = podsim.predict("bert", pod=16, engine=engine)
    assert other.activity is not None
    assert bert.activity is not None
    assert other.activity.matrix == pytest.approx(bert.activity.matrix, rel=0.01)
    assert other.activity.exchange == pytest.approx(bert.activity.exchange, rel=0.01)


@pytest.mark.parametrize(
    ("workload", "topology"), [("bert", "pod64"), ("resnet50", "pod16"), ("rnnt", "pod64"), ("resnet50", "bow-pod64")]
)
def test_machines_at_work_draw_less_than_their_nameplates_and_more_than_idle(workload: str, topology: str) -> None:
    answer = podsim.price(podsim.predict(workload, topology=topology, engine="analytic"))
    assert isinstance(answer, Prediction)
    assert answer.money is not None
    draw = answer.money.owned.draw
    assert draw is not None
    assert draw.predicted is not None
    assert draw.predicted.low < draw.least_w < draw.predicted.high == draw.most_w
    assert draw.peak_w is None or draw.predicted.high <= draw.peak_w
    assert draw.least_w == pytest.approx(sum(draw.loads.values()))
    assert draw.least_w > answer.ipus * 41 + answer.ipus / 4 * 300
    assert answer.money.sample_j is not None
    assert answer.money.energy_j is not None
    samples = answer.time_to_train_s.value * answer.throughput_samples_per_s.value
    assert answer.money.energy_j.value == pytest.approx(answer.money.sample_j.value * samples)


def test_a_power_set_by_hand_is_not_predicted() -> None:
    answer = podsim.predict("bert", pod=16, engine="analytic", changes={"economics.machine_power": "2 kW"})
    priced = podsim.price(answer, changes={"economics.machine_power": "2 kW"})
    assert priced.money is not None
    draw = priced.money.owned.draw
    assert draw is not None
    assert (draw.predicted, draw.typical_w) == (None, 9000.0)


def test_a_price_set_by_hand_leaves_the_power_predicted(bert: Prediction) -> None:
    """A faster clock draws more; its price is that of the machine as it is sold."""
    cheap = podsim.price(bert, changes={"economics.machine_price": "1 USD"})
    assert cheap.money is not None
    assert cheap.money.owned.draw is not None
    assert cheap.money.owned.draw.predicted is not None
    quick = podsim.predict("bert", pod=16, engine="analytic", changes={"chip.clock": "2 GHz"})
    faster = podsim.price(quick, changes={"chip.clock": "2 GHz"})
    assert faster.money is not None
    assert faster.money.owned.draw is not None
    assert faster.money.owned.draw.least_w > 1.15 * cheap.money.owned.draw.least_w


def test_a_card_whose_energies_are_not_published_draws_its_rating() -> None:
    answer = podsim.price(podsim.predict("resnet50", topology="c600", samples=1e6, engine="analytic"))
    assert answer.money is not None
    assert answer.money.owned.draw is not None
    assert answer.money.owned.draw.predicted is None


def test_a_service_draws_what_full_batches_do_and_generated_tokens_typically() -> None:
    images = podsim.infer("resnet50", topology="pod16", batch=16)
    assert images.cost is not None
    draw = images.cost.owned.draw
    assert draw is not None
    assert draw.predicted is not None
    assert 16 * 41 + 4 * 300 + draw.loads["matrix products"] < draw.least_w < 7000.0
    flop_per_s = draw.loads["matrix products"] / 1.42e-12
    peak = 16 * CHIP.peak_flop_per_s(Precision.FP16_16)
    assert 0.05 < flop_per_s / peak < 0.7
    tokens = podsim.infer("gpt2-small", topology="pod16", generate=8, prompt=32)
    assert tokens.cost is not None
    assert tokens.cost.owned.draw is not None
    assert tokens.cost.owned.draw.predicted is None
