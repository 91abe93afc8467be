"""Sweep files: every fault at once, by line; values as `--set` takes them."""

import pytest

from podsim.errors import InputError
from podsim.files import sweeps

GOOD = """schema = "podsim.sweep/1"
workload = "bert"
[fixed]
engine = "analytic"
micro-batch = 2
gw-link.latency = "2 us"
[[axis]]
name = "pod"
values = [16, 64]
[[axis]]
name = "chip.clock"
from = "1 GHz"
to = "2 GHz"
count = 3
"""


def test_values_are_those_of_flags_and_set(write):
    file = sweeps.sweep(write("a.toml", GOOD)).value
    assert file.fixed == {"engine": "analytic", "micro_batch": "2", "gw-link.latency": "2 us"}
    assert [axis.name for axis in file.axes] == ["pod", "chip.clock"]
    assert file.axes[0].values == ("16", "64")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("values = [16, 64]", "values = [16, 16]", "a value is there twice"),
        ("values = [16, 64]", "values = [16, 1.5]", '"1.5" is not a whole number'),
        ("values = [16, 64]", "values = [16, true]", '"true" is not a whole number'),
        ("values = [16, 64]", "values = [16, 0]", "must be at least 1, not 0"),
        ("values = [16, 64]", "values = [16, 10_000_000_000]", "must be at most 2,147,483,647"),
        ('engine = "analytic"', "samples = 1e30", "above 0 and at most 1e18"),
        ('engine = "analytic"', 'sdk = ""', "must not be empty"),
        ("values = [16, 64]", "values = [16]\ncount = 3", "not both"),
        ("values = [16, 64]", "", '"from" and "to"'),
        ('name = "pod"', 'name = "topologi"', 'did you mean "topology"'),
        ('name = "pod"', 'name = "chip"', '"pod" and "topology"'),
        ('name = "chip.clock"', 'name = "pod"', "there twice"),
        ('name = "chip.clock"', 'name = "engine"', "engine is fixed"),
        ('name = "chip.clock"', 'name = "replicas"', "whole = true"),
        ('name = "chip.clock"', 'name = "preset"', "is no number"),
        ('name = "chip.clock"', 'name = "replicas"\nwhole = true', "is not a whole number"),
        ('engine = "analytic"', 'engine = "analytc"', 'did you mean "analytic"'),
        ('engine = "analytic"', "samples = -1", "above 0"),
        ('to = "2 GHz"', 'to = "2 MHz"', "is in MHz"),
        ('to = "2 GHz"', 'to = "1 GHz"', "above the beginning"),
        ('from = "1 GHz"', 'from = "0 GHz"\nspacing = "log"', "above 0"),
        ("count = 3", "", "how many steps"),
        ("count = 3", "count = 0", "at least 1"),
        ("[fixed]", "points = 7\n[fixed]", "as its axes give"),
        ("[fixed]", 'design = "random"\npoints = 7\n[fixed]', "goes with a grid"),
        ("[fixed]", 'design = "random"\n[fixed]', "is missing"),
        ("[fixed]", 'design = "girds"\n[fixed]', 'did you mean "grid"'),
        ('workload = "bert"', "", "is missing"),
    ],
)
def test_each_fault_is_named(write, old, new, said):
    assert old in GOOD
    with pytest.raises(InputError) as raised:
        sweeps.sweep(write("a.toml", GOOD.replace(old, new, 1)))
    assert raised.value.code == "bad-sweep-file"
    assert said in "\n".join(raised.value.context)


def test_flags_are_those_of_predict():
    from inspect import signature

    import podsim

    known = {*signature(podsim.predict).parameters}
    assert set(sweeps.FLAGS) <= known
    assert known - set(sweeps.FLAGS) == {
        "workload",
        "changes",
        "faults",
        "steps",
        "noise_scale",
        "on_progress",
        "interval",
        "parameters",
        "chips",
        "tokens",
        "law",
        "target_loss",
        "epochs",
        "compile",
    }
