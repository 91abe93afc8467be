"""All mappings of a small machine, ranked: each split once at its best batch, and the nearest that does not fit."""

import pytest

from podsim.errors import Infeasible, InputError
from podsim.resolve import resolve
from podsim.scenario import Scenario
from podsim.studies.mappings import search as advising
from podsim.studies.mappings.framework_settings import settings
from podsim.studies.mappings.result import Rank


def case(**flags):
    return resolve(Scenario.of("bert", pod=4, engine="analytic", **flags))


@pytest.fixture(scope="module")
def by_time():
    return advising.mappings(case(), Rank.TIME, 1000)


def split(item):
    mapping = item.mapping
    return mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch, mapping.recompute, mapping.state


def test_best_first_and_each_once(by_time):
    times = [item.time_to_train_s for item in by_time.advised]
    assert times == sorted(times)
    assert len({split(item) for item in by_time.advised}) == len(by_time.advised) == by_time.distinct
    assert by_time.legal > by_time.distinct


def test_no_more_than_are_asked_for_and_the_same_ones(by_time):
    few = advising.mappings(case(), Rank.TIME, 1)
    assert few.advised == by_time.advised[:1]
    assert (few.legal, few.distinct, few.rejected) == (by_time.legal, by_time.distinct, by_time.rejected)


def test_by_throughput_a_split_has_its_largest_batch(by_time):
    """A fixed cost a step is then rarest; no batch of the other ranking is larger."""
    by_rate = advising.mappings(case(), Rank.THROUGHPUT, 1000)
    rates = [item.throughput_samples_per_s for item in by_rate.advised]
    assert rates == sorted(rates, reverse=True)
    largest = {split(item): item.mapping.accumulation for item in by_rate.advised}
    assert set(largest) == {split(item) for item in by_time.advised}
    assert all(largest[split(item)] >= item.mapping.accumulation for item in by_time.advised)
    assert any(largest[split(item)] > item.mapping.accumulation for item in by_time.advised)


def test_rates_and_settings_are_those_of_the_mapping(by_time):
    question = case()
    workload = question.question.workload
    for item in by_time.advised:
        assert item.throughput_samples_per_s == pytest.approx(
            item.mapping.global_batch * workload.packing / item.step_s
        )
        assert item.settings == settings(workload, item.mapping)
        assert item.memory <= 1
        assert item.preset == ""  # nobody submitted four IPUs


def test_what_came_nearest_does_not_fit(by_time):
    assert by_time.nearest is not None
    assert max(by_time.nearest.memory, by_time.nearest.streaming) > 1
    assert "_" not in by_time.nearest.largest


def test_where_no_length_is_stated_there_is_no_time():
    question = resolve(
        Scenario.of("gpt2-small", pod=4, engine="analytic", ipus_per_replica=4, micro_batch=1), needs_length=False
    )
    assert question.missing
    answer = advising.mappings(question, Rank.THROUGHPUT, 2)
    assert not answer.timed
    assert [item.time_to_train_s for item in answer.advised] == [None] * len(answer.advised)


def test_where_nothing_fits_or_divides_it_is_said():
    with pytest.raises(Infeasible) as no:
        advising.mappings(case(ipus_per_replica=1), Rank.TIME, 1)
    assert no.value.code == "does-not-fit"
    with pytest.raises(InputError):
        advising.mappings(case(replicas=3), Rank.TIME, 1)
