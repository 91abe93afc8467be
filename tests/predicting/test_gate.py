"""Requirements of a pipeline: read, held against an answer, and the nearest one that would hold."""

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podsim
from podsim.model.quantity import Estimate, Grade
from podsim.model.requirement import READERS, WITHOUT_INTERVAL, requirement
from podsim.model.run_cost import Draw
from podsim.predicting import intervals
from podsim.studies.predict import gate

PLACES = {"time_to_train": "s", "step": "s", "power": " W", "energy": " J"}


@pytest.fixture(scope="module")
def prediction():
    return podsim.price(podsim.predict("bert", pod=64, engine="analytic"))


@pytest.mark.parametrize(
    ("text", "quantity", "is_ceiling", "limit", "chance"),
    [
        ("time_to_train<5min@0.9", "time_to_train", True, 300.0, 0.9),
        (" Time-to-train <= 5m @ 95% ", "time_to_train", True, 300.0, 0.95),
        ("time_to_train<1h30m", "time_to_train", True, 5400.0, 0.9),
        ("step<850ms", "step", True, 0.85, 0.9),
        ("throughput>10k/s@0.5", "throughput", False, 1e4, 0.5),
        ("throughput>=10,000 samples/s", "throughput", False, 1e4, 0.9),
        ("tokens_per_s>1.5M", "tokens_per_s", False, 1.5e6, 0.9),
        ("cost<$2.50@0.99", "cost", True, 2.5, 0.99),
        ("cost<3M", "cost", True, 3e6, 0.9),
        ("energy<4kWh", "energy", True, 1.44e7, 0.9),
        ("energy<4 MJ", "energy", True, 4e6, 0.9),
        ("power<50kW", "power", True, 5e4, None),
    ],
)
def test_a_requirement_is_read(text, quantity, is_ceiling, limit, chance):
    read = requirement(text)
    assert (read.quantity, read.is_ceiling, read.limit, read.chance) == (quantity, is_ceiling, limit, chance)
    assert requirement(read.text) == read


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("time_to_train=5min", "write for example"),
        ("time_to_train<", "write for example"),
        ("<5min", "write for example"),
        ("time_to_train<5min@", "write for example"),
        ("time_to_train<5min@0.9@0.9", "write for example"),
        ("tim<5min", "they are time_to_train, step"),
        ("time_to_train<5", "needs a unit"),
        ("time_to_train<5kg", "unit"),
        ("time_to_train<5min@1", "from 0.5 to 0.99"),
        ("time_to_train<5min@0.3", "from 0.5 to 0.99"),
        ("time_to_train<5min@sure", "sure"),
        ("power<50kW@0.9", "leave out @0.9"),
        ("cost<0", "above 0"),
        ("energy<4kW", "J"),
        ("throughput>many", "many"),
    ],
)
def test_what_is_malformed_says_why(text, why):
    with pytest.raises(ValueError, match=why):
        requirement(text)


def test_all_that_is_malformed_is_told_at_once(prediction):
    with pytest.raises(podsim.InputError) as raised:
        podsim.gate(prediction, require=["a<1s", "step<2s", "time_to_train<5"])
    assert (raised.value.code, len(raised.value.context)) == ("bad-value", 2)


def estimate(value, spread):
    low, high = (value * math.exp(sign * 1.6449 * spread) for sign in (-1, 1))
    return Estimate(value=value, low=low, high=high, grade=Grade.ASSUMED)


def check(text, known, level=0.9):
    return gate.of_estimate(requirement(text), known, level)


def test_the_chance_is_that_of_a_lognormal():
    known = estimate(100.0, 0.1)
    assert check("step<100s@0.5", known).chance == pytest.approx(0.5)
    one_up = check(f"step<{100 * math.exp(0.1):.9f}s", known)
    assert one_up.chance == pytest.approx(0.8413, abs=1e-4)
    assert not one_up.is_met
    assert one_up.at_chance == pytest.approx(100 * math.exp(0.12816), rel=1e-4)
    above = check(f"throughput>{100 * math.exp(-0.1):.9f}/s", known)
    assert above.chance == pytest.approx(0.8413, abs=1e-4)
    assert above.at_chance == pytest.approx(100 * math.exp(-0.12816), rel=1e-4)


def test_an_interval_of_another_level_says_the_same():
    known = estimate(100.0, 0.1)
    half = intervals.normal_quantile(0.5)
    narrow = replace(known, low=100 * math.exp(-0.1 * half), high=100 * math.exp(0.1 * half))
    assert check("step<110s", narrow, 0.5).chance == pytest.approx(check("step<110s", known).chance, abs=1e-4)
    assert check("step<110s", narrow, 0.5).at_chance == pytest.approx(check("step<110s", known).at_chance, rel=1e-4)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(sorted({*READERS} - {*WITHOUT_INTERVAL})),
    st.floats(1e-4, 1e9),
    st.floats(0.001, 1.0),
    st.sampled_from(["<", ">"]),
    st.floats(0.5, 0.99),
)
def test_the_nearest_requirement_holds_and_one_digit_stricter_does_not(quantity, value, spread, comparison, chance):
    known = estimate(value, spread)
    limit = f"{value:.9f}{PLACES.get(quantity, '')}"
    first = check(f"{quantity}{comparison}{limit}@{chance:.4f}", known)
    nearest = check(first.nearest, known)
    assert nearest.is_met
    stricter = nearest.limit * (0.985 if comparison == "<" else 1.015)
    text = f"{quantity}{comparison}{stricter:.9f}{PLACES.get(quantity, '')}@{chance:.4f}"
    if stricter > 1e-3:
        assert not check(text, known).is_met


def test_every_quantity_of_a_prediction(prediction):
    texts = ["time_to_train<1h", "step<1ms", "throughput>1k/s", "cost<1k", "energy<1kWh", "power<1GW"]
    checks = podsim.gate(prediction, require=texts).requirements
    assert [each.is_met for each in checks] == [True, False, True, True, False, True]
    time = checks[0]
    assert time.at_chance == pytest.approx(intervals.below(prediction.time_to_train_s, 0.9))
    draw = prediction.money.owned.draw
    assert checks[-1].at_chance == draw.predicted.high == draw.most_w
    assert "in training" in checks[-1].reason


def test_power_that_is_not_predicted_is_the_peak(prediction):
    draw = replace(prediction.money.owned.draw, predicted=None)
    money = replace(prediction.money, owned=replace(prediction.money.owned, draw=draw))
    (power,) = podsim.gate(replace(prediction, money=money), require=["power<1GW"]).requirements
    assert (power.at_chance, power.reason) == (draw.peak_w, "")


def test_what_is_not_known_is_not_met(prediction):
    (tokens,) = podsim.gate(prediction, require=["tokens_per_s>1"]).requirements
    assert (tokens.is_met, tokens.chance, tokens.nearest) == (False, None, "")
    assert "counts no tokens" in tokens.reason
    nothing = replace(prediction.money, owned=replace(prediction.money.owned, draw=None), energy_j=None)
    power, energy = podsim.gate(replace(prediction, money=nothing), require=["power<1GW", "energy<1GWh"]).requirements
    assert not power.is_met
    assert not energy.is_met
    assert "no published power" in power.reason


def test_a_peak_that_is_not_published_is_said(prediction):
    draw = Draw(typical_w=100.0, peak_w=None, basis="whole system")
    money = replace(prediction.money, owned=replace(prediction.money.owned, draw=draw))
    (power,) = podsim.gate(replace(prediction, money=money), require=["power<101W"]).requirements
    assert power.is_met
    assert "typical used" in power.reason


def test_what_the_answer_lacks_is_asked_for():
    plain = podsim.predict("bert", pod=64, engine="analytic")
    with pytest.raises(podsim.MissingParameter, match="terms of ownership"):
        podsim.gate(plain, require=["cost<1"])
    endless = podsim.predict("gpt2-xl", pod=64, engine="analytic")
    with pytest.raises(podsim.MissingParameter, match="length of the run"):
        podsim.gate(endless, require=["time_to_train<1d"])
    assert podsim.gate(endless, require=["throughput>1/s"]).requirements[0].is_met


def test_a_served_workload_is_held_to_its_rate_and_its_latency():
    words = {"pod": 4, "rate": "10k/s", "requests": 2000, "engine": "analytic"}
    report = podsim.infer("resnet50", **words, require=["p99<5ms", "rate>1k/s", "mean<1us"])
    p99, rate, mean = report.requirements
    assert (p99.is_met, p99.chance, p99.at_chance) == (True, None, report.delays.p99_s)
    assert (rate.is_met, mean.is_met, report.is_refused) == (True, False, True)
    assert rate.chance > 0.99
    assert "at 10,000 requests/s" in p99.reason
    again = podsim.infer("resnet50", **words, require=[p99.nearest, rate.nearest, mean.nearest])
    assert not again.is_refused
    assert [item["is_met"] for item in report.to_dict()["requirements"]] == [True, True, False]
    assert "requirements" not in podsim.infer("resnet50", **words).to_dict()


@pytest.mark.parametrize("text", ["p99<5ms@0.9", "time_to_train<5min", "p99<5"])
def test_what_does_not_suit_a_served_workload_is_refused(text):
    with pytest.raises(podsim.InputError, match="require cannot be read"):
        podsim.infer("resnet50", pod=4, require=[text])


def test_the_first_token_and_each_further_one_are_those_of_plan_and_of_the_screen():
    """Without a queue to speak of, 99 of 100 first tokens take what a prompt takes at least, and a wait at most."""
    words = {"pod": 16, "generate": 64, "prompt": 128, "rate": "20/s", "engine": "analytic"}
    report = podsim.infer("gpt2-xl", **words, require=["ttft<500ms", "tpot<1us", "p99<1s"])
    first, token, whole = report.requirements
    assert (first.is_met, token.is_met) == (True, False)
    assert first.at_chance >= report.decoding.prefill.latency_s
    assert first.at_chance < whole.at_chance == report.delays.p99_s
    assert token.at_chance == report.decoding.token.latency_s
    busy = podsim.infer("gpt2-xl", **{**words, "rate": "100/s"}, require=["ttft<500ms", "tpot<1us"])
    assert busy.requirements[0].at_chance > first.at_chance
    assert busy.requirements[1].at_chance == token.at_chance


def test_a_latency_of_tokens_needs_tokens():
    with pytest.raises(podsim.MissingParameter, match="ttft is about tokens that are generated"):
        podsim.infer("resnet50", pod=4, require=["ttft<1s"])
