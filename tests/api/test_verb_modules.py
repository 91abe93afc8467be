"""Each verb is read from the module that holds it, and no module of another verb is loaded for it."""

import json
import subprocess
import sys
from importlib import import_module

import pytest

import podsim
from podsim import studies

CODE = """
import json, sys
import podsim
from podsim import studies
studies.verbs()
before = set(sys.modules)
getattr(podsim, sys.argv[1])
print(json.dumps(sorted(name for name in set(sys.modules) - before if name.startswith("podsim.studies."))))
"""


@pytest.mark.parametrize("verb", sorted(studies.verbs()))
def test_a_verb_is_that_of_the_module_it_is_declared_in(verb):
    module, _ = studies.verbs()[verb]
    assert getattr(podsim, verb) is getattr(import_module(module), verb)


@pytest.mark.parametrize("verb", ["predict", "goodput", "collective", "list_chips"])
def test_a_verb_loads_no_module_of_another(verb, tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", CODE, verb], cwd=tmp_path, capture_output=True, encoding="utf-8", check=True
    )
    folder = studies.verbs()[verb][0].rpartition(".")[0]
    others = [name for name in json.loads(run.stdout) if not name.startswith(folder)]
    assert {name.rpartition(".")[0] for name in others} <= {"podsim.studies", "podsim.studies.predict"}


def test_no_other_name_is_a_verb():
    with pytest.raises(AttributeError, match="has no attribute 'perdict'"):
        podsim.perdict  # noqa: B018
    assert {*podsim.__all__} <= {*dir(podsim)}
