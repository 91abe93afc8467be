"""A decoder that fits in phases alone takes the tensor shards that train soonest, not the first that fit."""

import pytest

import podsim
from podsim.errors import PodsimError


@pytest.mark.parametrize("pod", [4, pytest.param(16, marks=pytest.mark.slow)])
def test_no_size_of_a_replica_is_faster_than_what_the_search_takes(pod: int) -> None:
    best = podsim.predict("gpt2-large", pod=pod, engine="analytic")
    rates = []
    for size in (1, 2, 4):
        try:
            stated = podsim.predict("gpt2-large", pod=pod, engine="analytic", ipus_per_replica=size)
        except PodsimError:
            continue
        if stated.mapping.global_batch == best.mapping.global_batch:
            rates.append(stated.throughput_samples_per_s.value)
    assert best.throughput_samples_per_s.value >= 0.999 * max(rates, default=0.0)


def test_gpt2_large_on_one_m2000_runs_data_parallel() -> None:
    """Four replicas of one IPU reduce gradients once a step; shards over four IPUs exchange in every layer."""
    found = podsim.predict("gpt2-large", pod=4, engine="analytic")
    assert (found.mapping.replicas, found.mapping.ipus_per_replica) == (4, 1)
    assert found.mapping.configuration.tensor_shards == 1
