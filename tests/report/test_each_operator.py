"""The operators of a workload one by one, equal ones together."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from podsim.files import catalog
from podsim.model.workload import Conv, Gather, Kind, LayerUnit, Matmul, Operator, Stream
from podsim.studies.look_up.each_operator import table

SHAPES = (
    ("up", Kind.MATMUL, Matmul(m=2, k=30, n=40)),
    ("scores", Kind.MATMUL, Matmul(groups=3, m=2, k=3, n=4, weights=False)),
    ("conv", Kind.CONVOLUTION, Conv(size=8, in_channels=3, out_channels=16, kernel=3)),
    ("look", Kind.GATHER, Gather(table=1000, width=8, lookups=4)),
    ("act", Kind.ELEMENTWISE, Stream(elements=1200, operations=("exp", "add"))),
)


@pytest.fixture(scope="module")
def workload():
    """Two like layers and one that differs, in the dress of a small shipped workload."""
    units = tuple(
        LayerUnit(
            name=name,
            group=group,
            checkpoint=True,
            operators=tuple(Operator(name=f"{name}.{word}", kind=kind, shape=shape) for word, kind, shape in SHAPES),
        )
        for name, group in (("layer0", "ffn"), ("layer1", "ffn"), ("end", "heads"))
    )
    return replace(catalog.workload("resnet50").value, units=units)


def cells(workload):
    return {row[0]: row[1:] for row in table(workload).rows}


def test_equal_operators_of_a_group_are_counted_together(workload):
    rows = cells(workload)
    assert len(rows) == 10
    assert (rows["ffn.up"][0], rows["heads.up"][0]) == ("2", "1")


def test_sizes_are_those_that_are_not_as_usual(workload):
    rows = cells(workload)
    assert rows["ffn.up"][2] == "m 2, k 30, n 40"
    assert rows["ffn.scores"][2] == "groups 3, m 2, k 3, n 4"
    assert rows["ffn.look"][2] == "table 1,000, width 8, lookups 4"
    assert rows["ffn.act"][2] == "elements 1,200, exp, add"


def test_parameters_are_those_of_one_and_shares_of_all_products(workload):
    rows = cells(workload)
    assert (rows["ffn.up"][3], rows["ffn.scores"][3]) == ("1,200", "0")
    one, all_of = 2 * 2 * 30 * 40, 3 * (2 * 2 * 30 * 40 + 2 * 3 * 2 * 3 * 4 + 2 * 64 * 16 * 27)
    assert rows["ffn.up"][5] == f"{100 * 2 * one / all_of:.1f} %"
    assert (rows["ffn.look"][5], rows["ffn.act"][5]) == ("–", "–")
    assert table(workload).columns[5].title == "Forward kFLOP"
    assert rows["ffn.up"][4] == "4.80"


def test_a_chain_without_arithmetic_has_no_share(workload):
    empty = SimpleNamespace(units=workload.units[:0], forward_flop_per_row=lambda: 0.0)
    assert table(empty).rows == ()
