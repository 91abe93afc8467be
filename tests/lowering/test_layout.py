"""Which stage holds what: published splits to the letter, even ones as even as they can be."""

from dataclasses import replace
from itertools import combinations, pairwise

import pytest
from engines.worlds import CONFIGURATION, model, unit
from hypothesis import given
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files import catalog
from podsim.lowering.layout import most_ipus, stages
from podsim.model.training import StageLayout
from podsim.model.workload import Pass

SIZES = st.lists(st.integers(1, 64), min_size=5, max_size=9)


def chain(sizes, *, tied=False):
    units = [unit(f"u{number}", products=size) for number, size in enumerate(sizes)]
    if tied:
        units[-1] = unit("heads", products=sizes[-1], tied=True)
    return model(*units)


def weight(units):
    return sum(item.flop(Pass.FORWARD) for item in units)


def splits(units, parts):
    """Every way to cut units into contiguous parts."""
    for cuts in combinations(range(1, len(units)), parts - 1):
        yield [units[begin:end] for begin, end in pairwise((0, *cuts, len(units)))]


@pytest.mark.parametrize("workload", ["bert", "resnet50"])
def test_published_splits_place_every_unit_once_in_order(workload):
    model_ = catalog.workload(workload).value
    for configuration in model_.configurations:
        placed = stages(model_, configuration, configuration.ipus_per_replica[0])
        assert [item for stage in placed for item in stage.units] == list(model_.units)
        assert [stage.index for stage in placed] == list(range(len(placed)))
        assert {stage.ipu for stage in placed} == set(range(configuration.ipus_per_replica[0]))


def test_the_published_split_of_bert_on_a_rack():
    """Nine stages on eight IPUs; layers as 2, 3, 3.5, ...; embedding and heads share the first IPU."""
    model_ = catalog.workload("bert").value
    configuration = next(item for item in model_.configurations if item.name == "popart-v1.1-pod64")
    placed = stages(model_, configuration, 8)
    halves = [sum(item.group in ("attention", "ffn") for item in stage.units) for stage in placed]
    assert halves == [0, 4, 6, 7, 7, 7, 7, 7, 3]
    assert [stage.ipu for stage in placed] == [0, 1, 2, 3, 4, 5, 6, 7, 0]
    assert (placed[0].units[0].group, placed[-1].units[-1].group) == ("embedding", "heads")


@given(SIZES, st.integers(2, 4))
def test_an_even_split_has_the_least_largest_stage(sizes, ipus):
    """Against every contiguous split there is."""
    model_ = chain(sizes)
    placed = stages(model_, CONFIGURATION, ipus)
    assert [item for stage in placed for item in stage.units] == list(model_.units)
    assert [stage.ipu for stage in placed] == list(range(ipus))
    best = min(max(map(weight, split)) for split in splits(model_.units, ipus))
    assert max(weight(stage.units) for stage in placed) == pytest.approx(best, rel=1e-9)


@given(SIZES, st.integers(1, 64), st.integers(2, 4))
def test_where_the_heads_share_weights_with_the_embedding_one_ipu_holds_both(sizes, last, ipus):
    """n + 1 stages on n IPUs, the embedding alone; the layers split as evenly as the heads allow."""
    model_ = chain([*sizes, last], tied=True)
    placed = stages(model_, CONFIGURATION, ipus)
    assert [item for stage in placed for item in stage.units] == list(model_.units)
    assert [stage.ipu for stage in placed] == [*range(ipus), 0]
    assert placed[0].units == model_.units[:1]
    middle, heads = model_.units[1:-1], model_.units[-1]
    best = min(max(*map(weight, split[:-1]), weight((*split[-1], heads))) for split in splits(middle, ipus))
    assert max(weight(stage.units) for stage in placed[1:]) == pytest.approx(best, rel=1e-9)


def test_one_ipu_takes_everything():
    model_ = chain([1, 2, 3])
    (stage,) = stages(model_, CONFIGURATION, 1)
    assert stage.units == model_.units


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 7, 8, 9])
def test_too_few_units_are_refused_with_a_number_that_works(count, tied):
    """An IPU a unit, and one less where embedding and heads share one: the number named works, twice it does not."""
    model_ = chain([1] * count, tied=tied)
    assert most_ipus(model_) == count - tied
    with pytest.raises(InputError, match="has too few parts for 64 IPUs per replica") as caught:
        stages(model_, CONFIGURATION, 64)
    assert caught.value.code == "mapping-does-not-divide"
    assert caught.value.context == (
        f"it has {count} parts to place, each on one IPU; IPUs per replica are a power of two",
    )
    most = int(caught.value.hint.removeprefix("--ipus-per-replica ").removesuffix(" or fewer"))
    assert {stage.ipu for stage in stages(model_, CONFIGURATION, most)} == set(range(most))
    with pytest.raises(InputError):
        stages(model_, CONFIGURATION, 2 * most)


@pytest.mark.parametrize(
    ("layout", "message"),
    [
        ([{"layer": 2}, {"layer": 1}], "leaves out u3"),
        ([{"layer": 2}, {"layer": 3}], "stage 1 has"),
        ([{"layer": 2}, {"block": 2}], "stage 1 has"),
    ],
)
def test_a_stated_split_that_is_not_the_models_is_refused(layout, message):
    stated = tuple(StageLayout(ipu=ipu, units=units) for ipu, units in enumerate(layout))
    with pytest.raises(InputError, match=message) as caught:
        stages(chain([1, 1, 1, 1]), replace(CONFIGURATION, layout=stated), 2)
    assert caught.value.code == "bad-layout"
