"""One ONNX node with known shapes, and the operators that do its work, by hand."""

import pytest
from onnx_nodes import node_of

from podsim.files.imports.onnx_operators import CHAINS, COPIES, FREE, NORMS, POOLS, REDUCTIONS, one_pass, operators
from podsim.model.workload import Conv, Gather, Kind, Matmul
from podsim.tiles.vector import OPERATIONS

IMAGE, WEIGHTS = (2, 8, 14, 14), (16, 4, 3, 3)


def one(kind, *args, **kwargs):
    (operator,) = operators(node_of(kind, *args, **kwargs))
    return operator


def test_the_groups_of_nodes_are_apart():
    groups = [FREE, COPIES - {"Gather"}, frozenset(CHAINS), POOLS, REDUCTIONS, NORMS]
    assert len(frozenset().union(*groups)) == sum(map(len, groups))


def test_every_chain_is_of_operations_that_tiles_know():
    words = {word for forward, backward in CHAINS.values() for word in (*forward, *backward)}
    assert words <= set(OPERATIONS)


def test_nodes_that_name_elements_anew_cost_nothing():
    assert [operators(node_of(kind, [(4, 6)], (24,))) for kind in sorted(FREE)] == [[]] * len(FREE)


@pytest.mark.parametrize("kind", sorted(COPIES - {"Gather"}))
def test_copies_write_as_many_elements_as_come_out(kind):
    made = one(kind, [(4, 6)], (4, 3, 6))
    assert (made.kind, made.shape.elements, made.shape.operations, made.stashed) == (Kind.COPY, 72, ("copy",), False)


def test_names_of_other_domains_mean_nothing_here():
    assert operators(node_of("Relu", [(4,)], (4,), domain="com.nobody")) is None
    assert operators(node_of("Relu", [(4,)], (4,), domain="com.microsoft"))[0].shape.operations == ("relu",)
    assert operators(node_of("NobodyKnows", [(4,)], (4,))) is None


def test_a_node_without_a_word_is_one_pass_and_its_weights():
    ins, weights = [(4, 6), (6, 7), (6, 7), (9,)], {1: "w", 2: "counted", 3: ""}
    (made,) = one_pass(node_of("X", ins, (4, 7), weights=weights, tied=("counted",)))
    assert (made.shape.elements, made.shape.operations, made.parameters) == (28, ("copy",), 42)


def test_a_square_convolution_by_hand():
    conv, bias = operators(
        node_of(
            "Conv",
            [IMAGE, WEIGHTS, (16,)],
            (2, 16, 7, 7),
            weights={1: "w", 2: "b"},
            group=2,
            strides=[2, 2],
        )
    )
    shape = Conv(batch=2, size=14, in_channels=8, out_channels=16, kernel=3, stride=2, channel_groups=2)
    assert (conv.kind, conv.shape, conv.parameters) == (Kind.CONVOLUTION, shape, 16 * 4 * 9)
    assert conv.shape.flop == 2 * 2 * 49 * 16 * 4 * 9
    assert (bias.name, bias.shape.elements, bias.shape.row, bias.parameters) == ("it-bias", 2 * 16 * 49, 16, 16)


def test_an_oblong_kernel_is_a_product_of_patches():
    made = one("Conv", [IMAGE, (16, 4, 1, 3)], (2, 16, 14, 14), weights={1: "w"}, group=2)
    assert (made.kind, made.shape) == (Kind.MATMUL, Matmul(groups=2, m=2 * 196, k=4 * 3, n=8))


@pytest.mark.parametrize(("weights", "group"), [((16, 4, 3, 3), 3), ((15, 4, 3, 3), 2), (WEIGHTS, 0)])
def test_channels_that_groups_do_not_divide_are_refused(weights, group):
    with pytest.raises(ValueError):  # noqa: PT011  (its caller says what is wrong)
        operators(node_of("Conv", [IMAGE, weights], (2, 16, 14, 14), weights={1: "w"}, group=group))


def test_a_transposed_convolution_writes_a_patch_for_each_pixel():
    product, bias = operators(
        node_of("ConvTranspose", [IMAGE, (8, 6, 2, 2), (12,)], (2, 12, 28, 28), weights={1: "w", 2: "b"}, group=2)
    )
    assert product.shape == Matmul(groups=2, m=2 * 196, k=4, n=6 * 4)
    assert (bias.shape.row, bias.shape.elements) == (12, 2 * 12 * 28 * 28)


@pytest.mark.parametrize(
    ("flags", "left", "right"),
    [({}, (5, 7), (7, 11)), ({"transB": 1}, (5, 7), (11, 7)), ({"transA": 1}, (7, 5), (7, 11))],
)
def test_a_gemm_multiplies_as_its_flags_turn_it(flags, left, right):
    product, bias = operators(node_of("Gemm", [left, right, (11,)], (5, 11), weights={1: "w", 2: "b"}, **flags))
    assert product.shape == Matmul(m=5, k=7, n=11)
    assert (bias.shape.elements, bias.parameters) == (55, 11)


def test_a_gemm_of_activations_has_no_weights_and_one_of_weights_before_has_them_turned():
    assert one("Gemm", [(5, 7), (7, 11)], (5, 11)).shape == Matmul(m=5, k=7, n=11, weights=False)
    assert one("Gemm", [(5, 7), (7, 11)], (5, 11), weights={0: "w"}).shape == Matmul(m=11, k=7, n=5)


@pytest.mark.parametrize(
    ("left", "right", "out", "weights", "shape"),
    [
        ((2, 3, 5, 7), (7, 11), (2, 3, 5, 11), {1: "w"}, Matmul(m=30, k=7, n=11)),
        ((2, 3, 5, 7), (3, 7, 11), (2, 3, 5, 11), {1: "w"}, Matmul(groups=3, m=10, k=7, n=11)),
        ((5, 7), (4, 7, 11), (4, 5, 11), {0: "w"}, Matmul(m=44, k=7, n=5)),
        ((4, 5, 7), (4, 7, 11), (4, 5, 11), {}, Matmul(groups=4, m=5, k=7, n=11, weights=False)),
        ((4, 5, 7), (7, 11), (4, 5, 11), {}, Matmul(m=20, k=7, n=11, weights=False)),
        ((7,), (7, 11), (11,), {1: "w"}, Matmul(m=1, k=7, n=11)),
        ((5, 7), (7,), (5,), {1: "w"}, Matmul(m=5, k=7, n=1)),
    ],
)
def test_a_product_by_where_its_weights_are(left, right, out, weights, shape):
    assert one("MatMul", [left, right], out, weights=weights).shape == shape


def test_a_softmax_reduces_rows_along_its_axis():
    assert one("Softmax", [(2, 4, 6)], (2, 4, 6)).shape.row == 6
    shape = one("LogSoftmax", [(2, 4, 6)], (2, 4, 6), axis=1).shape
    assert (shape.row, shape.elements) == (4, 48)


def test_rows_of_a_trained_table_are_looked_up_and_of_anything_else_copied():
    looked = one("Gather", [(100, 4, 8), (2, 3)], (2, 3, 4, 8), weights={0: "w"})
    assert (looked.kind, looked.parameters, looked.weight_tensors) == (Kind.GATHER, 3200, 1)
    assert (looked.kind, looked.shape) == (Kind.GATHER, Gather(table=100, width=32, lookups=6))
    for ins, weights, axis in (
        ([(100, 8), (6,)], {0: ""}, 0),
        ([(100, 8), (6,)], {}, 0),
        ([(100, 8), (6,)], {0: "w"}, 1),
        ([(100,), (6,)], {0: "w"}, 0),
    ):
        assert one("Gather", ins, (6, 8), weights=weights, axis=axis).kind is Kind.COPY


@pytest.mark.parametrize(
    ("kind", "attributes", "norm", "row", "statistics"),
    [
        ("BatchNormalization", {}, Kind.BATCH_NORM, 8, 0),
        ("GroupNormalization", {"num_groups": 4}, Kind.GROUP_NORM, 8, 4 * 2),
        ("InstanceNormalization", {}, Kind.GROUP_NORM, 8, 8 * 2),
        ("LayerNormalization", {}, Kind.LAYER_NORM, 14, 0),
        ("LayerNormalization", {"axis": 2}, Kind.LAYER_NORM, 196, 0),
        ("LayerNormalization", {"axis": -3}, Kind.LAYER_NORM, 8 * 196, 0),
    ],
)
def test_a_norm_by_its_rows_and_statistics(kind, attributes, norm, row, statistics):
    made = one(kind, [IMAGE, (8,), (8,)], IMAGE, weights={1: "s", 2: "o"}, **attributes)
    assert (made.kind, made.shape.row, made.shape.statistics) == (norm, row, statistics)
    assert (made.parameters, made.weight_tensors, made.stashed) == (16, 2, norm is Kind.LAYER_NORM)


def test_a_pool_reads_its_window_or_all_that_goes_into_one():
    assert one("MaxPool", [IMAGE], (2, 8, 7, 7), kernel_shape=[3, 2]).shape.window == 6
    mean = one("ReduceMean", [IMAGE], (2, 8, 1, 1)).shape
    assert (mean.window, mean.elements, mean.outputs) == (196, 2 * 8 * 196, 16)


def test_a_vector_of_weights_that_all_rows_share_is_a_bias_or_a_scale():
    bias, scale = (one(kind, [(4, 6), (6,)], (4, 6), weights={1: "w"}) for kind in ("Add", "Mul"))
    assert (bias.kind, bias.shape.row, bias.parameters, bias.stashed) == (Kind.BIAS, 6, 6, False)
    assert scale.stashed
    assert one("Add", [(4, 6), (6,)], (4, 6), weights={1: "w"}, tied=("w",)).parameters == 0


def test_a_constant_is_a_mask_and_a_single_number_a_scale():
    assert one("Add", [(4, 6), (6,)], (4, 6), weights={1: ""}).shape.operations == ("mask",)
    assert one("Mul", [(4, 6), ()], (4, 6), weights={1: ""}).shape.operations == ("scale",)


def test_a_power_that_the_file_states_is_a_square():
    assert one("Pow", [(4, 6), ()], (4, 6), weights={1: ""}).shape.operations == ("square",)
    assert one("Pow", [(4, 6), (4, 6)], (4, 6)).shape.operations == ("log", "scale", "exp")


def test_backward_needs_what_is_no_sum_and_no_dropout():
    stashed = {kind: one(kind, [(4,)], (4,)).stashed for kind in ("Add", "Sub", "Sum", "Neg", "Dropout", "Tanh", "Mul")}
    assert {kind for kind, kept in stashed.items() if kept} == {"Tanh", "Mul"}
    assert one("Dropout", [(4,)], (4,)).kind is Kind.DROPOUT
