"""ViT and Swin against published totals, and their chains as closed forms of their sizes."""

from itertools import pairwise

import pytest

from podsim.files import catalog
from podsim.model.vision import VisionTransformer, WindowTransformer
from podsim.model.workload import Conv, Kind, LayerUnit, Matmul, Pass
from podsim.workloads import vision_transformer, window_transformer

VIT = {"image": 224, "patch": 16, "layers": 12, "hidden": 768, "heads": 12, "feed_forward": 3072, "classes": 1000}
TINY = {
    "image": 224,
    "patch": 4,
    "window": 7,
    "hidden": 96,
    "layers": (2, 2, 6, 2),
    "heads": (3, 6, 12, 24),
    "expansion": 4,
    "classes": 1000,
}


def gflop(chain: tuple[LayerUnit, ...]) -> float:
    operators = [
        operator for unit in chain for operator in unit.operators if isinstance(operator.shape, (Conv, Matmul))
    ]
    return sum(operator.flop(Pass.FORWARD) for operator in operators) / 1e9


def test_vit_base():
    """86 M parameters (dosovitskiy-2020, table 1) and 35.1 GFLOP, an independent count."""
    chain = vision_transformer.units(VisionTransformer(**VIT))
    assert sum(unit.parameters for unit in chain) == 86_567_656
    assert gflop(chain) == pytest.approx(35.1, rel=0.002)
    assert catalog.workload("vit-base").value.units == chain


def test_the_norm_of_vit_comes_first_and_nothing_is_masked():
    chain = vision_transformer.units(VisionTransformer(**VIT))
    halves = [unit for unit in chain if unit.group in ("attention", "ffn")]
    assert len(halves) == 24
    for half in halves:
        assert half.operators[0].kind is Kind.LAYER_NORM
        assert half.operators[-1].name.endswith("residual")
        assert not any(
            "mask" in item for operator in half.operators for item in getattr(operator.shape, "operations", ())
        )


@pytest.mark.parametrize(
    ("changed", "millions", "gmac"),
    [
        ({}, 28.3, 4.5),
        ({"hidden": 128, "layers": (2, 2, 18, 2), "heads": (4, 8, 16, 32)}, 87.8, 15.4),
        (
            {"hidden": 192, "layers": (2, 2, 18, 2), "heads": (6, 12, 24, 48), "image": 384, "window": 12},
            196.7,
            103.9,
        ),
    ],
    ids=["tiny", "base", "large at 384"],
)
def test_swin(changed, millions, gmac):
    """Table 1 of liu-2021: 29 M parameters and 4.5 G multiply-accumulates, 88 M and 15.4 G, 197 M and 103.9 G."""
    chain = window_transformer.units(WindowTransformer(**{**TINY, **changed}))
    assert sum(unit.parameters for unit in chain) / 1e6 == pytest.approx(millions, rel=0.001)
    assert gflop(chain) / 2 == pytest.approx(gmac, rel=0.01)


def test_windows_of_swin_hold_all_tokens_and_shift_every_other_layer():
    chain = window_transformer.units(WindowTransformer(**TINY))
    edges = [56] * 2 + [28] * 2 + [14] * 6 + [7] * 2
    attention = [unit for unit in chain if unit.group == "attention"]
    for number, (unit, edge) in enumerate(zip(attention, edges, strict=True)):
        heads = edge // 7
        scores = next(operator.shape for operator in unit.operators if operator.name.endswith(".scores"))
        assert (scores.m, scores.n) == (49, 49)
        assert scores.groups == heads**2 * (3 << (56 // edge).bit_length() - 1)
        masked = any("mask" in getattr(operator.shape, "operations", ()) for operator in unit.operators)
        assert masked is (number % 2 == 1 and edge > 7)
        moved = [operator.shape.elements for operator in unit.operators if operator.kind is Kind.COPY]
        assert moved == [unit.out_elements] * 2
    assert len([unit for unit in chain if unit.group == "merging"]) == 3


def test_what_leaves_a_unit_is_what_the_next_one_takes():
    for chain in (
        vision_transformer.units(VisionTransformer(**VIT)),
        window_transformer.units(WindowTransformer(**TINY)),
    ):
        for before, after in pairwise(chain):
            assert before.out_elements == after.operators[0].shape.inputs


@pytest.mark.parametrize(
    ("family", "base", "wrong"),
    [
        (VisionTransformer, VIT, {"patch": 15}),
        (VisionTransformer, VIT, {"heads": 7}),
        (VisionTransformer, VIT, {"layers": 0}),
        (WindowTransformer, TINY, {"image": 256}),
        (WindowTransformer, TINY, {"heads": (5, 6, 12, 24)}),
        (WindowTransformer, TINY, {"heads": (3, 6)}),
    ],
)
def test_sizes_that_make_no_model_are_refused(family, base, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        family(**{**base, **wrong})
