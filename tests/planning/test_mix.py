"""One machine for several jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

import podsim
from podsim.errors import InputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "mix.toml"


def test_a_mix_takes_the_cheapest_machine_that_holds_its_partitions() -> None:
    plan = podsim.plan_mix(str(EXAMPLE), machines="pod64,pod128,pod256")
    assert plan.chosen is not None
    assert plan.chosen.topology == "pod128"
    small, taken, large = plan.candidates
    assert small.used_ipus > small.ipus
    assert small.reason
    assert taken.used_ipus <= taken.ipus
    assert large.used_ipus <= taken.used_ipus
    hours = {timed.job: timed.hours for pool in taken.pools for timed in pool.jobs}
    assert set(hours) == {job.title for job in plan.jobs}
    for pool in taken.pools:
        assert pool.busy <= plan.use + 1e-9
        for timed in pool.jobs:
            job = next(job for job in plan.jobs if job.title == timed.job)
            assert timed.sure_s <= (job.within_s or 9e9)
            assert timed.hours == pytest.approx(job.runs_per_month * timed.time_to_train_s.value / 3600)


@pytest.mark.slow
def test_what_was_assumed_is_that_of_the_partitions_taken() -> None:
    """Not the hosts and wiring of every machine weighed, side by side without a name."""
    plan = podsim.plan_mix(str(EXAMPLE), machines="pod64,pod128,pod256")
    alone = podsim.plan_mix(str(EXAMPLE), machines="pod128")
    assert plan.chosen == alone.chosen
    assert plan.assumptions == alone.assumptions
    assert plan.assumptions
    assert not any("four racks" in line for line in map(str, plan.assumptions))


def write(path: Path, jobs: str) -> str:
    path.write_text(f'schema = "podsim.mix/1"\n{jobs}', encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("jobs", "words"),
    [
        ("", "job"),
        ('[[job]]\nworkload = "brt"\nruns_per_month = 1\n', "did you mean|known"),
        ('[[job]]\nworkload = "bert"\nruns_per_month = 0\n', "above 0"),
        ('[[job]]\nworkload = "bert"\nruns_per_month = 1e9\n', "runs_per_month of bert must be from 0.01 to 100,000"),
        ('[[job]]\nworkload = "bert"\nruns_per_month = 1e-9\n', "runs_per_month of bert must be from 0.01 to 100,000"),
        ('[[job]]\nworkload = "bert"\nruns_per_month = 1\nwithin = "5"\n', "unit"),
        ('[[job]]\nworkload = "bert"\nruns_per_month = 1\n' * 2, "alike"),
    ],
)
def test_bad_mixes(tmp_path: Path, jobs: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        podsim.plan_mix(write(tmp_path / "mix.toml", jobs), machines="pod16")
    assert error.value.code == "bad-mix-file"
    text = " ".join((error.value.message, *error.value.context))
    assert any(word in text for word in words.split("|")), text


def test_a_deadline_that_no_partition_meets(tmp_path: Path) -> None:
    path = write(tmp_path / "mix.toml", '[[job]]\nworkload = "resnet50"\nruns_per_month = 1\nwithin = "1 min"\n')
    plan = podsim.plan_mix(path, machines="pod16")
    assert plan.chosen is None
    assert plan.closest is not None
    assert "fast enough for resnet50" in plan.closest.reason


def test_machines_without_ipus_hold_no_mix() -> None:
    with pytest.raises(InputError, match="no IPUs"):
        podsim.plan_mix(str(EXAMPLE), machines="dgx-a100")
