"""A card without streaming memory: what needs it is refused with what would work, and nothing divides by it."""

import re

import pytest

import podsim
from podsim.errors import Infeasible
from podsim.model.training import StatePlace

LENGTH = {"samples": 1e7}


@pytest.mark.parametrize(
    ("workload", "length"),
    [
        ("vit-base", {}),
        ("bert", {}),
        pytest.param("gpt2-xl", LENGTH, marks=pytest.mark.slow),
        pytest.param("swin-large", LENGTH, marks=pytest.mark.slow),
    ],
)
def test_the_card_says_that_it_has_none_and_the_pod_that_it_names_answers(workload, length):
    with pytest.raises(Infeasible) as refused:
        podsim.predict(workload, topology="c600", **length)
    assert "c600 has no streaming memory" in " ".join(refused.value.context)
    pod = re.fullmatch(r"pod=(\d+), which has streaming memory", refused.value.hint)
    assert podsim.predict(workload, pod=int(pod[1]), engine="analytic", **length).memory.fits


def test_the_other_verbs_refuse_too():
    with pytest.raises(Infeasible, match="no mapping fits in memory"):
        podsim.compare("vit-base", ["c600", "c600"])
    one_side = podsim.compare("vit-base", ["c600", "pod16"], engine="analytic")
    assert ["no mapping fits" in side.message for side in one_side.infeasible] == [True]
    with pytest.raises(Infeasible, match="no mapping fits"):
        podsim.mappings("vit-base", topology="c600")
    with pytest.raises(Infeasible, match="no machine named trains vit-base"):
        podsim.plan("vit-base", machines="c600")
    with pytest.raises(Infeasible) as refused:
        podsim.infer("gpt2-xl", topology="c600", weights="streamed")
    assert "c600 has none" in " ".join(refused.value.context)


def test_what_fits_keeps_its_state_on_chip():
    answer = podsim.predict("resnet50", topology="c600", engine="analytic")
    assert answer.mapping.state is StatePlace.ON_CHIP
    assert answer.memory.streaming_bytes_per_ipu == 0


def test_a_configuration_that_streams_says_what_it_would_keep_there():
    with pytest.raises(Infeasible) as refused:
        podsim.predict("gpt2-xl", topology="c600", **LENGTH)
    assert re.search(r"keeps [\d.,]+ GB there for each IPU", " ".join(refused.value.context))
