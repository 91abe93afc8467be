"""A published config with more positions than fit is refused with the sequence that fits."""

import json
import re
from pathlib import Path

import pytest

import podsim
from podsim.errors import Infeasible
from podsim.files import catalog
from podsim.planning import shorter_rows

LLAMA31 = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
    "max_position_embeddings": 131072,
    "tie_word_embeddings": False,
}


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA31), encoding="utf-8")
    return str(path)


@pytest.mark.slow
def test_the_sequence_that_fits_is_named_and_fits(own: str) -> None:
    with pytest.raises(Infeasible) as no:
        podsim.predict(own, pod=64, engine="analytic")
    match = re.match(r"--sequence (\d+) fits", no.value.hint)
    assert match, no.value.hint
    tokens = int(match[1])
    answer = podsim.predict(own, pod=64, engine="analytic", changes={"import.sequence": match[1]})
    assert answer.memory.fits
    with pytest.raises(Infeasible):
        podsim.predict(own, pod=64, engine="analytic", changes={"import.sequence": str(2 * tokens)})


def test_a_plan_names_the_usual_sequence(own: str) -> None:
    with pytest.raises(Infeasible) as no:
        podsim.plan(own, machines="pod64", tokens=1e9)
    assert no.value.hint.startswith("--sequence 8192")


def test_the_usual_sequence_is_advised_to_longer_rows_of_configs_alone(own: str) -> None:
    long = catalog.workload(own, {"import.sequence": "16384"}).value
    usual = catalog.workload(own, {"import.sequence": "8192"}).value
    assert shorter_rows.usual(long, own).startswith("--sequence 8192")
    assert not shorter_rows.usual(usual, own)
    assert not shorter_rows.usual(long, "llama31-8b")
