"""Networks of which shapes and parameters are published: counts of the files against those of their publishers."""

import pytest

from podsim.files import catalog
from podsim.model.workload import Conv, Gather, Matmul, Pass

PARAMETERS = {
    "flan-t5-xl": 2_849_757_184,
    "flan-t5-xxl": 11_135_332_352,
    "gpt-j-6b": 6_050_882_784,  # transformers
    "clip-text": 123_060_480,
    "deberta-base": 138_601_728 + 2 * 768 + 2,  # its span head beside the encoder
    "whisper-tiny": 37_760_640,
    "whisper-base": 72_593_920,
    "whisper-small": 241_734_912,
    "schnet-qm9": 186_701,
    "schnet-water": 186_701,
    "schnet-water-small": 186_701,  # hydronet-gnn
}
KEY_BIASES = {"whisper-tiny": 12 * 384, "whisper-base": 18 * 512, "whisper-small": 36 * 768}
"""Keys have no bias in Whisper and one here, in each attention of encoder, decoder and between."""


def units(name):
    return catalog.workload(name).value.units


def operators(name):
    return [operator for unit in units(name) for operator in unit.operators]


@pytest.mark.parametrize("name", PARAMETERS)
def test_parameters_are_those_published(name):
    assert catalog.workload(name).value.parameters - KEY_BIASES.get(name, 0) == PARAMETERS[name]


def test_yolo_has_the_parameters_and_the_products_of_the_published_configuration():
    """71 M parameters published, 70.83 M and 35.2 G multiplications at 416 pixels counted from the code."""
    model = catalog.workload("yolov4-p5").value
    assert model.parameters == pytest.approx(70.83e6, rel=1e-3)
    assert model.forward_flop_per_row() == pytest.approx(2 * 35.2e9, rel=2e-3)
    for image, products in ((512, 53.3e9), (640, 83.3e9), (896, 163.3e9)):
        changed = catalog.workload("yolov4-p5", {"workload.yolo.image": str(image)}).value
        assert changed.forward_flop_per_row() == pytest.approx(2 * products, rel=2e-3)


@pytest.mark.parametrize(
    ("block", "parameters", "products"),
    [
        ("stem", 0.9e3, 0.69e9),
        ("dark1", 38e3, 7.60e9),
        ("dark2", 235e3, 11.71e9),
        ("dark3", 2.91e6, 36.38e9),
        ("dark4", 11.62e6, 36.38e9),
        ("dark5", 25.45e6, 19.94e9),
        ("spp", 7.74e6, 6.06e9),
        ("up1", 2.46e6, 7.71e9),
        ("up2", 0.90e6, 11.30e9),
        ("down1", 3.77e6, 11.82e9),
        ("down2", 15.09e6, 11.82e9),
        ("head", 0.61e6, 1.91e9),
    ],
)
def test_blocks_of_yolo_are_those_counted(block, parameters, products):
    model = catalog.workload("yolov4-p5", {"workload.yolo.image": "896"}).value
    units = [unit for unit in model.units if unit.name.split(".")[0] == block]
    convs = [operator for unit in units for operator in unit.operators if isinstance(operator.shape, Conv)]
    assert sum(unit.parameters for unit in units) == pytest.approx(parameters, rel=0.035)
    assert sum(conv.flop(Pass.FORWARD) for conv in convs) / 2 == pytest.approx(products, rel=0.01)


def test_tables_and_layers_of_dlrm_are_those_published():
    for name, tables, lookups in (
        ("dlrm", 10_255_488, 26),
        ("dlrm-hashed", 10_255_488, 26),
        ("dlrm-compositional", 10_000_000, 104),
    ):
        embedding, bottom, top = units(name)
        assert embedding.parameters == tables
        assert sum(o.shape.lookups for o in embedding.operators if isinstance(o.shape, Gather)) == lookups
        assert (bottom.parameters, top.parameters) == (171_392, 2_197_505)


def test_layers_of_gpt_j_have_one_norm_and_turn_a_quarter_of_each_head():
    names = [operator.name for operator in operators("gpt-j-6b") if operator.name.startswith("layer0.")]
    assert sum(name.endswith(".norm") for name in names) == 1
    (turned,) = [o for o in operators("gpt-j-6b") if o.name == "layer0.attention.rotate"]
    assert turned.shape.elements == 1024 * 2 * 16 * 64


def test_the_shared_block_of_t5_costs_products_and_no_parameters():
    shared = catalog.workload("flan-t5-xl").value
    apart = catalog.workload("flan-t5-xl", {"workload.encoder_decoder.shared_block": "false"}).value
    assert shared.parameters == apart.parameters
    cross = 2 * 512 * 2048 * (4 * 2048 + 2 * 512)  # four products of weights, two of tokens
    assert shared.forward_flop_per_row() - apart.forward_flop_per_row() == 24 * cross


def test_scores_of_deberta_have_three_parts_and_one_softmax():
    names = [o.name for o in operators("deberta-base") if o.name.startswith("layer3.attention.")]
    products = {n.rsplit(".", 1)[1] for n in names} & {"scores", "content-to-distance", "distance-to-content"}
    assert len(products) == 3
    far = next(o.shape for o in operators("deberta-base") if o.name == "layer3.attention.content-to-distance")
    assert far == Matmul(groups=12, m=384, k=64, n=768, weights=False)


def test_edges_of_schnet_are_those_of_the_nearest_neighbours_among_all_packs():
    """16 packs of 36 nodes are compared as one graph of 576: 331,776 distances, 16,128 edges."""
    shapes = {o.name: o.shape.at(16) for o in operators("schnet-qm9")}
    assert shapes["embedding.nearest"].pairs == 576**2
    assert shapes["embedding.nearest"].outputs == 16_128 == shapes["interaction0.neighbours"].edges
    assert shapes["interaction3.sum"].outputs == 57_600
    assert [unit.parameters for unit in units("schnet-qm9")][1:5] == [42_900] * 4
