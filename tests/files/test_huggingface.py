"""A transformers config.json is a workload: parameters as published, faults all at once."""

import json

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import catalog
from podsim.files.imports import naming

# Shapes from the papers; what is published beside them is the count that the maker states.
BERT = {"model_type": "bert", "vocab_size": 30522, "max_position_embeddings": 512, "type_vocab_size": 2}
GPT2 = {"model_type": "gpt2", "n_positions": 1024, "vocab_size": 50257}
NEOX = {"model_type": "gpt_neox", "max_position_embeddings": 2048}
PUBLIC = {
    "bert-base-uncased": (  # devlin-2018, section 3: L = 12, H = 768, A = 12, 110 M
        BERT | {"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12, "intermediate_size": 3072},
        110e6,
        110_106_428,
    ),
    "bert-large-uncased": (  # devlin-2018; its card at Hugging Face: 336 M, the paper rounds to 340 M
        BERT | {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16, "intermediate_size": 4096},
        336e6,
        336_226_108,
    ),
    "gpt2": (GPT2 | {"n_embd": 768, "n_layer": 12, "n_head": 12}, 124e6, 124_439_808),  # openai/gpt-2: 124 M
    "gpt2-xl": (GPT2 | {"n_embd": 1600, "n_layer": 48, "n_head": 25}, 1558e6, 1_557_611_200),  # openai/gpt-2: 1558 M
    "gpt-neox-20b": (  # black-2022, table 1: 20,554,567,680
        NEOX
        | {
            "hidden_size": 6144,
            "num_hidden_layers": 44,
            "num_attention_heads": 64,
            "intermediate_size": 24576,
            "vocab_size": 50432,
        },
        20_554_567_680,
        20_554_567_680,
    ),
    "pythia-1.4b": (  # biderman-2023, table of models: 1,414,647,808
        NEOX
        | {
            "hidden_size": 2048,
            "num_hidden_layers": 24,
            "num_attention_heads": 16,
            "intermediate_size": 8192,
            "vocab_size": 50304,
        },
        1_414_647_808,
        1_414_647_808,
    ),
    "llama-2-7b": (  # touvron-2023; its card at Hugging Face: 6.74 B
        {
            "model_type": "llama",
            "hidden_size": 4096,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "intermediate_size": 11008,
            "vocab_size": 32000,
            "max_position_embeddings": 4096,
        },
        6.74e9,
        6_738_415_616,
    ),
    "llama-3-8b": (  # dubey-2024, table 3; its card at Hugging Face: 8.03 B
        {
            "model_type": "llama",
            "hidden_size": 4096,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "num_key_value_heads": 8,
            "intermediate_size": 14336,
            "vocab_size": 128256,
            "max_position_embeddings": 8192,
            "tie_word_embeddings": False,
        },
        8.03e9,
        8_030_261_248,
    ),
    "vit-base-patch16-224": (  # dosovitskiy-2020, table 1: 86 M before the head; its card: 86.6 M with it
        {
            "model_type": "vit",
            "hidden_size": 768,
            "num_hidden_layers": 12,
            "num_attention_heads": 12,
            "intermediate_size": 3072,
            "image_size": 224,
            "patch_size": 16,
            "num_labels": 1000,
        },
        86.6e6,
        86_567_656,
    ),
}


def written(folder, name, says):
    path = folder / f"{name}.json"
    path.write_text(says if isinstance(says, str) else json.dumps(says), encoding="utf-8")
    return str(path)


def refused(folder, says, **options):
    with pytest.raises(InputError) as no:
        catalog.workload(written(folder, "config", says), {f"import.{name}": text for name, text in options.items()})
    return no.value


@pytest.mark.parametrize("name", PUBLIC)
def test_parameters_are_those_published(name, tmp_path):
    config, published, counted = PUBLIC[name]
    workload = catalog.workload(written(tmp_path, name, config)).value
    assert workload.parameters == counted
    assert abs(workload.parameters / published - 1) < 0.005


def test_forward_arithmetic_is_two_operations_a_weight_and_attention(tmp_path):
    config, *_ = PUBLIC["llama-3-8b"]
    workload = catalog.workload(written(tmp_path, "llama", config), {"import.sequence": "2048"}).value
    multiplied = workload.parameters - 128256 * 4096 - (2 * 32 + 1) * 4096  # less the table and the norms
    attention = 32 * 2 * 2 * 2048 * 2048 * 4096
    assert workload.forward_flop_per_row() == 2 * 2048 * multiplied + attention


def test_a_config_answers_and_says_what_it_assumes(tmp_path):
    config, *_ = PUBLIC["vit-base-patch16-224"]
    path = written(tmp_path, "own", config)
    answer = podsim.predict(path, pod=16)
    assert answer.length_flags == ("--samples 1e9",)
    assert answer.step_s.grade == "assumed"
    assert any(line.startswith("configuration: as ViT-B/16, the same network") for line in map(str, answer.assumptions))
    assert any("run length not specified" in line for line in map(str, answer.assumptions))


@pytest.mark.parametrize("name", PUBLIC)
def test_the_file_that_import_writes_is_the_same_workload(name, tmp_path):
    config, *_ = PUBLIC[name]
    path, mine = written(tmp_path, name, config), tmp_path / "mine.toml"
    mine.write_text(podsim.import_model(path), encoding="utf-8")
    assert catalog.workload(path).value == catalog.workload(str(mine)).value


@pytest.mark.parametrize("name", ["bert-base-uncased", "vit-base-patch16-224"])
def test_the_file_that_import_writes_answers_alike(name, tmp_path):
    config, *_ = PUBLIC[name]
    path, mine = written(tmp_path, name, config), tmp_path / "mine.toml"
    mine.write_text(podsim.import_model(path), encoding="utf-8")
    first, second = catalog.workload(path).value, catalog.workload(str(mine)).value
    assert first == second
    mapping = {"pod": 16, "replicas": 2, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 64}
    assert podsim.predict(path, **mapping).time_to_train_s == podsim.predict(str(mine), **mapping).time_to_train_s


def test_all_faults_are_said_at_once(tmp_path):
    says = {
        "model_type": "llama",
        "hidden_size": 4096,
        "num_attention_heads": 31,
        "num_key_value_heads": 3,
        "vocab_size": 10**30,
        "num_hidden_layers": "many",
        "mlp_bias": True,
    }
    no = refused(tmp_path, says)
    assert no.code == "bad-config-file"
    text = "\n".join(no.context)
    parts = (
        "vocab_size is",
        'num_hidden_layers must be a whole number, not "many"',
        "intermediate_size is missing",
        "mlp_bias is true",
        "31 attention heads do not divide",
        "3 key-value heads do not divide",
    )
    for part in parts:
        assert part in text


@pytest.mark.parametrize(
    ("kind", "more", "near"),
    [
        ("llama4", {}, "llama"),
        ("falcon", {"num_key_value_heads": 1}, "llama"),
        ("bert-generation", {}, "bert"),
        ("swin", {"patch_size": 4}, "vit"),
        ("opt", {"ffn_dim": 3072}, "gpt2"),
        ("deit", {"patch_size": 16}, "vit"),
        ("gpt_bigcode", {"architectures": ["GPTBigCodeForCausalLM"]}, "gpt_neox"),
        ("bart", {"is_encoder_decoder": True}, "bert"),
    ],
)
def test_an_unknown_architecture_names_the_nearest(kind, more, near, tmp_path):
    no = refused(tmp_path, {"model_type": kind, **more})
    assert no.code == "unknown-architecture"
    assert no.context[0] == f"the nearest family is {near}"


@pytest.mark.parametrize(
    ("says", "part"),
    [
        ("{", "is not JSON"),
        ("[" * 100_000, "nests too deep"),
        ("[]", "holds no object"),
        ("{}", "has no model_type"),
        ('{"model_type": 3}', "must be a text"),
    ],
)
def test_what_is_no_config_is_refused(says, part, tmp_path):
    assert part in refused(tmp_path, says).message


def test_a_sequence_beyond_the_positions_is_refused_where_they_are_learnt(tmp_path):
    gpt2, llama = PUBLIC["gpt2"][0], PUBLIC["llama-2-7b"][0]
    assert "longer than its 1,024 positions" in refused(tmp_path, gpt2, sequence="4096").context[0]
    workload = catalog.workload(written(tmp_path, "llama", llama), {"import.sequence": "8192"}).value
    assert workload.row == "sequence of 8,192 tokens"


def test_an_own_model_never_takes_the_numbers_fitted_to_a_shipped_one(tmp_path):
    config, *_ = PUBLIC["bert-large-uncased"]
    assert catalog.workload(written(tmp_path, "bert", config)).value.name == "own-bert"


def test_sizes_for_a_file_that_has_all_of_them_are_refused():
    with pytest.raises(InputError, match=r"--sequence does not apply to bert\.toml"):
        catalog.workload("bert", {"import.sequence": "128"})


def test_a_faulty_size_is_one_fault_not_two(tmp_path):
    config = PUBLIC["llama-3-8b"][0] | {"hidden_size": "4096"}
    assert refused(tmp_path, config).context == ('hidden_size must be a whole number, not "4096"',)


def test_layers_of_experts_are_not_read_as_the_family_they_are_named_after(tmp_path):
    config = PUBLIC["llama-3-8b"][0] | {"model_type": "mistral", "num_local_experts": 8}
    assert refused(tmp_path, config).context == ("num_local_experts is 8: layers of experts are not known",)


def test_a_number_of_thousands_of_digits_is_said_in_plain_words(tmp_path):
    no = refused(tmp_path, '{"model_type": "llama", "hidden_size": ' + "9" * 5000 + "}")
    assert "thousands of digits" in no.message


LLAMA = PUBLIC["llama-2-7b"][0]


@pytest.mark.parametrize(
    ("config", "more", "said"),
    [
        (LLAMA, {"sliding_window": 1024}, "not within its sliding window of 1,024 tokens"),
        (LLAMA, {"quantization_config": {"bits": 4}}, "quantization_config is not followed"),
        (LLAMA, {"hidden_act": "relu2"}, 'hidden_act is "relu2", computed as silu here'),
        (LLAMA, {"attention_dropout": 0.1}, "dropout inside attention is left out"),
        (LLAMA, {"logit_softcapping": 30.0, "x" * 99: 1}, "fields that are not read: logit_softcapping, xxx"),
        (LLAMA, {"partial_rotary_factor": 0.5}, "all of each head rotates"),
        (LLAMA, {"architectures": ["LlamaForSequenceClassification"]}, "LlamaForSequenceClassification is read with"),
        (PUBLIC["bert-base-uncased"][0], {"is_decoder": True}, "trained on masked tokens"),
    ],
)
def test_what_changes_the_arithmetic_and_is_not_followed_is_said(config, more, said, tmp_path):
    plain = catalog.workload(written(tmp_path, "own", config)).value
    workload = catalog.workload(written(tmp_path, "own", config | more)).value
    assert said in " ".join(map(str, workload.notes))
    assert said not in " ".join(map(str, plain.notes))
    assert workload.units == plain.units


@pytest.mark.parametrize(
    "more",
    [
        {"sliding_window": 4096},
        {"sliding_window": None},
        {"sliding_window": 128, "use_sliding_window": False},
        {"hidden_act": "silu"},
        {"attention_dropout": 0.0},
        {"rope_scaling": {"type": "linear", "factor": 4.0}},
        {"architectures": ["LlamaForCausalLM"], "torch_dtype": "bfloat16", "use_cache": True, "pad_token_id": 0},
    ],
)
def test_what_changes_nothing_is_not_said(more, tmp_path):
    notes = [catalog.workload(written(tmp_path, "own", config)).value.notes for config in (LLAMA, LLAMA | more)]
    assert notes[0] == notes[1]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"num_local_experts": 8}, "layers of experts"),
        ({"n_routed_experts": 64}, "layers of experts"),
        ({"num_key_value_heads": 64}, "64 key-value heads do not divide 32"),
        ({"vocab_size": 0}, "vocab_size is 0"),
        ({"hidden_size": -4096}, "hidden_size is -4096"),
        ({"hidden_size": "4096"}, 'a whole number, not "4096"'),
        ({"num_hidden_layers": True}, "must be a whole number"),
        ({"vocab_size": 2**60}, "from 1 to"),
        ({"is_encoder_decoder": True}, "attention to an encoder"),
        ({"pruned_heads": {"1": [0]}}, "pruned_heads"),
        ({"vision_config": {"x": 1}}, "a model of several models"),
        ({"position_embedding_type": "relative_key"}, "absolute positions alone"),
    ],
)
def test_what_no_family_has_is_refused(more, said, tmp_path):
    assert said in " ".join(refused(tmp_path, LLAMA | more).context)


def test_families_that_are_named_after_others(tmp_path):
    """distilbert: 66,985,530 with its head (sanh-2019: 66 M); qwen2-7b: 7.62 B on its card; mistral-7b: 7.24 B."""
    distil = {
        "model_type": "distilbert",
        "dim": 768,
        "n_layers": 6,
        "n_heads": 12,
        "hidden_dim": 3072,
        "vocab_size": 30522,
        "max_position_embeddings": 512,
    }
    assert catalog.workload(written(tmp_path, "own", distil)).value.parameters == 66_985_530
    assert "n_layers is missing" in refused(tmp_path, {**distil, "n_layers": None}).context
    mistral = {**LLAMA, "model_type": "mistral", "intermediate_size": 14336, "max_position_embeddings": 32768}
    assert catalog.workload(written(tmp_path, "own", mistral)).value.parameters == 7_241_732_096
    assert catalog.workload(written(tmp_path, "own", {**mistral, "num_key_value_heads": None})).value.parameters > 8e9
    qwen = {
        "model_type": "qwen2",
        "hidden_size": 3584,
        "num_hidden_layers": 28,
        "num_attention_heads": 28,
        "num_key_value_heads": 4,
        "intermediate_size": 18944,
        "vocab_size": 152064,
    }
    workload = catalog.workload(written(tmp_path, "own", qwen)).value
    biases = 28 * (3584 + 2 * 512)
    assert workload.parameters + biases == 7_615_616_512
    assert any(f"{biases:,} parameters" in note for note in map(str, workload.notes))


def test_the_hint_of_an_unknown_architecture_holds(tmp_path):
    """It says to read the file as another family only where that can be read."""
    no = refused(tmp_path, {**LLAMA, "model_type": "olmo", "architectures": ["OlmoForCausalLM"]})
    assert '"model_type": "gpt_neox"' in no.hint
    lacking = refused(tmp_path, {"model_type": "opt", "ffn_dim": 3072, "hidden_size": 768})
    assert "read as one, n_positions" not in lacking.context
    assert "read as one, n_embd is missing" in lacking.context
    assert '"model_type"' not in lacking.hint


@pytest.mark.parametrize(
    ("field", "fault"),
    [
        ({"rope_scaling": "x"}, 'rope_scaling must be an object or null, not "x"'),
        ({"rope_parameters": [1]}, "rope_parameters must be an object or null, not an array"),
        ({"architectures": "LlamaForCausalLM"}, 'architectures must be a list of names, not "LlamaForCausalLM"'),
        ({"architectures": [5]}, "architectures must be a list of names: 5 is none"),
    ],
)
def test_a_field_of_no_type_that_transformers_writes_is_refused(tmp_path, field, fault):
    assert fault in refused(tmp_path, {**LLAMA, **field}).context


def test_a_model_type_that_is_no_text_is_named(tmp_path):
    assert "model_type of config.json must be a text, not an array" in str(
        refused(tmp_path, {**LLAMA, "model_type": ["llama"]})
    )


def test_a_name_cut_short_ends_in_no_hyphen():
    assert naming.name("a" * 79 + "-b") == "a" * 79
