"""Partitions for a mix against every layout there is."""

from __future__ import annotations

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.studies.plan import job_placement

SIZES = (4, 16, 64)
hours = st.dictionaries(st.sampled_from(SIZES), st.integers(1, 400).map(lambda n: n / 8), min_size=1)


@given(st.lists(hours, min_size=1, max_size=5), st.sampled_from((10.0, 24.0)))
@settings(max_examples=2 * settings.default.max_examples)
def test_no_layout_needs_fewer_ipus_or_as_many_and_fewer_hours(jobs: list[dict[int, float]], available: float) -> None:
    chosen = job_placement.fewest(jobs, available)
    assert chosen is not None

    def counted(sizes: tuple[int, ...]) -> tuple[int, float]:
        loads = {
            size: sum(job[size] for job, number in zip(jobs, sizes, strict=True) if number == size) for size in sizes
        }
        ipus = sum(size * math.ceil(load / available) for size, load in loads.items())
        return ipus, sum(job[size] for job, size in zip(jobs, sizes, strict=True))

    best = min(counted(sizes) for sizes in product(*jobs))
    assert counted(chosen) == pytest.approx(best)
    assert job_placement.ipus(chosen, jobs, available) == best[0]


def test_jobs_of_one_size_share_their_partitions() -> None:
    assert job_placement.ipus((16, 16), [{16: 6.0}, {16: 4.0}], 10.0) == 16
    assert job_placement.ipus((16, 16), [{16: 6.0}, {16: 4.1}], 10.0) == 32
    assert job_placement.ipus((16, 4), [{16: 6.0}, {4: 6.0}], 10.0) == 20


def test_a_job_that_meets_its_deadline_nowhere_has_no_layout() -> None:
    assert job_placement.fewest([{4: 1.0}, {}], 10.0) is None


@given(st.lists(st.sampled_from(SIZES), min_size=1, max_size=12))
def test_powers_of_two_fit_side_by_side_without_gaps(sizes: list[int]) -> None:
    """What Eq. 67 rests on: placed by size, each starts at a multiple of its own, so that it is a partition."""
    starts, at = [], 0
    for size in sorted(sizes, reverse=True):
        starts.append((at, size))
        at += size
    assert all(start % size == 0 for start, size in starts)
    assert at == sum(sizes)
