"""Job mixes name workloads that there are; single chips take changes whose paths begin with "chip."."""

import pytest

from podsim.errors import InputError
from podsim.files import catalog, chips, mixes

JOB = '[[job]]\nworkload = "{}"\nruns_per_month = 3\n'


def text(*workloads):
    return 'schema = "podsim.mix/1"\n' + "".join(map(JOB.format, workloads))


def test_jobs_are_those_of_the_file(write):
    mix = mixes.mix(str(write("a.toml", text("bert", "resnet50"))))
    assert [(job.workload, job.runs_per_month) for job in mix.jobs] == [("bert", 3), ("resnet50", 3)]


def test_a_workload_that_nobody_knows_is_named_at_its_job(write):
    with pytest.raises(InputError) as caught:
        mixes.mix(str(write("a.toml", text("bert", "brt", "./own.toml"))))
    (line,) = caught.value.context
    assert line == '6  job[1].workload  "brt" is not known; did you mean "bert"?'


def test_a_run_in_phases_is_a_workload_of_a_mix(write):
    name = next(name for name in mixes.run_phases.names())
    assert mixes.mix(str(write("a.toml", text(name)))).jobs[0].workload == name


def test_a_file_without_jobs_has_no_second_fault():
    assert list(mixes.faults(None, {})) == []


def test_a_number_of_a_chip_changes_and_the_others_stay():
    usual, other = catalog.chip("gc200").value, chips.chip_with("gc200", ["chip.tiles=100"]).value
    assert (other.tiles, other.clock_hz) == (100, usual.clock_hz)
    assert chips.chip_with("gc200").value == usual


@pytest.mark.parametrize("change", ["tiles=100", "chip.tils=100", "chip.tiles=0"])
def test_a_path_that_a_chip_has_not_and_a_value_that_cannot_be_are_refused(change):
    with pytest.raises(InputError):
        chips.chip_with("gc200", [change])
