"""EfficientNet against the totals of its paper and of those who counted it, and its parts as closed forms."""

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.files import catalog
from podsim.model.vision import MobileCnn
from podsim.model.workload import Conv, Kind, LayerUnit, Matmul, Pass
from podsim.workloads.forward_only import forward
from podsim.workloads.mobile_cnn import scale_channels, units

B0 = {
    "image": 224,
    "stem_channels": 32,
    "kernels": (3, 3, 5, 3, 5, 5, 3),
    "strides": (1, 2, 2, 2, 1, 2, 1),
    "widths": (16, 24, 40, 80, 112, 192, 320),
    "blocks": (1, 2, 2, 3, 3, 4, 1),
    "expansions": (1, 6, 6, 6, 6, 6, 6),
    "head_channels": 1280,
    "classes": 1000,
    "width": 1.0,
    "depth": 1.0,
    "squeeze": 4,
    "group_width": 1,
}


def made(**changed: object) -> tuple[LayerUnit, ...]:
    return units(MobileCnn(**{**B0, **changed}))


def gflop(chain: tuple[LayerUnit, ...]) -> float:
    operators = [
        operator for unit in chain for operator in unit.operators if isinstance(operator.shape, (Conv, Matmul))
    ]
    return sum(operator.flop(Pass.FORWARD) for operator in operators) / 1e9


def test_b0_is_the_model_of_the_paper():
    """5.3 M parameters and 0.39 GMAC (tan-2019, table 2; secondary in other counts: 5,288,548)."""
    chain = made()
    assert sum(unit.parameters for unit in chain) == 5_288_548
    assert gflop(chain) == pytest.approx(0.78, rel=0.03)


def test_b4_is_b0_scaled():
    """19 M parameters (tan-2019); its 4.2 GMAC are secondary and rounded, 4.39 are counted here with same padding."""
    chain = made(image=380, width=1.4, depth=1.8)
    assert sum(unit.parameters for unit in chain) == 19_341_616
    assert gflop(chain) == pytest.approx(8.4, rel=0.05)
    assert len([unit for unit in chain if unit.group == "block"]) == 32


def test_groups_of_sixteen_keep_the_parameters_with_a_smaller_expansion():
    """Four times the channels instead of six: as many parameters within 1 %, but 1.39 times the arithmetic."""
    depthwise = made(image=380, width=1.4, depth=1.8)
    grouped = made(image=380, width=1.4, depth=1.8, group_width=16, expansions=(1, 4, 4, 4, 4, 4, 4))
    assert sum(u.parameters for u in grouped) == pytest.approx(sum(u.parameters for u in depthwise), rel=0.01)
    assert gflop(grouped) / gflop(depthwise) == pytest.approx(1.386, abs=0.001)


@pytest.mark.parametrize(
    ("name", "millions"),
    [
        ("efficientnet-b0-g16", 5.3),
        ("efficientnet-b4-g1", 19),
        ("efficientnet-b4-g16", 19),
        ("efficientnet-b4-g16-gn", 19),
    ],
)
def test_the_shipped_ones_are_of_that_size(name, millions):
    shipped = catalog.workload(name).value
    # Groups of 16 add parameters to B0: 5.9 M; proxies to B4.
    wider = {"efficientnet-b0-g16": 1.12, "efficientnet-b4-g16": 1.025}.get(name, 1.02)
    assert millions <= shipped.parameters / 1e6 <= millions * wider
    assert shipped.row_bytes == (224 if "b0" in name else 380) ** 2 * 3


@given(channels=st.integers(1, 2000), width=st.floats(0.1, 4))
def test_scaled_channels_are_multiples_of_eight_near_what_was_asked(channels, width):
    number, target = scale_channels(channels, width), channels * width
    assert number % 8 == 0
    assert 0.9 * target <= number <= max(8, target + 8)


def test_channels_of_b4():
    """As the reference code rounds them (tan-2019)."""
    assert [scale_channels(item, 1.4) for item in (32, *B0["widths"], 1280)] == [
        48,
        24,
        32,
        56,
        112,
        160,
        272,
        448,
        1792,
    ]


def test_each_convolution_reads_what_the_one_before_wrote():
    chain = made(image=380, width=1.4, depth=1.8, group_width=16, expansions=(1, 4, 4, 4, 4, 4, 4))
    shapes = [operator.shape for unit in chain for operator in unit.operators if isinstance(operator.shape, Conv)]
    for shape, after in pairwise(shapes):
        assert (shape.out_size, shape.out_channels) == (after.size, after.in_channels)
        assert shape.outputs == after.inputs
    assert all(shape.in_channels % shape.channel_groups == 0 for shape in shapes)


def test_a_block_adds_what_came_in_only_where_sizes_allow():
    for unit in made():
        if unit.group == "block":
            convs = [operator.shape for operator in unit.operators if isinstance(operator.shape, Conv)]
            same = convs[0].inputs == convs[-1].outputs and convs[0].in_channels == convs[-1].out_channels
            assert any(operator.name.endswith("residual") for operator in unit.operators) is same


def test_the_squeeze_is_a_quarter_of_what_comes_in():
    block = made()[3]
    reduce, expand = (operator.shape for operator in block.operators if operator.kind is Kind.MATMUL)
    first = next(operator.shape for operator in block.operators if isinstance(operator.shape, Conv))
    assert reduce.n == expand.k == first.in_channels // 4
    assert reduce.k == expand.n == first.out_channels


def test_group_norm_has_sums_for_each_group_of_each_image():
    norms = [
        operator for unit in made(norm_groups=4) for operator in unit.operators if operator.kind is Kind.GROUP_NORM
    ]
    assert len(norms) == len(
        [operator for unit in made() for operator in unit.operators if operator.kind is Kind.BATCH_NORM]
    )
    assert {norm.shape.at(3).statistics for norm in norms} == {12}


def test_proxy_norm_adds_a_mean_and_a_scale_to_each_channel_of_an_activation():
    """Of the stem, of each block once or twice, of the head; projections have no activation, so no proxy."""
    plain, proxied = made(norm_groups=4), made(norm_groups=4, proxy_norm=True)
    channels = sum(
        operator.shape.out_channels
        for unit in plain
        for operator in unit.operators
        if isinstance(operator.shape, Conv) and not operator.name.endswith("project")
    )
    entering = 16 + 2 * 24 + 2 * 40 + 3 * 80 + 3 * 112 + 4 * 192  # channels of what comes into the other 15 blocks
    assert channels == 32 + 32 + 2 * 6 * entering + 1280  # 32 within the first block, which does not expand
    assert sum(u.parameters for u in proxied) - sum(u.parameters for u in plain) == 2 * channels
    assert gflop(proxied) == gflop(plain)
    norms = [operator for unit in proxied for operator in unit.operators if operator.kind is Kind.PROXY_NORM]
    assert all(norm.shape.parameters == 2 * norm.shape.row and norm.stashed for norm in norms)


def test_a_proxy_needs_a_norm_without_the_batch():
    with pytest.raises(ValueError, match="norm_groups must be above 0"):
        MobileCnn(**{**B0, "proxy_norm": True})


def test_answering_alone_leaves_a_scale_and_a_bias_of_a_proxy_norm():
    """Its statistics hang on weights alone."""
    trained = catalog.workload("efficientnet-b4-g16").value
    proxied = replace(trained, units=made(norm_groups=4, proxy_norm=True))
    left = {operator.name: operator for unit in forward(proxied).units for operator in unit.operators}
    proxy = left["block3.expand-proxy"]
    assert (proxy.kind, proxy.shape.operations) == (Kind.ELEMENTWISE, ("scale", "bias"))


@pytest.mark.parametrize("wrong", [{"blocks": (1,)}, {"group_width": 0}, {"width": 0.0}, {"image": 0}])
def test_sizes_that_make_no_model_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        MobileCnn(**{**B0, **wrong})
