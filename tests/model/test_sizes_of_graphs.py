"""Sizes of models of graphs and tables: what follows from them, and which are refused."""

from dataclasses import replace

import pytest

from podsim.model.graphs import Dlrm, SchNet

ATOMS = SchNet(nodes=30, graphs=4, neighbours=7, features=8, interactions=3, gaussians=5, atoms=9, cutoff=4.5)
TABLES = Dlrm(numbers=13, categories=3, tables=(10, 20, 30), table_width=4, pieces=2, bottom=(16, 8), top=(5, 1))


def test_every_node_has_an_edge_to_each_neighbour():
    assert ATOMS.edges == 210


def test_every_size_of_a_graph_is_above_zero():
    for name in ("nodes", "graphs", "features", "cutoff"):
        with pytest.raises(ValueError, match=f"^{name}: must be above 0"):
            replace(ATOMS, **{name: 0})


def test_a_node_is_no_neighbour_of_itself():
    assert replace(ATOMS, nodes=8).edges == 56
    with pytest.raises(ValueError, match="neighbours: 7 of 7 nodes, itself among them"):
        replace(ATOMS, nodes=7)


def test_half_of_the_features_are_one_at_least():
    assert replace(ATOMS, features=2).features == 2
    with pytest.raises(ValueError, match="features: must be at least 2"):
        replace(ATOMS, features=1)


def test_a_vector_is_its_pieces_side_by_side_and_the_numbers_are_one_more():
    assert (TABLES.width, TABLES.vectors) == (8, 4)


def test_one_table_serves_all_or_each_category_has_its_own():
    assert replace(TABLES, tables=(10,)).tables == (10,)
    with pytest.raises(ValueError, match="one for all 3 categories or one for each"):
        replace(TABLES, tables=(10, 20))


def test_the_numbers_end_as_wide_as_a_category():
    with pytest.raises(ValueError, match="bottom: must end with 8, the width of a category's vector"):
        replace(TABLES, bottom=(16, 4))


@pytest.mark.parametrize("change", [{"bottom": ()}, {"top": ()}, {"tables": ()}, {"top": (5, 0)}, {"pieces": 0}])
def test_layers_and_tables_have_entries_of_at_least_one(change):
    with pytest.raises(ValueError, match="need an entry, and every size must be at least 1"):
        replace(TABLES, **change)
