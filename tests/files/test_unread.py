"""What is said of fields of a config that are not read: refused, of no type, not followed, not known."""

import pytest

from podsim.files.imports.ignored_fields import PLAIN, message, mistyped_fields, notes, unsupported_fields


def notes_of(says, read=(), **sizes):
    return list(notes(says, read, sizes))


@pytest.mark.parametrize(
    ("says", "model_type", "text"),
    [
        ({"num_local_experts": 8}, "llama", "num_local_experts is 8: layers of experts are not known"),
        ({"add_cross_attention": True}, "bert", "add_cross_attention is true: attention to an encoder is not known"),
        ({"pruned_heads": {"0": [1]}}, "bert", "pruned_heads: layers of different numbers of heads are not known"),
        (
            {"position_embedding_type": "relative_key"},
            "bert",
            'position_embedding_type is "relative_key": absolute positions alone are known',
        ),
        ({"vision_config": {"hidden_size": 8}}, "clip", "vision_config: a model of several models is not known"),
    ],
)
def test_what_no_family_has_is_refused_in_the_words_of_the_config(says, model_type, text):
    assert list(unsupported_fields(says, model_type)) == [text]


@pytest.mark.parametrize(
    ("says", "model_type"),
    [
        ({"num_experts": 1}, "llama"),
        ({"num_experts": 0}, "llama"),
        ({"num_experts": None}, "llama"),
        ({"is_encoder_decoder": True}, "t5"),
        ({"is_encoder_decoder": True}, "whisper"),
        ({"is_encoder_decoder": False}, "bert"),
        ({"pruned_heads": {}, "text_config": None}, "bert"),
        ({"position_embedding_type": "absolute"}, "bert"),
    ],
)
def test_what_changes_nothing_is_not_refused(says, model_type):
    assert list(unsupported_fields(says, model_type)) == []


def test_fields_of_no_type_that_anybody_writes_are_named_with_what_they_want():
    assert list(mistyped_fields({"rope_scaling": 3})) == ["rope_scaling must be an object or null, not 3"]
    assert list(mistyped_fields({"rope_scaling": None, "rope_parameters": {}})) == []
    assert list(mistyped_fields({"architectures": ["A", 3]})) == ["architectures must be a list of names: 3 is none"]
    assert list(mistyped_fields({"architectures": "A"})) == ['architectures must be a list of names, not "A"']
    assert list(mistyped_fields({"architectures": ["A"]})) == []


def test_a_window_shorter_than_the_row_is_not_followed():
    says = {"sliding_window": 4096}
    assert notes_of(says, sequence=8192) == [
        "attention is computed in full, not within its sliding window of 4,096 tokens"
    ]
    assert notes_of(says, sequence=4096) == []
    assert notes_of({**says, "use_sliding_window": False}, sequence=8192) == []


def test_an_activation_that_is_none_of_the_family_is_computed_as_its_usual_one():
    assert notes_of({"hidden_act": "relu"}) == ['hidden_act is "relu", computed as gelu here']
    assert notes_of({"hidden_act": "relu"}, gated=True) == ['hidden_act is "relu", computed as silu here']
    assert notes_of({"hidden_act": "gelu_new"}) == notes_of({"hidden_act": "swish"}, gated=True) == []


def test_heads_that_rotate_in_part_rotate_whole():
    assert notes_of({"rotary_pct": 0.25}, rotary=True) == ["rotary_pct is 0.25; here all of each head rotates"]
    assert notes_of({"rotary_pct": 0.25}) == notes_of({"rotary_pct": 1.0}, rotary=True) == []


def test_dropout_of_attention_follows_that_of_the_layer():
    says = {"attention_dropout": 0.1}
    assert notes_of(says, dropout=False) == [
        "attention_dropout is 0.1; dropout inside attention is left out, as that of the layer is"
    ]
    assert notes_of({"attention_dropout": 0.0}, dropout=True) == [
        "attention_dropout is 0.0; dropout inside attention is computed, as that of the layer is"
    ]
    assert notes_of(says, dropout=True) == notes_of(says) == []


def test_quantized_weights_and_decoders_of_masked_tokens_are_said():
    (text,) = notes_of({"quantization_config": {"bits": 4}})
    assert text.startswith("quantization_config is not followed")
    assert "not on the next one" in notes_of({"is_decoder": True}, masked_tokens=20)[0]
    assert notes_of({"is_decoder": True}) == notes_of({"is_decoder": False}, masked_tokens=20) == []


def test_heads_of_another_task_are_read_as_those_of_training():
    (text,) = notes_of({"architectures": ["BertForTokenClassification"]})
    assert text == "BertForTokenClassification is read with the heads that it is trained with from nothing"
    assert notes_of({"architectures": ["BertForMaskedLM"]}) == notes_of({"architectures": []}) == []


def test_fields_that_nobody_knows_are_listed_eight_of_them():
    says = {f"new_{at}": at + 1 for at in range(10)}
    (text,) = notes_of(says)
    assert text.startswith("fields that are not read: new_0, new_1")
    assert text.endswith("new_7 and 2 more")
    assert (
        notes_of({"new": 1}, read=("new",))
        == notes_of({"new": 0, "_new": 1})
        == notes_of(dict.fromkeys(PLAIN, 1))
        == []
    )


def test_a_value_of_no_type_of_json_is_null():
    assert (message(None), message(4), message("a")) == ("null", "4", '"a"')
