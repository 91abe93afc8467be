"""Chains of four families in closed form: parameters, products and look-ups by hand at sizes of a few units."""

from dataclasses import replace

import pytest

from podsim.model.family import WorkloadFile
from podsim.model.graphs import Dlrm
from podsim.model.language import Deberta, EncoderDecoder
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.vision import Yolo
from podsim.model.workload import Conv, Gather
from podsim.workloads import deberta, dlrm, encoder_decoder, families, yolo
from podsim.workloads.families import chain, units


def parameters(chain):
    return sum(unit.parameters for unit in chain)


def by_name(chain):
    return {operator.name: operator for unit in chain for operator in unit.operators}


def multiplications(operator):
    """Of one product, in multiply-adds."""
    shape = operator.shape
    return shape.groups * shape.m * shape.k * shape.n


# --- DeBERTa: hidden 8 in 2 heads, 6 tokens at distances up to 4 ------------------------------------------------------

FIRST = Deberta(layers=2, hidden=8, heads=2, feed_forward=16, sequence=6, vocabulary=20, positions=4)
SECOND = replace(FIRST, key_biases=True, shared_products=True, distance_norm=True)
FEED_FORWARD = 8 * 16 + 16 + 16 * 8 + 8 + 16


def test_the_first_deberta_multiplies_distances_by_weights_of_their_own():
    """Keys of distances without a bias, queries with one; 8 rows of distances, queries and values with biases."""
    attention = 3 * 64 + 2 * 8 + 64 + (64 + 8) + (64 + 8) + 16
    assert parameters(deberta.units(FIRST)) == 20 * 8 + 8 * 8 + 16 + 2 * (attention + FEED_FORWARD) + 8 * 2 + 2


def test_the_second_deberta_shares_them_and_norms_the_table():
    attention = 3 * 64 + 3 * 8 + (64 + 8) + 16
    assert parameters(deberta.units(SECOND)) == 20 * 8 + 8 * 8 + 2 * 16 + 2 * (attention + FEED_FORWARD) + 8 * 2 + 2


def test_scores_have_a_part_of_content_and_two_of_distances():
    """6 x 6 pairs of content, 6 tokens times 8 distances either way, 4 numbers a head."""
    operators = by_name(deberta.units(FIRST))
    at = "layer1.attention"
    assert multiplications(operators[f"{at}.scores"]) == 2 * 6 * 4 * 6
    assert multiplications(operators[f"{at}.content-to-distance"]) == 2 * 6 * 4 * 8
    assert multiplications(operators[f"{at}.distance-to-content"]) == 2 * 6 * 4 * 8
    assert multiplications(operators[f"{at}.distance-keys"]) == 8 * 8 * 8
    assert operators[f"{at}.content-to-distance-pairs"].outputs == 2 * 6 * 6
    assert operators["heads.loss"].shape.elements == 12


def test_no_more_distances_than_a_sequence_has():
    short = by_name(deberta.units(replace(FIRST, sequence=3)))["embedding.distances"].shape
    assert (short.table, short.lookups) == (8, 6)


# --- DLRM ------------------------------------------------------------------------------------------------------------

RECOMMENDER = Dlrm(numbers=3, categories=2, tables=(10, 20), table_width=4, bottom=(5, 4), top=(6, 1))


def test_every_pair_of_vectors_meets_once_and_goes_in_with_the_numbers():
    """3 pairs of 3 vectors and 4 numbers are 7 inputs."""
    tables, bottom, top = dlrm.units(RECOMMENDER)
    assert tables.parameters == 30 * 4
    assert bottom.parameters == 3 * 5 + 5 + 5 * 4 + 4
    assert top.parameters == 7 * 6 + 6 + 6 * 1 + 1
    assert multiplications(by_name((top,))["top.pairs"]) == 3 * 4 * 3


def test_only_what_is_read_first_has_no_gradient_to_hand_on():
    operators = by_name(dlrm.units(RECOMMENDER))
    assert {name for name, operator in operators.items() if not operator.input_gradient} == {
        "tables.0",
        "tables.1",
        "bottom.dense0",
    }
    assert "top.sigmoid1" in operators
    assert {"top.relu0", "bottom.relu0", "bottom.relu1"} <= set(operators)


def test_one_table_for_all_is_looked_up_for_every_piece_of_every_category():
    one = replace(RECOMMENDER, tables=(100,), table_width=2, pieces=2)
    operators = by_name(dlrm.units(one))
    assert operators["tables.0"].shape == Gather(table=100, width=2, lookups=4)
    assert operators["tables.together"].outputs == 8
    two = by_name(dlrm.units(replace(one, tables=(50, 50))))
    assert [two[f"tables.{number}"].shape.lookups for number in (0, 1)] == [2, 2]


# --- an encoder and a decoder -----------------------------------------------------------------------------------------

WORDS = EncoderDecoder(
    encoder_layers=2,
    decoder_layers=1,
    hidden=8,
    heads=2,
    feed_forward=16,
    encoder_tokens=6,
    decoder_tokens=4,
    vocabulary=20,
    encoder_positions=6,
    decoder_positions=5,
)
SELF = 16 + 3 * 64 + 24 + 64 + 8
CROSS = 16 + 2 * 64 + 16 + 2 * (64 + 8)


def test_words_are_one_table_and_a_decoder_attends_twice():
    tables = 20 * 8 + 6 * 8 + 5 * 8
    layers = 2 * (SELF + FEED_FORWARD) + SELF + CROSS + FEED_FORWARD
    assert parameters(encoder_decoder.units(WORDS)) == tables + layers + 2 * 16
    assert parameters(encoder_decoder.units(replace(WORDS, tied=False))) == tables + layers + 2 * 16 + 8 * 20


def test_the_encoder_and_the_keys_that_it_leaves_run_once_for_a_row():
    chain = encoder_decoder.units(WORDS)
    once = {unit.name for unit in chain if unit.once}
    assert once == {unit.name for unit in chain if unit.name.startswith("encoder")} | {"decoder0.cross-keys"}
    assert {unit.name for unit in chain if unit.fixed_keys} == {"decoder0.cross"}


def test_a_decoder_looks_at_all_that_the_encoder_left():
    operators = by_name(encoder_decoder.units(WORDS))
    scores = operators["decoder0.cross.scores"].shape
    assert (scores.groups, scores.m, scores.k, scores.n) == (2, 4, 4, 6)
    assert operators["decoder0.cross-keys.dense"].shape.m == 6


def test_distances_are_added_to_scores_that_are_not_scaled():
    far = replace(WORDS, encoder_positions=0, decoder_positions=0, position_buckets=3)
    operators = by_name(encoder_decoder.units(far))
    distances = operators["encoder.embedding.distances"].shape
    assert (distances.table, distances.width, distances.lookups) == (3, 2, 11)
    sums = [operator for operator in operators.values() if getattr(operator.shape, "operations", ())[:1] == ("add",)]
    scores = [operator for operator in sums if "mask" in operator.name or "scale" in operator.name]
    assert scores
    assert not any("scale" in operator.shape.operations for operator in scores)
    assert "decoder0.cross.scale" not in operators
    assert "decoder0.cross.scale" in by_name(encoder_decoder.units(WORDS))


def test_a_spectrogram_goes_through_two_convolutions_the_second_over_every_other_frame():
    whisper = replace(WORDS, mels=10, encoder_positions=0)
    front = encoder_decoder.units(whisper)[0]
    first, second = (operator.shape for operator in front.operators if isinstance(operator.shape, Conv))
    assert (first.width, first.in_channels, first.outputs) == (12, 10, 12 * 8)
    assert (second.width, second.in_channels, second.outputs) == (12, 8, 6 * 8)
    assert front.parameters == 3 * 10 * 8 + 8 + 3 * 8 * 8 + 8 + 6 * 8
    assert [operator.input_gradient for operator in front.operators if isinstance(operator.shape, Conv)] == [
        False,
        True,
    ]


def test_what_an_encoder_runs_of_a_shared_block_is_no_parameter():
    block = replace(WORDS, shared_block=True)
    assert parameters(encoder_decoder.units(block)) == parameters(encoder_decoder.units(WORDS))
    assert "encoder1.cross.scores" in by_name(encoder_decoder.units(block))


# --- Scaled-YOLOv4 of 32 x 32 pixels ----------------------------------------------------------------------------------

BOXES = Yolo(
    image=32,
    stem_channels=4,
    widths=(8, 16, 32, 64),
    residuals=(1, 1, 2, 1),
    neck_residuals=1,
    anchors=2,
    classes=3,
)


def convolutions(chain):
    return {name: operator.shape for name, operator in by_name(chain).items() if isinstance(operator.shape, Conv)}


def test_each_block_of_the_backbone_halves_the_edge_and_splits_its_channels():
    shapes = convolutions(yolo.units(BOXES))
    downs = [shapes[f"dark{number}.down.conv"] for number in range(1, 5)]
    assert [(down.size, down.out_size, down.in_channels, down.out_channels) for down in downs] == [
        (32, 16, 4, 8),
        (16, 8, 8, 16),
        (8, 4, 16, 32),
        (4, 2, 32, 64),
    ]
    assert [shapes[f"dark{number}.out.side"].out_channels for number in range(1, 5)] == [4, 8, 16, 32]
    assert [name for name in shapes if "dark3.residual" in name] == [
        f"dark3.residual{block}.conv{number}" for block in (0, 1) for number in (0, 1)
    ]


def test_three_heads_say_boxes_and_classes_at_every_pixel():
    """Edges 8, 4 and 2; 2 anchors of 4 + 1 + 3 numbers."""
    chain = yolo.units(BOXES)
    shapes = convolutions(chain)
    heads = [shapes[f"head.conv{number}"] for number in range(3)]
    assert [(head.size, head.in_channels, head.out_channels) for head in heads] == [
        (8, 16, 16),
        (4, 32, 16),
        (2, 64, 16),
    ]
    assert by_name(chain)["head.boxes"].outputs == 16 * (64 + 16 + 4)
    assert not chain[-1].checkpoint


def test_what_lies_side_by_side_has_the_channels_of_both():
    """The pooling neck has three windows beside what they are of; up and down, half of each."""
    operators = by_name(yolo.units(BOXES))
    shapes = convolutions(yolo.units(BOXES))
    assert operators["spp.pools-together"].outputs == 4 * 32 * 4
    assert shapes["spp.conv3"].in_channels == 4 * 32
    assert [operators[f"{at}.in.together"].outputs for at in ("up1", "up2", "down1", "down2")] == [
        16 * 32,
        64 * 16,
        16 * 32,
        4 * 64,
    ]
    assert operators["spp.out.up"].outputs == 16 * 16
    assert shapes["up1.neck.in"].in_channels == 32


def test_outputs_of_every_neck_meet_its_head():
    shapes = convolutions(yolo.units(BOXES))
    for neck, head in (("up2.out.conv", 0), ("down1.out.conv", 1), ("down2.out.conv", 2)):
        assert shapes[neck].out_size == shapes[f"head.conv{head}"].size
        assert shapes[neck].out_channels == shapes[f"head.conv{head}"].in_channels


def test_the_images_have_no_gradient():
    operators = by_name(yolo.units(BOXES))
    assert [name for name, operator in operators.items() if not operator.input_gradient] == ["stem.conv"]


# --- from a file ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "size", "row_bytes"),
    [
        ("deberta", FIRST, 4 * (8 + 6)),
        ("dlrm", RECOMMENDER, 4 * 2),
        ("yolo", BOXES, 2 * 3 * 32 * 32),
        ("encoder_decoder", WORDS, 4 * (6 + 6)),
    ],
)
def test_input_of_a_row_is_what_is_read_first(family, size, row_bytes):
    """Indices of 4 B, anything else of 2 B."""
    from podsim.files import catalog

    benchmark = catalog.workload("bert").value.benchmark
    workload = families.build(WorkloadFile(name="mine", **{family: size}, benchmark=benchmark), None)
    assert workload.row_bytes == row_bytes
    assert (workload.name, workload.title, workload.units) == ("mine", "mine", units(family, size))
    assert any(f"{families.INDEX_BYTES} bytes per index" in note for note in map(str, workload.notes))
    other = families.build(WorkloadFile(name="mine", **{family: size}, benchmark=benchmark, row_bytes=7.0), None)
    assert other.row_bytes == 7
    assert not any("bytes per index" in note for note in map(str, other.notes))


def test_what_a_file_leaves_out_is_said():
    from podsim.files import catalog

    general = catalog.workload("bert").value
    configuration = families.GeneralConfiguration(benchmark=general.benchmark, configurations=general.configurations)
    workload = families.build(
        WorkloadFile(name="mine", dlrm=RECOMMENDER, notes=(AnswerNote.of(NoteCode.FILE_TEXT, text="of mine"),)),
        None,
        configuration,
    )
    assert workload.configurations == general.configurations
    assert (str(workload.notes[0]), workload.notes[0].caveat) == ("of mine", True)
    assert "run length not specified: no time to train" in map(str, workload.notes)
    assert any("no configuration is published" in note for note in map(str, workload.notes))
    assert chain(WorkloadFile(name="mine", dlrm=RECOMMENDER)) == dlrm.units(RECOMMENDER)
