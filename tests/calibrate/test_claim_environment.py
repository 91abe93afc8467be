"""What evaluators of claims may ask, how an answer is judged, and what JSON says of it, with hand-made answers."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from podsim.calibration.claims import claim_verdicts
from podsim.calibration.claims.environment import Environment
from podsim.convergence.lengths import ANY_LENGTH
from podsim.errors import MissingParameter
from podsim.files import catalog, comparator_results
from podsim.model.claims import Claim, ClaimPart, Metric, Verdict, Worth
from podsim.model.microbenchmark import Microbenchmark
from podsim.model.prices import Price, PriceList
from podsim.studies.documents import answer_document

PART = ClaimPart(
    workload="bert", machine="pod64", preset="p", sdk="2.3", baseline="a100", baseline_chips=8, claimed=10.0
)
CLAIM = Claim(id="C1", claim="fast", source="s", metric=Metric.SCALING, unit="x", tolerance=0.1, parts=(PART,))
ROW = Microbenchmark(
    id="row",
    chip="a100",
    tiles="",
    clock_ghz="",
    category="train",
    what="",
    shape={},
    precision="",
    value=30.0,
    unit="min",
    note="",
    source="s",
    locator="",
)


def answer(rate=100.0, time_s=60.0):
    return SimpleNamespace(
        throughput_samples_per_s=SimpleNamespace(value=rate), time_to_train_s=SimpleNamespace(value=time_s)
    )


@pytest.fixture(scope="module")
def rival():
    """A published result of 8 A100 in the closed division."""
    rows = comparator_results.published_results()
    return next(row for row in rows if row.chip == "a100" and row.workload == "bert" and row.division == "closed")


class Log:
    """An environment whose model answers a machine's rate and writes down its calls."""

    def __init__(self, rates=None, **parts):
        self.calls = []
        self.rates = rates or {}
        nothing = dict.fromkeys(("infer", "sample", "chip_of", "topology_of"))
        usual = {"points": (), "rivals": (), "measured": {}, "prices": PriceList(), "predict_comparator": self.law}
        self.environment = Environment(predict=self.predict, **{**nothing, **usual, **parts})

    def predict(self, workload, *, topology, preset=None, sdk=None, samples=None):
        self.calls.append((workload, topology, preset, sdk, samples))
        if topology == "endless" and samples is None:
            raise MissingParameter("how long?")
        return answer(self.rates.get(topology, 100.0))

    def law(self, workload, *, topology, chips):
        self.calls.append((workload, topology, chips))
        return answer(float(chips) ** 0.5)


def test_a_part_is_asked_under_its_own_names_unless_others_are_given():
    log = Log()
    log.environment.ask(PART)
    log.environment.ask(PART, machine="pod16", preset="", sdk="2.1", samples=5.0)
    assert log.calls == [("bert", "pod64", "p", "2.3", None), ("bert", "pod16", None, "2.1", 5.0)]
    assert log.environment.time_s(PART) == 60.0


def test_a_rate_needs_no_length():
    log = Log({"endless": 7.0})
    assert log.environment.rate(PART, machine="endless") == 7.0
    assert [call[-1] for call in log.calls] == [None, ANY_LENGTH]
    assert log.environment.rate(PART) == 100.0


def test_a_published_result_is_that_of_workload_machine_and_preset():
    point = catalog.points()[0]
    environment = Log(points=catalog.points()).environment
    part = ClaimPart(workload=point.workload, machine=point.topology)
    assert environment.log_of(part, point.preset) == point
    assert environment.log_of(part, "another") is None


def test_the_baseline_is_the_fastest_result_of_its_size_and_round(rival):
    def row(chips, minutes, **change):
        return replace(rival, chips=chips, measured_minutes=minutes, **change)

    rows = (
        row(8, 30.0),
        row(8, 20.0, round="v9"),
        row(16, 9.0),
        row(8, 1.0, division="open"),
        row(8, 1.0, chip="v100"),
    )
    environment = Log(rivals=rows).environment
    assert environment.rival(PART).measured_minutes == 20.0
    assert environment.rival(replace(PART, round=rival.round)).measured_minutes == 30.0
    assert environment.rival(replace(PART, baseline_chips=1)).chips == 8
    assert environment.baseline_s(PART) == (1200.0, f"published result {rival.id}")
    with pytest.raises(MissingParameter, match="no published result of bert on 32 × a100 in v9 is carried"):
        environment.rival(replace(PART, baseline_chips=32, round="v9"))


def test_a_measured_row_is_scaled_by_the_law_of_another_workload():
    log = Log(measured={"row": ROW, "rate": replace(ROW, unit="samples/s")})
    of_row = replace(PART, baseline_row="row", row_chips=8)
    assert log.environment.baseline_s(of_row) == (1800.0, "row: 30 min on 8 × a100")
    time_s, basis = log.environment.baseline_s(replace(of_row, baseline_chips=32, scaled_as="resnet50"))
    assert time_s == pytest.approx(900.0)
    assert basis.endswith("2.00 times as fast on 32 by the law of resnet50")
    assert log.calls == [("resnet50", "dgx-a100", 8), ("resnet50", "dgx-a100", 32)]
    for name in ("rate", "none"):
        with pytest.raises(MissingParameter, match=f"no time to train with the id {name}"):
            log.environment.baseline_s(replace(of_row, baseline_row=name))


def test_a_price_is_known_or_missing():
    environment = Log(prices=PriceList(prices=(Price(machine="pod64", low_usd=2.0, high_usd=4.0),))).environment
    assert environment.price("pod64").middle_usd == 3.0
    with pytest.raises(MissingParameter, match="no price of pod16 is known"):
        environment.price("pod16")


# --- the judge ------------------------------------------------------------------------------------------------------


def verdicts(ratio, claim=CLAIM, **change):
    """A claim of tenfold scaling from pod16, where the model has another ratio."""
    part = replace(PART, machine_before="pod16", **change)
    log = Log({"pod64": ratio, "pod16": 1.0})
    return claim_verdicts.report([replace(claim, parts=(part,))], log.environment)


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(10.0, Verdict.AGREES), (11.0, Verdict.AGREES), (9.0, Verdict.AGREES), (11.01, Verdict.DISAGREES)],
)
def test_a_number_agrees_up_to_the_tolerance_itself(ratio, verdict):
    (result,) = verdicts(ratio).answers
    assert result.verdict is verdict
    assert result.parts[0].error == pytest.approx(ratio / 10 - 1)


def test_why_has_the_error_and_the_tolerance():
    (result,) = verdicts(8.0).answers
    assert result.reason.startswith("bert on pod64 over pod16, p: −20.0 %, beyond 10 %; podsim 1 and 8 samples/s")
    (within,) = verdicts(10.5).answers
    assert "+5.0 %, within 10 %" in within.reason
    (exact,) = verdicts(10.0, replace(CLAIM, tolerance=0.0)).answers
    assert "p: +0.0 %; " in exact.reason


def test_without_a_number_of_its_own_a_claim_is_answered_alone():
    (silent,) = verdicts(10.0, claimed=None).answers
    assert (silent.verdict, silent.parts[0].podsim, silent.parts[0].error) == (Verdict.ANSWERED, 10.0, None)
    assert silent.reason.startswith("answered; podsim ")
    (read,) = verdicts(10.0, replace(CLAIM, estimated="read off a chart")).answers
    assert read.verdict is Verdict.ANSWERED
    assert read.reason.startswith("answered, not judged: read off a chart; podsim ")


def test_what_the_model_cannot_answer_is_no_disagreement():
    claim = replace(CLAIM, metric=Metric.PRICE)
    (result,) = verdicts(1.0, claim).answers
    assert (result.verdict, result.reason) == (Verdict.CANNOT, "no price of pod64 is known")


def test_progress_counts_claims():
    seen = []
    claim_verdicts.report([CLAIM, CLAIM], Log().environment, lambda done, of: seen.append((done, of)))
    assert seen == [(1, 2), (2, 2)]


def test_json_has_the_number_that_decides_and_all_of_them():
    report = verdicts(8.0)
    body = answer_document(report).tree()
    assert body["count"][Verdict.DISAGREES.value] == 1
    assert body["count_by_worth"][Worth.INDEPENDENT.value] == {"agrees": 0, "disagrees": 1}
    (claim,) = body["claims"]
    assert (claim["claimed"], claim["podsim"], claim["verdict"]) == (10.0, 8.0, "disagrees")
    assert claim["error"] == pytest.approx(-0.2)
    assert claim["parts"][0]["about"] == "bert on pod64 over pod16, p"
    (cannot,) = answer_document(verdicts(1.0, replace(CLAIM, metric=Metric.PRICE))).tree()["claims"]
    assert (cannot["podsim"], cannot["worth"], cannot["error"]) == (None, None, None)
