"""Which labels of an Einsum are groups, which are summed, and which side holds the weights."""

import pytest
from onnx_nodes import node_of

from podsim.files.imports.onnx_einsum import einsum
from podsim.model.workload import Kind, Matmul


def product(equation, left, right, out, **kwargs):
    (operator,) = einsum(node_of("Einsum", [left, right], out, equation=equation, **kwargs))
    return operator


def test_labels_of_both_and_the_result_are_groups_those_of_both_alone_are_summed():
    made = product("bhqd,bhkd->bhqk", (2, 3, 5, 7), (2, 3, 11, 7), (2, 3, 5, 11))
    assert made.shape == Matmul(groups=6, m=5, k=7, n=11, weights=False)
    assert made.kind is Kind.MATMUL


def test_weights_on_the_right_are_the_right_operand():
    made = product("ij,jk->ik", (5, 7), (7, 11), (5, 11), weights={1: "w"})
    assert made.shape == Matmul(m=5, k=7, n=11)
    assert (made.tied, made.weight_tensors) == (False, 1)


def test_weights_on_the_left_turn_the_product_round():
    assert product("ij,jk->ik", (5, 7), (7, 11), (5, 11), weights={0: "w"}).shape == Matmul(m=11, k=7, n=5)


def test_weights_that_were_counted_before_are_tied():
    made = product("ij,jk->ik", (5, 7), (7, 11), (5, 11), weights={1: "w"}, tied=("w",))
    assert (made.tied, made.parameters, made.weight_tensors) == (True, 0, 0)


def test_without_an_arrow_labels_that_stand_once_are_the_result():
    assert product("ij,jk", (5, 7), (7, 11), (5, 11)).shape == Matmul(m=5, k=7, n=11, weights=False)


def test_dots_stand_for_dimensions_counted_from_the_last():
    made = product("...ij,...jk->...ik", (2, 3, 5, 7), (3, 7, 11), (2, 3, 5, 11))
    assert made.shape == Matmul(groups=3, m=10, k=7, n=11, weights=False)


def test_a_size_of_one_is_repeated():
    assert product("bij,bjk->bik", (1, 5, 7), (4, 7, 11), (4, 5, 11)).shape.groups == 4


def test_nothing_summed_is_elementwise_over_the_result():
    made = product("bi,bi->bi", (3, 5), (3, 5), (3, 5))
    assert (made.kind, made.shape.elements) == (Kind.ELEMENTWISE, 15)
    assert einsum(node_of("Einsum", [(3, 5), (3, 5)], (3, 5), equation="bi,bi->bi", weights={1: "w"})) is None


@pytest.mark.parametrize(
    ("equation", "ins", "out"),
    [
        ("ij,jk,kl->il", [(2, 3), (3, 4), (4, 5)], (2, 5)),
        ("ii,ij->ij", [(3, 3), (3, 4)], (3, 4)),
        ("ij,jj->ij", [(3, 4), (4, 4)], (3, 4)),
        ("ij,jk->k", [(2, 3), (3, 4)], (4,)),
    ],
)
def test_three_operands_diagonals_and_sums_of_one_side_have_no_product(equation, ins, out):
    assert einsum(node_of("Einsum", ins, out, equation=equation)) is None


@pytest.mark.parametrize("equation", ["ij,j->i", "i...j,j->i"])
def test_a_term_that_is_not_as_long_as_its_operand_is_no_equation_of_it(equation):
    with pytest.raises(ValueError):  # noqa: PT011  (its caller says what is wrong)
        einsum(node_of("Einsum", [(2,), (2, 3)], (2,), equation=equation))
