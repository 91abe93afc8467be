"""One machine for several jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from podsim import api
from podsim.errors import InputError

EXAMPLE = Path(__file__).parents[2] / "examples" / "mix.toml"


def test_a_mix_takes_the_cheapest_machine_that_holds_its_partitions() -> None:
    found = api.plan_mix(str(EXAMPLE), machines="pod64,pod128,pod256")
    assert found.chosen is not None
    assert found.chosen.topology == "pod128"
    small, taken, large = found.candidates
    assert small.used_ipus > small.ipus
    assert small.reason
    assert taken.used_ipus <= taken.ipus
    assert large.used_ipus <= taken.used_ipus
    hours = {timed.job: timed.hours for pool in taken.pools for timed in pool.jobs}
    assert set(hours) == {job.called for job in found.jobs}
    for pool in taken.pools:
        assert pool.busy <= found.use + 1e-9
        for timed in pool.jobs:
            job = next(job for job in found.jobs if job.called == timed.job)
            assert timed.sure_s <= (job.within_s or 9e9)
            assert timed.hours == pytest.approx(job.runs_per_month * timed.time_to_train_s.value / 3600)


def test_what_was_assumed_is_that_of_the_partitions_taken() -> None:
    """Not the hosts and wiring of every machine weighed, side by side without a name."""
    found = api.plan_mix(str(EXAMPLE), machines="pod64,pod128,pod256")
    alone = api.plan_mix(str(EXAMPLE), machines="pod128")
    assert found.chosen == alone.chosen
    assert found.assumptions == alone.assumptions
    assert found.assumptions
    assert not any("four racks" in line for line in found.assumptions)


def write(path: Path, jobs: str) -> str:
    path.write_text(f'schema = "podsim.mix/1"\n{jobs}', encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("jobs", "words"),
    [("", "job"), ('[[job]]\nworkload = "brt"\nruns_per_month = 1\n', "did you mean|known"),
     ('[[job]]\nworkload = "bert"\nruns_per_month = 0\n', "above 0"),
     ('[[job]]\nworkload = "bert"\nruns_per_month = 1\nwithin = "5"\n', "unit"),
     ('[[job]]\nworkload = "bert"\nruns_per_month = 1\n' * 2, "alike")],
)  # fmt: skip
def test_bad_mixes(tmp_path: Path, jobs: str, words: str) -> None:
    with pytest.raises(InputError) as error:
        api.plan_mix(write(tmp_path / "mix.toml", jobs), machines="pod16")
    assert error.value.code == "bad-mix-file"
    said = " ".join((error.value.message, *error.value.context))
    assert any(word in said for word in words.split("|")), said


def test_a_deadline_that_no_partition_meets(tmp_path: Path) -> None:
    path = write(tmp_path / "mix.toml", '[[job]]\nworkload = "resnet50"\nruns_per_month = 1\nwithin = "1 min"\n')
    found = api.plan_mix(path, machines="pod16")
    assert found.chosen is None
    assert found.closest is not None
    assert "quick enough for resnet50" in found.closest.reason


def test_machines_without_ipus_hold_no_mix() -> None:
    with pytest.raises(InputError, match="no IPUs"):
        api.plan_mix(str(EXAMPLE), machines="dgx-a100")
