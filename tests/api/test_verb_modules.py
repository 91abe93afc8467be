"""Each verb is read from the module that holds it, and no module of another verb is loaded for it."""

import inspect
import json
import subprocess
import sys

import pytest

from podsim import api
from podsim.api import answers, collectives, differences, evidence, failures, operators, tracing, upkeep

VERBS = {
    answers: ("predict",),
    collectives: ("collective", "trace_collective"),
    differences: ("diff",),
    evidence: ("claims", "microbenchmarks", "published"),
    failures: ("goodput",),
    operators: ("explain_operators", "op"),
    tracing: ("trace",),
    upkeep: ("calibrate", "calibrate_noise", "calibrate_own", "coverage", "freeze", "hold_outs", "validate"),
}

CODE = """
import json, sys
from podsim import api
before = set(sys.modules)
getattr(api, sys.argv[1])
print(json.dumps(sorted(name for name in set(sys.modules) - before if name.startswith("podsim.api."))))
"""


@pytest.mark.parametrize("module", VERBS, ids=lambda module: module.__name__)
def test_a_verb_is_that_of_its_module(module):
    for verb in VERBS[module]:
        assert getattr(api, verb) is getattr(module, verb)
        assert inspect.unwrap(getattr(module, verb)).__module__ == module.__name__


@pytest.mark.parametrize("verb", ["predict", "goodput", "collective", "list_chips"])
def test_a_verb_loads_no_module_of_another(verb, tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", CODE, verb], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    home = inspect.unwrap(getattr(api, verb)).__module__
    assert set(json.loads(run.stdout)) == {home, "podsim.api.checking"}


def test_no_other_name_is_a_verb():
    with pytest.raises(AttributeError, match="has no attribute 'perdict'"):
        api.perdict  # noqa: B018
    assert {*api.__all__} <= {*dir(api)}
