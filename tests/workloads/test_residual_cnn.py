"""ResNet-50 v1.5 against totals that are known from elsewhere, each as a closed form of its sizes."""

from dataclasses import asdict, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.files import catalog
from podsim.model.family import ResidualCnn
from podsim.model.workload import Conv, Kind, Matmul, Pass
from podsim.workloads.residual_cnn import units

RESNET50 = ResidualCnn(
    image=224,
    stem_channels=64,
    widths=(64, 128, 256, 512),
    blocks=(3, 4, 6, 3),
    expansion=4,
    classes=1000,
    checkpoint_blocks=(),
)
EDGES = [56] * 3 + [28] * 4 + [14] * 6 + [7] * 3


def convolutions(chain):
    return [operator for unit in chain for operator in unit.operators if isinstance(operator.shape, Conv)]


def products(chain):
    """Operators that run on the AMP."""
    return [operator for unit in chain for operator in unit.operators if isinstance(operator.shape, (Conv, Matmul))]


def textbook(size):
    """(weights, multiply-accumulates): k^2 c_in c_out of each convolution, as many MACs a pixel; two norm a channel.

    The stride sits on the 3 x 3 convolution, so a reducing 1 x 1 still works on the larger image (v1.5).
    """
    edge = size.image // 2
    macs = 49 * 3 * size.stem_channels * edge**2
    weights = 49 * 3 * size.stem_channels + 2 * size.stem_channels
    edge, channels = edge // 2, size.stem_channels
    for group, (width, count) in enumerate(zip(size.widths, size.blocks, strict=True)):
        for first in [True] + [False] * (count - 1):
            small = edge // 2 if first and group else edge
            wide = width * size.expansion
            macs += channels * width * edge**2 + (9 * width**2 + width * wide) * small**2
            weights += channels * width + 9 * width**2 + width * wide + 2 * (2 * width + wide)
            if first:
                macs += channels * wide * small**2
                weights += channels * wide + 2 * wide
            edge, channels = small, wide
    return weights + (channels + 1) * size.classes, macs + channels * size.classes


def test_parameters_and_multiply_accumulates():
    """25,557,032 parameters and 4.09 GMAC of an image of 224 pixels are ResNet-50 v1.5 anywhere."""
    chain = units(RESNET50)
    weights, macs = textbook(RESNET50)
    assert sum(unit.parameters for unit in chain) == weights == 25_557_032
    assert sum(operator.flop(Pass.FORWARD) for operator in products(chain)) == 2 * macs
    assert macs / 1e9 == pytest.approx(4.09, abs=0.005)


def test_the_shipped_workload_is_that_model():
    shipped = catalog.workload("resnet50").value
    assert shipped.parameters == 25_557_032
    assert shipped.row_bytes == 224 * 224 * 3  # 8-bit colours
    assert shipped.training_flop_per_row() == pytest.approx(3 * 2 * 4.09e9, rel=0.015)


def test_fifty_three_convolutions_and_a_dense_layer():
    """1 stem, 3 in each of 16 blocks, 4 shortcuts; a weight each, two for its norm, two for the dense layer."""
    chain = units(RESNET50)
    assert len(convolutions(chain)) == 1 + 3 * 16 + 4 == 53
    assert len(products(chain)) == 54
    assert sum(unit.weight_tensors for unit in chain) == 53 + 2 * 53 + 2 == 161


def test_sizes_of_what_leaves_each_unit():
    """The image halves in the stem twice and in the first block of each later group."""
    stem, *blocks, head = units(RESNET50)
    assert stem.out_elements == 56**2 * 64
    assert len(blocks) == 16
    widths = [64] * 3 + [128] * 4 + [256] * 6 + [512] * 3
    sizes = [edge**2 * 4 * width for edge, width in zip(EDGES, widths, strict=True)]
    assert [block.out_elements for block in blocks] == sizes
    assert head.out_elements == 1000


def test_the_stride_sits_on_the_3_x_3():
    strided = [operator for operator in convolutions(units(RESNET50)) if operator.shape.stride == 2]
    assert [(operator.name.rpartition(".")[2], operator.shape.kernel) for operator in strided] == [
        ("conv", 7),
        *[("spatial", 3), ("shortcut", 1)] * 3,
    ]


def test_each_operator_reads_what_the_one_before_wrote():
    """Along a block: reduce, spatial and expand chain by size and channels."""
    for unit in units(RESNET50)[1:-1]:
        main = [operator.shape for operator in convolutions([unit]) if "shortcut" not in operator.name]
        for shape, after in pairwise(main):
            assert (shape.out_size, shape.out_channels) == (after.size, after.in_channels)
            assert shape.outputs == after.inputs


def test_backward_is_two_forwards_but_for_the_first_convolution():
    """Images want no gradient: the stem has weight gradients only."""
    first, *others = products(units(RESNET50))
    assert first.flop(Pass.BACKWARD) == 0
    assert first.flop(Pass.WEIGHT_GRADIENT) == first.flop(Pass.FORWARD) > 0
    for operator in others:
        assert operator.flop(Pass.BACKWARD) == operator.flop(Pass.WEIGHT_GRADIENT) == operator.flop(Pass.FORWARD)


def test_every_convolution_has_its_norm_over_its_channels():
    for unit in units(RESNET50):
        chain = list(unit.operators)
        for conv, norm in pairwise(chain):
            if isinstance(conv.shape, Conv):
                assert norm.kind is Kind.BATCH_NORM
                assert norm.shape.elements == conv.shape.outputs
                assert norm.parameters == 2 * conv.shape.out_channels


def test_only_the_blocks_named_are_checkpoints():
    shipped = catalog.workload("resnet50").value
    kept = [unit.name for unit in shipped.units if unit.checkpoint]
    assert kept == [f"block{number}" for number in (1, 3, 5, 7, 10, 13)]
    assert not any(unit.checkpoint for unit in units(RESNET50))


@given(
    st.builds(
        lambda image, stem, widths, expansion, classes, data: ResidualCnn(
            image=image,
            stem_channels=stem,
            widths=tuple(widths),
            blocks=tuple(data.draw(st.lists(st.integers(1, 3), min_size=len(widths), max_size=len(widths)))),
            expansion=expansion,
            classes=classes,
            checkpoint_blocks=(),
        ),
        st.sampled_from([64, 128]),
        st.integers(1, 20),
        st.lists(st.integers(1, 20), min_size=1, max_size=4),
        st.integers(1, 4),
        st.integers(1, 30),
        st.data(),
    )
)
def test_any_size_has_the_textbooks_totals(size):
    chain = units(size)
    weights, macs = textbook(size)
    assert sum(unit.parameters for unit in chain) == weights
    assert sum(operator.flop(Pass.FORWARD) for operator in products(chain)) == 2 * macs


def test_resnext_101_in_groups_of_thirty_two():
    """44 M parameters (44.18 M by xie-2016's sizes) and 16 GFLOP, both secondary; groups share out the 3 x 3 alone."""
    sizes = {**asdict(RESNET50), "widths": (128, 256, 512, 1024), "blocks": (3, 4, 23, 3), "expansion": 2}
    grouped = units(ResidualCnn(**{**sizes, "cardinality": 32}))
    assert sum(unit.parameters for unit in grouped) == 44_177_704
    assert sum(operator.flop(Pass.FORWARD) for operator in products(grouped)) == pytest.approx(16e9, rel=0.01)
    for alone, together in zip(convolutions(units(ResidualCnn(**sizes))), convolutions(grouped), strict=True):
        groups = 32 if "spatial" in alone.name else 1
        assert alone.shape.parameters == groups * together.shape.parameters
    assert catalog.workload("resnext101").value.parameters == 44_177_704


def test_group_norm_takes_the_place_of_every_batch_norm():
    """As many weights; sums of its own for each of 32 groups of an image."""
    chain = units(replace(RESNET50, norm_groups=32))
    kinds = [operator.kind for unit in chain for operator in unit.operators]
    assert Kind.BATCH_NORM not in kinds
    assert kinds.count(Kind.GROUP_NORM) == 53
    norms = [operator for unit in chain for operator in unit.operators if operator.kind is Kind.GROUP_NORM]
    assert {operator.shape.at(8).statistics for operator in norms} == {256}
    assert catalog.workload("resnet50-gn").value.parameters == sum(unit.parameters for unit in chain) == 25_557_032


@pytest.mark.parametrize(("name", "groups"), [("cardinality", 3), ("cardinality", 0), ("norm_groups", 48)])
def test_groups_that_do_not_divide_the_channels_are_refused(name, groups):
    with pytest.raises(ValueError, match=name):
        replace(RESNET50, **{name: groups})
