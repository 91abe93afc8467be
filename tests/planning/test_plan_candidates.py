"""Machines as candidates: demands missed, chances by counting scores, what is left out, and what would help one."""

from dataclasses import replace

import pytest

from podsim.errors import InputError
from podsim.files.comparator_machines import name_and_count, names_comparator
from podsim.planning import workload_sequence
from podsim.planning.ownership import ownership_terms
from podsim.predicting import training_case
from podsim.scenario import Scenario
from podsim.studies.plan import remedies
from podsim.studies.plan.candidates import (
    CandidateEvaluator,
    PlanRequest,
    misses,
    scores,
    together,
)
from podsim.studies.plan.result import Demand, Miss

RUN = workload_sequence.run("bert")
MAPPED = Scenario.of("bert", engine="analytic", preset="mlperf-v1.1-closed")


def request(**demand):
    return PlanRequest(scenario=MAPPED, demand=Demand(**demand), terms=ownership_terms())


@pytest.fixture(scope="module")
def outcome():
    """As it was submitted, on the only host that it ships with."""
    evaluator = CandidateEvaluator(request=request(within_s=1850.0), run=RUN)
    return next(iter(evaluator.machine("pod16"))), evaluator


def test_chips_after_a_colon():
    assert name_and_count("dgx-a100") == ("dgx-a100", None)
    assert name_and_count("dgx-a100:64") == ("dgx-a100", 64)
    for text in ("dgx-a100:", "dgx-a100:x", "dgx-a100:6.5"):
        with pytest.raises(InputError, match="does not say how many chips") as refusal:
            name_and_count(text, "--machines ")
        assert refusal.value.hint == "--machines dgx-a100:64"
    assert names_comparator("dgx-a100:64")
    assert not names_comparator("pod64")


def test_what_nobody_says_misses_a_demand_and_a_limit_is_met_by_itself():
    demand = Demand(within_s=10.0, budget_usd=5.0)
    assert misses(demand, {"time": 10.0, "budget": None, "power": 1e9}) == (
        Miss(demand="budget", limit=5.0, found=None),
    )
    assert misses(demand, {"time": 11.0, "budget": 5.0, "power": None}) == (
        Miss(demand="time", limit=10.0, found=11.0),
    )


def test_runs_one_after_the_other_are_slow_together():
    assert together([[1.0, 2.0, 5.0], [10.0, 20.0, 30.0]]) == [11.0, 22.0, 35.0]


def test_a_candidate_says_how_many_scores_stay_below_the_time_demanded(outcome):
    evaluation, _ = outcome
    candidate, (part,) = evaluation.candidate, evaluation.parts
    simulated = scores(part.question, part.mapping, training_case.step(part.question, part.mapping))
    assert simulated == sorted(simulated)
    assert candidate.chance == pytest.approx(sum(score <= 1850.0 for score in simulated) / len(simulated))
    assert 0 < candidate.chance < 1
    assert sum(score <= candidate.sure_s for score in simulated) / len(simulated) == pytest.approx(0.9, abs=0.01)
    assert (candidate.topology, candidate.chips, candidate.hosts, candidate.engine) == ("pod16", 16, 1, "analytic")


def test_a_candidate_is_judged_by_what_it_is_sure_of(outcome):
    evaluation, _ = outcome
    (missed,) = evaluation.candidate.misses
    assert (missed.demand, missed.limit, missed.found) == ("time", 1850.0, evaluation.candidate.sure_s)


def test_its_price_and_draw_are_those_of_the_terms(outcome):
    candidate = outcome[0].candidate
    part = outcome[0].parts[0]
    owned = ownership_terms().machine(part.question.machine.topology, 1, activity=part.predict().activity)
    assert (candidate.capital_usd, candidate.most_capital_usd) == (owned.capital.usd.value, owned.capital.usd.high)
    assert (candidate.power_w, candidate.most_power_w) == (owned.draw.least_w, owned.draw.most_w)


def test_a_machine_without_ipus_has_no_mapping_and_its_law_as_engine():
    (evaluation,) = CandidateEvaluator(request=request(), run=RUN).machine("dgx-a100:16")
    candidate = evaluation.candidate
    assert (candidate.topology, candidate.chips, candidate.mapping, candidate.engine) == (
        "dgx-a100:16",
        16,
        None,
        "law",
    )
    assert candidate.chance is None
    assert candidate.sure_s > candidate.time_to_train_s.value
    assert evaluation.parts == ()


def test_a_machine_that_cannot_is_left_out_and_a_question_that_is_wrong_is_refused():
    """A law of losses speaks of no measured machine; 3 replicas are no power of two anywhere."""
    by_law = replace(request(), scenario=Scenario.of("gpt3-2.7b", engine="analytic", law="chinchilla"))
    evaluator = CandidateEvaluator(request=by_law, run=workload_sequence.run("gpt3-2.7b"))
    calls = []
    assert evaluator.all(("dgx-a100:8",), lambda done, of: calls.append((done, of))) == []
    assert [(left.topology, "no law of losses speaks of" in left.reason) for left in evaluator.excluded] == [
        ("dgx-a100:8", True)
    ]
    assert calls == [(1, 1)]
    wrong = replace(request(), scenario=Scenario.of("bert", engine="analytic", replicas=3))
    with pytest.raises(InputError, match="does not suit the machine"):
        CandidateEvaluator(request=wrong, run=RUN).all(("pod16",))


# --- what would help ------------------------------------------------------------------------------------------------


def offers(outcome, share):
    """Remedies for a time that is `share` of the one that the machine is sure of."""
    evaluation, _ = outcome
    demanded = request(within_s=share * evaluation.candidate.sure_s)
    return {remedy.path: remedy for remedy in remedies.remedies(evaluation, RUN, demanded)}


def test_nothing_is_offered_where_no_time_is_demanded_or_no_ipus_are_there(outcome):
    evaluation, _ = outcome
    assert remedies.remedies(evaluation, RUN, request()) == ()
    assert remedies.remedies(replace(evaluation, parts=()), RUN, request(within_s=1.0)) == ()


def test_a_faster_clock_is_enough_and_no_more_than_enough(outcome):
    clock = offers(outcome, 0.95)["chip.clock"]
    limit = 0.95 * outcome[0].candidate.sure_s
    assert clock.present == 1.325e9
    assert 1.325e9 / 0.95 < clock.needed < 1.2 * 1.325e9
    assert limit * (1 - remedies.ENOUGH) <= clock.best <= limit


def test_what_software_takes_shrinks(outcome):
    stretch = offers(outcome, 0.95)["program.stretch"]
    assert 1 / remedies.MOST_OTHER * stretch.present < stretch.needed < stretch.present


def test_a_number_that_is_not_enough_says_what_remains(outcome):
    links = offers(outcome, 0.5)["ipu-link.bandwidth"]
    assert (links.needed, links.unit, links.present) == (None, "B/s", 16e9)
    assert 0.5 * outcome[0].candidate.sure_s < links.best < outcome[0].candidate.sure_s


def test_numbers_that_change_nothing_are_left_out(outcome):
    """One rack has no GW-Links, and BERT waits for no host."""
    assert not {"gw-link.bandwidth", "hosts.server_bandwidth", "hosts"} & set(offers(outcome, 0.95))
